"""Threads that share the rows of a batch: each runs the same compiled work on a range of its own.

The work releases the GIL, and rows are independent, so the result does not depend on the number of threads.
They are plain Python threads, made when first needed and again after a fork, which copies no threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

HEAD_START = 120  # rows that the caller steps in the time in which a thread wakes up

Work = Callable[..., None]  # (*arguments, start, stop) of a range of rows


@dataclass
class _Member:
    """One thread: `go` and `done` are handed over by release and taken by acquire."""

    go: threading.Lock = field(default_factory=threading.Lock)
    done: threading.Lock = field(default_factory=threading.Lock)
    work: Work | None = None
    arguments: tuple[Any, ...] = ()
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self.go.acquire()
        self.done.acquire()


def _serve(member: _Member) -> None:
    while True:
        member.go.acquire()
        if member.work is None:
            return
        try:
            member.work(*member.arguments)
        except BaseException as error:
            member.error = error
        member.work, member.arguments = None, ()
        member.done.release()


class Crew:
    """`threads` threads, the caller's own among them."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._members: list[_Member] = []
        self._process = 0

    def run(
        self,
        work: Work,
        arguments: tuple[Any, ...],
        count: int,
        smallest: int = 128,
        head_start: int = HEAD_START,
    ) -> None:
        """Run `work` over 0 .. count - 1 in ranges of at least `smallest`, and wait for all of them.

        The caller's own range is longer by `head_start`.
        """
        threads = min(self.threads, count // smallest)
        if threads < 2:
            work(*arguments, 0, count)
            return
        if self._process != os.getpid():
            self._start()
        head = min(head_start, count // 2)
        share = (count - head) // threads
        ends = [head + share * number for number in range(1, threads)] + [count]
        busy = self._members[: threads - 1]
        for number, member in enumerate(busy, start=1):
            member.work = work
            member.arguments = (*arguments, ends[number - 1], ends[number])
            member.go.release()
        try:
            work(*arguments, 0, ends[0])
        finally:
            for member in busy:
                member.done.acquire()
        errors = [member.error for member in busy if member.error is not None]
        for member in busy:
            member.error = None
        if errors:
            raise errors[0]

    def _start(self) -> None:
        self._process = os.getpid()
        self._members = [_Member() for _ in range(self.threads - 1)]
        for member in self._members:
            threading.Thread(target=_serve, args=(member,), name="byzanz-batch", daemon=True).start()

    def close(self) -> None:
        """End the threads; they start again when there is work."""
        if self._process == os.getpid():
            for member in self._members:
                member.go.release()
        self._members = []
        self._process = 0
