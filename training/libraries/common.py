"""What the scripts share: options, a fair evaluation against random opponents, the export, the result."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

from byzanz_env import BatchEnv
from byzanz_env.agents import load
from byzanz_env.decisions import Agent, Decisions
from byzanz_env.envs.seating import Seating

PLAYERS = 4
EVALUATION_GAMES = 1000
SHORT_GAMES = 200
RESULT = "RESULT "  # the last line of a script begins so; `make libraries` reads it


@dataclass(frozen=True)
class Options:
    """How long to train, and where to write the policy file."""

    seconds: float
    short: bool
    out: Path | None

    @property
    def games(self) -> int:
        return SHORT_GAMES if self.short else EVALUATION_GAMES


def read_options(what: str, words: Sequence[str] | None = None) -> Options:
    """`--seconds S`, `--short` for a quick run that only shows that it works, `--out FILE`."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--seconds", type=float, help="how long to train (60; 8 in short mode)")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--out", type=Path, help="write the policy as an opponent file, .safetensors")
    given = parser.parse_args(words)
    return Options(given.seconds or (8.0 if given.short else 60.0), given.short, given.out)


class Clock:
    """Counts steps until the time is up; compiles the engine first, so that this is not counted."""

    def __init__(self, seconds: float) -> None:
        evaluate(load("random"), games=2)
        self.seconds = seconds
        self.steps = 0
        self._start = time.perf_counter()

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self._start

    def is_up(self) -> bool:
        return self.elapsed >= self.seconds


class LogitsAgent:
    """Plays the legal action to which a function of observations [B, D] gives the highest number."""

    def __init__(self, name: str, logits: Callable[[np.ndarray], np.ndarray]) -> None:
        self.name = name
        self._logits = logits

    def act(self, decisions: Decisions) -> np.ndarray:
        numbers = self._logits(decisions.observations.astype(np.float32))
        best: np.ndarray = np.where(decisions.masks == 1, numbers, -np.inf).argmax(axis=1)
        return best


def evaluate(agent: Agent, games: int, players: int = PLAYERS, seed: int = 4242) -> tuple[float, float]:
    """Win share against random opponents in all seats alike, and its standard error.

    An illegal move of anybody raises IllegalActionError with its name.
    """
    env = BatchEnv(games, players, seed)
    env.reset()
    seating = Seating(env, [load("random"), agent])
    learners = np.arange(games) % players
    seating.agent_at[:] = 0
    seating.agent_at[np.arange(games), learners] = 1
    playing = np.arange(games)
    while len(playing):
        seating.answer(playing)
        playing = playing[env.games[playing] == 0]
    shares = env.winners[np.arange(games), learners]
    return float(shares.mean()), float(shares.std(ddof=1)) / math.sqrt(games)


def export(
    path: Path,
    name: str,
    hidden: Sequence[tuple[np.ndarray, np.ndarray]],
    policy: tuple[np.ndarray, np.ndarray],
    activation: str,
) -> None:
    """Write a plain MLP, given as (weight, bias) of its layers as torch has them, as an opponent file."""
    from byzanz_env.agents.network import Architecture
    from byzanz_env.agents.policy import PolicyFile, load_policy, save_policy

    tensors = {"policy.weight": policy[0], "policy.bias": policy[1]}
    for layer, (weight, bias) in enumerate(hidden):
        tensors |= {f"hidden.{layer}.weight": weight, f"hidden.{layer}.bias": bias}
    widths = tuple(len(bias) for _, bias in hidden)
    architecture = Architecture(widths, activation, canonical=False, outcome=False)
    save_policy(path, PolicyFile(name, architecture, tensors, players=(PLAYERS,)))
    share, error = evaluate(load_policy(path), SHORT_GAMES)
    print(f"{path}: loads as an opponent, wins {share:.2f} +- {1.96 * error:.2f} against random")


@dataclass(frozen=True)
class Result:
    """What a script found; the table of `make libraries` has one row for each."""

    library: str
    version: str
    script: str
    works: str
    steps_per_second: float
    win_share: float | None = None
    interval: float | None = None


def version_of(*packages: str) -> str:
    return ", ".join(metadata.version(package) for package in packages)


def finish(result: Result) -> None:
    """Print the result for people and, as the last line, for the runner."""
    if result.win_share is not None and result.interval is not None:
        low, high = result.win_share - result.interval, result.win_share + result.interval
        print(
            f"{result.library}: wins {result.win_share:.3f} (95 % interval {low:.3f} to {high:.3f}) "
            f"against random opponents; an even share is {1 / PLAYERS:.3f}"
        )
    print(f"{result.library}: {result.steps_per_second:,.0f} steps/s; no illegal move")
    print(RESULT + json.dumps(asdict(result)))
