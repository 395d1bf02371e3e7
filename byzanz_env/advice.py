"""What a strong opponent would do in someone's place, and the chances to win as that seat can see them.

An agent with `evaluate` (a policy) gives probabilities and chances; any other agent gives its choice, and
chances come from play-outs between scripted players over games re-dealt for the seat. Either way nothing is
used that the seat does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from byzanz_env.agents import load
from byzanz_env.arena.kernels import advance
from byzanz_env.decisions import Agent, Decisions
from byzanz_env.games.byzanz import engine
from byzanz_env.games.byzanz.actions import ACTIONS
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.redeal import redeal_rows
from byzanz_env.games.byzanz.rules import COMMIT, GIVE_CARD, LAY, MAX_PLAYERS, NUM_ACTIONS, OVER
from byzanz_env.games.byzanz.tables import show_rows
from byzanz_env.games.byzanz.text import KIND_NAMES
from byzanz_env.session import Session

HINT_WORLDS = 48
MAX_CHOICES = 3


@dataclass(frozen=True)
class Choice:
    """One way to decide: a single action, or a raise as a whole."""

    path: tuple[int, ...]
    probability: float | None  # None from an agent that only chooses

    @property
    def text(self) -> str:
        return path_text(self.path)


@dataclass(frozen=True)
class Advice:
    """What `adviser` thinks of a decision."""

    adviser: str
    choices: tuple[Choice, ...]  # the best first
    chances: tuple[float, ...]  # to win, by seat


def path_text(path: Sequence[int]) -> str:
    """A decision in the words of the terminal: `bid cloth2 wine1`, `sell wood 2,1 + merchant`."""
    if LAY <= path[0] < GIVE_CARD:
        return "bid " + " ".join(KIND_NAMES[action - LAY] for action in path if action != COMMIT)
    return ACTIONS[path[0]].text


def _decisions(games: np.ndarray, keys: np.ndarray) -> Decisions:
    observations = np.zeros((len(games), OBSERVATION_SIZE), dtype=np.int8)
    masks = np.zeros((len(games), NUM_ACTIONS), dtype=np.int8)
    seats = np.zeros(len(games), dtype=np.int64)
    show_rows(games, observations, masks, seats, False)
    return Decisions(observations, masks, keys, games)


def follow(agent: Agent, games: np.ndarray, key: int) -> tuple[int, ...]:
    """The whole decision of an agent in the game of `games` [1]: a raise with its commit, or one action."""
    board, keys, path = games.copy(), np.array([key], dtype=np.int64), []
    while True:
        action = int(agent.act(_decisions(board, keys))[0])
        path.append(action)
        if not LAY <= action < GIVE_CARD:
            return tuple(path)
        engine.step(board[0], action)


def play_out(games: np.ndarray, agent: Agent) -> np.ndarray:
    """Play games to the end with one agent on every seat; shares of the win by seat [B, 6]."""
    size = len(games)
    observations = np.zeros((size, OBSERVATION_SIZE), dtype=np.int8)
    masks = np.zeros((size, NUM_ACTIONS), dtype=np.int8)
    seats = np.zeros(size, dtype=np.int64)
    keys = np.arange(size, dtype=np.int64)
    show_rows(games, observations, masks, seats, True)
    rows = np.flatnonzero(games["phase"] != OVER)
    while len(rows):
        actions = agent.act(Decisions(observations[rows], masks[rows], keys[rows], games[rows]))
        advance(games, rows, actions, observations, masks, seats)
        rows = rows[games["phase"][rows] != OVER]
    return final_shares(games)


def final_shares(games: np.ndarray) -> np.ndarray:
    """Shares of the win by seat [B, 6]; zero for games that are not over."""
    shares = np.zeros((len(games), MAX_PLAYERS))
    for row in np.flatnonzero(games["phase"] == OVER):
        engine.win_shares(games[row], shares[row])
    return shares


class Adviser:
    """Asks one agent for choices, and it or play-outs for chances."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.name = agent.name
        self._evaluate: Any = getattr(agent, "evaluate", None)
        self._rollout = load("heuristic")

    def evaluate(self, decisions: Decisions) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Probabilities [B, A] and chances [B, 6] from the observer on, None where there are none."""
        if self._evaluate is None:
            return None, None
        probabilities, chances = self._evaluate(decisions)
        return probabilities, chances

    def chances(self, games: np.ndarray) -> np.ndarray:
        """Chances to win by seat [B, 6] in games that may be looked into, because they were re-dealt."""
        result = final_shares(games)
        rows = np.flatnonzero(games["phase"] != OVER)
        if not len(rows):
            return result
        relative = None
        if self._evaluate is not None:
            decisions = _decisions(games[rows], rows.astype(np.int64))
            relative = self.evaluate(decisions)[1]
        if relative is None:
            result[rows] = play_out(games[rows], self._rollout)
            return result
        for place, row in enumerate(rows):
            result[row] = by_seat(relative[place], int(games[row]["seat"]), int(games[row]["players"]))
        return result

    def seen_chances(self, games: np.ndarray, worlds: int) -> np.ndarray:
        """Chances by seat [B, 6] as the deciding seat of each true game can see them."""
        decisions = _decisions(games, np.zeros(len(games), dtype=np.int64))
        relative = self.evaluate(decisions)[1]
        if relative is not None:
            rows = zip(relative, games["seat"], games["players"], strict=True)
            return np.array([by_seat(row, int(seat), int(players)) for row, seat, players in rows])
        dealt = redealt_worlds(games, worlds)
        shares = play_out(dealt, self._rollout)
        return np.asarray(shares.reshape(len(games), worlds, MAX_PLAYERS).mean(axis=1))


def redealt_worlds(games: np.ndarray, worlds: int) -> np.ndarray:
    """`worlds` re-deals of each game, one game's after the other's; the same for the same games."""
    dealt = np.repeat(games, worlds)
    redeal_rows(dealt, np.arange(len(dealt), dtype=np.int64) % worlds)
    return dealt


def by_seat(relative: np.ndarray, seat: int, players: int) -> np.ndarray:
    """Numbers counted from an observer on, as numbers by seat."""
    result = np.zeros(MAX_PLAYERS)
    result[(seat + np.arange(players)) % players] = relative[:players]
    return result


def advise(session: Session, adviser: Adviser) -> Advice:
    """What the adviser thinks of the decision that is due."""
    games, key = session.board(), session.key(session.seat)
    best = follow(adviser.agent, games, key)
    probabilities, _ = adviser.evaluate(session.decisions())
    choices = _choices(best, None if probabilities is None else probabilities[0])
    chances = adviser.seen_chances(games, HINT_WORLDS)[0][: session.players]
    total = max(float(chances.sum()), 1e-9)
    return Advice(adviser.name, choices, tuple(round(float(x) / total, 4) for x in chances))


def _choices(best: tuple[int, ...], probabilities: np.ndarray | None) -> tuple[Choice, ...]:
    """The best decision and the next likely ones; all raises together count as one."""
    if probabilities is None:
        return (Choice(best, None),)
    raising = LAY <= best[0] < GIVE_CARD
    raises = float(probabilities[LAY:GIVE_CARD].sum())
    first = Choice(best, raises if raising else float(probabilities[best[0]]))
    others = [
        Choice((int(action),), float(probabilities[action]))
        for action in np.argsort(-probabilities, kind="stable")
        if probabilities[action] > 0.005 and action != best[0] and not LAY <= action < GIVE_CARD
    ]
    return (first, *others[: MAX_CHOICES - 1])
