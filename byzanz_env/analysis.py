"""A finished game, judged: chances to win along the way, and the decisions that cost most.

Each decision is judged by what its seat knew: the game is re-dealt for that seat many times, the decision
taken and the one the adviser would have taken are played in every re-deal, and the difference in the chance
to win is the cost. A raise counts as one decision. The curve shows each player's chance as that player
could see it at the last own decision, scaled so that all add up to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from byzanz_env.advice import Adviser, follow, path_text, redealt_worlds
from byzanz_env.games.byzanz import engine
from byzanz_env.games.byzanz.rules import GIVE_CARD, LAY
from byzanz_env.replay import Recorder, Replay

CURVE_WORLDS = 24
COST_WORLDS = 64
WORST_MOVES = 8


@dataclass(frozen=True)
class Turn:
    """One decision as people see it, and the game before it."""

    first: int  # index of its first action in the replay
    seat: int
    path: tuple[int, ...]
    games: np.ndarray  # [1] the game before it
    options: int


def turns_of(replay: Replay) -> list[Turn]:
    """The decisions of a replay, each raise as one."""
    recorder = Recorder(replay.players, replay.deck, replay.agents, replay.seed)
    turns: list[Turn] = []
    start: Turn | None = None
    path: list[int] = []
    for index, action in enumerate(replay.actions):
        if start is None:
            games = recorder.games.copy()
            start = Turn(index, int(games[0].seat), (), games, len(recorder.legal()))
        path.append(action)
        recorder.add(action)
        if not LAY <= action < GIVE_CARD:
            turns.append(Turn(start.first, start.seat, tuple(path), start.games, start.options))
            start, path = None, []
    return turns


def analyze(replay: Replay, adviser: Adviser) -> dict[str, Any]:
    """Judge a replay: `curve`, `moves` (every real decision) and `worst`, ready for JSON."""
    turns = [turn for turn in turns_of(replay) if turn.options > 1]
    better = [follow(adviser.agent, turn.games, turn.first) for turn in turns]
    seen = _seen(turns, adviser)
    costs = _costs(turns, better, adviser)
    moves: list[dict[str, Any]] = [
        {
            "n": turn.first,
            "last": turn.first + len(turn.path) - 1,
            "seat": turn.seat,
            "played": path_text(turn.path),
            "better": path_text(best),
            "cost": round(float(cost), 4),
            "chance": round(float(chances[turn.seat]), 4),
        }
        for turn, best, cost, chances in zip(turns, better, costs, seen, strict=True)
    ]
    worst = sorted((move for move in moves if move["cost"] > 0), key=lambda move: -move["cost"])
    return {
        "adviser": adviser.name,
        "curve": _curve(replay.players, turns, seen),
        "moves": moves,
        "worst": worst[:WORST_MOVES],
        "agreement": _agreement(replay.players, turns, better),
    }


def _seen(turns: list[Turn], adviser: Adviser) -> np.ndarray:
    if not turns:
        return np.zeros((0, 6))
    return adviser.seen_chances(np.concatenate([turn.games for turn in turns]), CURVE_WORLDS)


def _costs(turns: list[Turn], better: list[tuple[int, ...]], adviser: Adviser) -> np.ndarray:
    """How much of the chance to win each decision gave away against the adviser's, 0 where they agree."""
    costs = np.zeros(len(turns))
    rows = [row for row, turn in enumerate(turns) if turn.path != better[row]]
    if not rows:
        return costs
    worlds = redealt_worlds(np.concatenate([turns[row].games for row in rows]), COST_WORLDS)
    chances = []
    for paths in ([turns[row].path for row in rows], [better[row] for row in rows]):
        games = worlds.copy()
        for place, game in enumerate(games):
            for action in paths[place // COST_WORLDS]:
                engine.step(game, action)
        seats = np.repeat([turns[row].seat for row in rows], COST_WORLDS)
        own = adviser.chances(games)[np.arange(len(games)), seats]
        chances.append(own.reshape(len(rows), COST_WORLDS).mean(axis=1))
    costs[rows] = np.maximum(0.0, chances[1] - chances[0])
    return costs


def _curve(players: int, turns: list[Turn], seen: np.ndarray) -> list[dict[str, Any]]:
    own = np.full(players, 1.0 / players)
    curve = []
    for turn, chances in zip(turns, seen, strict=True):
        own[turn.seat] = max(float(chances[turn.seat]), 0.001)
        curve.append({"n": turn.first, "chances": [round(float(x), 4) for x in own / own.sum()]})
    return curve


def _agreement(players: int, turns: list[Turn], better: list[tuple[int, ...]]) -> list[float | None]:
    """For each seat, how often it decided like the adviser."""
    same: list[list[bool]] = [[] for _ in range(players)]
    for turn, best in zip(turns, better, strict=True):
        same[turn.seat].append(turn.path == best)
    return [round(sum(seat) / len(seat), 3) if seat else None for seat in same]
