"""Hints and analysis: from a policy its probabilities and chances, from any other agent its choice."""

from __future__ import annotations

import numpy as np
import pytest

from byzanz_env.advice import Adviser, advise, by_seat, follow, path_text, play_out, redealt_worlds
from byzanz_env.agents import load
from byzanz_env.analysis import analyze, turns_of
from byzanz_env.games.byzanz.rules import COMMIT, GIVE_CARD, LAY, OVER
from byzanz_env.session import Session


class Policy:
    """Answers like a policy file: likeliest legal action first, the observer's chance the largest."""

    name = "policy"

    def __init__(self, with_chances: bool = True) -> None:
        self.with_chances = with_chances

    def act(self, decisions) -> np.ndarray:
        commits = decisions.masks[:, COMMIT] == 1
        lays = decisions.masks[:, LAY:GIVE_CARD].argmax(axis=1) + LAY
        can_lay = decisions.masks[:, LAY:GIVE_CARD].any(axis=1)
        first = decisions.masks.argmax(axis=1)
        return np.where(commits, COMMIT, np.where(can_lay, lays, first)).astype(np.int64)

    def evaluate(self, decisions):
        probabilities = decisions.masks / decisions.masks.sum(axis=1, keepdims=True)
        chances = np.tile([0.5, 0.2, 0.2, 0.1, 0.0, 0.0], (len(decisions), 1))
        return probabilities, chances if self.with_chances else None


def game_at_seat(seat: int) -> Session:
    """A new game in which this seat decides first to bid."""
    session = Session([None] * 4, seed=1)
    for _ in range(seat):
        session.act(0)
    assert session.seat == seat
    return session


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_a_policy_gives_probabilities_and_chances_by_seat(seat: int) -> None:
    session = game_at_seat(seat)
    advice = advise(session, Adviser(Policy()))
    assert advice.chances[seat] == 0.5
    assert advice.chances[(seat + 3) % 4] == 0.1
    legal = [action.index for action in session.legal()]
    raises = sum(LAY <= index < GIVE_CARD for index in legal)
    first = advice.choices[0]
    assert first.path[-1] == COMMIT
    assert first.probability == pytest.approx(raises / len(legal))
    assert first.text.startswith("bid ")
    assert all(choice.path[0] in legal for choice in advice.choices)


def test_a_policy_without_chances_gets_them_from_play_outs() -> None:
    advice = advise(game_at_seat(1), Adviser(Policy(with_chances=False)))
    assert sum(advice.chances) == pytest.approx(1, abs=0.01)
    assert advice.chances != (0.2, 0.5, 0.2, 0.1)


def test_any_other_agent_gives_its_choice() -> None:
    session = game_at_seat(2)
    advice = advise(session, Adviser(load("heuristic")))
    assert len(advice.choices) == 1
    assert advice.choices[0].probability is None
    assert advice.choices[0].path[0] in [action.index for action in session.legal()]
    assert sum(advice.chances) == pytest.approx(1, abs=0.01)


def test_a_decision_is_followed_to_its_end() -> None:
    session = game_at_seat(0)
    path = follow(load("heuristic"), session.board(), 0)
    for action in path:
        session.act(action)
    assert session.seat != 0 or path[-1] != COMMIT
    assert path_text((0,)) == "pass"
    assert path_text((LAY + 1, LAY + 8, COMMIT)) == "bid cloth2 wine1"


def test_play_outs_end_every_game() -> None:
    worlds = redealt_worlds(game_at_seat(0).board(), 8)
    shares = play_out(worlds, load("heuristic"))
    assert (worlds["phase"] == OVER).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(8))
    assert (shares[:, 4:] == 0).all()


def test_chances_are_counted_from_the_observer() -> None:
    assert by_seat(np.array([0.5, 0.3, 0.2, 0, 0, 0]), 2, 3).tolist() == [0.3, 0.2, 0.5, 0, 0, 0]


def test_who_plays_like_the_adviser_loses_nothing() -> None:
    heuristic = load("heuristic")
    session = Session([heuristic] * 3, seed=5)
    list(session.advance())
    judged = analyze(session.replay(), Adviser(heuristic))
    assert judged["agreement"] == [1.0] * 3
    assert judged["worst"] == []


def test_costs_are_sorted_and_chances_add_up() -> None:
    session = Session([load("random")] * 3, seed=2)
    list(session.advance())
    replay = session.replay()
    judged = analyze(replay, Adviser(load("heuristic")))
    turns = turns_of(replay)
    assert sum(len(turn.path) for turn in turns) == len(replay.actions)
    assert len(judged["moves"]) == sum(turn.options > 1 for turn in turns)
    assert judged["worst"] == sorted(judged["worst"], key=lambda move: -move["cost"])
    for move in judged["worst"]:
        assert move["played"] != move["better"]
        assert 0 < move["cost"] <= 1
    for point in judged["curve"]:
        assert sum(point["chances"]) == pytest.approx(1, abs=0.01)
