"""The forward pass of a policy network, compiled: no torch, and the same numbers for any batch.

A network is a plain MLP on the raw observation with a policy head and, if trained for it, an outcome head
(who wins, and by how many points, for every seat from the observer's left). Parameters lie in one flat
float32 array. Rows are computed one by one, skipping zeros: most of an observation and half of each
hidden layer are zero, and only legal actions need a logit, so this keeps pace with a matrix product and
its result never depends on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS

ACTIVATIONS: Final = ("relu", "tanh")
MAX_HIDDEN_LAYERS: Final = 4
MAX_WIDTH: Final = 2048
NUM_OUTCOMES: Final = 2 * MAX_PLAYERS  # winner logits, then margins in tens of points
ILLEGAL: Final = np.float32(-1e9)


@dataclass(frozen=True)
class Architecture:
    """Our own registry of networks: what a policy file may describe, and nothing else."""

    hidden: tuple[int, ...] = (256, 256)
    activation: str = "relu"
    canonical: bool = True  # sees the goods in canonical order (games/byzanz/symmetry.py)
    outcome: bool = True  # has the outcome head

    def __post_init__(self) -> None:
        if not 1 <= len(self.hidden) <= MAX_HIDDEN_LAYERS:
            raise ValueError(
                f"a network has 1 to {MAX_HIDDEN_LAYERS} hidden layers, not {len(self.hidden)}"
            )
        for width in self.hidden:
            if not 1 <= width <= MAX_WIDTH:
                raise ValueError(f"a hidden layer has 1 to {MAX_WIDTH} units, not {width}")
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"unknown activation {self.activation!r}; known: {', '.join(ACTIVATIONS)}")

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every tensor, weights as [outputs, inputs] like torch."""
        shapes: dict[str, tuple[int, ...]] = {}
        width = OBSERVATION_SIZE
        for layer, units in enumerate(self.hidden):
            shapes[f"hidden.{layer}.weight"] = (units, width)
            shapes[f"hidden.{layer}.bias"] = (units,)
            width = units
        heads = (
            {"policy": NUM_ACTIONS, "outcome": NUM_OUTCOMES} if self.outcome else {"policy": NUM_ACTIONS}
        )
        for head, units in heads.items():
            shapes[f"{head}.weight"] = (units, width)
            shapes[f"{head}.bias"] = (units,)
        return shapes


class Network:
    """An architecture and its parameters, ready to play."""

    def __init__(self, architecture: Architecture, tensors: Mapping[str, np.ndarray]) -> None:
        self.architecture = architecture
        self.sizes = np.array([OBSERVATION_SIZE, *architecture.hidden], dtype=np.int64)
        self.tanh = architecture.activation == "tanh"
        parts = []
        for name in architecture.shapes:
            tensor = np.asarray(tensors[name], dtype=np.float32)
            is_hidden = name.startswith("hidden.") and name.endswith(".weight")
            parts.append((tensor.T if is_hidden else tensor).reshape(-1))  # hidden: one row per input
        self.parameters = np.ascontiguousarray(np.concatenate(parts))

    def forward(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits [B, A] with -1e9 where illegal, and raw outcomes [B, 12] (zeros without that head)."""
        logits = np.empty((len(observations), NUM_ACTIONS), dtype=np.float32)
        outcomes = np.zeros((len(observations), NUM_OUTCOMES), dtype=np.float32)
        _forward_rows(
            observations,
            masks,
            self.parameters,
            self.sizes,
            self.tanh,
            self.architecture.outcome,
            logits,
            outcomes,
        )
        return logits, outcomes


@njit
def _forward_rows(
    observations: np.ndarray,
    masks: np.ndarray,
    parameters: np.ndarray,
    sizes: np.ndarray,
    tanh: bool,
    has_outcome: bool,
    logits: np.ndarray,
    outcomes: np.ndarray,
) -> None:
    scratch = np.empty((2, MAX_WIDTH), dtype=np.float32)
    for row in range(len(observations)):
        forward_row(
            observations[row],
            masks[row],
            parameters,
            sizes,
            tanh,
            has_outcome,
            scratch,
            logits[row],
            outcomes[row],
        )


@njit
def forward_row(
    observation: np.ndarray,
    mask: np.ndarray,
    parameters: np.ndarray,
    sizes: np.ndarray,
    tanh: bool,
    has_outcome: bool,
    scratch: np.ndarray,
    logits: np.ndarray,
    outcome: np.ndarray,
) -> None:
    """One row of the forward pass; also called from within compiled searches."""
    layers = len(sizes) - 1
    offset = 0
    for layer in range(layers):
        inputs, units = int(sizes[layer]), int(sizes[layer + 1])
        target = scratch[layer % 2]
        source = scratch[1 - layer % 2]
        bias = offset + inputs * units
        for j in range(units):
            target[j] = parameters[bias + j]
        for i in range(inputs):
            value = np.float32(observation[i]) if layer == 0 else source[i]
            if value != 0:
                _add_scaled(parameters[offset + i * units :], value, units, target)
        for j in range(units):
            if tanh:
                target[j] = np.tanh(target[j])
            elif target[j] < 0:
                target[j] = np.float32(0)
        offset = bias + units
    hidden = scratch[(layers - 1) % 2]
    width = int(sizes[layers])
    bias = offset + NUM_ACTIONS * width
    for action in range(NUM_ACTIONS):
        logits[action] = ILLEGAL
        if mask[action]:
            logits[action] = (
                _dot(hidden, parameters, offset + action * width, width) + parameters[bias + action]
            )
    if has_outcome:
        offset = bias + NUM_ACTIONS
        bias = offset + NUM_OUTCOMES * width
        for i in range(NUM_OUTCOMES):
            outcome[i] = _dot(hidden, parameters, offset + i * width, width) + parameters[bias + i]


@njit
def _add_scaled(row: np.ndarray, scale: Any, count: int, out: np.ndarray) -> None:
    for j in range(count):
        out[j] += scale * row[j]


@njit
def _dot(vector: np.ndarray, parameters: np.ndarray, start: int, width: int) -> Any:
    """A dot product in eight partial sums, which the compiler can hold in one register."""
    sums = np.zeros(8, dtype=np.float32)
    whole = width - width % 8
    for i in range(0, whole, 8):
        for lane in range(8):
            sums[lane] += vector[i + lane] * parameters[start + i + lane]
    total = np.float32(0)
    for lane in range(8):
        total += sums[lane]
    for i in range(whole, width):
        total += vector[i] * parameters[start + i]
    return total


def win_chances(outcomes: np.ndarray, players: np.ndarray) -> np.ndarray:
    """Softmax over the seats of each game [B, 6], zero for absent seats."""
    present = np.arange(MAX_PLAYERS)[None, :] < players[:, None]
    logits = np.where(present, outcomes[:, :MAX_PLAYERS], -np.inf)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return chances
