"""Games of the arena: luck cancels, and nothing but deal, seat and agent decides a result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from byzanz_env._random import derive_seed
from byzanz_env.agents import load, names
from byzanz_env.arena.kernels import EVAL_STREAM, deal_seeds
from byzanz_env.arena.match import WHOLE_WIN, DealResult, Match, Results
from byzanz_env.arena.play import AgentFailureError, Game, Outcome, play_games
from byzanz_env.arena.statistics import compare, estimate, share_estimate, summarize
from byzanz_env.arena.tournament import run
from byzanz_env.decisions import Decisions, agent_key
from byzanz_env.games.byzanz.engine import STATE, deal, legal_mask, ranks, step
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, encode
from byzanz_env.games.byzanz.rules import NUM_ACTIONS, OVER
from tests.arena.players import Broken, Dice, First, Last, assert_same, duel, play


def deterministic() -> list[str]:
    """Every agent of the registry but those that draw random numbers."""
    return [name for name in names() if name != "random" and ":" not in name]


@pytest.mark.parametrize("players", [3, 4, 5, 6])
@pytest.mark.parametrize("name", deterministic())
def test_a_deterministic_agent_among_copies_of_itself_scores_exactly_one_nth(
    players: int, name: str
) -> None:
    match = duel(players, labels=(name, f"{name} (2)"))
    results = run(match, [[load(name), load(name)]], 20).results
    share = summarize(results, 0, 0).win_share
    assert share.mean == 1 / players
    assert share.low == share.high == 1 / players
    assert (results.points != results.points[..., :1]).any()  # the seats do not all get the same


def test_an_agent_that_draws_is_level_with_itself_only_on_average() -> None:
    match = duel(4, labels=("random", "random (2)"))
    share = summarize(run(match, [[load("random"), load("random")]], 20).results, 0, 0).win_share
    assert share.low < 1 / 4 < share.high
    assert share.mean != 1 / 4


@pytest.mark.parametrize("players", [3, 6])
def test_copies_of_one_agent_get_the_same_luck_in_every_rotation(players: int) -> None:
    match = Match("duel", players, 7, ("dice", "unused"))
    games = [Game(deal, 0, rotation, (0,) * players) for deal in range(5) for rotation in range(players)]
    points = {
        (o.game.deal, o.game.rotation): o.points
        for o in play_games([[Dice(), First()]], match.labels, players, games, 7)
    }
    assert all(points[deal, rotation] == points[deal, 0] for deal, rotation in points)


def test_an_agent_against_itself_leaves_its_interval_as_rarely_as_it_should() -> None:
    tournaments, deals = 1000, 5
    match = duel(3, labels=("random", "random (2)"))
    all_deals = run(match, [[load("random"), load("random")]], tournaments * deals).results
    shares = all_deals.win_shares(0, 0).reshape(tournaments, deals)
    scores = all_deals.points[:, 0, :, 0].mean(axis=1) - all_deals.points[:, 0, :, 1:].mean(axis=(1, 2))
    outside_share = sum(not found.low <= 1 / 3 <= found.high for found in map(share_estimate, shares))
    outside_score = sum(
        not found.low <= 0 <= found.high for found in map(estimate, scores.reshape(tournaments, deals))
    )
    spread = np.sqrt(tournaments * 0.05 * 0.95)
    assert 50 - 3 * spread < outside_score < 50 + 3 * spread
    assert 0 < outside_share < 50 + 3 * spread  # shares of so few games take few values: wider than needed
    called_different = sum(compare(few, match.fair_share).p_value < 0.05 for few in shares)
    assert 0 < called_different < 50 + 3 * spread


@pytest.mark.parametrize("match", [duel(3, True), Match("round robin", 4, 7, ("first", "last", "dice"))])
def test_batch_and_threads_change_nothing(match: Match) -> None:
    alone = play(match, 12, batch=1).results
    for options in ({"batch": 7}, {"batch": 500}, {}, {"threads": 2, "batch": 3}, {"threads": 3}):
        assert_same(alone, play(match, 12, **options).results)


def _play_by_hand(seats: list[First | Last | Dice], game_seed: int) -> tuple[list[int], list[float]]:
    """One game without the arena: every decision is asked, forced ones too."""
    state = np.zeros(1, dtype=STATE)
    deal(state[0], len(seats), game_seed)
    mask, observation = np.zeros(NUM_ACTIONS, dtype=np.int8), np.zeros(OBSERVATION_SIZE, dtype=np.int8)
    while state[0].phase != OVER:
        seat = int(state[0].seat)
        legal_mask(state[0], mask)
        encode(state[0], seat, observation)
        key = derive_seed(game_seed, agent_key(seats[seat].name), seat)
        decisions = Decisions(observation[None], mask[None], np.array([key]))
        step(state[0], int(seats[seat].act(decisions)[0]))
    places = np.zeros(6)
    ranks(state[0], places)
    return state[0].points[: len(seats)].tolist(), places[: len(seats)].tolist()


def test_a_game_of_the_arena_is_the_game_played_by_hand() -> None:
    match = duel(4)
    for outcome in play_games([[First(), Dice()]], match.labels, 4, match.games(range(3)), 7):
        game = outcome.game
        seats: list[First | Last | Dice] = [First() if agent == 0 else Dice() for agent in game.seating]
        game_seed = derive_seed(7, EVAL_STREAM, game.deal)
        assert (list(outcome.points), list(outcome.ranks)) == _play_by_hand(seats, game_seed)


def test_deals_of_the_arena_are_not_those_of_training() -> None:
    arena = set(deal_seeds(0, np.arange(2000)).tolist())
    training = {derive_seed(0, row, game) for row in range(50) for game in range(40)}
    assert len(arena) == 2000
    assert not arena & training


def test_every_agent_sits_on_every_seat_of_every_deal() -> None:
    match = duel(5, True)
    seen = {
        (g.deal, g.table, seat)
        for g in match.games(range(3))
        for seat in range(5)
        if g.seating.count(g.seating[seat]) == 1
    }
    assert seen == {(deal, table, seat) for deal in range(3) for table in (0, 1) for seat in range(5)}


@pytest.mark.parametrize("players", [3, 4, 6])
def test_results_are_kept_by_the_place_in_the_line_up(players: int) -> None:
    match = Match("round robin", players, 1, tuple("abcdef"))
    outcomes = []
    for game in match.games([2]):
        by_seat = tuple(10 * agent + game.rotation for agent in game.seating)
        outcomes.append(Outcome(game, by_seat, tuple(float(points) for points in by_seat)))
    result = DealResult.of(outcomes[::-1])
    lineup = match.lineups(2)[0]
    expected = tuple(tuple(10 * agent + rotation for agent in lineup) for rotation in range(players))
    assert result == DealResult(2, (expected,), (expected,))


@pytest.mark.parametrize(("agents", "players"), [(3, 3), (3, 4), (8, 4), (5, 6)])
def test_round_robin_gives_everyone_the_same_number_of_places(agents: int, players: int) -> None:
    match = Match("round robin", players, 1, tuple(f"a{i}" for i in range(agents)))
    places = [agent for deal in range(3 * agents) for agent in match.lineups(deal)[0]]
    assert np.bincount(places).tolist() == [3 * players] * agents
    if agents >= players:
        assert all(len(set(match.lineups(deal)[0])) == players for deal in range(3 * agents))
    circles = {match.lineups(deal)[0] for deal in range(0, 40 * agents, agents)}
    assert len(circles) > 1


def test_shares_are_exact_and_ties_split() -> None:
    ranks = np.array([[[[0.5, 0.5, 2.0], [0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]]])
    results = Results(
        duel(3), np.array([0]), np.array([[[0, 1, 1]]]), np.zeros_like(ranks, dtype=int), ranks
    )
    assert results.shares[0, 0].tolist() == [[30, 30, 0], [60, 0, 0], [20, 20, 20]]
    assert results.win_shares(0, 0).tolist() == [110 / 3 / WHOLE_WIN]


def _first_illegal(decisions: Decisions) -> np.ndarray:
    return (decisions.masks == 0).argmax(axis=1)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "crashed with KeyError: 'no idea'"),
        (lambda decisions: np.full(len(decisions), 10**9), "illegal action 1000000000"),
        (lambda decisions: np.full(len(decisions), -1), r"illegal action -1; legal were \d+ \("),
        (_first_illegal, r"illegal action \d+ \([a-z]"),
        (lambda decisions: np.full(len(decisions), 0.5), "float64 .* one integer each"),
        (lambda decisions: np.zeros(len(decisions) + 1, dtype=int), "shape .* one integer each"),
        (lambda _: "pass", "one integer each"),
        (lambda _: None, "one integer each"),
    ],
)
def test_a_failing_agent_is_named_with_deal_and_seat(
    answer: Callable[[Decisions], object] | None, words: str
) -> None:
    crew = [Broken(4, answer), First()]
    with pytest.raises(AgentFailureError, match=rf"agent first on seat [012] of deal 5 .*{words}"):
        list(play_games([crew], ("first", "dice"), 3, duel(3).games([5]), 0))


def test_a_crash_in_a_batch_is_traced_to_its_game() -> None:
    class Picky(First):
        def act(self, decisions: Decisions) -> np.ndarray:
            if (decisions.keys == bad).any():
                raise RuntimeError("not this one")
            return super().act(decisions)

    bad = derive_seed(derive_seed(0, EVAL_STREAM, 3), agent_key("first"), 2)
    with pytest.raises(
        AgentFailureError, match=r"agent first on seat 2 of deal 3 crashed with RuntimeError: not this"
    ):
        list(play_games([[Picky(), Dice()]], ("first", "dice"), 4, duel(4).games(range(6)), 0))


def test_an_agent_cannot_make_an_action_legal() -> None:
    class Forger(First):
        def act(self, decisions: Decisions) -> np.ndarray:
            decisions.masks[:] = 1
            decisions.observations[:] = 0
            return np.full(len(decisions), 200)

    with pytest.raises(AgentFailureError, match="illegal action 200"):
        list(play_games([[Forger(), Dice()]], ("first", "dice"), 4, duel(4).games([0]), 0))


def test_the_failure_of_one_thread_ends_the_match() -> None:
    crews = [[Broken(3), Dice()], [First(), Dice()]]
    with pytest.raises(AgentFailureError, match="crashed"):
        list(play_games(crews, ("first", "dice"), 3, duel(3).games(range(4000)), 0, batch=8))
