"""The benchmark runs its cases in turns, reports what it cannot measure, and writes its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from byzanz_env.bench import agents, ours, peers, report
from byzanz_env.bench.__main__ import main
from byzanz_env.bench.case import Case, Run, measure


def test_cases_are_run_in_turns_and_failures_are_lines_of_the_table() -> None:
    order: list[str] = []

    def make(name: str, rate: int) -> Run:
        def run(seconds: float) -> tuple[int, float]:
            order.append(name)
            return rate, 1.0

        return run

    def missing() -> Run:
        raise ImportError("No module named 'other'")

    cases = [
        Case("group", "a", lambda: make("a", 10)),
        Case("group", "b", lambda: make("b", 20)),
        Case("group", "c", missing),
    ]
    said: list[str] = []
    measure(cases, seconds=0.0, repetitions=3, say=said.append)
    assert order == ["a", "b"] * 4  # a warm-up, then three repetitions
    assert [case.rate for case in cases] == [10, 20, 0]
    assert said[0] == "c: not measured (ImportError: No module named 'other')"
    results = report.as_json(cases, report.describe_machine())
    results |= {"memory": ours.memory(), "seconds": 0.0, "repetitions": 3}
    page = report.as_markdown(results)
    assert "| a | 10 | 10 - 10 |" in page
    assert "| c | not measured |" in page


def test_a_short_run_writes_json_page_and_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seconds", "0.01", "--repetitions", "1", "--out", str(tmp_path)]) == 0
    results = json.loads((tmp_path / "results.json").read_text())
    measured = {case["name"]: case["rate"] for case in results["cases"]}
    assert all(rate > 0 for rate in measured.values())
    assert "BatchEnv, 16,384 games, 1 thread" in measured
    assert {"heuristic, 1,024 at once", "ismcts:200, one at a time", "arena, 1 thread"} <= set(measured)
    assert results["versions"]["numba"]
    assert (tmp_path / "README.md").read_text() in capsys.readouterr().out
    assert (tmp_path / "results.png").read_bytes().startswith(b"\x89PNG")


def test_a_game_keeps_at_most_two_kib_beside_the_arrays() -> None:
    assert ours.memory()["kept"] <= 2 * 1024


def test_agents_are_asked_about_real_decisions_that_leave_a_choice() -> None:
    observations, masks, keys, states = agents.sample()
    assert observations.shape[0] == masks.shape[0] == keys.shape[0] == agents.BATCH
    assert (masks.sum(axis=1) > 1).all()
    assert set(states["phase"].tolist()) == set(range(5))  # all but the end
    assert len(np.unique(observations, axis=0)) > agents.BATCH // 2


def test_peers_are_looked_for_only_when_they_are_measured() -> None:
    names = [case.name for case in peers.cases()]
    assert {"open_spiel hearts", "open_spiel gin_rummy", "rlcard doudizhu", "rlcard uno"} <= set(names)
    assert all(case.run is None for case in peers.cases())
