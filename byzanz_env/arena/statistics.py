"""Means with 95 % intervals clustered by deal, and paired comparisons on the same deals.

The games of one deal share its cards, so the deal is the unit: intervals come from the spread of the
per-deal means by Student's t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit  # type: ignore[import-untyped]

from byzanz_env.arena.match import Results

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2


@dataclass(frozen=True)
class Estimate:
    """A mean over deals with its 95 % interval; no interval (infinite) from a single deal."""

    mean: float
    low: float
    high: float
    deals: int

    @property
    def half_width(self) -> float:
        return max(self.high - self.mean, self.mean - self.low)


def estimate(per_deal: np.ndarray) -> Estimate:
    """Mean and interval of independent per-deal means."""
    deals = len(per_deal)
    if deals == 0:
        raise ValueError("there is no finished deal to judge: play at least one")
    mean = exact_mean(per_deal)
    if deals == 1:
        return Estimate(mean, -np.inf, np.inf, 1)
    half = float(stdtrit(deals - 1, 1 - TAIL)) * standard_error(per_deal)
    return Estimate(mean, mean - half, mean + half, deals)


def exact_mean(per_deal: np.ndarray) -> float:
    """A mean without rounding errors where all values are the same: one nth stays one nth."""
    first = float(per_deal[0])
    return first + float((per_deal - first).mean())


def standard_error(per_deal: np.ndarray) -> float:
    return float((per_deal - per_deal[0]).std(ddof=1) / np.sqrt(len(per_deal)))


def share_estimate(per_deal: np.ndarray) -> Estimate:
    """Like `estimate` for a share in 0 .. 1.

    When every deal was won (or lost) outright the spread is zero and says nothing; then the interval ends
    where such a run of deals would still happen in 2.5 % of all cases.
    """
    plain = estimate(per_deal)
    if plain.deals == 1:
        return plain
    slack = 1 - TAIL ** (1 / plain.deals)
    low, high = max(plain.low, 0.0), min(plain.high, 1.0)
    if (per_deal == 1).all():
        low = 1 - slack
    if (per_deal == 0).all():
        high = slack
    return Estimate(plain.mean, low, high, plain.deals)


@dataclass(frozen=True)
class Comparison:
    """The mean of a difference over deals, and how likely chance alone gives one as large."""

    difference: Estimate
    p_value: float


def compare(first: np.ndarray, second: np.ndarray | float) -> Comparison:
    """Compare per-deal means with those of another agent on the same deals, or with a fixed number."""
    differences = first - second
    difference = estimate(differences)
    if difference.deals == 1:
        return Comparison(difference, 1.0)
    error = standard_error(differences)
    if error == 0:
        return _compare_without_spread(first, difference)
    t = abs(difference.mean) / error
    return Comparison(difference, float(2 * stdtr(difference.deals - 1, -t)))


def _compare_without_spread(first: np.ndarray, difference: Estimate) -> Comparison:
    """When all deals say the same, the spread says nothing: a sign test, and the interval of a sure share.

    Shares that are the same and neither 0 nor 1 come from copies of one agent, and are exact.
    """
    mean, deals = difference.mean, difference.deals
    p_value = 1.0 if mean == 0 else 2 * 0.5**deals
    if (first == 0).all() or (first == 1).all():
        slack = 1 - TAIL ** (1 / deals)
        difference = Estimate(mean, mean - slack, mean + slack, deals)
    return Comparison(difference, p_value)


def compare_agents(results: Results, first: int, second: int) -> Comparison:
    """The paired difference in win share of two agents over the deals in which both sit."""
    both = results.deals_with(first) & results.deals_with(second)

    def shares(agent: int) -> np.ndarray:
        return np.asarray(results.win_shares(agent)[both[results.deals_with(agent)]])

    return compare(shares(first), shares(second))


@dataclass(frozen=True)
class Summary:
    """What one agent achieved: at one table of every deal, or at all."""

    agent: int
    table: int | None
    seats: int  # how many seats it has in a game
    games: int
    win_share: Estimate  # per seat
    score: Estimate
    rank: Estimate  # 1 for the first


def summarize(results: Results, agent: int, table: int | None = None) -> Summary:
    """Win share, score and rank of an agent."""
    sits = results.lineups == agent if table is None else results.lineups[:, table : table + 1] == agent
    seats = int(sits.sum(axis=-1).max(initial=0))
    return Summary(
        agent,
        table,
        seats,
        int(sits.any(axis=-1).sum()) * results.match.players,
        share_estimate(results.win_shares(agent, table)),
        estimate(results.agent_means(results.points, agent, table)),
        estimate(results.agent_means(results.ranks, agent, table) + 1),
    )


def ahead(results: Results, first: int, second: int) -> Estimate | None:
    """How often one agent ends before another at the same table (ties half); None if they never met."""
    pairs = (results.lineups == first)[..., :, None] & (results.lineups == second)[..., None, :]
    pairs = pairs[:, :, None]  # [D, T, 1, place, place]
    own, other = results.ranks[..., :, None], results.ranks[..., None, :]
    won = np.where(own < other, 1.0, np.where(own == other, 0.5, 0.0))
    count = np.broadcast_to(pairs, won.shape).sum(axis=(1, 2, 3, 4))
    met = count > 0
    if first == second or not met.any():
        return None
    total = np.where(pairs, won, 0).sum(axis=(1, 2, 3, 4))
    return share_estimate(total[met] / count[met])
