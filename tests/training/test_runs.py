"""Whole runs: the command line, stops, kills, damage, and two processes that want one folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from rich.console import Console

from byzanz_env.agents import load
from byzanz_env.agents.policy import read_policy
from tests.training.conftest import TINY
from tests.training.kill_runs import many_kills
from training.__main__ import main
from training.config import to_table
from training.display import Display
from training.evaluate import WinShare
from training.records import TensorBoard
from training.runs import Run, RunError
from training.train import Training

ROOT = Path(__file__).parents[2]


def write_toml(path, table):
    lines, sections = [], []
    for key, value in table.items():
        if isinstance(value, dict):
            sections += [
                "",
                f"[{key}]",
                *(f"{name} = {json.dumps(entry)}" for name, entry in value.items()),
            ]
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    path.write_text("\n".join(lines + sections) + "\n")
    assert tomllib.loads(path.read_text()) == table
    return path


def test_a_run_ends_with_an_opponent_its_card_curves_and_replays(tmp_path, capsys):
    table = {**TINY, "decisions": 3 * 16 * 32, "evaluation": {**TINY["evaluation"], "every": 512}}
    config = write_toml(tmp_path / "tiny.toml", table)
    assert main([str(config), "--run", str(tmp_path / "run")]) == 0
    folder = tmp_path / "run"
    policy = read_policy(folder / "export" / "tiny.safetensors")
    assert policy.training["decisions"] == 3 * 512
    assert [result["opponent"] for result in policy.evaluation["results"]] == ["random"]
    assert load(str(folder / "export" / "tiny.safetensors")).name == "tiny"
    card = (folder / "export" / "tiny.md").read_text()
    assert policy.sha256 in card
    metrics = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["update"] for line in metrics] == [1, 2, 3]
    assert (folder / "plots" / "curves.png").stat().st_size > 1000
    assert list((folder / "tensorboard").iterdir())
    assert len(list((folder / "replays").glob("*.jsonl"))) == 3
    assert "3 x random" in capsys.readouterr().out
    assert main([str(config), "--run", str(folder)]) == 1
    assert "already holds a run" in capsys.readouterr().err


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    config = write_toml(tmp_path / "tiny.toml", {**TINY, "decisions": 10**9, "save_minutes": 1e-9})
    command = [sys.executable, "-u", "-m", "training", str(config), "--run", str(tmp_path / "run")]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    metrics = tmp_path / "run" / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and metrics.read_text().count("\n") >= 2):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert "stopping after this update" in output
    assert f"--resume {tmp_path / 'run'}" in output
    assert "Traceback" not in output


def test_hours_stop_cleanly_and_a_resumed_run_goes_on(tmp_path, capsys):
    config = write_toml(tmp_path / "tiny.toml", TINY)
    assert main([str(config), "--run", str(tmp_path / "run"), "--hours", "0.0000001"]) == 0
    assert "stopped after 512 decisions" in capsys.readouterr().out
    assert main(["--resume", str(tmp_path / "run"), "--set", "decisions=1024"]) == 0
    assert "resumed after 512 decisions" in capsys.readouterr().out
    assert read_policy(tmp_path / "run" / "export" / "tiny.safetensors").training["decisions"] == 1024
    assert (tmp_path / "run" / "export" / "tiny.safetensors").exists()


def test_a_resumed_run_may_change_what_its_checkpoints_do_not_depend_on(tmp_path, capsys):
    folder = tmp_path / "run"
    config = write_toml(tmp_path / "tiny.toml", TINY)
    assert main([str(config), "--run", str(folder), "--hours", "0.0000001"]) == 0
    for change in ("seed=2", "workers=1", "game.tables=32", "ppo.steps=64", "net.good_units=0", "ppo"):
        assert main(["--resume", str(folder), "--set", change]) == 2
        assert f"--resume cannot change {change.partition('=')[0]};" in capsys.readouterr().err
    changes = ["decisions=1024", "ppo.learning_rate=1e-4", "precision=bf16", "evaluation.final_deals=3"]
    assert main(["--resume", str(folder), *(word for text in changes for word in ("--set", text))]) == 0
    noted = json.loads((folder / "changes.jsonl").read_text())
    assert (noted["update"], noted["changes"]) == (1, changes)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert lines[1]["learning_rate"] == pytest.approx(1e-4)
    policy = read_policy(folder / "export" / "tiny.safetensors")
    assert (policy.training["precision"], policy.evaluation["results"][0]["deals"]) == ("bf16", 3)


def test_a_wrong_opponent_is_not_noted_in_a_run(tmp_path, capsys):
    config = write_toml(tmp_path / "tiny.toml", {**TINY, "decisions": 1024})
    folder = str(tmp_path / "run")
    assert main([str(config), "--run", folder, "--hours", "0.0000001"]) == 0
    assert main(["--resume", folder, "--set", "evaluation.opponents=['heuristik']"]) == 1
    assert "heuristik" in capsys.readouterr().err
    assert main(["--resume", folder]) == 0


def test_the_best_on_the_way_counts_only_by_the_opponent_it_was_measured_with(tmp_path, tiny):
    run = Run.create(tmp_path / "run", tiny())
    training = Training(run, Display())
    training._resume()
    training.learner.update()
    training.curves = TensorBoard(run)
    training._evaluate()
    training.curves.close()
    training.best["share"] = 0.9
    training.save()
    training.learner.close()
    for change, share in (("evaluation.deals=3", 0.9), ("evaluation.opponents=['random', 'greedy']", -1.0)):
        run.change([change])
        training = Training(run, Display())
        training._resume()
        assert training.best["share"] == share
        assert training.best["update"] == 1
        training.learner.close()
    run.close()


def test_what_is_shown_is_shown_as_it_is(capsys):
    """Brackets in a path or a name are no markup."""
    display = Display(Console(width=200))
    share = WinShare("[/b]", 4, 2, 0.5, 0.1, 20.0)
    display.say("go on with: python -m training --resume runs/lr[fast]")
    display.evaluation([share])
    display.results("[x]: one against copies", [share])
    out = capsys.readouterr().out
    for words in ("--resume runs/lr[fast]", "against 3 x [/b]", "[x]: one against copies", " 3 x [/b] "):
        assert words in out


def test_a_start_that_fails_does_not_block_the_next(tmp_path, capsys):
    config = write_toml(tmp_path / "tiny.toml", {**TINY, "decisions": 512})
    command = [str(config), "--run", str(tmp_path / "run")]
    assert main([*command, "--set", "evaluation.final_opponents=['heuristik']"]) == 1
    assert "heuristik" in capsys.readouterr().err
    assert main([*command, "--set", "net.start_from=absent.safetensors"]) == 1
    assert "absent.safetensors" in capsys.readouterr().err
    assert main(command) == 0


def test_saving_a_finished_run_again_keeps_it(tmp_path, monkeypatch, capsys):
    """A resumed run that has nothing to do must not put its newest checkpoint at risk."""
    config = write_toml(tmp_path / "tiny.toml", {**TINY, "decisions": 512})
    assert main([str(config), "--run", str(tmp_path / "run")]) == 0

    def fails(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("training.checkpoint._write_and_flush", fails)
        assert main(["--resume", str(tmp_path / "run")]) == 0
    assert main(["--resume", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out.count("resumed after 512 decisions") == 2


def test_other_packages_are_said_when_a_run_goes_on(tmp_path, capsys):
    folder = tmp_path / "run"
    config = write_toml(tmp_path / "tiny.toml", {**TINY, "decisions": 512})
    assert main([str(config), "--run", str(folder)]) == 0
    assert main(["--resume", str(folder)]) == 0
    assert "begun with others" not in capsys.readouterr().out
    versions = json.loads((folder / "versions.json").read_text())
    versions["packages"]["torch"] = "1.0"
    (folder / "versions.json").write_text(json.dumps(versions))
    assert main(["--resume", str(folder)]) == 0
    assert "begun with others (torch 1.0 then, " in capsys.readouterr().out


def test_the_card_tells_of_the_policy_that_was_chosen_and_of_the_parts_before(tmp_path, monkeypatch):
    """The best on the way is exported with its own numbers; a run that goes on from it adds them up."""
    table = {**TINY, "decisions": 3 * 512, "evaluation": {**TINY["evaluation"], "every": 512}}
    config = write_toml(tmp_path / "tiny.toml", table)
    shares = iter(
        [0.5, 0.4, 0.3, 0.0, 1.0, 0.9]
    )  # three evaluations, the candidates last and best, the report

    def given(agent, opponent, players, *arguments, **options):
        return WinShare(opponent.name, players, 1, next(shares), 0.1, 20.0)

    monkeypatch.setattr("training.train.win_share", given)
    monkeypatch.setattr("training.evaluate.win_share", given)
    assert main([str(config), "--run", str(tmp_path / "first")]) == 0
    path = tmp_path / "first" / "export" / "tiny.safetensors"
    first = read_policy(path)
    assert (first.training["updates"], first.training["decisions"]) == (1, 512)
    lines = [json.loads(line) for line in (tmp_path / "first" / "metrics.jsonl").read_text().splitlines()]
    assert first.training["hours"] == pytest.approx(lines[0]["seconds"] / 3600, abs=6e-4)
    monkeypatch.undo()
    later = write_toml(tmp_path / "later.toml", {**TINY, "name": "later", "decisions": 1024})
    command = [str(later), "--run", str(tmp_path / "second"), "--set", f"net.start_from={path}"]
    assert main([*command, "--hours", "0.0000001"]) == 0
    path.unlink()
    assert main(["--resume", str(tmp_path / "second")]) == 0
    second = read_policy(tmp_path / "second" / "export" / "later.safetensors")
    assert second.training["decisions"] == 512 + 1024
    began_as = second.training["began_as"]
    assert (began_as["name"], began_as["sha256"]) == ("tiny", first.sha256)
    assert began_as["training"]["config"]["decisions"] == 3 * 512
    card = (tmp_path / "second" / "export" / "later.md").read_text()
    assert "## Before that: tiny" in card
    assert "- Decisions until then: 512\n" in card
    assert first.sha256 in card


def test_a_damaged_checkpoint_is_passed_over_and_said(tmp_path, capsys):
    config = write_toml(tmp_path / "tiny.toml", {**TINY, "save_minutes": 1e-9})
    assert main([str(config), "--run", str(tmp_path / "run")]) == 0
    newest = sorted((tmp_path / "run" / "checkpoints").iterdir())[-1] / "arrays.safetensors"
    newest.write_bytes(newest.read_bytes()[:-1])
    capsys.readouterr()
    assert main(["--resume", str(tmp_path / "run")]) == 0
    assert "falling back to the one before it" in capsys.readouterr().out.replace("\n", " ")


def test_fifty_kills_at_random_moments_lose_nothing():
    assert many_kills(50) >= 2  # with one worker and with two


def test_one_folder_one_process(tmp_path, tiny):
    run = Run.create(tmp_path / "run", tiny())
    with pytest.raises(RunError, match="another process is training"):
        Run.open(tmp_path / "run")
    run.close()
    Run.open(tmp_path / "run").close()


def test_a_run_of_another_version_is_refused(tmp_path, tiny):
    Run.create(tmp_path / "run", tiny()).close()
    versions = json.loads((tmp_path / "run" / "versions.json").read_text())
    (tmp_path / "run" / "versions.json").write_text(json.dumps({**versions, "layout": "0" * 16}))
    with pytest.raises(RunError, match="layout '0000000000000000', this version has"):
        Run.open(tmp_path / "run")
    (tmp_path / "run" / "versions.json").write_text(json.dumps({**versions, "trainer": 1}))
    with pytest.raises(RunError, match="trainer 1, this version has"):
        Run.open(tmp_path / "run")
    with pytest.raises(RunError, match="holds no run"):
        Run.open(tmp_path / "nothing")


def test_a_config_of_another_version_is_refused(tmp_path, tiny):
    Run.create(tmp_path / "run", tiny()).close()
    table = {**to_table(tiny()), "old_key": 1}
    (tmp_path / "run" / "config.json").write_text(json.dumps(table))
    with pytest.raises(RunError, match="another version: unknown key old_key"):
        Run.open(tmp_path / "run")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["absent.toml"], 2, "cannot read absent.toml"),
        (["--resume", "absent"], 1, "absent holds no run"),
    ],
)
def test_errors_are_one_sentence(arguments, code, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == code
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert words in error


@pytest.mark.parametrize(
    "arguments", [[], ["a.toml", "--resume", "b"], ["a.toml", "--hours", "0"], ["a.toml", "--hours", "nan"]]
)
def test_contradicting_arguments_are_a_usage_error(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_no_space_left_has_its_own_exit_code(tmp_path, capsys, monkeypatch):
    config = write_toml(tmp_path / "tiny.toml", TINY)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("training.checkpoint._write_and_flush", full)
    assert main([str(config), "--run", str(tmp_path / "run")]) == 3
    assert "No space left" in capsys.readouterr().err
