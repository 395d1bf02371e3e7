"""Every command and every snippet of the README runs; a new one without a way to run it fails here."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent
SMALL = (
    "decisions=4096 game.tables=32 ppo.steps=32 ppo.minibatch=512 net.hidden=[16] evaluation.deals=2 "
    "evaluation.final_deals=2"
)
QUICK = [word for change in SMALL.split() for word in ("--set", change)]
RESPONSE = "python -m training.best_response checkpoints/strong.safetensors --minutes 60 --power-check"
MATCH = "byzanz eval runs/NAME/export/quick.safetensors heuristic --mirror --html report.html"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


COMMANDS = [
    line.partition("#")[0].strip()
    for block in blocks("console")
    for line in block.splitlines()
    if line.strip()
]
SNIPPETS = blocks("python")


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder in which commands run: with the configs, the checkpoints, a finished run and a replay."""
    folder = tmp_path_factory.mktemp("desk")
    for name in ("configs", "checkpoints", "training"):
        os.symlink(ROOT / name, folder / name)
    run(folder, f"python -m training configs/quick.toml --run runs/NAME {' '.join(QUICK)}")
    run(folder, "byzanz watch --seed 7 --record game.jsonl")
    return folder


def run(folder, command, text="", code=0):
    words = [word.strip("'") for word in command.split()]
    words[0] = {"python": sys.executable, "byzanz": str(BIN / "byzanz")}.get(words[0], words[0])
    environment = {**os.environ, "BROWSER": "true"}
    done = subprocess.run(
        words, cwd=folder, env=environment, input=text, text=True, capture_output=True, timeout=280
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def dry_make(folder, command):
    assert "python -m " in run(ROOT, command.replace("make", "make --dry-run", 1))


def scripted_game(folder, command):
    out = run(folder, f"{command} --seed 3 --record played.jsonl", "?\nhint\n1\nquit\n")
    assert "played.jsonl" in out


def serve(folder, command):
    words = [str(BIN / "byzanz"), "web", "--no-browser"]
    with subprocess.Popen(words, cwd=folder, text=True, stdout=subprocess.PIPE) as server:
        try:
            assert "http://127.0.0.1" in server.stdout.readline()
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=200)
        finally:
            server.kill()


def quick_training(folder, command):
    command = re.sub(r"--hours \S+", "--hours 0.0001", command)
    run(folder, f"{command} --run runs/{abs(hash(command))} {' '.join(QUICK)}")


def as_written(folder, command):
    run(folder, command)


def small_challenge(folder, command):
    command = command.replace("--minutes 60 --power-check", "--minutes 0.01 --deals 2 --choose-deals 2")
    assert "best response to" in run(folder, command)


WAYS = {
    "make train": dry_make,
    "make test": dry_make,
    "byzanz play": scripted_game,
    "byzanz web": serve,
    "byzanz watch --seed 7 --record game.jsonl": lambda folder, command: run(
        folder, command.replace("game.jsonl", "again.jsonl")
    ),
    "byzanz replay game.jsonl --html game.html": as_written,
    "byzanz analyze game.jsonl": as_written,
    "byzanz doctor": as_written,
    "python -m training configs/quick.toml": quick_training,
    "python -m training configs/standard.toml --hours 1": quick_training,
    "python -m training --resume runs/NAME": as_written,
    RESPONSE: small_challenge,
    "byzanz eval heuristic greedy --players 4 --deals 100": as_written,
    MATCH: lambda folder, command: run(folder, f"{command} --deals 4"),
    "byzanz verify checkpoints/strong.safetensors game.jsonl": as_written,
}


def test_every_command_has_a_way_to_run():
    assert sorted(COMMANDS) == sorted(WAYS)


@pytest.mark.xdist_group("readme")
@pytest.mark.parametrize("command", COMMANDS)
def test_command(desk, command):
    WAYS[command](desk, command)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippet(snippet, tmp_path):
    path = tmp_path / "snippet.py"
    path.write_text(snippet)
    done = subprocess.run(
        [sys.executable, "-W", "error", path], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_make_is_here():
    assert shutil.which("make")
