"""Who plays whom: the line-ups of every deal, and the results of a match in arrays.

A *table* is a deal with a line-up of agents; it is played in every rotation of the seats, so that luck of
the cards and of the seat falls on everyone alike. The agent at *place* i of a line-up sits on seat
`(i + rotation) mod n`. Results are kept by place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from byzanz_env._random import below, seed_generator
from byzanz_env.arena.play import Game, Outcome
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, MIN_PLAYERS

WHOLE_WIN = 60  # a win in units that any number of winners up to six can share exactly
LINE_UP_STREAM = 3

Lineup = tuple[int, ...]


@dataclass(frozen=True)
class Match:
    """What is played: the kind, the number of players, the seed of the deals and the agents by label.

    `duel`: the first agent alone against copies of the second; with `mirror` also the second alone
    against copies of the first. `against`: every agent but the last alone against copies of the last, on
    the same deals. `round robin`: all agents in balanced random line-ups.
    """

    kind: str
    players: int
    seed: int
    labels: tuple[str, ...]
    mirror: bool = False

    def __post_init__(self) -> None:
        if not MIN_PLAYERS <= self.players <= MAX_PLAYERS:
            raise ValueError(
                f"{self.players} players cannot play Byzanz: choose {MIN_PLAYERS} to {MAX_PLAYERS}"
            )
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"the seed {self.seed} is out of range: choose 0 .. 2**63 - 1")
        if self.kind not in ("duel", "against", "round robin"):
            raise ValueError(f"{self.kind!r} is no kind of match: choose duel, against or round robin")
        if len(self.labels) < 2 or (self.kind == "duel" and len(self.labels) != 2):
            raise ValueError(
                "a match needs at least two agents, and a duel exactly two: name more or fewer"
            )
        if self.mirror and self.kind != "duel":
            raise ValueError("mirror is for two agents: leave it out, or name two")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("two agents have the same label: give each its own")

    @property
    def fair_share(self) -> float:
        return 1 / self.players

    def lineups(self, deal: int) -> tuple[Lineup, ...]:
        """The line-ups at the tables of a deal."""
        rest = self.players - 1
        if self.kind == "duel":
            alone: Lineup = (0, *[1] * rest)
            return (alone, (1, *[0] * rest)) if self.mirror else (alone,)
        if self.kind == "against":
            last = len(self.labels) - 1
            return tuple((challenger, *[last] * rest) for challenger in range(last))
        return (self._round_robin(deal),)

    def _round_robin(self, deal: int) -> Lineup:
        """A window over a shuffled circle of all agents, moved on with each deal.

        After as many deals as agents everyone has had the same number of places; then the circle is
        shuffled anew.
        """
        count = len(self.labels)
        circle = list(range(count))
        rng = np.empty(4, dtype=np.uint32)
        seed_generator(rng, self.seed, (deal // count << 8) | LINE_UP_STREAM)
        for i in range(count - 1, 0, -1):
            j = below(rng, i + 1)
            circle[i], circle[j] = circle[j], circle[i]
        return tuple(circle[(deal + place) % count] for place in range(self.players))

    def games(self, deals: Iterable[int]) -> Iterator[Game]:
        """All games of some deals, in order."""
        n = self.players
        for deal in deals:
            for table, lineup in enumerate(self.lineups(deal)):
                for rotation in range(n):
                    seating = tuple(lineup[(seat - rotation) % n] for seat in range(n))
                    yield Game(deal, table, rotation, seating)


@dataclass(frozen=True)
class DealResult:
    """Points and ranks of one deal: [table][rotation][place]."""

    deal: int
    points: tuple[tuple[tuple[int, ...], ...], ...]
    ranks: tuple[tuple[tuple[float, ...], ...], ...]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> DealResult:
        """Gather all games of a deal, whatever the order in which they ended."""
        ordered = sorted(outcomes, key=lambda outcome: (outcome.game.table, outcome.game.rotation))
        n = len(ordered[0].points)

        def by_place(seats: Sequence[float], rotation: int) -> tuple[float, ...]:
            return tuple(seats[(place + rotation) % n] for place in range(n))

        points = tuple(by_place(outcome.points, outcome.game.rotation) for outcome in ordered)
        ranks = tuple(by_place(outcome.ranks, outcome.game.rotation) for outcome in ordered)
        tables = range(0, len(ordered), n)
        return cls(
            ordered[0].game.deal,
            tuple(points[first : first + n] for first in tables),  # type: ignore[misc]  # points are whole
            tuple(ranks[first : first + n] for first in tables),
        )


@dataclass(frozen=True)
class Results:
    """All finished deals of a match, in the order of the deals."""

    match: Match
    deals: np.ndarray  # [D]
    lineups: np.ndarray  # [D, tables, places]: agents by number
    points: np.ndarray  # [D, tables, rotations, places]
    ranks: np.ndarray  # the same

    @classmethod
    def of(cls, match: Match, finished: Iterable[DealResult]) -> Results:
        ordered = sorted(finished, key=lambda result: result.deal)
        n, tables = match.players, len(match.lineups(0))
        shape = (len(ordered), tables, n, n)
        return cls(
            match,
            np.array([result.deal for result in ordered], dtype=np.int64),
            np.array([match.lineups(result.deal) for result in ordered], dtype=np.int64).reshape(
                -1, tables, n
            ),
            np.array([result.points for result in ordered], dtype=np.int64).reshape(shape),
            np.array([result.ranks for result in ordered], dtype=np.float64).reshape(shape),
        )

    @property
    def games(self) -> int:
        return len(self.deals) * int(self.lineups.shape[1]) * self.match.players

    @property
    def shares(self) -> np.ndarray:
        """Shares of the win in units of 1 / WHOLE_WIN, as whole numbers: ties split, sums exact."""
        first = self.ranks == self.ranks.min(axis=-1, keepdims=True)
        return np.asarray(first * (WHOLE_WIN // first.sum(axis=-1, keepdims=True)))

    def agent_means(self, values: np.ndarray, agent: int, table: int | None = None) -> np.ndarray:
        """The mean over games and places of an agent for each deal in which it sits; one table or all."""
        sits = (self.lineups == agent)[:, :, None, :]  # [D, T, 1, places]
        if table is not None:
            sits, values = sits[:, table : table + 1], values[:, table : table + 1]
        count = np.broadcast_to(sits, values.shape).sum(axis=(1, 2, 3))
        total = np.where(sits, values, 0).sum(axis=(1, 2, 3))
        played = count > 0
        return total[played] / count[played]  # type: ignore[no-any-return]

    def deals_with(self, agent: int) -> np.ndarray:
        """Which deals (as a mask) an agent sits in."""
        return (self.lineups == agent).any(axis=(1, 2))  # type: ignore[no-any-return]

    def win_shares(self, agent: int, table: int | None = None) -> np.ndarray:
        """An agent's win share in each deal in which it sits."""
        return self.agent_means(self.shares, agent, table) / WHOLE_WIN
