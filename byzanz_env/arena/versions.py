"""What a result was made with: version of the library, and a hash of all that decides a game."""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from byzanz_env.games.byzanz.observe import LAYOUT_HASH
from byzanz_env.games.byzanz.rules import RULES_VERSION

PACKAGE = Path(__file__).resolve().parents[1]
DECISIVE = (
    *("_random.py", "decisions.py", "games/**/*.py", "games/**/*.json", "agents/**/*.py"),
    *("arena/kernels.py", "arena/match.py", "arena/play.py", "envs/rows.py"),
)


def library_version() -> str:
    try:
        return version("byzanz-env")
    except PackageNotFoundError:
        return "unknown"


@lru_cache(maxsize=1)
def code_hash() -> str:
    """Changes with rules, agents and weights, and with how a match is dealt: others may end otherwise."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in DECISIVE for path in PACKAGE.glob(pattern)}):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """All of it, for a report."""
    return {
        "byzanz_env": library_version(),
        "code": code_hash(),
        "rules": RULES_VERSION,
        "observation_layout": LAYOUT_HASH,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
