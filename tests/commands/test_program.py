"""The program `byzanz`: quick help, exit codes, one-sentence errors, and a game through a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest

from byzanz_env.cli import VERBS, main
from byzanz_env.commands import play
from byzanz_env.decisions import Decisions
from byzanz_env.replay import Replay, read

KEPT = Path(__file__).parents[1] / "data" / "byzanz-replay-1.jsonl"
PROGRAM = [sys.executable, "-m", "byzanz_env.cli"]
LONG = 240  # seconds; a machine may compile the engine first, or be busy


def run(*words: str, keys: str = "", home: Path | None = None) -> subprocess.CompletedProcess[str]:
    place = os.environ | ({"XDG_DATA_HOME": str(home)} if home else {})
    return subprocess.run(
        [*PROGRAM, *words], input=keys, capture_output=True, text=True, timeout=LONG, env=place
    )


def test_help_needs_neither_numpy_nor_numba() -> None:
    check = (
        "import sys; from byzanz_env.cli import main; code = main(['--help']); "
        "heavy = {'numpy', 'numba', 'rich', 'starlette', 'torch'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0, done.stderr
    assert all(verb in done.stdout for verb in VERBS)
    assert "examples:" in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str, capsys) -> None:
    assert main([verb, "--help"]) == 0
    assert "usage: byzanz" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, ""),
        (["dance"], 2, "there is no verb 'dance'"),
        (["play", "--players", "7"], 2, "invalid choice"),
        (["play", "--seed", "x"], 2, "a seed is a whole number"),
        (["play", "--opponents", "heurist"], 1, "there is no agent 'heurist'"),
        (["play", "--seat", "4"], 1, "you sit on a seat from 0 to 3"),
        (["replay", "missing.jsonl"], 1, "there is no file missing.jsonl"),
        (["verify", "missing.jsonl"], 1, "missing.jsonl: No such file"),
        (["analyze", str(KEPT), "--adviser", "nobody"], 1, "there is no agent 'nobody'"),
        (["replay", str(KEPT), "--at", "9999"], 1, "this game has decisions 0 to"),
        (["analyze", str(KEPT), "--adviser", "strong-5"], 1, "strong-5 was not made for 4 players"),
        (["play", "--record", str(KEPT.parent)], 1, "Is a directory"),
        (["watch", "--record", str(KEPT / "x.jsonl")], 1, "Not a directory"),
        (["replay", str(KEPT), "--html", str(KEPT / "x.html")], 1, "Not a directory"),
        (["web", "--host", "0.0.0.0"], 1, "needs --token"),
        (["web", "--token", "short"], 1, "at least 16 characters"),
        (["web", "--port", "99999", "--no-browser"], 1, "cannot listen"),
    ],
)
def test_errors_are_one_sentence(words, code, sentence, capsys) -> None:
    assert main(words) == code
    said = capsys.readouterr()
    assert sentence in said.err
    assert "Traceback" not in said.err


def test_debug_shows_where_an_error_comes_from() -> None:
    with pytest.raises(FileNotFoundError):
        main(["replay", "missing.jsonl", "--debug"])


def test_watch_record_verify_replay_analyze(tmp_path: Path, capsys) -> None:
    game = tmp_path / "game.jsonl"
    assert (
        main(
            [
                "watch",
                "--players",
                "3",
                "--seed",
                "4",
                "--record",
                str(game),
                "--json",
                "--opponents",
                "greedy",
            ]
        )
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert read(game).seed == 4
    assert main(["verify", str(game), str(tmp_path), "--json"]) == 0
    assert [json.loads(line)["ok"] for line in capsys.readouterr().out.splitlines()] == [True, True]
    assert main(["replay", str(game)]) == 0
    assert "The game is over" in capsys.readouterr().out
    assert main(["replay", str(game), "--at", "3"]) == 0
    assert "all hands" in capsys.readouterr().out
    assert main(["analyze", str(game), "--adviser", "heuristic", "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert len(judged["curve"]) == len(judged["moves"])
    assert all(abs(sum(point["chances"]) - 1) < 0.01 for point in judged["curve"])
    assert main(["analyze", str(game), "--adviser", "heuristic"]) == 0
    assert "The decisions that cost most" in capsys.readouterr().out
    assert result["points"] == json.loads(read(game).lines[-1])["points"]


def test_verify_names_the_first_line_that_is_off(tmp_path: Path, capsys) -> None:
    lines = KEPT.read_text().splitlines(keepends=True)
    lines[41] = re.sub(r'"seat":(\d)', lambda found: f'"seat":{(int(found[1]) + 1) % 4}', lines[41])
    spoilt = tmp_path / "spoilt.jsonl"
    spoilt.write_text("".join(lines))
    assert main(["verify", str(KEPT), str(spoilt)]) == 1
    said = capsys.readouterr()
    assert f"{spoilt}: line 42: seat" in said.err
    assert "a whole game" in said.out


def test_replay_as_one_page(tmp_path: Path, capsys) -> None:
    out = tmp_path / "game.html"
    assert main(["replay", str(KEPT), "--html", str(out)]) == 0
    assert '"adviser":' in out.read_text()
    assert main(["replay", str(KEPT), "--html", str(out), "--no-analysis"]) == 0
    assert '"analysis":null' in out.read_text()
    assert str(out) in capsys.readouterr().out


def test_doctor(capsys) -> None:
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"]
    assert "recorded and proved" in report["engine"]


def test_a_slip_of_the_keyboard_does_not_end_a_game(tmp_path: Path) -> None:
    """A byte that is no text is a line like any other that is not understood."""
    game = tmp_path / "game.jsonl"
    command = [*PROGRAM, "play", "--seed", "2", "--record", str(game), "--opponents", "greedy"]
    place = os.environ | {"PYTHONUTF8": "1"}
    done = subprocess.run(command, input=b"1\n\xff\n1\n", capture_output=True, timeout=LONG, env=place)
    assert done.returncode == 0, done.stderr
    assert b"That does not work" in done.stdout
    assert read(game).seed == 2


class Dies:
    """Fails at its third decision."""

    name = "dies"
    left = 3

    def act(self, decisions: Decisions) -> np.ndarray:
        self.left -= 1
        if not self.left:
            raise RuntimeError("no more")
        return decisions.masks.argmax(axis=1).astype(np.int64)


@pytest.mark.parametrize("verb", ["play", "watch"])
def test_a_game_is_kept_when_an_opponent_fails(verb: str, tmp_path: Path, monkeypatch, capsys) -> None:
    module = import_module(VERBS[verb][0])
    monkeypatch.setattr(module, "seat_agents", lambda specs, players: [Dies() for _ in range(players)])
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n" * 400))
    game = tmp_path / "game.jsonl"
    assert main([verb, "--seed", "2", "--record", str(game)]) == 1
    assert "no more" in capsys.readouterr().err
    assert len(read(game).actions) >= 2


def test_a_game_goes_where_games_are_kept_when_it_cannot_go_elsewhere(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
    real = play.write

    def write(replay: Replay, path: Path) -> Path:
        if path == tmp_path / "game.jsonl":
            raise OSError(28, "No space left on device")
        return real(replay, path)

    monkeypatch.setattr(play, "write", write)
    assert main(["play", "--record", str(tmp_path / "game.jsonl"), "--opponents", "greedy"]) == 0
    assert "cannot be written: No space left" in capsys.readouterr().err
    (kept,) = (tmp_path / "home").rglob("*.jsonl")
    assert read(kept).actions


def test_a_whole_game_by_script(tmp_path: Path) -> None:
    game = tmp_path / "game.jsonl"
    done = run(
        "play",
        "--players",
        "3",
        "--seed",
        "2",
        "--record",
        str(game),
        "--opponents",
        "greedy",
        keys="1\n" * 400,
    )
    assert done.returncode == 0, done.stderr
    assert "The game is over" in done.stdout
    assert f"The game is in {game}" in done.stdout
    assert json.loads(read(game).lines[-1])["end"] == "over"


def test_words_help_hints_and_quit(tmp_path: Path) -> None:
    words = ("?", "rules", "log", "hint", "bid", "bid wine9", "bid merchant", "dance", "sell", "sell silk")
    keys = "\n".join((*words, "take wood", "99", "0", "table", "", "quit", ""))
    done = run("play", "--seed", "3", "--ask-forced", keys=keys, home=tmp_path)
    assert done.returncode == 0, done.stderr
    for text in (
        "bid cloth2 wine1",
        "Byzanz in short",
        "would:",
        "Chances to win",
        "choose at least one card",
    ):
        assert text in done.stdout
    for text in ("'wine9' is not a card", "is not an action", "there is no type 'silk'", "choices 1 to"):
        assert text in done.stdout
    assert "you cannot take now: bid or pass" in done.stdout
    kept = list((tmp_path / "byzanz_env" / "replays").glob("*.jsonl"))
    assert len(kept) == 1
    assert str(kept[0]) in done.stdout
    read(kept[0])


class Terminal:
    """The program on a pseudo-terminal; everything waits for what the program says, never for time."""

    def __init__(self, *words: str, home: Path) -> None:
        self.master, slave = pty.openpty()
        place = os.environ | {"XDG_DATA_HOME": str(home)}
        self.process = subprocess.Popen(
            [*PROGRAM, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            close_fds=True,
            env=place,
            start_new_session=True,
        )
        os.close(slave)
        self.text, self.heard = "", 0

    def wait_for(self, text: str) -> None:
        """Read on until the program has said this, after what was waited for before."""
        limit = time.monotonic() + LONG
        while text not in self.text[self.heard :]:
            assert time.monotonic() < limit, f"{text!r} did not come; the program said:\n{self.text}"
            if not self._read():
                raise AssertionError(f"the program ended before {text!r}:\n{self.text}")
        self.heard = self.text.index(text, self.heard) + len(text)

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], 5)
        if not ready:
            return self.process.poll() is None
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # Linux: the other end is closed
            return False
        self.text += piece.decode(errors="replace")
        return bool(piece)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        while self._read():
            pass
        os.close(self.master)
        return self.process.wait(LONG)


@pytest.fixture
def terminal(tmp_path: Path):
    started = Terminal("play", "--seed", "5", "--ask-forced", "--opponents", "heuristic", home=tmp_path)
    yield started
    if started.process.poll() is None:
        started.process.kill()
        started.process.wait()


def test_a_terminal_game_with_words(terminal: Terminal) -> None:
    terminal.wait_for("? for help >")
    terminal.type("hint\n")
    terminal.wait_for("? for help >")
    terminal.type("pass\n")
    terminal.wait_for("You pass.")
    terminal.wait_for("? for help >")
    terminal.type("quit\n")
    assert terminal.end() == 0
    assert "The game so far is in" in terminal.text
    assert "Traceback" not in terminal.text


def test_a_replay_is_browsed_in_the_terminal(tmp_path: Path) -> None:
    terminal = Terminal("replay", str(KEPT), home=tmp_path)
    for key, place in (("", "0 of"), ("\n", " of"), ("b\n", "0 of"), ("9999\n", " of")):
        terminal.type(key)
        terminal.wait_for(place)
    terminal.type("q\n")
    assert terminal.end() == 0
    assert "The game is over" in terminal.text


@pytest.mark.parametrize("how", ["interrupt", "end of input"])
def test_ctrl_c_and_ctrl_d_end_cleanly(terminal: Terminal, how: str) -> None:
    terminal.wait_for("? for help >")
    if how == "interrupt":
        terminal.process.send_signal(signal.SIGINT)
    else:
        terminal.type("\x04")
    assert terminal.end() == 0
    assert "The game so far is in" in terminal.text
    assert "Traceback" not in terminal.text


def listening(port: int) -> set[str]:
    """The addresses, as Linux writes them, at which this port is listened on."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            local, _, state = line.split()[1:4]
            if state == "0A" and local.endswith(f":{port:04X}"):
                found.add(local.partition(":")[0])
    return found


@pytest.mark.parametrize("trap", [":", "trap '' INT"], ids=["plain", "from a script that ignores it"])
def test_web_serves_this_machine_until_ctrl_c(trap: str) -> None:
    """The address is printed once the server is ready; only loopback is listened on."""
    command = ["sh", "-c", f'{trap}; exec "$@"', "sh", *PROGRAM, "web", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"Byzanz is at http://127\.0\.0\.1:(\d+)/ ", line)
        assert found, line
        with urlopen(f"http://127.0.0.1:{found[1]}/", timeout=LONG) as answer:
            assert "<title>Byzanz</title>" in answer.read().decode()
        assert listening(int(found[1])) == {"0100007F"}  # 127.0.0.1, and nowhere else
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LONG)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "Stopped." in out
    assert "Traceback" not in err
