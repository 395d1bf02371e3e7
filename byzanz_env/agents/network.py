"""The forward pass of a policy network, compiled: no torch, and the same numbers for any batch.

Our registry has two networks, both with a policy head and, if trained for it, an outcome head (who wins,
and by how many points, for every seat from the observer's left). The plain one is an MLP on the raw
observation. The other (`good_units` above 0) looks at every good with the same weights: a small encoder
reads what the seat sees of one good, the hidden layers read all six encodings and the rest of the
observation, and a small decoder answers for each good from its encoding and the last hidden layer.

Parameters lie in one flat float32 array. Rows are computed one by one, skipping zeros: most of an
observation and half of each hidden layer are zero, and only legal actions need a logit, so this keeps pace
with a matrix product and its result never depends on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from byzanz_env._jit import njit
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
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS, NUM_TYPES

ACTIVATIONS: Final = ("relu", "tanh")
MAX_HIDDEN_LAYERS: Final = 4
MAX_WIDTH: Final = 2048
MAX_GOOD_UNITS: Final = 256
NUM_OUTCOMES: Final = 2 * MAX_PLAYERS  # winner logits, then margins in tens of points
ILLEGAL: Final = np.float32(-1e9)
LARGEST_LOGIT: Final = np.float32(1e8)  # a legal action stays above ILLEGAL, whatever the weights are
SCRATCH_ROWS: Final = 4  # two for the hidden layers, two for the goods


@dataclass(frozen=True)
class Architecture:
    """Our own registry of networks: what a policy file may describe, and nothing else."""

    hidden: tuple[int, ...] = (256, 256)
    activation: str = "relu"
    canonical: bool = True  # sees the goods in canonical order (games/byzanz/symmetry.py)
    outcome: bool = True  # has the outcome head
    good_units: int = 0  # width of the encoder and decoder that all goods share; 0 for a plain MLP

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
        if not 0 <= self.good_units <= MAX_GOOD_UNITS:
            raise ValueError(f"the goods share 0 to {MAX_GOOD_UNITS} units, not {self.good_units}")

    @property
    def inputs(self) -> int:
        """Width of what the first hidden layer reads."""
        return NUM_TYPES * self.good_units + NUM_REST_INPUTS if self.good_units else OBSERVATION_SIZE

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every tensor, weights as [outputs, inputs] like torch."""
        units, last = self.good_units, self.hidden[-1]
        shapes: dict[str, tuple[int, ...]] = {}
        if units:
            shapes["good_in.weight"] = (units, NUM_GOOD_INPUTS)
            shapes["good_rest.weight"] = (units, NUM_REST_INPUTS)
            shapes["good_place"] = (NUM_TYPES, units)
            shapes |= _layer("good_out", units, units)
        width = self.inputs
        for layer, wide in enumerate(self.hidden):
            shapes |= _layer(f"hidden.{layer}", wide, width)
            width = wide
        if units:
            shapes["answer_good.weight"] = (units, units)
            shapes["answer_rest.weight"] = (units, last)
            shapes["answer_place"] = (NUM_TYPES, units)
            shapes |= _layer("policy_good", NUM_GOOD_ACTIONS, units)
            shapes |= _layer("policy_rest", NUM_REST_ACTIONS, last)
        else:
            shapes |= _layer("policy", NUM_ACTIONS, last)
        if self.outcome:
            shapes |= _layer("outcome", NUM_OUTCOMES, last)
        return shapes

    def __str__(self) -> str:
        layers = " x ".join(map(str, self.hidden))
        kind = f"{self.good_units} units shared by the goods, then {layers}" if self.good_units else layers
        return f"MLP {kind}{', goods in canonical order' if self.canonical else ''}"


def _layer(name: str, units: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (units, inputs), f"{name}.bias": (units,)}


class Network:
    """An architecture and its parameters, ready to play."""

    def __init__(self, architecture: Architecture, tensors: Mapping[str, np.ndarray]) -> None:
        self.architecture = architecture
        sizes = [architecture.good_units, architecture.inputs, *architecture.hidden]
        self.sizes = np.array(sizes, dtype=np.int64)
        self.tanh = architecture.activation == "tanh"
        parts = []
        for name in architecture.shapes:
            tensor = np.asarray(tensors[name], dtype=np.float32)
            by_input = name.startswith(("good_", "hidden.", "answer_")) and name.endswith(".weight")
            parts.append((tensor.T if by_input else tensor).reshape(-1))  # else one row per output
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
    scratch = np.empty((SCRATCH_ROWS, MAX_WIDTH), dtype=np.float32)
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
    sizes: np.ndarray,  # good units, inputs of the hidden layers, their widths
    tanh: bool,
    has_outcome: bool,
    scratch: np.ndarray,
    logits: np.ndarray,
    outcome: np.ndarray,
) -> None:
    """One row of the forward pass; also called from within compiled searches."""
    good_units = int(sizes[0])
    offset = 0
    if good_units > 0:
        offset = _read_goods(observation, parameters, good_units, tanh, scratch)
    else:
        for i in range(OBSERVATION_SIZE):
            scratch[0, i] = observation[i]
    layers = len(sizes) - 2
    for layer in range(layers):
        inputs, units = int(sizes[layer + 1]), int(sizes[layer + 2])
        target = scratch[(layer + 1) % 2]
        bias = offset + inputs * units
        for j in range(units):
            target[j] = parameters[bias + j]
        _add_product(scratch[layer % 2], inputs, parameters, offset, units, target)
        _activate(target, units, tanh)
        offset = bias + units
    hidden, width = scratch[layers % 2], int(sizes[-1])
    for action in range(NUM_ACTIONS):
        logits[action] = ILLEGAL
    if good_units > 0:
        offset = _answer_goods(hidden, width, mask, parameters, offset, good_units, tanh, scratch, logits)
    else:
        for action in range(NUM_ACTIONS):
            if mask[action]:
                logits[action] = _output(hidden, parameters, offset, action, NUM_ACTIONS, width)
        offset += NUM_ACTIONS * (width + 1)
    for action in range(NUM_ACTIONS):
        if mask[action]:
            logits[action] = _bounded(logits[action])
    if has_outcome:
        for i in range(NUM_OUTCOMES):
            outcome[i] = _bounded(_output(hidden, parameters, offset, i, NUM_OUTCOMES, width))


@njit
def _bounded(value: Any) -> Any:
    """A file may hold weights so large that their sums overflow: then the smallest number there is."""
    if not abs(value) <= LARGEST_LOGIT:  # also where it is no number
        return -LARGEST_LOGIT
    return value


@njit
def _read_goods(
    observation: np.ndarray, parameters: np.ndarray, units: int, tanh: bool, scratch: np.ndarray
) -> int:
    """Write all encodings and the rest of the observation into `scratch[0]`, the encodings also into
    `scratch[2]`; return where the parameters of the hidden layers begin."""
    inputs, rest, seen, work = scratch[0], scratch[1], scratch[2], scratch[3]
    from_rest = NUM_GOOD_INPUTS * units
    places = from_rest + NUM_REST_INPUTS * units
    second = places + NUM_TYPES * units
    bias = second + units * units
    for i in range(NUM_REST_INPUTS):
        rest[i] = observation[REST_INPUTS[i]]
        inputs[NUM_TYPES * units + i] = rest[i]
    shared = work[:units]
    shared[:] = 0
    _add_product(rest, NUM_REST_INPUTS, parameters, from_rest, units, shared)
    first = work[units : 2 * units]
    own = work[2 * units : 2 * units + NUM_GOOD_INPUTS]
    for good in range(NUM_TYPES):
        encoding = seen[good * units : (good + 1) * units]
        for i in range(NUM_GOOD_INPUTS):
            own[i] = observation[GOOD_INPUTS[good, i]]
        for j in range(units):
            first[j] = parameters[places + good * units + j] + shared[j]
            encoding[j] = parameters[bias + j]
        _add_product(own, NUM_GOOD_INPUTS, parameters, 0, units, first)
        _activate(first, units, tanh)
        _add_product(first, units, parameters, second, units, encoding)
        _activate(encoding, units, tanh)
        for j in range(units):
            inputs[good * units + j] = encoding[j]
    return int(bias + units)


@njit
def _answer_goods(
    hidden: np.ndarray,
    width: int,
    mask: np.ndarray,
    parameters: np.ndarray,
    offset: int,
    units: int,
    tanh: bool,
    scratch: np.ndarray,
    logits: np.ndarray,
) -> int:
    """Write the logits of legal actions; return where the parameters of the outcome head begin."""
    seen, shared, answer = scratch[2], scratch[3, :units], scratch[3, units : 2 * units]
    from_hidden = offset + units * units
    places = from_hidden + width * units
    of_goods = places + NUM_TYPES * units
    of_rest = of_goods + NUM_GOOD_ACTIONS * (units + 1)
    shared[:] = 0
    _add_product(hidden, width, parameters, from_hidden, units, shared)
    for good in range(NUM_TYPES):
        asked = False
        for action in GOOD_ACTIONS[good]:
            asked = asked or mask[action] > 0
        if not asked:
            continue
        for j in range(units):
            answer[j] = parameters[places + good * units + j] + shared[j]
        _add_product(seen[good * units :], units, parameters, offset, units, answer)
        _activate(answer, units, tanh)
        for i in range(NUM_GOOD_ACTIONS):
            if mask[GOOD_ACTIONS[good, i]]:
                logit = _output(answer, parameters, of_goods, i, NUM_GOOD_ACTIONS, units)
                logits[GOOD_ACTIONS[good, i]] = logit
    for i in range(NUM_REST_ACTIONS):
        if mask[REST_ACTIONS[i]]:
            logits[REST_ACTIONS[i]] = _output(hidden, parameters, of_rest, i, NUM_REST_ACTIONS, width)
    return int(of_rest + NUM_REST_ACTIONS * (width + 1))


@njit
def _add_product(
    vector: np.ndarray, inputs: int, parameters: np.ndarray, offset: int, units: int, out: np.ndarray
) -> None:
    """Add the product of a vector, mostly zeros, with a matrix that has one row per input."""
    for i in range(inputs):
        if vector[i] != 0:
            _add_scaled(parameters[offset + i * units :], vector[i], units, out)


@njit
def _activate(vector: np.ndarray, units: int, tanh: bool) -> None:
    for j in range(units):
        if tanh:
            vector[j] = np.tanh(vector[j])
        elif vector[j] < 0:
            vector[j] = np.float32(0)


@njit
def _output(
    vector: np.ndarray, parameters: np.ndarray, offset: int, index: int, outputs: int, width: int
) -> Any:
    """Output `index` of a head with one row of weights per output and its biases behind them."""
    return (
        _dot(vector, parameters, offset + index * width, width)
        + parameters[offset + outputs * width + index]
    )


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
