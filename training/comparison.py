"""This trainer beside MaskablePPO of sb3-contrib: same network, rollout, minibatch and epochs, in one run.

python -m training.comparison --rounds 3

One shared trunk of 256x2 with a policy and a value head, 65,536 decisions for an update, two epochs. They
take turns on both cores, an update each, and the medians are compared. Ours learns from every seat;
MaskablePPO has random opponents, the cheapest there are.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
from torch import nn

from byzanz_env import ByzanzSingle
from byzanz_env.envs.sb3 import ByzanzVecEnv
from training.config import Config, from_table
from training.learner import Learner
from training.libraries.sb3 import SINGLES, QuickPolicy
from training.throughput import settings

EPOCHS = 2
PLAYERS = 4


class Trunk(BaseFeaturesExtractor):  # type: ignore[misc]
    """The hidden layers, shared by policy and value as ours are."""

    def __init__(self, space: spaces.Box, hidden: tuple[int, ...]) -> None:
        super().__init__(space, hidden[-1])
        layers: list[nn.Module] = []
        for inputs, units in zip((space.shape[0], *hidden), hidden, strict=False):
            layers += [nn.Linear(inputs, units), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layers(observations)
        return found


def sb3_model(config: Config, env: VecEnv, policy: type[MaskableActorCriticPolicy]) -> MaskablePPO:
    """MaskablePPO with the settings of `config`."""
    return MaskablePPO(
        policy,
        env,
        n_steps=config.batch // env.num_envs,
        batch_size=config.ppo.minibatch,
        n_epochs=config.ppo.epochs,
        learning_rate=config.ppo.learning_rate,
        gamma=1.0,
        gae_lambda=config.ppo.gae_lambda,
        policy_kwargs={
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {"hidden": config.net.hidden},
            "net_arch": [],
        },
        seed=1,
        device="cpu",
    )


def rivals(config: Config) -> dict[str, MaskablePPO]:
    """MaskablePPO on thousands of tables and on single environments."""

    def tables() -> VecEnv:
        return ByzanzVecEnv(config.game.tables, PLAYERS, "random", skip_forced=True)

    singles = DummyVecEnv([lambda: ByzanzSingle(PLAYERS, "random", skip_forced=True)] * SINGLES)
    stock = MaskableActorCriticPolicy
    return {
        "MaskablePPO, ByzanzVecEnv, quick distribution": sb3_model(config, tables(), QuickPolicy),
        "MaskablePPO, ByzanzVecEnv": sb3_model(config, tables(), stock),
        f"MaskablePPO, {SINGLES} single environments": sb3_model(config, singles, stock),
    }


def _set_torch(ours: bool, threads: int) -> None:
    """What the learner sets for the whole process, and what others have by default."""
    torch.set_num_threads(1 if ours else threads)
    torch.use_deterministic_algorithms(ours)


def compare(config: Config, rounds: int) -> dict[str, float]:
    """Median trained decisions per second of each, after a first update that is not counted."""
    learner, others = Learner(config), rivals(config)
    takers: dict[str, Callable[[], object]] = {"this trainer": learner.update}
    for name, model in others.items():
        takers[name] = partial(model.learn, config.batch, reset_num_timesteps=False)
    found: dict[str, list[float]] = {name: [] for name in takers}
    for turn in range(rounds + 1):
        for name, update in takers.items():
            _set_torch(name not in others, config.workers)
            begun = time.perf_counter()
            update()
            if turn:
                found[name].append(config.batch / (time.perf_counter() - begun))
    learner.close()
    return {name: statistics.median(rates) for name, rates in found.items()}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.comparison", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="threads of both (default 2)")
    chosen = parser.parse_args(arguments)
    rates = compare(from_table(settings(chosen.workers, EPOCHS, good_units=0)), chosen.rounds)
    ours = next(iter(rates.values()))
    print("| trained decisions/s | | ours is faster by |\n|---|--:|--:|")
    for name, rate in rates.items():
        print(f"| {name} | {rate:,.0f} | {ours / rate:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
