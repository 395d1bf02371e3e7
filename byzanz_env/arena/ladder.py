"""The ladder: a table, in Markdown, of how each opponent fares against the one below it, both ways round.

`python -m byzanz_env.arena.ladder --into byzanz_env/arena/README.md` writes it between the marks in that
file; rows of other pairs that stand there stay as they are. Every row can be had with the commands beside
it. With `--store DIR` finished deals are kept, so that the long matches of search agents can be stopped and
taken up again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from byzanz_env.arena.command import DONE, FAILED, USAGE, add_arguments, evaluate
from byzanz_env.files import must_be_writable, write_atomically

BEGIN, END = "<!-- ladder: begin -->", "<!-- ladder: end -->"
# A, B, deals with A alone, deals with B alone. n - 1 seats that search cost n - 1 times as much as one.
PAIRS = (
    ("greedy", "random", "2500", "2500"),
    ("heuristic", "greedy", "2500", "2500"),
    ("montecarlo:256", "heuristic", "100", "20"),
    ("ismcts:200", "heuristic", "100", "20"),
)
HEAD = (
    "| players | A | B | deals | A alone among copies of B | B alone among copies of A | fair | command |",
    "|---|---|---|---|---|---|---|---|",
)


def words_of(first: str, second: str, players: int, deals: int, mirror_deals: int) -> list[list[str]]:
    """What follows `byzanz eval` for a row: one match both ways round, or one for each number of deals."""

    def match(alone: str, others: str, count: int) -> list[str]:
        return [alone, others, "--players", str(players), "--deals", str(count), "--seed", "0"]

    if deals == mirror_deals:
        return [[*match(first, second, deals), "--mirror"]]
    return [match(first, second, deals), match(second, first, mirror_deals)]


def row(reports: Sequence[dict[str, Any]], commands: Sequence[Sequence[str]]) -> str:
    """One line of the table."""
    from byzanz_env.arena.terminal import percent

    alone = reports[0]["results"][0]
    mirror = reports[1]["results"][0] if len(reports) > 1 else reports[0]["results"][2]
    match = reports[0]["match"]
    cells = (
        str(match["players"]),
        alone["agent"],
        mirror["agent"],
        " and ".join(f"{report['match']['deals']:,} x {match['players']}" for report in reports),
        percent(alone["win_share"]),
        percent(mirror["win_share"]),
        f"{100 * match['fair_share']:.1f} %",
        " ".join(f"`byzanz eval {' '.join(words)}`" for words in commands),
    )
    return f"| {' | '.join(cells)} |"


def merge(old: str, rows: Sequence[str]) -> str:
    """The table with new rows in place of those for the same players and pair, ordered by players."""
    lines = {_pair_of(line): line for line in old.splitlines() if _pair_of(line)}
    lines |= {_pair_of(line): line for line in rows}
    return "\n".join([*HEAD, *(lines[pair] for pair in sorted(lines, key=lambda pair: int(pair[0])))])


def _pair_of(line: str) -> tuple[str, ...]:
    """Players, A and B of a row; nothing for any other line."""
    cells = tuple(cell.strip() for cell in line.split("|")[1:4])
    return cells if len(cells) == 3 and cells[0].isdigit() else ()


def between_marks(text: str) -> tuple[str, str, str]:
    """The text before, within and after the marks."""
    before, begin, rest = text.partition(BEGIN)
    table, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"there is no place for the ladder: write {BEGIN} and {END} where it should stand")
    return before, table.strip("\n"), after


def store_name(words: Sequence[str]) -> str:
    """A file name for the finished deals of one row."""
    plain = "_".join([*words[:4], *words[8:]])  # all but deals and seed
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in plain) + ".jsonl"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "byzanz_env.arena.ladder", description="Play the ladder and print it as Markdown."
    )
    parser.add_argument("--players", type=int, nargs="+", default=[3, 4, 5, 6])
    parser.add_argument(
        "--pair",
        nargs="+",
        action="append",
        metavar="A B DEALS",
        help="A against B on so many deals, and if B alone shall play fewer, how many; may be repeated "
        "(default: scripted and search agents)",
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
    rows: list[str] = []
    try:
        pairs = [_read_pair(pair) for pair in arguments.pair or PAIRS]
        if arguments.into is not None:
            between_marks(arguments.into.read_text(encoding="utf-8"))  # before hours of play
            must_be_writable(arguments.into)
        for players in arguments.players:
            for first, second, deals, mirror_deals in pairs:
                commands = words_of(first, second, players, deals, mirror_deals)
                rows.append(row([_play(arguments, command) for command in commands], commands))
                print(rows[-1], file=sys.stderr)
        if arguments.into is None:
            print(merge("", rows))
        else:
            before, now, after = between_marks(arguments.into.read_text(encoding="utf-8"))
            table = merge(now, rows)  # with rows that another process wrote meanwhile
            print(table)
            write_atomically(arguments.into, f"{before}{BEGIN}\n{table}\n{END}{after}".encode())
    except (ValueError, OSError) as error:
        print(f"ladder: {error}", file=sys.stderr)
        return USAGE
    except RuntimeError as error:
        print(f"ladder: {error}", file=sys.stderr)
        return FAILED
    return DONE


def _read_pair(words: Sequence[str]) -> tuple[str, str, int, int]:
    if len(words) not in (3, 4) or not all(word.isdigit() for word in words[2:]):
        raise ValueError(f"{' '.join(words)!r} is no pair: name A, B and one or two numbers of deals")
    return words[0], words[1], int(words[2]), int(words[-1])


def _play(arguments: argparse.Namespace, words: Sequence[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    asked = parser.parse_args([*words, "--threads", str(arguments.threads), "--quiet"])
    if arguments.store is not None:
        arguments.store.mkdir(parents=True, exist_ok=True)
        asked.store = str(arguments.store / store_name(words))
    report = evaluate(asked)
    if not report["complete"]:
        raise RuntimeError(report["failure"])
    return report


if __name__ == "__main__":
    sys.exit(main())
