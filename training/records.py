"""What a run leaves for people: sample games, curves as pictures, and files for TensorBoard."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from byzanz_env import replay
from byzanz_env.decisions import Agent
from byzanz_env.session import Session
from training.runs import Run

CURVES = ("entropy", "winner_loss", "margin_loss", "kl", "ratio_error", "speed")
SAMPLE_GAMES = 1


def save_replays(folder: Path, agent: Agent, trained: int, players: int) -> None:
    """Record sample games of the present policy against itself."""
    for sample in range(SAMPLE_GAMES):
        session = Session([agent] * players, seed=sample)
        for _ in session.advance():
            pass
        folder.mkdir(parents=True, exist_ok=True)
        replay.write(session.replay(), folder / f"decisions-{trained:010d}_seed-{sample}.jsonl")


def write_plots(run: Run) -> None:
    """Curves of the metrics and win shares of a run."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    metrics = run.lines("metrics")
    if not metrics:
        return
    figure, axes = pyplot.subplots(2, 4, figsize=(16, 7), constrained_layout=True)
    millions = [line["decisions"] / 1e6 for line in metrics]
    for axis, name in zip(axes.flat, CURVES, strict=False):
        axis.plot(millions, [line[name] for line in metrics], linewidth=1)
        axis.set_title(name.replace("_", " "))
        axis.set_xlabel("million decisions")
    last = axes.flat[len(CURVES)]
    curves: dict[str, list[tuple[float, float]]] = {}
    for line in run.lines("evaluations"):
        for result in line["results"]:
            curves.setdefault(result["opponent"], []).append((line["decisions"] / 1e6, result["share"]))
    for opponent, points in curves.items():
        last.plot(*zip(*points, strict=True), marker=".", label=opponent)
    last.set_title("win share against copies")
    if curves:
        last.legend()
    axes.flat[-1].axis("off")
    (run.folder / "plots").mkdir(exist_ok=True)
    figure.savefig(run.folder / "plots" / "curves.png", dpi=80)
    pyplot.close(figure)


class TensorBoard:
    """The metrics as TensorBoard events while a run goes on; at its start made anew from metrics.jsonl."""

    def __init__(self, run: Run) -> None:
        from torch.utils.tensorboard import SummaryWriter

        folder = run.folder / "tensorboard"
        shutil.rmtree(folder, ignore_errors=True)
        self._writer = SummaryWriter(str(folder), flush_secs=30)  # type: ignore[no-untyped-call]
        for line in run.lines("metrics"):
            self.metrics(line)
        for line in run.lines("evaluations"):
            self.evaluation(line)

    def metrics(self, line: Mapping[str, Any]) -> None:
        for name in (*CURVES, "policy_loss", "gradient_norm", "learning_rate", "clipped"):
            self._writer.add_scalar(f"train/{name}", line[name], line["decisions"])  # type: ignore[no-untyped-call]

    def evaluation(self, line: Mapping[str, Any]) -> None:
        for result in line["results"]:
            tag = f"win_share/{result['players']}p_{result['opponent']}"
            self._writer.add_scalar(tag, result["share"], line["decisions"])  # type: ignore[no-untyped-call]

    def close(self) -> None:
        self._writer.close()  # type: ignore[no-untyped-call]
