"""Which numbers of an observation and which actions belong to which good.

For networks that treat all goods alike: what they see of each good stands in the same order, and so do the
actions that concern it. Merchants and everything that is of no single good are the rest.

May import the rules and the observation of its own room.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from byzanz_env.games.byzanz.observe import LAYOUT, OBSERVATION_SIZE, OFFSETS
from byzanz_env.games.byzanz.rules import (
    DISCARD,
    GIVE_CARD,
    LAY,
    NUM_ACTIONS,
    NUM_KINDS,
    NUM_SETS,
    NUM_TYPES,
    NUM_VALUES,
    SELL,
    TAKE,
)

PLANES: Final = np.array(
    [
        OFFSETS[part.name] + row * NUM_KINDS
        for part in LAYOUT
        if part.shape[-1] == NUM_KINDS
        for row in range(part.size // NUM_KINDS)
    ]
)  # where each vector of 25 counts starts in an observation
_BLOCKS: Final = (
    (LAY, NUM_VALUES),
    (GIVE_CARD, NUM_VALUES),
    (TAKE, 1),
    (SELL, NUM_SETS),
    (DISCARD, NUM_VALUES),
)  # actions that come once for every good: the first of good 0, and how many each good has


def _of_each_good(blocks: list[tuple[int, int]]) -> np.ndarray:
    return np.array(
        [
            [first + good * count + i for first, count in blocks for i in range(count)]
            for good in range(NUM_TYPES)
        ]
    )


def _others(table: np.ndarray, size: int) -> np.ndarray:
    return np.setdiff1d(np.arange(size), table)


GOOD_INPUTS: Final = _of_each_good([(int(start), NUM_VALUES) for start in PLANES])  # [6, 68]
REST_INPUTS: Final = _others(GOOD_INPUTS, OBSERVATION_SIZE)
GOOD_ACTIONS: Final = _of_each_good(list(_BLOCKS))  # [6, 47]
REST_ACTIONS: Final = _others(GOOD_ACTIONS, NUM_ACTIONS)
NUM_GOOD_INPUTS: Final = GOOD_INPUTS.shape[1]
NUM_REST_INPUTS: Final = len(REST_INPUTS)
NUM_GOOD_ACTIONS: Final = GOOD_ACTIONS.shape[1]
NUM_REST_ACTIONS: Final = len(REST_ACTIONS)
