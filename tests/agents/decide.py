"""Decisions of a single game, as agents get them, and positions from play of every kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byzanz_env.agents import load
from byzanz_env.decisions import Agent, Decisions
from byzanz_env.games.byzanz.rules import NUM_ACTIONS
from tests.byzanz.positions import Played

KEY = 20_081_117


def decisions_of(games: Sequence[Played], key: int = KEY) -> Decisions:
    """The decisions that these games wait for, all with the same key."""
    masks = np.zeros((len(games), NUM_ACTIONS), dtype=np.int8)
    for row, game in enumerate(games):
        masks[row, game.legal()] = 1
    observations = np.stack([game.observe(game.seat) for game in games])
    keys = np.full(len(games), key, dtype=np.int64)
    return Decisions(observations, masks, keys, np.concatenate([game.games for game in games]))


def answer(agent: Agent, game: Played, key: int = KEY) -> int:
    actions = agent.act(decisions_of([game], key))
    assert actions.dtype == np.int64
    assert actions.shape == (1,)
    return int(actions[0])


def positions(players: int, seed: int, every: int = 1) -> list[Played]:
    """Positions of one game in which random play and good play take turns, so that odd ones come up."""
    game = Played(players, seed=seed)
    lively, sound = load("random"), load("heuristic")
    found = []
    moves = 0
    while not game.over:
        if moves % every == 0:
            found.append(game.copy())
        wild = moves % 29 < 9
        game.step(answer(lively if wild else sound, game, KEY + moves))
        moves += 1
    return found
