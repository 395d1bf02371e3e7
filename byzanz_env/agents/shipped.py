"""The policies that come with byzanz_env: in `checkpoints/` of a checkout, or where the wheel puts them."""

from __future__ import annotations

import sysconfig
from functools import lru_cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2] / "checkpoints"
INSTALLED = Path(sysconfig.get_path("data")) / "share" / "byzanz_env" / "checkpoints"


@lru_cache(maxsize=1)
def _paths() -> dict[str, Path]:
    for folder in (CHECKOUT, INSTALLED):
        found = {path.stem: path for path in sorted(folder.glob("*.safetensors"))}
        if found:
            return found
    return {}


def shipped_names() -> tuple[str, ...]:
    """Names of the shipped policies."""
    return tuple(_paths())


def path_of(name: str) -> Path:
    """The file of a shipped policy."""
    return _paths()[name]


def card_of(name: str) -> str:
    """The model card of a shipped policy, Markdown."""
    return path_of(name).with_suffix(".md").read_text(encoding="utf-8")
