"""The table that people play at: views, log, raises, and what must stay hidden."""

from __future__ import annotations

import json

import numpy as np
import pytest

from byzanz_env.agents import load
from byzanz_env.errors import IllegalActionError
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import COMMIT, FULL_DECK, LAY, MERCHANT, NUM_GOODS
from byzanz_env.games.byzanz.text import parse_cards
from byzanz_env.replay import parse
from byzanz_env.session import Session, cards, seat_view
from byzanz_env.storyboard import changes, document, tell


class Passer:
    """Passes whenever it can, and takes the first legal action when it cannot."""

    name = "passer"

    def act(self, decisions) -> np.ndarray:
        return decisions.masks.argmax(axis=1).astype(np.int64)


def deck_of(*parts: str) -> list[int]:
    """A deck that begins with these cards; the rest follows sorted."""
    top = [kind for part in parts for kind in cards(tuple(parse_cards(part)))]
    rest = FULL_DECK.tolist()
    for kind in top:
        rest.remove(kind)
    return top + rest


def test_the_log_tells_a_round_in_words() -> None:
    deck = deck_of(
        "cloth2 wine1 wood4 merchant", "olive1 olive1 olive2 grain1", "spice1 spice1 spice2 grain2"
    )
    session = Session([None, Passer(), Passer()], deck=deck)
    for action in session.raise_actions([1, 8]):
        session.act(action)
    list(session.advance())
    assert session.log[1:4] == ["You add cloth 2, wine 1 and bid 3.", "Basil passes.", "Irene passes."]
    assert session.log[4] == "You win the bundle and bidder card 6 with 3."
    assert session.view(0).phase == "give"


def test_everyone_passed_and_the_hand_is_too_full() -> None:
    session = Session([None, Passer(), Passer()], deck=deck_of("cloth2 wine1 wood4 merchant"))
    session.act(0)
    list(session.advance())
    assert session.log[-2].startswith("Everyone passed: You take")
    assert session.log[-1] == "You hold 10 cards and must come down to seven."


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [
        ([], "at least one"),
        ([MERCHANT], "merchants"),
        ([1, 1], "not in your hand"),
        ([99], "not in your hand"),
        ([1], "highest bid is 3"),
    ],
)
def test_a_raise_that_is_not_possible_says_why(kinds, reason) -> None:
    class Bidder(Passer):
        def act(self, decisions):
            mask = decisions.masks[0]
            return np.array([COMMIT if mask[COMMIT] else LAY + 2 if mask[LAY + 2] else 0])

    deck = deck_of("cloth2 wine1 wood4 merchant", "cloth3 olive1 olive2 grain1")
    session = Session([None, Bidder(), Passer()], deck=deck)
    session.act(LAY + 8)
    session.act(COMMIT)
    list(session.advance())
    assert session.view(0).high_bid == 3
    before = session.replay().lines
    with pytest.raises(IllegalActionError, match=reason):
        session.raise_actions(kinds)
    with pytest.raises(IllegalActionError):
        session.act(262)
    assert session.replay().lines == before


def test_every_raise_above_the_highest_bid_is_one_legal_path() -> None:
    """9.2, 9.3: sorted cards and a commit are always legal when the total is enough."""
    random = np.random.default_rng(1)
    session = Session([None] * 4, seed=9)
    raises = 0
    while not session.is_over:
        table = session.view(session.seat)
        goods = [kind for kind in cards(table.seats[session.seat].hand) if kind < NUM_GOODS]
        chosen = [kind for kind in goods if random.random() < 0.5]
        try:
            path = session.raise_actions(chosen)
        except IllegalActionError:
            legal = [
                action.index for action in session.legal() if not LAY <= action.index < LAY + NUM_GOODS
            ]
            path = [int(random.choice(legal))]
        raises += len(path) > 1
        for action in path:
            session.act(action)
    assert raises > 20


def test_the_view_and_the_log_are_the_same_whatever_is_hidden() -> None:
    """Two games that differ only in cards the seat cannot know look the same to it (8.3)."""
    session = Session([None, *[load("random")] * 3], seed=3)
    random = np.random.default_rng(2)
    checked = 0
    while not session.is_over:
        shown = json.dumps(seat_view(session.view(0))), list(session.log)
        true = session._recorder.games.copy()
        for seed in range(3):
            redeal(session._recorder.games[0], 0, seed)
            assert (json.dumps(seat_view(session.view(0))), list(session.log)) == shown
            checked += 1
            session._recorder.games[:] = true
        if session.is_human_turn:
            session.act(int(random.choice([action.index for action in session.legal()])))
        else:
            session.act(session.agent_action())
    assert checked > 300


def test_hands_are_open_only_at_the_end() -> None:
    session = Session([load("random")] * 3, seed=1)
    with pytest.raises(PermissionError):
        session.open_view()
    list(session.advance())
    assert all(seat.hand is not None for seat in session.open_view().seats)


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_a_story_is_its_start_and_its_changes(players: int) -> None:
    session = Session([load("greedy")] * players, seed=players)
    list(session.advance())
    replay = parse(session.replay().text())
    story = document(replay)
    view = json.loads(json.dumps(story["start"]))
    for frame, table in zip(story["frames"], tell(replay).tables[1:], strict=True):
        for *path, key, value in frame["set"]:
            place = view
            for step in path:
                place = place[step]
            place[key] = value
        assert view == seat_view(table)
    log = [*story["opening"], *(line for frame in story["frames"] for line in frame["lines"])]
    assert log == session.log
    assert story["result"]["points"] == session.scores()["points"]


def test_changes_name_what_differs() -> None:
    before = {"a": 1, "b": [1, 2], "c": [{"d": 1}, {"d": 2}]}
    assert changes(before, {"a": 1, "b": [2], "c": [{"d": 1}, {"d": 3}]}) == [["b", [2]], ["c", 1, "d", 3]]
    assert changes(before, before) == []
