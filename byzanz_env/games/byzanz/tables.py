"""Many games at once: compiled loops over an array of game records and the arrays that doors show.

Rows are independent of each other, so any split of them over threads gives the same games. May import
the engine and the observation of its own room.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import below, derive_seed
from byzanz_env.games.byzanz.engine import (
    State,
    deal,
    legal_mask,
    ranks,
    skip_forced,
    standing,
    step,
    win_shares,
)
from byzanz_env.games.byzanz.observe import encode
from byzanz_env.games.byzanz.rules import NUM_ACTIONS, OVER

REWARDS = ("win", "rank", "margin", "points")
WIN, RANK, MARGIN, POINTS = range(4)
MARGIN_SCALE = 10.0


@njit
def final_rewards(s: State, reward: int, out: np.ndarray) -> None:
    """Write what each seat gets at the end of a game; nothing for `points`, which are paid as banked."""
    players = int(s.players)
    out[:] = 0
    if reward == WIN:
        win_shares(s, out)
    elif reward == RANK:
        ranks(s, out)
        for seat in range(players):
            out[seat] = 1.0 - 2.0 * out[seat] / (players - 1)
    elif reward == MARGIN:
        total = 0.0
        for seat in range(players):
            total += s.points[seat]
        for seat in range(players):
            own = float(s.points[seat])
            out[seat] = (own - (total - own) / (players - 1)) / MARGIN_SCALE


@njit
def show(s: State, forced: bool, observation: np.ndarray, mask: np.ndarray) -> None:
    """Write mask and observation of the next decision; with `forced`, skip those without a choice."""
    if forced:
        skip_forced(s, mask)
    else:
        legal_mask(s, mask)
    if s.phase != OVER:
        encode(s, int(s.seat), observation)


@njit
def find_illegal(masks: np.ndarray, actions: np.ndarray) -> int:
    """The first row whose action is not legal, -1 when all are."""
    for row in range(len(actions)):
        action = actions[row]
        if action < 0 or action >= NUM_ACTIONS or masks[row, action] == 0:
            return row
    return -1
