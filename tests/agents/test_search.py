"""The searching opponents: legal, repeatable and led by evidence; test_hidden.py shows them blind."""

from __future__ import annotations

import numpy as np
import pytest

from byzanz_env._jit import njit
from byzanz_env.agents import load
from byzanz_env.decisions import Decisions
from byzanz_env.games.byzanz import search
from byzanz_env.games.byzanz.actions import from_text
from byzanz_env.games.byzanz.rules import PHASES
from tests.agents.decide import answer, decisions_of, positions
from tests.byzanz.positions import Played, build_deck

SEARCHES = ("montecarlo:40", "ismcts:40")


@pytest.mark.parametrize("players", [3, 4, 5, 6])
@pytest.mark.parametrize("spec", SEARCHES)
def test_answers_are_legal_in_every_phase(spec: str, players: int) -> None:
    games = [game for seed in range(3) for game in positions(players, seed, every=3)]
    actions = load(spec).act(decisions_of(games))
    for game, action in zip(games, actions, strict=True):
        assert int(action) in game.legal()
    assert {game.phase for game in games} == set(PHASES[:-1])


@pytest.mark.parametrize("spec", SEARCHES)
def test_an_answer_depends_on_its_key_and_not_on_the_batch(spec: str) -> None:
    games = positions(4, 1, every=5) + positions(6, 2, every=7)
    agent = load(spec)
    together = agent.act(decisions_of(games))
    order = np.random.default_rng(0).permutation(len(games))
    np.testing.assert_array_equal(agent.act(decisions_of([games[i] for i in order])), together[order])
    assert [answer(agent, game) for game in games[:15]] == together[:15].tolist()


def test_a_search_needs_games() -> None:
    decisions = decisions_of([Played(4, seed=0)])
    blind = Decisions(decisions.observations, decisions.masks, decisions.keys)
    with pytest.raises(ValueError, match="search"):
        load("montecarlo:8").act(blind)


@pytest.mark.parametrize("spec", ["montecarlo:1", "ismcts:1"])
def test_without_a_budget_the_prior_plays(spec: str) -> None:
    games = positions(4, 3)
    np.testing.assert_array_equal(
        load(spec).act(decisions_of(games)), load("heuristic").act(decisions_of(games))
    )


@pytest.mark.parametrize("spec", ["montecarlo:400", "ismcts:400"])
def test_a_search_sees_the_last_market_to_its_end(spec: str) -> None:
    """In the last market only what can be sold counts: the third cloth makes a set, the wine nothing."""
    game = Played(4, deck=build_deck(4))
    state = game.games[0]
    state.round_number, state.auction, state.picks, state.phase = 5, 3, 1, PHASES.index("pick")
    state.bidder_card[:4] = [2, 3, 4, 5]
    state.seat, state.starter, state.drawn = 0, 0, 112
    for zone in (state.hands, state.known, state.bundle, state.market, state.hidden, state.gone):
        zone[:] = 0
    state.unknown[:] = 0
    state.hidden[4:8] = [4, 4, 2, 2]  # spice: the twelve removed cards
    state.hands[0, [2, 3, 23]] = 1  # cloth3 cloth4 olive4
    state.known[0] = state.hands[0]
    state.market[[0, 8, 9]] = [1, 2, 1]  # cloth1, two wine1, wine2
    state.hand_size[:4] = state.hands[:4].sum(axis=1)
    assert answer(load(spec), game) == from_text("take cloth")


# --- evidence ----------------------------------------------------------------------------------------


@njit
def _run_worlds(desks: np.ndarray, values: np.ndarray, budget: int) -> None:
    desk = desks[0]
    search.open_desk(desk, values.shape[1])
    for world in range(len(values)):
        desk.values[: values.shape[1]] = values[world]
        search.close_world(desk, budget)


@njit
def _verdict(desks: np.ndarray, evidence: float) -> int:
    return search.verdict(desks[0], evidence)


def weighed(values: np.ndarray, budget: int = 10**6) -> np.ndarray:
    desks = np.zeros(1, dtype=search.DESK)
    _run_worlds(desks, values, budget)
    return desks


@pytest.mark.plain
def test_differences_to_the_prior_are_paired() -> None:
    rng = np.random.default_rng(2)
    luck = rng.normal(size=(50, 1)) * 10
    values = luck + np.array([0.0, 0.2, -0.1]) + rng.normal(size=(50, 3)) * 0.01
    desks = weighed(values)
    differences = values - values[:, :1]
    np.testing.assert_allclose(desks["means"][0, 1:3], differences.mean(axis=0)[1:])
    np.testing.assert_allclose(desks["squares"][0, 1:3], differences.var(axis=0)[1:] * 50)
    assert _verdict(desks, 2.0) == 1


@pytest.mark.plain
def test_the_prior_is_left_only_on_evidence() -> None:
    noisy = np.zeros((20, 2))
    noisy[::2, 1], noisy[1::2, 1] = 1.0, -0.8  # better by 0.1, with an error of 0.2
    assert _verdict(weighed(noisy), 2.0) == 0
    assert _verdict(weighed(noisy), 0.4) == 1
    assert _verdict(weighed(np.zeros((20, 3))), 0.0) == 0


@pytest.mark.plain
def test_the_weaker_half_is_dropped_and_the_prior_stays() -> None:
    values = np.tile([0.0, 5.0, 4.0, 3.0, 2.0, 1.0, -1.0, -2.0, -3.0], (20, 1))
    desks = weighed(values, budget=9 * 20)
    assert desks["cuts"][0] >= 1
    alive = np.flatnonzero(desks["alive"][0])
    assert 0 in alive
    assert 1 in alive
    assert len(alive) == desks["living"][0] < 9
    assert _verdict(desks, 2.0) == 1
