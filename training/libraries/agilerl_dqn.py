"""AgileRL DQN in self-play: all seats of 64 games share one network, the batch is answered in one call.

    python -m training.libraries.agilerl_dqn --seconds 60

AgileRL has no trainer for turn-based games, so the loop is here: what a seat saw and did is kept until its
next decision, or the end of the game, closes the transition.
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


class OpenTransitions:
    """The last observation and action of every seat of every game, until they are closed."""

    def __init__(self, buffer: ReplayBuffer) -> None:
        self.buffer = buffer
        self.observations = np.zeros((GAMES, MAX_PLAYERS, OBSERVATION_SIZE), dtype=np.float32)
        self.actions = np.full((GAMES, MAX_PLAYERS), NOTHING)

    def close(
        self, rows: np.ndarray, seats: np.ndarray, following: np.ndarray, rewards: np.ndarray, done: bool
    ) -> None:
        """Store the transitions of these seats, if they have acted before."""
        known = self.actions[rows, seats] != NOTHING
        rows, seats = rows[known], seats[known]
        if len(rows):
            transition = Transition(
                obs=torch.as_tensor(self.observations[rows, seats]),
                action=torch.as_tensor(self.actions[rows, seats])[:, None],
                next_obs=torch.as_tensor(following[known]),
                reward=torch.as_tensor(rewards[known], dtype=torch.float32)[:, None],
                done=torch.full((len(rows), 1), float(done)),
                batch_size=[len(rows)],
            ).to_tensordict()
            self.buffer.add(transition)
            self.actions[rows, seats] = NOTHING

    def open(
        self, rows: np.ndarray, seats: np.ndarray, observations: np.ndarray, actions: np.ndarray
    ) -> None:
        self.observations[rows, seats] = observations
        self.actions[rows, seats] = actions


def train(seconds: float) -> tuple[DQN, Clock]:
    torch.manual_seed(1)
    observation_space = spaces.Box(0, 127, (OBSERVATION_SIZE,), np.float32)
    net_config = {"encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [128]}}
    agent = DQN(
        observation_space, spaces.Discrete(NUM_ACTIONS), net_config=net_config, lr=5e-4, gamma=1.0, tau=0.01
    )
    buffer = ReplayBuffer(max_size=50_000)
    waiting = OpenTransitions(buffer)
    env = BatchEnv(GAMES, PLAYERS, seed=1, reward="margin", skip_forced=True)
    env.reset()
    rows = np.arange(GAMES)
    clock = Clock(seconds)
    while not clock.is_up():
        seen, seats = env.observations.astype(np.float32), env.seats.copy()
        waiting.close(rows, seats, seen, np.zeros(GAMES), done=False)
        epsilon = max(0.05, 1.0 - clock.elapsed / (0.5 * clock.seconds))
        actions = agent.get_action(seen, epsilon=epsilon, action_mask=env.action_masks.copy())
        waiting.open(rows, seats, seen, actions)
        env.step(actions)  # an illegal action would raise here
        clock.steps += GAMES
        ended = np.flatnonzero(env.dones)
        for seat in range(PLAYERS if len(ended) else 0):
            last = env.final_observations(ended, np.full(len(ended), seat)).astype(np.float32)
            waiting.close(ended, np.full(len(ended), seat), last, env.rewards[ended, seat], done=True)
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
