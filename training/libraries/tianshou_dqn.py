"""Tianshou DQN: one seat learns in the Gymnasium environment; the mask travels beside the observation.

    python -m training.libraries.tianshou_dqn --seconds 60 --out tianshou.safetensors

Tianshou's own PettingZooEnv stores the rewards of all seats in the row of whoever moved, so that most of a
seat's reward lies in rows of others; with one learning seat per environment every row is the learner's.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from tianshou.algorithm.algorithm_base import policy_within_training_step
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.torch_utils import torch_train_mode
from torch import nn

from byzanz_env import ByzanzSingle
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import NUM_ACTIONS
from training.libraries.common import (
    PLAYERS,
    Clock,
    LogitsAgent,
    Result,
    evaluate,
    export,
    finish,
    read_options,
    version_of,
)

ENVS = 16
WIDTH = 128
STEPS_PER_UPDATE = 8


class WithMask(gymnasium.ObservationWrapper[dict[str, np.ndarray], int, np.ndarray]):
    """Observations as Tianshou wants them: {"obs", "mask"}."""

    def __init__(self, env: ByzanzSingle) -> None:
        super().__init__(env)
        mask = spaces.MultiBinary(NUM_ACTIONS)
        space: Any = spaces.Dict({"obs": env.observation_space, "mask": mask})
        self.observation_space = space

    def observation(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        table: Any = self.unwrapped
        return {"obs": observation, "mask": table.action_masks()}


class Values(nn.Module):
    """A plain MLP on the raw observation."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(OBSERVATION_SIZE, WIDTH)
        self.head = nn.Linear(WIDTH, NUM_ACTIONS)

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        numbers = torch.as_tensor(np.asarray(obs), dtype=torch.float32)
        return self.head(torch.relu(self.hidden(numbers))), state


def make_env() -> WithMask:
    return WithMask(
        ByzanzSingle(PLAYERS, "random", reward="margin", skip_forced=True, illegal_action="raise")
    )


def train(seconds: float) -> tuple[Values, Clock, VectorReplayBuffer]:
    torch.manual_seed(1)
    envs = DummyVectorEnv([make_env for _ in range(ENVS)])
    model = Values()
    policy = DiscreteQLearningPolicy(model=model, action_space=make_env().action_space, eps_training=0.1)
    algorithm = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=8,
        target_update_freq=200,
    )
    buffer = VectorReplayBuffer(50_000, ENVS)
    collector = Collector(policy, envs, buffer, exploration_noise=True)
    collector.reset()
    clock = Clock(seconds)
    while not clock.is_up():
        with policy_within_training_step(policy):
            clock.steps += collector.collect(n_step=ENVS * STEPS_PER_UPDATE).n_collected_steps
            with torch_train_mode(policy):
                algorithm.update(buffer=buffer, sample_size=256)
    return model, clock, buffer


def main(words: list[str]) -> None:
    options = read_options(__doc__ or "", words)
    torch.set_num_threads(1)
    model, clock, _ = train(options.seconds)
    speed = clock.steps / clock.elapsed

    def values(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            found: np.ndarray = model(observations)[0].numpy()
            return found

    share, error = evaluate(LogitsAgent("tianshou-dqn", values), options.games)
    if options.out:
        state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
        hidden = [(state["hidden.weight"], state["hidden.bias"])]
        export(options.out, "tianshou-dqn", hidden, (state["head.weight"], state["head.bias"]), "relu")
    works = "DQN with masks, one learning seat; export"
    version = version_of("tianshou")
    finish(Result("Tianshou", version, "tianshou_dqn.py", works, speed, share, 1.96 * error))


if __name__ == "__main__":
    main(sys.argv[1:])
