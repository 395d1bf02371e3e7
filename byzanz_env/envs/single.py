"""The Gymnasium door: one seat learns, the opponents act inside.

env = gymnasium.make("byzanz_env/Byzanz-v0", num_players=4, opponents=["heuristic", "greedy", "random"])
observation, info = env.reset(seed=1)
mask = env.unwrapped.action_masks()  # bool [288]; also info["action_mask"], int8
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from byzanz_env.decisions import Agent
from byzanz_env.envs.arguments import check_flag, check_players, check_seed
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.envs.learner import RANDOM_SEAT, LearnerTables
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import NUM_ACTIONS

ILLEGAL = ("lose", "raise")
ILLEGAL_REWARD = -1.0
HIGHEST = np.iinfo(np.int8).max
_ROW = np.array([0])


class _OneTable(LearnerTables):
    """Stops at the end of the game instead of going on with the next."""

    final_observation: np.ndarray

    def play_on(self, rows: np.ndarray) -> None:
        while not self.ended[0] and len(self.seating.answer(rows)):
            self._collect(rows)

    def _note_ends(self, rows: np.ndarray) -> None:
        self.final_observation = self.env.final_observations(rows, self.learners[rows])[0]


class ByzanzSingle(gymnasium.Env[np.ndarray, int]):
    """One seat of a game of Byzanz.

    num_players     3 to 6
    opponents       a name or an agent for all other seats, or one for each, clockwise from the learner
    seat            the learner's seat, or "random": drawn from the seed of each game
    reward          "win" (share of the win), "rank", "margin", or "points" as they are banked
    skip_forced     play decisions with one legal action inside
    illegal_action  "lose": the game ends with reward -1 and info["illegal_action"] = 1, as checkers that
                    sample actions without a mask need it; "raise": IllegalActionError, nothing changed

    `reset(seed=s)` deals the game that `byzanz_v0.raw_env().reset(seed=s)` deals. Where there is nothing to
    decide (before the first reset, after the end) the mask is all true: libraries that sample from a mask
    break on one that is all false.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (the base class has it so)

    def __init__(
        self,
        num_players: int = 4,
        opponents: str | Agent | Iterable[str | Agent] = "random",
        seat: int | str = RANDOM_SEAT,
        reward: str = "win",
        skip_forced: bool = False,
        illegal_action: str = "lose",
        render_mode: None = None,
    ) -> None:
        if illegal_action not in ILLEGAL:
            raise ValueError(f"illegal_action is {illegal_action!r}; possible are {', '.join(ILLEGAL)}")
        if render_mode is not None:
            raise ValueError("this environment renders nothing; byzanz_v0 does")
        players = check_players(num_players)
        batch = BatchEnv(1, players, reward=reward, skip_forced=check_flag("skip_forced", skip_forced))
        self._tables = _OneTable(batch, opponents, seat)
        self._illegal_action = illegal_action
        self._playing = False
        self.render_mode = None
        self.observation_space = spaces.Box(0, HIGHEST, (OBSERVATION_SIZE,), np.int8)
        self.action_space = spaces.Discrete(NUM_ACTIONS)  # type: ignore[assignment]

    @property
    def seat(self) -> int:
        """Where the learner sits in this game."""
        return int(self._tables.learners[0])

    def action_masks(self) -> np.ndarray:
        """Which actions are legal, bool [288]; all true where there is nothing to decide."""
        if not self._playing:
            return np.ones(NUM_ACTIONS, dtype=np.bool_)
        mask: np.ndarray = self._tables.env.action_masks[0].astype(np.bool_)
        return mask

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a game and play on to the learner's first decision."""
        if options:
            raise ValueError(f"unknown option {next(iter(options))!r}; this environment has none")
        super().reset(seed=seed)
        tables = self._tables
        game_seed = int(self.np_random.integers(2**63)) if seed is None else check_seed(seed)
        with tables.all_or_nothing():
            tables.env.reset()
            while True:
                tables.env.deal(_ROW, [game_seed])
                tables.ended[0] = False
                tables.seat_learners()
                tables.play_on(_ROW)
                if not tables.ended[0]:
                    break
                game_seed = int(self.np_random.integers(2**63))  # the learner had nothing to decide in it
            tables.rewards[0] = 0
        self._playing = True
        return tables.env.observations[0].copy(), self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play an action, and the opponents' until the learner decides again or the game is over."""
        if not self._playing:
            raise ValueError("no game is being played: call reset() before step()")
        tables = self._tables
        actions = np.atleast_1d(np.asarray(action))
        if self._illegal_action == "lose" and self._is_illegal(actions):
            self._playing = False
            return tables.env.observations[0].copy(), ILLEGAL_REWARD, True, False, self._info(illegal=1)
        tables.step(actions)
        if tables.ended[0]:
            self._playing = False
            return tables.final_observation, float(tables.rewards[0]), True, False, self._info()
        return tables.env.observations[0].copy(), float(tables.rewards[0]), False, False, self._info()

    def _is_illegal(self, actions: np.ndarray) -> bool:
        """Whether this is an integer but no legal action; what is no integer is an error in any case."""
        if actions.shape != (1,) or actions.dtype.kind not in "iu":
            return False
        action = int(actions[0])
        return not (0 <= action < NUM_ACTIONS and self._tables.env.action_masks[0, action])

    def _info(self, illegal: int = 0) -> dict[str, Any]:
        """Numbers only, with the same keys always: some libraries refuse anything else."""
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "seat": self.seat,
            "illegal_action": illegal,
        }
