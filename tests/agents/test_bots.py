"""The scripted opponents: always legal, nothing remembered, sound sales and payments, and a ladder."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from itertools import combinations

import numpy as np
import pytest

from byzanz_env._jit import njit
from byzanz_env.agents import load, names
from byzanz_env.arena.match import Match
from byzanz_env.arena.tournament import run
from byzanz_env.games.byzanz import bidding, valuation
from byzanz_env.games.byzanz.actions import from_text
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.rules import (
    COMMIT,
    FINAL,
    HAND_LIMIT,
    LAY,
    MERCHANT,
    NUM_GOODS,
    NUM_KINDS,
    PASS,
    PHASES,
    SETS,
    VALUE_OF,
)
from byzanz_env.games.byzanz.search import DESK, play_out
from tests.agents.decide import answer, decisions_of, positions
from tests.byzanz.positions import Played, build_deck, cards

SCRIPTED = ("random", "greedy", "heuristic")


@pytest.mark.parametrize("players", [3, 4, 5, 6])
@pytest.mark.parametrize("name", SCRIPTED)
def test_answers_are_legal_in_every_phase(name: str, players: int) -> None:
    agent = load(name)
    seen = set()
    for seed in range(3):
        for game in positions(players, seed):
            assert answer(agent, game) in game.legal()
            seen.add(game.phase)
    assert seen == set(PHASES[:-1])


@pytest.mark.parametrize("name", SCRIPTED)
def test_an_answer_does_not_depend_on_the_batch(name: str) -> None:
    games = positions(4, 1) + positions(6, 2) + positions(3, 3)
    agent = load(name)
    together = agent.act(decisions_of(games))
    order = np.random.default_rng(0).permutation(len(games))
    np.testing.assert_array_equal(agent.act(decisions_of([games[i] for i in order])), together[order])
    assert [answer(agent, game) for game in games[:60]] == together[:60].tolist()


def test_random_reaches_every_legal_action_and_follows_its_key() -> None:
    game = Played(4, deck=build_deck(4, hands=["cloth1 spice2 wine3 wood4"]))
    agent = load("random")
    drawn = [answer(agent, game, key) for key in range(200)]
    assert set(drawn) == set(game.legal())
    assert drawn == [answer(agent, game, key) for key in range(200)]


# --- sales -------------------------------------------------------------------------------------------


def most_profit(hand: list[int]) -> int:
    """The most that a hand can be sold for, by trying every order of every sale."""

    @cache
    def best(held: tuple[int, ...]) -> int:
        most = 5 + best((*held[:-1], held[-1] - 3)) if held[-1] >= 3 else 0
        for good in range(6):
            for goods in SETS:
                left = list(held)
                for value in goods:
                    left[4 * good + value - 1] -= 1
                left[MERCHANT] -= 3 - len(goods)
                if min(left) >= 0:
                    most = max(most, max(goods) + best(tuple(left)))
        return most

    return best(tuple(hand))


def last_sale(hand: list[int]) -> Played:
    """A game that waits for the final sale of a hand."""
    game = Played(4, seed=0)
    state = game.games[0]
    state.hands[:] = 0
    state.hands[0] = hand
    state.known[0] = hand
    state.hand_size[0], state.unknown[0], state.seat, state.starter = sum(hand), 0, 0, 0
    state.phase = FINAL
    return game


@pytest.mark.parametrize("name", ["greedy", "heuristic"])
def test_7_1_the_final_sale_is_solved_exactly(name: str) -> None:
    agent = load(name)
    rng = np.random.default_rng(5)
    weights = np.array([6, 5, 3, 2] * 6 + [16]) / 112
    for _ in range(40):
        hand = np.minimum(rng.multinomial(7, weights), [6, 5, 3, 2] * 6 + [16]).tolist()
        game = last_sale(hand)
        while game.phase == "final" and game.seat == 0 and len(game.legal()) > 1:
            game.step(answer(agent, game))
        assert game.points[0] == most_profit(hand), hand


def test_greedy_sells_at_once_and_the_heuristic_waits() -> None:
    game = Played(4, deck=build_deck(4, hands=["cloth1 cloth2 cloth4 wine1"]))
    assert answer(load("greedy"), game) == from_text("sell cloth 4,2,1")
    assert answer(load("heuristic"), game) < from_text("sell cloth 4,2,1")


# --- raises ------------------------------------------------------------------------------------------


@njit
def _plan(sheets: np.ndarray, need: int, first: int) -> None:
    bidding.plan_payment(need, first, sheets[0])


@pytest.mark.plain
def test_3_5_a_payment_is_the_cheapest_that_is_enough() -> None:
    rng = np.random.default_rng(8)
    sheets = np.zeros(1, dtype=bidding.SHEET)
    for _ in range(200):
        hand = rng.choice(NUM_GOODS, size=HAND_LIMIT)
        costs = rng.uniform(0.0, 4, size=NUM_GOODS)
        need = int(rng.integers(1, VALUE_OF[hand].sum() + 1))
        sheets["held"][0] = np.bincount(hand, minlength=NUM_GOODS)
        sheets["costs"][0] = costs
        _plan(sheets, need, 0)
        plan = sheets["plan"][0]
        assert (plan <= sheets["held"][0]).all()
        assert plan @ VALUE_OF[:NUM_GOODS] >= need
        payments = (list(some) for size in range(1, 8) for some in combinations(hand, size))
        least = min(costs[some].sum() for some in payments if VALUE_OF[some].sum() >= need)
        assert plan @ costs <= least + 1e-4


def test_3_5_the_first_bid_is_a_single_card_of_value_one() -> None:
    hands = ["cloth1 spice4 wine3 wood2"]
    game = Played(4, deck=build_deck(4, hands=hands, bundles=["merchant merchant merchant grain4 olive4"]))
    for agent in (load("greedy"), load("heuristic")):
        trial = game.copy()
        while trial.seat == 0 and trial.phase == "bid":
            trial.step(answer(agent, trial))
        assert trial.bid(0) == cards("cloth1")


@njit
def _play_out(games: np.ndarray, v: np.ndarray, desks: np.ndarray, sheets: np.ndarray) -> None:
    play_out(games[0], v, desks[0], sheets[0])


@pytest.mark.parametrize("name", ["greedy", "heuristic"])
@pytest.mark.parametrize("players", [3, 4, 6])
def test_9_2_a_raise_laid_card_by_card_is_the_one_planned(name: str, players: int) -> None:
    """Play-outs lay the plan as a whole; the agent is asked for every card: both give the same game."""
    agent = load(name)
    for seed in range(3):
        game = Played(players, seed=seed)
        planned = game.copy()
        desks, sheets = np.zeros(1, dtype=DESK), np.zeros(1, dtype=bidding.SHEET)
        _play_out(planned.games, valuation.load_valuation(name), desks, sheets)
        game.play_on(lambda played: answer(agent, played), lambda played: False)
        assert game.games.tobytes() == planned.games.tobytes()


@pytest.mark.parametrize("players", [3, 5])
def test_9_3_a_raise_that_somebody_else_began_is_finished(players: int) -> None:
    agent = load("heuristic")
    finished = 0
    for game in positions(players, 4):
        if game.phase != "bid" or PASS not in game.legal():
            continue
        for first in [action for action in game.legal() if LAY <= action < LAY + NUM_GOODS]:
            trial = game.copy()
            seat, before = trial.seat, int(trial.state.high_bid)
            trial.step(first)
            actions = []
            while not actions or actions[-1] != COMMIT:
                actions.append(answer(agent, trial))
                assert actions[-1] in trial.legal()
                if actions[-1] == COMMIT:
                    assert int(trial.state.bid_total[seat]) > before
                trial.step(actions[-1])
            finished += 1
    assert finished > 20


# --- the data file and the names ---------------------------------------------------------------------


def test_weights_with_a_wrong_name_are_refused() -> None:
    named = valuation.named_weights(valuation.load_valuation("heuristic")["weights"])
    named["5"]["pair_tip"] = named["5"].pop("pair_top")
    with pytest.raises(ValueError, match=r"5 players.*pair_tip, pair_top"):
        valuation.weights_array(named)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("heuristc", "did you mean heuristic"),
        ("montecarl:256", "did you mean montecarlo:N"),
        ("grandmaster 9", "known are random, greedy, heuristic"),
        ("", "known are random"),
        ("montecarlo", "for example montecarlo:200"),
        ("montecarlo:0", "from 1 to 1000000"),
        ("ismcts:-5", "from 1 to 1000000"),
        ("ismcts:²", "from 1 to 1000000"),
        ("ismcts:1000001", "from 1 to 1000000"),
        ("heuristic:5", "did you mean heuristic"),
        ("heuristic+search:5", "heuristic is no policy: .search needs a policy file"),
        ("ismcts:9+search:5", "ismcts:9 is no policy"),
        ("heuristi+search:5", "did you mean heuristic"),
    ],
)
def test_bad_specs_say_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(spec)


def test_every_name_loads_and_names_itself() -> None:
    for name in names():
        spec = name.replace(":N", ":7")
        assert load(spec).name == spec


# --- strength ----------------------------------------------------------------------------------------


def win_share(challenger: str, others: str, players: int, deals: int) -> float:
    """Of one against copies of the other, every deal in every seat."""
    match = Match("duel", players, 11, (challenger, others), False)
    results = run(match, [[load(challenger), load(others)]], deals).results
    return float(results.win_shares(0).mean())


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_each_bot_clearly_beats_the_one_before(players: int) -> None:
    assert win_share("greedy", "random", players, 40) > 0.9
    assert win_share("heuristic", "greedy", players, 60) > 0.5


def signature(name: str) -> int:
    """A number that stands for how a bot plays: the scores of some games against itself."""
    total = 0
    for players in (3, 4, 5, 6):
        for seed in range(10):
            game = Played(players, seed=seed)
            desks, sheets = np.zeros(1, dtype=DESK), np.zeros(1, dtype=bidding.SHEET)
            _play_out(game.games, valuation.load_valuation(name), desks, sheets)
            for points in game.points:
                total = (total * 1_000_003 + points) % (2**61 - 1)
    return total


@pytest.mark.parametrize(
    ("name", "version", "number"),
    [("greedy", 1, 1_997_353_036_231_354_033), ("heuristic", 1, 949_549_741_374_592_070)],
)
def test_a_bot_that_plays_differently_needs_a_new_version(name: str, version: int, number: int) -> None:
    """Results are compared over time, so the baselines are frozen: raise the version in the data file."""
    source = resources.files(valuation.__package__ or "").joinpath(f"{name}_weights.json")
    assert json.loads(source.read_text(encoding="utf-8"))["version"] == version
    assert signature(name) == number


@pytest.mark.plain
def test_kinds_fit_the_codes() -> None:
    """A code tells every holding of a type apart."""
    assert NUM_KINDS == 4 * valuation.NUM_TYPES + 1
    assert len(np.unique(valuation.HELD, axis=0)) == valuation.NUM_CODES
    np.testing.assert_array_equal(valuation.HELD @ valuation.STRIDES, np.arange(valuation.NUM_CODES))


def test_a_game_record_is_not_changed_by_asking() -> None:
    game = Played(4, seed=3)
    before = game.games.tobytes()
    assert game.games.dtype == STATE
    for name in SCRIPTED:
        answer(load(name), game)
    assert game.games.tobytes() == before
