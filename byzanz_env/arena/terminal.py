"""A report in words and cells, and as tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

VERDICTS = {
    "better": "{first} is better than {second}",
    "worse": "{first} is worse than {second}",
    "level": "no difference of {margin} or more between {first} and {second}",
}


def percent(value: Mapping[str, Any], signed: bool = False) -> str:
    """A share with its interval, such as `62.1 % ± 0.9`; one digit more where the interval is narrow."""
    sign = "+" if signed else ""
    if value["low"] is None:
        return f"{100 * value['mean']:{sign}.1f} %"
    half = 100 * _half_width(value)
    digits = 1 if half >= 0.095 else 2
    return f"{100 * value['mean']:{sign}.{digits}f} % ± {half:.{digits}f}"


def number(value: Mapping[str, Any]) -> str:
    """A mean with its interval."""
    mean = f"{value['mean']:.2f}"
    return mean if value["low"] is None else f"{mean} ± {_half_width(value):.2f}"


def _half_width(value: Mapping[str, Any]) -> float:
    return float(max(value["high"] - value["mean"], value["mean"] - value["low"]))


def chance(p_value: float) -> str:
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def headline(report: Mapping[str, Any]) -> str:
    """What was played, in one line."""
    match = report["match"]
    names = ", ".join(agent["name"] for agent in report["agents"])
    return (
        f"{names}: {match['kind']}, {match['players']} players, {match['deals']:,} deals x "
        f"{match['rotations']} seats, seed {match['seed']}"
    )


def verdict(report: Mapping[str, Any]) -> str | None:
    """What the sequential test found, as a sentence."""
    test = report["sequential_test"]
    if test is None:
        return None
    if test["verdict"] is None:
        return f"no verdict of the sequential test within {test['deals']:,} deals"
    names = [agent["name"] for agent in report["agents"]]
    margin = f"{100 * test['margin']:.1f} % of win share"
    said = VERDICTS[test["verdict"]].format(first=names[0], second=names[1], margin=margin)
    return f"{said} (sequential test, stopped after {test['deals']:,} deals)"


def show(report: Mapping[str, Any], console: Console) -> None:
    """Print a report as tables."""
    from rich.markup import escape
    from rich.table import Table

    def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        table = Table(title=escape(title), title_justify="left")
        for place, column in enumerate(columns):
            table.add_column(column, justify="left" if place == 0 else "right", no_wrap=place == 0)
        for row in rows:
            table.add_row(*(escape(cell) for cell in row))
        console.print(table)

    fair = f"win share (fair {100 * report['match']['fair_share']:.1f} %)"
    print_table(
        headline(report), ("agent", "against", "games", fair, "score", "rank"), result_cells(report)
    )
    if report["rating"]:
        rows = [
            (
                r["agent"],
                f"{r['rating']:+.0f}",
                "" if r["low"] is None else f"{r['low']:+.0f} .. {r['high']:+.0f}",
            )
            for r in report["rating"]
        ]
        print_table("Plackett-Luce rating", ("agent", "rating", "95 % interval"), rows)
    if report["cross_table"]:
        title = "how often the row ends before the column at the same table"
        print_table(title, ("", *report["cross_table"]["agents"]), cross_cells(report))
    if report["comparisons"]:
        print_table(
            "difference in win share",
            ("agent", "to", "measured", "difference", "p"),
            comparison_cells(report),
        )
    said = verdict(report)
    if said:
        console.print(escape(said))


def result_cells(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            row["agent"]
            if row["seats"] == 1 or row["table"] is None
            else f"{row['seats']} x {row['agent']}",
            row["against"],
            f"{row['games']:,}",
            percent(row["win_share"]),
            number(row["score"]),
            number(row["rank"]),
        )
        for row in report["results"]
    ]


def cross_cells(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    table = report["cross_table"]
    rows = zip(table["agents"], table["ahead"], strict=True)
    return [(name, *("" if cell is None else percent(cell) for cell in cells)) for name, cells in rows]


def comparison_cells(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            row["agent"],
            row["other"],
            row["what"],
            percent(row["difference"], signed=True),
            chance(row["p_value"]),
        )
        for row in report["comparisons"]
    ]
