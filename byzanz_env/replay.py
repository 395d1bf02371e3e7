"""Replay files: one game as JSON Lines that anyone can read, and that can be proved line by line.

The first line is the header (format, game, rules, players, the explicit deck, the agents), then one line
per decision, then the result. Each line carries a short hash of the line before it, of its own content
and of the position it leads to, so `verify` names the first line that is off. The deck is written out:
a replay outlives changes of the random generator. Reading never runs anything; size and length are bound.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from byzanz_env.files import write_atomically
from byzanz_env.games.byzanz import engine
from byzanz_env.games.byzanz.actions import to_text
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.rules import (
    DECK_SIZE,
    FULL_DECK,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_ACTIONS,
    OVER,
    RULES_VERSION,
)

FORMAT: Final = "byzanz-replay-1"
MAX_BYTES: Final = 1_000_000
MAX_LINES: Final = 5_000
MAX_LINE_BYTES: Final = 8_000
HASH_LENGTH: Final = 16
HEADER_KEYS: Final = ("format", "game", "rules", "players", "deck", "agents", "seed", "hash")
DECISION_KEYS: Final = ("n", "seat", "action", "text", "hash")
END_KEYS: Final = ("end", "decisions", "points", "hand_sizes", "shares", "hash")


class ReplayError(ValueError):
    """A replay file that cannot be read or does not hold; `line` counts from 1, 0 for the whole file."""

    def __init__(self, line: int, cause: str) -> None:
        super().__init__(f"line {line}: {cause}" if line else cause)
        self.line = line


@dataclass(frozen=True)
class Replay:
    """A whole game: how it was dealt, who sat where, and every decision in order."""

    players: int
    deck: tuple[int, ...]  # 112 kinds in deck order (2.4)
    agents: tuple[dict[str, str], ...]  # per seat: name and hash
    actions: tuple[int, ...]
    seed: int | None = None
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def text(self) -> str:
        return "".join(line + "\n" for line in self.lines)


# The position as hashed: these fields, in this order, whatever the engine's record looks like inside.
POSITION_FIELDS: Final = (
    *(
        "players",
        "phase",
        "seat",
        "round_number",
        "auction",
        "starter",
        "opener",
        "first_passer",
        "high_bid",
    ),
    *("last_laid", "picks", "final_turns", "drawn", "points", "bidder_card", "in_auction", "hand_size"),
    *("hands", "bids", "bundle", "market", "gone"),
)


def _position_bytes() -> np.ndarray:
    """Where the bytes of these fields are in a record."""
    record = np.arange(STATE.itemsize)
    spans = []
    for name in POSITION_FIELDS:
        dtype, at = STATE.fields[name][:2]  # type: ignore[index]
        spans.append(record[at : at + dtype.itemsize])
    return np.concatenate(spans)


_POSITION: Final = _position_bytes()


def position_bytes(games: np.ndarray) -> bytes:
    """The position of the one game in `games`, as it is hashed."""
    return bytes(games.view(np.uint8)[_POSITION])


def _dump(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=True)


class Recorder:
    """Plays a game on its own board while it is being recorded, so that every line written holds."""

    def __init__(
        self,
        players: int,
        deck: Sequence[int],
        agents: Sequence[dict[str, str]],
        seed: int | None = None,
    ) -> None:
        check_deal(players, deck)
        self.players, self.deck = players, tuple(int(kind) for kind in deck)
        self.agents, self.seed = tuple(dict(agent) for agent in agents), seed
        self.actions: list[int] = []
        self.games = np.zeros(1, dtype=STATE)
        self._mask = np.empty(NUM_ACTIONS, dtype=np.int8)
        engine.deal_deck(self.games[0], players, np.array(self.deck, dtype=np.int8))
        header: dict[str, Any] = {"format": FORMAT, "game": "byzanz", "rules": RULES_VERSION}
        header |= {"players": players, "deck": list(self.deck), "agents": list(self.agents), "seed": seed}
        self._hash = ""
        self.lines = [self._seal(header)]

    @property
    def is_over(self) -> bool:
        return int(self.games[0].phase) == OVER

    def legal(self) -> np.ndarray:
        """Indices of the legal actions."""
        engine.legal_mask(self.games[0], self._mask)
        return np.flatnonzero(self._mask)

    def add(self, action: int, text: str | None = None) -> None:
        """Record one decision; ValueError when it is not legal, and nothing changes.

        `text` keeps the words of the file that is read, whatever words later versions use.
        """
        game = self.games[0]
        engine.legal_mask(game, self._mask)
        if not 0 <= action < NUM_ACTIONS or not self._mask[action]:
            raise ValueError(f"action {action} is not legal here")
        seat = int(game.seat)
        engine.step(game, action)
        content: dict[str, Any] = {"n": len(self.actions), "seat": seat, "action": action}
        content["text"] = to_text(action) if text is None else text
        self.actions.append(action)
        self.lines.append(self._seal(content))

    def finish(self) -> Replay:
        """The replay so far; a game that is not over gets `"end":"unfinished"`."""
        last = self._hash
        lines = (*self.lines, self._seal(self._end()))
        self._hash = last
        return Replay(self.players, self.deck, self.agents, tuple(self.actions), self.seed, lines)

    def _end(self) -> dict[str, Any]:
        game, shares = self.games[0], np.zeros(MAX_PLAYERS)
        if self.is_over:
            engine.win_shares(game, shares)
        return {
            "end": "over" if self.is_over else "unfinished",
            "decisions": len(self.actions),
            "points": [int(n) for n in game.points[: self.players]],
            "hand_sizes": [int(n) for n in game.hand_size[: self.players]],
            "shares": [round(float(x), 4) for x in shares[: self.players]],
        }

    def _seal(self, content: dict[str, Any]) -> str:
        body = f"{self._hash}\n{_dump(content)}\n".encode() + position_bytes(self.games)
        self._hash = hashlib.sha256(body).hexdigest()[:HASH_LENGTH]
        return _dump({**content, "hash": self._hash})


def check_deal(players: int, deck: Sequence[int]) -> None:
    """ValueError unless this is a number of players and the full deck in some order."""
    if type(players) is not int or not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise ValueError(f"players must be a whole number from {MIN_PLAYERS} to {MAX_PLAYERS}")
    if len(deck) != DECK_SIZE or sorted(int(kind) for kind in deck) != FULL_DECK.tolist():
        raise ValueError(f"a deck is the {DECK_SIZE} cards of the game, each exactly once")


def record(
    players: int,
    deck: Sequence[int],
    actions: Sequence[int],
    agents: Sequence[dict[str, str]] | None = None,
    seed: int | None = None,
) -> Replay:
    """The replay of a game that was played elsewhere: in the arena, in training, by your own program."""
    recorder = Recorder(players, deck, agents or [{"name": "unknown", "hash": ""}] * players, seed)
    for action in actions:
        recorder.add(int(action))
    return recorder.finish()


def parse(text: str) -> Replay:
    """Read a replay and prove every line of it; ReplayError names the first line that is off."""
    if len(text) > MAX_BYTES:
        raise ReplayError(0, f"this is {len(text):,} characters; a replay has at most {MAX_BYTES:,}")
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise ReplayError(0, f"this has {len(lines):,} lines; a replay has at most {MAX_LINES:,}")
    recorder = _parse_header(lines[0])
    for number, line in enumerate(lines[1:], start=2):
        content = _parse_line(number, line)
        if "end" in content:
            return _parse_end(recorder, lines, number, content)
        _parse_decision(recorder, number, line, content)
    raise ReplayError(len(lines), "the file ends before the game does; a part of it is missing")


def _parse_line(number: int, line: str) -> dict[str, Any]:
    if not line:
        raise ReplayError(number, "the line is missing; a part of the file is lost")
    if len(line) > MAX_LINE_BYTES:
        raise ReplayError(number, "the line is too long for a replay")
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        raise ReplayError(number, "this is not JSON") from None
    if not isinstance(content, dict):
        raise ReplayError(number, "this is not a JSON object")
    return content


def _parse_header(line: str) -> Recorder:
    content = _parse_line(1, line)
    if content.get("format") != FORMAT:
        raise ReplayError(1, f"this is not a replay of format {FORMAT}")
    if tuple(content) != HEADER_KEYS or content["game"] != "byzanz":
        raise ReplayError(1, f"the header must have exactly the keys {', '.join(HEADER_KEYS)}")
    if content["rules"] != RULES_VERSION:
        raise ReplayError(1, f"the rules are not {RULES_VERSION}; use the version that made this file")
    players, deck, agents, seed = (content[key] for key in ("players", "deck", "agents", "seed"))
    if not isinstance(deck, list) or any(type(kind) is not int for kind in deck):
        raise ReplayError(1, "the deck must be a list of whole numbers")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**63):
        raise ReplayError(1, "the seed must be null or a whole number from 0 to 2**63 - 1")
    try:
        check_deal(players, deck)
    except ValueError as problem:
        raise ReplayError(1, str(problem)) from None
    if not _are_agents(agents, players):
        raise ReplayError(1, "the agents must be one object with name and hash for each player")
    recorder = Recorder(players, deck, agents, seed)
    if recorder.lines[0] != line:
        raise ReplayError(1, "the header does not match its hash; it was changed")
    return recorder


def _are_agents(agents: Any, players: int) -> bool:
    return (
        isinstance(agents, list)
        and len(agents) == players
        and all(isinstance(a, dict) and tuple(a) == ("name", "hash") for a in agents)
        and all(isinstance(text, str) and len(text) <= 200 for a in agents for text in a.values())
    )


def _parse_decision(recorder: Recorder, number: int, line: str, content: dict[str, Any]) -> None:
    if tuple(content) != DECISION_KEYS:
        raise ReplayError(number, f"a decision must have exactly the keys {', '.join(DECISION_KEYS)}")
    if recorder.is_over:
        raise ReplayError(number, "a decision after the end of the game")
    action, seat, text = content["action"], content["seat"], content["text"]
    if type(action) is not int or not isinstance(text, str):
        raise ReplayError(number, "the action must be a whole number with its text")
    if type(seat) is not int or seat != int(recorder.games[0].seat):
        raise ReplayError(number, f"seat {recorder.games[0].seat} decides here, the file says {seat!r}")
    try:
        recorder.add(action, text)
    except ValueError as problem:
        raise ReplayError(number, str(problem)) from None
    if recorder.lines[-1] != line:
        raise ReplayError(number, "the line does not match its hash; it was changed")


def _parse_end(recorder: Recorder, lines: list[str], number: int, content: dict[str, Any]) -> Replay:
    if tuple(content) != END_KEYS:
        raise ReplayError(number, f"the last line must have exactly the keys {', '.join(END_KEYS)}")
    replay = recorder.finish()
    if replay.lines[-1] != lines[number - 1]:
        raise ReplayError(number, "the result is not the one these decisions lead to")
    if lines[number:] != [""]:
        raise ReplayError(number + 1, "the file must end with one line break after the result")
    return replay


def read(path: str | os.PathLike[str]) -> Replay:
    """Read and prove a replay file; ReplayError when it does not hold, OSError when it cannot be read."""
    with Path(path).open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    try:
        return parse(content.decode("ascii"))
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise ReplayError(line, "there are bytes in it that no replay has") from None


def write(replay: Replay, path: str | os.PathLike[str]) -> Path:
    """Write a replay so that the file is whole or not there at all."""
    write_atomically(Path(path), replay.text().encode("ascii"))
    return Path(path)
