"""What is measured: cases that do something over and over, run in turns, and the median of their rates."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Run = Callable[[float], tuple[int, float]]  # seconds -> how many were done, in how many timed seconds


@dataclass
class Case:
    """One line of a table. `make` prepares it and returns the function that runs it."""

    group: str
    name: str
    make: Callable[[], Run]
    unit: str = "decisions/s"
    cores: int = 1
    note: str = ""
    run: Run | None = None
    rates: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)  # of the cores it may use, how much it got
    problem: str = ""

    @property
    def rate(self) -> float:
        return statistics.median(self.rates) if self.rates else 0.0


def allow_cores(count: int) -> None:
    """Let this thread, and those it starts, run on so many cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(ALL_CORES[-count:]))


ALL_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


def measure(cases: list[Case], seconds: float, repetitions: int, say: Callable[[str], None]) -> None:
    """Run all cases in turns, so that a busy minute of the machine hits all alike."""
    for case in cases:
        allow_cores(case.cores)
        try:
            case.run = case.make()
            case.run(min(seconds, 0.2))  # warm-up: compilation, caches
        except Exception as error:  # a peer may fail in any way; that is a line of the table
            case.run = None
            case.problem = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
            say(f"{case.name}: not measured ({case.problem})")
    for repetition in range(repetitions):
        say(f"repetition {repetition + 1} of {repetitions}")
        for case in cases:
            if case.run is not None:
                allow_cores(case.cores)
                cpu, wall = time.process_time(), time.perf_counter()
                count, elapsed = case.run(seconds)
                share = (time.process_time() - cpu) / (time.perf_counter() - wall) / case.cores
                case.rates.append(count / elapsed)
                case.share.append(share)
    allow_cores(len(ALL_CORES))
