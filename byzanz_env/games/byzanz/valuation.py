"""What a hand is worth: the best division of its cards into sets, and what the rest may still become.

A hand is seven small numbers, its `codes`: for each type one number that stands for its cards of value 1,
2, 3 and 4, then the merchants, then the size. The worth of every code with 0 to 4 merchants is laid out in
tables beforehand, for each number of rounds to come; a hand is then valued by a few look-ups. The weights
come from a data file and are passed in, so that they can be tuned.

May import the rules of its own room, numpy and the compiler door.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Final

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz.rules import (
    COPIES,
    HAND_LIMIT,
    MAX_PLAYERS,
    MERCHANT,
    MIN_PLAYERS,
    NUM_GOODS,
    NUM_MERCHANTS,
    NUM_SETS,
    NUM_TYPES,
    NUM_VALUES,
    ROUNDS,
    SET_GOODS,
    SET_MERCHANTS,
    SET_PROFIT,
    SET_SIZE,
    THREE_MERCHANTS_PROFIT,
)

WEIGHT_NAMES: Final = (
    "pair_base",  # two of a type: base + top * value of the better one
    "pair_top",
    "single_base",
    "single_top",
    "upgrade",  # a complete set may still get a better top card
    "fade_last",  # these four count less towards the end: min(1, last + rate * rounds to come)
    "fade_rate",
    "merchant_one",  # one or two merchants left over, and their own fading
    "merchant_two",
    "merchant_last",
    "merchant_rate",
    "over",  # cost of a card over the hand limit that no sale takes along
    "forced",  # cost of a card over the hand limit that has to be sold early
    "crowd",  # cost of each card above five in hand
    "feed_first",  # cost of a point of value paid into the market, when one picks first there
    "feed_last",  # and when one picks last
    "given_first",  # the same for the card given from the bundle
    "given_last",
    "given_merchant",
    "market_pass",  # worth of the best market group for one who stays in for a lower bidder card
    "market_first",  # and for one who is to pick first or last
    "market_last",
    "deny",  # worth of a point of value that the others do not get from the market
    "eager",  # above 0: sell at once instead of as late as possible
    *(f"pass_{auction}" for auction in range(MAX_PLAYERS - 1)),  # worth of staying in, by auction
    *(f"free_{auction}" for auction in range(MAX_PLAYERS - 1)),  # hope that all pass after me (3.8)
)
INDEX: Final = {name: i for i, name in enumerate(WEIGHT_NAMES)}
NUM_WEIGHTS: Final = len(WEIGHT_NAMES)

STRIDES: Final = np.array([72, 12, 3, 1], dtype=np.int64)  # of a code, by value - 1
NUM_CODES: Final = 504
USEFUL_MERCHANTS: Final = 4  # in one type: more than two sets of it never fit a hand
STAGES: Final = max(ROUNDS.values()) + 1  # rounds to come; at 0 only what can be sold now counts
MERCHANTS, SIZE, CODES = NUM_TYPES, NUM_TYPES + 1, NUM_TYPES + 2  # places in the codes of a hand
TIE_BREAK: Final = 0.001  # a card in hand at the end, worth less than any profit (7.2)
CROWD: Final = 5

_PAIR_BASE, _PAIR_TOP = INDEX["pair_base"], INDEX["pair_top"]
_SINGLE_BASE, _SINGLE_TOP = INDEX["single_base"], INDEX["single_top"]
_UPGRADE = INDEX["upgrade"]
_FADE_LAST, _FADE_RATE = INDEX["fade_last"], INDEX["fade_rate"]
_MERCHANT_ONE, _MERCHANT_TWO = INDEX["merchant_one"], INDEX["merchant_two"]
_MERCHANT_LAST, _MERCHANT_RATE = INDEX["merchant_last"], INDEX["merchant_rate"]
_OVER, _FORCED, _CROWD = INDEX["over"], INDEX["forced"], INDEX["crowd"]


VALUATION = np.dtype(
    (
        np.record,
        [
            ("weights", "f8", (NUM_WEIGHTS,)),
            ("goods", "f4", (STAGES, NUM_CODES, USEFUL_MERCHANTS + 1)),  # cards of one type, with merchants
            ("spare", "f4", (STAGES, NUM_MERCHANTS + 1)),  # merchants left over
        ],
    )
)
Valuation = np.ndarray  # of VALUATION records, one for each number of players
Table = Any  # one of these records


def _count_tables() -> tuple[np.ndarray, np.ndarray]:
    held = np.zeros((NUM_CODES, NUM_VALUES), dtype=np.int8)
    for counts in np.ndindex(*(copies + 1 for copies in COPIES)):
        held[int(np.dot(counts, STRIDES))] = counts
    return held, held.sum(axis=1).astype(np.int64)


HELD, GOODS_IN = _count_tables()  # cards of each value, and of all, by code
SET_CODE: Final = SET_GOODS.astype(np.int64) @ STRIDES


@njit
def _leftover(held: np.ndarray, w: np.ndarray) -> float:
    """Cards of one type that are in no set: the best two are a pair, the others single."""
    pair = 0.0
    taken = 0
    worth = 0.0
    for value in range(NUM_VALUES, 0, -1):
        for _ in range(held[value - 1]):
            taken += 1
            if taken == 1:
                pair = w[_PAIR_BASE] + w[_PAIR_TOP] * value
                worth = w[_SINGLE_BASE] + w[_SINGLE_TOP] * value
            elif taken == 2:
                worth = pair
            else:
                worth += w[_SINGLE_BASE] + w[_SINGLE_TOP] * value
    return worth


@njit
def _fill_goods(w: np.ndarray, stage: int, out: np.ndarray) -> None:
    """The best division of every code with 0 .. 4 merchants; a smaller code is always done before."""
    fade = min(1.0, w[_FADE_LAST] + w[_FADE_RATE] * (stage - 1))
    for code in range(NUM_CODES):
        for merchants in range(USEFUL_MERCHANTS + 1):
            if stage == 0:
                best = TIE_BREAK * GOODS_IN[code]
            else:
                best = fade * _leftover(HELD[code], w)
            for i in range(NUM_SETS):
                fits = SET_MERCHANTS[i] <= merchants
                for value in range(NUM_VALUES):
                    fits = fits and SET_GOODS[i, value] <= HELD[code, value]
                if fits:
                    worth = float(SET_PROFIT[i])
                    if stage > 0:
                        worth += fade * w[_UPGRADE] * (NUM_VALUES - SET_PROFIT[i])
                    worth += out[code - SET_CODE[i], merchants - SET_MERCHANTS[i]]
                    best = max(best, worth)
            out[code, merchants] = best


@njit
def _fill_spare(w: np.ndarray, stage: int, out: np.ndarray) -> None:
    fade = min(1.0, w[_MERCHANT_LAST] + w[_MERCHANT_RATE] * (stage - 1))
    for merchants in range(NUM_MERCHANTS + 1):
        rest = merchants % SET_SIZE
        worth = float(THREE_MERCHANTS_PROFIT * (merchants // SET_SIZE))
        if stage == 0:
            worth += TIE_BREAK * rest
        elif rest == 1:
            worth += fade * w[_MERCHANT_ONE]
        elif rest == 2:
            worth += fade * w[_MERCHANT_TWO]
        out[merchants] = worth


def make_valuation(weights: np.ndarray) -> Valuation:
    """Lay out the tables for weights [players, NUM_WEIGHTS]."""
    valuation = np.zeros(MAX_PLAYERS + 1, dtype=VALUATION)
    valuation["weights"] = weights
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        for stage in range(ROUNDS[players] + 1):
            _fill_goods(weights[players], stage, valuation["goods"][players, stage])
            _fill_spare(weights[players], stage, valuation["spare"][players, stage])
    return valuation


def weights_array(by_players: dict[str, dict[str, float]]) -> np.ndarray:
    """Named weights, as the data file has them, as one array; every name must be known and present."""
    weights = np.zeros((MAX_PLAYERS + 1, NUM_WEIGHTS))
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        named = by_players[str(players)]
        if set(named) != set(WEIGHT_NAMES):
            odd = ", ".join(sorted(set(named) ^ set(WEIGHT_NAMES)))
            raise ValueError(f"the weights for {players} players have missing or unknown names: {odd}")
        weights[players] = [named[name] for name in WEIGHT_NAMES]
    return weights


def named_weights(weights: np.ndarray) -> dict[str, dict[str, float]]:
    """The other way round, for writing the data file."""
    return {
        str(players): {name: round(float(weights[players, i]), 4) for name, i in INDEX.items()}
        for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)
    }


@cache
def load_valuation(name: str) -> Valuation:
    """The shipped weights of `greedy` or `heuristic`."""
    source = resources.files("byzanz_env.games.byzanz").joinpath(f"{name}_weights.json")
    return make_valuation(weights_array(json.loads(source.read_text(encoding="utf-8"))["weights"]))


# --- hands as codes ----------------------------------------------------------------------------------


@njit
def add_card(codes: np.ndarray, kind: int, count: int) -> None:
    """Add (or with a negative count take away) cards of one kind."""
    if kind == MERCHANT:
        codes[MERCHANTS] += count
    else:
        codes[kind // NUM_VALUES] += STRIDES[kind % NUM_VALUES] * count
    codes[SIZE] += count


@njit
def add_cards(codes: np.ndarray, observation: np.ndarray, start: int) -> None:
    """Add the cards counted by kind in `observation` from `start` on."""
    for good in range(NUM_TYPES):
        first = start + good * NUM_VALUES
        a, b = int(observation[first]), int(observation[first + 1])
        c, d = int(observation[first + 2]), int(observation[first + 3])
        codes[good] += a * 72 + b * 12 + c * 3 + d
        codes[SIZE] += a + b + c + d
    merchants = int(observation[start + NUM_GOODS])
    codes[MERCHANTS] += merchants
    codes[SIZE] += merchants


@njit
def hand_value(codes: np.ndarray, stage: int, table: Table, best: np.ndarray) -> float:
    """The worth of a hand as the best division into sets, pairs and single cards; `best` is scratch."""
    merchants = int(codes[MERCHANTS])
    worth = 0.0
    for good in range(NUM_TYPES):
        worth += float(table.goods[stage, codes[good], 0])
    if merchants == 0:
        return worth
    for total in range(merchants + 1):
        best[total] = table.spare[stage, total]
    for good in range(NUM_TYPES):
        code = codes[good]
        if code > 0:
            without = float(table.goods[stage, code, 0])
            for total in range(merchants, 0, -1):
                for used in range(1, min(total, USEFUL_MERCHANTS) + 1):
                    together = best[total - used] + float(table.goods[stage, code, used]) - without
                    best[total] = max(best[total], together)
    return worth + float(best[merchants])


@njit
def limited_value(codes: np.ndarray, stage: int, table: Table, best: np.ndarray) -> float:
    """The worth of a hand less what the hand limit (6.1) is going to cost."""
    worth = hand_value(codes, stage, table, best)
    size = int(codes[SIZE])
    if stage == 0 or size <= CROWD:
        return worth
    w = table.weights
    worth -= float(w[_CROWD]) * (min(size, HAND_LIMIT) - CROWD)
    excess = size - HAND_LIMIT
    if excess <= 0:
        return worth
    sets, pairs = 0, 0
    for good in range(NUM_TYPES):
        count = int(GOODS_IN[codes[good]])
        sets += count // SET_SIZE
        pairs += 1 if count % SET_SIZE == SET_SIZE - 1 else 0
    sets += min(pairs, int(codes[MERCHANTS]))
    sold = min(excess, SET_SIZE * sets)
    return worth - float(w[_FORCED]) * sold - float(w[_OVER]) * (excess - sold)
