"""A running environment as bytes and back: magic, version, settings, rewards due, the record, SHA-256.

`unpack` believes nothing: a blob that is damaged, foreign, or no position of the game raises ValueError.
Nothing in a blob can run code.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, OVER, RULES_VERSION
from byzanz_env.games.byzanz.soundness import FAULTS, SOUND, find_fault
from byzanz_env.games.byzanz.tables import REWARDS

MAGIC: Final = b"BYZANZ\r\n"
VERSION: Final = 1
_RECORD: Final = hashlib.sha256(repr((RULES_VERSION, STATE.descr)).encode()).digest()[:8]
_HEAD: Final = struct.Struct("<8sH8sBBB6d6d")
_DIGEST_SIZE: Final = 32
SIZE: Final = _HEAD.size + STATE.itemsize + _DIGEST_SIZE


@dataclass(frozen=True)
class Save:
    """The content of a blob."""

    game: np.ndarray  # [1] STATE
    reward: int  # number in REWARDS
    skip_forced: bool
    present: tuple[bool, ...]  # seats that have not yet taken their last step
    rewards: tuple[float, ...]  # of the last step, by seat
    due: tuple[float, ...]  # collected by each seat since its own last step


def pack(save: Save) -> bytes:
    """The bytes of a save."""
    present = sum(1 << seat for seat, there in enumerate(save.present) if there)
    head = _HEAD.pack(
        MAGIC, VERSION, _RECORD, save.reward, save.skip_forced, present, *save.rewards, *save.due
    )
    body = head + save.game.tobytes()
    return body + hashlib.sha256(body).digest()


def unpack(blob: bytes) -> Save:
    """The save of some bytes, or a ValueError that says what is wrong with them."""
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise ValueError(f"a save is bytes, not {type(blob).__name__}")
    data = bytes(blob)
    if not data.startswith(MAGIC):
        raise ValueError("this is not a saved game of Byzanz: it does not begin like one")
    if len(data) != SIZE:
        raise ValueError(f"this saved game is damaged: it has {len(data)} bytes instead of {SIZE}")
    if hashlib.sha256(data[:-_DIGEST_SIZE]).digest() != data[-_DIGEST_SIZE:]:
        raise ValueError("this saved game is damaged: its checksum is wrong")
    _, version, record, reward, forced, present, *numbers = _HEAD.unpack_from(data)
    if version != VERSION or record != _RECORD:
        raise ValueError(
            "this saved game is of another version of byzanz_env and cannot be read by this one"
        )
    game = np.frombuffer(data, dtype=STATE, count=1, offset=_HEAD.size).copy()
    _, fault = find_fault(game)
    if fault != SOUND:
        raise ValueError(f"this saved game {FAULTS[fault]}: it cannot be played on")
    wrong = _find_wrong_head(game, reward, forced, present, numbers)
    if wrong is not None:
        raise ValueError(f"this saved game cannot be played on: {wrong} cannot be right")
    return Save(
        game=game,
        reward=reward,
        skip_forced=bool(forced),
        present=tuple(bool(present >> seat & 1) for seat in range(MAX_PLAYERS)),
        rewards=tuple(numbers[:MAX_PLAYERS]),
        due=tuple(numbers[MAX_PLAYERS:]),
    )


def _find_wrong_head(
    game: np.ndarray, reward: int, forced: int, present: int, numbers: list[float]
) -> str | None:
    everybody = (1 << int(game[0].players)) - 1
    if reward >= len(REWARDS) or forced > 1:
        return "a setting"
    if present & ~everybody or (game[0].phase != OVER and present != everybody):
        return "who is present"
    if not all(math.isfinite(number) for number in numbers):
        return "a reward"
    return None
