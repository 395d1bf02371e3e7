"""Matches that stop and go on: the store of finished deals, early stops, failures half way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from byzanz_env.arena.match import Match
from byzanz_env.arena.sequential import FIRST_LOOK
from byzanz_env.arena.store import Store, StoreError, parse_deal
from byzanz_env.arena.tournament import run
from tests.arena.players import Broken, Dice, First, assert_same, crew, duel, play

SETTINGS = {"agents": ["first", "dice"], "seed": 7}


def _play_with(path: Path, match: Match, deals: int, **options: object) -> int:
    """Play with a store and say how many deals it held at the start."""
    with Store(path, match, SETTINGS) as store:
        before = len(store.finished)
        assert_same(play(match, deals, store=store, **options).results, play(match, deals).results)
    return before


def test_a_match_taken_up_again_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    path, match = tmp_path / "deals.jsonl", duel(3, True)
    assert _play_with(path, match, 4) == 0
    assert _play_with(path, match, 9, batch=5) == 4
    assert _play_with(path, match, 6) == 9  # fewer deals than are known
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1] + lines[3:]))  # a gap is filled
    assert _play_with(path, match, 9) == 7


@pytest.mark.parametrize("cut", [1, 2, 30])
def test_a_torn_last_line_is_played_again(tmp_path: Path, cut: int) -> None:
    path, match = tmp_path / "deals.jsonl", duel(3)
    _play_with(path, match, 5)
    path.write_bytes(path.read_bytes()[:-cut])
    assert _play_with(path, match, 5) == 4
    assert _play_with(path, match, 5) == 5


def test_a_torn_header_alone_is_refused_and_an_empty_file_is_used(tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    path.write_bytes(b'{"format": "byz')
    with pytest.raises(StoreError, match="not a file of finished deals"):
        Store(path, duel(3), SETTINGS)
    assert path.read_bytes() == b'{"format": "byz'
    path.write_bytes(b"")
    assert _play_with(path, duel(3), 2) == 0


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    _play_with(path, duel(3), 2)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"another match \(other agents, seed\): choose another file"):
        Store(path, duel(3), {"agents": ["last", "dice"], "seed": 8})
    path.write_text("# notes\nmine\n")
    with pytest.raises(StoreError, match="not a file of finished deals"):
        Store(path, duel(3), SETTINGS)
    assert before != path.read_bytes() == b"# notes\nmine\n"


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b'{"deal": 0}',
        b'{"deal": -1, "points": [], "ranks": []}',
        b'{"deal": 1, "points": [[[1, 2, 3]]], "ranks": [[[0, 1, 2]]]}',
        b'{"deal": 1, "points": [[[1,2,"x"],[1,2,3],[1,2,3]]], "ranks": [[[0,1,2],[0,1,2],[0,1,2]]]}',
        b'{"deal": 1, "points": [[[1,2,3],[1,2,3],[1,2,3]]], "ranks": [[[0,1,2],[0,1,2],[0,0,2]]]}',
    ],
)
def test_a_damaged_line_is_refused_with_its_number(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "deals.jsonl"
    _play_with(path, duel(3), 1)
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(StoreError, match=r"line 3 of .* is damaged .*: remove that line"):
        Store(path, duel(3), SETTINGS)


def test_two_results_for_one_deal_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    _play_with(path, duel(3), 1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[-1]]))  # the same twice does no harm
    assert _play_with(path, duel(3), 1) == 1
    other = json.loads(lines[-1])
    other["points"][0][0][0] += 1
    path.write_bytes(b"".join(lines) + json.dumps(other).encode() + b"\n")
    with pytest.raises(StoreError, match="two different results for deal 0"):
        Store(path, duel(3), SETTINGS)


def test_finished_deals_survive_a_failing_agent(tmp_path: Path) -> None:
    path, match = tmp_path / "deals.jsonl", duel(3)
    with Store(path, match, SETTINGS) as store:
        ending = run(match, [[Broken(400), Dice()]], 100, batch=4, store=store)
    assert ending.failure is not None
    assert "agent first on seat" in ending.failure
    kept = len(ending.results.deals)
    assert 0 < kept < 100
    assert _play_with(path, match, 12) == kept


def test_interrupting_keeps_what_is_finished(tmp_path: Path) -> None:
    def stop_at_three(finished: int) -> None:
        if finished == 3:
            raise KeyboardInterrupt

    match = duel(3)
    with Store(tmp_path / "deals.jsonl", match, SETTINGS) as store:
        ending = play(match, 50, store=store, batch=3, progress=stop_at_three)
        assert len(store.finished) == 3
    assert ending.interrupted
    assert ending.failure == "the match was interrupted"
    assert len(ending.results.deals) == 3


def test_an_early_stop_is_at_the_same_deal_whatever_the_batch(tmp_path: Path) -> None:
    match = duel(3)
    endings = [play(match, 400, margin=0.3, batch=batch) for batch in (3, 64)]
    assert endings[0].test is not None
    assert endings[0].test.verdict in ("better", "worse", "level")
    stop = endings[0].test.deals
    assert FIRST_LOOK <= stop < 400
    assert_same(endings[0].results, endings[1].results)
    assert endings[0].results.deals.tolist() == list(range(stop))
    with Store(tmp_path / "deals.jsonl", match, SETTINGS) as store:
        play(match, stop + 20, store=store)
        again = run(match, [[Broken(0), Broken(0)]], 400, margin=0.3, store=store)  # needs no game more
        short = run(match, [[Broken(0), Broken(0)]], stop - 1, margin=0.3, store=store)
    assert_same(again.results, endings[0].results)
    assert again.failure is None
    assert short.test is not None
    assert (short.test.verdict, short.test.deals) == (None, stop - 1)  # deals not asked for do not count


def test_challengers_meet_the_same_deals() -> None:
    match = Match("against", 3, 7, ("first", "dice", "last"))
    results = play(match, 5).results
    alone = play(Match("duel", 3, 7, ("dice", "last")), 5).results
    assert (results.points[:, 1] == alone.points[:, 0]).all()
    ending = play(match, 400, margin=0.3)
    assert ending.test is not None
    assert ending.test.verdict is not None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("duel", 2, 0, ("a", "b")), "2 players cannot play Byzanz: choose 3 to 6"),
        (("duel", 7, 0, ("a", "b")), "7 players"),
        (("duel", 4, -1, ("a", "b")), "seed -1 is out of range"),
        (("duel", 4, 2**63, ("a", "b")), "out of range"),
        (("duel", 4, 0, ("a", "b", "c")), "a duel exactly two"),
        (("duel", 4, 0, ("a",)), "at least two agents"),
        (("round robin", 4, 0, ("a", "b", "c"), True), "mirror is for two agents"),
        (("round robin", 4, 0, ("a", "b", "a")), "same label"),
        (("knock-out", 4, 0, ("a", "b")), "no kind of match"),
    ],
)
def test_impossible_matches_are_refused(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Match(*arguments)  # type: ignore[arg-type]


def test_impossible_runs_are_refused() -> None:
    match = Match("round robin", 3, 0, ("first", "last", "dice"))
    with pytest.raises(ValueError, match="0 deals cannot be played"):
        play(match, 0)
    with pytest.raises(ValueError, match="0 games at once"):
        play(match, 1, batch=0)
    with pytest.raises(ValueError, match="a single question"):
        play(match, 1, margin=0.02)


def test_a_stored_deal_reads_back(tmp_path: Path) -> None:
    match = duel(3)
    result = run(match, [crew(match)], 1).results
    with Store(tmp_path / "deals.jsonl", match, SETTINGS) as store:
        run(match, [[First(), Dice()]], 1, store=store)
        line = store.path.read_bytes().splitlines()[1]
    assert parse_deal(line, match).points[0] == tuple(tuple(game) for game in result.points[0, 0].tolist())
