"""TorchRL ClipPPO: all seats of the PettingZoo environment as one group that shares its network.

    python -m training.libraries.torchrl_ppo --seconds 60 --out torchrl.safetensors

The wrapper asks every seat at every step and gives those that do not act a mask that is all true; what they
"choose" is thrown away, so the loss takes the rows of seats that acted only. It refuses strings in infos.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs import MarlGroupMapType, PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss

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

GROUP = "agents"
SEEN = (GROUP, "observation", "observation")
GAMES_PER_UPDATE = 8
LONGEST = 2000
EPOCHS = 4


class AsFloat(nn.Module):
    """int8 observations as floats."""

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return observation.float()


def make_env() -> PettingZooWrapper:
    env = byzanz_v0.raw_env(num_players=PLAYERS, reward="margin", skip_forced=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchRL warns of every PettingZoo newer than 1.24
        return PettingZooWrapper(env, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP)


def make_actor() -> ProbabilisticActor:
    layers = (AsFloat(), nn.Linear(OBSERVATION_SIZE, 128), nn.ReLU(), nn.Linear(128, NUM_ACTIONS))
    logits = TensorDictModule(
        nn.Sequential(*layers),
        in_keys=[SEEN],
        out_keys=[(GROUP, "logits")],
    )
    return ProbabilisticActor(
        logits,
        in_keys={"logits": (GROUP, "logits"), "mask": (GROUP, "action_mask")},
        out_keys=[(GROUP, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(GROUP, "action_log_prob"),
    )


def make_critic() -> TensorDictModule:
    layers = (AsFloat(), nn.Linear(OBSERVATION_SIZE, 128), nn.ReLU(), nn.Linear(128, 1))
    return TensorDictModule(nn.Sequential(*layers), in_keys=[SEEN], out_keys=["state_value"])


def play_game(env: PettingZooWrapper, actor: ProbabilisticActor) -> TensorDict:
    """One game: the decisions that were made, each with what its seat got at the end."""
    with torch.no_grad():
        played = env.rollout(LONGEST, policy=actor)
    acted = played[GROUP, "mask"]
    due = played["next", GROUP, "reward"].sum(dim=0, keepdim=True).expand(len(played), -1, -1)
    decisions = played[GROUP][acted].select("observation", "action", "action_mask", "action_log_prob")
    return TensorDict({GROUP: decisions, "value_target": due[acted]}, batch_size=[len(decisions)])


def train(seconds: float) -> tuple[ProbabilisticActor, Clock]:
    torch.manual_seed(1)
    env, actor, critic = make_env(), make_actor(), make_critic()
    loss_of = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.003, normalize_advantage=True)
    loss_of.set_keys(action=(GROUP, "action"), sample_log_prob=(GROUP, "action_log_prob"))
    optimiser = torch.optim.Adam(loss_of.parameters(), lr=1e-3)
    play_game(env, actor)  # compiles
    clock = Clock(seconds)
    while not clock.is_up():
        data: Any = torch.cat([play_game(env, actor) for _ in range(GAMES_PER_UPDATE)])  # type: ignore[misc]
        clock.steps += len(data)
        with torch.no_grad():
            data["advantage"] = data["value_target"] - critic(data.clone())["state_value"]
        for _ in range(EPOCHS):
            for minibatch in data[torch.randperm(len(data))].split(512):
                losses = loss_of(minibatch)
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
    return actor, clock


def main(words: list[str]) -> None:
    options = read_options(__doc__ or "", words)
    torch.set_num_threads(1)
    actor, clock = train(options.seconds)
    speed = clock.steps / clock.elapsed
    hidden, head = [layer for layer in actor.modules() if isinstance(layer, nn.Linear)]

    def logits(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            found: np.ndarray = head(torch.relu(hidden(torch.as_tensor(observations)))).numpy()
            return found

    share, error = evaluate(LogitsAgent("torchrl-ppo", logits), options.games)
    if options.out:
        pairs = [(x.weight.detach().numpy(), x.bias.detach().numpy()) for x in (hidden, head)]
        export(options.out, "torchrl-ppo", pairs[:1], pairs[1], "relu")
    works = "ClipPPO on PettingZooWrapper, shared network, masks; export"
    finish(Result("TorchRL", version_of("torchrl"), "torchrl_ppo.py", works, speed, share, 1.96 * error))


if __name__ == "__main__":
    main(sys.argv[1:])
