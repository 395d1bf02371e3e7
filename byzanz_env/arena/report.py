"""What a match says, as one plain dictionary of a stable schema: the JSON report.

Terminal and HTML are drawn from it and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from byzanz_env.arena.match import Match, Results
from byzanz_env.arena.rating import Rating, rate
from byzanz_env.arena.sequential import LOWER, UPPER
from byzanz_env.arena.statistics import Comparison, Estimate, ahead, compare, compare_agents, summarize
from byzanz_env.arena.tournament import Ending
from byzanz_env.arena.versions import versions

FORMAT = "byzanz-arena-report-1"


def build(ending: Ending, agents: Sequence[Mapping[str, Any]], deals_asked: int) -> dict[str, Any]:
    """The report of a match as plain values."""
    results = ending.results
    match = results.match
    some = len(results.deals) > 0
    is_round_robin = match.kind == "round robin"
    return {
        "format": FORMAT,
        "versions": versions(),
        "match": {
            "kind": match.kind,
            "players": match.players,
            "seed": match.seed,
            "mirror": match.mirror,
            "deals": len(results.deals),
            "deals_asked": deals_asked,
            "rotations": match.players,
            "games": results.games,
            "fair_share": match.fair_share,
        },
        "agents": [dict(agent) for agent in agents],
        "results": _rows(results) if some else [],
        "comparisons": _comparisons(results) if some else [],
        "cross_table": _cross_table(results) if some and is_round_robin else None,
        "rating": _rating(results) if some and is_round_robin else None,
        "sequential_test": _test(ending),
        "complete": ending.failure is None,
        "interrupted": ending.interrupted,
        "failure": ending.failure,
    }


def _estimate(value: Estimate) -> dict[str, Any]:
    return {"mean": value.mean, **_bounds(value), "deals": value.deals}


def _bounds(value: Estimate | Rating) -> dict[str, float | None]:
    """The ends of an interval, None where one deal gives none."""
    ends = {"low": value.low, "high": value.high}
    return {name: end if math.isfinite(end) else None for name, end in ends.items()}


def _rows(results: Results) -> list[dict[str, Any]]:
    """One row for each agent at each table of a deal; in a round robin one for each agent."""
    match = results.match
    if match.kind == "round robin":
        places: list[tuple[int, int | None]] = [(agent, None) for agent in range(len(match.labels))]
    else:
        tables = enumerate(match.lineups(0))
        places = [(agent, table) for table, lineup in tables for agent in dict.fromkeys(lineup)]
    rows = []
    for agent, table in places:
        if not results.deals_with(agent).any():
            continue  # a round robin that was stopped early
        summary = summarize(results, agent, table)
        rows.append(
            {
                "agent": match.labels[agent],
                "table": table,
                "seats": summary.seats,
                "against": _opponents(match, agent, table),
                "games": summary.games,
                "win_share": _estimate(summary.win_share),
                "score": _estimate(summary.score),
                "rank": _estimate(summary.rank),
            }
        )
    return rows


def _opponents(match: Match, agent: int, table: int | None) -> str:
    if table is None:
        return "all"
    others = [match.labels[other] for other in match.lineups(0)[table] if other != agent]
    return f"{len(others)} x {others[0]}" if len(others) > 1 else f"1 x {others[0]}"


def _comparisons(results: Results) -> list[dict[str, Any]]:
    match = results.match
    found: list[tuple[str, str, str, Comparison]] = []
    if match.kind == "duel":
        first, second = match.labels
        alone = results.win_shares(0, 0)
        found.append((first, second, "alone, minus the fair share", compare(alone, match.fair_share)))
        if match.mirror:
            found.append(
                (first, second, "each alone, same deals", compare(alone, results.win_shares(1, 1)))
            )
    elif match.kind == "against":
        tables = range(len(match.labels) - 1)
        for a, b in ((a, b) for a in tables for b in tables if a < b):
            paired = compare(results.win_shares(a, a), results.win_shares(b, b))
            found.append((match.labels[a], match.labels[b], "each alone, same deals", paired))
    else:
        agents = range(len(match.labels))
        for a, b in ((a, b) for a in agents for b in agents if a < b):
            if (results.deals_with(a) & results.deals_with(b)).any():
                paired = compare_agents(results, a, b)
                found.append((match.labels[a], match.labels[b], "same tables", paired))
    return [
        {
            "agent": first,
            "other": second,
            "what": what,
            "difference": _estimate(comparison.difference),
            "p_value": comparison.p_value,
        }
        for first, second, what, comparison in found
    ]


def _cross_table(results: Results) -> dict[str, Any]:
    agents = range(len(results.match.labels))
    cells = [[ahead(results, row, column) for column in agents] for row in agents]
    return {
        "agents": list(results.match.labels),
        "ahead": [[None if cell is None else _estimate(cell) for cell in row] for row in cells],
    }


def _rating(results: Results) -> list[dict[str, Any]]:
    labels = results.match.labels
    return [
        {"agent": labels[rating.agent], "rating": rating.rating, **_bounds(rating)}
        for rating in rate(results)
    ]


def _test(ending: Ending) -> dict[str, Any] | None:
    test = ending.test
    if test is None:
        return None
    better, worse = test.ratios
    return {
        "margin": test.margin,
        "deals": test.deals,
        "ratio_better": better,
        "ratio_worse": worse,
        "bounds": [LOWER, UPPER],
        "verdict": test.verdict,
    }
