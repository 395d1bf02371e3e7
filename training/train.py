"""A training run from its first update to the exported, evaluated opponent. Read it top to bottom."""

from __future__ import annotations

import dataclasses
import json
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from byzanz_env.agents import load
from byzanz_env.agents.policy import PolicyAgent, PolicyFile
from training import checkpoint
from training.config import Config
from training.display import Display
from training.evaluate import WATCH_SEED, win_share
from training.export import better_of, export, history
from training.learner import Learner
from training.records import TensorBoard, save_replays, write_plots
from training.runs import Run


class Training:
    """A run under way."""

    def __init__(self, run: Run, display: Display, go_on: str = "") -> None:
        self.run = run
        self.go_on = go_on or f"python -m training --resume {run.folder}"
        self.config: Config = run.config
        self.display = display
        self.learner = Learner(run.config, resumes=bool(checkpoint.numbers(run.checkpoints)))
        self.best: dict[str, Any] = {"share": -1.0, "update": 0, "seconds": 0.0}
        self.best_tensors: dict[str, np.ndarray] = {}
        self.seconds = 0.0  # of training, over all parts of the run
        self.watched = [load(spec) for spec in run.config.evaluation.opponents]
        for spec in run.config.evaluation.final_opponents:
            load(spec)  # a wrong name is said now, not after hours
        self._stop_asked = False

    # --- the loop ---------------------------------------------------------------------------------------

    def go(self, hours: float | None) -> bool:
        """Train until the end, a stop by Ctrl-C, or the time is up; True when the run is complete."""
        self._resume()
        self.curves = TensorBoard(self.run)
        deadline = time.monotonic() + hours * 3600 if hours is not None else float("inf")
        previous = signal.signal(signal.SIGINT, self._ask_to_stop)
        saved = time.monotonic()
        try:
            if self.config.net.start_from and not self.learner.updates:
                self._evaluate()  # what it starts from is a candidate too
            while self.learner.updates < self.config.updates:
                self._one_update()
                if time.monotonic() - saved > self.config.save_minutes * 60:
                    self.save()
                    saved = time.monotonic()
                if self._stop_asked or time.monotonic() > deadline:
                    break
            self.save()
        finally:
            signal.signal(signal.SIGINT, previous)
            self.learner.close()
            self.curves.close()
        write_plots(self.run)
        complete = self.learner.updates >= self.config.updates
        if not complete:
            self.display.say(f"stopped after {self.learner.trained:,} decisions; go on with: {self.go_on}")
        return complete

    def _one_update(self) -> None:
        begun = time.monotonic()
        figures = self.learner.update()
        seconds = time.monotonic() - begun
        self.seconds += seconds
        figures["seconds"] = self.seconds
        figures["speed"] = self.config.batch / seconds
        self.run.note("metrics", figures)
        self.curves.metrics(figures)
        self.display.progress(figures, self.config)
        every = self.config.evaluation.every
        if self.learner.trained // every > (self.learner.trained - self.config.batch) // every:
            self._evaluate()

    def _ask_to_stop(self, signum: int, frame: FrameType | None) -> None:
        if self._stop_asked:
            raise KeyboardInterrupt
        self._stop_asked = True
        self.display.say("stopping after this update; once more Ctrl-C stops at once")

    # --- what the present policy is worth ---------------------------------------------------------------

    def player(self) -> PolicyAgent:
        """The present weights as an agent."""
        return self._agent(self.learner.network.to_tensors(), self.learner.updates, self.seconds)

    def _agent(self, tensors: dict[str, np.ndarray], updates: int, seconds: float) -> PolicyAgent:
        config = self.config
        training = {
            **history(config, self.learner.origin, updates, seconds),
            "precision": "bf16" if self.learner.bf16 else "fp32",
        }
        players = tuple(config.game.shares)
        return PolicyAgent(PolicyFile(config.name, self.learner.architecture, tensors, players, training))

    def _evaluate(self) -> None:
        wanted = self.config.evaluation
        agent = self.player()
        shares = [
            win_share(
                agent, opponent, wanted.players, wanted.deals, WATCH_SEED, threads=self.config.workers
            )
            for opponent in self.watched
        ]
        line: dict[str, Any] = {"update": self.learner.updates, "decisions": self.learner.trained}
        line["results"] = [share.table() for share in shares]
        self.run.note("evaluations", line)
        self.curves.evaluation(line)
        self.display.evaluation(shares)
        if shares and shares[-1].share >= self.best["share"]:
            updates, seconds = self.learner.updates, self.seconds
            self.best = {
                "share": shares[-1].share,
                "update": updates,
                "seconds": seconds,
                "by": self._judge(),
            }
            self.best_tensors = self.learner.network.to_tensors()
        save_replays(self.run.folder / "replays", agent, self.learner.trained, wanted.players)

    def _judge(self) -> list[Any]:
        """Against whom the best on the way was found; a share against others cannot be compared."""
        return [self.config.evaluation.opponents[-1], self.config.evaluation.players]

    # --- checkpoints ------------------------------------------------------------------------------------

    def save(self) -> Path:
        arrays, table = self.learner.state()
        arrays.update({f"best.{name}": tensor for name, tensor in self.best_tensors.items()})
        table.update({"best": self.best, "seconds": self.seconds})
        return checkpoint.save(self.run.checkpoints, self.learner.updates, arrays, table)

    def _resume(self) -> None:
        checkpoint.sweep(self.run.checkpoints)
        found = checkpoint.load_newest(self.run.checkpoints)
        if found is None:
            self.run.rewind(-1)
            return
        arrays, table, complaints = found
        for sentence in complaints:
            self.display.say(sentence)
        self.learner.restore(arrays, table)
        self.best, self.seconds = dict(table["best"]), float(table["seconds"])
        if self.best.get("by", self._judge()) != self._judge():
            self.best["share"] = -1.0  # it stays a candidate until there is a better one by this measure
        prefix = "best."
        self.best_tensors = {
            name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)
        }
        self.run.rewind(self.learner.updates)
        self.display.say(f"resumed after {self.learner.trained:,} decisions")
        if differences := self.run.differences():
            self.display.say(
                f"the run was begun with others ({'; '.join(differences)}): it goes on, but perhaps not "
                "bit for bit as it would have"
            )

    def candidates(self) -> list[PolicyAgent]:
        """The last policy, and the one that was best on the way if it is another."""
        found = [self.player()]
        if self.best_tensors and self.best["update"] != self.learner.updates:
            found.append(self._agent(self.best_tensors, self.best["update"], self.best["seconds"]))
        return found


def train(run: Run, hours: float | None = None, go_on: str = "") -> Path | None:
    """Train a run to its end and export the opponent; None when it was stopped before.

    `go_on` is the command that takes a stopped run up again, where it is not the trainer's own.
    """
    with Display() as display:
        training = Training(run, display, go_on)
        if not training.go(hours):
            return None
    return export_run(training, display)


def export_run(training: Training, display: Display) -> Path:
    """Write the better of the run's candidates as an opponent and show what it is worth."""
    wanted = training.config.evaluation
    display.say("evaluating on fresh deals ...")
    policy = better_of(training.candidates(), wanted).policy
    made_by = json.loads((training.run.folder / "versions.json").read_bytes())
    made_on = {
        "machine": made_by["machine"],
        "torch": made_by["packages"]["torch"],
        "date": time.strftime("%Y-%m-%d"),
    }
    policy = dataclasses.replace(policy, training={**policy.training, **made_on})
    path = training.run.folder / "export" / f"{policy.name}.safetensors"
    shares = export(path, policy, wanted)
    display.results(f"{policy.name}: one against copies, duplicate deals", shares)
    display.say(f"opponent written to {path}; play against it with: byzanz play --opponents {path}")
    return path
