"""Kill a training run at random moments, go on, and compare its end with an undisturbed run.

`python -m tests.training.kill_runs KILLS` prints how many kills were survived; `make verify` runs many.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import torch

from byzanz_env.agents.policy import PolicyFile, save_policy
from tests.training.conftest import TINY
from training.checkpoint import load_newest, numbers
from training.config import from_table
from training.display import Display
from training.network import make_network
from training.runs import Run
from training.train import Training

# Processes are forked from one that has everything loaded, so that fifty kills fit into the tests.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.training.warm"])


def train(folder: Path, config: dict) -> None:
    """The life of a process that trains in `folder`, saving after every update."""
    log = os.open(log_of(folder), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    run = Run.open(folder) if (folder / "config.json").exists() else Run.create(folder, from_table(config))
    Training(run, Display()).go(None)


def child(folder: Path, config: dict) -> multiprocessing.Process:
    process = FORKS.Process(target=train, args=(folder, config))
    process.start()
    return process


def ended_well(process: multiprocessing.Process) -> bool:
    process.join()
    return process.exitcode == 0


def log_of(folder: Path) -> Path:
    return folder.with_suffix(".log")


def result(folder: Path) -> dict[str, bytes]:
    found = load_newest(folder / "checkpoints")
    assert found is not None
    arrays, table, complaints = found
    assert complaints == []
    assert not list((folder / "checkpoints").glob(".*.tmp"))
    state = {name: array.tobytes() for name, array in arrays.items()}
    for key in ("updates", "best", "entropy"):
        state[key] = json.dumps(table[key] | {"seconds": 0} if key == "best" else table[key]).encode()
    return state


def progress(folder: Path) -> int:
    return max(numbers(folder / "checkpoints"), default=-1)


def run_with_kills(config: dict, kills: int, seed: int) -> int:
    """Return how many kills hit the run before it was complete; fails if anything was lost."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as home:
        quiet, hit = Path(home) / "quiet", Path(home) / "hit"
        assert ended_well(child(quiet, config)), log_of(quiet).read_text()
        survived = 0
        while True:
            before = progress(hit)
            process = child(hit, config)
            if survived >= kills:
                assert ended_well(process), log_of(hit).read_text()
                break
            # Most kills come after this process has saved something, every fourth at any time.
            while survived % 4 and process.is_alive() and progress(hit) <= before:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.15 if survived % 4 else 1.5))
            if not process.is_alive():
                assert ended_well(process), log_of(hit).read_text()
                break
            process.kill()
            process.join()
            survived += 1
            assert progress(hit) >= before, "a saved update was lost"
        assert result(hit) == result(quiet), "the resumed run differs from the undisturbed one"
        lines = [json.loads(line) for line in (hit / "metrics.jsonl").read_text().splitlines()]
        assert [line["update"] for line in lines] == list(range(1, len(lines) + 1))
        evaluations = [(folder / "evaluations.jsonl").read_text() for folder in (hit, quiet)]
        assert evaluations[0] == evaluations[1]
    return survived


def many_kills(wanted: int) -> int:
    """Kill until `wanted` kills have hit; return how many runs that took.

    With one worker and with two; every other run starts from a policy, which it evaluates first.
    """
    done, seed = 0, 0
    with tempfile.TemporaryDirectory() as home:
        start = Path(home) / "start.safetensors"
        architecture = from_table(TINY).architecture
        network = make_network(architecture)
        network.initialise(torch.Generator().manual_seed(1))
        save_policy(start, PolicyFile("start", architecture, network.to_tensors()))
        while done < wanted:
            config = {**TINY, "save_minutes": 1e-9, "decisions": 60 * 16 * 32, "workers": 1 + seed % 2}
            config["evaluation"] = {**TINY["evaluation"], "every": 4 * 16 * 32}
            if seed % 2:
                config["net"] = {**TINY["net"], "start_from": str(start)}
            done += run_with_kills(config, min(25, wanted - done), seed)
            seed += 1
    return seed


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    runs = many_kills(wanted)
    print(f"{wanted} kills survived in {runs} runs; every run ended like its undisturbed twin")


if __name__ == "__main__":
    main()
