"""The ladder: a table, in Markdown, of how each opponent fares against the one below it, both ways round.

`python -m byzanz_env.arena.ladder --into byzanz_env/arena/README.md` writes it between the marks in that
file. Every row can be had with the command beside it. With `--store DIR` finished deals are kept, so that
the long matches of search agents can be stopped and taken up again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from byzanz_env.arena.command import DONE, FAILED, USAGE, add_arguments, evaluate

BEGIN, END = "<!-- ladder: begin -->", "<!-- ladder: end -->"
PAIRS = (
    ("greedy", "random", 2500),
    ("heuristic", "greedy", 2500),
    ("montecarlo:256", "heuristic", 100),
    ("ismcts:200", "heuristic", 100),
)
HEAD = (
    "| players | A | B | deals | A alone among copies of B | B alone among copies of A | fair | command |",
    "|---|---|---|---|---|---|---|---|",
)


def words_of(first: str, second: str, players: int, deals: int) -> list[str]:
    """What follows `byzanz eval` for one row of the ladder."""
    return [first, second, "--players", str(players), "--deals", str(deals), "--seed", "0", "--mirror"]


def row(report: dict[str, Any], words: Sequence[str]) -> str:
    """One line of the table."""
    from byzanz_env.arena.terminal import percent

    alone, _, mirror, _ = report["results"]
    match = report["match"]
    cells = (
        str(match["players"]),
        alone["agent"],
        mirror["agent"],
        f"{match['deals']:,} x {match['rotations']}",
        percent(alone["win_share"]),
        percent(mirror["win_share"]),
        f"{100 * match['fair_share']:.1f} %",
        f"`byzanz eval {' '.join(words)}`",
    )
    return f"| {' | '.join(cells)} |"


def put_between_marks(text: str, table: str) -> str:
    """The text with the table in place of what stood between the marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"there is no place for the ladder: write {BEGIN} and {END} where it should stand")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def store_name(words: Sequence[str]) -> str:
    """A file name for the finished deals of one row."""
    plain = "_".join(words[:4])
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in plain) + ".jsonl"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "byzanz_env.arena.ladder", description="Play the ladder and print it as Markdown."
    )
    parser.add_argument("--players", type=int, nargs="+", default=[3, 4, 5, 6])
    parser.add_argument(
        "--pair",
        nargs=3,
        action="append",
        metavar=("A", "B", "DEALS"),
        help="A against B on so many deals; may be repeated (default: scripted and search agents)",
    )
    parser.add_argument("--store", metavar="DIR", type=Path, help="keep finished deals in this folder")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--into", metavar="FILE", type=Path, help=f"write between {BEGIN} and {END} of this file"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play all rows, print the table, and put it into a file if asked to."""
    arguments = _parser().parse_args(words)
    pairs = arguments.pair or PAIRS
    lines = [*HEAD]
    try:
        if arguments.into is not None:
            put_between_marks(arguments.into.read_text(encoding="utf-8"), "")  # before hours of play
        for players in arguments.players:
            for first, second, deals in pairs:
                row_words = words_of(first, second, players, int(deals))
                lines.append(_play_row(arguments, row_words))
                print(lines[-1], file=sys.stderr)
    except (ValueError, OSError) as error:
        print(f"ladder: {error}", file=sys.stderr)
        return USAGE
    except RuntimeError as error:
        print(f"ladder: {error}", file=sys.stderr)
        return FAILED
    table = "\n".join(lines)
    print(table)
    if arguments.into is not None:
        text = put_between_marks(arguments.into.read_text(encoding="utf-8"), table)
        arguments.into.write_text(text, encoding="utf-8")
    return DONE


def _play_row(arguments: argparse.Namespace, words: Sequence[str]) -> str:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    asked = parser.parse_args([*words, "--threads", str(arguments.threads), "--quiet"])
    if arguments.store is not None:
        arguments.store.mkdir(parents=True, exist_ok=True)
        asked.store = str(arguments.store / store_name(words))
    report = evaluate(asked)
    if not report["complete"]:
        raise RuntimeError(report["failure"])
    return row(report, words)


if __name__ == "__main__":
    sys.exit(main())
