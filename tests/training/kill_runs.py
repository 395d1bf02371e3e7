"""Kill a training run at random moments, go on, and compare its end with an undisturbed run.

`python -m tests.training.kill_runs KILLS` prints how many kills were survived; `make verify` runs many.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.training.conftest import TINY
from training.checkpoint import load_newest, numbers

PROGRAM = """
import sys, json
from pathlib import Path
from training.config import from_table
from training.display import Display
from training.runs import Run
from training.train import Training
folder = Path(sys.argv[1])
if (folder / "config.json").exists():
    run = Run.open(folder)
else:
    run = Run.create(folder, from_table(json.loads(sys.argv[2])))
Training(run, Display()).go(None)
"""


def child(folder: Path, config: dict) -> subprocess.Popen:
    """A process that trains in `folder`, saving after every update."""
    with open(log_of(folder), "w") as log:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder), json.dumps(config)],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=Path(__file__).parents[2],
        )


def log_of(folder: Path) -> Path:
    return folder.with_suffix(".log")


def result(folder: Path) -> dict[str, bytes]:
    found = load_newest(folder / "checkpoints")
    assert found is not None
    arrays, table, complaints = found
    assert complaints == []
    assert not list((folder / "checkpoints").glob(".*.tmp"))
    state = {name: array.tobytes() for name, array in arrays.items()}
    state["updates"] = str(table["updates"]).encode()
    return state


def progress(folder: Path) -> int:
    return max(numbers(folder / "checkpoints"), default=-1)


def run_with_kills(config: dict, kills: int, seed: int) -> int:
    """Return how many kills hit the run before it was complete; fails if anything was lost."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as home:
        quiet, hit = Path(home) / "quiet", Path(home) / "hit"
        assert child(quiet, config).wait() == 0, log_of(quiet).read_text()
        survived = 0
        while True:
            before = progress(hit)
            process = child(hit, config)
            if survived >= kills:
                assert process.wait() == 0, log_of(hit).read_text()
                break
            while process.poll() is None and progress(hit) <= before:
                time.sleep(0.005)  # until this process has saved something
            time.sleep(rng.uniform(0, 0.15))
            if process.poll() is not None:
                assert process.returncode == 0, log_of(hit).read_text()
                break
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            survived += 1
            assert progress(hit) >= max(before, 0), "a saved update was lost"
        assert result(hit) == result(quiet), "the resumed run differs from the undisturbed one"
        lines = [json.loads(line) for line in (hit / "metrics.jsonl").read_text().splitlines()]
        assert [line["update"] for line in lines] == list(range(1, len(lines) + 1))
    return survived


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    done, seed = 0, 0
    while done < wanted:
        config = {**TINY, "save_minutes": 1e-9, "decisions": 60 * 16 * 32, "workers": 1 + seed % 2}
        done += run_with_kills(config, wanted - done, seed)
        seed += 1
    print(f"{done} kills survived in {seed} runs; every run ended like its undisturbed twin")


if __name__ == "__main__":
    main()
