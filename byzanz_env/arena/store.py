"""Finished deals on disk, one JSON line each, so that a match can be stopped and taken up again.

The first line holds what makes a result what it is (agents, players, seed, rules); a file with other
settings is refused. Lines are only ever added. A last line that was cut off is dropped, its deal is played
again; any other damage is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from byzanz_env.arena.match import DealResult, Match

FORMAT = "byzanz-arena-deals-1"


class StoreError(ValueError):
    """A file of finished deals that cannot be used for this match."""


class Store:
    """An append-only file of finished deals; `finished` holds those found when it was opened."""

    def __init__(self, path: str | Path, match: Match, settings: Mapping[str, Any]) -> None:
        self.path, self.match = Path(path), match
        self.settings = dict(settings)
        self.header = {"format": FORMAT, "settings": self.settings, "sha256": settings_hash(settings)}
        self.finished: dict[int, DealResult] = {}
        keep = self._read() if self.path.exists() else 0
        self._file: BinaryIO = open(self.path, "ab")  # noqa: SIM115  closed by close()
        if self._file.tell() > keep:
            self._file.truncate(keep)  # the torn end
        if keep == 0:
            self._write(self.header)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def add(self, result: DealResult) -> None:
        """Write a finished deal; it survives the end of this process from here on."""
        self._write({"deal": result.deal, "points": result.points, "ranks": result.ranks})
        self.finished[result.deal] = result

    def _write(self, value: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(value, separators=(",", ":")).encode() + b"\n")
        self._file.flush()

    def _read(self) -> int:
        """Read the finished deals and return how many bytes of the file are whole lines."""
        content = self.path.read_bytes()
        keep = content.rfind(b"\n") + 1
        lines = content[:keep].splitlines()
        if not lines:
            if content:
                raise StoreError(f"{self.path} is not a file of finished deals: choose another name")
            return 0
        self._check_header(lines[0])
        for number, line in enumerate(lines[1:], start=2):
            try:
                result = parse_deal(line, self.match)
            except (ValueError, KeyError, TypeError) as error:
                where = f"line {number} of {self.path} is damaged ({error})"
                raise StoreError(f"{where}: remove that line, and its deal is played again") from error
            if self.finished.setdefault(result.deal, result) != result:
                raise StoreError(
                    f"{self.path} has two different results for deal {result.deal}: start a new file"
                )
        return keep

    def _check_header(self, line: bytes) -> None:
        try:
            header = json.loads(line)
        except ValueError:
            header = None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise StoreError(f"{self.path} is not a file of finished deals ({FORMAT}): choose another name")
        if header.get("sha256") == self.header["sha256"]:
            return
        there: dict[str, Any] = header.get("settings") or {}
        here = self.settings
        names = [name for name in sorted({*there, *here}) if there.get(name) != here.get(name)]
        raise StoreError(
            f"{self.path} belongs to another match (other {', '.join(names) or 'settings'}): "
            "choose another file, or the settings it was made with"
        )


def settings_hash(settings: Mapping[str, Any]) -> str:
    """A hash of the settings that does not depend on their order."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def parse_deal(line: bytes, match: Match) -> DealResult:
    """Read one line of finished deals, and check that it can be one of this match."""
    value = json.loads(line)
    deal, n = value["deal"], match.players
    if not isinstance(deal, int) or deal < 0:
        raise ValueError("no deal number")
    tables = len(match.lineups(deal))

    def games(name: str, kinds: tuple[type, ...]) -> tuple[tuple[tuple[Any, ...], ...], ...]:
        nested = tuple(tuple(tuple(game) for game in table) for table in value[name])
        if len(nested) != tables or any(len(table) != n for table in nested):
            raise ValueError(f"wrong number of {name}")
        for game in (game for table in nested for game in table):
            if len(game) != n or not all(isinstance(number, kinds) for number in game):
                raise ValueError(f"wrong {name}")
        return nested

    points, ranks = games("points", (int,)), games("ranks", (int, float))
    if any(sum(game) * 2 != n * (n - 1) for table in ranks for game in table):
        raise ValueError("impossible ranks")
    return DealResult(deal, points, ranks)
