"""The rules of Byzanz, compiled: one record is one game, and every rule of RULES.md is here, once.

A game is one `STATE` record: a copy is an assignment, a save is its bytes, a batch is an array of them.
Functions take the record first and change it in place; numbers in brackets are clauses of RULES.md.
`step` trusts its caller: doors check an action against `legal_mask` before they call it.
Narrow fields, wide locals (`int(s.seat)`): the same code runs compiled and as plain Python.

May import its own rules, numpy, the compiler door and the random numbers of the house only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import seed_generator, shuffle
from byzanz_env.games.byzanz.rules import (
    BID,
    BIDDER_CARD_OF,
    COMMIT,
    DEALT,
    DECK_SIZE,
    DISCARD,
    FINAL,
    FULL_DECK,
    GIVE,
    GIVE_CARD,
    HAND_LIMIT,
    KIND_COUNTS,
    LAY,
    MAX_PLAYERS,
    MERCHANT,
    NUM_GOODS,
    NUM_KINDS,
    NUM_SETS,
    NUM_TYPES,
    NUM_VALUES,
    OVER,
    PASS,
    PICK,
    REMOVED_OF,
    ROUNDS_OF,
    SELL,
    SELL_MERCHANTS,
    SELLABLE,
    SET_GOODS,
    SET_MERCHANTS,
    SET_PROFIT,
    SET_SIZE,
    TAKE,
    THREE_MERCHANTS_PROFIT,
    TRIM,
    VALUE_OF,
)

NOBODY = -1
NOTHING_LAID = -1

STATE = np.dtype(
    (
        np.record,
        [
            ("rng", "u4", (4,)),  # xoshiro128++, used to shuffle
            ("players", "i1"),
            ("phase", "i1"),
            ("seat", "i1"),  # who decides, NOBODY when over
            ("round_number", "i1"),  # `round` is a method of every numpy record
            ("auction", "i1"),  # which auction of the round
            ("starter", "i1"),  # who opens the round, and the final sale (9.9)
            ("opener", "i1"),  # who opens the auction
            ("first_passer", "i1"),
            ("high_bid", "i1"),
            ("last_laid", "i1"),  # kind, while a raise is half laid out
            ("picks", "i1"),  # market turns taken this round
            ("final_turns", "i1"),  # seats that are through with the final sale
            ("drawn", "i1"),  # index of the next card of the pile in `deck`
            ("deck", "i1", (DECK_SIZE,)),  # in deck order (2.4)
            ("hands", "i1", (MAX_PLAYERS, NUM_KINDS)),
            ("known", "i1", (MAX_PLAYERS, NUM_KINDS)),  # of each hand, to everybody (8.2)
            ("bids", "i1", (MAX_PLAYERS, NUM_KINDS)),
            ("laid", "i1", (NUM_KINDS,)),  # the half laid raise, a part of the seat's bid
            ("bundle", "i1", (NUM_KINDS,)),
            ("market", "i1", (NUM_KINDS,)),
            ("gone", "i1", (NUM_KINDS,)),  # shown and out of play: sold, discarded, left over
            ("hidden", "i1", (NUM_KINDS,)),  # not shown: pile, removed, unknown part of the hands
            ("hand_size", "i1", (MAX_PLAYERS,)),
            ("unknown", "i1", (MAX_PLAYERS,)),  # cards of each hand that nobody else has seen (8.2)
            ("bid_total", "i1", (MAX_PLAYERS,)),
            ("in_auction", "i1", (MAX_PLAYERS,)),
            ("bidder_card", "i1", (MAX_PLAYERS,)),
            ("points", "i1", (MAX_PLAYERS,)),
        ],
    )
)

State = Any  # a STATE record; numba and numpy give it no common static type


# --- set-up ------------------------------------------------------------------------------------------


@njit
def deal(s: State, players: int, seed: int) -> None:
    """Shuffle and deal a new game (2.1) from a seed in 0 .. 2**63 - 1."""
    seed_generator(s.rng, seed, 0)
    for i in range(DECK_SIZE):
        s.deck[i] = FULL_DECK[i]
    shuffle(s.rng, s.deck, DECK_SIZE)
    _set_up(s, players)


@njit
def deal_deck(s: State, players: int, deck: np.ndarray) -> None:
    """Deal a given deck order (2.4); the caller has checked that it is the full deck."""
    seed_generator(s.rng, 0, 1)
    for i in range(DECK_SIZE):
        s.deck[i] = deck[i]
    _set_up(s, players)


@njit
def _set_up(s: State, players: int) -> None:
    s.players = players
    s.hands[:] = 0
    s.known[:] = 0
    s.bids[:] = 0
    s.laid[:] = 0
    s.bundle[:] = 0
    s.market[:] = 0
    s.gone[:] = 0
    s.hidden[:] = KIND_COUNTS
    s.hand_size[:] = 0
    s.unknown[:] = 0
    s.bid_total[:] = 0
    s.bidder_card[:] = 0
    s.points[:] = 0
    for i in range(DEALT * players):  # 2.4
        s.hands[i // DEALT, int(s.deck[i])] += 1
    for seat in range(players):
        s.hand_size[seat] = DEALT
        s.unknown[seat] = DEALT
    s.drawn = DEALT * players + REMOVED_OF[players]  # 2.2
    s.round_number = 0
    s.starter = 0  # 2.3
    s.picks = 0
    s.final_turns = 0
    _start_round(s)


# --- cards that move ---------------------------------------------------------------------------------


@njit
def _take_into_hand(s: State, seat: int, kind: int, count: int) -> None:
    """Cards that everybody saw go into a hand (8.2)."""
    s.hands[seat, kind] += count
    s.known[seat, kind] += count
    s.hand_size[seat] += count


@njit
def _show_from_hand(s: State, seat: int, kind: int) -> None:
    """A card leaves a hand: off the known ones if its kind is among them, else off the unknown (8.2)."""
    s.hands[seat, kind] -= 1
    s.hand_size[seat] -= 1
    if s.known[seat, kind] > 0:
        s.known[seat, kind] -= 1
    else:
        s.unknown[seat] -= 1
        s.hidden[kind] -= 1


@njit
def _take_bundle(s: State, seat: int) -> None:
    for kind in range(NUM_KINDS):
        if s.bundle[kind] > 0:
            _take_into_hand(s, seat, kind, int(s.bundle[kind]))
            s.bundle[kind] = 0


# --- auctions (3) ------------------------------------------------------------------------------------


@njit
def _start_round(s: State) -> None:
    s.bidder_card[:] = 0
    s.picks = 0
    s.auction = 0
    s.opener = s.starter
    _start_auction(s)


@njit
def _start_auction(s: State) -> bool:
    """Turn up a bundle; False when nobody has anything to decide about it."""
    players = int(s.players)
    size = int(BIDDER_CARD_OF[players, int(s.auction)])
    for _ in range(size):  # 3.2
        kind = int(s.deck[int(s.drawn)])
        s.drawn += 1
        s.bundle[kind] += 1
        s.hidden[kind] -= 1
    s.high_bid = 0
    s.first_passer = NOBODY
    s.last_laid = NOTHING_LAID
    for seat in range(players):
        s.in_auction[seat] = 1 if s.bidder_card[seat] == 0 else 0
    for seat in range(players, MAX_PLAYERS):
        s.in_auction[seat] = 0
    s.seat = s.opener
    if int(s.auction) < players - 1:
        s.phase = BID
        return True
    _take_bidder_card(s)  # 3.9: the last one, without bidding
    if size == 2:
        s.phase = GIVE
        return True
    for kind in range(NUM_KINDS):
        s.market[kind] += s.bundle[kind]
        s.bundle[kind] = 0
    return False


@njit
def _take_bidder_card(s: State) -> None:
    s.bidder_card[int(s.seat)] = BIDDER_CARD_OF[int(s.players), int(s.auction)]  # 3.10
    s.in_auction[:] = 0
    s.high_bid = 0


@njit
def _next_auction(s: State) -> bool:
    """Open the next auction of the round; False when it needs no decision."""
    players = int(s.players)
    s.auction += 1
    seat = int(s.seat)
    while s.bidder_card[seat] > 0:  # 3.11
        seat = (seat + 1) % players
    s.opener = seat
    return _start_auction(s)


@njit
def _leave_auction(s: State) -> None:
    seat = int(s.seat)
    for kind in range(NUM_GOODS):  # 3.4
        if s.bids[seat, kind] > 0:
            _take_into_hand(s, seat, kind, int(s.bids[seat, kind]))
            s.bids[seat, kind] = 0
    s.bid_total[seat] = 0
    s.in_auction[seat] = 0
    if s.first_passer == NOBODY:
        s.first_passer = seat
    _next_bidder(s)


@njit
def _lay_card(s: State, kind: int) -> None:
    seat = int(s.seat)
    _show_from_hand(s, seat, kind)
    s.bids[seat, kind] += 1
    s.laid[kind] += 1
    s.bid_total[seat] += VALUE_OF[kind]
    s.last_laid = kind


@njit
def _close_raise(s: State) -> None:
    s.high_bid = s.bid_total[int(s.seat)]
    s.last_laid = NOTHING_LAID
    s.laid[:] = 0
    _next_bidder(s)


@njit
def _next_bidder(s: State) -> None:
    players = int(s.players)
    left = 0
    for seat in range(players):
        left += int(s.in_auction[seat])
    if left == 0:  # 3.8, 9.7
        s.seat = s.first_passer
        _take_bidder_card(s)
        _take_bundle(s, int(s.seat))
        _check_hand_limit(s)
        return
    seat = (int(s.seat) + 1) % players
    while s.in_auction[seat] == 0:
        seat = (seat + 1) % players
    s.seat = seat
    if left == 1 and s.high_bid > 0:  # 3.6, 3.7
        for kind in range(NUM_GOODS):
            s.market[kind] += s.bids[seat, kind]
            s.bids[seat, kind] = 0
        s.bid_total[seat] = 0
        _take_bidder_card(s)
        s.phase = GIVE


@njit
def _give_card(s: State, kind: int) -> None:
    s.bundle[kind] -= 1
    s.market[kind] += 1
    _take_bundle(s, int(s.seat))  # 3.7, 3.9
    _check_hand_limit(s)


# --- the market of Byzanz (4) ------------------------------------------------------------------------


@njit
def _next_pick(s: State) -> bool:
    """Send the next player to the market; False when the market is over."""
    players = int(s.players)
    on_sale = 0
    for kind in range(NUM_KINDS):
        on_sale += int(s.market[kind])
    picks = int(s.picks)
    if on_sale == 0 or picks == players:  # 4.2
        return False
    card = int(BIDDER_CARD_OF[players, players - 1 - picks])  # 4.1: lowest first
    s.seat = _holder(s, card)
    s.picks = picks + 1
    s.phase = PICK
    return True


@njit
def _holder(s: State, card: int) -> int:
    seat = 0
    while s.bidder_card[seat] != card:
        seat += 1
    return seat


@njit
def _take_from_market(s: State, good: int) -> None:
    seat = int(s.seat)
    first = good * NUM_VALUES
    for kind in range(first, min(first + NUM_VALUES, NUM_KINDS)):
        if s.market[kind] > 0:
            _take_into_hand(s, seat, kind, int(s.market[kind]))
            s.market[kind] = 0
    _check_hand_limit(s)


@njit
def _end_round(s: State) -> None:
    players = int(s.players)
    for kind in range(NUM_KINDS):  # 4.3
        s.gone[kind] += s.market[kind]
        s.market[kind] = 0
    s.starter = _holder(s, int(BIDDER_CARD_OF[players, players - 1]))  # 4.4
    if int(s.round_number) + 1 < ROUNDS_OF[players]:
        s.round_number += 1
        _start_round(s)
    else:
        s.seat = s.starter  # 9.9
        s.phase = FINAL
        if not can_sell(s, int(s.seat)):  # 9.8
            _next_final_sale(s)


# --- selling, the hand limit and the end (5, 6, 7) ---------------------------------------------------


@njit
def _sell_set(s: State, index: int) -> None:
    seat = int(s.seat)
    first = index // NUM_SETS * NUM_VALUES
    chosen = index % NUM_SETS
    for value in range(NUM_VALUES):
        for _ in range(SET_GOODS[chosen, value]):
            _discard_card(s, first + value)
    for _ in range(SET_MERCHANTS[chosen]):
        _discard_card(s, MERCHANT)
    s.points[seat] += SET_PROFIT[chosen]  # 5.2


@njit
def _discard_card(s: State, kind: int) -> None:
    _show_from_hand(s, int(s.seat), kind)  # 9.5
    s.gone[kind] += 1


@njit
def _after_sale(s: State) -> None:
    if s.phase == TRIM:
        _check_hand_limit(s)
    elif s.phase == FINAL and not can_sell(s, int(s.seat)):
        _next_final_sale(s)


@njit
def _check_hand_limit(s: State) -> None:
    """After cards were taken: wait for sales and discards (6.1), or go on."""
    if s.hand_size[int(s.seat)] > HAND_LIMIT:
        s.phase = TRIM
    else:
        _go_on(s)


@njit
def _go_on(s: State) -> None:
    """An auction or a market turn is through: find the next decision."""
    auctions_are_over = s.picks > 0 or int(s.auction) == int(s.players) - 1
    if not auctions_are_over and _next_auction(s):
        return
    if not _next_pick(s):
        _end_round(s)


@njit
def can_sell(s: State, seat: int) -> bool:
    """Whether the hand of a seat holds any set (5.1, 5.3)."""
    hand = s.hands[seat]
    merchants = int(hand[MERCHANT])
    if merchants >= SET_SIZE:
        return True
    for good in range(NUM_TYPES):
        first = good * NUM_VALUES
        goods = int(hand[first]) + int(hand[first + 1]) + int(hand[first + 2]) + int(hand[first + 3])
        if goods > 0 and goods + merchants >= SET_SIZE:
            return True
    return False


@njit
def _next_final_sale(s: State) -> None:
    players = int(s.players)
    turns = int(s.final_turns) + 1
    while turns < players:
        seat = (int(s.starter) + turns) % players
        if can_sell(s, seat):
            s.final_turns = turns
            s.seat = seat
            return
        turns += 1
    s.final_turns = players
    s.seat = NOBODY
    s.phase = OVER


# --- the surface: step, mask, results ----------------------------------------------------------------


@njit
def step(s: State, action: int) -> None:
    """Apply one legal action to `s` in place."""
    if action == PASS:
        if s.phase == BID:
            _leave_auction(s)
        else:
            _next_final_sale(s)  # 7.1
    elif action == COMMIT:
        _close_raise(s)
    elif action < GIVE_CARD:
        _lay_card(s, action - LAY)
    elif action < TAKE:
        _give_card(s, action - GIVE_CARD)
    elif action < SELL:
        _take_from_market(s, action - TAKE)
    elif action < SELL_MERCHANTS:
        _sell_set(s, action - SELL)
        _after_sale(s)
    elif action == SELL_MERCHANTS:
        for _ in range(SET_SIZE):
            _discard_card(s, MERCHANT)
        s.points[int(s.seat)] += THREE_MERCHANTS_PROFIT  # 5.3
        _after_sale(s)
    else:
        _discard_card(s, action - DISCARD)
        _check_hand_limit(s)


@njit
def legal_mask(s: State, out: np.ndarray) -> int:
    """Write 1 for every legal action of the deciding seat, 0 elsewhere; return how many there are."""
    out[:] = 0
    phase = int(s.phase)
    if phase == OVER:
        return 0
    seat = int(s.seat)
    hand = s.hands[seat]
    if phase == BID:
        total, high_bid = int(s.bid_total[seat]), int(s.high_bid)
        last_laid = int(s.last_laid)
        count = mask_raise(hand, total, high_bid, last_laid, out)
        if last_laid != NOTHING_LAID:
            return count  # 9.1
        out[PASS] = 1
        return count + 1 + mask_sales(hand, out)
    count = mask_sales(hand, out)
    if phase == GIVE:
        count += _mask_kinds(s.bundle, out[GIVE_CARD:TAKE])
    elif phase == PICK:
        count += _mask_types(s.market, out)
    elif phase == TRIM:
        count += _mask_kinds(hand, out[DISCARD:])
    else:
        out[PASS] = 1
        count += 1
    return count


@njit
def mask_raise(hand: np.ndarray, total: int, high_bid: int, last_laid: int, out: np.ndarray) -> int:
    """Which cards may be laid, and whether the raise may be committed (3.5, 9.2, 9.3)."""
    count = 0
    reach = total
    first = max(last_laid, 0)
    for kind in range(NUM_GOODS - 1, first - 1, -1):
        held = int(hand[kind])
        if held > 0:
            reach += held * (kind % NUM_VALUES + 1)
            if reach > high_bid:
                out[LAY + kind] = 1
                count += 1
    if last_laid != NOTHING_LAID and total > high_bid:
        out[COMMIT] = 1
        count += 1
    return count


@njit
def mask_sales(hand: np.ndarray, out: np.ndarray) -> int:
    count = 0
    merchants = int(hand[MERCHANT])
    for good in range(NUM_TYPES):
        first = good * NUM_VALUES
        a, b = int(hand[first]), int(hand[first + 1])
        c, d = int(hand[first + 2]), int(hand[first + 3])
        goods = a + b + c + d
        if goods > 0 and goods + merchants >= SET_SIZE:
            sellable = SELLABLE[min(a, 3), min(b, 3), min(c, 3), min(d, 2), min(merchants, 2)]
            for i in range(NUM_SETS):
                out[SELL + good * NUM_SETS + i] = sellable[i]
                count += sellable[i]
    if merchants >= SET_SIZE:
        out[SELL_MERCHANTS] = 1
        count += 1
    return count


@njit
def _mask_kinds(cards: np.ndarray, out: np.ndarray) -> int:
    count = 0
    for kind in range(NUM_KINDS):
        if cards[kind] > 0:
            out[kind] = 1
            count += 1
    return count


@njit
def _mask_types(market: np.ndarray, out: np.ndarray) -> int:
    count = 0
    for good in range(NUM_TYPES + 1):
        first = good * NUM_VALUES
        for kind in range(first, min(first + NUM_VALUES, NUM_KINDS)):
            if market[kind] > 0:
                out[TAKE + good] = 1
                count += 1
                break
    return count


@njit
def skip_forced(s: State, mask: np.ndarray) -> None:
    """Play every decision that has only one legal action; leave the mask of the next real one in `mask`."""
    count = legal_mask(s, mask)
    while count == 1:
        action = 0
        while mask[action] == 0:
            action += 1
        step(s, action)
        count = legal_mask(s, mask)


@njit
def standing(s: State, seat: int) -> int:
    """Orders the seats at the end: profit first, then cards in hand (7.2, 9.4)."""
    return int(s.points[seat]) * (DECK_SIZE + 1) + int(s.hand_size[seat])


@njit
def win_shares(s: State, out: np.ndarray) -> None:
    """Write each seat's share of the win: 1 divided among the winners (7.2)."""
    players = int(s.players)
    best = standing(s, 0)
    winners = 0
    for seat in range(players):
        mark = standing(s, seat)
        if mark > best:
            best, winners = mark, 0
        if mark == best:
            winners += 1
    out[:] = 0
    for seat in range(players):
        if standing(s, seat) == best:
            out[seat] = 1.0 / winners


@njit
def ranks(s: State, out: np.ndarray) -> None:
    """Write each seat's rank at the end: 0 for the first to players - 1, ties averaged."""
    players = int(s.players)
    out[:] = 0
    for seat in range(players):
        ahead, level = 0, 0
        for other in range(players):
            if standing(s, other) > standing(s, seat):
                ahead += 1
            elif other != seat and standing(s, other) == standing(s, seat):
                level += 1
        out[seat] = ahead + level / 2
