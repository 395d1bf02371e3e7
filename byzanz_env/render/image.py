"""The table as an image, drawn with Pillow: own simple card faces, one band per player.

Everything drawn comes from a `view.Table`, so hidden cards are card backs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from byzanz_env.games.byzanz.rules import MERCHANT, NUM_VALUES, TYPES
from byzanz_env.games.byzanz.text import position_words
from byzanz_env.games.byzanz.view import Seat, Table

WIDTH: Final = 960
MARGIN: Final = 16
CARD: Final = (44, 60)
STEP: Final = 48  # from card to card; less when they would not fit
BAND: Final = 92
HEAD: Final = 56
TABLE_BAND: Final = 96

FELT: Final = (34, 60, 52)
BAND_COLOUR: Final = (43, 74, 64)
ACTIVE: Final = (196, 154, 62)
INK: Final = (240, 234, 220)
FAINT: Final = (158, 178, 166)
PAPER: Final = (250, 245, 232)
EDGE: Final = (60, 48, 36)
BACK: Final = (122, 46, 46)
MERCHANT_COLOUR: Final = (62, 54, 92)
COLOURS: Final = (
    (178, 58, 92),  # cloth
    (214, 122, 38),  # spice
    (112, 44, 122),  # wine
    (122, 82, 46),  # wood
    (206, 168, 52),  # grain
    (96, 128, 54),  # olive
)


@lru_cache(maxsize=8)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def draw_table(table: Table, winners: Sequence[int] = ()) -> np.ndarray:
    """The table as an image [height, width, 3] uint8."""
    height = HEAD + TABLE_BAND + table.players * (BAND + 6) + MARGIN
    image = Image.new("RGB", (WIDTH, height), FELT)
    pen = ImageDraw.Draw(image)
    _draw_head(pen, table, winners)
    _draw_zone(pen, "bundle", table.bundle, MARGIN, HEAD, WIDTH * 2 // 5)
    _draw_zone(pen, "market", table.market, WIDTH * 2 // 5 + MARGIN, HEAD, WIDTH - MARGIN)
    top = HEAD + TABLE_BAND
    for seat in table.seats:
        _draw_seat(pen, table, seat, top, seat.seat in winners)
        top += BAND + 6
    return np.asarray(image, dtype=np.uint8).copy()


def _draw_head(pen: ImageDraw.ImageDraw, table: Table, winners: Sequence[int]) -> None:
    names = [f"player_{seat.seat}" for seat in table.seats]
    eyes = "all hands" if table.eyes is None else f"seen by player_{table.eyes}"
    place = f"round {table.round + 1} of {table.rounds}   pile {table.pile_left}   {eyes}"
    pen.text((MARGIN, 10), position_words(table, names, winners), INK, _font(18))
    pen.text((MARGIN, 33), place, FAINT, _font(13))


def _draw_zone(
    pen: ImageDraw.ImageDraw, name: str, counts: Sequence[int], left: int, top: int, right: int
) -> None:
    pen.text((left, top), name, FAINT, _font(13))
    _draw_cards(pen, _cards(counts), left, top + 20, right)


def _draw_seat(pen: ImageDraw.ImageDraw, table: Table, seat: Seat, top: int, won: bool) -> None:
    acting = seat.seat == table.to_act
    box = (MARGIN // 2, top, WIDTH - MARGIN // 2, top + BAND)
    pen.rounded_rectangle(box, 8, BAND_COLOUR, ACTIVE if acting or won else None, 2)
    pen.text((MARGIN + 4, top + 8), f"player_{seat.seat}", ACTIVE if acting or won else INK, _font(17))
    pen.text((MARGIN + 4, top + 32), f"{seat.points} points", INK, _font(15))
    pen.text((MARGIN + 4, top + 56), f"{seat.hand_size} in hand", FAINT, _font(13))
    if seat.bidder_card:
        _draw_bidder_card(pen, seat.bidder_card, 126, top + 20)
    elif table.phase == "bid":
        pen.text((120, top + 38), "in" if seat.in_auction else "passed", FAINT, _font(13))
    hand = _cards(seat.known if seat.hand is None else seat.hand) + [None] * seat.unknown * (
        seat.hand is None
    )
    middle = WIDTH * 2 // 3
    _draw_cards(pen, hand, 184, top + 24, middle - 12)
    if seat.hand is None and seat.hand_size:
        pen.text((184, top + 5), "known of the hand", FAINT, _font(12))
    else:
        pen.text((184, top + 5), "hand", FAINT, _font(12))
    if seat.bid_total:
        pen.text((middle, top + 5), f"bid {seat.bid_total}", INK, _font(13))
        _draw_cards(pen, _cards(seat.bid), middle, top + 24, WIDTH - MARGIN)


def _cards(counts: Sequence[int]) -> list[int | None]:
    return [kind for kind, count in enumerate(counts) for _ in range(count)]


def _draw_cards(
    pen: ImageDraw.ImageDraw, cards: Sequence[int | None], left: int, top: int, right: int
) -> None:
    step = STEP
    if len(cards) > 1:
        step = min(STEP, (right - left - CARD[0]) // (len(cards) - 1))
    for place, kind in enumerate(cards):
        _draw_card(pen, kind, left + place * step, top)


def _draw_card(pen: ImageDraw.ImageDraw, kind: int | None, left: int, top: int) -> None:
    box = (left, top, left + CARD[0], top + CARD[1])
    if kind is None:
        pen.rounded_rectangle(box, 5, BACK, PAPER, 2)
        pen.text((left + CARD[0] // 2, top + CARD[1] // 2), "?", PAPER, _font(22), anchor="mm")
        return
    colour = MERCHANT_COLOUR if kind == MERCHANT else COLOURS[kind // NUM_VALUES]
    pen.rounded_rectangle(box, 5, PAPER, EDGE, 1)
    pen.rounded_rectangle((left + 1, top + 1, left + CARD[0] - 1, top + 40), 4, colour)
    face = "M" if kind == MERCHANT else str(kind % NUM_VALUES + 1)
    name, size = ("merchant", 10) if kind == MERCHANT else (TYPES[kind // NUM_VALUES], 12)
    pen.text((left + CARD[0] // 2, top + 21), face, PAPER, _font(26), anchor="mm")
    pen.text((left + CARD[0] // 2, top + 50), name, EDGE, _font(size), anchor="mm")


def _draw_bidder_card(pen: ImageDraw.ImageDraw, card: int, left: int, top: int) -> None:
    pen.ellipse((left, top, left + 44, top + 44), PAPER, EDGE, 2)
    pen.text((left + 22, top + 22), str(card), EDGE, _font(24), anchor="mm")
