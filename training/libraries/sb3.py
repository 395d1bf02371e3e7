"""sb3-contrib MaskablePPO at engine speed: one seat learns at 2,048 tables, random opponents in the others.

python -m training.libraries.sb3 --seconds 60 --out sb3.safetensors
python -m training.libraries.sb3 --compare    # steps/s beside 8 single environments in a DummyVecEnv
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from byzanz_env import ByzanzSingle
from byzanz_env.envs.sb3 import ByzanzVecEnv
from training.libraries.common import (
    PLAYERS,
    Clock,
    LogitsAgent,
    Options,
    Result,
    evaluate,
    export,
    finish,
    read_options,
    version_of,
)

TABLES = 2048
SINGLES = 8
ROLLOUT = 32_768  # steps between updates, however many tables there are


class QuickDistribution(MaskableCategoricalDistribution):  # type: ignore[misc]
    """The same distribution at a fraction of the cost with 288 actions, most of them illegal.

    Softmax in torch is quick where the sums of exponentials of torch's Categorical are slow (huge negative
    logits), and an action is drawn by running sums instead of `multinomial`.
    """

    def proba_distribution(self, action_logits: torch.Tensor) -> QuickDistribution:
        self.logits = action_logits.view(-1, self.action_dim)
        self.apply_masking(None)
        return self

    def apply_masking(self, masks: np.ndarray | torch.Tensor | None) -> None:
        logits = self.logits
        if masks is not None:
            legal = torch.as_tensor(masks, dtype=torch.bool).view(logits.shape)
            logits = torch.where(legal, logits, torch.tensor(-1e8))
        self.masked = logits

    def log_prob(self, actions: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(self.masked, 1).gather(1, actions.long().view(-1, 1)).squeeze(1)

    def entropy(self) -> torch.Tensor:
        return -(torch.softmax(self.masked, 1) * torch.log_softmax(self.masked, 1)).sum(1)

    def sample(self) -> torch.Tensor:
        sums = torch.softmax(self.masked, 1).cumsum(1, dtype=torch.float64)
        points = torch.rand(len(sums), 1).double() * sums[:, -1:]  # below the last sum, in float64 too
        return torch.searchsorted(sums, points, right=True).squeeze(1)

    def mode(self) -> torch.Tensor:
        return self.masked.argmax(1)


class QuickPolicy(MaskableActorCriticPolicy):  # type: ignore[misc]
    """The MlpPolicy of MaskablePPO with the quick distribution."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.action_dist = QuickDistribution(int(self.action_space.n))


class StopWhenTimeIsUp(BaseCallback):  # type: ignore[misc]
    """Ends `learn` by the clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def _on_step(self) -> bool:
        return not self.clock.is_up()


def make_model(env: VecEnv) -> MaskablePPO:
    """The same settings for any number of tables: much data, each decision used once."""
    return MaskablePPO(
        QuickPolicy,
        env,
        n_steps=ROLLOUT // env.num_envs,
        batch_size=4096,
        n_epochs=1,
        learning_rate=2e-3,
        gamma=1.0,
        ent_coef=0.003,
        policy_kwargs={"net_arch": [64]},
        seed=1,
        device="cpu",
    )


def agent_of(model: MaskablePPO) -> LogitsAgent:
    policy = model.policy

    def logits(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            hidden = policy.mlp_extractor.forward_actor(torch.as_tensor(observations))
            numbers: np.ndarray = policy.action_net(hidden).numpy()
            return numbers

    return LogitsAgent("sb3-maskable-ppo", logits)


def train(options: Options) -> MaskablePPO:
    env = ByzanzVecEnv(TABLES, PLAYERS, "random", reward="margin", skip_forced=True, seed=1)
    model = make_model(env)
    env.reset()
    clock = Clock(options.seconds)
    model.learn(10**9, callback=StopWhenTimeIsUp(clock))
    model.steps_per_second = model.num_timesteps / clock.elapsed
    return model


def export_model(model: MaskablePPO, path: Path) -> None:
    """Write the policy network, a plain MLP, as an opponent file."""
    state = {name: tensor.numpy() for name, tensor in model.policy.state_dict().items()}
    layer = "mlp_extractor.policy_net.0"
    hidden = [(state[f"{layer}.weight"], state[f"{layer}.bias"])]
    head = (state["action_net.weight"], state["action_net.bias"])
    export(path, "sb3-maskable-ppo", hidden, head, "tanh")


def compare(seconds: float) -> None:
    """Steps/s of ByzanzVecEnv and of single environments, in turns, whole updates only."""
    singles = DummyVecEnv([lambda: ByzanzSingle(PLAYERS, "random", skip_forced=True)] * SINGLES)
    tables = ByzanzVecEnv(TABLES, PLAYERS, "random", skip_forced=True)
    models = {"ByzanzVecEnv": make_model(tables), "DummyVecEnv of 8": make_model(singles)}
    rates: dict[str, list[float]] = {name: [] for name in models}
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for name, model in models.items():
            start, before = time.perf_counter(), model.num_timesteps
            model.learn(ROLLOUT, reset_num_timesteps=False)
            rates[name].append((model.num_timesteps - before) / (time.perf_counter() - start))
    fast, slow = (float(np.median(rates[name])) for name in models)
    print(
        f"MaskablePPO, same settings: ByzanzVecEnv {fast:,.0f} steps/s, 8 single environments {slow:,.0f}"
    )
    print(f"ratio {fast / slow:.1f}")


def main(words: list[str]) -> None:
    torch.set_num_threads(min(2, torch.get_num_threads()))
    if "--compare" in words:
        words.remove("--compare")
        compare(read_options(__doc__ or "", words).seconds)
        return
    options = read_options(__doc__ or "", words)
    model = train(options)
    share, error = evaluate(agent_of(model), options.games)
    if options.out:
        export_model(model, options.out)
    version = version_of("sb3-contrib")
    works = "MaskablePPO on ByzanzVecEnv and on single environments; export"
    finish(Result("sb3-contrib", version, "sb3.py", works, model.steps_per_second, share, 1.96 * error))


if __name__ == "__main__":
    main(sys.argv[1:])
