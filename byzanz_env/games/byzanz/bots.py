"""Scripted opponents: compiled policies that read one observation and its mask, and nothing else.

`choose_random` takes any legal action. `choose_scripted` weighs every option by what it makes of the hand
(valuation.py); its weights decide who plays: the greedy one sells at once and sees neither the market nor
those who come after, the heuristic sells as late as it can and knows what it costs to feed the market.
Answers depend on the observation alone: a raise is planned as a whole, and planned again, with the same
result, at each card that is laid.

May import the rules, the observation and the valuation of its own room.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import below, seed_generator
from byzanz_env.games.byzanz.observe import OFFSETS
from byzanz_env.games.byzanz.rules import (
    BID,
    COMMIT,
    DISCARD,
    FINAL,
    GIVE,
    GIVE_CARD,
    HAND_LIMIT,
    LAY,
    MAX_PLAYERS,
    MERCHANT,
    MIN_PLAYERS,
    NUM_GOODS,
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
    VALUE_OF,
)
from byzanz_env.games.byzanz.valuation import (
    CODES,
    GOODS_IN,
    INDEX,
    MERCHANTS,
    SET_CODE,
    SIZE,
    Valuation,
    add_card,
    add_cards,
    hand_value,
    limited_value,
)

_HAND, _BUNDLE, _MARKET = OFFSETS["hand"], OFFSETS["bundle"], OFFSETS["market"]
_LAID, _BIDS = OFFSETS["laid"], OFFSETS["bids"]
_BID_TOTAL, _HIGH_BID = OFFSETS["bid_total"], OFFSETS["high_bid"]
_BIDDER_CARD = OFFSETS["bidder_card"]
_FIRST_PASSER, _IN_AUCTION = OFFSETS["first_passer"], OFFSETS["in_auction"]
_PHASE, _PLAYERS = OFFSETS["phase"], OFFSETS["players"]
_ROUNDS_LEFT, _AUCTION, _MARKET_TURN = OFFSETS["rounds_left"], OFFSETS["auction"], OFFSETS["market_turn"]

_FEED_FIRST, _FEED_LAST = INDEX["feed_first"], INDEX["feed_last"]
_GIVEN_FIRST, _GIVEN_LAST = INDEX["given_first"], INDEX["given_last"]
_GIVEN_MERCHANT = INDEX["given_merchant"]
_MARKET_PASS, _MARKET_FIRST, _MARKET_LAST = (
    INDEX["market_pass"],
    INDEX["market_first"],
    INDEX["market_last"],
)
_DENY, _EAGER = INDEX["deny"], INDEX["eager"]
_PASS, _FREE = INDEX["pass_0"], INDEX["free_0"]

SCRATCH = 48
_COST = 18  # where a plan's costs begin in the scratch, behind the merchants of a hand value
IMPOSSIBLE = 1e9
MAX_NEED = 29  # seven cards of value 4, and one more


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
def choose_scripted(observation: np.ndarray, mask: np.ndarray, v: Valuation) -> int:
    """The action of the scripted policy with these weights."""
    players = MIN_PLAYERS
    while observation[_PLAYERS + players - MIN_PLAYERS] == 0:
        players += 1
    phase = 0
    while observation[_PHASE + phase] == 0:
        phase += 1
    stage = stage_of(observation)
    codes = np.zeros(CODES, dtype=np.int64)
    scratch = np.empty(SCRATCH)
    add_cards(codes, observation, _HAND)
    half_laid = phase == BID and mask[PASS] == 0
    if phase == FINAL or (v.weights[players, _EAGER] > 0 and not half_laid):
        sale, _ = best_sale(codes, players, 0, mask, v, scratch)
        if sale >= 0:
            return sale
    if phase == BID:
        return _bid(observation, half_laid, codes, players, stage, v, scratch)
    if phase == GIVE:
        return _give(observation, codes, players, stage, v, scratch)
    if phase == PICK:
        return _pick(observation, mask, codes, players, stage, v, scratch)
    return _trim(mask, codes, players, stage, v, scratch)


@njit
def stage_of(observation: np.ndarray) -> int:
    """Rounds of auctions still to come, this one included while it lasts."""
    return int(observation[_ROUNDS_LEFT]) + (1 if observation[_MARKET_TURN] == 0 else 0)


# --- selling and the hand limit ----------------------------------------------------------------------


@njit
def best_sale(
    codes: np.ndarray, players: int, stage: int, mask: np.ndarray, v: Valuation, scratch: np.ndarray
) -> tuple[int, float]:
    """The legal sale with the best profit and rest of the hand, and both together; -1 without any."""
    best, best_worth = -1, -IMPOSSIBLE
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
                worth = SET_PROFIT[i] + hand_value(codes, players, stage, v, scratch)
                codes[good] += SET_CODE[i]
                codes[MERCHANTS] += SET_MERCHANTS[i]
                if worth > best_worth + 1e-9:
                    best, best_worth = first + i, worth
    if mask[SELL_MERCHANTS] != 0:
        codes[MERCHANTS] -= SET_SIZE
        worth = THREE_MERCHANTS_PROFIT + hand_value(codes, players, stage, v, scratch)
        codes[MERCHANTS] += SET_SIZE
        if worth > best_worth + 1e-9:
            best, best_worth = SELL_MERCHANTS, worth
    return best, best_worth


@njit
def _least_useful(
    codes: np.ndarray, players: int, stage: int, v: Valuation, scratch: np.ndarray
) -> tuple[int, float]:
    """The kind that the hand misses least, and the worth of the hand without it."""
    best, best_worth = -1, -IMPOSSIBLE
    for kind in range(NUM_KINDS):
        if has_card(codes, kind):
            add_card(codes, kind, -1)
            worth = hand_value(codes, players, stage, v, scratch)
            add_card(codes, kind, 1)
            if worth > best_worth + 1e-9:
                best, best_worth = kind, worth
    return best, best_worth


@njit
def has_card(codes: np.ndarray, kind: int) -> bool:
    """Whether a hand holds a card of this kind."""
    if kind == MERCHANT:
        return bool(codes[MERCHANTS] > 0)
    code = int(codes[kind // NUM_VALUES])
    value = kind % NUM_VALUES
    if value == 0:
        return code >= 72
    if value == 1:
        return code % 72 >= 12
    if value == 2:
        return code % 12 >= 3
    return code % 3 >= 1


@njit
def _trim(
    mask: np.ndarray, codes: np.ndarray, players: int, stage: int, v: Valuation, scratch: np.ndarray
) -> int:
    """Sell a set, or discard as many cards as the sale would take off, whichever leaves more (6.1)."""
    sale, sale_worth = best_sale(codes, players, stage, mask, v, scratch)
    first, worth = _least_useful(codes, players, stage, v, scratch)
    if sale < 0:
        return DISCARD + first
    rest = codes.copy()
    add_card(rest, first, -1)
    for _ in range(min(SET_SIZE, int(codes[SIZE]) - HAND_LIMIT) - 1):
        kind, worth = _least_useful(rest, players, stage, v, scratch)
        add_card(rest, kind, -1)
    return DISCARD + first if worth > sale_worth else sale


# --- the market of Byzanz ----------------------------------------------------------------------------


@njit
def _add_group(codes: np.ndarray, cards: np.ndarray, start: int, good: int, sign: int) -> int:
    """Add all cards of one type from `cards`; returns their total value (a merchant counts 1)."""
    value = 0
    if good == NUM_TYPES:
        count = int(cards[start + MERCHANT])
        add_card(codes, MERCHANT, sign * count)
        return count
    for kind in range(good * NUM_VALUES, (good + 1) * NUM_VALUES):
        count = int(cards[start + kind])
        if count > 0:
            add_card(codes, kind, sign * count)
            value += count * VALUE_OF[kind]
    return value


@njit
def _pick(
    observation: np.ndarray,
    mask: np.ndarray,
    codes: np.ndarray,
    players: int,
    stage: int,
    v: Valuation,
    scratch: np.ndarray,
) -> int:
    best, best_worth = -1, -IMPOSSIBLE
    for good in range(NUM_TYPES + 1):
        if mask[TAKE + good] != 0:
            value = _add_group(codes, observation, _MARKET, good, 1)
            worth = limited_value(codes, players, stage, v, scratch)
            worth += v.weights[players, _DENY] * value
            _add_group(codes, observation, _MARKET, good, -1)
            if worth > best_worth + 1e-9:
                best, best_worth = TAKE + good, worth
    return best


@njit
def _best_group(
    observation: np.ndarray, codes: np.ndarray, players: int, stage: int, v: Valuation, scratch: np.ndarray
) -> float:
    """What the best market group would add to a hand now."""
    before = hand_value(codes, players, stage, v, scratch)
    best = 0.0
    for good in range(NUM_TYPES + 1):
        if _add_group(codes, observation, _MARKET, good, 1) > 0:
            best = max(best, hand_value(codes, players, stage, v, scratch) - before)
            _add_group(codes, observation, _MARKET, good, -1)
    return best


# --- auctions ----------------------------------------------------------------------------------------


@njit
def _by_pick_order(observation: np.ndarray, players: int, w: np.ndarray, first: int, last: int) -> float:
    """A weight between that of who picks first and that of who picks last, for this bidder card."""
    before_me = players - 1 - int(observation[_AUCTION])
    return float(w[first] + (w[last] - w[first]) * before_me / (players - 1))


@njit
def _give(
    observation: np.ndarray, codes: np.ndarray, players: int, stage: int, v: Valuation, scratch: np.ndarray
) -> int:
    add_cards(codes, observation, _BUNDLE)
    kind, _ = _best_gift(observation, codes, players, stage, v, scratch)
    return GIVE_CARD + kind


@njit
def _best_gift(
    observation: np.ndarray, codes: np.ndarray, players: int, stage: int, v: Valuation, scratch: np.ndarray
) -> tuple[int, float]:
    """Which card of the bundle, already in `codes`, to give to the market, and what that leaves (3.7)."""
    w = v.weights[players]
    feed = _by_pick_order(observation, players, w, _GIVEN_FIRST, _GIVEN_LAST)
    best, best_worth = -1, -IMPOSSIBLE
    for kind in range(NUM_KINDS):
        if observation[_BUNDLE + kind] > 0:
            add_card(codes, kind, -1)
            worth = limited_value(codes, players, stage, v, scratch) - feed * VALUE_OF[kind]
            if kind == MERCHANT:
                worth -= w[_GIVEN_MERCHANT]
            add_card(codes, kind, 1)
            if worth > best_worth + 1e-9:
                best, best_worth = kind, worth
    return best, best_worth


@njit
def _bid(
    observation: np.ndarray,
    half_laid: bool,
    codes: np.ndarray,
    players: int,
    stage: int,
    v: Valuation,
    scratch: np.ndarray,
) -> int:
    """Plan the cheapest raise; make it if winning with it is worth more than leaving this auction."""
    w = v.weights[players]
    add_cards(codes, observation, _LAID)  # as before this raise
    with_bundle = codes.copy()
    add_cards(with_bundle, observation, _BUNDLE)
    feed = _by_pick_order(observation, players, w, _FEED_FIRST, _FEED_LAST)
    paid = int(observation[_BID_TOTAL])
    for kind in range(NUM_GOODS):
        paid -= int(observation[_LAID + kind]) * VALUE_OF[kind]
    need = int(observation[_HIGH_BID]) + 1 - paid
    held = np.empty(NUM_GOODS, dtype=np.int64)
    for kind in range(NUM_GOODS):
        held[kind] = observation[_HAND + kind] + observation[_LAID + kind]
    costs = np.empty(NUM_GOODS)
    _payment_costs(held, with_bundle, feed, players, stage, v, costs, scratch)
    plan = np.zeros(NUM_GOODS, dtype=np.int64)
    possible = plan_payment(held, costs, need, 0, plan, scratch)
    if half_laid:
        return _continue_raise(observation, held, costs, plan, scratch)
    if not possible:
        return PASS
    raise_to = paid
    first = -1
    for kind in range(NUM_GOODS):
        if plan[kind] > 0:
            add_card(with_bundle, kind, -plan[kind])
            raise_to += plan[kind] * VALUE_OF[kind]
            first = kind if first < 0 else first
    _, won = _best_gift(observation, with_bundle, players, stage, v, scratch)
    add_cards(codes, observation, _BIDS)  # a pass takes the bid back (3.4)
    group = _best_group(observation, codes, players, stage, v, scratch)
    won += _by_pick_order(observation, players, w, _MARKET_FIRST, _MARKET_LAST) * group - feed * raise_to
    return (
        LAY + first if won > _worth_of_pass(observation, codes, group, players, stage, v, scratch) else PASS
    )


@njit
def _worth_of_pass(
    observation: np.ndarray,
    codes: np.ndarray,
    group: float,
    players: int,
    stage: int,
    v: Valuation,
    scratch: np.ndarray,
) -> float:
    w = v.weights[players]
    auction = int(observation[_AUCTION])
    kept = limited_value(codes, players, stage, v, scratch)
    worth = kept + w[_PASS + auction] + w[_MARKET_PASS] * group
    first_to_pass = observation[_HIGH_BID] == 0
    for seat in range(MAX_PLAYERS):
        first_to_pass = first_to_pass and observation[_FIRST_PASSER + seat] == 0
    if first_to_pass:
        add_cards(codes, observation, _BUNDLE)
        gain = limited_value(codes, players, stage, v, scratch) - kept
        worth += w[_FREE + auction] * max(0.0, gain)
    return float(worth)


@njit
def _payment_costs(
    held: np.ndarray,
    with_bundle: np.ndarray,
    feed: float,
    players: int,
    stage: int,
    v: Valuation,
    costs: np.ndarray,
    scratch: np.ndarray,
) -> None:
    """What each card that can be paid is worth in the hand that has the bundle, and to the market."""
    before = hand_value(with_bundle, players, stage, v, scratch)
    for kind in range(NUM_GOODS):
        if held[kind] > 0:
            add_card(with_bundle, kind, -1)
            lost = before - hand_value(with_bundle, players, stage, v, scratch)
            add_card(with_bundle, kind, 1)
            costs[kind] = lost + feed * VALUE_OF[kind] + 1e-6


@njit
def plan_payment(
    held: np.ndarray, costs: np.ndarray, need: int, first: int, plan: np.ndarray, scratch: np.ndarray
) -> bool:
    """The cheapest cards, of kind `first` or later, worth at least `need` together, as counts in `plan`."""
    if need > MAX_NEED:
        return False
    cost = scratch[_COST : _COST + MAX_NEED + 1]
    chosen = np.zeros((MAX_NEED + 1), dtype=np.int64)  # six bits a card, each a number in `cards`
    cards = np.empty(HAND_LIMIT, dtype=np.int64)
    count = 0
    for kind in range(first, NUM_GOODS):
        for _ in range(held[kind]):
            cards[count] = kind
            count += 1
    for total in range(1, need + 1):
        cost[total] = IMPOSSIBLE
    cost[0] = 0.0
    for i in range(count):
        kind = cards[i]
        for total in range(need, 0, -1):
            before = max(0, total - VALUE_OF[kind])
            together = cost[before] + costs[kind]
            if together < cost[total] - 1e-9:
                cost[total] = together
                chosen[total] = chosen[before] | (1 << i)
    plan[:] = 0
    if cost[need] >= IMPOSSIBLE:
        return False
    for i in range(count):
        plan[cards[i]] += (chosen[need] >> i) & 1
    return True


@njit
def _continue_raise(
    observation: np.ndarray, held: np.ndarray, costs: np.ndarray, plan: np.ndarray, scratch: np.ndarray
) -> int:
    """The next card of the plan if what lies there began it, else of the cheapest way to finish (9.2)."""
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
            held[kind] -= observation[_LAID + kind]
        plan_payment(held, costs, need, last, plan, scratch)
    for kind in range(last, NUM_GOODS):
        if plan[kind] > 0:
            return LAY + kind
    return COMMIT
