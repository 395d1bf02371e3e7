"""The table as plain Python values, as far as some eyes can see it.

Made from observations alone, so a view can never show more than its seats may know (8.3). Renderers, text
and programs for people are built on it. May import the rules and the observation of its own room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from byzanz_env.games.byzanz.observe import views
from byzanz_env.games.byzanz.rules import MIN_PLAYERS, PHASES

Counts = tuple[int, ...]  # of the 25 kinds


@dataclass(frozen=True)
class Seat:
    """One player's side of the table."""

    seat: int
    hand: Counts | None  # None when these eyes do not see it
    known: Counts  # the cards everybody knows to be in the hand (8.2); all zero for one's own seat
    unknown: int
    hand_size: int
    points: int
    bidder_card: int  # 0 for none
    bid: Counts
    bid_total: int
    in_auction: bool


@dataclass(frozen=True)
class Table:
    """A position, seen by one seat (`eyes`) or by all (`eyes` is None)."""

    eyes: int | None
    players: int
    phase: str
    to_act: int | None  # None when the game is over
    round: int
    rounds: int
    auction: int
    on_offer: int  # bidder card of this auction, 0 in market and final sale
    high_bid: int
    pile_left: int
    bundle: Counts
    market: Counts
    gone: Counts
    laid: Counts
    seats: tuple[Seat, ...]  # by seat number


def _counts(vector: np.ndarray) -> Counts:
    return tuple(vector.tolist())


def _seat(part: dict[str, np.ndarray], seat: int, relative: int) -> Seat:
    own = relative == 0
    return Seat(
        seat=seat,
        hand=_counts(part["hand"]) if own else None,
        known=(0,) * len(part["hand"]) if own else _counts(part["known"][relative - 1]),
        unknown=0 if own else int(part["unknown"][relative - 1]),
        hand_size=int(part["hand_size"][relative]),
        points=int(part["points"][relative]),
        bidder_card=int(part["bidder_card"][relative]),
        bid=_counts(part["bids"][relative]),
        bid_total=int(part["bid_total"][relative]),
        in_auction=bool(part["in_auction"][relative]),
    )


def seen_by(observation: np.ndarray, seat: int) -> Table:
    """The table as `seat` sees it, from that seat's observation."""
    part = views(observation)
    players = MIN_PLAYERS + int(part["players"].argmax())
    to_act = part["to_act"].nonzero()[0]
    return Table(
        eyes=seat,
        players=players,
        phase=PHASES[int(part["phase"].argmax())],
        to_act=(seat + int(to_act[0])) % players if len(to_act) else None,
        round=int(part["round"][0]),
        rounds=int(part["round"][0]) + int(part["rounds_left"][0]) + 1,
        auction=int(part["auction"][0]),
        on_offer=int(part["on_offer"][0]),
        high_bid=int(part["high_bid"][0]),
        pile_left=int(part["pile_left"][0]),
        bundle=_counts(part["bundle"]),
        market=_counts(part["market"]),
        gone=_counts(part["gone"]),
        laid=_counts(part["laid"]),
        seats=tuple(_seat(part, other, (other - seat) % players) for other in range(players)),
    )


def seen_by_all(observations: Sequence[np.ndarray]) -> Table:
    """The table with every hand face up, from the observations of all seats in order."""
    tables = [seen_by(observation, seat) for seat, observation in enumerate(observations)]
    seats = tuple(
        replace(tables[0].seats[seat], hand=table.seats[seat].hand) for seat, table in enumerate(tables)
    )
    return replace(tables[0], eyes=None, seats=seats)
