"""Flat Monte Carlo: weigh a few sensible actions by playing re-dealt games to their end, compiled.

The true hidden cards never come here: a search gets a re-dealt game and deals it anew, from seeds of its
own, for every world it looks at. All candidates are played in the same worlds, so that their differences
to the first one, the prior's choice, are paired; the weaker half is dropped three times on the way. The
prior is left only on evidence: the plain best of many noisy means plays worse than the prior itself.

May import the engine, the observation, the re-deal and the bots of its own room.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import derive_seed
from byzanz_env.games.byzanz.bidding import Sheet
from byzanz_env.games.byzanz.bots import best_sale, choose_scripted, stage_of
from byzanz_env.games.byzanz.engine import State, legal_mask, step, win_shares
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, OFFSETS, encode
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import (
    BID,
    COMMIT,
    FINAL,
    GIVE,
    GIVE_CARD,
    LAY,
    MAX_PLAYERS,
    NUM_ACTIONS,
    NUM_GOODS,
    NUM_SETS,
    NUM_TYPES,
    OVER,
    PASS,
    PICK,
    SELL,
    SELL_MERCHANTS,
    TAKE,
    TRIM,
)
from byzanz_env.games.byzanz.valuation import Valuation, add_cards

MAX_CANDIDATES = 16
MARGIN = 0.02  # worth of a point ahead, beside the win itself: less noise
EVIDENCE = 2.0  # standard errors by which another action must be better than the prior's
CUTS = 3  # times that the weaker half of the candidates is dropped
FIRST_WORLDS = 8  # before anything is dropped

_HAND = OFFSETS["hand"]

DESK = np.dtype(
    (
        np.record,
        [
            ("observation", "i1", (OBSERVATION_SIZE,)),
            ("mask", "i1", (NUM_ACTIONS,)),
            ("results", "f8", (MAX_PLAYERS,)),
            ("candidates", "i8", (MAX_CANDIDATES,)),
            ("alive", "i1", (MAX_CANDIDATES,)),
            ("values", "f8", (MAX_CANDIDATES,)),  # in the latest world
            ("means", "f8", (MAX_CANDIDATES,)),  # of the differences to candidate 0
            ("squares", "f8", (MAX_CANDIDATES,)),  # sums of their squared deviations
            ("count", "i8"),
            ("living", "i8"),
            ("worlds", "i8"),
            ("spent", "i8"),
            ("cuts", "i8"),
        ],
    )
)
Desk = Any  # a DESK record: what a search has before it and what it has found out

# Callers make the desks (two) and the sheet, and pass arrays: compiled code would free an array of its own
# while a record of it is still in use.


# --- one play-out ------------------------------------------------------------------------------------


@njit
def play_out(s: State, v: Valuation, desk: Desk, sheet: Sheet) -> None:
    """Play a game to its end, every seat by the scripted policy on what that seat may know."""
    mask = desk.mask
    while s.phase != OVER:
        if legal_mask(s, mask) == 1:
            action = 0
            while mask[action] == 0:
                action += 1
            step(s, action)
            continue
        encode(s, int(s.seat), desk.observation)
        action = choose_scripted(desk.observation, mask, v, sheet)
        if mask[PASS] != 0 and LAY <= action < GIVE_CARD:
            for kind in range(NUM_GOODS):  # the whole plan: the policy would lay the same cards one by one
                for _ in range(sheet.plan[kind]):
                    step(s, LAY + kind)
            action = COMMIT
        step(s, action)


@njit
def write_results(s: State, out: np.ndarray) -> None:
    """What the end of a game is worth to each seat: its share of the win and a little of its lead."""
    players = int(s.players)
    win_shares(s, out)
    total = 0.0
    for seat in range(players):
        total += s.points[seat]
    for seat in range(players):
        own = float(s.points[seat])
        out[seat] += MARGIN * (own - (total - own) / (players - 1))


# --- candidates --------------------------------------------------------------------------------------


@njit
def find_candidates(s: State, v: Valuation, desk: Desk, sheet: Sheet) -> int:
    """Write the actions worth looking at, the scripted policy's choice first; returns how many.

    A sale can always wait for the hand limit or the end, so that it is looked at only there; the final
    sale is solved exactly by the policy.
    """
    out, mask = desk.candidates, desk.mask
    only = legal_mask(s, mask) == 1
    encode(s, int(s.seat), desk.observation)
    prior = choose_scripted(desk.observation, mask, v, sheet)
    out[0] = prior
    count = 1
    phase = int(s.phase)
    if only or phase == FINAL:
        return count
    first, last = 0, NUM_ACTIONS
    if phase == BID:
        last = GIVE_CARD
    elif phase == GIVE:
        first, last = GIVE_CARD, TAKE
    elif phase == PICK:
        first, last = TAKE, SELL
    elif phase == TRIM:
        first = SELL_MERCHANTS
        count = _add_sales(int(s.players), v, desk, sheet)
    for action in range(first, last):
        if mask[action] != 0 and action != prior and count < MAX_CANDIDATES:
            out[count] = action
            count += 1
    return count


@njit
def _add_sales(players: int, v: Valuation, desk: Desk, sheet: Sheet) -> int:
    """Add the best sale of each type."""
    count = 1
    stage = stage_of(desk.observation)
    of_type = np.zeros(NUM_ACTIONS, dtype=np.int8)
    sheet.codes[:] = 0
    add_cards(sheet.codes, desk.observation, _HAND)
    for good in range(NUM_TYPES):
        first = SELL + good * NUM_SETS
        of_type[first : first + NUM_SETS] = desk.mask[first : first + NUM_SETS]
        sale, _ = best_sale(sheet.codes, stage, of_type, v[players], sheet.best)
        of_type[first : first + NUM_SETS] = 0
        if sale >= 0 and sale != desk.candidates[0]:
            desk.candidates[count] = sale
            count += 1
    return count


# --- weighing them in the same worlds ----------------------------------------------------------------


@njit
def open_desk(desk: Desk, count: int) -> None:
    """Start with all candidates alive and nothing known."""
    desk.count = count
    desk.living = count
    desk.worlds = 0
    desk.spent = 0
    desk.cuts = 0
    desk.means[:] = 0.0
    desk.squares[:] = 0.0
    desk.alive[:] = 0
    desk.alive[:count] = 1


@njit
def close_world(desk: Desk, budget: int) -> None:
    """Note the differences of this world; drop the weaker half when its share of the budget is spent."""
    desk.worlds += 1
    desk.spent += desk.living
    for i in range(1, desk.count):
        if desk.alive[i]:
            difference = desk.values[i] - desk.values[0]
            before = difference - desk.means[i]
            desk.means[i] += before / desk.worlds
            desk.squares[i] += before * (difference - desk.means[i])
    due = desk.spent * (CUTS + 1) >= budget * (desk.cuts + 1)
    if desk.cuts < CUTS and due and desk.worlds >= FIRST_WORLDS:
        desk.cuts += 1
        _drop_weaker_half(desk)


@njit
def _drop_weaker_half(desk: Desk) -> None:
    """Keep the prior and the better half of the others, one at least."""
    for _ in range((desk.living - 1) // 2):
        worst = -1
        for i in range(1, desk.count):
            if desk.alive[i] and (worst < 0 or desk.means[i] < desk.means[worst]):
                worst = i
        desk.alive[worst] = 0
        desk.living -= 1


@njit
def verdict(desk: Desk, evidence: float) -> int:
    """The candidate that is better than the prior by `evidence` standard errors, else the prior: 0."""
    best = 0
    worlds = int(desk.worlds)
    for i in range(1, desk.count):
        if desk.alive[i] and worlds > 1:
            error = math.sqrt(desk.squares[i] / (worlds - 1) / worlds)
            if desk.means[i] > max(desk.means[best], evidence * error):
                best = i
    return best


@njit
def _play_world(work: np.ndarray, world_seed: int, v: Valuation, desk: Desk, sheet: Sheet) -> None:
    """Deal one world from the game in `work[0]` and note what each living candidate gets in it."""
    seat = int(work[0].seat)
    work[1] = work[0]
    redeal(work[1], seat, world_seed)
    for i in range(desk.count):
        if desk.alive[i]:
            work[2] = work[1]
            step(work[2], int(desk.candidates[i]))
            play_out(work[2], v, desk, sheet)
            write_results(work[2], desk.results)
            desk.values[i] = desk.results[seat]


@njit
def monte_carlo_rows(
    games: np.ndarray,
    seeds: np.ndarray,
    budget: int,
    v: Valuation,
    evidence: float,
    desks: np.ndarray,
    sheets: np.ndarray,
    out: np.ndarray,
) -> None:
    """Answer the decision of each re-dealt game by flat Monte Carlo with at most `budget` play-outs."""
    work = games[:1].repeat(3)
    desk, sheet = desks[0], sheets[0]
    for row in range(len(games)):
        work[0] = games[row]
        open_desk(desk, find_candidates(work[0], v, desk, sheet))
        while desk.count > 1 and desk.spent + desk.living <= budget:
            _play_world(work, derive_seed(int(seeds[row]), int(desk.worlds), 4), v, desk, sheet)
            close_world(desk, budget)
        out[row] = desk.candidates[verdict(desk, evidence)]
