"""Play scheduled games to the end, many at once: each agent answers all its decisions in one call.

A game depends on its deal, its players and their names alone, so results are the same whatever the batch
and the number of threads. Decisions with one legal action are played by the engine, unasked.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from byzanz_env.arena.kernels import advance, deal_seeds, open_games, read_ends
from byzanz_env.decisions import Agent, Decisions, agent_key, game_keys
from byzanz_env.envs.rows import take_rows
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS, OVER
from byzanz_env.games.byzanz.tables import find_illegal

FIRST_BATCH, LARGEST_BATCH = 32, 1024
JOIN_SECONDS = 2.0
QUICK_TICK = 0.05  # seconds; agents that answer faster get more games at once


@dataclass(frozen=True)
class Game:
    """One game of the schedule: a table of a deal in one rotation."""

    deal: int
    table: int
    rotation: int
    seating: tuple[int, ...]  # which agent sits on each seat


@dataclass(frozen=True)
class Outcome:
    """How a game ended, by seat."""

    game: Game
    points: tuple[int, ...]
    ranks: tuple[float, ...]  # 0 for the first; ties share the mean


class AgentFailureError(Exception):
    """An agent crashed or answered illegally."""


class Hall:
    """The games that one thread plays at once, and the agents that answer them."""

    def __init__(
        self, agents: Sequence[Agent], labels: Sequence[str], players: int, seed: int, size: int
    ) -> None:
        self.agents, self.labels, self.players, self.seed = agents, labels, players, seed
        self.agent_keys = [agent_key(label) for label in labels]
        self.states = np.zeros(size, dtype=STATE)
        self.observations = np.zeros((size, OBSERVATION_SIZE), dtype=np.int8)
        self.masks = np.zeros((size, NUM_ACTIONS), dtype=np.int8)
        self.seats = np.zeros(size, dtype=np.int64)
        self.seating = np.zeros((size, players), dtype=np.int64)
        self.keys = np.zeros((size, players), dtype=np.int64)
        self.games: dict[int, Game] = {}

    def open(self, rows: list[int], games: list[Game]) -> None:
        """Deal new games on free rows."""
        at = np.array(rows, dtype=np.int64)
        seeds = deal_seeds(self.seed, np.array([game.deal for game in games], dtype=np.int64))
        seating = np.array([game.seating for game in games], dtype=np.int64)
        for number, key in enumerate(self.agent_keys):
            which, seats = np.nonzero(seating == number)
            self.keys[at[which], seats] = game_keys(seeds[which], seats, key)
        self.seating[at] = seating
        self.games.update(zip(rows, games, strict=True))
        open_games(self.states, at, self.players, seeds, self.observations, self.masks, self.seats)

    def tick(self) -> list[Outcome]:
        """Ask every agent once, apply the answers, and take away the games that ended."""
        rows = np.fromiter(self.games, dtype=np.int64, count=len(self.games))
        deciders = self.seating[rows, self.seats[rows]]
        actions = np.empty(len(rows), dtype=np.int64)
        for number in range(len(self.agents)):
            mine = np.flatnonzero(deciders == number)
            if len(mine):
                actions[mine] = self._ask(number, rows[mine])
        advance(self.states, rows, actions, self.observations, self.masks, self.seats)
        return self._take_ended(rows[self.states["phase"][rows] == OVER])

    def _take_ended(self, rows: np.ndarray) -> list[Outcome]:
        if not len(rows):
            return []
        points = np.zeros((len(rows), MAX_PLAYERS), dtype=np.int64)
        ranks = np.zeros((len(rows), MAX_PLAYERS))
        read_ends(self.states, rows, points, ranks)
        n = self.players
        return [
            Outcome(self.games.pop(int(row)), tuple(points[i, :n].tolist()), tuple(ranks[i, :n].tolist()))
            for i, row in enumerate(rows)
        ]

    def _decisions(self, rows: np.ndarray) -> Decisions:
        keys = self.keys[rows, self.seats[rows]]
        return Decisions(self.observations[rows], self.masks[rows], keys, take_rows(self.states, rows))

    def _ask(self, number: int, rows: np.ndarray) -> np.ndarray:
        decisions = self._decisions(rows)
        legal = decisions.masks.copy()  # an agent may scribble on what it was given
        try:
            answer = np.asarray(self.agents[number].act(decisions))
        except Exception as error:
            raise self._failure(number, self._crashing_row(number, rows), _crash_text(error)) from error
        if answer.shape != (len(rows),) or not np.issubdtype(answer.dtype, np.integer):
            found = f"answered {len(rows)} decisions with {answer.dtype} of shape {answer.shape}"
            raise self._failure(number, int(rows[0]), f"{found}; one integer each is needed")
        actions = answer.astype(np.int64)
        wrong = find_illegal(legal, actions)
        if wrong >= 0:
            choice = f"answered with the illegal action {_action_text(int(actions[wrong]))}"
            legal_ones = ", ".join(_action_text(int(i)) for i in np.flatnonzero(legal[wrong])[:6])
            raise self._failure(number, int(rows[wrong]), f"{choice}; legal were {legal_ones} ...")
        return actions

    def _crashing_row(self, number: int, rows: np.ndarray) -> int:
        for row in rows:
            try:
                self.agents[number].act(self._decisions(row[None]))
            except Exception:
                return int(row)
        return int(rows[0])

    def _failure(self, number: int, row: int, what: str) -> AgentFailureError:
        seat, deal = int(self.seats[row]), self.games[row].deal
        return AgentFailureError(f"agent {self.labels[number]} on seat {seat} of deal {deal} {what}")


def _crash_text(error: Exception) -> str:
    return f"crashed with {type(error).__name__}: {error}"


def _action_text(action: int) -> str:
    from byzanz_env.games.byzanz.actions import to_text

    return f"{action} ({to_text(action)})" if 0 <= action < NUM_ACTIONS else str(action)


class Schedule:
    """The games still to play, handed out one after the other to whichever thread asks."""

    def __init__(self, games: Iterable[Game]) -> None:
        self._games, self._lock = iter(games), threading.Lock()

    def take(self, count: int) -> list[Game]:
        with self._lock:
            return list(islice(self._games, count))


def play_all(hall: Hall, schedule: Schedule, batch: int | None) -> Iterator[list[Outcome]]:
    """Play the schedule in one hall; without a batch size it grows while the agents are quick."""
    limit = batch or FIRST_BATCH
    while True:
        free = [row for row in range(limit) if row not in hall.games] if len(hall.games) < limit else []
        games = schedule.take(len(free))
        if games:
            hall.open(free[: len(games)], games)
        if not hall.games:
            return
        start = time.monotonic()
        yield hall.tick()
        if batch is None and time.monotonic() - start < QUICK_TICK:
            limit = min(2 * limit, LARGEST_BATCH)


def play_games(
    crews: Sequence[Sequence[Agent]],
    labels: Sequence[str],
    players: int,
    games: Iterable[Game],
    seed: int,
    batch: int | None = None,
) -> Iterator[Outcome]:
    """Play games and yield their outcomes as they end; one thread for each crew of agents.

    A crew is one list of all agents, so that threads share none. `batch` is the number of games at once
    in a thread.
    """
    schedule = Schedule(games)
    size = batch or LARGEST_BATCH
    halls = [Hall(crew, labels, players, seed, size) for crew in crews]
    if len(halls) == 1:
        for outcomes in play_all(halls[0], schedule, batch):
            yield from outcomes
        return
    yield from _play_in_threads(halls, schedule, batch)


def _play_in_threads(halls: Sequence[Hall], schedule: Schedule, batch: int | None) -> Iterator[Outcome]:
    ended: queue.Queue[list[Outcome] | BaseException | None] = queue.Queue()
    stop = threading.Event()

    def work(hall: Hall) -> None:
        try:
            for outcomes in play_all(hall, schedule, batch):
                if outcomes:
                    ended.put(outcomes)
                if stop.is_set():
                    break
            ended.put(None)
        except BaseException as error:  # handed to the reader, who raises it
            ended.put(error)

    threads = [threading.Thread(target=work, args=(hall,), daemon=True) for hall in halls]
    for thread in threads:
        thread.start()
    failure: BaseException | None = None
    try:
        running = len(threads)
        while running:
            item = ended.get()
            if isinstance(item, list):
                yield from item
                continue
            running -= 1
            if item is not None:
                failure = failure or item
                stop.set()  # the other threads finish their tick; their ended games still count
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=JOIN_SECONDS)  # a search may be in the middle of a long tick
    if failure is not None:
        raise failure
