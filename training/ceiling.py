"""How much of a win share is luck: what an agent wins that sees all hidden cards.

`python -m training.ceiling strong-4 heuristic` plays the policy against copies of the opponent while it
looks ahead in the true game to the end of the round, pile and hands known and the others playing as they
do. Read what fair agents win against the same opponent beside it. This is an instrument and no opponent: it
peeks, and no name loads it.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.agents import load
from byzanz_env.agents.policy import _CanonicalView
from byzanz_env.agents.policy_search import (
    MAX_CANDIDATES,
    MAX_SEQUENCE,
    PolicySearchAgent,
    _find_candidates,
    _new_desk,
    _play_candidate,
)
from byzanz_env.decisions import Agent, Decisions
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.symmetry import relabel_state
from training.evaluate import REPORT_SEED, win_share


class PeekingAgent(PolicySearchAgent):
    """Looks ahead in the one true game."""

    def __init__(self, policy: Agent, others: Agent) -> None:
        super().__init__(policy, 1, f"{policy.name}, peeking", others)

    def _search(
        self,
        decisions: Decisions,
        view: _CanonicalView,
        rows: np.ndarray,
        logits: np.ndarray,
        plans: np.ndarray,
    ) -> np.ndarray:
        if decisions._states is None:
            raise ValueError("these decisions come without games: there is nothing to peek at")
        chosen = np.empty(len(rows), dtype=np.int64)
        _peek_rows(
            decisions._states[rows].copy(),
            view.orders[rows],
            logits[rows],
            view.masks[rows],
            plans[rows],
            self.policy.network.parameters,
            self.policy.network.sizes,
            self.policy.network.tanh,
            self._others(),
            chosen,
        )
        return chosen


@njit
def _peek_rows(
    games: np.ndarray,
    orders: np.ndarray,
    logits: np.ndarray,
    masks: np.ndarray,
    plans: np.ndarray,
    parameters: np.ndarray,
    sizes: np.ndarray,
    tanh: bool,
    others: tuple[Any, ...],
    chosen: np.ndarray,
) -> None:
    candidates = np.empty((MAX_CANDIDATES, MAX_SEQUENCE), dtype=np.int64)
    work = np.zeros(1, dtype=STATE)
    desk = _new_desk()
    for row in range(len(games)):
        root = games[row]
        relabel_state(root, orders[row])
        count = _find_candidates(root, logits[row], masks[row], plans[row], candidates)
        best = -1.0
        for i in range(count):
            work[0] = games[row]
            value = _play_candidate(
                work[0], candidates[i], int(root.seat), parameters, sizes, tanh, others, desk
            )
            if value > best:
                best = value
                chosen[row] = candidates[i, 0]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.ceiling", description=__doc__)
    parser.add_argument("policy", help="a policy by name or file")
    parser.add_argument("opponent", help="a policy or a scripted agent, on all other seats")
    parser.add_argument("--players", type=int, default=4, choices=(3, 4, 5, 6))
    parser.add_argument("--deals", type=int, default=500)
    chosen = parser.parse_args(arguments)
    if chosen.deals < 2:
        parser.error("--deals must be at least 2: one deal gives no interval")
    try:
        opponent = load(chosen.opponent)
        agent = PeekingAgent(load(chosen.policy), opponent)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    share = win_share(agent, opponent, chosen.players, chosen.deals, REPORT_SEED, threads=2)
    print(
        f"{agent.name}: wins {share.share:.1%} ±{share.half_width:.1%} of games with "
        f"{chosen.players} players against copies of {opponent.name} ({chosen.deals} deals)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
