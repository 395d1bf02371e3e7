"""Where games played by people are kept."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path


def replay_folder() -> Path:
    """Where games played by people are kept, when they do not say."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(base) / "byzanz_env" / "replays"


def fresh_path() -> Path:
    """A fresh name for a recorded game."""
    folder = replay_folder()
    folder.mkdir(parents=True, exist_ok=True)
    stem = datetime.now().strftime("%Y-%m-%d_%H%M%S")
    path, number = folder / f"{stem}.jsonl", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}_{number}.jsonl"
    return path
