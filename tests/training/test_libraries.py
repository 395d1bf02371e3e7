"""The SB3 script trains, evaluates and exports; the evaluation is fair; the table has all libraries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from byzanz_env import IllegalActionError
from byzanz_env.agents import load
from byzanz_env.decisions import Decisions
from training.libraries import __main__ as runner
from training.libraries import sb3
from training.libraries.common import RESULT, LogitsAgent, Result, evaluate, read_options


def test_the_sb3_script_trains_evaluates_and_exports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sb3, "TABLES", 16)
    monkeypatch.setattr(sb3, "ROLLOUT", 2048)
    path = tmp_path / "sb3.safetensors"
    sb3.main(["--short", "--seconds", "1", "--out", str(path)])
    printed = capsys.readouterr().out
    found = json.loads(printed.strip().splitlines()[-1].removeprefix(RESULT))
    assert found["script"] == "sb3.py"
    assert found["steps_per_second"] > 0
    assert 0 <= found["win_share"] <= 1
    assert "95 % interval" in printed
    assert load(str(path)).name == "sb3-maskable-ppo"


def test_the_exported_file_plays_what_the_network_plays(tmp_path: Path) -> None:
    env = sb3.ByzanzVecEnv(4, 4, seed=3)
    env.reset()
    model = sb3.make_model(env)
    path = tmp_path / "policy.safetensors"
    sb3.export_model(model, path)
    batch = env.tables.env
    keys = np.arange(4)
    for _ in range(60):
        decisions: Decisions = batch.decisions(np.arange(4), keys)
        actions = sb3.agent_of(model).act(decisions)
        assert load(str(path)).act(decisions).tolist() == actions.tolist()
        batch.step(actions)


def test_evaluation_is_fair_and_names_who_cheats() -> None:
    share, error = evaluate(load("random"), games=400)
    assert abs(share - 0.25) < 4 * error
    cheat = LogitsAgent("cheat", lambda observations: np.zeros((len(observations), 288)))
    monkey = type(
        "Cheat", (), {"name": "cheat", "act": lambda self, decisions: np.full(len(decisions), 1)}
    )()
    with pytest.raises(IllegalActionError, match="opponent cheat"):
        evaluate(monkey, games=4)
    evaluate(cheat, games=4)  # the mask keeps it honest


def test_options() -> None:
    assert read_options("", []).seconds == 60
    assert read_options("", ["--short"]).seconds == 8
    assert read_options("", ["--seconds", "3"]).seconds == 3


def test_the_table_has_a_row_per_library() -> None:
    text = runner.table(
        [Result("A", "1.0", "a.py", "all", 1234.5, 0.5, 0.03), Result("B", "2", "b.py", "some", 7)]
    )
    assert text.splitlines()[2:] == [
        "| A | 1.0 | [a.py](a.py) | all | 1,234 | 0.50 +- 0.03 |",
        "| B | 2 | [b.py](b.py) | some | 7 | - |",
    ]
    scripts = {path.stem for path in runner.FOLDER.glob("*.py")} - {"__init__", "__main__", "common"}
    assert {script.name for script in runner.SCRIPTS} == scripts
