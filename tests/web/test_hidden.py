"""Nothing leaks: no hidden card, no pile and no seed in any answer before the end of the game."""

from __future__ import annotations

import json

import numpy as np
import pytest

from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import MERCHANT
from byzanz_env.web.rooms import Room
from tests.web.doors import Page

GAMES = 100
PARTS = 4
STATE_KEYS = {"game", "names", "agents", "you", "log", "view", "turn", "legal", "over", "result", "frames"}
VIEW_KEYS = {
    *("phase", "to_act", "round", "rounds", "auction", "on_offer", "high_bid", "pile", "bundle", "market"),
    *("gone", "laid", "seats"),
}
SEAT_KEYS = {
    *("hand", "known", "unknown", "hand_size", "points", "bidder_card", "bid", "bid_total", "in_auction"),
}
FRAME_KEYS = {"seat", "lines", "set"}
HINT_KEYS = {"adviser", "chances", "choices"}
OPPONENTS = ("heuristic", "greedy", "random")


def check_view(view: dict, you: int) -> None:
    assert set(view) == VIEW_KEYS
    for seat, side in enumerate(view["seats"]):
        assert set(side) == SEAT_KEYS
        assert (side["hand"] is None) == (seat != you)


def twin_answers(room: Room, seed: int) -> str:
    """What the page would get if everything that it cannot know were different."""
    games = room.session._recorder.games
    true = games.copy()
    redeal(games[0], room.you, seed)
    answer = json.dumps(room.state())
    games[:] = true
    return answer


def check_frames(answer: dict, before: dict, after: dict, you: int) -> None:
    view = json.loads(json.dumps(before))
    for frame in answer["frames"]:
        assert set(frame) == FRAME_KEYS
        for *path, key, value in frame["set"]:
            place = view
            for step in path:
                place = place[step]
            place[key] = value
        check_view(view, you)
    assert view == after


@pytest.mark.parametrize("part", range(PARTS))
def test_a_hundred_games_without_a_hidden_card(part: int) -> None:
    page = Page()
    random = np.random.default_rng(part)
    for game in range(part, GAMES, PARTS):
        players, you = 3 + game % 4, game % 3
        opponents = [OPPONENTS[int(i)] for i in random.integers(len(OPPONENTS), size=players - 1)]
        play(page, players, you, opponents, seed=10**14 + game, random=random)


def play(
    page: Page, players: int, you: int, opponents: list[str], seed: int, random: np.random.Generator
) -> None:
    new = {"players": players, "seat": you, "opponents": opponents, "seed": seed, "forced": bool(seed % 2)}
    page.seen.clear()
    answer = page.ask("new", new)
    game = answer["game"]
    room = page.server.rooms.find(game)
    view = answer["view"]
    told = [*answer["log"], *(line for frame in answer["frames"] for line in frame["lines"])]
    assert told == room.session.log  # each line once
    while True:
        assert set(answer) <= STATE_KEYS
        shown = json.dumps(room.state())
        state = json.loads(shown)
        check_view(state["view"], you)
        check_frames(answer, view, state["view"], you)
        view = state["view"]
        if answer["over"]:
            break
        assert twin_answers(room, int(random.integers(2**40))) == shown
        if random.random() < 0.1:
            check_other_answers(page, game, state)
        answer = page.ask("act", {"game": game, "turn": state["turn"], **any_move(state, you, random)})
    before_the_end = "".join(page.seen)
    assert str(seed) not in before_the_end
    assert '"deck"' not in before_the_end
    assert '"seed"' not in before_the_end
    assert page.ask("finish", {"game": game})["seed"] == seed
    page.ask("leave", {"game": game})


def check_other_answers(page: Page, game: str, state: dict) -> None:
    assert page.ask("state", {"game": game}) == state
    assert set(state) == STATE_KEYS - {"game", "frames"}
    assert page.post("finish", {"game": game}).status == 403
    assert page.post("analyze", {"game": game}).status == 403


def any_move(state: dict, you: int, random: np.random.Generator) -> dict:
    """Now and then all goods of the hand as a raise, else any action that is one decision."""
    if any(action["verb"] == "lay" for action in state["legal"]) and random.random() < 0.3:
        return {"raise": [kind for kind in state["view"]["seats"][you]["hand"] if kind != MERCHANT]}
    legal = [action["index"] for action in state["legal"] if action["verb"] not in ("lay", "commit")]
    return {"action": int(random.choice(legal))}


def test_a_hint_does_not_look_at_hidden_cards() -> None:
    """The adviser is asked about the game and about twins of it: the answer is the same."""
    page = Page()
    answer = page.ask(
        "new", {"players": 4, "seat": 2, "opponents": ["random"] * 3, "seed": 8, "forced": False}
    )
    game, room = answer["game"], page.server.rooms.find(answer["game"])
    for _ in range(12):
        hint = page.post("hint", {"game": game})
        assert set(hint.json()) == HINT_KEYS
        games = room.session._recorder.games
        true = games.copy()
        for seed in range(3):
            redeal(games[0], room.you, seed)
            assert page.post("hint", {"game": game}).text == hint.text
        games[:] = true
        state = page.ask("state", {"game": game})
        action = next(one["index"] for one in state["legal"] if one["verb"] not in ("lay", "commit"))
        if page.ask("act", {"game": game, "turn": state["turn"], "action": action})["over"]:
            break
