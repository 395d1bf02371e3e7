"""The policies that come with byzanz_env: in `checkpoints/` of a checkout, or where the wheel puts them."""

from __future__ import annotations

import sysconfig
from functools import lru_cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2] / "checkpoints"
# Others follow by name; the first that was made for a table's number of players is the default opponent.
STRONGEST_FIRST = ("strong-4", "strong-5", "strong-6", "strong", "standard", "quick")
INSTALLED = Path(sysconfig.get_path("data")) / "share" / "byzanz_env" / "checkpoints"


@lru_cache(maxsize=1)
def _paths() -> dict[str, Path]:
    for folder in (CHECKOUT, INSTALLED):
        found = sorted(folder.glob("*.safetensors"), key=_place)
        if found:
            return {path.stem: path for path in found}
    return {}


def _place(path: Path) -> tuple[int, str]:
    known = path.stem in STRONGEST_FIRST
    return (STRONGEST_FIRST.index(path.stem) if known else len(STRONGEST_FIRST), path.stem)


def shipped_names() -> tuple[str, ...]:
    """Names of the shipped policies, the strongest first."""
    return tuple(_paths())


def path_of(name: str) -> Path:
    """The file of a shipped policy."""
    return _paths()[name]


def card_of(name: str) -> str:
    """The model card of a shipped policy, Markdown."""
    return path_of(name).with_suffix(".md").read_text(encoding="utf-8")
