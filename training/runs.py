"""The folder of a run: who works in it, what was measured, and how it ended.

    config.json  versions.json  metrics.jsonl  evaluations.jsonl  changes.jsonl
    checkpoints/  export/  replays/  plots/  tensorboard/

`metrics.jsonl` is the truth, one line per update; TensorBoard files and plots are made from it.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from byzanz_env.agents import load
from byzanz_env.files import write_atomically
from byzanz_env.games.byzanz.observe import LAYOUT_HASH
from byzanz_env.games.byzanz.rules import RULES_VERSION
from byzanz_env.machine import processor
from training.checkpoint import numbers
from training.config import Config, ConfigError, changed, from_table, to_table

TRAINER_VERSION = 3  # rises when a run that was begun before would go on otherwise than it would have
PACKAGES = ("byzanz-env", "numpy", "numba", "torch", "gymnasium", "pettingzoo")
CHANGEABLE = ("decisions", "save_minutes", "precision")
CHANGEABLE_SECTIONS = ("ppo", "reward", "evaluation")
CONDITIONS = {"rules": RULES_VERSION, "layout": LAYOUT_HASH, "trainer": TRAINER_VERSION}
SHAPES = ("ppo.steps",)  # what checkpoints hold depends on it


class RunError(RuntimeError):
    """A run folder that cannot be used; the message says why and what to do."""


class Run:
    """An open run folder; only one process at a time holds it."""

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.config = config
        self.checkpoints = folder / "checkpoints"
        self._lock = lock(folder)

    @classmethod
    def create(cls, folder: Path, config: Config) -> Run:
        """Make the folder of a new run."""
        folder.mkdir(parents=True, exist_ok=True)
        run = cls(folder, config)
        if numbers(run.checkpoints):  # a start that failed before its first checkpoint is no run yet
            run.close()
            raise RunError(
                f"{folder} already holds a run: resume it with --resume {folder}, or choose another"
            )
        _write_json(folder / "versions.json", versions())
        _write_json(folder / "config.json", to_table(config))
        return run

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Open the folder of a run that was begun before."""
        return cls(folder, read_config(folder))

    def close(self) -> None:
        os.close(self._lock)

    def change(self, changes: list[str]) -> None:
        """Go on with some `key=value` changes; they are noted in changes.jsonl.

        A changed length moves all schedules at once: they run from the start of the run to its new end.
        """
        for text in changes:
            if not changeable(text):
                raise ConfigError(
                    f"--resume cannot change {text.partition('=')[0]}; it can change "
                    f"{', '.join(CHANGEABLE)}, and the keys of {', '.join(CHANGEABLE_SECTIONS)} except "
                    f"{', '.join(SHAPES)}"
                )
        if changes:
            config = changed(self.config, changes)
            for spec in (*config.evaluation.opponents, *config.evaluation.final_opponents):
                load(spec)  # a wrong name is refused before it is noted
            self.config = config
            _write_json(self.folder / "config.json", to_table(self.config))
            when = time.strftime("%Y-%m-%d %H:%M:%S")
            newest = max(numbers(self.checkpoints), default=0)
            self.note("changes", {"when": when, "update": newest, "changes": changes})

    def differences(self) -> list[str]:
        """Packages and machine that are not those the run was begun with: the result may differ in bits."""
        before, now = json.loads((self.folder / "versions.json").read_bytes()), versions()
        given = {"python": before["python"], "machine": before["machine"], **before["packages"]}
        ours = {"python": now["python"], "machine": now["machine"], **now["packages"]}
        return [
            f"{name} {given.get(name)} then, {value} now"
            for name, value in ours.items()
            if given.get(name) != value
        ]

    # --- metrics ----------------------------------------------------------------------------------------

    def note(self, name: str, line: dict[str, Any]) -> None:
        """Append one line to `name`.jsonl."""
        with open(self.folder / f"{name}.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")

    def lines(self, name: str) -> list[dict[str, Any]]:
        """All whole lines of `name`.jsonl; a line torn by a kill is left out."""
        path = self.folder / f"{name}.jsonl"
        found = []
        if path.exists():
            for text in path.read_text(encoding="utf-8").splitlines():
                try:
                    found.append(json.loads(text))
                except ValueError:
                    continue
        return found

    def rewind(self, updates: int) -> None:
        """Forget lines of updates after the checkpoint that the run goes on from."""
        for name in ("metrics", "evaluations"):
            path = self.folder / f"{name}.jsonl"
            if path.exists():
                kept = [line for line in self.lines(name) if line["update"] <= updates]
                text = "".join(json.dumps(line) + "\n" for line in kept)
                write_atomically(path, text.encode())


def read_config(folder: Path) -> Config:
    """The configuration of a run that this version can go on with."""
    try:
        table = json.loads((folder / "config.json").read_bytes())
        made_by = json.loads((folder / "versions.json").read_bytes())
    except (OSError, ValueError):
        raise RunError(f"{folder} holds no run: config.json or versions.json cannot be read") from None
    for key, ours in CONDITIONS.items():
        if made_by.get(key) != ours:
            raise RunError(
                f"{folder} was made with {key} {made_by.get(key)!r}, this version has {ours!r}: "
                "go on with the version that made it, or start a new run"
            )
    try:
        return from_table(table)
    except ConfigError as error:
        raise RunError(f"{folder / 'config.json'} is of another version: {error}") from None


def changeable(change: str) -> bool:
    """Whether a run can go on from its checkpoints with this `key=value`."""
    key = change.partition("=")[0].strip()
    section, inside, _ = key.partition(".")
    return key in CHANGEABLE or (bool(inside) and section in CHANGEABLE_SECTIONS and key not in SHAPES)


def lock(folder: Path) -> int:
    """Keep every other process out of a folder until the handle is closed, or this process ends."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise RunError(
            f"another process is training in {folder}: wait for it or choose another folder"
        ) from None
    return handle


def _write_json(path: Path, table: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(table, indent=2) + "\n").encode())


def versions() -> dict[str, Any]:
    """What a run is made with."""
    return {
        **CONDITIONS,
        "python": platform.python_version(),
        "machine": f"{processor()}, {platform.machine()}, {os.cpu_count()} cores",
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "command": " ".join(sys.argv),
        "started": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
