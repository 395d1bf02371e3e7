"""The tuner of the heuristic knows better weights from worse ones, and leaves the shipped ones alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from byzanz_env.games.byzanz.valuation import (
    INDEX,
    Valuation,
    load_valuation,
    make_valuation,
    named_weights,
    weights_array,
)
from training import tune_heuristic


def careless() -> Valuation:
    """The heuristic without its most important idea, not to feed the market."""
    weights = load_valuation("heuristic")["weights"].copy()
    weights[:, [INDEX["feed_first"], INDEX["feed_last"]]] = 0
    return make_valuation(weights)


@pytest.mark.parametrize("players", [3, 6])
def test_better_weights_are_taken_and_worse_or_equal_ones_are_not(players: int) -> None:
    sound = load_valuation("heuristic")
    assert tune_heuristic.is_better(players, 5, sound, careless())
    assert not tune_heuristic.is_better(players, 5, careless(), sound)
    assert not tune_heuristic.is_better(players, 5, sound, sound)


def test_a_run_writes_a_new_version_and_can_be_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = iter([False, True, True, False, True])
    monkeypatch.setattr(tune_heuristic, "is_better", lambda *_: next(verdicts))
    monkeypatch.setattr(tune_heuristic, "REPORT_DEALS", 20)
    shipped = tune_heuristic.SHIPPED.read_bytes()
    before = json.loads(shipped)
    path = tmp_path / "new" / "weights.json"
    assert tune_heuristic.main([str(path), "--players", "5", "--candidates", "4", "--seed", "8"]) == 0
    first = json.loads(path.read_text())
    assert first["version"] == before["version"] + 1
    assert first["tuned"] == [*before["tuned"], "5 players, seed 8: 3 candidates, 2 taken"]
    assert first["weights"]["4"] == before["weights"]["4"]
    assert first["weights"]["5"] != before["weights"]["5"]
    assert "5 players against greedy: " in capsys.readouterr().out
    assert tune_heuristic.main([str(path), "--players", "5", "--candidates", "1", "--seed", "9"]) == 0
    again = json.loads(path.read_text())
    assert again["version"] == first["version"]
    assert again["tuned"][:-1] == first["tuned"]
    assert tune_heuristic.SHIPPED.read_bytes() == shipped


def test_a_run_without_a_better_candidate_says_so_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tune_heuristic, "is_better", lambda *_: False)
    monkeypatch.setattr(tune_heuristic, "REPORT_DEALS", 20)
    assert tune_heuristic.main([str(tmp_path / "w.json"), "--players", "3", "--candidates", "2"]) == 0
    assert "no candidate was better" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_step_changes_a_few_weights_that_matter_at_this_table() -> None:
    rng = np.random.default_rng(1)
    weights = weights_array(named_weights(load_valuation("heuristic")["weights"]))[3]
    changed = [np.flatnonzero(tune_heuristic.mutate(weights, 3, rng)).tolist() for _ in range(300)]
    assert {len(places) for places in changed} == {1, 2, 3}
    never = {INDEX[name] for name in ("eager", "pass_2", "free_4")}  # three players have two auctions
    assert not never & {place for places in changed for place in places}


@pytest.mark.parametrize(
    ("content", "words"), [(None, "frozen"), ("[]", "no file of weights"), ("{", "Expecting")]
)
def test_files_that_cannot_be_tuned_are_refused(
    content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tune_heuristic.SHIPPED
    if content is not None:
        path = tmp_path / "weights.json"
        path.write_text(content)
    before = path.read_bytes()
    assert tune_heuristic.main([str(path)]) == 2
    assert words in capsys.readouterr().err
    assert path.read_bytes() == before
