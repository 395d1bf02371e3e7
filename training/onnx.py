"""Export a policy file as ONNX, for other runtimes: `python -m training.onnx POLICY.safetensors OUT.onnx`.

The graph takes raw observations as float32 [B, D] and gives logits [B, A] (before masking) and, where there
are any, outcomes [B, 12]. A canonical policy expects observations with the goods in canonical order
(byzanz_env/games/byzanz/symmetry.py). The written file is run and compared before it is handed out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from byzanz_env.agents.network import NUM_OUTCOMES, Architecture, Network
from byzanz_env.agents.policy import PolicyFile, read_policy
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.files import write_atomically
from byzanz_env.games.byzanz.goods import (
    GOOD_ACTIONS,
    GOOD_INPUTS,
    REST_ACTIONS,
    REST_INPUTS,
)
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import NUM_ACTIONS, NUM_TYPES

OPSET = 17
TOLERANCE = 1e-4
CHECKED_ROWS = 256


class _Graph:
    """Nodes and constants under construction; every method gives the name of its result."""

    def __init__(self, policy: PolicyFile) -> None:
        self.activation = {"relu": "Relu", "tanh": "Tanh"}[policy.architecture.activation]
        self.nodes: list[onnx.NodeProto] = []
        self.constants = {name: np.asarray(tensor) for name, tensor in policy.tensors.items()}

    def node(self, operator: str, *inputs: str, out: str = "", **attributes: int) -> str:
        out = out or f"{operator}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [out], **attributes))
        return out

    def constant(self, value: np.ndarray) -> str:
        name = f"constant.{len(self.constants)}"
        self.constants[name] = value
        return name

    def layer(self, value: str, name: str, out: str = "") -> str:
        return self.node("Gemm", value, f"{name}.weight", f"{name}.bias", out=out, transB=1)

    def product(self, value: str, name: str) -> str:
        """Also for values with more than two axes."""
        return self.node("MatMul", value, self.constant(self.constants[f"{name}.weight"].T.copy()))

    def columns(self, value: str, table: np.ndarray, out: str = "") -> str:
        return self.node("Gather", value, self.constant(table.astype(np.int64)), out=out, axis=1)

    def reshape(self, value: str, *shape: int) -> str:
        return self.node("Reshape", value, self.constant(np.array([-1, *shape])))

    def hidden(self, value: str, layers: int) -> str:
        for layer in range(layers):
            value = self.node(self.activation, self.layer(value, f"hidden.{layer}"))
        return value

    def for_each_good(self, of_good: str, of_rest: str, place: str) -> str:
        """A layer that adds what it makes of each good, of the rest and of the good's place."""
        shared = self.node("Unsqueeze", of_rest, self.constant(np.array([1])))
        total = self.node("Add", of_good, self.node("Add", shared, place))
        return self.node(self.activation, total)


def to_onnx(policy: PolicyFile) -> onnx.ModelProto:
    """The network of a policy as an ONNX model."""
    shape = policy.architecture
    graph = _Graph(policy)
    if shape.good_units:
        last = _goods(graph, shape)
    else:
        last = graph.hidden("observations", len(shape.hidden))
        graph.layer(last, "policy", out="logits")
    outputs = {"logits": NUM_ACTIONS}
    if shape.outcome:
        graph.layer(last, "outcome", out="outcomes")
        outputs["outcomes"] = NUM_OUTCOMES
    return _model(policy, graph, outputs)


def _goods(graph: _Graph, shape: Architecture) -> str:
    """The network that all goods share, with its logits; its last hidden layer."""
    goods = graph.columns("observations", GOOD_INPUTS.reshape(-1))
    goods = graph.reshape(goods, *GOOD_INPUTS.shape)
    rest = graph.columns("observations", REST_INPUTS)
    seen = graph.for_each_good(
        graph.product(goods, "good_in"), graph.product(rest, "good_rest"), "good_place"
    )
    seen = graph.node(graph.activation, graph.node("Add", graph.product(seen, "good_out"), "good_out.bias"))
    flat = graph.reshape(seen, NUM_TYPES * shape.good_units)
    last = graph.hidden(graph.node("Concat", flat, rest, axis=1), len(shape.hidden))
    answer = graph.for_each_good(
        graph.product(seen, "answer_good"), graph.product(last, "answer_rest"), "answer_place"
    )
    of_goods = graph.node("Add", graph.product(answer, "policy_good"), "policy_good.bias")
    flat = graph.reshape(of_goods, GOOD_ACTIONS.size)
    by_head = np.concatenate([GOOD_ACTIONS.reshape(-1), REST_ACTIONS])
    logits = graph.node("Concat", flat, graph.layer(last, "policy_rest"), axis=1)
    graph.columns(logits, np.argsort(by_head), out="logits")
    return last


def _model(policy: PolicyFile, built: _Graph, outputs: dict[str, int]) -> onnx.ModelProto:
    used = {name for node in built.nodes for name in node.input}
    graph = helper.make_graph(
        built.nodes,
        "policy",
        [helper.make_tensor_value_info("observations", TensorProto.FLOAT, ["batch", OBSERVATION_SIZE])],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", size])
            for name, size in outputs.items()
        ],
        [numpy_helper.from_array(array, name) for name, array in built.constants.items() if name in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    helper.set_model_props(model, {"name": policy.name, "sha256": policy.sha256})
    onnx.checker.check_model(model)
    return model


def largest_difference(policy: PolicyFile, model: onnx.ModelProto) -> float:
    """How far ONNX and our own runtime are apart, over legal actions of played positions."""
    env = BatchEnv(CHECKED_ROWS, [3 + row % 4 for row in range(CHECKED_ROWS)])
    env.reset()
    for _ in range(40):
        env.step(env.action_masks.argmax(axis=1))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, {"observations": env.observations.astype(np.float32)})
    logits, outcomes = Network(policy.architecture, policy.tensors).forward(
        env.observations, env.action_masks
    )
    legal = env.action_masks > 0
    difference = np.abs(outputs[0][legal] - logits[legal]).max()
    if policy.architecture.outcome:
        difference = max(difference, np.abs(outputs[1] - outcomes).max())
    return float(difference)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.onnx", description=__doc__)
    parser.add_argument("policy")
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args(arguments)
    try:
        policy = read_policy(chosen.policy)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    model = to_onnx(policy)
    difference = largest_difference(policy, model)
    if difference > TOLERANCE:
        print(f"error: the ONNX network differs by {difference:g}; nothing was written", file=sys.stderr)
        return 1
    write_atomically(chosen.out, model.SerializeToString())
    print(f"{chosen.out} written; largest difference to our own runtime {difference:.2g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
