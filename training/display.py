"""What a person sees while a run is under way: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from training.config import Config
from training.evaluate import WinShare

PLAIN_LINE_SECONDS = 10.0
SMOOTHING = 0.9


class Display:
    """Speed, time left, and win shares against fixed opponents."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console()
        self._bar: Progress | None = None
        self._task: Any = None
        self._speed = 0.0
        self._shares = ""
        self._last_line = 0.0

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            columns = (BarColumn(24), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self._bar = Progress(*columns, console=self.console)
            self._bar.start()
            self._task = self._bar.add_task("starting", total=1.0)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()
            self._bar = None

    def progress(self, figures: dict[str, float], config: Config) -> None:
        """Show where the run stands."""
        speed = figures["speed"]
        self._speed = speed if not self._speed else SMOOTHING * self._speed + (1 - SMOOTHING) * speed
        left = max(0.0, config.decisions - figures["decisions"]) / self._speed
        text = (
            f"{figures['decisions'] / 1e6:.1f} of {config.decisions / 1e6:.1f} M decisions, "
            f"{self._speed / 1e3:.1f} k/s, {_duration(left)} left, entropy {figures['entropy']:.2f}"
            f"{self._shares}"
        )
        if self._bar:
            self._bar.update(
                self._task, completed=figures["decisions"] / config.decisions, description=text
            )
        elif time.monotonic() - self._last_line > PLAIN_LINE_SECONDS:
            self._last_line = time.monotonic()
            self.say(text)

    def evaluation(self, shares: Sequence[WinShare]) -> None:
        """Remember the newest win shares for the next lines."""
        parts = [
            f"{s.share:.0%} ±{s.half_width:.0%} against {s.players - 1} x {s.opponent}" for s in shares
        ]
        self._shares = ", wins " + ", ".join(parts) if parts else ""
        if not self._bar:
            self.say(f"evaluation: {', '.join(parts)}")

    def results(self, title: str, shares: Sequence[WinShare]) -> None:
        """The table at the end of a run."""
        table = Table(title=escape(title))
        for heading in ("players", "against", "win share", "95 % interval", "fair", "mean score", "games"):
            table.add_column(heading, justify="left" if heading == "against" else "right")
        for s in shares:
            table.add_row(
                str(s.players),
                escape(f"{s.players - 1} x {s.opponent}"),
                f"{s.share:.1%}",
                f"±{s.half_width:.1%}",
                f"{1 / s.players:.1%}",
                f"{s.score:.1f}",
                f"{s.deals * s.players:,}",
            )
        self.console.print(table)

    def say(self, sentence: str) -> None:
        self.console.print(sentence, highlight=False, soft_wrap=True, markup=False)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
