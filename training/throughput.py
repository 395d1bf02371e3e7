"""How fast training is and where its time goes: `python -m training.throughput`.

Trains some updates for 4 players with a plain 256x2 network, the size that others are measured with, or
with `--good-units 64`, the network of our configurations; all costs included. Prints trained decisions per
second of wall time, then the processor time per decision by part (of one worker alone, so that the figures
add up; processor time hardly depends on what else the machine does).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any

import torch

from training import kernels
from training import worker as worker_module
from training.config import PRECISIONS, from_table
from training.learner import Learner

PARTS = (
    ("collect", "collecting, in all"),
    ("forward in collecting", "    network"),
    ("canonicalise", "    canonical order of the goods"),
    ("env.step", "    engine: step, mask, observation"),
    ("sample", "    sampling"),
    ("estimate", "advantages"),
    ("gradient", "gradient, in all"),
    ("gather", "    copying the minibatch together"),
    ("forward in learning", "    network forward"),
    ("loss", "    loss and its gradient"),
    ("backward", "    network backward"),
    ("step", "adding up, clipping, Adam"),
)


def settings(workers: int, epochs: int, good_units: int, precision: str = "auto") -> dict[str, Any]:
    """Four players, 256x2, the defaults otherwise."""
    return {
        "workers": workers,
        "precision": precision,
        "net": {"good_units": good_units},
        "game": {"tables": 512 * workers, "share_3": 0.0, "share_4": 1.0, "share_5": 0.0, "share_6": 0.0},
        "ppo": {"minibatch": 4096 * workers, "epochs": epochs},
    }


def speed(workers: int, updates: int, *shape: Any) -> float:
    """Median trained decisions per second over some updates, after two to warm up."""
    learner = Learner(from_table(settings(workers, *shape)))
    for _ in range(2):
        learner.update()
    rates = []
    for _ in range(updates):
        begun = time.perf_counter()
        learner.update()
        rates.append(learner.config.batch / (time.perf_counter() - begun))
    learner.close()
    return statistics.median(rates)


def profile(updates: int, *shape: Any) -> dict[str, float]:
    """Microseconds of processor time per trained decision, by part."""
    learner = Learner(from_table(settings(1, *shape)))
    learner.update()
    worker = learner.workers[0]
    spent: dict[str, float] = {}
    watched: list[tuple[Any, str, Any]] = []

    def watch(owner: Any, name: str, part: str) -> None:
        work = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            begun = time.thread_time()
            result = work(*arguments, **options)
            spent[part] = spent.get(part, 0.0) + time.thread_time() - begun
            return result

        watched.append((owner, name, work))
        setattr(owner, name, timed)

    for owner, name, part in (
        (worker, "collect", "collect"),
        (worker_module, "infer", "forward in collecting"),
        (worker.env, "canonicalise", "canonicalise"),
        (worker.env, "step", "env.step"),
        (kernels, "sample_actions", "sample"),
        (worker, "estimate", "estimate"),
        (worker, "gradient", "gradient"),
        (kernels, "gather", "gather"),
        (worker.network, "forward", "forward"),
        (kernels, "loss_gradient", "loss"),
        (torch.autograd, "backward", "backward"),
        (learner, "_step", "step"),
    ):
        watch(owner, name, part)
    for _ in range(updates):
        learner.update()
    for owner, name, work in watched:
        setattr(owner, name, work)
    learner.close()
    spent["forward in learning"] = spent["forward"] - spent["forward in collecting"]
    return {part: seconds * 1e6 / (updates * learner.config.batch) for part, seconds in spent.items()}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.throughput", description=__doc__)
    parser.add_argument("--updates", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument(
        "--good-units", type=int, default=0, help="shared by the goods (default: plain MLP)"
    )
    parser.add_argument("--precision", default="auto", choices=PRECISIONS)
    chosen = parser.parse_args(arguments)
    shape = (chosen.epochs, chosen.good_units, chosen.precision)
    for workers in (1, 2):
        rate = speed(workers, chosen.updates, *shape)
        print(f"{workers} worker{'s' * (workers > 1)}: {rate:,.0f} trained decisions/s of wall time")
    times = profile(chosen.updates, *shape)
    total = times["collect"] + times["estimate"] + times["gradient"] + times["step"]
    print(f"\n| part | µs per decision | share |\n|---|---|---|\n| all | {total:.1f} | 100 % |")
    for part, label in PARTS:
        print(f"| {label.replace('    ', '&emsp;')} | {times[part]:.2f} | {times[part] / total:.0%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
