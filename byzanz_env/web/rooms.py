"""The games played on the page: found by random id, one move at a time, removed when idle."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from byzanz_env.decisions import Agent
from byzanz_env.games.byzanz.actions import Action
from byzanz_env.narration import profit_of
from byzanz_env.session import Session, Step, seat_view
from byzanz_env.storyboard import changes
from byzanz_env.web.guard import Limits, RefusedError


@dataclass
class Room:
    """One game with one person at it."""

    session: Session
    you: int
    forced: bool
    used: float
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def turn(self) -> int:
        """Counts decisions, so that a move meant for an earlier position is noticed."""
        return self.session.decisions_taken

    def state(self) -> dict[str, Any]:
        """All that the page may know."""
        session = self.session
        return {
            "names": session.names,
            "agents": session.agent_names,
            "you": self.you,
            "log": list(session.log),  # a copy: the log goes on while the answer is made
            "view": self._view(),
            **self._now(),
        }

    def act(self, actions: Sequence[int]) -> dict[str, Any]:
        """Play the person's actions, then everybody's up to the person's next decision."""
        frames: list[dict[str, Any]] = []
        before = self._view()
        for action in actions:
            step = self.session.act(action, self.you)
            before = self._frame(frames, step, before)
        return self.advance(frames, before)

    def advance(self, frames: list[dict[str, Any]], before: dict[str, Any]) -> dict[str, Any]:
        for step in self.session.advance(self.you, forced=self.forced):
            before = self._frame(frames, step, before)
        return {"frames": frames, **self._now()}

    def _frame(self, frames: list[dict[str, Any]], step: Step, before: dict[str, Any]) -> dict[str, Any]:
        after = self._view()
        frames.append({"seat": step.seat, "lines": list(step.lines), "set": changes(before, after)})
        return after

    def _view(self) -> dict[str, Any]:
        return seat_view(self.session.view(self.you))

    def _now(self) -> dict[str, Any]:
        session = self.session
        legal = [describe(action) for action in session.legal()] if session.is_human_turn else []
        result = session.scores() if session.is_over else None
        return {"turn": self.turn, "legal": legal, "over": session.is_over, "result": result}


def describe(action: Action) -> dict[str, Any]:
    """A legal action for the page."""
    content: dict[str, Any] = {"index": action.index, "verb": action.verb, "text": action.text}
    content |= {"cards": list(action.cards), "good": action.good}
    if action.verb == "sell":
        content["profit"] = profit_of(action)
    return content


class Rooms:
    """All rooms of the server."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._rooms: dict[str, Room] = {}
        self._limits, self._clock = limits, clock
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rooms)

    def open(
        self, agents: Sequence[Agent | None], you: int, seed: int | None, forced: bool
    ) -> tuple[str, Room]:
        """Deal a new game."""
        return self.add(Session(agents, seed=seed), you, forced)

    def add(self, session: Session, you: int, forced: bool) -> tuple[str, Room]:
        """Make a room for a game; idle ones are removed first."""
        with self._lock:
            now = self._clock()
            for name in [
                n for n, room in self._rooms.items() if now - room.used > self._limits.idle_seconds
            ]:
                del self._rooms[name]
            if len(self._rooms) >= self._limits.games:
                raise RefusedError(429, f"{self._limits.games} games are open; finish one of them first")
            name = secrets.token_hex(16)
            room = Room(session, you, forced, now)
            self._rooms[name] = room
        return name, room

    def find(self, name: str) -> Room:
        """The room with this id; 404 when there is none (any more)."""
        with self._lock:
            room = self._rooms.get(name)
            now = self._clock()
            if room is None or now - room.used > self._limits.idle_seconds:
                self._rooms.pop(name, None)
                raise RefusedError(404, "this game is not here any more; start a new one")
            room.used = now
            return room

    def close(self, name: str) -> None:
        with self._lock:
            self._rooms.pop(name, None)
