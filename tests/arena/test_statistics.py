"""Intervals, comparisons, the sequential test and ratings against closed forms and simulations."""

from __future__ import annotations

import math

import choix
import numpy as np
import pytest

from byzanz_env.arena.match import DealResult, Match, Results
from byzanz_env.arena.rating import ELO, Likelihood, Rankings, fit_choix, orders, rate
from byzanz_env.arena.sequential import FIRST_LOOK, LOWER, UPPER, SequentialTest
from byzanz_env.arena.statistics import ahead, compare, compare_agents, estimate, share_estimate, summarize
from tests.arena.players import duel


def test_interval_of_a_mean_in_closed_form() -> None:
    found = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    half = 3.182446305284263 * math.sqrt(5 / 3) / 2  # Student's t, 3 degrees of freedom
    assert found.mean == 2.5
    assert (found.low, found.high) == pytest.approx((2.5 - half, 2.5 + half))
    assert estimate(np.array([3.0])).high == math.inf
    with pytest.raises(ValueError, match="no finished deal"):
        estimate(np.array([]))


def test_interval_of_a_share_stays_in_its_range_and_is_never_empty_at_the_ends() -> None:
    always = share_estimate(np.ones(100))
    assert (always.low, always.high) == (pytest.approx(0.025 ** (1 / 100)), 1.0)
    never = share_estimate(np.zeros(100))
    assert (never.low, never.high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 100)))
    assert share_estimate(np.array([0.0, 0.0, 1.0])).low == 0.0
    assert share_estimate(np.full(9, 0.25)).half_width == 0


def test_paired_comparison_in_closed_form() -> None:
    found = compare(np.array([1.0, 3.0, 5.0]), np.array([0.0, 1.0, 2.0]))  # differences 1, 2, 3
    assert found.difference.mean == 2
    t = 2 * math.sqrt(3)
    assert found.p_value == pytest.approx(1 - t / math.sqrt(2 + t * t))  # two degrees of freedom
    assert compare(np.ones(5), np.ones(5)).p_value == 1.0


def test_a_comparison_of_deals_that_all_say_the_same_claims_no_more_than_they_do() -> None:
    few, many = compare(np.ones(5), 0.25), compare(np.ones(50), np.zeros(50))
    assert few.p_value == 2 * 0.5**5  # all five deals point the same way
    assert many.p_value == 2 * 0.5**50
    slack = 1 - 0.025 ** (1 / 5)
    assert (few.difference.low, few.difference.high) == pytest.approx((0.75 - slack, 0.75 + slack))
    both_lost = compare(np.zeros(5), np.zeros(5))
    assert both_lost.p_value == 1.0
    assert both_lost.difference.low < 0 < both_lost.difference.high
    copies = compare(np.full(5, 0.25), 0.25)
    assert (copies.p_value, copies.difference.half_width) == (1.0, 0.0)


def _results(match: Match, ranks: list[list[list[float]]]) -> Results:
    """Deals with one table each; points are ten minus the rank."""
    deals = []
    for number, rotations in enumerate(ranks):
        points = tuple(tuple(int(10 - rank) for rank in game) for game in rotations)
        deals.append(DealResult(number, (points,), (tuple(tuple(game) for game in rotations),)))
    return Results.of(match, deals)


def test_summary_counts_games_seats_and_ranks() -> None:
    won, lost = [0.0, 1.0, 2.0], [2.0, 0.5, 0.5]
    results = _results(duel(3), [[won, won, lost], [lost, lost, lost]])
    alone, copies = summarize(results, 0, 0), summarize(results, 1, 0)
    assert (alone.seats, copies.seats, alone.games) == (1, 2, 6)
    assert alone.win_share.mean == pytest.approx(1 / 3)
    assert copies.win_share.mean == pytest.approx(1 / 3)
    assert alone.rank.mean == pytest.approx(1 + 4 / 3)
    assert alone.score.mean == pytest.approx((10 + 10 + 8 * 4) / 6)
    assert ahead(results, 0, 1).mean == pytest.approx(1 / 3)  # type: ignore[union-attr]
    assert ahead(results, 0, 0) is None


def test_agents_of_a_round_robin_are_compared_where_both_sit() -> None:
    match = Match("round robin", 3, 0, ("a", "b", "c", "d"))
    together = [deal for deal in range(40) if {0, 1} <= set(match.lineups(deal)[0])]
    ranks = []
    for deal in range(40):
        lineup = match.lineups(deal)[0]
        order = sorted(lineup)  # the lower the number, the better
        ranks.append([[float(order.index(agent)) for agent in lineup]] * 3)
    found = compare_agents(_results(match, ranks), 0, 1)
    assert found.difference.deals == len(together) < 40
    assert found.difference.mean == 1.0


# --- the sequential test -----------------------------------------------------------------------------


def test_likelihood_ratio_in_closed_form() -> None:
    test = SequentialTest(0.02)
    values = np.array([0.0, 0.5, -0.25, 0.25])
    for value in values:
        assert test.add(value) is None
    variance = values.var(ddof=1)
    for sign, ratio in zip((1, -1), test.ratios, strict=True):
        theta = 0.02 * sign
        log_likelihoods = -((values - theta) ** 2) / (2 * variance) + values**2 / (2 * variance)
        assert ratio == pytest.approx(log_likelihoods.sum())
    assert pytest.approx(math.log(38)) == UPPER
    assert pytest.approx(math.log(0.05 / 0.975)) == LOWER


def _verdicts(
    share: float, margin: float, matches: int, deals: int = 4000
) -> tuple[dict[str | None, int], float]:
    """Simulated matches whose games the first agent wins with a chance that varies with the deal."""
    generator = np.random.default_rng(5)
    counts: dict[str | None, int] = {}
    lengths = []
    for _ in range(matches):
        chances = np.clip(share + generator.uniform(-0.2, 0.2, deals), 0, 1)
        test = SequentialTest(margin)
        for value in generator.binomial(4, chances) / 4 - 0.25:
            if test.add(value):
                break
        counts[test.verdict] = counts.get(test.verdict, 0) + 1
        lengths.append(test.deals)
    return counts, float(np.mean(lengths))


def test_the_sequential_test_errs_as_rarely_as_it_promises_and_saves_deals() -> None:
    matches = 600
    limit = 0.05 * matches + 3 * math.sqrt(matches * 0.05 * 0.95)
    equal, _ = _verdicts(0.25, 0.05, matches)
    assert equal.get("better", 0) + equal.get("worse", 0) <= limit
    better, length = _verdicts(0.30, 0.05, matches)
    assert matches - better["better"] <= limit
    worse, _ = _verdicts(0.20, 0.05, matches)
    assert matches - worse["worse"] <= limit
    assert length < 400  # a fixed number of deals for the same errors needs about 270 to 400


def test_the_sequential_test_waits_for_the_first_look() -> None:
    test = SequentialTest(0.02)
    verdicts = [test.add(0.75) for _ in range(FIRST_LOOK + 5)]
    assert verdicts == [None] * (FIRST_LOOK - 1) + ["better"] * 6
    assert test.deals == FIRST_LOOK
    level = SequentialTest(0.02)
    assert [level.add(0.0) for _ in range(FIRST_LOOK)][-1] == "level"
    with pytest.raises(ValueError, match="margin"):
        SequentialTest(0.0)


# --- ratings -----------------------------------------------------------------------------------------


def test_orders_of_a_game_average_over_ties_between_different_agents() -> None:
    assert orders((0, 1, 1, 2), (0.0, 1.5, 1.5, 3.0)) == [(0, 1, 1, 2)]
    assert orders((0, 1, 2), (0.5, 0.5, 2.0)) == [(0, 1, 2), (1, 0, 2)]
    assert len(orders((0, 1, 2), (1.0, 1.0, 1.0))) == 6


def _simulated(strengths: list[float], players: int, deals: int, seed: int = 3) -> Results:
    """Games drawn from the Plackett-Luce model itself."""
    match = Match("round robin", players, 0, tuple(f"agent {i}" for i in range(len(strengths))))
    generator = np.random.default_rng(seed)
    ranks = []
    for deal in range(deals):
        luck = generator.gumbel(size=(players, players)) + np.array(strengths)[list(match.lineups(deal)[0])]
        ranks.append((-luck).argsort(axis=1).argsort(axis=1).astype(float).tolist())
    return _results(match, ranks)


@pytest.mark.parametrize(("agents", "players"), [(5, 4), (3, 4)])
def test_ratings_recover_known_strengths(agents: int, players: int) -> None:
    strengths = np.linspace(-1.5, 1.5, agents)
    ratings = rate(_simulated(strengths.tolist(), players, 500))
    assert [rating.agent for rating in ratings] == list(range(agents))[::-1]
    for rating in ratings:
        assert rating.low < rating.rating < rating.high
        assert rating.rating == pytest.approx(ELO * strengths[rating.agent], abs=40)


def test_bootstrap_intervals_cover_the_truth_as_often_as_they_should() -> None:
    strengths = [-0.5, 0.0, 0.5]
    covered = 0
    for seed in range(25):
        for rating in rate(_simulated(strengths, 3, 60, seed)):
            covered += rating.low <= ELO * strengths[rating.agent] <= rating.high
    assert covered >= 62  # of 75; 95 % would be 71


def test_the_quick_fit_is_the_fit_of_choix() -> None:
    results = _simulated([0.0, 1.0, 2.5, -1.0], 3, 60)
    results.ranks[:20, 0, 0] = 1.0  # some games end in a tie of all
    data = Rankings.of(results)
    assert sum(data.total()) == results.games
    np.testing.assert_allclose(Likelihood(data).fit(np.ones(60)), fit_choix(data), atol=1e-6)
    games: list[tuple[int, ...]] = []
    for lineup, rotations in zip(results.lineups[:, 0].tolist(), results.ranks[:, 0].tolist(), strict=True):
        for ranks in rotations:
            possible = orders(tuple(lineup), tuple(ranks))
            games += possible * (6 // len(possible))
    games += [(a, b) for a in range(4) for b in range(4) if a != b] * 3
    plain = choix.ilsr_rankings(4, games)
    np.testing.assert_allclose(fit_choix(data), plain - plain.mean(), atol=1e-6)


def test_an_agent_that_never_loses_has_a_finite_rating() -> None:
    ratings = rate(_simulated([50.0, 0.0, 0.0], 3, 30))
    assert ratings[0].agent == 0
    assert all(
        math.isfinite(value) for rating in ratings for value in (rating.low, rating.rating, rating.high)
    )
