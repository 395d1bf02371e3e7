"""What the doors are given, checked: player count, reward, seed, deck, action.

Every check is an `if` that raises a ValueError of one sentence, so it also holds under `python -O`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from byzanz_env.games.byzanz.rules import (
    DECK_SIZE,
    FULL_DECK,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_KINDS,
)
from byzanz_env.games.byzanz.tables import REWARDS

SEED_LIMIT = 2**63
IGNORED_OPTION = "options"  # PettingZoo's api_test resets with {"options": 1} and expects that to work


def is_integer(value: object) -> bool:
    """An int, a numpy integer or a 0-d array of one; never a bool, which is a slip."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_players(num_players: Any) -> int:
    """The player count, 3 to 6."""
    if not is_integer(num_players) or not MIN_PLAYERS <= int(num_players) <= MAX_PLAYERS:
        raise ValueError(
            f"num_players is {num_players!r}; Byzanz is for {MIN_PLAYERS} to {MAX_PLAYERS} players"
        )
    return int(num_players)


def check_reward(reward: Any) -> int:
    """The number of a reward's name in REWARDS."""
    if not isinstance(reward, str) or reward not in REWARDS:
        raise ValueError(f"reward is {reward!r}; possible rewards are {', '.join(REWARDS)}")
    return REWARDS.index(reward)


def check_flag(name: str, value: Any) -> bool:
    """A switch that is on or off."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {value!r}; possible are True and False")
    return bool(value)


def check_seed(seed: Any) -> int:
    """A seed below 2**63: any integer from 0; larger ones are hashed down to that range."""
    if not is_integer(seed) or int(seed) < 0:
        raise ValueError(f"seed is {seed!r}; a seed is an integer from 0")
    number = int(seed)
    if number < SEED_LIMIT:
        return number
    digest = hashlib.sha256(number.to_bytes((number.bit_length() + 7) // 8, "little")).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def check_deck(deck: Any) -> np.ndarray:
    """A deck order of 112 kinds (2.4) as int8."""
    if isinstance(deck, np.ndarray):
        deck = deck.tolist()
    if isinstance(deck, (str, bytes)) or not isinstance(deck, Sequence):
        raise ValueError(f"a deck is a list of {DECK_SIZE} kinds, not {type(deck).__name__}")
    if len(deck) != DECK_SIZE:
        raise ValueError(
            f"the deck has {len(deck)} cards; it needs all {DECK_SIZE}, as kinds in deck order"
        )
    for place, kind in enumerate(deck):
        if not is_integer(kind) or not 0 <= int(kind) < NUM_KINDS:
            raise ValueError(f"card {place} of the deck is {kind!r}; a card is a kind 0 .. {NUM_KINDS - 1}")
    cards = np.array([int(kind) for kind in deck], dtype=np.int8)
    surplus = np.bincount(cards, minlength=NUM_KINDS) - np.bincount(FULL_DECK, minlength=NUM_KINDS)
    if surplus.any():
        kind = int(np.flatnonzero(surplus)[0])
        there, needed = (list(each).count(kind) for each in (cards, FULL_DECK))
        raise ValueError(f"the deck has {there} cards of kind {kind}; the game has {needed} (1.1, 1.2)")
    return cards


def check_options(options: Any) -> np.ndarray | None:
    """The deck of reset's options, if there is one."""
    if options is None:
        return None
    if not isinstance(options, dict):
        raise ValueError(
            f"options is {type(options).__name__}; it is a dict, and the only option is 'deck'"
        )
    unknown = [key for key in options if key not in ("deck", IGNORED_OPTION)]
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}; the only option is 'deck'")
    deck = options.get("deck")
    return None if deck is None else check_deck(deck)
