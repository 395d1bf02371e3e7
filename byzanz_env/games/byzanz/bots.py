"""Scripted opponents: compiled policies that read one observation and its mask, and nothing else.

`choose_random` takes any legal action. `choose_scripted` weighs every option by what it makes of the hand
(valuation.py); its weights decide who plays: the greedy one sells at once and sees neither the market nor
those who come after, the heuristic sells as late as it can and knows what it costs to feed the market.
Answers depend on the observation alone: a raise is planned as a whole, and planned again, with the same
result, at each card that is laid.

May import the rules, the observation, the valuation and the bidding of its own room.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import below, seed_generator
from byzanz_env.games.byzanz.bidding import IMPOSSIBLE, Sheet, add_group, best_gift, bid
from byzanz_env.games.byzanz.observe import OFFSETS
from byzanz_env.games.byzanz.rules import (
    BID,
    DISCARD,
    FINAL,
    GIVE,
    GIVE_CARD,
    HAND_LIMIT,
    MERCHANT,
    MIN_PLAYERS,
    NUM_KINDS,
    NUM_SETS,
    NUM_TYPES,
    NUM_VALUES,
    PASS,
    PICK,
    SELL,
    SELL_MERCHANTS,
    SET_MERCHANTS,
    SET_PROFIT,
    SET_SIZE,
    TAKE,
    THREE_MERCHANTS_PROFIT,
)
from byzanz_env.games.byzanz.valuation import (
    GOODS_IN,
    HELD,
    INDEX,
    MERCHANTS,
    SET_CODE,
    SIZE,
    Table,
    Valuation,
    add_card,
    add_cards,
    hand_value,
    limited_value,
)

_HAND, _BUNDLE, _MARKET = OFFSETS["hand"], OFFSETS["bundle"], OFFSETS["market"]
_PHASE, _PLAYERS = OFFSETS["phase"], OFFSETS["players"]
_ROUNDS_LEFT, _MARKET_TURN = OFFSETS["rounds_left"], OFFSETS["market_turn"]
_DENY, _EAGER = INDEX["deny"], INDEX["eager"]


@njit
def choose_random(mask: np.ndarray, seed: int) -> int:
    """Any legal action, each as likely as the others."""
    rng = np.empty(4, dtype=np.uint32)
    seed_generator(rng, seed, 3)
    count = 0
    for action in range(len(mask)):
        count += mask[action]
    chosen = below(rng, count)
    action = 0
    while True:
        if mask[action] != 0:
            if chosen == 0:
                return action
            chosen -= 1
        action += 1


@njit
def choose_scripted(observation: np.ndarray, mask: np.ndarray, v: Valuation, sheet: Sheet) -> int:
    """The action of the scripted policy with these weights."""
    players = MIN_PLAYERS
    while observation[_PLAYERS + players - MIN_PLAYERS] == 0:
        players += 1
    phase = 0
    while observation[_PHASE + phase] == 0:
        phase += 1
    table = v[players]
    stage = stage_of(observation)
    sheet.codes[:] = 0
    add_cards(sheet.codes, observation, _HAND)
    half_laid = phase == BID and mask[PASS] == 0
    if phase == FINAL or (table.weights[_EAGER] > 0 and not half_laid):
        sale, _ = best_sale(sheet.codes, 0, mask, table, sheet.best)
        if sale >= 0:
            return sale
    if phase == BID:
        return bid(observation, mask, players, stage, table, sheet)
    if phase == GIVE:
        add_cards(sheet.codes, observation, _BUNDLE)
        kind, _ = best_gift(observation, sheet.codes, players, stage, table, sheet.best)
        return GIVE_CARD + kind
    if phase == PICK:
        return _pick(observation, mask, stage, table, sheet)
    return _trim(mask, stage, table, sheet)


@njit
def stage_of(observation: np.ndarray) -> int:
    """Rounds of auctions still to come, this one included while it lasts."""
    return int(observation[_ROUNDS_LEFT]) + (1 if observation[_MARKET_TURN] == 0 else 0)


# --- selling and the hand limit ----------------------------------------------------------------------


@njit
def best_sale(
    codes: np.ndarray, stage: int, mask: np.ndarray, table: Table, best: np.ndarray
) -> tuple[int, float]:
    """The legal sale with the best profit and rest of the hand, and both together; -1 without any."""
    sale, sale_worth = -1, -IMPOSSIBLE
    merchants = int(codes[MERCHANTS])
    for good in range(NUM_TYPES):
        goods = GOODS_IN[codes[good]]
        if goods == 0 or goods + merchants < SET_SIZE:
            continue
        first = SELL + good * NUM_SETS
        for i in range(NUM_SETS):
            if mask[first + i] != 0:
                codes[good] -= SET_CODE[i]
                codes[MERCHANTS] -= SET_MERCHANTS[i]
                worth = SET_PROFIT[i] + hand_value(codes, stage, table, best)
                codes[good] += SET_CODE[i]
                codes[MERCHANTS] += SET_MERCHANTS[i]
                if worth > sale_worth + 1e-6:
                    sale, sale_worth = first + i, worth
    if mask[SELL_MERCHANTS] != 0:
        codes[MERCHANTS] -= SET_SIZE
        worth = THREE_MERCHANTS_PROFIT + hand_value(codes, stage, table, best)
        codes[MERCHANTS] += SET_SIZE
        if worth > sale_worth + 1e-6:
            sale, sale_worth = SELL_MERCHANTS, worth
    return sale, sale_worth


@njit
def _least_useful(codes: np.ndarray, stage: int, table: Table, best: np.ndarray) -> tuple[int, float]:
    """The kind that the hand misses least, and the worth of the hand without it."""
    least, kept = -1, -IMPOSSIBLE
    for kind in range(NUM_KINDS):
        if _has_card(codes, kind):
            add_card(codes, kind, -1)
            worth = hand_value(codes, stage, table, best)
            add_card(codes, kind, 1)
            if worth > kept + 1e-6:
                least, kept = kind, worth
    return least, kept


@njit
def _has_card(codes: np.ndarray, kind: int) -> bool:
    if kind == MERCHANT:
        return bool(codes[MERCHANTS] > 0)
    return bool(HELD[codes[kind // NUM_VALUES], kind % NUM_VALUES] > 0)


@njit
def _trim(mask: np.ndarray, stage: int, table: Table, sheet: Sheet) -> int:
    """Sell a set, or discard as many cards as the sale would take off, whichever leaves more (6.1)."""
    codes = sheet.codes
    excess = int(codes[SIZE]) - HAND_LIMIT
    sale, sale_worth = best_sale(codes, stage, mask, table, sheet.best)
    first, kept = _least_useful(codes, stage, table, sheet.best)
    if sale < 0:
        return DISCARD + first
    add_card(codes, first, -1)
    for _ in range(min(SET_SIZE, excess) - 1):
        kind, kept = _least_useful(codes, stage, table, sheet.best)
        add_card(codes, kind, -1)
    return DISCARD + first if kept > sale_worth else sale


# --- the market of Byzanz ----------------------------------------------------------------------------


@njit
def _pick(observation: np.ndarray, mask: np.ndarray, stage: int, table: Table, sheet: Sheet) -> int:
    market = observation[_MARKET : _MARKET + NUM_KINDS]
    choice, choice_worth = -1, -IMPOSSIBLE
    for good in range(NUM_TYPES + 1):
        if mask[TAKE + good] != 0:
            value = add_group(sheet.codes, market, good, 1)
            worth = limited_value(sheet.codes, stage, table, sheet.best) + table.weights[_DENY] * value
            add_group(sheet.codes, market, good, -1)
            if worth > choice_worth + 1e-6:
                choice, choice_worth = TAKE + good, worth
    return choice
