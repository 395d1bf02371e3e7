"""Compiled steps of the arena: games go on to the next real choice, and finished ones are read out.

Kept apart from the code around it, so that work on the arena does not compile the engine anew.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import below, derive_seed
from byzanz_env.games.byzanz import engine
from byzanz_env.games.byzanz.tables import show

# Deals of the arena come from a stream that training, which counts rows from 0, cannot reach.
EVAL_STREAM = 0x6576616C_00000000


@njit
def deal_seeds(seed: int, deals: np.ndarray) -> np.ndarray:
    """The game seeds of the deals with these numbers."""
    seeds = np.empty(len(deals), dtype=np.int64)
    for i in range(len(deals)):
        seeds[i] = derive_seed(seed, EVAL_STREAM, int(deals[i]))
    return seeds


@njit
def open_games(
    states: np.ndarray,
    rows: np.ndarray,
    players: int,
    game_seeds: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    seats: np.ndarray,
) -> None:
    """Deal a game on each of these rows and go on to its first real choice."""
    for place in range(len(rows)):
        row = rows[place]
        s = states[row]
        engine.deal(s, players, int(game_seeds[place]))
        show(s, True, observations[row], masks[row])
        seats[row] = s.seat


@njit
def advance(
    states: np.ndarray,
    rows: np.ndarray,
    actions: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    seats: np.ndarray,
) -> None:
    """Apply one checked action to each row and go on to the next real choice."""
    for place in range(len(rows)):
        row = rows[place]
        s = states[row]
        engine.step(s, int(actions[place]))
        show(s, True, observations[row], masks[row])
        seats[row] = s.seat


@njit
def read_ends(states: np.ndarray, rows: np.ndarray, points: np.ndarray, ranks: np.ndarray) -> None:
    """Write score and rank of every seat of finished games."""
    for place in range(len(rows)):
        s = states[rows[place]]
        points[place, :] = s.points
        engine.ranks(s, ranks[place])


@njit
def resample(rng: np.ndarray, deals: int) -> np.ndarray:
    """How often each deal is drawn when as many as there are are drawn with replacement."""
    counts = np.zeros(deals, dtype=np.float64)
    for _ in range(deals):
        counts[below(rng, deals)] += 1
    return counts
