"""The learner: one PPO update after the other, the same for any timing of its workers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import torch

from byzanz_env.agents import load
from byzanz_env.agents.policy import read_policy
from training.config import Config
from training.network import make_network
from training.opponents import OpponentPool, Snapshot
from training.worker import NUM_STATISTICS, Worker

Result = TypeVar("Result")
ADAM_EPSILON = 1e-5


class TrainingError(RuntimeError):
    """Training cannot go on; the message says why and what to do."""


def has_bf16() -> bool:
    """Whether the processor multiplies bfloat16 matrices itself."""
    probe = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(probe()) if probe else False


class Learner:
    """Weights, optimiser, workers and pool; `update` collects and learns once.

    With `resumes` the weights come from `restore`, and `net.start_from` need not be there any more.
    """

    def __init__(self, config: Config, resumes: bool = False) -> None:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        self.config = config
        self.bf16 = config.precision == "bf16" or (config.precision == "auto" and has_bf16())
        self.architecture = config.architecture
        self.network = make_network(self.architecture)
        self.network.initialise(torch.Generator().manual_seed(config.seed))
        self.origin: dict[str, Any] = {}  # the policy of net.start_from: name, sha256, how it was trained
        if config.net.start_from and not resumes:
            self._start_from(config.net.start_from)
        self.optimiser = torch.optim.Adam(
            self.network.parameters(), lr=1e-3, eps=ADAM_EPSILON, foreach=False
        )
        agents = [load(spec) for spec in config.pool.agents]
        self.pool = OpponentPool(config.pool, self.architecture, agents, self.bf16)
        self.workers = [
            Worker(index, config, self.network, self.pool, self.bf16) for index in range(config.workers)
        ]
        # OpenMP counts its threads per thread: unless told, a new one would split matrix products in two.
        self._threads = (
            ThreadPoolExecutor(config.workers, initializer=torch.set_num_threads, initargs=(1,))
            if config.workers > 1
            else None
        )
        self.updates = 0
        self.entropy = float("inf")  # of the last update; nats a decision

    def _start_from(self, path: str) -> None:
        policy = read_policy(path)
        given = policy.architecture.hidden
        widest = dataclasses.replace(policy.architecture, hidden=self.architecture.hidden)
        narrower = len(given) == len(self.architecture.hidden) and all(
            old <= new for old, new in zip(given, self.architecture.hidden, strict=True)
        )
        if widest != self.architecture or not narrower:
            raise TrainingError(
                f"{path} has the network {policy.architecture}; net.hidden must be the same or wider, "
                "and net.good_units the same"
            )
        self.network.grow_from(policy.tensors)
        self.origin = {"name": policy.name, "sha256": policy.sha256, "training": dict(policy.training)}

    @property
    def trained(self) -> int:
        """Decisions collected so far."""
        return self.updates * self.config.batch

    def close(self) -> None:
        if self._threads:
            self._threads.shutdown()
        for worker in self.workers:
            worker.env.close()

    # --- one update -------------------------------------------------------------------------------------

    def update(self) -> dict[str, float]:
        """Collect a rollout, learn from it, and return the figures of this update."""
        config = self.config
        progress = min(1.0, self.updates / config.updates)
        margin_weight = self._margin_weight(progress)
        learning_rate = _line(config.ppo.learning_rate, config.ppo.learning_rate_end, progress)
        entropy = _line(config.ppo.entropy, config.ppo.entropy_end, progress)
        if self.entropy < config.ppo.entropy_floor:
            entropy = max(entropy, config.ppo.entropy)
        trained = self.trained
        self._each(lambda worker: worker.collect(trained))
        sums = self._each(lambda worker: worker.estimate(margin_weight))
        mean, deviation, count = _mean_and_deviation(sums)
        self._must_be_finite("the advantages are", mean, deviation)
        coefficients = np.array(
            [config.ppo.clip, entropy, config.ppo.winner_weight, config.ppo.margin_weight]
        )
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate
        statistics, norms = self._learn(coefficients, mean, deviation, count)
        figures = _named(statistics)
        self.entropy = figures["entropy"]
        self.updates += 1
        self._maybe_snapshot()
        return {
            "update": self.updates,
            "decisions": self.trained,
            "learning_rate": learning_rate,
            "entropy_weight": entropy,
            "margin_weight": margin_weight,
            "advantage_deviation": deviation,
            "gradient_norm": float(np.mean(norms)),
            **figures,
        }

    def _learn(
        self, coefficients: np.ndarray, mean: float, deviation: float, count: int
    ) -> tuple[np.ndarray, list[float]]:
        config = self.config
        parts = max(1, round(count / config.ppo.minibatch))
        statistics, norms = np.zeros(NUM_STATISTICS), []
        for epoch in range(config.ppo.epochs):
            epoch_seed = (config.seed * 1_000_003 + self.updates) * 64 + epoch
            self._each(lambda worker, seed=epoch_seed: worker.shuffle(parts, seed))  # type: ignore[misc]
            for part in range(parts):
                scale = 1.0 / sum(len(worker.parts[part]) for worker in self.workers)
                sums = self._each(
                    lambda worker, part=part, scale=scale: worker.gradient(  # type: ignore[misc]
                        part, mean, deviation, coefficients, scale
                    )
                )
                statistics += sum(sums)
                self._must_be_finite("the loss is", *statistics)
                norms.append(self._step())
        return statistics, norms

    def _step(self) -> float:
        """Add up the workers' gradients in their order, clip, and let Adam take a step."""
        parameters = list(self.network.parameters())
        others = [list(worker.network.parameters()) for worker in self.workers]
        for i, parameter in enumerate(parameters):
            total = others[0][i].grad
            assert total is not None
            for more in others[1:]:
                total = total + more[i].grad  # type: ignore[operator]
            parameter.grad = total
        norm = torch.nn.utils.clip_grad_norm_(parameters, self.config.ppo.gradient_norm)
        self._must_be_finite("the gradient is", float(norm))
        self.optimiser.step()
        return float(norm)

    def _must_be_finite(self, subject: str, *values: float) -> None:
        """Stop before a number that is none reaches the weights."""
        if not np.isfinite(values).all():
            raise TrainingError(
                f"{subject} not finite in update {self.updates + 1}: the last checkpoint is kept; go on "
                "from it with python -m training --resume RUN and --set ppo.learning_rate=..., lower, or "
                "--set precision=fp32"
            )

    def _margin_weight(self, progress: float) -> float:
        reward = self.config.reward
        part = min(1.0, progress / reward.margin_until) if reward.margin_until > 0 else 1.0
        return _line(reward.margin, reward.margin_end, part)

    def _maybe_snapshot(self) -> None:
        if self.config.pool.share == 0 or self.config.pool.only:
            return
        every = self.config.pool.every
        if self.trained // every > (self.trained - self.config.batch) // every:
            self.pool.add(Snapshot(f"self-{self.trained}", self.network.to_tensors()))

    def _each(self, task: Callable[[Worker], Result]) -> list[Result]:
        """Let every worker do a task at the same time; results in the workers' order."""
        if self._threads is None:
            return [task(worker) for worker in self.workers]
        return list(self._threads.map(task, self.workers))

    # --- checkpoints ------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything the rest of the run depends on: arrays, and a plain table."""
        arrays: dict[str, np.ndarray] = {}
        for name, parameter in self.network.named_parameters():
            arrays[f"weights.{name}"] = parameter.detach().numpy()
            for key, moment in self.optimiser.state.get(parameter, {}).items():
                arrays[f"adam.{key}.{name}"] = np.atleast_1d(moment.detach().numpy())
        for worker in self.workers:
            arrays.update({f"worker{worker.index}.{key}": value for key, value in worker.state().items()})
        for i, snapshot in enumerate(self.pool.snapshots):
            arrays.update({f"pool{i}.{name}": tensor for name, tensor in snapshot.tensors.items()})
        table = {
            "updates": self.updates,
            "bf16": self.bf16,
            "pool": [snapshot.name for snapshot in self.pool.snapshots],
            "pool_agents": self.pool.contents,
            "origin": self.origin,
            "entropy": self.entropy if self.updates else None,
        }
        return arrays, table

    def restore(self, arrays: dict[str, np.ndarray], table: dict[str, Any]) -> None:
        """Go on from `state`."""
        if self.config.precision == "auto" and table["bf16"] != self.bf16:
            raise TrainingError(
                "this run was made with another precision than this processor chooses: go on with "
                f"--set precision={'bf16' if table['bf16'] else 'fp32'}"
            )
        if table["pool_agents"] != self.pool.contents:
            raise TrainingError(
                "an agent of pool.agents is not the one this run was made with: put that one back, or "
                "start a new run"
            )
        self.updates = int(table["updates"])
        self.entropy = float("inf") if table["entropy"] is None else float(table["entropy"])
        self.origin = dict(table["origin"])
        with torch.no_grad():
            for name, parameter in self.network.named_parameters():
                parameter.copy_(torch.from_numpy(arrays[f"weights.{name}"].copy()))
                moments = {
                    key: torch.from_numpy(arrays[f"adam.{key}.{name}"].copy())
                    for key in ("exp_avg", "exp_avg_sq", "step")
                    if f"adam.{key}.{name}" in arrays
                }
                if moments:
                    moments["step"] = moments["step"].reshape(())
                    self.optimiser.state[parameter] = moments
        for worker in self.workers:
            prefix = f"worker{worker.index}."
            own = {key[len(prefix) :]: value for key, value in arrays.items() if key.startswith(prefix)}
            worker.restore(own)
        self.pool.replace(
            [
                Snapshot(name, {key: arrays[f"pool{i}.{key}"] for key in self.architecture.shapes})
                for i, name in enumerate(table["pool"])
            ]
        )


def _line(start: float, end: float, progress: float) -> float:
    return start + (end - start) * progress


def _mean_and_deviation(sums: list[tuple[float, float, int]]) -> tuple[float, float, int]:
    total, squares, count = (sum(part) for part in zip(*sums, strict=True))
    mean = total / count
    deviation = max(squares / count - mean**2, 1e-12) ** 0.5
    return mean, deviation, count


def _named(statistics: np.ndarray) -> dict[str, float]:
    names = ("policy_loss", "winner_loss", "margin_loss", "entropy", "kl", "clipped", "ratio_error")
    return {name: float(statistics[i] / statistics[7]) for i, name in enumerate(names)}
