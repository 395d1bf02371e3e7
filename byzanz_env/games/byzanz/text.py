"""Cards and positions as text, both ways.

A position is written from a `view.Table`, so it shows what those eyes may know and nothing more. The text
fits into 80 columns and has no colours. May import the rules and the view of its own room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from byzanz_env.games.byzanz.rules import COPIES, MERCHANT, NUM_KINDS, NUM_MERCHANTS, NUM_VALUES, TYPES
from byzanz_env.games.byzanz.view import Seat, Table

WIDTH: Final = 80
KIND_NAMES: Final = (*(f"{good}{value}" for good in TYPES for value in (1, 2, 3, 4)), "merchant")  # 1.4
TYPE_NAMES: Final = (*TYPES, "merchants")  # 4.1
_KINDS: Final = {name: kind for kind, name in enumerate(KIND_NAMES)}
_CARD: Final = re.compile(r"(?:(\d+)\s*[x*]\s*)?([a-z]+\d*)")


def kind_name(kind: int) -> str:
    """`cloth2` for 1, `merchant` for 24."""
    return KIND_NAMES[kind]


def parse_card(text: str) -> int:
    """The kind of one card such as `cloth2` or `merchant`."""
    name = text.strip().lower()
    if name == "merchants":
        name = "merchant"
    if name not in _KINDS:
        raise ValueError(
            f"{text!r} is not a card: a card is one of {', '.join(TYPES)} followed by its value 1 to 4, "
            "such as cloth2, or merchant"
        )
    return _KINDS[name]


def parse_cards(text: str) -> list[int]:
    """Counts by kind of cards such as `cloth2 wine1 merchant`; `2x cloth1` stands for two of them."""
    counts = [0] * NUM_KINDS
    for number, name in _split(text):
        counts[parse_card(name)] += number
    for kind, count in enumerate(counts):
        most = NUM_MERCHANTS if kind == MERCHANT else COPIES[kind % NUM_VALUES]
        if count > most:
            raise ValueError(f"{count} {kind_name(kind)} are too many: the game has {most}")
    return counts


def _split(text: str) -> Iterable[tuple[int, str]]:
    rest = text.strip().lower().replace(",", " ")
    if rest == "-":
        return
    position = 0
    while position < len(rest):
        found = _CARD.match(rest, position)
        if found is None:
            word = rest[position:].split()[0] if rest[position:].split() else rest
            parse_card(word)
            raise ValueError(f"{text!r} is not a list of cards such as: cloth2 wine1 merchant")
        yield int(found[1] or 1), found[2]
        position = found.end()
        while position < len(rest) and rest[position].isspace():
            position += 1


def format_cards(counts: Sequence[int]) -> str:
    """Counts by kind as text that `parse_cards` reads; `-` for no card."""
    names = [kind_name(kind) for kind, count in enumerate(counts) for _ in range(int(count))]
    return " ".join(names) or "-"


def short_cards(counts: Sequence[int]) -> str:
    """Counts by kind, one word per type: `cloth 1,1,2  merchant x2`."""
    words = []
    for good, name in enumerate(TYPES):
        values = [
            str(value + 1)
            for value in range(NUM_VALUES)
            for _ in range(int(counts[NUM_VALUES * good + value]))
        ]
        if values:
            words.append(f"{name} {','.join(values)}")
    merchants = int(counts[MERCHANT])
    if merchants:
        words.append("merchant" if merchants == 1 else f"merchant x{merchants}")
    return "  ".join(words) or "-"


def position_text(table: Table, names: Sequence[str] | None = None, winners: Sequence[int] = ()) -> str:
    """The table as the eyes of `table` see it; `winners` are the seats that won a game that is over."""
    who = names or [f"player_{seat.seat}" for seat in table.seats]
    lines = [_headline(table), "-" * WIDTH]
    if any(table.bundle):
        lines += _zone(f"bundle ({table.on_offer})" if table.on_offer else "bundle", table.bundle)
    lines += _zone("market", table.market)
    lines.append("-" * WIDTH)
    for seat in table.seats:
        lines += _seat_lines(table, seat, who[seat.seat])
    lines.append("-" * WIDTH)
    lines.append(position_words(table, who, winners))
    return "\n".join(line.rstrip() for line in lines)


def _headline(table: Table) -> str:
    eyes = "all hands" if table.eyes is None else f"seen by player_{table.eyes}"
    left = f"Byzanz, {table.players} players   round {table.round + 1} of {table.rounds}"
    left += f"   pile {table.pile_left}"
    return f"{left:<{WIDTH - len(eyes)}}{eyes}"


def position_words(table: Table, who: Sequence[str], winners: Sequence[int] = ()) -> str:
    """One sentence: who has to do what, or who has won."""
    if table.to_act is None:
        if not winners:
            return "The game is over."
        names = " and ".join(who[seat] for seat in winners)
        return f"The game is over: {names} {'wins' if len(winners) == 1 else 'share the win'}."
    name = who[table.to_act]
    if table.phase == "bid":
        high = f"the highest bid is {table.high_bid}" if table.high_bid else "there is no bid"
        return f"{name} bids for bidder card {table.on_offer}; {high}."
    return {
        "give": f"{name} gives one card of the bundle to the market.",
        "pick": f"{name} takes one type from the market.",
        "trim": f"{name} holds more than seven cards and must sell or discard.",
        "final": f"{name} may sell for the last time.",
    }[table.phase]


def _zone(name: str, counts: Sequence[int]) -> list[str]:
    return _wrapped(f"{name:<12}", short_cards(counts))


def _seat_lines(table: Table, seat: Seat, name: str) -> list[str]:
    mark = ">" if seat.seat == table.to_act else " "
    state = "in" if seat.in_auction else "passed"
    if seat.bidder_card:
        state = f"card {seat.bidder_card}"
    elif table.phase != "bid":
        state = ""
    head = f"{mark} {name:<12}{seat.points:>3} points   {seat.hand_size} in hand   {state:<8}"
    lines = [head + (f"bid {seat.bid_total}" if seat.bid_total else "")]
    if seat.bid_total:
        lines += _wrapped("      bid   ", short_cards(seat.bid))
    if seat.hand is not None:
        lines += _wrapped("      hand  ", short_cards(seat.hand))
    else:
        unknown = f"{seat.unknown} unknown" if seat.unknown else ""
        known = short_cards(seat.known) if any(seat.known) else ""
        lines += _wrapped("      hand  ", "  ".join(filter(None, (known, unknown))) or "-")
    return lines


def _wrapped(label: str, words: str) -> list[str]:
    """Break between words, never inside the cards of one type."""
    lines, line = [], label
    for word in words.split("  "):
        if len(line) + len(word) > WIDTH and line != label:
            lines.append(line)
            line = " " * len(label)
        line += word + "  "
    return [*lines, line]
