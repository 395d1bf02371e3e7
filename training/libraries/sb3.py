"""sb3-contrib MaskablePPO at engine speed: one seat learns at 2,048 tables, random opponents in the others.

python -m training.libraries.sb3 --seconds 60 --out sb3.safetensors
python -m training.libraries.sb3 --compare    # steps/s beside 8 single environments in a DummyVecEnv
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
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
        "MlpPolicy",
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
    torch.distributions.Distribution.set_default_validate_args(False)  # reads all 288 logits several times
    if "--compare" in words:
        words.remove("--compare")
        compare(read_options(__doc__ or "", words).seconds)
        return
    options = read_options(__doc__ or "", words)
    model = train(options)
    share, error = evaluate(agent_of(model), options.games)
    if options.out:
        export_model(model, options.out)
    version = version_of("stable-baselines3", "sb3-contrib")
    works = "MaskablePPO on ByzanzVecEnv and on single environments; export"
    finish(Result("sb3-contrib", version, "sb3.py", works, model.steps_per_second, share, 1.96 * error))


if __name__ == "__main__":
    main(sys.argv[1:])
