"""Actions and cards as text, both ways, and the table as text."""

from __future__ import annotations

import numpy as np
import pytest

from byzanz_env.games.byzanz import rules
from byzanz_env.games.byzanz.actions import ACTIONS, VERBS, from_text, legal_actions, to_text
from byzanz_env.games.byzanz.text import format_cards, parse_cards, position_text
from byzanz_env.games.byzanz.view import seen_by, seen_by_all
from tests.byzanz.positions import Played, build_deck, cards

pytestmark = pytest.mark.plain


def test_every_action_reads_back() -> None:
    assert len(ACTIONS) == rules.NUM_ACTIONS
    assert len({action.text for action in ACTIONS}) == rules.NUM_ACTIONS
    for index, action in enumerate(ACTIONS):
        assert action.index == index
        assert action.verb in VERBS
        assert to_text(index) == str(action) == action.text
        assert from_text(action.text) == index
        assert from_text(f"  {action.text.upper()} ") == index


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (0, "pass"),
        (1, "commit"),
        (2 + 1, "lay cloth2"),
        (26 + 10, "give wine3"),
        (26 + 24, "give merchant"),
        (51 + 3, "take wood"),
        (57, "take merchants"),
        (58, "sell cloth 1 + 2 merchants"),
        (58 + 34 * 2 + 4 + 2, "sell wine 3,1 + merchant"),
        (58 + 34 * 5 + 33, "sell olive 4,4,4"),
        (262, "sell three merchants"),
        (263 + 20, "discard olive1"),
        (287, "discard merchant"),
    ],
)
def test_index_and_text_as_in_part_10(index, text) -> None:
    assert to_text(index) == text


def test_sales_show_their_cards() -> None:
    action = ACTIONS[from_text("sell wine 3,1 + merchant")]
    assert sorted(action.cards) == [8, 10, 24]
    assert action.good == 2
    assert all(len(action.cards) == 3 for action in ACTIONS if action.verb == "sell")


def test_other_ways_to_write_a_sale() -> None:
    index = from_text("sell wine 3,1 + merchant")
    for text in ("sell wine 1,3 + merchant", "Sell  wine 3 1 + merchant", "sell wine 3, 1+merchant"):
        assert from_text(text) == index
    assert from_text("sell 3 merchants") == 262


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("lay clth2", "lay cloth2"),
        ("sell wine 3,1", "sell wine 3,1,1|sell wine 3,2,1|sell wine 4,3,1|sell wine 3,3,1"),
        ("take merchnts", "take merchants"),
        ("", "actions are: pass"),
        ("fly", "actions are: pass"),
        ("lay merchant", "give merchant"),
    ],
)
def test_wrong_text_names_near_actions(text, advice) -> None:
    with pytest.raises(ValueError, match=advice):
        from_text(text)


@pytest.mark.parametrize("index", [-1, 288])
def test_wrong_index(index) -> None:
    with pytest.raises(ValueError, match=r"0 \.\. 287"):
        to_text(index)


def test_legal_actions_of_a_mask() -> None:
    game = Played(4, deck=build_deck(4, hands=["cloth1 cloth1 cloth2 olive1"]))
    mask = np.zeros(288, dtype=np.int8)
    mask[game.legal()] = 1
    assert [action.text for action in legal_actions(mask)] == game.legal_texts()


def test_cards_read_back() -> None:
    for text in ("cloth2 wine1 merchant", "cloth1 cloth1 olive4 merchant merchant", "-"):
        assert format_cards(parse_cards(text)) == text
    assert parse_cards("2x cloth1, merchant") == cards("cloth1 merchant cloth1")
    assert parse_cards("") == [0] * 25


@pytest.mark.parametrize("text", ["cloth5", "cloth", "gold1", "3x cloth4", "cloth1 ?"])
def test_wrong_cards(text) -> None:
    with pytest.raises(ValueError, match=r"is not a card|too many"):
        parse_cards(text)


def test_position_text_shows_what_the_eyes_know() -> None:
    game = Played(4, deck=build_deck(4, hands=["cloth1 cloth1 cloth2 olive1", "wine4 wine3 wine3 wine1"]))
    mine = position_text(seen_by(game.observe(0), 0))
    assert "hand  cloth 1,1,2  olive 1" in mine
    assert "wine 1,3,3,4" not in mine
    assert mine.count("4 unknown") == 3
    everything = position_text(seen_by_all([game.observe(seat) for seat in range(4)]))
    assert "hand  wine 1,3,3,4" in everything
    assert "unknown" not in everything


def test_view_names_seats_by_number() -> None:
    game = Played(5, deck=build_deck(5, hands=["cloth1 cloth1 cloth2 olive1"]))
    game.play("lay cloth2", "commit")
    for eyes in range(5):
        table = seen_by(game.observe(eyes), eyes)
        assert (table.eyes, table.to_act, table.players, table.phase) == (eyes, 1, 5, "bid")
        assert table.seats[0].bid == tuple(cards("cloth2"))
        assert [seat.seat for seat in table.seats] == [0, 1, 2, 3, 4]
        assert [seat.hand is not None for seat in table.seats] == [seat == eyes for seat in range(5)]
