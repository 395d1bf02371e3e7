"""Ray RLlib, new API stack: PPO with masks, all seats of the PettingZoo environment share one policy.

    python -m training.libraries.rllib --seconds 60 --out rllib.safetensors

RLlib's masking module reads "action_mask" and "observations" (plural), hence the renaming. RLlib drops the
reward of a seat that never acts in an episode: with all decisions played (no skip_forced) every seat acts.
"""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import ray
import torch
from gymnasium import spaces
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env
from torch import nn

from byzanz_env import byzanz_v0
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

SHARED = "shared"


class ByzanzForRLlib(PettingZooEnv):  # type: ignore[misc]
    """The PettingZoo environment with the names and types that RLlib's masking module wants."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(byzanz_v0.raw_env(num_players=PLAYERS, **(config or {})))
        mask = spaces.Box(0, 1, (NUM_ACTIONS,), np.float32)
        seen = spaces.Box(0, 127, (OBSERVATION_SIZE,), np.float32)
        space = spaces.Dict({"action_mask": mask, "observations": seen})
        seats: list[str] = self.possible_agents
        self.observation_spaces: dict[str, spaces.Space[Any]] = dict.fromkeys(seats, space)
        self.observation_space = spaces.Dict(self.observation_spaces)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        observations, infos = super().reset(seed=seed, options=options)
        return _rename(observations), infos

    def step(self, action_dict: dict[str, int]) -> Any:
        observations, *rest = super().step(action_dict)
        return (_rename(observations), *rest)


def _rename(observations: dict[str, Any]) -> dict[str, dict[str, np.ndarray]]:
    return {
        agent: {
            "action_mask": seen["action_mask"].astype(np.float32),
            "observations": seen["observation"].astype(np.float32),
        }
        for agent, seen in observations.items()
    }


def make_config() -> PPOConfig:
    register_env("byzanz", ByzanzForRLlib)
    model = {"fcnet_hiddens": [128, 128], "fcnet_activation": "relu", "vf_share_layers": False}
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule, model_config={**model, "head_fcnet_hiddens": []}
    )
    return (
        PPOConfig()
        .environment(
            "byzanz", env_config={"reward": "margin"}, disable_env_checking=True
        )  # it ignores masks
        .env_runners(num_env_runners=0)
        .multi_agent(policies={SHARED}, policy_mapping_fn=lambda agent, episode, **_: SHARED)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={SHARED: module}))
        .training(train_batch_size_per_learner=2000, minibatch_size=500, num_epochs=3, gamma=1.0, lr=5e-4)
    )


def layers_of(module: Any) -> list[nn.Linear]:
    """The linear layers from the observation to the logits."""
    parts = (module.encoder.actor_encoder, module.pi)
    return [layer for part in parts for layer in part.modules() if isinstance(layer, nn.Linear)]


def main(words: list[str]) -> None:
    options = read_options(__doc__ or "", words)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    algorithm = make_config().build_algo()
    clock = Clock(options.seconds)
    while not clock.is_up():
        clock.steps = int(algorithm.train()["num_env_steps_sampled_lifetime"])
    speed = clock.steps / clock.elapsed
    *hidden, head = layers_of(algorithm.get_module(SHARED))

    def logits(observations: np.ndarray) -> np.ndarray:
        numbers = torch.as_tensor(observations)
        with torch.no_grad():
            for layer in hidden:
                numbers = torch.relu(layer(numbers))
            found: np.ndarray = head(numbers).numpy()
            return found

    share, error = evaluate(LogitsAgent("rllib-ppo", logits), options.games)
    if options.out:
        pairs = [(x.weight.detach().numpy(), x.bias.detach().numpy()) for x in (*hidden, head)]
        export(options.out, "rllib-ppo", pairs[:-1], pairs[-1], "relu")
    algorithm.stop()
    ray.shutdown()
    works = "PPO, new API stack, shared policy, masks; export"
    finish(Result("Ray RLlib", version_of("ray"), "rllib.py", works, speed, share, 1.96 * error))


if __name__ == "__main__":
    main(sys.argv[1:])
