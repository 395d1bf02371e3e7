"""Compiled calls on one game, for the PettingZoo door: one call per step of the environment.

The game is row 0 of an array of records (an array passes into compiled code much faster than a record);
`frame` is one int8 buffer that holds the mask and then the observation of the next decision.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz.engine import deal, deal_deck, step, win_shares
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, encode
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS, OVER
from byzanz_env.games.byzanz.tables import POINTS, final_rewards, show

FRAME_SIZE: Final = NUM_ACTIONS + OBSERVATION_SIZE
BANKED: Final = 8  # added to the seat that `advance` returns when somebody has banked points
ENDED: Final = 16  # returned instead of a seat when the game is over


@njit
def deal_seed(games: np.ndarray, players: int, seed: int, forced: bool, frame: np.ndarray) -> int:
    """Deal a game from its seed; return who decides first."""
    s = games[0]
    deal(s, players, seed)
    show(s, forced, frame[NUM_ACTIONS:], frame[:NUM_ACTIONS])
    return int(s.seat)


@njit
def deal_order(games: np.ndarray, players: int, deck: np.ndarray, forced: bool, frame: np.ndarray) -> int:
    """Deal a given deck order (2.4); return who decides first."""
    s = games[0]
    deal_deck(s, players, deck)
    show(s, forced, frame[NUM_ACTIONS:], frame[:NUM_ACTIONS])
    return int(s.seat)


@njit
def advance(
    games: np.ndarray, action: int, forced: bool, reward: int, frame: np.ndarray, paid: np.ndarray
) -> int:
    """Play one legal action; return who decides next, with BANKED and ENDED if they apply.

    `paid` [6] says what each seat gets for this step; it is good only with BANKED or ENDED.
    """
    s = games[0]
    for seat in range(MAX_PLAYERS):
        paid[seat] = s.points[seat]
    step(s, action)
    show(s, forced, frame[NUM_ACTIONS:], frame[:NUM_ACTIONS])
    banked = False
    for seat in range(MAX_PLAYERS):
        paid[seat] = s.points[seat] - paid[seat]
        if paid[seat] != 0:
            banked = True
    over = s.phase == OVER
    if reward != POINTS and (banked or over):
        paid[:] = 0
        if over:
            final_rewards(s, reward, paid)
    code = ENDED if over else int(s.seat)
    return code + BANKED if banked else code


@njit
def show_again(games: np.ndarray, frame: np.ndarray) -> None:
    """Write mask and observation of the decision at hand."""
    show(games[0], False, frame[NUM_ACTIONS:], frame[:NUM_ACTIONS])


@njit
def look(games: np.ndarray, seat: int, out: np.ndarray) -> None:
    """Write what any seat may know."""
    encode(games[0], seat, out)


@njit
def share_win(games: np.ndarray, out: np.ndarray) -> None:
    """Write each seat's share of the win."""
    win_shares(games[0], out)


@njit
def redeal_game(games: np.ndarray, seat: int, seed: int) -> None:
    """Deal anew what `seat` cannot know."""
    redeal(games[0], seat, seed)
