"""AgileRL DQN in self-play: all seats of 64 games share one network, the batch is answered in one call.

    python -m training.libraries.agilerl_dqn --seconds 60

AgileRL has no trainer for turn-based games, so the loop is here: what a seat saw, did and was paid is kept
until its next decision, or the end of the game, closes the transition. Its DQN takes the best of all 288
values of what follows, legal or not; double Q-learning and rewards on the way keep that in bounds.
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from agilerl.algorithms import DQN
from agilerl.components.data import Transition
from agilerl.components.replay_buffer import ReplayBuffer
from gymnasium import spaces

from byzanz_env import BatchEnv
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS
from training.libraries.common import (
    PLAYERS,
    Clock,
    LogitsAgent,
    Result,
    evaluate,
    finish,
    read_options,
    version_of,
)

GAMES = 64
NOTHING = -1
POINT = 0.1  # the reward of a point
GAMMA = 0.97


class OpenTransitions:
    """The last observation and action of every seat of every game, until they are closed."""

    def __init__(self, buffer: ReplayBuffer) -> None:
        self.buffer = buffer
        self.observations = np.zeros((GAMES, MAX_PLAYERS, OBSERVATION_SIZE), dtype=np.float32)
        self.actions = np.full((GAMES, MAX_PLAYERS), NOTHING)
        self.paid = np.zeros((GAMES, MAX_PLAYERS), dtype=np.float32)

    def close(self, rows: np.ndarray, seats: np.ndarray, following: np.ndarray, done: bool) -> None:
        """Store the transitions of these seats, if they have acted before."""
        known = self.actions[rows, seats] != NOTHING
        rows, seats = rows[known], seats[known]
        if len(rows):
            transition = Transition(
                obs=torch.as_tensor(self.observations[rows, seats]),
                action=torch.as_tensor(self.actions[rows, seats])[:, None],
                next_obs=torch.as_tensor(following[known]),
                reward=torch.as_tensor(self.paid[rows, seats])[:, None],
                done=torch.full((len(rows), 1), float(done)),
                batch_size=[len(rows)],
            ).to_tensordict()
            self.buffer.add(transition)
            self.actions[rows, seats] = NOTHING
            self.paid[rows, seats] = 0

    def open(
        self, rows: np.ndarray, seats: np.ndarray, observations: np.ndarray, actions: np.ndarray
    ) -> None:
        self.observations[rows, seats] = observations
        self.actions[rows, seats] = actions


def train(seconds: float) -> tuple[DQN, Clock]:
    torch.manual_seed(1)
    observation_space = spaces.Box(0, 127, (OBSERVATION_SIZE,), np.float32)
    net_config = {"encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [128]}}
    actions = spaces.Discrete(NUM_ACTIONS)
    agent = DQN(
        observation_space, actions, net_config=net_config, lr=5e-4, gamma=GAMMA, tau=0.01, double=True
    )
    buffer = ReplayBuffer(max_size=50_000)
    waiting = OpenTransitions(buffer)
    env = BatchEnv(GAMES, PLAYERS, seed=1, reward="points", skip_forced=True)
    env.reset()
    rows = np.arange(GAMES)
    clock = Clock(seconds)
    while not clock.is_up():
        seen, seats = env.observations.astype(np.float32), env.seats.copy()
        waiting.close(rows, seats, seen, done=False)
        epsilon = max(0.05, 1.0 - clock.elapsed / (0.5 * clock.seconds))
        actions = agent.get_action(seen, epsilon=epsilon, action_mask=env.action_masks.copy())
        waiting.open(rows, seats, seen, actions)
        env.step(actions)  # an illegal action would raise here
        waiting.paid += env.rewards * POINT
        clock.steps += GAMES
        ended = np.flatnonzero(env.dones)
        for seat in range(PLAYERS if len(ended) else 0):
            last = env.final_observations(ended, np.full(len(ended), seat)).astype(np.float32)
            waiting.close(ended, np.full(len(ended), seat), last, done=True)
        waiting.paid[ended] = 0  # also of seats that never acted
        if len(buffer) >= 1000:
            agent.learn(buffer.sample(256))
    return agent, clock


def main(words: list[str]) -> None:
    options = read_options(__doc__ or "", words)
    torch.set_num_threads(1)
    agent, clock = train(options.seconds)
    speed = clock.steps / clock.elapsed

    def values(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            found: np.ndarray = agent.actor(torch.as_tensor(observations)).numpy()
            return found

    share, error = evaluate(LogitsAgent("agilerl-dqn", values), options.games)
    works = "DQN self-play on BatchEnv with masks"
    finish(Result("AgileRL", version_of("agilerl"), "agilerl_dqn.py", works, speed, share, 1.96 * error))


if __name__ == "__main__":
    main(sys.argv[1:])
