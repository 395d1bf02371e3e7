"""Results as JSON, as Markdown and as a plot, with the machine, the versions and the date."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from byzanz_env.bench.case import ALL_CORES, Case
from byzanz_env.machine import processor

PACKAGES = ("byzanz-env", "numpy", "numba", "pettingzoo", "open_spiel", "rlcard", "pgx", "jax")
OURS, THEIRS = "#1f6f8b", "#b0a18f"


def describe_machine() -> dict[str, Any]:
    """Where and with what the numbers were taken."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{processor()}, {len(ALL_CORES)} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else [],
        "versions": versions,
    }


def as_json(cases: list[Case], about: dict[str, Any]) -> dict[str, Any]:
    """All numbers, each repetition among them."""
    rows = [
        {
            "group": case.group,
            "name": case.name,
            "unit": case.unit,
            "rate": round(case.rate),
            "rates": [round(rate) for rate in case.rates],
            "cpu_share": [round(share, 2) for share in case.share],
            "note": case.note,
            "problem": case.problem,
        }
        for case in cases
    ]
    return {**about, "cases": rows}


def as_markdown(results: dict[str, Any]) -> str:
    """The results as a page."""
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    lines = [
        "# Benchmarks",
        "",
        f"`make bench`, {results['date']}: {results['machine']}, Python {results['python']}; {versions}. "
        f"Load before the run: {results['load']}. Median of {results['repetitions']} repetitions of "
        f"{results['seconds']} s, all cases in turns, one core unless it says more. "
        "A share of the CPU well below 1 means that something else was running.",
        "",
        f"Memory of 1,024 games: {results['memory']['kept']:,.0f} KiB kept, "
        f"{results['memory']['shown']:,.0f} KiB of arrays that are shown.",
    ]
    for group in dict.fromkeys(case["group"] for case in results["cases"]):
        rows = [case for case in results["cases"] if case["group"] == group]
        lines += ["", f"## {group}", "", f"| case | {rows[0]['unit']} | lowest - highest | CPU share | |"]
        lines += ["|---|--:|--:|--:|---|", *(_row(case) for case in rows)]
    lines += ["", "![The same as a plot](results.png)", ""]
    return "\n".join(lines)


def _row(case: dict[str, Any]) -> str:
    if case["problem"]:
        return f"| {case['name']} | not measured | | | {case['problem']} |"
    span = f"{min(case['rates']):,} - {max(case['rates']):,}"
    share = sorted(case["cpu_share"])[len(case["cpu_share"]) // 2]
    return f"| {case['name']} | {case['rate']:,} | {span} | {share:.2f} | {case['note']} |"


def write(results: dict[str, Any], folder: Path) -> None:
    """results.json, README.md and, where matplotlib is installed, results.png."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "README.md").write_text(as_markdown(results))
    _plot(results, folder / "results.png")


def _plot(results: dict[str, Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    cases = [case for case in results["cases"] if case["unit"] == "decisions/s" and not case["problem"]]
    cases.reverse()
    figure, axes = pyplot.subplots(figsize=(8, 0.32 * len(cases) + 1))
    names = [case["name"] for case in cases]
    colours = [OURS if name.startswith(("engine", "BatchEnv", "byzanz")) else THEIRS for name in names]
    bars = axes.barh(names, [case["rate"] for case in cases], color=colours)
    axes.bar_label(bars, [f"{case['rate']:,}" for case in cases], padding=3, fontsize=7)
    axes.set_xscale("log")
    axes.set_xlim(right=10 * max(case["rate"] for case in cases))
    axes.set_xlabel("decisions/s with mask and observation (logarithmic)")
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
