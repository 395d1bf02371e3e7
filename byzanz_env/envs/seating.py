"""Agents at the tables of a batch: their pending decisions are answered together, one call per agent.

seating = Seating(env, [random, heuristic])
seating.agent_at[:, 1:] = 0  # `random` plays all seats but the first, which belong to somebody outside
rows = seating.answer()      # one decision in each row that waits for an agent
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from byzanz_env.decisions import Agent, agent_key, game_keys
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.envs.rows import explain_illegal
from byzanz_env.errors import IllegalActionError
from byzanz_env.games.byzanz.rules import MAX_PLAYERS
from byzanz_env.games.byzanz.tables import find_illegal_rows

OUTSIDE = -1


class Seating:
    """Who sits where: `agent_at[row, seat]` is the number of an agent, or OUTSIDE."""

    def __init__(self, env: BatchEnv, agents: Sequence[Agent]) -> None:
        self.env = env
        self.agents = list(agents)
        self.agent_at = np.full((env.num_games, MAX_PLAYERS), OUTSIDE, dtype=np.int64)
        self._keys = [agent_key(agent.name) for agent in agents]
        self._all_rows = np.arange(env.num_games)

    def deciding(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Whose decision each row waits for: a number of an agent, or OUTSIDE."""
        chosen = self._all_rows if rows is None else rows
        who: np.ndarray = self.agent_at[chosen, self.env.seats[chosen]]
        return who

    def answer(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Play one decision in every row (of `rows`) that waits for an agent; return those rows.

        An agent's illegal answer raises IllegalActionError with its name, and no row has moved.
        """
        chosen = self._all_rows if rows is None else rows
        who = self.deciding(chosen)
        waiting = np.flatnonzero(who != OUTSIDE)
        if len(waiting) < len(who):
            chosen, who = chosen[waiting], who[waiting]
        if len(chosen) == 0:
            return chosen
        self.env.step(self._ask_all(chosen, who), chosen)
        return chosen

    def _ask_all(self, rows: np.ndarray, who: np.ndarray) -> np.ndarray:
        if len(self.agents) == 1 or len(rows) == 1:
            return self._ask(int(who[0]), rows)
        actions = np.empty(len(rows), dtype=np.int64)
        for number in np.unique(who):
            places = np.flatnonzero(who == number)
            actions[places] = self._ask(int(number), rows[places])
        return actions

    def _ask(self, number: int, rows: np.ndarray) -> np.ndarray:
        env, agent = self.env, self.agents[number]
        keys = game_keys(env.game_seeds[rows], env.seats[rows], self._keys[number])
        answers = np.asarray(agent.act(env.decisions(rows, keys)))
        if answers.shape != rows.shape or answers.dtype.kind not in "iu":
            raise IllegalActionError(
                f"the opponent {agent.name} was asked for {len(rows)} integers and answered with "
                f"{answers.dtype} of shape {answers.shape}"
            )
        answers = np.array(answers, dtype=np.int64)
        place = find_illegal_rows(env.action_masks, rows, answers)
        if place >= 0:
            row = int(rows[place])
            seat, phase = int(env.seats[row]), int(env.states["phase"][row])
            fault = explain_illegal(row, seat, phase, int(answers[place]), env.action_masks[row])
            raise IllegalActionError(f"the opponent {agent.name} made an illegal move: {fault}")
        return answers


def make_agents(opponents: str | Agent | Iterable[str | Agent]) -> list[Agent]:
    """Agents from names or objects; one stands for a list of one."""
    if isinstance(opponents, (str, Agent)):
        return [_make_agent(opponents)]
    if not isinstance(opponents, Iterable):
        raise ValueError(f"opponents is {opponents!r}; it is a name, an agent, or a list of them")
    agents = [_make_agent(opponent) for opponent in opponents]
    if not agents:
        raise ValueError("opponents is empty; it takes one for all seats or one for each other seat")
    return agents


def _make_agent(opponent: str | Agent) -> Agent:
    if isinstance(opponent, str):
        from byzanz_env.agents import load

        return load(opponent)
    if not isinstance(opponent, Agent):
        raise ValueError(f"{opponent!r} is no opponent: it is neither a name nor has it `name` and `act`")
    return opponent
