"""Re-deal: a game like this one in everything a seat knows, and random in everything it cannot know.

This is what a search may look into: the true hidden cards never reach it. May import the engine.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import seed_generator, shuffle
from byzanz_env.games.byzanz.engine import State, can_sell, legal_mask
from byzanz_env.games.byzanz.rules import (
    BID,
    DEALT,
    DECK_SIZE,
    FINAL,
    MERCHANT,
    NUM_ACTIONS,
    NUM_KINDS,
    OVER,
    REMOVED_OF,
    VALUE_OF,
)

REDEAL_TRIES = 200
FORGOTTEN = -1  # stands in the deck of a re-dealt game for the cards that were dealt to hands


@njit
def redeal(s: State, seat: int, seed: int) -> None:
    """Deal anew, at random, every card whose place `seat` cannot know; `seed` replaces the generator.

    The pile, the removed cards and the unknown part of the other hands change; the observation of the
    seat does not. Whoever decides must still be able to (a half laid raise shows that it can be
    finished, a final sale that there is something to sell).
    """
    seed_generator(s.rng, seed, 2)
    pool = np.empty(DECK_SIZE, dtype=np.int8)
    size = _collect_hidden(s, seat, pool)
    mask = np.empty(NUM_ACTIONS, dtype=np.int8)
    for _ in range(REDEAL_TRIES):
        shuffle(s.rng, pool, size)
        _deal_hidden(s, seat, pool)
        if s.seat == seat or _can_go_on(s, mask):
            return
    _favour_decider(s, seat, pool, size)
    _deal_hidden(s, seat, pool)


@njit
def _collect_hidden(s: State, seat: int, pool: np.ndarray) -> int:
    """Gather the cards that the seat cannot place, in an order that says nothing of where they are."""
    size = 0
    for kind in range(NUM_KINDS):
        own_secret = int(s.hands[seat, kind]) - int(s.known[seat, kind])
        for _ in range(int(s.hidden[kind]) - own_secret):
            pool[size] = kind
            size += 1
    return size


@njit
def _deal_hidden(s: State, seat: int, pool: np.ndarray) -> None:
    players = int(s.players)
    used = 0
    for other in range(players):
        if other != seat:
            s.hands[other] = s.known[other]
            for _ in range(int(s.unknown[other])):
                s.hands[other, int(pool[used])] += 1
                used += 1
    first_removed = DEALT * players
    s.deck[:first_removed] = FORGOTTEN
    for i in range(first_removed, first_removed + REMOVED_OF[players]):
        s.deck[i] = pool[used]
        used += 1
    for i in range(int(s.drawn), DECK_SIZE):
        s.deck[i] = pool[used]
        used += 1


@njit
def _can_go_on(s: State, mask: np.ndarray) -> bool:
    if s.phase == FINAL:
        return can_sell(s, int(s.seat))
    return s.phase == OVER or legal_mask(s, mask) > 0


@njit
def _favour_decider(s: State, seat: int, pool: np.ndarray, size: int) -> None:
    """Move the cards that let `s.seat` go on to its place in the pool, the most useful first."""
    first = 0
    for other in range(int(s.seat)):
        if other != seat:
            first += int(s.unknown[other])
    for place in range(first, first + int(s.unknown[int(s.seat)])):
        best = place
        for i in range(size):
            outside = i < first or i >= place
            if outside and _usefulness(s, int(pool[i])) > _usefulness(s, int(pool[best])):
                best = i
        card = int(pool[place])
        pool[place] = pool[best]
        pool[best] = card


@njit
def _usefulness(s: State, kind: int) -> int:
    if s.phase == BID:
        return int(VALUE_OF[kind]) if kind >= s.last_laid else 0
    return 1 if kind == MERCHANT else 0


@njit
def redeal_rows(states: np.ndarray, seeds: np.ndarray) -> None:
    """Re-deal every game for the seat that decides in it; games that are over stay as they are."""
    for row in range(len(states)):
        s = states[row]
        if s.phase != OVER:
            redeal(s, int(s.seat), int(seeds[row]))
