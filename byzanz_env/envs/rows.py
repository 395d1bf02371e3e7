"""Rows of a batch: which are named, what they hold, and copies of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from byzanz_env.envs.arguments import check_players, is_integer
from byzanz_env.games.byzanz.actions import legal_actions, to_text
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.rules import NUM_ACTIONS, PHASES
from byzanz_env.games.byzanz.tables import find_repeated

SHOWN_LEGAL_ACTIONS = 8


def check_count(name: str, value: Any, least: int) -> int:
    if not is_integer(value) or int(value) < least:
        raise ValueError(f"{name} is {value!r}; it must be an integer from {least}")
    return int(value)


def check_tables(num_players: Any, rows: int) -> np.ndarray:
    if is_integer(num_players):
        return np.full(rows, check_players(num_players), dtype=np.int64)
    try:
        counts = [check_players(players) for players in num_players]
    except TypeError:
        raise ValueError(f"num_players is {num_players!r}; it is 3 to 6, or one number per row") from None
    if len(counts) != rows:
        raise ValueError(f"num_players has {len(counts)} numbers for {rows} rows")
    return np.array(counts, dtype=np.int64)


def take_rows(states: np.ndarray, rows: Any) -> np.ndarray:
    """Records by rows; numpy copies a record field by field, its bytes at once."""
    taken: np.ndarray = states.view(np.uint8).reshape(len(states), -1)[rows].view(STATE).reshape(-1)
    return taken


def put_rows(array: np.ndarray, source: np.ndarray, target: np.ndarray) -> None:
    rows = array.view(np.uint8).reshape(len(array), -1)
    rows[target] = rows[source]


def check_rows(rows: Any, seen: np.ndarray, repeats: bool = False) -> np.ndarray:
    """Row numbers as int64; `seen` is as long as the batch and all zero."""
    chosen = np.asarray(rows)
    if chosen.ndim != 1 or (len(chosen) and chosen.dtype.kind not in "iu"):
        raise ValueError(f"rows are a list of row numbers, not {chosen.dtype} of shape {chosen.shape}")
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(seen):
        raise ValueError(f"rows are numbers from 0 to {len(seen) - 1}")
    chosen = np.array(chosen, dtype=np.int64)
    if not repeats:
        place = find_repeated(chosen, seen)
        if place >= 0:
            raise ValueError(f"row {chosen[place]} is named twice")
    return chosen


def explain_illegal(row: int, seat: int, phase: int, action: int, mask: np.ndarray) -> str:
    """One sentence about an action that is not legal."""
    text = f" ({to_text(action)})" if 0 <= action < NUM_ACTIONS else ""
    legal = [f"{option.index} ({option.text})" for option in legal_actions(mask)]
    more = f" and {len(legal) - SHOWN_LEGAL_ACTIONS} more" if len(legal) > SHOWN_LEGAL_ACTIONS else ""
    return (
        f"row {row}: action {action}{text} is not legal for seat {seat} in phase {PHASES[phase]}; "
        f"legal are {', '.join(legal[:SHOWN_LEGAL_ACTIONS])}{more}"
    )
