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

from byzanz_env.agents.network import NUM_OUTCOMES, Network
from byzanz_env.agents.policy import PolicyFile, read_policy
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import NUM_ACTIONS

OPSET = 17
TOLERANCE = 1e-4
CHECKED_ROWS = 256


def to_onnx(policy: PolicyFile) -> onnx.ModelProto:
    """The network of a policy as an ONNX model of Gemm and one activation."""
    activation = {"relu": "Relu", "tanh": "Tanh"}[policy.architecture.activation]
    nodes, value = [], "observations"
    for layer in range(len(policy.architecture.hidden)):
        weight, bias = f"hidden.{layer}.weight", f"hidden.{layer}.bias"
        nodes.append(helper.make_node("Gemm", [value, weight, bias], [f"sum.{layer}"], transB=1))
        nodes.append(helper.make_node(activation, [f"sum.{layer}"], [f"layer.{layer}"]))
        value = f"layer.{layer}"
    heads = {"policy": ("logits", NUM_ACTIONS)}
    if policy.architecture.outcome:
        heads["outcome"] = ("outcomes", NUM_OUTCOMES)
    for head, (name, _) in heads.items():
        nodes.append(helper.make_node("Gemm", [value, f"{head}.weight", f"{head}.bias"], [name], transB=1))
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observations", TensorProto.FLOAT, ["batch", OBSERVATION_SIZE])],
        [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", size])
            for n, size in heads.values()
        ],
        [numpy_helper.from_array(np.asarray(tensor), name) for name, tensor in policy.tensors.items()],
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
    chosen.out.write_bytes(model.SerializeToString())
    print(f"{chosen.out} written; largest difference to our own runtime {difference:.2g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
