"""Auctions as the scripted opponents see them: the raise as a whole, the gift, and what a pass is worth.

Everything is read from one observation. May import the rules, the observation and the valuation of its own
room.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz.observe import OFFSETS
from byzanz_env.games.byzanz.rules import (
    COMMIT,
    HAND_LIMIT,
    LAY,
    MAX_PLAYERS,
    MERCHANT,
    NUM_GOODS,
    NUM_KINDS,
    NUM_MERCHANTS,
    NUM_TYPES,
    NUM_VALUES,
    PASS,
    VALUE_OF,
)
from byzanz_env.games.byzanz.valuation import (
    CODES,
    INDEX,
    MERCHANTS,
    SIZE,
    STRIDES,
    Table,
    add_card,
    add_cards,
    hand_value,
    limited_value,
)

_HAND, _BUNDLE, _MARKET = OFFSETS["hand"], OFFSETS["bundle"], OFFSETS["market"]
_LAID, _BIDS = OFFSETS["laid"], OFFSETS["bids"]
_BID_TOTAL, _HIGH_BID = OFFSETS["bid_total"], OFFSETS["high_bid"]
_FIRST_PASSER = OFFSETS["first_passer"]
_AUCTION = OFFSETS["auction"]

_FEED_FIRST, _FEED_LAST = INDEX["feed_first"], INDEX["feed_last"]
_GIVEN_FIRST, _GIVEN_LAST = INDEX["given_first"], INDEX["given_last"]
_GIVEN_MERCHANT = INDEX["given_merchant"]
_MARKET_PASS, _MARKET_FIRST, _MARKET_LAST = (
    INDEX["market_pass"],
    INDEX["market_first"],
    INDEX["market_last"],
)
_PASS, _FREE = INDEX["pass_0"], INDEX["free_0"]

IMPOSSIBLE = 1e9
MAX_NEED = 29  # seven cards of value 4, and one more

SHEET = np.dtype(
    (
        np.record,
        [
            ("codes", "i8", (CODES,)),  # the hand
            ("with_bundle", "i8", (CODES,)),
            ("best", "f8", (NUM_MERCHANTS + 1,)),  # by merchants used
            ("held", "i8", (NUM_GOODS,)),
            ("costs", "f8", (NUM_GOODS,)),
            ("plan", "i8", (NUM_GOODS,)),  # cards of a raise
            ("cards", "i8", (HAND_LIMIT,)),
            ("cheapest", "f8", (MAX_NEED + 1,)),  # cost of a payment, by its value
            ("chosen", "i8", (MAX_NEED + 1,)),  # its cards, one bit each
        ],
    )
)
Sheet = Any  # a SHEET record: paper to reckon on, so that a decision allocates nothing


# --- the market, as one who bids sees it --------------------------------------------------------------


@njit
def add_group(codes: np.ndarray, market: np.ndarray, good: int, sign: int) -> int:
    """Add all cards of one type from the market; returns their total value (a merchant counts 1)."""
    if good == NUM_TYPES:
        count = int(market[MERCHANT])
        codes[MERCHANTS] += sign * count
        codes[SIZE] += sign * count
        return count
    first = good * NUM_VALUES
    a, b, c, d = int(market[first]), int(market[first + 1]), int(market[first + 2]), int(market[first + 3])
    codes[good] += sign * (a * STRIDES[0] + b * STRIDES[1] + c * STRIDES[2] + d)
    codes[SIZE] += sign * (a + b + c + d)
    return a + 2 * b + 3 * c + 4 * d


@njit
def _best_group(
    observation: np.ndarray, codes: np.ndarray, stage: int, table: Table, best: np.ndarray
) -> float:
    """What the best market group would add to a hand now."""
    market = observation[_MARKET : _MARKET + NUM_KINDS]
    before = hand_value(codes, stage, table, best)
    gain = 0.0
    for good in range(NUM_TYPES + 1):
        if add_group(codes, market, good, 1) > 0:
            gain = max(gain, hand_value(codes, stage, table, best) - before)
            add_group(codes, market, good, -1)
    return gain


# --- raising, giving, passing -------------------------------------------------------------------------


@njit
def _by_pick_order(observation: np.ndarray, players: int, table: Table, first: int, last: int) -> float:
    """A weight between that of who picks first and that of who picks last, for this bidder card."""
    before_me = players - 1 - int(observation[_AUCTION])
    w = table.weights
    return float(w[first]) + float(w[last] - w[first]) * before_me / (players - 1)


@njit
def best_gift(
    observation: np.ndarray, codes: np.ndarray, players: int, stage: int, table: Table, best: np.ndarray
) -> tuple[int, float]:
    """Which card of the bundle, already in `codes`, to give to the market, and what that leaves (3.7)."""
    feed = _by_pick_order(observation, players, table, _GIVEN_FIRST, _GIVEN_LAST)
    gift, left = -1, -IMPOSSIBLE
    for kind in range(NUM_KINDS):
        if observation[_BUNDLE + kind] > 0:
            add_card(codes, kind, -1)
            worth = limited_value(codes, stage, table, best) - feed * VALUE_OF[kind]
            if kind == MERCHANT:
                worth -= table.weights[_GIVEN_MERCHANT]
            add_card(codes, kind, 1)
            if worth > left + 1e-6:
                gift, left = kind, worth
    return gift, left


@njit
def bid(
    observation: np.ndarray, mask: np.ndarray, players: int, stage: int, table: Table, sheet: Sheet
) -> int:
    """Plan the cheapest raise; make it if winning with it is worth more than leaving this auction."""
    feed = _by_pick_order(observation, players, table, _FEED_FIRST, _FEED_LAST)
    add_cards(sheet.codes, observation, _LAID)  # as before this raise
    paid = int(observation[_BID_TOTAL])
    affordable = 0
    for kind in range(NUM_GOODS):
        laid = int(observation[_LAID + kind])
        paid -= laid * VALUE_OF[kind]
        sheet.held[kind] = observation[_HAND + kind] + laid
        affordable += sheet.held[kind] * VALUE_OF[kind]
    need = int(observation[_HIGH_BID]) + 1 - paid
    if affordable < need:
        return PASS
    sheet.with_bundle[:] = sheet.codes
    add_cards(sheet.with_bundle, observation, _BUNDLE)
    _payment_costs(feed, stage, table, sheet)
    plan_payment(need, 0, sheet)
    if mask[PASS] == 0:
        return _continue_raise(observation, sheet)
    if _worth_of_raise(observation, paid, feed, players, stage, table, sheet) <= 0:
        return PASS
    first = 0
    while sheet.plan[first] == 0:
        first += 1
    return LAY + first


@njit
def _worth_of_raise(
    observation: np.ndarray, paid: int, feed: float, players: int, stage: int, table: Table, sheet: Sheet
) -> float:
    """What winning with the planned raise is worth above leaving the auction."""
    total = paid
    for kind in range(NUM_GOODS):
        if sheet.plan[kind] > 0:
            add_card(sheet.with_bundle, kind, -sheet.plan[kind])
            total += sheet.plan[kind] * VALUE_OF[kind]
    _, won = best_gift(observation, sheet.with_bundle, players, stage, table, sheet.best)
    if observation[_BID_TOTAL] > 0:
        add_cards(sheet.codes, observation, _BIDS)  # a pass takes the bid back (3.4)
    group = _best_group(observation, sheet.codes, stage, table, sheet.best)
    won += _by_pick_order(observation, players, table, _MARKET_FIRST, _MARKET_LAST) * group - feed * total
    return won - _worth_of_pass(observation, group, stage, table, sheet)


@njit
def _worth_of_pass(observation: np.ndarray, group: float, stage: int, table: Table, sheet: Sheet) -> float:
    w = table.weights
    auction = int(observation[_AUCTION])
    kept = limited_value(sheet.codes, stage, table, sheet.best)
    worth = kept + float(w[_PASS + auction]) + float(w[_MARKET_PASS]) * group
    first_to_pass = observation[_HIGH_BID] == 0
    for seat in range(MAX_PLAYERS):
        first_to_pass = first_to_pass and observation[_FIRST_PASSER + seat] == 0
    if first_to_pass:
        add_cards(sheet.codes, observation, _BUNDLE)
        gain = limited_value(sheet.codes, stage, table, sheet.best) - kept
        worth += float(w[_FREE + auction]) * max(0.0, gain)
    return worth


@njit
def _payment_costs(feed: float, stage: int, table: Table, sheet: Sheet) -> None:
    """What each card that can be paid is worth in the hand that has the bundle, and to the market."""
    codes = sheet.with_bundle
    before = hand_value(codes, stage, table, sheet.best)
    for kind in range(NUM_GOODS):
        if sheet.held[kind] > 0:
            add_card(codes, kind, -1)
            lost = before - hand_value(codes, stage, table, sheet.best)
            add_card(codes, kind, 1)
            sheet.costs[kind] = lost + feed * VALUE_OF[kind]


@njit
def plan_payment(need: int, first: int, sheet: Sheet) -> None:
    """Write the cheapest held cards of kind `first` or later that make up `need`, as counts in `plan`."""
    cards, cheapest, chosen = sheet.cards, sheet.cheapest, sheet.chosen
    count = 0
    for kind in range(first, NUM_GOODS):
        for _ in range(sheet.held[kind]):
            cards[count] = kind
            count += 1
    cheapest[0] = 0.0
    chosen[0] = 0
    for total in range(1, need + 1):
        cheapest[total] = IMPOSSIBLE
        chosen[total] = 0
    for i in range(count):
        kind = int(cards[i])
        for total in range(need, 0, -1):
            before = max(0, total - int(VALUE_OF[kind]))
            together = cheapest[before] + sheet.costs[kind]
            if together < cheapest[total] - 1e-6:
                cheapest[total] = together
                chosen[total] = chosen[before] | (1 << i)
    sheet.plan[:] = 0
    for i in range(count):
        sheet.plan[cards[i]] += (chosen[need] >> i) & 1


@njit
def _continue_raise(observation: np.ndarray, sheet: Sheet) -> int:
    """The next card of the plan if what lies there began it, else of the cheapest way to finish (9.2)."""
    plan = sheet.plan
    last = 0
    for kind in range(NUM_GOODS):
        if observation[_LAID + kind] > 0:
            last = kind
    follows = plan[last] >= observation[_LAID + last]
    for kind in range(last):
        follows = follows and plan[kind] == observation[_LAID + kind]
    if follows:
        for kind in range(last + 1):
            plan[kind] -= observation[_LAID + kind]
    else:
        need = int(observation[_HIGH_BID]) + 1 - int(observation[_BID_TOTAL])
        if need <= 0:
            return COMMIT
        for kind in range(NUM_GOODS):
            sheet.held[kind] -= observation[_LAID + kind]
        plan_payment(need, last, sheet)
    for kind in range(last, NUM_GOODS):
        if plan[kind] > 0:
            return LAY + kind
    return COMMIT
