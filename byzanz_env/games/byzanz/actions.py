"""The 288 actions of RULES.md part 10: index, meaning and text, in one table.

`ACTIONS[index]` is the meaning; `to_text` and `from_text` translate; every text form reads back to its
index. May import the rules and the text of cards of its own room.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from byzanz_env.games.byzanz.rules import (
    COMMIT,
    DISCARD,
    GIVE_CARD,
    LAY,
    MERCHANT,
    NUM_ACTIONS,
    NUM_GOODS,
    NUM_KINDS,
    NUM_VALUES,
    PASS,
    SELL,
    SELL_MERCHANTS,
    SET_SIZE,
    SETS,
    TAKE,
    TYPES,
)
from byzanz_env.games.byzanz.text import KIND_NAMES, TYPE_NAMES

VERBS: Final = ("pass", "commit", "lay", "give", "take", "sell", "discard")


@dataclass(frozen=True, slots=True)
class Action:
    """What an action means."""

    index: int
    verb: str  # one of VERBS
    cards: tuple[int, ...] = ()  # the kinds it moves: one for lay, give and discard, three for sell
    good: int | None = None  # the type for take and sell: 0..5, 6 for merchants
    text: str = ""

    def __str__(self) -> str:
        return self.text


def _sale(index: int, good: int, values: tuple[int, ...]) -> Action:
    merchants = SET_SIZE - len(values)
    text = f"sell {TYPES[good]} " + ",".join(str(value) for value in sorted(values, reverse=True))
    if merchants:
        text += " + merchant" if merchants == 1 else f" + {merchants} merchants"
    kinds = tuple(NUM_VALUES * good + value - 1 for value in values)
    return Action(index, "sell", kinds + (MERCHANT,) * merchants, good, text)


def _table() -> tuple[Action, ...]:
    actions = [Action(PASS, "pass", text="pass"), Action(COMMIT, "commit", text="commit")]
    for verb, first, kinds in (("lay", LAY, NUM_GOODS), ("give", GIVE_CARD, NUM_KINDS)):
        actions += [
            Action(first + kind, verb, (kind,), text=f"{verb} {KIND_NAMES[kind]}") for kind in range(kinds)
        ]
    actions += [
        Action(TAKE + good, "take", good=good, text=f"take {name}") for good, name in enumerate(TYPE_NAMES)
    ]
    for good in range(len(TYPES)):
        first = SELL + len(SETS) * good
        actions += [_sale(first + i, good, values) for i, values in enumerate(SETS)]
    merchants = (MERCHANT,) * SET_SIZE
    actions.append(Action(SELL_MERCHANTS, "sell", merchants, len(TYPES), "sell three merchants"))
    actions += [
        Action(DISCARD + kind, "discard", (kind,), text=f"discard {KIND_NAMES[kind]}")
        for kind in range(NUM_KINDS)
    ]
    return tuple(actions)


ACTIONS: Final = _table()
_INDICES: Final = {action.text: action.index for action in ACTIONS}
_SALE: Final = re.compile(r"sell ([a-z]+) ?([1-4](?:[ ,]+[1-4])*) ?(?:\+ ?(?:([12]) )?(merchants?))?")


def to_text(index: int) -> str:
    """The text of an action index, such as `sell wine 3,1 + merchant`."""
    if not 0 <= index < NUM_ACTIONS:
        raise ValueError(f"action {index} does not exist: actions are 0 .. {NUM_ACTIONS - 1}")
    return ACTIONS[index].text


def from_text(text: str) -> int:
    """The index of an action in text; upper case, extra spaces and the order of values do not matter."""
    words = " ".join(text.lower().split())
    words = _INDICES_ALIASES.get(words, words)
    index = _INDICES.get(words)
    if index is None:
        index = _INDICES.get(_tidy_sale(words))
    if index is None:
        raise ValueError(f"{text!r} is not an action; {_advice(words)}")
    return index


_INDICES_ALIASES: Final = {
    "stop": "pass",
    "take merchant": "take merchants",
    "sell 3 merchants": "sell three merchants",
    "sell merchants": "sell three merchants",
}


def _tidy_sale(words: str) -> str:
    """The written form of a sale whose values or merchants stand in another order or number form."""
    found = _SALE.fullmatch(words)
    if found is None:
        return words
    good, values, number, merchant = found.groups()
    ordered = sorted(re.findall("[1-4]", values), reverse=True)
    text = f"sell {good} {','.join(ordered)}"
    if merchant:
        text += " + 2 merchants" if number == "2" else " + merchant"
    return text


def _advice(words: str) -> str:
    nearest = difflib.get_close_matches(words, list(_INDICES), n=3, cutoff=0.6)
    if nearest:
        return "did you mean " + ", ".join(repr(text) for text in nearest) + "?"
    return (
        "actions are: pass, commit, lay cloth2, give wine3, take wood, take merchants, "
        "sell wine 3,1 + merchant, sell spice 4 + 2 merchants, sell three merchants, discard olive1"
    )


def legal_actions(mask: np.ndarray | Sequence[int]) -> list[Action]:
    """The actions that a mask [288] allows, by index."""
    return [ACTIONS[index] for index in np.flatnonzero(np.asarray(mask))]
