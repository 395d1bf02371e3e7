"""Threads that share the rows of a batch and do not wait for the GIL.

They meet at a board, an array of words that compiled code changes atomically. The caller writes the work
on it and offers it; a thread that is awake takes the offer within a microsecond, one that sleeps is woken
and takes what is left when it comes. Every thread first does the rows of its own range, which its core
has in its cache, and then what others have left of theirs: so nobody waits for a late one. Rows are
independent, so the result depends neither on the number of threads nor on who did which row.

When one call followed quickly on the other, a thread looks out for the next offer for some microseconds;
otherwise, and after that, it sleeps. Threads are made when first needed, and again after a fork, which
copies none. Without the compiler the caller does all work.

Compiled code gets the arrays by their addresses, so that a call neither takes fifteen arrays from Python
nor counts references to them. The crew keeps the arrays alive.
"""

from __future__ import annotations

import os
import threading
import time
from queue import SimpleQueue

import numba
import numpy as np
from numba import carray

from byzanz_env._atomic import load, pointer, swap
from byzanz_env._jit import njit
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS
from byzanz_env.games.byzanz.tables import CHECK, ILLEGAL, SETTINGS, STEP, work_rows

SMALLEST = 128  # rows for each thread; with fewer a second one costs more than it brings
FEW = 16  # rows that are not divided further
LOOKS = 100_000  # at the board: then a thread sleeps, and a caller waits otherwise
SOON = 100e-6  # seconds between calls that make it worth to look out for the next one
PAUSE = 50e-6  # seconds between looks of a caller whose threads have no core

# The words of the caller, then those of each member; lines apart, so that cores do not fight for them.
LINE = 16
PLACE, NEXT, KIND, WANTED, COUNT, MEMBERS, PATIENCE = range(7)
ASLEEP, FREE, OFFERED, WORKING = range(4)  # in PLACE; FREE is awake, or about to be

_INT64, _INT8, _FLOAT32, _BOOL = np.int64, np.int8, np.float32, np.bool_


@njit
def _take(board: np.ndarray, owner: int, length: int) -> tuple[int, int]:
    """Half of what is left of a member's range, or the last few: where it begins and ends."""
    word = owner * LINE + NEXT
    while True:
        first = load(board, word)
        left = length - first
        size = left if board[MEMBERS] == 1 else max(min(left, FEW), left // 2)
        if left <= 0 or swap(board, word, first, first + size):
            return first, first + size


@njit
def gather(board: np.ndarray, members: int) -> bool:
    """Take back what nobody took; whether all members are done, after a while."""
    for member in range(1, members):
        swap(board, member * LINE + PLACE, OFFERED, FREE)
    for _ in range(LOOKS):
        working = False
        for member in range(1, members):
            working |= load(board, member * LINE + PLACE) == WORKING
        if not working:
            return True
    return False


@njit
def _post(board: np.ndarray, kind: int) -> None:
    """Offer work of this kind to the members that are awake."""
    members = board[MEMBERS]
    board[KIND] = kind
    for member in range(members):
        board[member * LINE + NEXT] = 0
    for member in range(1, members):
        swap(board, member * LINE + PLACE, FREE, OFFERED)


@njit
def _await_offer(board: np.ndarray, member: int, looks: int) -> bool:
    """Take the next offer; False, and asleep, if there is none while one looks so often."""
    place = member * LINE + PLACE
    while True:
        if load(board, place) == OFFERED and swap(board, place, OFFERED, WORKING):
            return True
        looks -= 1
        if looks < 0 and swap(board, place, FREE, ASLEEP):
            return False


@numba.njit(inline="always")  # type: ignore[untyped-decorator]
def _work(kind: int, at: np.ndarray, rows: int, start: int, stop: int) -> None:
    """`work_rows` on the arrays at these addresses; the last number is that of rows."""
    work_rows(
        kind,
        carray(pointer(at[0]), (rows,), STATE),
        carray(pointer(at[1]), (rows,), _INT64),
        carray(pointer(at[2]), (rows,), _INT64),
        carray(pointer(at[3]), (SETTINGS,), _INT64),
        carray(pointer(at[4]), (rows,), _INT64),
        carray(pointer(at[5]), (rows,), _INT64),
        carray(pointer(at[6]), (rows, OBSERVATION_SIZE), _INT8),
        carray(pointer(at[7]), (rows, NUM_ACTIONS), _INT8),
        carray(pointer(at[8]), (rows,), _INT64),
        carray(pointer(at[9]), (rows,), _INT64),
        carray(pointer(at[10]), (rows, MAX_PLAYERS), _FLOAT32),
        carray(pointer(at[11]), (rows,), _BOOL),
        carray(pointer(at[12]), (rows, MAX_PLAYERS), _INT64),
        carray(pointer(at[13]), (rows, MAX_PLAYERS), _FLOAT32),
        carray(pointer(at[14]), (rows,), STATE),
        start,
        stop,
    )


@njit
def serve(board: np.ndarray, member: int, at: np.ndarray, rows: int) -> bool:
    """The caller (0) does the work it wants, with the others; a member takes offers until none comes.

    A step comes after its check, and only if all its actions are legal. False if members are still at
    work. One function for all of it: each that contains the engine takes seconds to compile.
    """
    looks, kind, wanted = LOOKS, CHECK, board[WANTED]
    settings = carray(pointer(at[3]), (SETTINGS,), _INT64)
    if member == 0 and wanted != STEP:
        kind = wanted
    while True:
        if member == 0:
            _post(board, kind)
        elif not _await_offer(board, member, looks):
            return True
        kind, count, members = board[KIND], board[COUNT], board[MEMBERS]
        for turn in range(members):
            owner = (member + turn) % members
            start, stop = count * owner // members, count * (owner + 1) // members
            first, last = _take(board, owner, stop - start)
            while first < last:
                _work(kind, at, rows, start + first, start + last)
                first, last = _take(board, owner, stop - start)
        if member == 0:
            if not gather(board, members):
                return False
            if kind == wanted or settings[ILLEGAL] != 0:
                return True
            kind = wanted
        else:
            looks = LOOKS if kind == CHECK else board[PATIENCE]  # a check has a step after it
            swap(board, member * LINE + PLACE, WORKING, FREE)


class _Member(threading.Thread):
    """One thread besides the caller's; it holds the arrays, not the batch, which can go before it."""

    def __init__(
        self, number: int, board: np.ndarray, at: np.ndarray, arrays: tuple[np.ndarray, ...]
    ) -> None:
        super().__init__(name="byzanz-batch", daemon=True)
        self.error: BaseException | None = None
        self.wakes: SimpleQueue[bool] = SimpleQueue()  # False ends the thread
        self._number, self._board, self._at, self._arrays = number, board, at, arrays

    def run(self) -> None:
        while self.wakes.get():
            try:
                serve(self._board, self._number, self._at, len(self._arrays[0]))
            except BaseException as error:
                self.error = error
                self._board[self._number * LINE + PLACE] = ASLEEP

    def wake(self) -> None:
        if self._board[self._number * LINE + PLACE] == ASLEEP:
            self._board[self._number * LINE + PLACE] = FREE
            self.wakes.put(True)


class Crew:
    """`threads` threads, the caller's own among them, for work on these arrays of `work_rows`."""

    def __init__(self, threads: int, arrays: tuple[np.ndarray, ...]) -> None:
        self.threads = threads
        self._arrays = arrays
        self._at = np.array([array.ctypes.data for array in arrays], dtype=np.int64)
        self._board = np.zeros(threads * LINE, dtype=np.int64)
        self._members: list[_Member] = []
        self._process = 0
        self._finished = 0.0

    def run(self, kind: int, count: int) -> None:
        """Do work of this kind on the first `count` places; a step only if all its actions are legal."""
        if numba.config.DISABLE_JIT:
            self._run_plain(kind, count)
            return
        members = max(1, min(self.threads, count // SMALLEST))
        if members > 1 and self._process != os.getpid():
            self._start()
        board = self._board
        busy = self._members[: members - 1]
        for member in busy:
            member.wake()
        patience = LOOKS if time.perf_counter() - self._finished < SOON else 0
        self._arrays[3][ILLEGAL] = 0
        board[WANTED : PATIENCE + 1] = kind, count, members, patience
        try:
            while not serve(board, 0, self._at, len(self._arrays[0])):
                self._wait(members)
                if board[KIND] == kind:  # else only the check was done
                    break
        except BaseException:
            self._wait(members)
            raise
        self._finished = time.perf_counter()
        errors = [member.error for member in busy if member.error is not None]
        for member in busy:
            member.error = None
        if errors:
            raise errors[0]

    def _run_plain(self, kind: int, count: int) -> None:
        settings = self._arrays[3]
        settings[ILLEGAL] = 0
        if kind == STEP:
            work_rows(CHECK, *self._arrays, 0, count)
        if not settings[ILLEGAL]:
            work_rows(kind, *self._arrays, 0, count)

    def _wait(self, members: int) -> None:
        while not gather(self._board, members):
            time.sleep(PAUSE)

    def _start(self) -> None:
        self._process = os.getpid()
        self._board = np.zeros(self.threads * LINE, dtype=np.int64)
        self._members = [
            _Member(number, self._board, self._at, self._arrays) for number in range(1, self.threads)
        ]
        for member in self._members:
            member.start()

    def close(self) -> None:
        """End the threads; they start again when there is work."""
        for member in self._members:
            member.wakes.put(False)
        self._members = []
        self._process = 0
