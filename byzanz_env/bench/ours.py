"""The cases of this library: the PettingZoo door, the engine, BatchEnv, copies, saves and rollouts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from byzanz_env import BatchEnv, byzanz_v0
from byzanz_env._random import seed_generator
from byzanz_env.bench.case import Case, Run
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.tables import play_out, random_actions, step_rows

SIZES = (64, 1024, 16384)
AEC = "One game, PettingZoo loop: last(), a random legal action, step()"
BATCH = "Many games: action applied, mask and observation of the next decision"
OTHER = "Copies, saves and rollouts of 1,024 games"
PLAYERS = 4


def aec_loop(make_env: Callable[[], Any]) -> Run:
    """The loop that everybody writes for PettingZoo; the same for all its games.

    Seeded once: in PettingZoo's own games a seeded reset costs more than a whole short game.
    """
    env = make_env()
    env.reset(seed=1)
    pick = random.Random(1).random

    def run(seconds: float) -> tuple[int, float]:
        decisions, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            env.reset()
            while env.agents:
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(int(legal[int(pick() * len(legal))]))
                decisions += 1
        return decisions, time.perf_counter() - start

    return run


def _generator() -> np.ndarray:
    rng = np.empty(4, dtype=np.uint32)
    seed_generator(rng, 1, 0)
    return rng


def batch_loop(games: int, threads: int, count_choice: bool = False) -> Callable[[], Run]:
    """Step BatchEnv with random legal actions; choosing them is timed only with `count_choice`.

    The threads that step rows also choose for them: rows that wander between cores cost half the speed.
    """

    def make() -> Run:
        env = BatchEnv(games, PLAYERS, threads=threads)
        env.reset()

        def run(seconds: float) -> tuple[int, float]:
            timed, steps, start = 0.0, 0, time.perf_counter()
            while time.perf_counter() - start < seconds:
                chosen = time.perf_counter()
                actions = env.sample_actions(steps)
                begun = time.perf_counter()
                env.step(actions)
                timed += time.perf_counter() - (chosen if count_choice else begun)
                steps += 1
            return steps * games, timed

        return run

    return make


def _engine_loop() -> Run:
    """The compiled loop alone, without the checks of the Python API."""
    env = BatchEnv(1024, PLAYERS)
    env.reset()
    rng, actions = _generator(), np.zeros(1024, dtype=np.int64)
    arguments = (env._states, np.arange(1024), actions, *env._dealt, *env._shown, *env._kept, 0, 1024)

    def run(seconds: float) -> tuple[int, float]:
        timed, steps, start = 0.0, 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            random_actions(env.action_masks, rng, actions)
            begun = time.perf_counter()
            step_rows(*arguments)
            timed += time.perf_counter() - begun
            steps += 1
        return steps * 1024, timed

    return run


def _repeat(action: Callable[[], object], count: int) -> Run:
    def run(seconds: float) -> tuple[int, float]:
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            action()
            done += count
        return done, time.perf_counter() - start

    return run


def _played() -> BatchEnv:
    env = BatchEnv(1024, PLAYERS)
    env.reset()
    rng, actions = _generator(), np.zeros(1024, dtype=np.int64)
    for _ in range(100):
        random_actions(env.action_masks, rng, actions)
        env.step(actions)
    return env


def _save() -> Run:
    return _repeat(_played().save, 1024)


def _restore() -> Run:
    env = _played()
    saved = env.save()
    return _repeat(lambda: env.restore(saved), 1024)


def _copy_rows() -> Run:
    env, rows = _played(), np.arange(512)
    return _repeat(lambda: env.copy_rows(rows, rows + 512), 512)


def _rollouts() -> Run:
    env = BatchEnv(1024, PLAYERS)
    env.reset()
    start = env.states.copy()
    games = np.zeros(1024, dtype=STATE)
    seeds = iter(range(10**9))

    def roll() -> None:
        games[:] = start
        play_out(games, next(seeds))

    return _repeat(roll, 1024)


def cases(cores: int) -> list[Case]:
    """All that is measured of this library on a machine with so many cores."""
    found = [Case(AEC, "byzanz_v0.raw_env, 4 players", lambda: aec_loop(byzanz_v0.raw_env))]
    found.append(Case(BATCH, "engine, 1,024 games", _engine_loop, note="compiled loop, no checks"))
    for threads in (1, 2):
        for games in SIZES:
            name = f"BatchEnv, {games:,} games, {threads} thread{'s' * (threads > 1)}"
            if threads <= cores:
                found.append(Case(BATCH, name, batch_loop(games, threads), cores=threads))
    counted = batch_loop(1024, 1, count_choice=True)
    found.append(
        Case(BATCH, "BatchEnv, 1,024 games, 1 thread, with choice", counted, note="as peers are timed")
    )
    found.append(Case(OTHER, "save", _save, "games/s"))
    found.append(Case(OTHER, "restore, every record checked", _restore, "games/s"))
    found.append(Case(OTHER, "copy_rows", _copy_rows, "games/s"))
    found.append(Case(OTHER, "random rollouts from the deal to the end", _rollouts, "games/s"))
    return found


def memory() -> dict[str, float]:
    """KiB of 1,024 games: what a BatchEnv keeps, and the arrays it shows."""
    env = BatchEnv(1024, PLAYERS)
    names = ("observations", "action_masks", "seats", "rewards", "dones", "scores", "winners")
    shown = sum(getattr(env, name).nbytes for name in names)
    own = [value for value in vars(env).values() if isinstance(value, np.ndarray) and value.base is None]
    return {"kept": (sum(array.nbytes for array in own) - shown) / 1024, "shown": shown / 1024}
