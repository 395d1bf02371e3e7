"""Plackett-Luce ratings over all games of a match, with bootstrap intervals over the deals.

The point estimate is the maximum likelihood fit of choix. Games in which agents tie count as all orders
of the tied ones, in equal parts. Every pair of agents is given one drawn game more, so that an agent that
never loses has a finite rating. Ratings are on the Elo scale (400 points are odds of ten to one), mean 0.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
from scipy.sparse import csr_array  # type: ignore[import-untyped]

from byzanz_env._random import seed_generator
from byzanz_env.arena.kernels import resample
from byzanz_env.arena.match import Results
from byzanz_env.arena.statistics import TAIL

ELO = 400 / math.log(10)
BOOTSTRAPS = 400
BOOTSTRAP_STREAM = 4

Ranking = tuple[int, ...]  # agents, best first; an agent may sit at a table more than once


@dataclass(frozen=True)
class Rating:
    """An agent's rating with its 95 % bootstrap interval; infinite from a single deal."""

    agent: int
    rating: float
    low: float
    high: float


def orders(lineup: tuple[int, ...], ranks: tuple[float, ...]) -> list[Ranking]:
    """All orders of a game's agents that fit its ranks; more than one when different agents tie."""
    tied: dict[float, list[int]] = {}
    for agent, rank in zip(lineup, ranks, strict=True):
        tied.setdefault(rank, []).append(agent)
    groups = [sorted(set(permutations(tied[rank]))) for rank in sorted(tied)]
    return [tuple(agent for group in choice for agent in group) for choice in product(*groups)]


@dataclass(frozen=True)
class Rankings:
    """Weighted rankings and, for each deal, which of them its games gave."""

    agents: int
    rankings: list[Ranking]
    parts: list[dict[int, Fraction]]  # per deal: index of a ranking -> how many games

    @classmethod
    def of(cls, results: Results) -> Rankings:
        index: dict[Ranking, int] = {}
        parts: list[dict[int, Fraction]] = []
        for lineups, tables in zip(results.lineups.tolist(), results.ranks.tolist(), strict=True):
            games: Counter[int] = Counter()
            exact: dict[int, Fraction] = {}
            for lineup, rotations in zip(lineups, tables, strict=True):
                for ranks in rotations:
                    possible = orders(tuple(lineup), tuple(ranks))
                    for ranking in possible:
                        number = index.setdefault(ranking, len(index))
                        if len(possible) == 1:
                            games[number] += 1
                        else:
                            exact[number] = exact.get(number, Fraction(0)) + Fraction(1, len(possible))
            parts.append(
                {number: games[number] + exact.get(number, Fraction(0)) for number in {*games, *exact}}
            )
        return cls(len(results.match.labels), list(index), parts)

    def total(self) -> list[Fraction]:
        weights = [Fraction(0)] * len(self.rankings)
        for part in self.parts:
            for number, count in part.items():
                weights[number] += count
        return weights


def fit_choix(data: Rankings) -> np.ndarray:
    """The maximum likelihood strengths (logarithms, mean 0) of all games by choix."""
    import choix

    weights = data.total()
    scale = math.lcm(
        2, *(weight.denominator for weight in weights)
    )  # choix counts games, not parts of them
    games = [
        ranking
        for ranking, weight in zip(data.rankings, weights, strict=True)
        for _ in range(int(weight * scale))
    ]
    for pair in combinations(range(data.agents), 2):
        games += [pair, pair[::-1]] * (scale // 2)
    start = Likelihood(data).fit(np.ones(len(data.parts)))
    strengths = choix.ilsr_rankings(data.agents, games, initial_params=start)
    return np.asarray(strengths - strengths.mean())


class Likelihood:
    """The same likelihood from counts alone, quick enough to be fitted hundreds of times.

    A ranking is a row of choices: who comes first among those left. Only how often each agent was chosen
    and how often each group was left to choose from enter the likelihood.
    """

    def __init__(self, data: Rankings) -> None:
        groups: dict[tuple[int, ...], int] = {}
        wins_of = np.zeros((len(data.rankings), data.agents))
        choices: list[list[int]] = []
        for number, ranking in enumerate(data.rankings):
            for winner in ranking[:-1]:
                wins_of[number, winner] += 1
            left = [tuple(sorted(ranking[first:])) for first in range(len(ranking) - 1)]
            choices.append([groups.setdefault(group, len(groups)) for group in left])
        pairs = [groups.setdefault(pair, len(groups)) for pair in combinations(range(data.agents), 2)]
        self.members = np.zeros((len(groups), data.agents))
        for group, number in groups.items():
            for agent in group:
                self.members[number, agent] += 1
        self.wins = np.zeros((len(data.parts), data.agents))
        entries: list[tuple[float, int, int]] = []
        for deal, part in enumerate(data.parts):
            for number, count in part.items():
                self.wins[deal] += float(count) * wins_of[number]
                entries += [(float(count), group_number, deal) for group_number in choices[number]]
        counts, rows, columns = zip(*entries, strict=True)
        self.chosen = csr_array((counts, (rows, columns)), shape=(len(groups), len(data.parts)))
        self.prior_wins = np.full(data.agents, (data.agents - 1) / 2)
        self.prior_chosen = np.zeros(len(groups))
        self.prior_chosen[pairs] = 1

    def fit(self, deal_weights: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Strengths (mean 0) by Newton's method when each deal counts as often as its weight says."""
        wins = deal_weights @ self.wins + self.prior_wins
        chosen = self.chosen @ deal_weights + self.prior_chosen
        strengths = np.zeros(len(wins)) if start is None else start.copy()
        for _ in range(200):
            chances = self.members * np.exp(strengths)
            chances /= chances.sum(axis=1, keepdims=True)
            expected = chosen @ chances
            curvature = np.diag(expected) - chances.T @ (chosen[:, None] * chances)
            # strengths have no origin: the matrix of ones holds their mean where it is
            step = np.linalg.solve(curvature + 1.0, wins - expected)
            strengths += np.clip(step, -1, 1)
            if np.abs(step).max() < 1e-9:
                break
        return strengths - strengths.mean()  # type: ignore[no-any-return]


def rate(results: Results) -> list[Rating]:
    """Ratings of all agents, the best first."""
    data = Rankings.of(results)
    strengths = fit_choix(data)
    likelihood = Likelihood(data)
    deals = len(data.parts)
    rng = np.empty(4, dtype=np.uint32)
    seed_generator(rng, results.match.seed, BOOTSTRAP_STREAM)
    if deals == 1:  # drawn again and again it would look certain
        low, high = np.full(data.agents, -np.inf), np.full(data.agents, np.inf)
    else:
        fits = np.empty((BOOTSTRAPS, data.agents))
        for i in range(BOOTSTRAPS):
            fits[i] = likelihood.fit(resample(rng, deals), strengths)
        low, high = np.quantile(fits, [TAIL, 1 - TAIL], axis=0)
    ratings = [
        Rating(agent, float(ELO * strengths[agent]), float(ELO * low[agent]), float(ELO * high[agent]))
        for agent in range(data.agents)
    ]
    return sorted(ratings, key=lambda rating: -rating.rating)
