"""The report of a match as one HTML file: no scripts, nothing from elsewhere, light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from byzanz_env.arena.terminal import (
    comparison_cells,
    cross_cells,
    headline,
    result_cells,
    verdict,
)

STYLE = """
:root { color-scheme: light dark; --ink: #1d2433; --paper: #fdfcf9; --soft: #6b7280; --line: #d9d5ca;
  --mark: #8a3b12; --good: 34 139 94; --bad: 178 58 72; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6df; --paper: #16181d; --soft: #9aa1ad;
  --line: #343841; --mark: #e39a6b; --good: 74 190 136; --bad: 224 104 116; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th { color: var(--soft); font-weight: 600; }
.note, footer { color: var(--soft); font-size: .9rem; }
.failure { border-left: 4px solid rgb(var(--bad)); padding-left: .8rem; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 14px system-ui, sans-serif; }
svg .axis { stroke: var(--line); } svg .axis-text { fill: var(--soft); font-size: 12px; }
svg .bar { stroke: var(--mark); stroke-width: 9; stroke-opacity: .45; } svg .dot { fill: var(--mark); }
svg .fair { stroke: var(--soft); stroke-dasharray: 4 4; }
"""

Point = tuple[str, float, float, float]  # name, low, mean, high


def render(report: Mapping[str, Any]) -> str:
    """The whole page."""
    parts = [f"<h1>{escape(headline(report))}</h1>"]
    if report["failure"]:
        parts.append(f'<p class="failure">Not complete: {escape(report["failure"])}</p>')
    said = verdict(report)
    if said:
        parts.append(f"<p>{escape(said)}</p>")
    fair = report["match"]["fair_share"]
    columns = ("agent", "against", "games", f"win share (fair {100 * fair:.1f} %)", "score", "rank")
    parts += ["<h2>Results</h2>", _table(columns, result_cells(report)), _share_plot(report)]
    if report["rating"]:
        parts += ["<h2>Plackett-Luce rating</h2>", _rating_plot(report)]
        parts.append('<p class="note">Elo scale, mean 0; bars are 95 % bootstrap intervals over deals.</p>')
    if report["cross_table"]:
        parts += [
            "<h2>How often the row ends before the column at the same table</h2>",
            _cross_table(report),
        ]
    if report["comparisons"]:
        heads = ("agent", "to", "measured", "difference in win share", "p")
        parts += ["<h2>Comparisons</h2>", _table(heads, comparison_cells(report))]
    parts += ["<h2>Agents</h2>", _agents(report), _footer(report)]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Byzanz arena: {escape(headline(report))}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return _framed(head, body)


def _cross_table(report: Mapping[str, Any]) -> str:
    table = report["cross_table"]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ["", *table["agents"]])
    lines = []
    for texts, cells in zip(cross_cells(report), table["ahead"], strict=True):
        line = f'<th scope="row">{escape(texts[0])}</th>'
        for text, cell in zip(texts[1:], cells, strict=True):
            line += f"<td{_shade(cell)}>{escape(text)}</td>"
        lines.append(f"<tr>{line}</tr>")
    return _framed(head, "\n".join(lines))


def _framed(head: str, body: str) -> str:
    rows = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"
    return f'<div class="scroll"><table>\n{rows}</table></div>'


def _shade(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return ""
    strength = abs(cell["mean"] - 0.5) * 1.2
    colour = "--good" if cell["mean"] > 0.5 else "--bad"
    return f' style="background: rgb(var({colour}) / {strength:.2f})"'


def _agents(report: Mapping[str, Any]) -> str:
    rows = [(a["name"], a["spec"], a["sha256"] or "") for a in report["agents"]]
    return _table(("agent", "loaded from", "sha256"), rows)


def _footer(report: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    return (
        "<footer><p>Every deal is played in every rotation of the seats; ties split the win; "
        "± are 95 % intervals clustered by deal.</p>"
        f"<p>{escape(versions)}</p></footer>"
    )


def _share_plot(report: Mapping[str, Any]) -> str:
    points = []
    for row, cells in zip(report["results"], result_cells(report), strict=True):
        share = row["win_share"]
        low, high = (0.0, 1.0) if share["low"] is None else (share["low"], share["high"])
        name = cells[0] if row["table"] is None else f"{cells[0]} against {cells[1]}"
        points.append((name, 100 * low, 100 * share["mean"], 100 * high))
    return _plot("Win share in percent", points, (0.0, 100.0), 25, 100 * report["match"]["fair_share"])


def _rating_plot(report: Mapping[str, Any]) -> str:
    points = []
    for r in report["rating"]:
        low, high = (r["rating"],) * 2 if r["low"] is None else (r["low"], r["high"])
        points.append((r["agent"], low, r["rating"], high))
    step = 100
    first = step * int(min(low for _, low, _, _ in points) // step)
    last = step * int(-(-max(high for *_, high in points) // step))
    while (last - first) / step > 10:
        step *= 2
    return _plot("Rating", points, (float(first), float(max(last, first + step))), step, None)


def _plot(
    title: str, points: Sequence[Point], span: tuple[float, float], step: int, fair: float | None
) -> str:
    """Dots with intervals on a common scale, as inline SVG."""
    left, width, row = 300, 480, 30
    height = row * len(points) + 40

    def x(value: float) -> float:
        return left + width * (min(max(value, span[0]), span[1]) - span[0]) / (span[1] - span[0])

    marks = []
    tick = span[0]
    while tick <= span[1]:
        at = f"{x(tick):.1f}"
        marks.append(f'<line class="axis" x1="{at}" y1="8" x2="{at}" y2="{height - 26}"/>')
        marks.append(
            f'<text class="axis-text" x="{at}" y="{height - 8}" text-anchor="middle">{tick:.0f}</text>'
        )
        tick += step
    if fair is not None:
        marks.append(
            f'<line class="fair" x1="{x(fair):.1f}" y1="8" x2="{x(fair):.1f}" y2="{height - 26}"/>'
        )
    for place, (name, low, mean, high) in enumerate(points):
        y = 24 + row * place
        marks.append(f'<text x="{left - 14}" y="{y + 5}" text-anchor="end">{escape(name)}</text>')
        marks.append(f'<line class="bar" x1="{x(low):.1f}" y1="{y}" x2="{x(high):.1f}" y2="{y}"/>')
        marks.append(
            f'<circle class="dot" cx="{x(mean):.1f}" cy="{y}" r="3"><title>{mean:.1f}</title></circle>'
        )
    drawing = "\n".join(marks)
    return (
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {left + width + 30} {height}" '
        f'width="{left + width + 30}" height="{height}"><title>{escape(title)}</title>\n{drawing}\n</svg>'
    )
