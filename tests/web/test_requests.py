"""What the server answers to right, wrong and hostile requests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from byzanz_env.arena.ladder import BEGIN, END
from byzanz_env.games.byzanz.actions import from_text
from byzanz_env.replay import parse
from byzanz_env.web import cards
from byzanz_env.web.app import Server
from byzanz_env.web.page import STATIC, bundled_modules, index_page, self_contained
from tests.web.doors import GENEROUS, Page, table

KEPT = Path(__file__).parents[1] / "data" / "byzanz-replay-1.jsonl"
PATHS = (
    *("new", "setup", "state", "act", "hint", "finish", "leave", "open", "preloaded", "analyze", "watch"),
    *("ladder", "models"),
)


@pytest.fixture
def page() -> Page:
    return Page()


def test_a_raise_is_laid_out_and_committed_at_once(page: Page) -> None:
    game = table(page.server, "cloth2 wine1 wood4 merchant")
    answer = page.ask("act", {"game": game, "turn": 0, "raise": [8, 1]})
    assert answer["frames"][2]["lines"] == ["You add cloth 2, wine 1 and bid 3."]
    assert {action["verb"] for action in answer["legal"]} == {"give"}


def test_a_sale_brings_points(page: Page) -> None:
    game = table(page.server, "wood4 wood1 merchant olive1")
    sale = from_text("sell wood 4,1 + merchant")
    page.ask("act", {"game": game, "turn": 0, "action": sale})
    assert page.ask("state", {"game": game})["view"]["seats"][0]["points"] == 4


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ({"raise": [24]}, "merchants cannot be bid"),
        ({"raise": [5]}, "not in your hand"),
        ({"raise": []}, "a list of 1 to 12 cards"),
        ({"action": 1}, "not possible now"),
        ({"action": 262}, "not possible now"),
        ({"action": 288}, "from 0 to 287"),
        ({"action": True}, "whole number"),
        ({"action": 0, "raise": [1]}, "either an action or a raise"),
        ({}, "either an action or a raise"),
    ],
)
def test_a_move_that_is_not_possible_says_why_and_changes_nothing(page: Page, move, reason) -> None:
    game = table(page.server, "cloth2 wine1 wood4 merchant")
    before = page.ask("state", {"game": game})
    answer = page.post("act", {"game": game, "turn": 0, **move})
    assert answer.status == 400
    assert reason in answer.json()["error"]
    assert page.ask("state", {"game": game}) == before


def test_a_move_for_another_position_is_refused(page: Page) -> None:
    game = table(page.server, "cloth2 wine1 wood4 merchant")
    assert page.post("act", {"game": game, "turn": 1, "action": 0}).status == 409
    page.ask("act", {"game": game, "turn": 0, "action": 0})
    assert page.post("act", {"game": game, "turn": 0, "action": 0}).status == 409


def test_opponents_are_chosen_by_name_never_by_path(page: Page) -> None:
    for spec in (
        "/etc/passwd",
        "../policy.safetensors",
        "checkpoints/x.safetensors",
        "montecarlo:999999",
        "human",
    ):
        new = {"players": 3, "seat": 0, "opponents": [spec, "random"]}
        assert page.post("new", new).status == 400


def test_watch_open_and_analyze(page: Page) -> None:
    story = page.ask("watch", {"players": 3, "opponents": ["greedy", "random", "heuristic"], "seed": 6})
    assert page.ask("open", {"text": story["file"]}) == story
    judged = page.ask("analyze", {"text": story["file"]})
    assert judged["curve"][0]["n"] == 0
    assert all(move["cost"] >= 0 for move in judged["moves"])
    spoilt = story["file"].replace('"pass"', '"past"', 1)
    answer = page.post("open", {"text": spoilt})
    assert answer.status == 400
    assert "this replay does not hold: line" in answer.json()["error"]


def test_a_replay_from_the_command_line() -> None:
    replay = parse(KEPT.read_text())
    assert Page(Server(preloaded=replay, limits=GENEROUS)).ask("preloaded")["players"] == 4
    assert Page().post("preloaded").status == 404


def test_the_ladder_is_the_one_of_the_arena(page: Page, tmp_path: Path, monkeypatch) -> None:
    table = "| players | A | B |\n|---|---|---|\n| 3 | greedy | random |\n| 4 | a | b |\n| 4 | c | d |"
    (tmp_path / "README.md").write_text(f"# Arena\n{BEGIN}\n{table}\n{END}\n")
    monkeypatch.setattr(cards, "LADDER_FILE", tmp_path / "README.md")
    assert page.ask("ladder")["tables"] == [
        {"title": "3 players", "columns": ["A", "B"], "rows": [["greedy", "random"]]},
        {"title": "4 players", "columns": ["A", "B"], "rows": [["a", "b"], ["c", "d"]]},
    ]
    monkeypatch.setattr(cards, "LADDER_FILE", tmp_path / "missing.md")
    assert page.ask("ladder")["tables"] == []


def test_model_cards_are_shown_without_their_marks(page: Page) -> None:
    assert "heuristic" in [card["name"] for card in page.ask("models")["cards"]]
    lines = ("---", "name: x", "---", "# A **card**", "Two", "lines.", "", "- one", "  more", "- two", "")
    text = "\n".join((*lines, "```", "code", "```", "| a | b |", "|---|---|", "| 1 | 2 |"))
    assert cards.markdown(text) == [
        {"kind": "heading", "text": "A card"},
        {"kind": "text", "text": "Two lines."},
        {"kind": "list", "items": ["one more", "two"]},
        {"kind": "code", "text": "code"},
        {"kind": "table", "rows": [["a", "b"], ["1", "2"]]},
    ]


def nonsense(random: np.random.Generator, depth: int = 0) -> object:
    """A JSON value that no field of ours takes."""
    simple = (
        "",
        "x" * 40,
        "🃏",
        "' or 1=1",
        "../../etc/passwd",
        -1,
        10**30,
        -(2**63),
        1.5,
        1e308,
        None,
        [],
        {},
    )
    if depth < 2 and random.random() < 0.3:
        return [nonsense(random, depth + 1) for _ in range(int(random.integers(1, 4)))]
    if depth < 2 and random.random() < 0.2:
        return {str(nonsense(random, 2)): nonsense(random, depth + 1)}
    return simple[int(random.integers(len(simple)))]


def spoilt_body(random: np.random.Generator, game: str) -> bytes:
    """A body that is wrong in at least one way, for every path."""
    names = ("game", "turn", "action", "raise", "players", "seat", "opponents", "seed", "forced", "text")
    way = int(random.integers(4))
    if way == 0:
        return random.bytes(int(random.integers(1, 200)))
    if way == 1:
        return json.dumps([nonsense(random)]).encode()
    content = {name: nonsense(random) for name in random.choice(names, size=int(random.integers(1, 5)))}
    if way == 2:
        return json.dumps({**content, "unknown": 1}).encode()
    body = json.dumps({**content, "game": game, "turn": "now"}).encode()
    return body[: int(random.integers(1, len(body)))] + b"\x00"


@pytest.mark.parametrize("part", range(2))
def test_thousands_of_malformed_requests_harm_nothing(page: Page, part: int) -> None:
    game = table(page.server, "cloth2 wine1 wood4 merchant")
    before = page.ask("state", {"game": game})
    random = np.random.default_rng(part)
    for number in range(1500):
        path = PATHS[number % len(PATHS)]
        answer = page.send(path, spoilt_body(random, game))
        assert 400 <= answer.status < 500, (path, answer.text)
        assert "Traceback" not in answer.text
        assert set(answer.json()) == {"error"}
    assert page.ask("state", {"game": game}) == before
    assert len(page.server.rooms) == 1


def whole_bodies(game: str) -> dict[str, dict[str, object]]:
    """What each path that takes fields is sent by our page."""
    table = {"players": 3, "opponents": ["random"] * 3, "seed": 1}
    return {
        "new": {**table, "opponents": ["random"] * 2, "seat": 0, "forced": True},
        "state": {"game": game},
        "act": {"game": game, "turn": 0, "action": 0},
        "hint": {"game": game},
        "finish": {"game": game},
        "leave": {"game": game},
        "open": {"text": KEPT.read_text()},
        "analyze": {"text": KEPT.read_text()},
        "watch": table,
    }


def test_one_field_of_nonsense_is_refused_wherever_it_stands(page: Page) -> None:
    """The other fields are right, so every reader of a field meets every kind of nonsense."""
    game = table(page.server, "cloth2 wine1 wood4 merchant")
    before = page.ask("state", {"game": game})
    random = np.random.default_rng(1)
    meant = {"seed": [None], "forced": [True, False]}  # what stands for leaving it out is no nonsense
    for path, body in whole_bodies(game).items():
        for name in body:
            for _ in range(60):
                value = nonsense(random)
                if value in meant.get(name, []) or (path == "leave" and isinstance(value, str)):
                    continue  # a game that is not there can be left
                answer = page.send(path, json.dumps({**body, name: value}).encode())
                assert 400 <= answer.status < 500, (path, name, value, answer.text)
                assert set(answer.json()) == {"error"}
    raises = [nonsense(random) for _ in range(200)]
    for value in raises:
        body = {"game": game, "turn": 0, "raise": value}
        assert page.post("act", body).status == 400, value
    assert page.ask("state", {"game": game}) == before
    assert len(page.server.rooms) == 1


@pytest.mark.parametrize("depth", [100, 5000])
def test_deep_json_is_refused(page: Page, depth: int) -> None:
    body = b'{"game":' + b"[" * depth + b"]" * depth + b"}"
    assert page.send("state", body).status == 400


def test_an_error_inside_is_not_shown(page: Page, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(page.server.rooms, "find", broken)
    answer = page.post("state", {"game": "0" * 32})
    assert answer.status == 500
    assert answer.json() == {"error": "something went wrong in the server"}


def test_the_page_is_small() -> None:
    total = len(index_page("0" * 32)) + sum(len(content) for _, content in STATIC.values())
    assert total < 200_000


def test_the_page_alone_has_everything_in_it() -> None:
    text = self_contained(parse(KEPT.read_text()))
    assert "<!--ART-->" not in text
    assert "import " not in bundled_modules().replace("important", "")
    assert "export " not in bundled_modules()
    for address in ("http://", "https://", "src="):
        assert address not in text.replace("http://www.w3.org/2000/svg", "")
    assert '"hand"' in text


def test_words_in_a_replay_cannot_end_the_script() -> None:
    replay = parse(KEPT.read_text())
    agents = tuple({"name": "</script><b>", "hash": ""} for _ in replay.agents)
    changed = type(replay)(replay.players, replay.deck, agents, replay.actions, None, replay.lines)
    text = self_contained(changed)
    assert "</script><b>" not in text
    assert "\\u003c/script>\\u003cb>" in text


@pytest.mark.parametrize("name", ["/*SCRIPT*/", "/*STYLE*/", "STORY", "POLICY", "<!--ART-->"])
def test_words_in_a_replay_are_never_taken_for_our_marks(name: str) -> None:
    replay = parse(KEPT.read_text())
    agents = tuple({"name": name, "hash": ""} for _ in replay.agents)
    text = self_contained(
        type(replay)(replay.players, replay.deck, agents, replay.actions, None, replay.lines)
    )
    assert len(text) < len(self_contained(replay)) + 10_000
    story = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert story
    assert name in json.dumps(json.loads(story[1]), ensure_ascii=False)
