"""What an agent is: it answers a batch of decisions, and sees of each only what its seat may know.

`Decisions` is the whole interface. Observations and masks are enough for scripted agents and policies;
a search asks for `redealt()`: games like the true ones in everything the seat knows, and random in the
rest. Random numbers come from `keys`, one per game and seat and agent, mixed with the observation, so that
an answer depends on nothing else: not on the batch, not on other games, not on what was asked before.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import derive_seed, murmur3_add, murmur3_end
from byzanz_env.games.byzanz.redeal import redeal_rows


@runtime_checkable
class Agent(Protocol):
    """Anything with a name that answers decisions in batches."""

    name: str

    def act(self, decisions: Decisions) -> np.ndarray:
        """Return one legal action index per row, int64 [B]."""
        ...


@dataclass(frozen=True)
class Decisions:
    """A batch of decisions, one row each, all for the same agent."""

    observations: np.ndarray  # [B, D] int8, of the deciding seat
    masks: np.ndarray  # [B, A] int8
    keys: np.ndarray  # [B] int64, the seeds of this agent's random numbers, constant over a game
    _states: np.ndarray | None = field(default=None, repr=False)  # the truth; never handed out

    def __len__(self) -> int:
        return len(self.observations)

    def seeds(self) -> np.ndarray:
        """One seed per decision, from the key of the game and what the seat sees now."""
        return decision_seeds(self.keys, self.observations)

    def redealt(self) -> np.ndarray:
        """Copies of the games in which all that the deciding seat cannot know is dealt anew."""
        if self._states is None:
            raise ValueError("these decisions come without games: a search agent cannot answer them")
        games = self._states.copy()
        redeal_rows(games, self.seeds())
        return games


def agent_key(name: str) -> int:
    """A number in 0 .. 2**63 - 1 that stands for an agent's name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") >> 1


@njit
def game_keys(game_seeds: np.ndarray, seats: np.ndarray, agent: int) -> np.ndarray:
    """The keys of an agent for many games, from (deal, seat, agent)."""
    keys = np.empty(len(game_seeds), dtype=np.int64)
    for row in range(len(game_seeds)):
        keys[row] = derive_seed(int(game_seeds[row]), agent, int(seats[row]))
    return keys


@njit
def decision_seeds(keys: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Mix each key with the observation it belongs to."""
    size = observations.shape[1]
    count = (size + 3) // 4
    seen = np.zeros(4 * count, dtype=np.int8)  # an observation, filled up to whole words
    words = seen.view(np.uint32)
    seeds = np.empty(len(keys), dtype=np.int64)
    for row in range(len(keys)):
        for i in range(size):
            seen[i] = observations[row, i]
        one, two = 0, 1  # two hashes at once: each alone waits for its own last word
        for i in range(count):
            word = int(words[i])
            one, two = murmur3_add(one, word), murmur3_add(two, word)
        seeds[row] = derive_seed(int(keys[row]), murmur3_end(one, count), murmur3_end(two, count))
    return seeds
