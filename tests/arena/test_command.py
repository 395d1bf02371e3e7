"""`byzanz eval`: reports on the terminal, as JSON and as HTML, and what it says to bad input."""

from __future__ import annotations

import argparse
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from byzanz_env.arena import command, html, ladder, terminal, versions
from tests.arena import players

VOID = {"meta", "line", "circle"}


def _eval(*words: str | Path, load: command.Load = players.load) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(word) for word in words]), load)


def _report(tmp_path: Path, *words: str) -> dict[str, Any]:
    path = tmp_path / "report.json"
    assert _eval(*words, "--json", path, "--html", tmp_path / "report.html") == 0
    report: dict[str, Any] = json.loads(path.read_text())
    return report


ESTIMATE = {"mean", "low", "high", "deals"}
SCHEMA: dict[str, Any] = {
    "format": str,
    "versions": {"byzanz_env", "code", "rules", "observation_layout", "python", "numpy"},
    "match": {
        "kind",
        "players",
        "seed",
        "mirror",
        "deals",
        "deals_asked",
        "rotations",
        "games",
        "fair_share",
    },
    "agents": [{"name", "spec", "sha256"}],
    "results": [{"agent", "table", "seats", "against", "games", "win_share", "score", "rank"}],
    "comparisons": [{"agent", "other", "what", "difference", "p_value"}],
    "cross_table": {"agents", "ahead"},
    "rating": [{"agent", "rating", "low", "high"}],
    "sequential_test": {"margin", "deals", "ratio_better", "ratio_worse", "bounds", "verdict"},
    "complete": bool,
    "interrupted": bool,
    "failure": str,
}


def _check_schema(report: dict[str, Any], empty: set[str]) -> None:
    assert set(report) == set(SCHEMA)
    assert {name for name, value in report.items() if value is None} == empty
    for name, form in SCHEMA.items():
        value = report[name]
        if value is None:
            continue
        if isinstance(form, list):
            assert value
            assert all(set(item) == form[0] for item in value), name
        elif isinstance(form, set):
            assert set(value) == form, name
        else:
            assert isinstance(value, form), name
    for row in report["results"]:
        assert all(set(row[name]) == ESTIMATE for name in ("win_share", "score", "rank"))


class _Page(HTMLParser):
    """Checks that tags are closed in order, and collects them with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def _check_page(text: str) -> _Page:
    page = _Page()
    page.feed(text)
    assert not page.open
    assert not re.search(r"https?:|//[a-z]|@import|url\(", text)
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object"}
    assert not [1 for _, attributes in page.tags if {"src", "href", "onload"} & set(attributes)]
    assert "prefers-color-scheme: dark" in text
    return page


def test_duel_with_mirror(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = _report(tmp_path, "first", "dice", "--players", "3", "--deals", "12", "--mirror")
    _check_schema(report, {"cross_table", "rating", "sequential_test", "failure"})
    assert [(row["agent"], row["seats"], row["against"]) for row in report["results"]] == [
        ("first", 1, "2 x dice"),
        ("dice", 2, "1 x first"),
        ("dice", 1, "2 x first"),
        ("first", 2, "1 x dice"),
    ]
    alone, others = report["results"][:2]
    assert alone["win_share"]["mean"] + 2 * others["win_share"]["mean"] == pytest.approx(1)
    assert report["match"]["games"] == 12 * 3 * 2
    shown = capsys.readouterr().out
    assert "12 deals x 3 seats, seed 0" in shown
    assert "fair 33.3 %" in shown
    page = _check_page((tmp_path / "report.html").read_text())
    assert [tag for tag, _ in page.tags].count("svg") == 1


def test_round_robin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = _report(tmp_path, "first", "dice", "last", "--players", "3", "--deals", "12")
    _check_schema(report, {"sequential_test", "failure"})
    cells = report["cross_table"]["ahead"]
    for row in range(3):
        assert cells[row][row] is None
        for column in range(row):
            assert cells[row][column]["mean"] + cells[column][row]["mean"] == pytest.approx(1)
    assert sum(row["win_share"]["mean"] for row in report["results"]) == pytest.approx(1)
    assert sum(rating["rating"] for rating in report["rating"]) == pytest.approx(0, abs=1e-6)
    assert "Plackett-Luce" in capsys.readouterr().out
    page = _check_page((tmp_path / "report.html").read_text())
    assert [tag for tag, _ in page.tags].count("svg") == 2


def test_challengers_against_one_opponent_with_early_stop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("first", "dice", "--against", "last", "--players", "3", "--deals", "300")
    report = _report(tmp_path, *words, "--stop-early", "--margin", "0.3")
    _check_schema(report, {"cross_table", "rating", "failure"})
    assert report["sequential_test"]["deals"] == report["match"]["deals"] < 300
    assert "sequential test, stopped after" in capsys.readouterr().out
    assert report["comparisons"][0]["what"] == "each alone, same deals"


def test_one_deal_has_no_interval_and_still_a_report(tmp_path: Path) -> None:
    report = _report(tmp_path, "first", "dice", "last", "--deals", "1")
    estimates = [row[name] for row in report["results"] for name in ("win_share", "score", "rank")]
    cells = [cell for row in report["cross_table"]["ahead"] for cell in row if cell is not None]
    intervals = [*estimates, *cells, *report["rating"]]
    assert len(intervals) == 3 * 3 + 6 + 3
    assert all(one["low"] is None and one["high"] is None for one in intervals)
    _check_page((tmp_path / "report.html").read_text())


def test_the_same_agent_twice_gets_two_names_and_two_kinds_of_luck(tmp_path: Path) -> None:
    report = _report(tmp_path, "dice", "dice", "--players", "3", "--deals", "20")
    assert [agent["name"] for agent in report["agents"]] == ["dice", "dice (2)"]
    share = report["results"][0]["win_share"]
    assert share["low"] < share["high"]


def test_same_seed_same_report_whatever_batch_and_threads(tmp_path: Path) -> None:
    words = ("first", "dice", "last", "--deals", "8", "--players", "3", "--seed", "5")
    one = _report(tmp_path, *words)
    assert one == _report(tmp_path, *words, "--batch", "2", "--threads", "2")
    assert one["results"] != _report(tmp_path, *words[:-1], "6")["results"]


def test_stop_and_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "deals.jsonl"
    words = ["first", "dice", "--players", "3", "--deals", "30", "--batch", "4", "--store", str(store)]

    class Tired(players.First):
        calls = 0

        def act(self, decisions: players.Decisions) -> Any:
            Tired.calls += 1
            if Tired.calls > 300:
                raise MemoryError("tired")
            return super().act(decisions)

    assert _eval(*words, load=lambda spec: Tired() if spec == "first" else players.load(spec)) == 1
    said = capsys.readouterr().err
    assert re.search(r"agent first on seat \d of deal \d+ crashed with MemoryError: tired", said)
    kept = len(store.read_text().splitlines()) - 1
    assert 0 < kept < 30
    assert f"{kept} finished deals are kept in {store}; run the same command to go on" in said
    resumed = _report(tmp_path, *words)
    assert resumed == _report(tmp_path, *words[:-2])
    assert len(store.read_text().splitlines()) == 31


def test_a_report_of_a_failed_match_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("first", "dice", "--json", tmp_path / "r.json", "--html", tmp_path / "r.html")
    assert _eval(*words, load=lambda spec: players.Broken(0)) == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert not report["complete"]
    assert report["results"] == []
    assert "broken" in report["failure"]
    assert "Not complete: agent broken" in (tmp_path / "r.html").read_text()
    assert "use --store FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["first"], "one agent alone cannot play a match"),
        (["first", "dise"], "there is no agent 'dise'"),
        (["first", "dice", "--players", "2"], "2 players cannot play Byzanz: choose 3 to 6"),
        (["first", "dice", "--players", "7"], "7 players"),
        (["first", "dice", "--deals", "0"], "0 deals cannot be played"),
        (["first", "dice", "--seed", "-1"], "seed -1 is out of range"),
        (["first", "dice", "--batch", "0"], "0 games at once"),
        (["first", "dice", "--threads", "0"], "0 threads"),
        (["first", "dice", "--stop-early", "--margin", "2"], "margin 2.0 makes no sense"),
        (["first", "dice", "last", "--mirror"], "mirror is for two agents"),
        (["first", "dice", "last", "--stop-early"], "a single question"),
    ],
)
def test_bad_input_is_answered_in_one_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _eval(*words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("byzanz eval: ")
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_a_policy_for_other_tables_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    class Four(players.First):
        policy = SimpleNamespace(players=(4,))

    assert _eval("four", "four", "--players", "3", load=lambda _: Four()) == 2
    assert "four was not made for 3 players" in capsys.readouterr().err
    assert _eval("four", "four", "--players", "4", "--deals", "2", "--quiet", load=lambda _: Four()) == 0


def test_files_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["first", "dice", "--players", "3", "--deals", "2", "--quiet"]
    (tmp_path / "file").write_text("")
    for option, place, problem in (
        ("--json", tmp_path / "file" / "r.json", "Not a directory"),
        ("--html", tmp_path, "Is a directory"),
    ):
        played: list[str] = []
        watched = lambda spec, played=played: played.append(spec) or players.load(spec)  # noqa: E731
        assert _eval(*words, option, place, load=watched) == 3
        assert f"{problem}; check the path" in capsys.readouterr().err
        assert not played, "a match was begun whose report cannot be written"
    assert _eval(*words, "--json", tmp_path / "new" / "r.json") == 0
    assert json.loads((tmp_path / "new" / "r.json").read_text())["complete"]
    assert _eval(*words, "--store", tmp_path) == 3
    store = tmp_path / "deals.jsonl"
    assert _eval(*words, "--store", store) == 0
    assert _eval("first", "last", *words[2:], "--store", store) == 2
    assert "belongs to another match (other agents)" in capsys.readouterr().err


def test_finished_deals_of_other_code_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "first",
        "dice",
        "--players",
        "3",
        "--deals",
        "2",
        "--quiet",
        "--store",
        tmp_path / "deals.jsonl",
    )
    assert _eval(*words) == 0
    monkeypatch.setattr(versions, "code_hash", lambda: "another")
    assert _eval(*words) == 2
    assert "belongs to another match (other code)" in capsys.readouterr().err


def test_the_hash_of_the_code_follows_rules_agents_and_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "PACKAGE", tmp_path)
    hashes = {versions.code_hash.__wrapped__()}
    for number, name in enumerate(
        [
            *("_random.py", "games/rules.py", "games/b/weights.json", "agents/x.py"),
            *("arena/kernels.py", "arena/match.py", "arena/play.py", "envs/rows.py"),
        ],
        start=2,
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
        hashes.add(versions.code_hash.__wrapped__())
        assert len(hashes) == number
        (tmp_path / name).write_text("2")
        assert versions.code_hash.__wrapped__() not in hashes
        (tmp_path / name).write_text("1")
    (tmp_path / "games" / "README.md").write_text("words")
    assert versions.code_hash.__wrapped__() in hashes


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (0.6214, 0.61, 0.63, "62.1 % ± 1.1"),
        (0.9981, 0.9975, 0.9985, "99.81 % ± 0.06"),
        (1.0, 0.998, 1.0, "100.0 % ± 0.2"),
        (0.25, 0.25, 0.25, "25.00 % ± 0.00"),
        (0.25, None, None, "25.0 %"),
    ],
)
def test_shares_in_words(mean: float, low: float | None, high: float | None, text: str) -> None:
    value = {"mean": mean, "low": low, "high": high}
    assert terminal.percent(value) == text
    assert terminal.percent(value, signed=True) == f"+{text}"


def test_names_are_escaped_in_the_page(tmp_path: Path) -> None:
    report = _report(tmp_path, "first", "dice", "--players", "3", "--deals", "3")
    text = json.dumps(report).replace("dice", "<b onload=x>&amp;")
    page = _check_page(html.render(json.loads(text)))
    assert "b" not in {tag for tag, _ in page.tags}


def test_shipped_agents_are_found_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["greedy", "random", "--deals", "2", "--players", "3"]) == 0
    assert "greedy" in capsys.readouterr().out
    assert command.main(["gredy", "random"]) == 2
    assert "greedy" in capsys.readouterr().err


def test_the_ladder_is_written_between_its_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"before\n{ladder.BEGIN}\nold\n{ladder.END}\nafter\n")
    words = ["--pair", "greedy", "random", "3", "--players", "3", "4", "--store", str(tmp_path / "deals")]
    assert ladder.main([*words, "--into", str(page)]) == 0
    table = capsys.readouterr().out
    assert page.read_text() == f"before\n{ladder.BEGIN}\n{table}{ladder.END}\nafter\n"
    assert table.count("\n") == 4
    command_of_a_row = re.search(r"`byzanz eval (.*)`", table)
    assert command_of_a_row is not None
    report = _report_of_shipped(tmp_path, command_of_a_row[1])
    assert f"| {report['results'][0]['agent']} | {report['results'][2]['agent']} |" in table
    assert len(list((tmp_path / "deals").iterdir())) == 2


def test_a_row_with_two_numbers_of_deals_is_two_matches_and_other_rows_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"{ladder.BEGIN}\n{ladder.END}\n")
    into = ["--players", "4", "--store", str(tmp_path / "deals"), "--into", str(page)]
    assert ladder.main(["--pair", "greedy", "random", "5", *into]) == 0
    assert ladder.main(["--players", "3", "--pair", "heuristic", "greedy", "2", *into[2:]]) == 0
    before = page.read_text().splitlines()
    capsys.readouterr()
    assert ladder.main(["--pair", "greedy", "random", "5", "3", *into]) == 0
    after = page.read_text().splitlines()
    assert [line.split("|")[1].strip() for line in after[3:5]] == ["3", "4"]
    assert after[3] == before[3]  # another pair at another table
    assert [i for i, line in enumerate(after) if line != before[i]] == [4]
    cells = [cell.strip() for cell in after[4].split("|")]
    assert cells[4] == "5 x 4 and 3 x 4"
    shares = []
    for words in re.findall(r"`byzanz eval (.*?)`", after[4]):
        shares.append(terminal.percent(_report_of_shipped(tmp_path, words)["results"][0]["win_share"]))
    assert shares == cells[5:7]


def test_the_mirror_of_a_duel_is_the_duel_the_other_way_round() -> None:
    both = players.play(players.duel(4, mirror=True), 6).results
    other = players.play(players.duel(4, labels=("dice", "first")), 6).results
    assert (both.points[:, 1] == other.points[:, 0]).all()


@pytest.mark.parametrize(
    "pair", [["greedy", "random"], ["greedy", "random", "many"], ["a", "b", "1", "2", "3"]]
)
def test_a_pair_that_is_none_is_refused(pair: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ladder.main(["--players", "3", "--pair", *pair]) == 2
    assert "name A, B and one or two numbers of deals" in capsys.readouterr().err


def _report_of_shipped(tmp_path: Path, words: str) -> dict[str, Any]:
    path = tmp_path / "row.json"
    assert command.main([*words.split(), "--json", str(path), "--quiet"]) == 0
    report: dict[str, Any] = json.loads(path.read_text())
    return report


def test_the_ladder_refuses_a_page_without_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "README.md"
    page.write_text("nothing here")
    assert ladder.main(["--pair", "greedy", "random", "1", "--into", str(page)]) == 2
    assert "there is no place for the ladder" in capsys.readouterr().err
    assert ladder.main(["--pair", "gredy", "random", "1"]) == 2
    assert page.read_text() == "nothing here"


ROOT = Path(__file__).parents[2]
README = Path(command.__file__).with_name("README.md").read_text(encoding="utf-8")


def test_every_command_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [
        line.partition("#")[0].split() for line in README.splitlines() if line.startswith("byzanz eval ")
    ]
    assert len(commands) > 5
    for words in commands:
        assert command.main([*words[2:], "--deals", "3", "--quiet"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "report.html", "deals.jsonl"}


def test_the_snippet_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(snippet, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("Estimate(mean=")


def test_every_ladder_command_of_the_readme_is_one() -> None:
    begin = "python -m byzanz_env.arena.ladder "
    commands = [
        line.partition("#")[0].split()[3:] for line in README.splitlines() if line.startswith(begin)
    ]
    assert len(commands) == 3
    for words in commands:
        arguments = ladder._parser().parse_args(words)
        for pair in arguments.pair or ladder.PAIRS:
            ladder._read_pair(pair)
        assert arguments.into is None or (ROOT / arguments.into).samefile(
            ROOT / "byzanz_env/arena/README.md"
        )
    table = ladder.between_marks(README)[1]
    assert ladder.merge(table, []) == table  # new rows would leave those that stand there alone
