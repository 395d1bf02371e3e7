"""The opponents that look ahead in re-dealt games, guided by the heuristic: montecarlo:N and ismcts:N."""

from __future__ import annotations

import numpy as np

from byzanz_env.decisions import Decisions
from byzanz_env.games.byzanz import search, tree
from byzanz_env.games.byzanz.bidding import SHEET
from byzanz_env.games.byzanz.valuation import load_valuation

PRIOR = "heuristic"
METHODS = {
    "montecarlo": (search.monte_carlo_rows, search.EVIDENCE),
    "ismcts": (tree.tree_search_rows, tree.EVIDENCE),
}


class SearchAgent:
    """Searches `budget` play-outs for each decision; the same decision and key give the same answer."""

    def __init__(self, method: str, budget: int) -> None:
        self.name = f"{method}:{budget}"
        self._search, self._evidence = METHODS[method]
        self._budget = budget
        self._valuation = load_valuation(PRIOR)

    def act(self, decisions: Decisions) -> np.ndarray:
        actions = np.empty(len(decisions), dtype=np.int64)
        desks, sheets = np.zeros(2, dtype=search.DESK), np.zeros(1, dtype=SHEET)
        self._search(
            decisions.redealt(),
            decisions.seeds(),
            self._budget,
            self._valuation,
            self._evidence,
            desks,
            sheets,
            actions,
        )
        return actions
