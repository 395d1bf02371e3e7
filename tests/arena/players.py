"""Small agents for the tests of the arena, and a short way to play a match between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from byzanz_env.arena.match import Match, Results
from byzanz_env.arena.tournament import Ending, run
from byzanz_env.decisions import Decisions


class First:
    """The first legal action."""

    name = "first"

    def act(self, decisions: Decisions) -> np.ndarray:
        return decisions.masks.argmax(axis=1)


class Last:
    """The last legal action."""

    name = "last"

    def act(self, decisions: Decisions) -> np.ndarray:
        return decisions.masks.shape[1] - 1 - decisions.masks[:, ::-1].argmax(axis=1)


class Dice:
    """Any legal action, from the random numbers of the decision."""

    name = "dice"

    def act(self, decisions: Decisions) -> np.ndarray:
        legal = np.cumsum(decisions.masks, axis=1, dtype=np.int64)
        chosen = decisions.seeds() % legal[:, -1]
        return (legal > chosen[:, None]).argmax(axis=1)


class Broken(First):
    """Plays well for a number of calls; then it crashes, or answers as it was told to."""

    name = "broken"

    def __init__(self, calls: int, answer: Callable[[Decisions], object] | None = None) -> None:
        self.calls, self.answer = calls, answer

    def act(self, decisions: Decisions) -> np.ndarray:
        self.calls -= 1
        if self.calls >= 0:
            return super().act(decisions)
        if self.answer is None:
            raise KeyError("no idea")
        return self.answer(decisions)  # type: ignore[return-value]


AGENTS = {"first": First, "last": Last, "dice": Dice}


def load(spec: str) -> First | Last | Dice:
    if spec not in AGENTS:
        raise ValueError(f"there is no agent {spec!r}; known are {', '.join(AGENTS)}")
    return AGENTS[spec]()


def duel(players: int = 4, mirror: bool = False, labels: Sequence[str] = ("first", "dice")) -> Match:
    return Match("duel", players, 7, tuple(labels), mirror)


def crew(match: Match) -> list[First | Last | Dice]:
    return [load(label.partition(" ")[0]) for label in match.labels]


def play(match: Match, deals: int, threads: int = 1, **options: object) -> Ending:
    return run(match, [crew(match) for _ in range(threads)], deals, **options)  # type: ignore[arg-type]


def assert_same(one: Results, two: Results) -> None:
    assert one.match == two.match
    for name in ("deals", "lineups", "points", "ranks"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
