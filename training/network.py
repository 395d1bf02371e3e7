"""The policy network in torch, and its way to and from the plain tensors of a policy file."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import torch
from torch import nn
from torch.nn.functional import linear

from byzanz_env.agents.network import NUM_OUTCOMES, Architecture
from byzanz_env.games.byzanz.goods import (
    GOOD_ACTIONS,
    GOOD_INPUTS,
    NUM_GOOD_ACTIONS,
    NUM_GOOD_INPUTS,
    NUM_REST_ACTIONS,
    NUM_REST_INPUTS,
    REST_ACTIONS,
    REST_INPUTS,
)
from byzanz_env.games.byzanz.observe import LAYOUT
from byzanz_env.games.byzanz.rules import NUM_ACTIONS, NUM_TYPES
from training.kernels import take_columns

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

FILL = 64  # the sizes of batches that only play are multiples of this


def input_scale() -> torch.Tensor:
    """One factor per number of the observation."""
    parts = [np.full(part.size, 1 / SCALES.get(part.name, 1.0)) for part in LAYOUT]
    return torch.tensor(np.concatenate(parts), dtype=torch.float32)


class PolicyNetwork(nn.Module):
    """Hidden layers and the outcome head (who wins, by how much), which all our networks have.

    `scales` are the factors of the weights that read raw observations, one per column: cheaper than scaling
    every observation, and folded into the weights of a policy file. `columns` says where each action
    stands among the logits: the network gives them as it has them, and who reads them looks there.
    """

    def __init__(
        self, architecture: Architecture, scales: dict[str, torch.Tensor], columns: np.ndarray
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.scales = scales
        self.columns = columns
        widths = (architecture.inputs, *architecture.hidden)
        self.hidden = nn.ModuleList(nn.Linear(inputs, units) for inputs, units in pairwise(widths))
        self.outcome = nn.Linear(widths[-1], NUM_OUTCOMES)

    def initialise(self, generator: torch.Generator) -> None:
        """Orthogonal weights; heads small, so that the first policy is nearly uniform."""
        for name, layer in self.named_modules():
            if isinstance(layer, nn.Linear):
                gain = {"policy": 0.01, "outcome": 0.1}.get(name.split("_")[0], 2**0.5)
                nn.init.orthogonal_(layer.weight, gain, generator)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)

    def scaled(self, layer: str) -> torch.Tensor:
        """The weights of a layer that reads raw observations."""
        name = f"{layer}.weight"
        return self.get_parameter(name) * self.scales[name]

    def run_hidden(self, x: torch.Tensor) -> torch.Tensor:
        """The hidden layers."""
        first, *others = self.hidden
        assert isinstance(first, nn.Linear)
        x = torch.relu(linear(x, self.scaled("hidden.0"), first.bias))
        for layer in others:
            x = torch.relu(layer(x))
        return x

    def to_tensors(self) -> dict[str, np.ndarray]:
        """The tensors of a policy file."""
        tensors = {name: value.detach().float().numpy().copy() for name, value in self.state_dict().items()}
        for name, scale in self.scales.items():
            tensors[name] *= scale.numpy()
        return tensors

    def load_tensors(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Take over the tensors of a policy file of the same architecture."""
        self.load_state_dict(self._unscaled(tensors))

    def grow_from(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Take over a network with as many, but narrower hidden layers, and compute what it computes.

        The units that are new keep the weights they read with, and nobody reads them yet.
        """
        with torch.no_grad():
            for name, old in self._unscaled(tensors).items():
                new = self.get_parameter(name)
                new[: len(old)] = 0
                new[tuple(map(slice, old.shape))] = old

    def _unscaled(self, tensors: Mapping[str, np.ndarray]) -> dict[str, torch.Tensor]:
        own = {name: torch.tensor(np.asarray(tensor)) for name, tensor in tensors.items()}
        for name, scale in self.scales.items():
            own[name] = own[name] / scale
        return own


class PlainNetwork(PolicyNetwork):
    """An MLP on the whole observation."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture, {"hidden.0.weight": input_scale()}, np.arange(NUM_ACTIONS))
        self.policy = nn.Linear(architecture.hidden[-1], NUM_ACTIONS)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [B, A] and raw outcomes [B, 12] of raw int8 observations."""
        x = self.run_hidden(observations.to(_dtype()))
        return self.policy(x), self.outcome(x)


class GoodsNetwork(PolicyNetwork):
    """The same small encoder and decoder for every good, and the hidden layers between them."""

    def __init__(self, architecture: Architecture) -> None:
        units, last = architecture.good_units, architecture.hidden[-1]
        of_good, of_rest = input_scale()[GOOD_INPUTS[0]], input_scale()[REST_INPUTS]
        scales = {
            "good_in.weight": of_good,
            "good_rest.weight": of_rest,
            "hidden.0.weight": torch.cat([torch.ones(NUM_TYPES * units), of_rest]),
        }
        super().__init__(
            architecture, scales, np.argsort(np.concatenate([GOOD_ACTIONS.reshape(-1), REST_ACTIONS]))
        )
        self.good_in = nn.Linear(NUM_GOOD_INPUTS, units, bias=False)
        self.good_rest = nn.Linear(NUM_REST_INPUTS, units, bias=False)
        self.good_place = nn.Parameter(torch.zeros(NUM_TYPES, units))
        self.good_out = nn.Linear(units, units)
        self.answer_good = nn.Linear(units, units, bias=False)
        self.answer_rest = nn.Linear(last, units, bias=False)
        self.answer_place = nn.Parameter(torch.zeros(NUM_TYPES, units))
        self.policy_good = nn.Linear(units, NUM_GOOD_ACTIONS)
        self.policy_rest = nn.Linear(last, NUM_REST_ACTIONS)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [B, A], ordered by `columns`, and raw outcomes [B, 12] of raw int8 observations."""
        dtype, rows = _dtype(), len(observations)
        goods = _columns(observations, GOOD_INPUTS.reshape(-1)).to(dtype).view(rows, NUM_TYPES, -1)
        rest = _columns(observations, REST_INPUTS).to(dtype)
        shared = linear(rest, self.scaled("good_rest"))[:, None] + self.good_place.to(dtype)
        seen = torch.relu(linear(goods, self.scaled("good_in")) + shared)
        seen = torch.relu(self.good_out(seen))
        x = self.run_hidden(torch.cat([seen.view(rows, -1), rest], dim=1))
        shared = self.answer_rest(x)[:, None] + self.answer_place.to(dtype)
        of_goods = self.policy_good(torch.relu(self.answer_good(seen) + shared))
        return torch.cat([of_goods.view(rows, -1), self.policy_rest(x)], dim=1), self.outcome(x)


def _columns(observations: torch.Tensor, columns: np.ndarray) -> torch.Tensor:
    """Some numbers of each observation; quicker than torch's index_select."""
    out = np.empty((len(observations), len(columns)), dtype=np.int8)
    take_columns(observations.numpy(), columns, out)
    return torch.from_numpy(out)


def _dtype() -> torch.dtype:
    return torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32


def fits(architecture: Architecture) -> bool:
    """Whether there is a torch module for a network of this architecture."""
    return architecture.canonical and architecture.outcome and architecture.activation == "relu"


def infer(network: PolicyNetwork, observations: np.ndarray, bf16: bool) -> tuple[np.ndarray, np.ndarray]:
    """Logits, ordered by `columns`, and raw outcomes, without gradients.

    Filled up to one of a few sizes: the first product of each size costs torch a millisecond to prepare.
    """
    rows = len(observations)
    batch = np.zeros((-(-rows // FILL) * FILL, observations.shape[1]), dtype=np.int8)
    batch[:rows] = observations
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        logits, raw = network(torch.from_numpy(batch))
    return logits[:rows].float().numpy(), raw[:rows].float().numpy()


def make_network(architecture: Architecture) -> PolicyNetwork:
    """The torch module of an architecture."""
    return GoodsNetwork(architecture) if architecture.good_units else PlainNetwork(architecture)
