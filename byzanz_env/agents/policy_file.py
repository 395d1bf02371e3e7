"""Policy files: one `.safetensors` in which any trained policy becomes an opponent.

The header holds two strings: `policy`, a JSON text (format, game, rules version, layout hash,
architecture, player counts, training, evaluation, licence), and `sha256`, a hash over that text and every
tensor. Reading never runs code, and everything is checked before use: sizes, names, shapes, dtypes,
finite numbers, hashes and versions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import safetensors
import safetensors.numpy

from byzanz_env.agents.network import Architecture
from byzanz_env.files import write_atomically
from byzanz_env.games.byzanz.observe import LAYOUT_HASH
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, MIN_PLAYERS, RULES_VERSION

FORMAT: Final = "byzanz-policy-1"
GAME: Final = "byzanz"
MAX_FILE_BYTES: Final = 64 * 2**20
MAX_HEADER_BYTES: Final = 64 * 2**10
MAX_NAME: Final = 200


class PolicyFileError(ValueError):
    """A policy file that cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class PolicyFile:
    """The contents of a policy file."""

    name: str
    architecture: Architecture
    tensors: Mapping[str, np.ndarray] = field(repr=False)
    players: tuple[int, ...] = (3, 4, 5, 6)  # counts it was trained for
    training: Mapping[str, Any] = field(default_factory=dict)
    evaluation: Mapping[str, Any] = field(default_factory=dict)
    licence: str = "MIT"
    sha256: str = ""


def save_policy(path: Path | str, policy: PolicyFile) -> str:
    """Write a policy file and return its hash; what could not be read again is refused."""
    check_name(Path(path), policy.name)
    text = json.dumps(
        {
            "format": FORMAT,
            "game": GAME,
            "rules": RULES_VERSION,
            "layout": LAYOUT_HASH,
            "name": policy.name,
            "architecture": asdict(policy.architecture),
            "players": list(policy.players),
            "training": policy.training,
            "evaluation": policy.evaluation,
            "licence": policy.licence,
        },
        sort_keys=True,
        allow_nan=False,
    )
    tensors = {
        name: np.ascontiguousarray(policy.tensors[name], dtype=np.float32) for name in policy.tensors
    }
    _check_tensors(Path(path), policy.architecture, tensors)
    digest = _digest(text, tensors)
    data = safetensors.numpy.save(tensors, metadata={"policy": text, "sha256": digest})
    _split_header(Path(path), data)
    write_atomically(Path(path), data)
    return digest


def read_policy(path: Path | str) -> PolicyFile:
    """Read and check a policy file."""
    path = Path(path)
    data = _read_bytes(path)
    header = _split_header(path, data)
    metadata = header.get("__metadata__")
    if not isinstance(metadata, dict) or set(metadata) != {"policy", "sha256"}:
        raise PolicyFileError(f"{path} is not a policy file of byzanz_env: its header lacks our metadata")
    try:
        described = json.loads(metadata["policy"])
        tensors = safetensors.numpy.load(data)
    except (ValueError, TypeError, KeyError, RecursionError, safetensors.SafetensorError) as error:
        raise PolicyFileError(f"{path} is damaged ({error}); get a fresh copy") from None
    if metadata["sha256"] != _digest(metadata["policy"], tensors):
        raise PolicyFileError(f"{path} is damaged: its contents do not fit its hash; get a fresh copy")
    return _interpret(path, described, tensors, metadata["sha256"])


def _read_bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise PolicyFileError(f"{path} has {size} bytes; a policy file has at most {MAX_FILE_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise PolicyFileError(f"cannot read the policy file {path}: {error.strerror}") from None


def _split_header(path: Path, data: bytes) -> dict[str, Any]:
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise PolicyFileError(f"{path} is not a whole safetensors file; get a fresh copy")
    if size > MAX_HEADER_BYTES:
        raise PolicyFileError(
            f"{path} has a header of {size} bytes; at most {MAX_HEADER_BYTES} are allowed"
        )
    try:
        header = json.loads(data[8 : 8 + size])
    except (ValueError, RecursionError):
        raise PolicyFileError(f"{path} has a damaged header; get a fresh copy") from None
    if not isinstance(header, dict):
        raise PolicyFileError(f"{path} has a damaged header; get a fresh copy")
    return header


def _digest(text: str, tensors: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {tensor.shape}\n".encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()


def _interpret(path: Path, described: Any, tensors: dict[str, np.ndarray], digest: str) -> PolicyFile:
    if (
        not isinstance(described, dict)
        or described.get("format") != FORMAT
        or described.get("game") != GAME
    ):
        kind = described.get("format") if isinstance(described, dict) else None
        raise PolicyFileError(f"{path} has format {kind!r}; this version of byzanz_env reads {FORMAT!r}")
    for key, ours, what in (("rules", RULES_VERSION, "rules"), ("layout", LAYOUT_HASH, "observation")):
        if described.get(key) != ours:
            raise PolicyFileError(
                f"{path} was made for {what} {described.get(key)!r}, this version has {ours!r}: "
                "install the version of byzanz_env that made it, or train and export it again"
            )
    try:
        wanted = dict(described["architecture"])
        architecture = Architecture(**{**wanted, "hidden": tuple(int(w) for w in wanted["hidden"])})
        players = tuple(int(n) for n in described["players"])
        name, licence = str(described["name"]), str(described["licence"])
        training, evaluation = dict(described["training"]), dict(described["evaluation"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise PolicyFileError(
            f"{path} describes a policy that this version does not know: {error}"
        ) from None
    if not players or not all(MIN_PLAYERS <= n <= MAX_PLAYERS for n in players):
        raise PolicyFileError(f"{path} names impossible player counts {players}")
    check_name(path, name)
    _check_tensors(path, architecture, tensors)
    return PolicyFile(name, architecture, tensors, players, training, evaluation, licence, digest)


def check_name(path: Path, name: str) -> None:
    """Names are printed in terminals, where other characters than these could forge lines."""
    if not name.isprintable() or not 0 < len(name) <= MAX_NAME:
        raise PolicyFileError(f"{path}: a policy has a name of 1 to {MAX_NAME} printable characters")


def _check_tensors(path: Path, architecture: Architecture, tensors: Mapping[str, np.ndarray]) -> None:
    shapes = architecture.shapes
    if set(tensors) != set(shapes):
        odd: Sequence[str] = sorted(set(tensors) ^ set(shapes))
        raise PolicyFileError(f"{path}: the tensors do not fit the architecture (see {', '.join(odd[:4])})")
    for name, shape in shapes.items():
        tensor = tensors[name]
        if tensor.shape != shape or tensor.dtype != np.float32:
            raise PolicyFileError(
                f"{path}: tensor {name} is {tensor.dtype} {tensor.shape}, expected float32 {shape}"
            )
        if not np.isfinite(tensor).all():
            raise PolicyFileError(f"{path}: tensor {name} holds numbers that are not finite")
