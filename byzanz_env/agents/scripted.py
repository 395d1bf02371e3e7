"""The opponents that need no search and no file: random, greedy, heuristic."""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.decisions import Decisions
from byzanz_env.games.byzanz.bidding import SHEET
from byzanz_env.games.byzanz.bots import choose_random, choose_scripted
from byzanz_env.games.byzanz.valuation import Valuation, load_valuation


@njit
def _random_rows(masks: np.ndarray, seeds: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(masks)):
        out[row] = choose_random(masks[row], int(seeds[row]))


@njit
def _scripted_rows(
    observations: np.ndarray, masks: np.ndarray, v: Valuation, sheets: np.ndarray, out: np.ndarray
) -> None:
    for row in range(len(masks)):
        out[row] = choose_scripted(observations[row], masks[row], v, sheets[0])


class RandomAgent:
    """Any legal action, each as likely as the others."""

    name = "random"

    def act(self, decisions: Decisions) -> np.ndarray:
        actions = np.empty(len(decisions), dtype=np.int64)
        _random_rows(decisions.masks, decisions.seeds(), actions)
        return actions


class ScriptedAgent:
    """Plays by a valuation of hands: `greedy` or `heuristic`, by the shipped weights of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.valuation = load_valuation(name)

    def act(self, decisions: Decisions) -> np.ndarray:
        actions = np.empty(len(decisions), dtype=np.int64)
        _scripted_rows(
            decisions.observations, decisions.masks, self.valuation, np.empty(1, dtype=SHEET), actions
        )
        return actions
