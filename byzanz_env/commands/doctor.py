"""`byzanz doctor`: what is installed, where things are kept, and whether the engine works here."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from importlib import metadata

PACKAGES = (
    *("numpy", "numba", "gymnasium", "pettingzoo", "safetensors", "rich", "pillow"),
    *("starlette", "uvicorn", "torch"),
)
OPTIONAL = {"starlette": "web", "uvicorn": "web", "torch": "train"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(arguments: argparse.Namespace) -> int:
    report = {"python": platform.python_version(), "system": platform.platform(terse=True)}
    report |= {"cores": str(os.cpu_count()), "byzanz-env": metadata.version("byzanz-env")}
    report |= {package: _version(package) for package in PACKAGES}
    problems = [f"{name} is missing" for name in PACKAGES if report[name] == "-" and name not in OPTIONAL]
    if not problems:
        problems += _try_engine(report)
    if arguments.json:
        print(json.dumps({"ok": not problems, "problems": problems, **report}))
        return 1 if problems else 0
    for name, value in report.items():
        missing = (
            f"not installed; pip install 'byzanz-env[{OPTIONAL[name]}]'" if name in OPTIONAL else "missing"
        )
        print(f"{name:<14} {missing if value == '-' else value}")
    print("\n".join(problems) if problems else "All is well.")
    return 1 if problems else 0


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "-"


def _try_engine(report: dict[str, str]) -> list[str]:
    start = time.perf_counter()
    from byzanz_env import _jit
    from byzanz_env.agents import load, names
    from byzanz_env.commands.places import replay_folder
    from byzanz_env.replay import parse
    from byzanz_env.session import Session

    session = Session([load("random")] * 4, seed=1)
    for _ in session.advance():
        pass
    proved = parse(session.replay().text())
    report["engine"] = f"{len(proved.actions)} decisions played, recorded and proved"
    report["start"] = f"{time.perf_counter() - start:.2f} s from import to the end of a game"
    report["opponents"] = ", ".join(names())
    cache = _jit.cache_directory()
    report["cache"] = cache
    report["replays"] = str(replay_folder())
    if not cache.startswith(str(_jit.cache_root())):
        return [
            f"{_jit.cache_root()} cannot be written, so every start compiles anew; set BYZANZ_ENV_CACHE"
        ]
    return []
