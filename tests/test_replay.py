"""Replay files: what is recorded can be proved, and nothing else can."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from byzanz_env.games.byzanz.rules import FULL_DECK
from byzanz_env.replay import MAX_LINES, Recorder, Replay, ReplayError, parse, read, record, write

GAMES = 400
KEPT = Path(__file__).parent / "data" / "byzanz-replay-1.jsonl"


def played(seed: int, players: int, stop: int | None = None) -> Replay:
    """A game of random legal actions, cut off after `stop` decisions."""
    random = np.random.default_rng(seed)
    agents = [{"name": f"agent {seat}", "hash": "00ff"} for seat in range(players)]
    recorder = Recorder(players, random.permutation(FULL_DECK).tolist(), agents, seed)
    while not recorder.is_over and (stop is None or len(recorder.actions) < stop):
        recorder.add(int(random.choice(recorder.legal())))
    return recorder.finish()


def changed(text: str, at: int, random: np.random.Generator) -> str:
    """The text with the character at one place replaced by another one."""
    while (other := chr(int(random.integers(32, 127)))) == text[at]:
        pass
    return text[:at] + other + text[at + 1 :]


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


@pytest.mark.parametrize("part", range(4))
def test_hundreds_of_games_hold_and_a_changed_character_does_not(part: int) -> None:
    random = np.random.default_rng(part)
    for seed in range(part, GAMES, 4):
        replay = played(seed, 3 + seed // 4 % 4)
        text = replay.text()
        assert parse(text) == replay
        first, last = len(replay.lines[0]) + 1, len(text) - len(replay.lines[-1]) - 2
        at = int(random.integers(first, last))
        if text[at] == "\n":
            continue
        with pytest.raises(ReplayError) as caught:
            parse(changed(text, at, random))
        assert caught.value.line == line_of(text, at)


def test_every_character_of_every_line_counts() -> None:
    text = played(1, 3, stop=9).text()
    random = np.random.default_rng(0)
    for at in range(len(text)):
        with pytest.raises(ReplayError):
            parse(changed(text, at, random))


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_an_unfinished_game_is_a_replay_too(players: int) -> None:
    replay = played(5, players, stop=20)
    assert json.loads(replay.lines[-1])["end"] == "unfinished"
    assert len(parse(replay.text()).actions) == 20


def test_a_file_of_this_format_holds_for_ever() -> None:
    replay = read(KEPT)
    assert replay.players == 4
    assert json.loads(replay.lines[-1])["end"] == "over"


def _swap(lines: list[str], first: int, second: int) -> list[str]:
    lines[first], lines[second] = lines[second], lines[first]
    return lines


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("cut", lambda lines: lines[:-1]),
        ("cut in the middle", lambda lines: [*lines[:7], lines[7][:20]]),
        ("swapped", lambda lines: _swap(lines, 3, 4)),
        ("a line twice", lambda lines: [*lines[:5], *lines[4:]]),
        ("a line less", lambda lines: lines[:4] + lines[5:]),
        ("more after the end", lambda lines: [*lines, lines[-1]]),
        ("an empty line", lambda lines: [*lines[:4], "", *lines[4:]]),
        ("other line ends", lambda lines: [line + "\r" for line in lines]),
        ("spaces", lambda lines: [line.replace(":", ": ") for line in lines]),
        ("nothing", lambda lines: []),
        ("a list", lambda lines: ["[1]", *lines[1:]]),
        ("deep", lambda lines: ["[" * 3000, *lines[1:]]),
        ("no header", lambda lines: lines[1:]),
        ("too many lines", lambda lines: lines + ["{}"] * MAX_LINES),
    ],
)
def test_a_spoilt_file_is_refused(name: str, spoil) -> None:
    lines = spoil(list(played(2, 4, stop=12).lines))
    with pytest.raises(ReplayError):
        parse("".join(line + "\n" for line in lines))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "byzanz-replay-9"),
        ("game", "chess"),
        ("rules", "byzanz-0"),
        ("players", 7),
        ("players", True),
        ("players", "4"),
        ("deck", [0] * 112),
        ("deck", "cards"),
        ("deck", [0.0] * 112),
        ("agents", []),
        ("agents", [{"name": "x" * 300, "hash": ""}] * 4),
        ("agents", [{"name": 1, "hash": ""}] * 4),
        ("seed", -1),
        ("seed", 2**63),
    ],
)
def test_a_header_that_says_something_else_is_refused_at_line_1(key: str, value: object) -> None:
    lines = list(played(3, 4, stop=5).lines)
    lines[0] = json.dumps({**json.loads(lines[0]), key: value}, separators=(",", ":"))
    with pytest.raises(ReplayError) as caught:
        parse("\n".join(lines) + "\n")
    assert caught.value.line == 1


def test_record_takes_a_game_played_elsewhere() -> None:
    replay = played(4, 5)
    again = record(5, replay.deck, replay.actions, replay.agents, replay.seed)
    assert again.lines == replay.lines
    with pytest.raises(ValueError, match="not legal"):
        record(5, replay.deck, [262])


def test_write_and_read(tmp_path: Path) -> None:
    replay = played(6, 3)
    path = write(replay, tmp_path / "game.jsonl")
    assert read(path) == replay
    assert [p.name for p in tmp_path.iterdir()] == ["game.jsonl"]
    path.write_bytes(path.read_bytes().replace(b'"pass"', b'"p\xffss"', 1))
    with pytest.raises(ReplayError, match="line"):
        read(path)
    path.write_bytes(b"{" * 2_000_000)
    with pytest.raises(ReplayError, match="at most"):
        read(path)
