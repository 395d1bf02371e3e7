"""The opponents that look ahead in re-dealt games, guided by the heuristic: montecarlo:N and ismcts:N."""

from __future__ import annotations

import numpy as np

from byzanz_env.decisions import Decisions
from byzanz_env.games.byzanz.bots import SHEET
from byzanz_env.games.byzanz.search import DESK, EVIDENCE, monte_carlo_rows
from byzanz_env.games.byzanz.tree import tree_search_rows
from byzanz_env.games.byzanz.valuation import load_valuation

PRIOR = "heuristic"


class SearchAgent:
    """Searches `budget` play-outs for each decision; the same decision and key give the same answer."""

    def __init__(self, method: str, budget: int) -> None:
        self.name = f"{method}:{budget}"
        self._method = method
        self._budget = budget
        self._valuation = load_valuation(PRIOR)

    def act(self, decisions: Decisions) -> np.ndarray:
        actions = np.empty(len(decisions), dtype=np.int64)
        games, seeds = decisions.redealt(), decisions.seeds()
        search = tree_search_rows if self._method == "ismcts" else monte_carlo_rows
        desks, sheets = np.zeros(2, dtype=DESK), np.zeros(1, dtype=SHEET)
        search(games, seeds, self._budget, self._valuation, EVIDENCE, desks, sheets, actions)
        return actions
