"""Whether bytes that claim to be a game are one: counts, ranges, and all 112 cards in their places.

Compiled code does not check bounds, so a record from outside goes through `find_fault` before the engine
sees it. A record without a fault is a position from which the engine can play to the end. May import the
rules and the engine of its own room.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byzanz_env.games.byzanz.engine import NOBODY, NOTHING_LAID, State, can_sell
from byzanz_env.games.byzanz.redeal import FORGOTTEN
from byzanz_env.games.byzanz.rules import (
    BID,
    BIDDER_CARDS,
    DEALT,
    DECK_SIZE,
    FINAL,
    GIVE,
    HAND_LIMIT,
    KIND_COUNTS,
    MAX_PLAYERS,
    MERCHANT,
    MIN_PLAYERS,
    NUM_GOODS,
    NUM_KINDS,
    OVER,
    PICK,
    REMOVED,
    ROUNDS,
    SET_SIZE,
    THREE_MERCHANTS_PROFIT,
    TRIM,
    VALUE_OF,
)

CARD_ZONES = ("hands", "known", "bids", "laid", "bundle", "market", "gone", "hidden")
SEAT_FIELDS = (
    "hands",
    "known",
    "bids",
    "hand_size",
    "unknown",
    "bid_total",
    "in_auction",
    "bidder_card",
    "points",
)


def find_fault(s: State) -> str | None:
    """What is wrong with a record, in a few words; None when it is a position of the game."""
    for group in (_numbers, _cards, _seats, _auction, _phase):
        for what, is_right in group(s):
            if not is_right:
                return what
    return None


def _wide(values: np.ndarray) -> np.ndarray:
    return np.asarray(values).astype(np.int64)


def _numbers(s: State) -> Iterator[tuple[str, bool]]:
    players = int(s.players)
    yield "the player count", MIN_PLAYERS <= players <= MAX_PLAYERS
    yield "the generator", bool(np.any(s.rng))
    yield "the phase", BID <= s.phase <= OVER
    yield "the deciding seat", s.seat == NOBODY if s.phase == OVER else 0 <= s.seat < players
    yield "the round", 0 <= s.round < ROUNDS[players]
    yield "the auction", 0 <= s.auction < players
    yield "the starter", 0 <= s.starter < players and 0 <= s.opener < players
    yield "who passed first", NOBODY <= s.first_passer < players
    yield "the last card laid", NOTHING_LAID <= s.last_laid < NUM_GOODS
    yield "the market turns", 0 <= s.picks <= players
    yield "the final turns", 0 <= s.final_turns <= players
    cards = BIDDER_CARDS[players]
    turned_up = int(s.round) * sum(cards) + sum(cards[: int(s.auction) + 1])
    yield "the pile", int(s.drawn) == DEALT * players + REMOVED[players] + turned_up


def _cards(s: State) -> Iterator[tuple[str, bool]]:
    for zone in CARD_ZONES:
        yield f"the cards of {zone}", bool((_wide(s[zone]) >= 0).all())
    dealt, drawn = DEALT * int(s.players), int(s.drawn)
    removed = dealt + REMOVED[int(s.players)]
    deck = _wide(s.deck)
    yield "the deck", bool(((deck >= FORGOTTEN) & (deck < NUM_KINDS)).all() and (deck[dealt:] >= 0).all())
    unturned = np.bincount(np.concatenate([deck[dealt:removed], deck[drawn:]]), minlength=NUM_KINDS)
    hands, known, bids = _wide(s.hands), _wide(s.known), _wide(s.bids)
    yield "the known cards", bool((known <= hands).all())
    yield "the hidden cards", bool((_wide(s.hidden) == unturned + (hands - known).sum(axis=0)).all())
    everywhere = unturned + hands.sum(axis=0) + bids.sum(axis=0)
    everywhere += _wide(s.bundle) + _wide(s.market) + _wide(s.gone)
    yield f"the {DECK_SIZE} cards", bool((everywhere == KIND_COUNTS).all())


def _seats(s: State) -> Iterator[tuple[str, bool]]:
    for field in SEAT_FIELDS:
        yield f"{field} of an absent seat", not _wide(s[field])[int(s.players) :].any()
    hands, known, bids = _wide(s.hands), _wide(s.known), _wide(s.bids)
    yield "the hand sizes", bool((_wide(s.hand_size) == hands.sum(axis=1)).all())
    yield "the unknown cards", bool((_wide(s.unknown) == (hands - known).sum(axis=1)).all())
    yield "the bids", bool((_wide(s.bid_total) == (bids * VALUE_OF).sum(axis=1)).all())
    yield "a merchant in a bid", not bids[:, MERCHANT].any()  # 3.5
    yield "who is in the auction", bool(np.isin(s.in_auction, (0, 1)).all())
    points = _wide(s.points)
    most = int(_wide(s.gone).sum()) // SET_SIZE * THREE_MERCHANTS_PROFIT
    yield "the points", bool((points >= 0).all()) and int(points.sum()) <= most


def _auction(s: State) -> Iterator[tuple[str, bool]]:
    players = int(s.players)
    held = sorted((int(card) for card in s.bidder_card if card != 0), reverse=True)
    won = int(s.auction) + (s.phase != BID)
    yield "the bidder cards", held == list(BIDDER_CARDS[players][:won])  # 3.1, 3.10
    inside = np.flatnonzero(s.in_auction)
    bidding = s.phase == BID
    yield "who still bids", (len(inside) > 0) == bidding and not _wide(s.bidder_card)[inside].any()
    outside = np.ones(MAX_PLAYERS, dtype=bool)
    outside[inside] = False
    yield "a bid of one who passed", not _wide(s.bid_total)[outside].any()  # 3.4
    bids, laid = _wide(s.bids), _wide(s.laid)
    yield "the raise", bool((laid <= bids[int(s.seat)]).all()) if bidding else not laid.any()
    last = int(np.flatnonzero(laid)[-1]) if laid.any() else NOTHING_LAID
    yield "the last card laid", int(s.last_laid) == last  # 9.2
    if bidding:
        committed = _wide(s.bid_total)
        committed[int(s.seat)] -= int((laid * VALUE_OF).sum())
        yield "the highest bid", int(s.high_bid) == int(committed.max())
        yield "the deciding seat", int(s.seat) in inside
        reach = int(((_wide(s.hands[int(s.seat)]) * VALUE_OF)[max(last, 0) :]).sum()) + int(
            s.bid_total[int(s.seat)]
        )
        yield "a raise that cannot be finished", last == NOTHING_LAID or reach > int(s.high_bid)  # 9.3
        passed = s.first_passer != NOBODY
        yield "who passed first", not passed or s.first_passer not in inside
        may_pass_last = len(inside) > 1 or (passed and int(s.high_bid) == 0)
        yield "the end of the auction", may_pass_last or players - int(s.auction) == 1  # 3.6
    else:
        yield "the highest bid", int(s.high_bid) == 0


def _phase(s: State) -> Iterator[tuple[str, bool]]:
    players, phase, seat = int(s.players), int(s.phase), int(s.seat)
    on_offer = BIDDER_CARDS[players][int(s.auction)]
    bundle, market = int(_wide(s.bundle).sum()), int(_wide(s.market).sum())
    yield "the bundle", bundle == (on_offer if phase in (BID, GIVE) else 0)  # 3.2
    over_limit = _wide(s.hand_size) > HAND_LIMIT
    if phase == TRIM:
        yield "the hand limit", bool(over_limit[seat])  # 6.1
        over_limit[seat] = False
    yield "the hand limit", not over_limit.any()
    auctions_over = int(s.auction) == players - 1
    if phase == BID:
        yield "the auction", not auctions_over  # 3.9
    if phase in (BID, GIVE):
        yield "the market turns", s.picks == 0
    if phase == GIVE:
        yield "who won", s.bidder_card[seat] == on_offer
    if phase == PICK:
        yield "the market", market > 0 and auctions_over and s.picks > 0
    if phase == TRIM:
        yield "the market turns", auctions_over or s.picks == 0
    if phase in (FINAL, OVER):
        yield "the last round", int(s.round) + 1 == ROUNDS[players] and auctions_over and market == 0
    if phase == FINAL:
        yield (
            "the final sale",
            can_sell(s, seat) and (int(s.starter) + int(s.final_turns)) % players == seat,
        )
    if phase == OVER:
        yield "the end", s.final_turns == players
    elif phase != FINAL:
        yield "the final turns", s.final_turns == 0
