"""A whole batch as bytes: a magic word, a SHA-256, the settings as JSON, then the arrays as they are.

Nothing in it can run code, and records are checked before compiled code sees them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.rules import OVER, RULES_VERSION
from byzanz_env.games.byzanz.soundness import check_games

MAGIC = b"BYZBAT01"
_HASH_SIZE = hashlib.sha256().digest_size
_LENGTH_SIZE = 4
_HEAD_SIZE = len(MAGIC) + _HASH_SIZE + _LENGTH_SIZE


def pack(settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """The bytes of a batch."""
    header = json.dumps({"rules": RULES_VERSION, "record": STATE.itemsize, **settings}).encode()
    body = b"".join(
        [len(header).to_bytes(_LENGTH_SIZE, "little"), header, *(a.tobytes() for a in arrays.values())]
    )
    return MAGIC + hashlib.sha256(body).digest() + body


def read_settings(data: bytes) -> dict[str, Any]:
    """The settings of saved bytes, after their magic word, hash and version are found right."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError(f"a saved batch is bytes, not {type(data).__name__}")
    data = bytes(data)
    if len(data) < _HEAD_SIZE or data[: len(MAGIC)] != MAGIC:
        raise ValueError("these bytes are no saved batch of Byzanz games")
    body = data[len(MAGIC) + _HASH_SIZE :]
    if hashlib.sha256(body).digest() != data[len(MAGIC) : len(MAGIC) + _HASH_SIZE]:
        raise ValueError("the saved batch is damaged: its checksum does not fit; use another copy")
    length = int.from_bytes(body[:_LENGTH_SIZE], "little")
    try:
        settings = json.loads(body[_LENGTH_SIZE : _LENGTH_SIZE + length])
    except ValueError:
        raise ValueError("the saved batch is damaged: its header cannot be read") from None
    if not isinstance(settings, dict):
        raise ValueError("the saved batch is damaged: its header cannot be read")
    rules, record = settings.pop("rules", None), settings.pop("record", None)
    if rules != RULES_VERSION or record != STATE.itemsize:
        raise ValueError(f"the saved batch is of rules {rules}, this version plays {RULES_VERSION}")
    return settings


def read_arrays(data: bytes, like: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of saved bytes, shaped as those of the batch that will take them."""
    data = bytes(data)
    length = int.from_bytes(data[_HEAD_SIZE - _LENGTH_SIZE : _HEAD_SIZE], "little")
    start = _HEAD_SIZE + length
    if len(data) - start != sum(array.nbytes for array in like.values()):
        raise ValueError("the saved batch is damaged: it does not have the size its settings ask for")
    arrays = {}
    for name, array in like.items():
        arrays[name] = np.frombuffer(data, array.dtype, array.size, start).reshape(array.shape)
        start += array.nbytes
    return arrays


def check_arrays(arrays: dict[str, np.ndarray], players: np.ndarray) -> None:
    """Raise ValueError unless the games can be played on at tables of these sizes."""
    states, finals = arrays["states"].copy(), arrays["finals"]
    check_games(states)
    if (states["players"] != players).any() or (states["phase"] == OVER).any():
        raise ValueError("the saved games do not fit the tables of their batch")
    ended = finals["players"] != 0
    check_games(finals[ended])
    if (finals["phase"][ended] != OVER).any() or (finals["players"][ended] != players[ended]).any():
        raise ValueError("the saved ends of games do not fit the tables of their batch")
    if (arrays["games"] < 0).any() or (arrays["game_seeds"] < 0).any():
        raise ValueError("the saved batch has a game number or seed below zero")
