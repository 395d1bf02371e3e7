"""Calls on one game, for the PettingZoo door: compiled, one per step of the environment; and its truth.

The game is row 0 of an array of records (an array passes into compiled code much faster than a record);
`frame` is one int8 buffer that holds the mask and then the observation of the next decision.
"""

from __future__ import annotations

import reprlib
from typing import Any, Final

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz.actions import ACTIONS, legal_actions
from byzanz_env.games.byzanz.engine import deal, deal_deck, step, win_shares
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, encode
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import DECK_SIZE, MAX_PLAYERS, NUM_ACTIONS, OVER, PHASES
from byzanz_env.games.byzanz.tables import POINTS, final_rewards, show

FRAME_SIZE: Final = NUM_ACTIONS + OBSERVATION_SIZE
BANKED: Final = 8  # added to the seat that `advance` returns when somebody has banked points
ENDED: Final = 16  # returned instead of a seat when the game is over
SHOWN_LEGAL_ACTIONS: Final = 6  # in error messages


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
def _share_win(games: np.ndarray, out: np.ndarray) -> None:
    """Write each seat's share of the win."""
    win_shares(games[0], out)


@njit
def redeal_game(games: np.ndarray, seat: int, seed: int) -> None:
    """Deal anew what `seat` cannot know."""
    redeal(games[0], seat, seed)


def win_shares_of(games: np.ndarray) -> np.ndarray:
    """Each seat's share of the win; all zero before the end."""
    shares = np.zeros(MAX_PLAYERS)
    if games[0].phase == OVER:
        _share_win(games, shares)
    return shares


def snapshot_of(games: np.ndarray) -> dict[str, Any]:
    """The whole truth as a plain dict; card zones are counts by kind."""
    game, players = games[0], int(games[0].players)
    return {
        "phase": PHASES[int(game.phase)],
        "seat": int(game.seat),
        "round": int(game.round_number),
        "auction": int(game.auction),
        "bundle": game.bundle.tolist(),
        "market": game.market.tolist(),
        "hands": game.hands[:players].tolist(),
        "bids": game.bids[:players].tolist(),
        "known": game.known[:players].tolist(),
        "points": game.points[:players].tolist(),
        "bidder_cards": game.bidder_card[:players].tolist(),
        "high_bid": int(game.high_bid),
        "pile_left": DECK_SIZE - int(game.drawn),
        "over": bool(game.phase == OVER),
        "scores": game.points[:players].tolist(),
        "winners": np.flatnonzero(win_shares_of(games)).tolist(),
    }


def explain_illegal(games: np.ndarray, action: object, index: int, mask: np.ndarray) -> str:
    """One sentence about an action that is not legal; `index` is -1 if it names none."""
    seat, phase = int(games[0].seat), PHASES[int(games[0].phase)]
    meaning = f", which is no index 0 .. {NUM_ACTIONS - 1},"
    if 0 <= index < NUM_ACTIONS:
        meaning = f" ({ACTIONS[index]})"
    legal = [f"{option.index} ({option})" for option in legal_actions(mask)]
    more = f" and {len(legal) - SHOWN_LEGAL_ACTIONS} more" if len(legal) > SHOWN_LEGAL_ACTIONS else ""
    return (
        f"seat {seat} (player_{seat}), phase {phase}: action {reprlib.repr(action)}{meaning} is not legal; "
        f"legal are {', '.join(legal[:SHOWN_LEGAL_ACTIONS])}{more}"
    )
