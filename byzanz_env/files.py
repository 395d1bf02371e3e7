"""Files that are whole or not there: written beside their place, flushed to disk, then renamed."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one, nothing between."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def must_be_writable(path: Path) -> None:
    """Raise now what writing this file would raise later, when hours of work could be lost to it."""
    folder = path.absolute().parent
    while not folder.exists():
        folder = folder.parent  # missing folders are made
    if path.is_dir():
        wrong, where = errno.EISDIR, path
    elif not folder.is_dir():
        wrong, where = errno.ENOTDIR, folder
    elif not os.access(folder, os.W_OK | os.X_OK):
        wrong, where = errno.EACCES, folder
    else:
        return
    raise OSError(wrong, os.strerror(wrong), str(where))


def sync_directory(path: Path) -> None:
    """Make renames within a directory last; a no-op where directories cannot be opened."""
    if os.name == "posix":
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
