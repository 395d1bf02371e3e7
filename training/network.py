"""The policy network in torch, and its way to and from the plain tensors of a policy file."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from byzanz_env.agents.network import NUM_OUTCOMES, Architecture
from byzanz_env.games.byzanz.observe import LAYOUT, OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import NUM_ACTIONS

# What a typical large value of each part is divided by; everything else is a count or a flag.
SCALES = {
    "gone": 4.0,
    "unseen": 4.0,
    "unknown": 4.0,
    "hand_size": 7.0,
    "points": 10.0,
    "bidder_card": 3.0,
    "bid_total": 5.0,
    "round": 4.0,
    "rounds_left": 4.0,
    "auction": 3.0,
    "on_offer": 3.0,
    "high_bid": 5.0,
    "market_turn": 3.0,
    "pile_left": 48.0,
}


def input_scale() -> torch.Tensor:
    """One factor per number of the observation."""
    parts = [np.full(part.size, 1 / SCALES.get(part.name, 1.0)) for part in LAYOUT]
    return torch.tensor(np.concatenate(parts), dtype=torch.float32)


class PolicyNetwork(nn.Module):
    """An MLP with a policy head and an outcome head (who wins, by how much)."""

    scale: torch.Tensor

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.register_buffer("scale", input_scale(), persistent=False)
        widths = (OBSERVATION_SIZE, *architecture.hidden)
        self.hidden = nn.ModuleList(nn.Linear(inputs, units) for inputs, units in pairwise(widths))
        self.policy = nn.Linear(widths[-1], NUM_ACTIONS)
        self.outcome = nn.Linear(widths[-1], NUM_OUTCOMES)

    def initialise(self, generator: torch.Generator) -> None:
        """Orthogonal weights; heads small, so that the first policy is nearly uniform."""
        gains = [*((layer, 2**0.5) for layer in self.hidden), (self.policy, 0.01), (self.outcome, 0.1)]
        for layer, gain in gains:
            assert isinstance(layer, nn.Linear)
            nn.init.orthogonal_(layer.weight, gain, generator)
            nn.init.zeros_(layer.bias)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [B, A] and raw outcomes [B, 12] of raw int8 observations."""
        half = torch.is_autocast_enabled("cpu")
        dtype = torch.bfloat16 if half else torch.float32
        first, *others = self.hidden
        assert isinstance(first, nn.Linear)
        scaled = first.weight * self.scale  # cheaper than scaling every observation
        x = torch.relu(nn.functional.linear(observations.to(dtype), scaled, first.bias))
        for layer in others:
            x = torch.relu(layer(x))
        return self.policy(x), self.outcome(x)

    def to_tensors(self) -> dict[str, np.ndarray]:
        """The tensors of a policy file; the input scale is folded into the first layer."""
        tensors = {name: value.detach().float().numpy().copy() for name, value in self.state_dict().items()}
        tensors["hidden.0.weight"] *= self.scale.numpy()
        return tensors

    def load_tensors(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Take over the tensors of a policy file of the same architecture."""
        own = {name: torch.tensor(np.asarray(tensor)) for name, tensor in tensors.items()}
        own["hidden.0.weight"] = own["hidden.0.weight"] / self.scale
        self.load_state_dict(own)
