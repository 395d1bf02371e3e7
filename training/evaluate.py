"""Win shares of a policy in training, by the arena's duplicate deals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from byzanz_env.agents import load
from byzanz_env.arena.match import DealResult, Match, Results
from byzanz_env.arena.play import Outcome, play_games
from byzanz_env.arena.statistics import summarize
from byzanz_env.decisions import Agent

WATCH_SEED = 1  # deals of the progress display
CHOOSE_SEED = 2  # deals on which the best checkpoint is chosen
REPORT_SEED = 3  # fresh deals for what is reported


@dataclass(frozen=True)
class WinShare:
    """One agent against copies of another, in every seat of every deal."""

    opponent: str
    players: int
    deals: int
    share: float
    half_width: float  # of the 95 % interval
    score: float
    direction: str = "one against all"

    def table(self) -> dict[str, Any]:
        return {
            key: round(value, 5) if isinstance(value, float) else value for key, value in vars(self).items()
        }


def win_share(
    agent: Agent, opponent: Agent, players: int, deals: int, seed: int, threads: int = 1
) -> WinShare:
    """Play `agent` alone against copies of `opponent`."""
    labels = (f"challenger {agent.name}", f"opponent {opponent.name}")
    match = Match("duel", players, seed, labels)
    by_deal: dict[int, list[Outcome]] = {}
    crews = [[agent, opponent] for _ in range(threads)]
    for outcome in play_games(crews, labels, players, match.games(range(deals)), seed):
        by_deal.setdefault(outcome.game.deal, []).append(outcome)
    results = Results.of(match, [DealResult.of(outcomes) for outcomes in by_deal.values()])
    summary = summarize(results, 0)
    return WinShare(
        opponent.name,
        players,
        deals,
        summary.win_share.mean,
        summary.win_share.half_width,
        summary.score.mean,
    )


def win_shares(
    agent: Agent, opponents: Sequence[str], players: int, deals: int, seed: int
) -> list[WinShare]:
    """The same against several opponents by name or file."""
    threads = min(2, os.cpu_count() or 1)
    return [win_share(agent, load(spec), players, deals, seed, threads) for spec in opponents]
