"""What people would use instead, through its fastest public Python route, with mask and observation.

Every library is imported only when its case is made: one that is not installed is reported as such.
"""

from __future__ import annotations

import importlib
import random
import time
from functools import partial
from typing import Any

import numpy as np

from byzanz_env.bench.case import Case, Run
from byzanz_env.bench.ours import AEC, BATCH, aec_loop

PACKAGES = ("pettingzoo", "open_spiel", "rlcard", "pgx", "jax")
PETTINGZOO: tuple[tuple[str, dict[str, Any]], ...] = (
    ("leduc_holdem_v4", {}),
    ("texas_holdem_v4", {"num_players": 4}),
    ("texas_holdem_no_limit_v6", {"num_players": 4}),
)
OPEN_SPIEL = ("hearts", "gin_rummy")
RLCARD = ("doudizhu", "uno")
PGX = (("leduc_holdem", 1024), ("sparrow_mahjong", 1024), ("sparrow_mahjong", 8192))


def _pettingzoo(name: str, arguments: dict[str, Any]) -> Run:
    module = importlib.import_module(f"pettingzoo.classic.{name}")
    return aec_loop(lambda: module.raw_env(**arguments))


def _open_spiel(name: str) -> Run:
    """`make_observation` writes into one numpy buffer; chance is played but not counted."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game(name)
    perfect_recall = pyspiel.IIGObservationType(perfect_recall=True)
    observation = make_observation(game) or make_observation(game, perfect_recall)
    mask = np.zeros(game.num_distinct_actions(), dtype=np.int8)
    rng = random.Random(1)

    def play_one() -> int:
        decisions = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            if state.is_chance_node():
                state.apply_action(rng.choice(legal))
                continue
            mask[:] = 0
            mask[legal] = 1
            observation.set_from(state, state.current_player())
            state.apply_action(rng.choice(legal))
            decisions += 1
        return decisions

    return _play_games(play_one)


def _rlcard(name: str) -> Run:
    """`step` returns the observation and the legal actions of the next player."""
    import rlcard

    env = rlcard.make(name)
    rng = random.Random(1)

    def play_one() -> int:
        decisions = 0
        state, _ = env.reset()
        while not env.is_over():
            state, _ = env.step(rng.choice(list(state["legal_actions"])))
            decisions += 1
        return decisions

    return _play_games(play_one)


def _play_games(play_one: Any) -> Run:
    def run(seconds: float) -> tuple[int, float]:
        decisions, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            decisions += play_one()
        return decisions, time.perf_counter() - start

    return run


def _pgx(name: str, games: int) -> Run:
    """One compiled call chooses random legal actions and steps the whole batch, with auto-reset."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit  # type: ignore[untyped-decorator]
    def advance(state: Any, key: Any) -> tuple[Any, Any]:
        key, choice, chance = jax.random.split(key, 3)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        actions = jax.random.categorical(choice, logits, axis=-1)
        return step(state, actions, jax.random.split(chance, games)), key

    key = jax.random.PRNGKey(0)
    held = [jax.jit(jax.vmap(env.init))(jax.random.split(key, games)), key]

    def run(seconds: float) -> tuple[int, float]:
        decisions, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            held[0], held[1] = advance(held[0], held[1])
            jax.block_until_ready(held[0].observation)
            decisions += games
        return decisions, time.perf_counter() - start

    return run


def cases() -> list[Case]:
    """All peers; each is asked for a mask and an observation at every decision."""
    found = []
    for name, arguments in PETTINGZOO:
        players = f", {arguments['num_players']} players" if arguments else ""
        found.append(Case(AEC, f"pettingzoo {name}{players}", partial(_pettingzoo, name, arguments)))
    for name in OPEN_SPIEL:
        found.append(Case(BATCH, f"open_spiel {name}", partial(_open_spiel, name), note="one game"))
    for name in RLCARD:
        found.append(Case(BATCH, f"rlcard {name}", partial(_rlcard, name), note="one game"))
    for name, games in PGX:
        label = f"pgx {name}, {games:,} games"
        found.append(Case(BATCH, label, partial(_pgx, name, games), note="batched, CPU"))
    return found
