"""The cases of the opponents: answers of each kind of agent, and whole games in the arena."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from itertools import count, cycle

import numpy as np

from byzanz_env.agents import load
from byzanz_env.agents.network import Architecture
from byzanz_env.agents.policy import PolicyAgent, PolicyFile
from byzanz_env.arena.match import Match
from byzanz_env.arena.tournament import run as run_match
from byzanz_env.bench.case import Case, Run
from byzanz_env.bench.ours import PLAYERS
from byzanz_env.decisions import Agent, Decisions

ANSWERS = "Agents: answers to decisions of four players who play well"
ARENA = "Arena: heuristic against three greedy, every deal in every seat"
BATCH = 1024
ARENA_DEALS = 250
SCRIPTED = ("random", "greedy", "heuristic")
SEARCHES = ("montecarlo:256", "ismcts:200")


class _Listener:
    """Plays like another agent and keeps what it was asked."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name = agent, agent.name
        self.heard: list[Decisions] = []

    def act(self, decisions: Decisions) -> np.ndarray:
        self.heard.append(decisions)
        return self.agent.act(decisions)


@cache
def sample() -> tuple[np.ndarray, ...]:
    """The columns of a batch of decisions from all parts of some games, in random order."""
    listener = _Listener(load("heuristic"))
    match = Match("duel", PLAYERS, 0, (listener.name, f"{listener.name} (2)"))
    run_match(match, [[listener, listener]], deals=4)
    names = ("observations", "masks", "keys", "_states")
    columns = [np.concatenate([getattr(heard, name) for heard in listener.heard]) for name in names]
    rows = np.random.default_rng(0).permutation(len(columns[0]))[:BATCH]
    return tuple(column[rows] for column in columns)


def answers(make: Callable[[], Agent], at_once: int) -> Run:
    """Ask an agent for so many answers at a time."""
    agent = make()
    starts = range(0, BATCH, at_once)
    parts = cycle([Decisions(*(column[i : i + at_once] for column in sample())) for i in starts])

    def run(seconds: float) -> tuple[int, float]:
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            agent.act(next(parts))
            done += at_once
        return done, time.perf_counter() - start

    return run


def noise_policy(hidden: tuple[int, ...]) -> PolicyAgent:
    """A policy of a given size that has learned nothing: shipped ones may change theirs."""
    architecture = Architecture(hidden=hidden)
    rng = np.random.default_rng(0)
    tensors = {
        name: (rng.normal(size=shape) * (2 / shape[-1]) ** 0.5).astype(np.float32)
        for name, shape in architecture.shapes.items()
    }
    return PolicyAgent(PolicyFile("noise", architecture, tensors, (PLAYERS,), {}, {}))


def _arena(threads: int) -> Run:
    """Whole small matches, with everything but the report."""
    crews = [[load("heuristic"), load("greedy")] for _ in range(threads)]
    seeds = count()

    def run(seconds: float) -> tuple[int, float]:
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            match = Match("duel", PLAYERS, next(seeds), ("heuristic", "greedy"))
            done += run_match(match, crews, ARENA_DEALS).results.games
        return done, time.perf_counter() - start

    return run


def cases(cores: int) -> list[Case]:
    """All that is measured of the agents; the notes are the marks that they have to reach."""
    found = []
    for spec in SCRIPTED:
        make = partial(answers, partial(load, spec), BATCH)
        found.append(
            Case(ANSWERS, f"{spec}, {BATCH:,} at once", make, "answers/s", note="at least 200,000")
        )
    for spec in SEARCHES:
        make = partial(answers, partial(load, spec), 1)
        note = "at least 25: under 40 ms each"
        found.append(Case(ANSWERS, f"{spec}, one at a time", make, "answers/s", note=note))
    policy = partial(noise_policy, (256, 256))
    note = "at least 10,000: under 100 microseconds each"
    make = partial(answers, policy, 1)
    found.append(Case(ANSWERS, "policy of 256x2, one at a time", make, "answers/s", note=note))
    found.append(
        Case(ANSWERS, f"policy of 256x2, {BATCH:,} at once", partial(answers, policy, BATCH), "answers/s")
    )
    for threads in (1, 2):
        if threads <= cores:
            name = f"arena, {threads} thread{'s' * (threads > 1)}"
            note = "at least 334: 10,000 in 30 s" * (threads == 2)
            found.append(Case(ARENA, name, partial(_arena, threads), "games/s", threads, note))
    return found
