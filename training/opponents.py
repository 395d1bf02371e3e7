"""The pool: past selves and named agents that take seats beside the learner.

Who sits where is a function of the game's seed alone, so nothing about it needs to be saved. Pool members
play on the trainer's own tables, whose goods are in canonical order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import below, derive_seed, seed_generator
from byzanz_env.agents.network import Architecture
from byzanz_env.agents.policy import PolicyAgent, PolicyFile
from byzanz_env.decisions import Agent, agent_key, game_keys
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.games.byzanz.rules import MAX_PLAYERS
from training.config import Pool

LEARNER = -1
POOL_STREAM = 9_000
SNAPSHOT_TEMPERATURE = 1.0


@dataclass(frozen=True)
class Snapshot:
    """A past self."""

    name: str
    tensors: Mapping[str, np.ndarray]


class OpponentPool:
    """Named agents first, then a ring of snapshots."""

    def __init__(self, config: Pool, architecture: Architecture, agents: list[Agent]) -> None:
        self.config = config
        self.architecture = architecture
        self.agents = agents
        self.snapshots: list[Snapshot] = []
        self._members: list[Agent] = list(agents)

    def add(self, snapshot: Snapshot) -> None:
        """Let a past self in; the oldest leaves when the ring is full."""
        self.replace([*self.snapshots, snapshot][-self.config.size :])

    def replace(self, snapshots: list[Snapshot]) -> None:
        self.snapshots = snapshots
        self._members = [*self.agents, *(self._player(snapshot) for snapshot in snapshots)]

    def _player(self, snapshot: Snapshot) -> Agent:
        policy = PolicyFile(snapshot.name, self.architecture, snapshot.tensors)
        return PolicyAgent(policy, SNAPSHOT_TEMPERATURE)

    def owners(self, env: BatchEnv, rows: np.ndarray, trained: int) -> np.ndarray:
        """Which member decides in each of these rows; LEARNER where the learner does."""
        if not self._members or (trained < self.config.start and not self.config.only):
            return np.full(len(rows), LEARNER, dtype=np.int64)
        owners = np.empty(len(rows), dtype=np.int64)
        share, alone = (1.0, 1.0) if self.config.only else (self.config.share, self.config.alone)
        _owners(
            env.game_seeds[rows],
            env.seats[rows],
            np.asarray(env.num_players)[rows],
            len(self._members),
            share,
            alone,
            owners,
        )
        return owners

    def act(self, env: BatchEnv, rows: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """The members' answers for these rows."""
        actions = np.empty(len(rows), dtype=np.int64)
        for member in np.unique(owners):
            agent = self._members[member]
            places = np.flatnonzero(owners == member)
            chosen = rows[places]
            keys = game_keys(env.game_seeds[chosen], env.seats[chosen], agent_key(agent.name))
            actions[places] = agent.act(env.decisions(chosen, keys))
        return actions


@njit
def _owners(
    game_seeds: np.ndarray,
    seats: np.ndarray,
    players: np.ndarray,
    members: int,
    share: float,
    alone: float,
    out: np.ndarray,
) -> None:
    rng = np.empty(4, dtype=np.uint32)
    order = np.empty(MAX_PLAYERS, dtype=np.int64)
    for row in range(len(seats)):
        seed_generator(rng, derive_seed(int(game_seeds[row]), POOL_STREAM, 0), 0)
        n = int(players[row])
        out[row] = LEARNER
        if below(rng, 1_000_000) >= share * 1_000_000:
            continue
        guests = 1 + below(rng, n - 1)
        if below(rng, 1_000_000) < alone * 1_000_000:
            guests = n - 1
        member = below(rng, members)
        for i in range(n):
            order[i] = i
        for i in range(guests):  # the first `guests` places of a random order
            j = i + below(rng, n - i)
            order[i], order[j] = order[j], order[i]
            if order[i] == seats[row]:
                out[row] = member
