"""A replay as a story: the table after every decision with all hands face up, and the log in words.

For finished games and for looking back only: here nothing is hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from byzanz_env.games.byzanz.actions import ACTIONS
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, encode
from byzanz_env.games.byzanz.view import Table, seen_by_all
from byzanz_env.narration import Narrator
from byzanz_env.replay import Recorder, Replay
from byzanz_env.session import display_names, seat_view


@dataclass(frozen=True)
class Story:
    """Position i is the one before decision i; the last one is the end."""

    names: list[str]
    tables: list[Table]
    lines: list[list[str]]  # what was said when position i came about
    actions: list[str]  # text of decision i

    def next_line(self, at: int) -> int:
        """The next position at which something is said."""
        for later in range(at + 1, len(self.tables)):
            if self.lines[later]:
                return later
        return len(self.tables) - 1


def tell(replay: Replay) -> Story:
    """Play a replay again and write down what there is to see."""
    names = display_names([agent["name"] for agent in replay.agents])
    recorder = Recorder(replay.players, replay.deck, replay.agents, replay.seed)
    narrator = Narrator(names)
    tables = [_open_table(recorder)]
    lines = [narrator.opening(tables[0])]
    for action in replay.actions:
        recorder.add(action)
        tables.append(_open_table(recorder))
        lines.append(narrator.tell(tables[-2], ACTIONS[action], tables[-1]))
    return Story(names, tables, lines, [ACTIONS[action].text for action in replay.actions])


def _open_table(recorder: Recorder) -> Table:
    observations = np.empty((recorder.players, OBSERVATION_SIZE), dtype=np.int8)
    for seat in range(recorder.players):
        encode(recorder.games[0], seat, observations[seat])
    return seen_by_all(list(observations))


def changes(before: Any, after: Any, path: tuple[Any, ...] = ()) -> list[list[Any]]:
    """What to set to turn one JSON value into another: a list of [key, key, ..., new value]."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return [change for key in after for change in changes(before[key], after[key], (*path, key))]
    nested = isinstance(before, list) and isinstance(after, list) and len(before) == len(after)
    if nested and after and isinstance(after[0], dict):
        return [c for i, one in enumerate(after) for c in changes(before[i], one, (*path, i))]
    return [] if before == after else [[*path, after]]


def document(replay: Replay, judged: dict[str, Any] | None = None) -> dict[str, Any]:
    """Everything the page needs to show a finished game, as JSON."""
    story = tell(replay)
    views = [seat_view(table) for table in story.tables]
    frames = [
        {"set": changes(before, after), "lines": lines, "action": action, "seat": before["to_act"]}
        for before, after, lines, action in zip(
            views[:-1], views[1:], story.lines[1:], story.actions, strict=True
        )
    ]
    end = {
        key: value
        for key, value in _end_of(replay).items()
        if key in ("end", "points", "hand_sizes", "shares")
    }
    return {
        "players": replay.players,
        "names": story.names,
        "agents": [agent["name"] for agent in replay.agents],
        "seed": replay.seed,
        "start": views[0],
        "opening": story.lines[0],
        "frames": frames,
        "result": end,
        "analysis": judged,
    }


def _end_of(replay: Replay) -> dict[str, Any]:
    import json

    content = json.loads(replay.lines[-1])
    assert isinstance(content, dict)
    return content
