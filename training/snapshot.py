"""The policy of a run that is not finished: `python -m training.snapshot RUN OUT.safetensors`.

Takes the weights of the newest whole checkpoint, for a look in the arena or as `net.start_from` of another
run. No evaluation is made; a finished run exports its opponent by itself.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from byzanz_env.agents.policy import PolicyFile, save_policy
from training.checkpoint import load_newest
from training.export import history
from training.network import make_network
from training.runs import read_config


def snapshot(folder: Path, out: Path) -> int:
    """Write the newest weights of a run; return the decisions it was trained on in all."""
    config = read_config(folder)
    found = load_newest(folder / "checkpoints")
    if found is None:
        raise ValueError(f"{folder} has no checkpoint yet")
    arrays, table, _ = found
    network = make_network(config.architecture)
    network.load_state_dict(
        {
            name[len("weights.") :]: torch.from_numpy(array.copy())
            for name, array in arrays.items()
            if name.startswith("weights.")
        }
    )
    training = history(config, table["origin"], int(table["updates"]), float(table["seconds"]))
    tensors, players = network.to_tensors(), tuple(config.game.shares)
    save_policy(out, PolicyFile(out.stem, config.architecture, tensors, players, training))
    return int(training["decisions"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.snapshot", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args(arguments)
    try:
        trained = snapshot(chosen.run, chosen.out)
    except (ValueError, RuntimeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{chosen.out} written: the policy after {trained:,} decisions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
