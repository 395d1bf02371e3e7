"""Whether bytes from outside are a game that can be played on: compiled code checks no bounds itself.

A record that passes is safe for every function of the room: indices are in range, no loop can run on, and
all 112 cards are in their places. May import the rules and the engine of its own room.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz.engine import NOBODY, NOTHING_LAID, STATE, State, can_sell, legal_mask
from byzanz_env.games.byzanz.rules import (
    BID,
    BIDDER_CARD_OF,
    DEALT,
    DECK_SIZE,
    FINAL,
    GIVE,
    HAND_LIMIT,
    KIND_COUNTS,
    MAX_PLAYERS,
    MERCHANT,
    MIN_PLAYERS,
    NUM_ACTIONS,
    NUM_GOODS,
    NUM_KINDS,
    OVER,
    PICK,
    REMOVED_OF,
    ROUNDS_OF,
    SET_SIZE,
    THREE_MERCHANTS_PROFIT,
    TRIM,
    VALUE_OF,
)

SOUND = 0
FAULTS = (
    "is sound",
    "has a number out of its range",
    "does not have all 112 cards in their places",
    "counts its hands or bids wrongly",
    "has bidder cards that do not fit its auction",
    "has an auction that cannot have come about",
    "is in a phase that its cards do not allow",
)
_RANGE, _CARDS, _COUNTS, _BIDDERS, _AUCTION, _PHASE = range(1, len(FAULTS))


def check_games(states: np.ndarray) -> None:
    """Raise ValueError when a record is no game of Byzanz that can be played on."""
    if states.dtype != STATE:
        raise ValueError("these are not records of Byzanz games")
    row, fault = find_fault(states)
    if fault != SOUND:
        raise ValueError(f"the saved game in row {row} {FAULTS[fault]}: it cannot be played on")


@njit
def find_fault(states: np.ndarray) -> tuple[int, int]:
    """The first row that is not sound and what is wrong with it; (-1, SOUND) when all are."""
    mask = np.empty(NUM_ACTIONS, dtype=np.int8)
    for row in range(len(states)):
        fault = fault_of(states[row], mask)
        if fault != SOUND:
            return row, fault
    return -1, SOUND


@njit
def fault_of(s: State, mask: np.ndarray) -> int:
    """What is wrong with one game; each check relies on those before it."""
    if not _is_in_range(s):
        return _RANGE
    if not _has_all_cards(s):
        return _CARDS
    if not _counts_agree(s):
        return _COUNTS
    if not _bidder_cards_fit(s):
        return _BIDDERS
    if not _auction_fits(s):
        return _AUCTION
    if not _phase_fits(s, mask):
        return _PHASE
    return SOUND


@njit
def _is_in_range(s: State) -> bool:
    players, phase = int(s.players), int(s.phase)
    if players < MIN_PLAYERS or players > MAX_PLAYERS or phase < BID or phase > OVER:
        return False
    if (s.seat == NOBODY) != (phase == OVER) or s.seat < NOBODY or s.seat >= players:
        return False
    for seat in (int(s.starter), int(s.opener)):
        if seat < 0 or seat >= players:
            return False
    if s.first_passer < NOBODY or s.first_passer >= players:
        return False
    if s.round_number < 0 or s.round_number >= ROUNDS_OF[players] or s.auction < 0 or s.auction >= players:
        return False
    if s.last_laid < NOTHING_LAID or s.last_laid >= NUM_GOODS or s.high_bid < 0:
        return False
    if s.picks < 0 or s.picks > players or s.final_turns < 0 or s.final_turns > players:
        return False
    if s.rng[0] == 0 and s.rng[1] == 0 and s.rng[2] == 0 and s.rng[3] == 0:
        return False
    return _pile_fits(s)


@njit
def _pile_fits(s: State) -> bool:
    """The pile is used up exactly as far as the auctions so far have turned cards (2.2, 3.2)."""
    players = int(s.players)
    drawn = DEALT * players + REMOVED_OF[players]
    for auction in range(players):
        rounds = int(s.round_number) + (1 if auction <= s.auction else 0)
        drawn += rounds * BIDDER_CARD_OF[players, auction]
    if s.drawn != drawn:
        return False
    for i in range(DECK_SIZE):
        lowest = -1 if i < DEALT * players else 0  # a re-dealt game has forgotten who was dealt what
        if s.deck[i] < lowest or s.deck[i] >= NUM_KINDS:
            return False
    return True


@njit
def _has_all_cards(s: State) -> bool:
    players = int(s.players)
    placed = np.zeros(NUM_KINDS, dtype=np.int64)
    hidden = np.zeros(NUM_KINDS, dtype=np.int64)
    first_removed = DEALT * players
    for i in range(first_removed, DECK_SIZE):
        if i < first_removed + REMOVED_OF[players] or i >= s.drawn:
            placed[int(s.deck[i])] += 1
            hidden[int(s.deck[i])] += 1
    for kind in range(NUM_KINDS):
        for seat in range(MAX_PLAYERS):
            held, known, bid = int(s.hands[seat, kind]), int(s.known[seat, kind]), int(s.bids[seat, kind])
            if known < 0 or held < known or bid < 0 or (seat >= players and held + bid > 0):
                return False
            placed[kind] += held + bid
            hidden[kind] += held - known
        bundle, market, gone = int(s.bundle[kind]), int(s.market[kind]), int(s.gone[kind])
        if bundle < 0 or market < 0 or gone < 0:
            return False
        if placed[kind] + bundle + market + gone != KIND_COUNTS[kind] or hidden[kind] != s.hidden[kind]:
            return False
    return True


@njit
def _counts_agree(s: State) -> bool:
    profit, gone = 0, 0
    for kind in range(NUM_KINDS):
        gone += int(s.gone[kind])
    for seat in range(MAX_PLAYERS):
        held, known, total, bid = 0, 0, 0, 0
        for kind in range(NUM_KINDS):
            held += int(s.hands[seat, kind])
            known += int(s.known[seat, kind])
            bid += int(s.bids[seat, kind])
            total += int(s.bids[seat, kind]) * VALUE_OF[kind]
        if s.hand_size[seat] != held or s.unknown[seat] != held - known or s.bid_total[seat] != total:
            return False
        if s.bids[seat, MERCHANT] > 0 or s.points[seat] < 0:
            return False
        trims = s.phase == TRIM and seat == s.seat
        if trims != (held + bid > HAND_LIMIT):
            return False
        profit += int(s.points[seat])
        if seat >= s.players and s.points[seat] > 0:
            return False
    return profit * SET_SIZE <= gone * THREE_MERCHANTS_PROFIT  # every set sold puts three cards there


@njit
def _bidder_cards_fit(s: State) -> bool:
    """The bidder cards of the auctions so far are held, by one player each, and no others (3.10)."""
    players = int(s.players)
    given_out = int(s.auction) + (0 if s.phase == BID else 1)
    holders = 0
    for seat in range(MAX_PLAYERS):
        if s.bidder_card[seat] != 0:
            holders += 1
            if seat >= players:
                return False
    if holders != given_out:
        return False
    for auction in range(given_out):
        found = False
        for seat in range(players):
            found = found or s.bidder_card[seat] == BIDDER_CARD_OF[players, auction]
        if not found:
            return False
    return True


@njit
def _auction_fits(s: State) -> bool:
    """Who bids is in, who is out has passed, and the bids lie as the high bid says (3.4, 3.5)."""
    bidding = s.phase == BID
    highest, passed, laid = 0, 0, 0
    for seat in range(MAX_PLAYERS):
        inside = int(s.in_auction[seat])
        may_bid = bidding and seat < s.players and s.bidder_card[seat] == 0
        if inside < 0 or inside > 1 or (inside == 1 and not may_bid):
            return False
        if inside == 0 and s.bid_total[seat] > 0:
            return False
        passed += 1 if may_bid and inside == 0 else 0
        if seat != s.seat or s.last_laid == NOTHING_LAID:
            highest = max(highest, int(s.bid_total[seat]))
    for kind in range(NUM_KINDS):
        laid += int(s.laid[kind])
        of_bid = int(s.bids[int(s.seat), kind]) if bidding else 0
        if s.laid[kind] < 0 or s.laid[kind] > of_bid or (s.laid[kind] > 0 and kind > s.last_laid):
            return False
    if (laid > 0) != (s.last_laid != NOTHING_LAID) or (laid > 0 and s.laid[int(s.last_laid)] == 0):
        return False
    if not bidding:
        return bool(s.high_bid == 0)
    first = int(s.first_passer)
    if (first == NOBODY) != (passed == 0) or (first != NOBODY and s.bidder_card[first] != 0):
        return False
    if first != NOBODY and s.in_auction[first] == 1:
        return False
    return bool(s.high_bid == highest and s.in_auction[int(s.seat)] == 1)


@njit
def _phase_fits(s: State, mask: np.ndarray) -> bool:
    players, phase = int(s.players), int(s.phase)
    bundle, market = 0, 0
    for kind in range(NUM_KINDS):
        bundle += int(s.bundle[kind])
        market += int(s.market[kind])
    on_offer = int(BIDDER_CARD_OF[players, int(s.auction)])
    last = players - 1
    if bundle != (on_offer if phase in (BID, GIVE) else 0):
        return False
    if (s.picks > 0 and s.auction != last) or (phase == PICK and market == 0):
        return False
    if phase in (OVER, FINAL):
        if s.round_number + 1 != ROUNDS_OF[players] or s.auction != last or market > 0:
            return False
        if phase == OVER:
            return bool(s.final_turns == players)
        return s.seat == (s.starter + s.final_turns) % players and can_sell(s, int(s.seat))
    if s.final_turns != 0 or legal_mask(s, mask) == 0:
        return False
    card = int(s.bidder_card[int(s.seat)])
    if s.picks > 0:  # 4.1
        return phase in (PICK, TRIM) and card == BIDDER_CARD_OF[players, players - int(s.picks)]
    if phase == BID:
        return bool(s.auction < last)
    return phase in (GIVE, TRIM) and card == on_offer and on_offer >= 2
