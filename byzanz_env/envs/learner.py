"""Tables at which one seat learns and agents play the others: common to the Gymnasium and SB3 doors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import derive_seed
from byzanz_env.decisions import Agent
from byzanz_env.envs.arguments import is_integer
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.envs.seating import OUTSIDE, Seating, make_agents
from byzanz_env.games.byzanz.rules import MAX_PLAYERS

RANDOM_SEAT = "random"
_LEARNER_STREAM = 0x1EA2


@njit
def _draw_seats(game_seeds: np.ndarray, players: np.ndarray) -> np.ndarray:
    """A seat per game that depends on the game's seed alone."""
    seats = np.empty(len(game_seeds), dtype=np.int64)
    for place in range(len(game_seeds)):
        seats[place] = derive_seed(int(game_seeds[place]), _LEARNER_STREAM, 0) % int(players[place])
    return seats


@njit
def _book(
    rows: np.ndarray,
    paid: np.ndarray,
    dones: np.ndarray,
    learners: np.ndarray,
    ended: np.ndarray,
    rewards: np.ndarray,
) -> np.ndarray:
    """Add to `rewards` what the last step paid learners whose games go on; the rows where one ended."""
    over, count = np.empty(len(rows), dtype=np.int64), 0
    for row in rows:
        if not ended[row]:
            rewards[row] += paid[row, learners[row]]
        if dones[row]:
            over[count] = row
            count += 1
    return over[:count]


class LearnerTables:
    """A batch in which each row waits for its learner, unless it is being played on.

    opponents  a name or an agent for all other seats, or one for each of them, clockwise from the learner
    seat       where the learner sits: a number, or "random" for a seat drawn from the seed of each game
    """

    def __init__(
        self, env: BatchEnv, opponents: str | Agent | Iterable[str | Agent], seat: int | str = RANDOM_SEAT
    ) -> None:
        self.env = env
        self.seating = Seating(env, make_agents(opponents))
        self.learners = np.zeros(env.num_games, dtype=np.int64)  # the learner's seat in each row
        self.rewards = np.zeros(env.num_games, dtype=np.float32)  # of the learner, since its last decision
        self.ended = np.zeros(env.num_games, dtype=np.bool_)  # whether its game ended since then
        self._are_ours = all(
            type(agent).__module__.startswith("byzanz_env.") for agent in self.seating.agents
        )
        self._fixed = self._check_seat(seat)
        self._check_opponents()
        self._all_rows = np.arange(env.num_games)

    def _check_seat(self, seat: Any) -> int | None:
        if isinstance(seat, str) and seat == RANDOM_SEAT:
            return None
        fewest = int(self.env.num_players.min())
        if not is_integer(seat) or not 0 <= int(seat) < fewest:
            raise ValueError(f"seat is {seat!r}; it is 'random' or a seat 0 .. {fewest - 1}")
        return int(seat)

    def _check_opponents(self) -> None:
        others = self.env.num_players - 1
        given = len(self.seating.agents)
        if given != 1 and (others != given).any():
            raise ValueError(
                f"{given} opponents are given; it takes one for all seats or one for each other seat"
            )

    def seat_learners(self, rows: np.ndarray | None = None) -> None:
        """Give the learner its seat, and the opponents theirs, in the games now on these tables."""
        chosen = self._all_rows if rows is None else rows
        players = self.env.num_players[chosen]
        if self._fixed is None:
            self.learners[chosen] = _draw_seats(self.env.game_seeds[chosen], players)
        else:
            self.learners[chosen] = self._fixed
        learners = self.learners[chosen]
        self.seating.agent_at[chosen, learners] = OUTSIDE
        for distance in range(1, MAX_PLAYERS):
            there = distance < players
            seats = (learners[there] + distance) % players[there]
            self.seating.agent_at[chosen[there], seats] = (distance - 1) % len(self.seating.agents)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Put everything back if an opponent fails on the way; our own never do, and cost no copies."""
        if self._are_ours:
            yield
            return
        put_back = self.env.keep()
        arrays = (self.learners, self.rewards, self.ended, self.seating.agent_at)
        kept = [(array, array.copy()) for array in arrays]
        try:
            yield
        except BaseException:
            put_back()
            for array, copy in kept:
                array[...] = copy
            raise

    def start(self, rows: np.ndarray | None = None) -> None:
        """After a deal: seat everybody and play on to the first decision of each learner."""
        chosen = self._all_rows if rows is None else rows
        self.seat_learners(chosen)
        self.play_on(chosen)
        self.rewards[chosen] = 0
        self.ended[chosen] = False

    def step(self, actions: Any) -> None:
        """Play the learners' actions in all rows and go on to their next decisions."""
        with self.all_or_nothing():
            self.env.step(actions)
            self.rewards[:] = 0
            self.ended[:] = False
            self._collect(self._all_rows)
            self.play_on(self._all_rows)

    def play_on(self, rows: np.ndarray) -> None:
        """Let the opponents decide until every row waits for its learner.

        A game in which the learner never decides (every decision of its seat was forced and skipped) is
        played to its end, and the next one is taken.
        """
        rows = self.seating.answer(rows)
        while len(rows):
            self._collect(rows)
            rows = self.seating.answer(rows)

    def _collect(self, rows: np.ndarray) -> None:
        """Note what the last step brought the learners of these rows whose games are not over yet."""
        env = self.env
        over = _book(rows, env.rewards, env.dones, self.learners, self.ended, self.rewards)
        if len(over):
            self._note_ends(over)
            self.ended[over] = True
            self.seat_learners(over)

    def _note_ends(self, rows: np.ndarray) -> None:
        """A place for doors to look at the ends of games before new learners are seated."""
