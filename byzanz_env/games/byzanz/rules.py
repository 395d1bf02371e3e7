"""Tables of the rules of Byzanz (RULES.md): the deck, the table of 1.5, the sets and action indices of 10.

Plain numbers and tuples that the engine compiles in. Imports nothing of ours.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Final

import numpy as np

RULES_VERSION: Final = "byzanz-1"

TYPES: Final = ("cloth", "spice", "wine", "wood", "grain", "olive")  # 1.3
NUM_TYPES: Final = 6
NUM_VALUES: Final = 4
COPIES: Final = (6, 5, 3, 2)  # 1.1: how many cards of value 1, 2, 3, 4 in each type
MERCHANT: Final = 24  # 1.4: its kind
NUM_GOODS: Final = 24
NUM_KINDS: Final = 25
NUM_MERCHANTS: Final = 16  # 1.2
DECK_SIZE: Final = 112
MIN_PLAYERS: Final = 3
MAX_PLAYERS: Final = 6
DEALT: Final = 4  # 2.1
HAND_LIMIT: Final = 7  # 6.1
SET_SIZE: Final = 3  # 5.1
THREE_MERCHANTS_PROFIT: Final = 5  # 5.3

BIDDER_CARDS: Final = {3: (6, 4, 2), 4: (5, 4, 3, 2), 5: (5, 4, 3, 2, 1), 6: (6, 5, 4, 3, 2, 1)}  # 1.5
REMOVED: Final = {3: 4, 4: 12, 5: 2, 6: 4}  # 1.5
ROUNDS: Final = {3: 8, 4: 6, 5: 6, 6: 4}  # 1.5

PHASES: Final = ("bid", "give", "pick", "trim", "final", "over")
BID, GIVE, PICK, TRIM, FINAL, OVER = range(6)

# 10: the sets of a type as values of their goods; merchants fill up to three
SETS: Final = tuple(
    goods for size in (1, 2, 3) for goods in combinations_with_replacement((1, 2, 3, 4), size)
)
NUM_SETS: Final = 34

# 10: where each group of actions starts
PASS: Final = 0
COMMIT: Final = 1
LAY: Final = 2
GIVE_CARD: Final = 26
TAKE: Final = 51
SELL: Final = 58
SELL_MERCHANTS: Final = 262
DISCARD: Final = 263
NUM_ACTIONS: Final = 288


def full_deck() -> tuple[int, ...]:
    """All 112 cards as kinds, sorted."""
    goods = [
        NUM_VALUES * good + value
        for good in range(NUM_TYPES)
        for value in range(NUM_VALUES)
        for _ in range(COPIES[value])
    ]
    return (*goods, *([MERCHANT] * NUM_MERCHANTS))


def _by_players(table: dict[int, int]) -> np.ndarray:
    return np.array([table.get(n, 0) for n in range(MAX_PLAYERS + 1)], dtype=np.int64)


FULL_DECK: Final = np.array(full_deck(), dtype=np.int8)
KIND_COUNTS: Final = np.bincount(FULL_DECK, minlength=NUM_KINDS).astype(np.int8)
ROUNDS_OF: Final = _by_players(ROUNDS)
REMOVED_OF: Final = _by_players(REMOVED)
BIDDER_CARD_OF: Final = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS), dtype=np.int64)  # [players, auction]
for _players, _cards in BIDDER_CARDS.items():
    BIDDER_CARD_OF[_players, : len(_cards)] = _cards

VALUE_OF: Final = np.array([*(k % NUM_VALUES + 1 for k in range(NUM_GOODS)), 0], dtype=np.int64)
SET_GOODS: Final = np.array(
    [[goods.count(v) for v in (1, 2, 3, 4)] for goods in SETS], dtype=np.int8
)  # [set, value - 1]
SET_MERCHANTS: Final = np.array([SET_SIZE - len(goods) for goods in SETS], dtype=np.int8)
SET_PROFIT: Final = np.array([max(goods) for goods in SETS], dtype=np.int8)  # 5.2


def _sellable_sets() -> np.ndarray:
    """Which of the 34 sets can be sold, for every [v1, v2, v3, v4, merchants] held (capped at 3 and 2)."""
    table = np.zeros((4, 4, 4, 3, 3, NUM_SETS), dtype=np.int8)
    for held in np.ndindex(*table.shape[:-1]):
        enough_goods = (np.array(held[:4]) >= SET_GOODS).all(axis=1)
        table[held] = enough_goods & (held[4] >= SET_MERCHANTS)
    return table


SELLABLE: Final = _sellable_sets()
