"""Checkpoints that survive a kill or a full disk at any moment.

A checkpoint is a folder `checkpoint-000123` with arrays (safetensors), a table (JSON) and a manifest of
sizes and hashes, written last. It is made under a temporary name, flushed, and renamed; the last three are
kept; leftovers are swept at the next start. A damaged one is passed over for the one before it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import safetensors
import safetensors.numpy

from byzanz_env.files import sync_directory

FORMAT: Final = "byzanz-checkpoint-1"
PREFIX: Final = "checkpoint-"
KEPT: Final = 3
ARRAYS, TABLE, MANIFEST = "arrays.safetensors", "table.json", "MANIFEST.json"


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message says which and why."""


def save(folder: Path, number: int, arrays: Mapping[str, np.ndarray], table: Mapping[str, Any]) -> Path:
    """Write checkpoint `number` and drop all but the newest three.

    A whole one of that number stays as it is: it is of the same update. A damaged one is replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    final = folder / f"{PREFIX}{number:08d}"
    if final.exists():
        try:
            load(final)
        except CheckpointError:
            shutil.rmtree(final)
        else:
            return final
    temporary = folder / f".{final.name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        solid = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        contents = {
            ARRAYS: safetensors.numpy.save(solid),
            TABLE: json.dumps(table, allow_nan=False).encode(),
        }
        manifest = {
            "format": FORMAT,
            "files": {
                name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
                for name, data in contents.items()
            },
        }
        contents[MANIFEST] = json.dumps(manifest).encode()
        for name, data in contents.items():
            _write_and_flush(temporary / name, data)
        sync_directory(temporary)
        os.rename(temporary, final)
        sync_directory(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    for old in numbers(folder)[:-KEPT]:
        shutil.rmtree(folder / f"{PREFIX}{old:08d}", ignore_errors=True)
    return final


def _write_and_flush(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def numbers(folder: Path) -> list[int]:
    """The numbers of all checkpoints, oldest first."""
    if not folder.is_dir():
        return []
    names = (path.name for path in folder.iterdir() if path.is_dir())
    return sorted(
        int(name[len(PREFIX) :])
        for name in names
        if name.startswith(PREFIX) and name[len(PREFIX) :].isdigit()
    )


def sweep(folder: Path) -> None:
    """Remove what a killed process left half written."""
    if folder.is_dir():
        for leftover in folder.glob(f".{PREFIX}*.tmp"):
            shutil.rmtree(leftover, ignore_errors=True)


def load_newest(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any], list[str]] | None:
    """The newest whole checkpoint, with a sentence for each damaged one that was passed over."""
    complaints: list[str] = []
    for number in reversed(numbers(folder)):
        try:
            arrays, table = load(folder / f"{PREFIX}{number:08d}")
        except CheckpointError as error:
            complaints.append(f"{error}; falling back to the one before it")
            continue
        return arrays, table, complaints
    if complaints:
        raise CheckpointError("no checkpoint is whole: " + "; ".join(complaints))
    return None


def load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read and check one checkpoint."""
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
        if manifest["format"] != FORMAT:
            raise CheckpointError(f"{path} has format {manifest['format']!r}, not {FORMAT!r}")
        contents = {}
        for name in (ARRAYS, TABLE):
            data = (path / name).read_bytes()
            if hashlib.sha256(data).hexdigest() != manifest["files"][name]["sha256"]:
                raise CheckpointError(f"{path / name} is damaged: it does not fit its hash")
            contents[name] = data
        return safetensors.numpy.load(contents[ARRAYS]), json.loads(contents[TABLE])
    except CheckpointError:
        raise
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{path} is damaged ({error})") from None
