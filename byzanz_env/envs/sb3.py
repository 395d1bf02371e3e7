"""Stable-Baselines3 at engine speed: a VecEnv on BatchEnv, for MaskablePPO of sb3-contrib.

    from sb3_contrib import MaskablePPO

    env = ByzanzVecEnv(512, num_players=4, opponents="heuristic")
    MaskablePPO("MlpPolicy", env).learn(1_000_000)

One seat of each table learns. The opponents of all tables are answered together, and the library sees the
next decision of every learner; the end of an episode is the end of a game. Needs stable-baselines3.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from byzanz_env._random import derive_seed
from byzanz_env.decisions import Agent
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.envs.learner import RANDOM_SEAT, LearnerTables
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import NUM_ACTIONS

HIGHEST = np.iinfo(np.int8).max


class _EpisodeTables(LearnerTables):
    """Keeps the last sight of each game that ended in a step."""

    final_observations: dict[int, np.ndarray]

    def _note_ends(self, rows: np.ndarray) -> None:
        first = rows[~self.ended[rows]]
        if len(first):
            seen = self.env.final_observations(first, self.learners[first])
            self.final_observations.update(zip(first.tolist(), seen, strict=True))


class ByzanzVecEnv(VecEnv):  # type: ignore[misc]
    """`num_tables` tables with one learning seat each; other arguments as of `ByzanzSingle` and BatchEnv.

    An illegal action, of a learner or of an opponent, raises IllegalActionError and changes nothing.
    """

    def __init__(
        self,
        num_tables: int,
        num_players: int | Sequence[int] = 4,
        opponents: str | Agent | Iterable[str | Agent] = "random",
        seat: int | str = RANDOM_SEAT,
        seed: int = 0,
        reward: str = "win",
        skip_forced: bool = False,
        threads: int = 1,
    ) -> None:
        batch = BatchEnv(num_tables, num_players, seed, reward, skip_forced, threads)
        self.render_mode = None
        self.tables = _EpisodeTables(batch, opponents, seat)
        self.tables.final_observations = {}
        self._resets = 0
        self._playing = False
        self._actions: np.ndarray | None = None
        self._returns = np.zeros(num_tables)
        self._lengths = np.zeros(num_tables, dtype=np.int64)
        self._begun = time.perf_counter()
        observation_space = spaces.Box(0, HIGHEST, (OBSERVATION_SIZE,), np.int8)
        super().__init__(num_tables, observation_space, spaces.Discrete(NUM_ACTIONS))

    def reset(self) -> VecEnvObs:
        """Deal new games: first those of the seed, at a further reset others that derive from it."""
        tables = self.tables
        if self._seeds and self._seeds[0] is not None:
            self._first_seed, self._resets = int(self._seeds[0]), 0
        elif not self._playing and self._resets == 0:
            self._first_seed = tables.env.seed
        seed = derive_seed(self._first_seed, self._resets, 0) if self._resets else self._first_seed
        with tables.all_or_nothing():
            tables.env.reset(seed)
            tables.ended[:] = False
            tables.start()
        tables.final_observations.clear()
        self._resets += 1
        self._playing = True
        self._returns[:] = 0
        self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return tables.env.observations.copy()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """The seed of all games from the next reset on; the tables differ by their rows."""
        self._seeds = [seed] * self.num_envs
        return self._seeds

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        tables = self.tables
        tables.final_observations.clear()
        tables.step(self._actions)
        rewards, dones = tables.rewards.copy(), tables.ended.copy()
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        elapsed = round(time.perf_counter() - self._begun, 6)
        for row, observation in tables.final_observations.items():
            episode = {"r": float(self._returns[row]), "l": int(self._lengths[row]), "t": elapsed}
            infos[row] = {
                "terminal_observation": observation,
                "episode": episode,
                "TimeLimit.truncated": False,
            }
            self._returns[row] = 0
            self._lengths[row] = 0
        return tables.env.observations.copy(), rewards, dones, infos

    def action_masks(self) -> np.ndarray:
        """Which actions are legal, bool [num_tables, 288]; all true before the first reset."""
        if not self._playing:
            return np.ones((self.num_envs, NUM_ACTIONS), dtype=np.bool_)
        return self.tables.env.action_masks.astype(np.bool_)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """`action_masks` is the one method of a table."""
        if method_name != "action_masks" or method_args or method_kwargs:
            raise AttributeError(
                f"a table of ByzanzVecEnv has no method {method_name!r}; it has action_masks()"
            )
        masks = self.action_masks()
        return [masks[row] for row in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Attributes are those of the whole, the same for every table."""
        if attr_name == "spec":
            return [None for _ in self._get_indices(indices)]
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise AttributeError(f"{attr_name} cannot be set: make a new ByzanzVecEnv with other arguments")

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """Counted as monitored: its infos hold the returns and lengths of episodes, as Monitor's do."""
        return [issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]

    def close(self) -> None:
        self.tables.env.close()
