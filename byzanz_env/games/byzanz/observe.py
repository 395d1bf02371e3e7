"""What a seat may know, as one int8 vector: LAYOUT names every part, `encode` writes it for any seat.

Seats are relative: the observer first, then clockwise; absent seats are zero. Nothing here depends on a
card that the observer cannot have seen (8.3). The offsets exist only in LAYOUT: named views, the
documentation and the compiled writer all come from it.

May import the rules and the engine's record of its own room, numpy and the compiler door.
"""

from __future__ import annotations

import hashlib
import math
from typing import Final, NamedTuple

import numpy as np

from byzanz_env._jit import make_copier, njit
from byzanz_env.games.byzanz.engine import State
from byzanz_env.games.byzanz.rules import (
    BIDDER_CARD_OF,
    DECK_SIZE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_KINDS,
    PHASES,
    PICK,
    ROUNDS_OF,
    RULES_VERSION,
)


class Part(NamedTuple):
    """One named part of the observation."""

    name: str
    shape: tuple[int, ...]
    meaning: str

    @property
    def size(self) -> int:
        return math.prod(self.shape)


LAYOUT: Final = (
    Part("hand", (NUM_KINDS,), "own hand, by kind"),
    Part("bundle", (NUM_KINDS,), "cards on offer, by kind"),
    Part("market", (NUM_KINDS,), "market, by kind"),
    Part("gone", (NUM_KINDS,), "shown and out of play: sold, discarded, left over in a market"),
    Part("unseen", (NUM_KINDS,), "cards the observer cannot place: pile, removed, unknown in hands"),
    Part("laid", (NUM_KINDS,), "cards of the raise that is half laid out (also part of its bid)"),
    Part("bids", (MAX_PLAYERS, NUM_KINDS), "bid of each seat"),
    Part("known", (MAX_PLAYERS - 1, NUM_KINDS), "cards surely in each other hand (8.2), left first"),
    Part("unknown", (MAX_PLAYERS - 1,), "number of unknown cards in each other hand"),
    Part("hand_size", (MAX_PLAYERS,), "cards in each hand"),
    Part("points", (MAX_PLAYERS,), "profit of each seat so far"),
    Part("bidder_card", (MAX_PLAYERS,), "bidder card won this round, 0 for none"),
    Part("bid_total", (MAX_PLAYERS,), "total value of each bid"),
    Part("in_auction", (MAX_PLAYERS,), "1 while the seat is in this auction"),
    Part("to_act", (MAX_PLAYERS,), "1 for the seat that decides"),
    Part("first_passer", (MAX_PLAYERS,), "1 for the seat that passed first in this auction"),
    Part("phase", (len(PHASES),), "one-hot: " + ", ".join(PHASES)),
    Part("players", (MAX_PLAYERS - MIN_PLAYERS + 1,), "one-hot: 3, 4, 5, 6 players"),
    Part("round", (1,), "rounds finished"),
    Part("rounds_left", (1,), "rounds to come after this one"),
    Part("auction", (1,), "auctions finished in this round"),
    Part("on_offer", (1,), "bidder card of this auction, 0 in market and final sale"),
    Part("high_bid", (1,), "highest bid of this auction, 0 for none"),
    Part("market_turn", (1,), "market turns begun in this round"),
    Part("pile_left", (1,), "cards left in the pile"),
)


def _offsets() -> dict[str, int]:
    offsets, start = {}, 0
    for part in LAYOUT:
        offsets[part.name] = start
        start += part.size
    return offsets


OFFSETS: Final = _offsets()
OBSERVATION_SIZE: Final = sum(part.size for part in LAYOUT)
LAYOUT_HASH: Final = hashlib.sha256(
    repr((RULES_VERSION, [(part.name, part.shape) for part in LAYOUT])).encode()
).hexdigest()[:16]

_HAND = OFFSETS["hand"]
_BUNDLE = OFFSETS["bundle"]
_MARKET = OFFSETS["market"]
_GONE = OFFSETS["gone"]
_UNSEEN = OFFSETS["unseen"]
_LAID = OFFSETS["laid"]
_BIDS = OFFSETS["bids"]
_KNOWN = OFFSETS["known"]
_UNKNOWN = OFFSETS["unknown"]
_HAND_SIZE = OFFSETS["hand_size"]
_POINTS = OFFSETS["points"]
_BIDDER_CARD = OFFSETS["bidder_card"]
_BID_TOTAL = OFFSETS["bid_total"]
_IN_AUCTION = OFFSETS["in_auction"]
_TO_ACT = OFFSETS["to_act"]
_FIRST_PASSER = OFFSETS["first_passer"]
_PHASE = OFFSETS["phase"]
_PLAYERS = OFFSETS["players"]
_ROUND = OFFSETS["round"]
_ROUNDS_LEFT = OFFSETS["rounds_left"]
_AUCTION = OFFSETS["auction"]
_ON_OFFER = OFFSETS["on_offer"]
_HIGH_BID = OFFSETS["high_bid"]
_MARKET_TURN = OFFSETS["market_turn"]
_PILE_LEFT = OFFSETS["pile_left"]


_copy_kinds = make_copier(NUM_KINDS)


@njit
def encode(s: State, seat: int, out: np.ndarray) -> None:
    """Write the observation of `seat` into `out` [OBSERVATION_SIZE] int8."""
    out[:] = 0
    _encode_cards(s, seat, out)
    _encode_seats(s, seat, out)
    players = int(s.players)
    phase = int(s.phase)
    out[_PHASE + phase] = 1
    out[_PLAYERS + players - MIN_PLAYERS] = 1
    out[_ROUND] = s.round_number
    out[_ROUNDS_LEFT] = ROUNDS_OF[players] - 1 - int(s.round_number)
    out[_AUCTION] = s.auction
    if phase < PICK:
        out[_ON_OFFER] = BIDDER_CARD_OF[players, int(s.auction)]
    out[_HIGH_BID] = s.high_bid
    out[_MARKET_TURN] = s.picks
    out[_PILE_LEFT] = DECK_SIZE - int(s.drawn)


@njit
def _encode_cards(s: State, seat: int, out: np.ndarray) -> None:
    _copy_kinds(s.hands[seat], out, _HAND)
    _copy_kinds(s.bundle, out, _BUNDLE)
    _copy_kinds(s.market, out, _MARKET)
    _copy_kinds(s.gone, out, _GONE)
    _copy_kinds(s.laid, out, _LAID)
    for kind in range(NUM_KINDS):
        out[_UNSEEN + kind] = s.hidden[kind] - s.hands[seat, kind] + s.known[seat, kind]


@njit
def _encode_seats(s: State, seat: int, out: np.ndarray) -> None:
    players = int(s.players)
    for relative in range(players):
        other = seat + relative
        if other >= players:
            other -= players
        out[_HAND_SIZE + relative] = s.hand_size[other]
        out[_POINTS + relative] = s.points[other]
        out[_BIDDER_CARD + relative] = s.bidder_card[other]
        out[_BID_TOTAL + relative] = s.bid_total[other]
        out[_IN_AUCTION + relative] = s.in_auction[other]
        out[_TO_ACT + relative] = other == s.seat
        out[_FIRST_PASSER + relative] = other == s.first_passer
        if s.bid_total[other] > 0:
            _copy_kinds(s.bids[other], out, _BIDS + relative * NUM_KINDS)
        if relative > 0:
            _copy_kinds(s.known[other], out, _KNOWN + (relative - 1) * NUM_KINDS)
            out[_UNKNOWN + relative - 1] = s.unknown[other]


def views(observation: np.ndarray) -> dict[str, np.ndarray]:
    """Named views into one observation [D] or a batch of them [..., D]; no copy is made."""
    if observation.shape[-1] != OBSERVATION_SIZE:
        raise ValueError(
            f"an observation has {OBSERVATION_SIZE} numbers, this one has {observation.shape[-1]}"
        )
    lead = observation.shape[:-1]
    return {
        part.name: observation[..., OFFSETS[part.name] : OFFSETS[part.name] + part.size].reshape(
            lead + part.shape
        )
        for part in LAYOUT
    }


def layout_table() -> str:
    """LAYOUT as a Markdown table, for the documentation."""
    rows = ["| index | name | shape | meaning |", "|---|---|---|---|"]
    for part in LAYOUT:
        start = OFFSETS[part.name]
        shape = " x ".join(map(str, part.shape))
        rows.append(f"| {start} .. {start + part.size - 1} | `{part.name}` | {shape} | {part.meaning} |")
    return "\n".join(rows)
