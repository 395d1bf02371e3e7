"""`byzanz verify`: replay files are played again, policy files checked, and the first flaw named."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from byzanz_env.cli import CommandError
from byzanz_env.replay import read

MAX_FILES = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="replays, policies, or folders of them"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per file")


def run(arguments: argparse.Namespace) -> int:
    failed = 0
    for path in _files(arguments.files):
        problem, summary = _check(path)
        failed += bool(problem)
        if arguments.json:
            print(
                json.dumps({"file": str(path), "ok": not problem, "problem": problem, "summary": summary})
            )
        elif problem:
            print(f"{path}: {problem}", file=sys.stderr)
        else:
            print(f"{path}: {summary}")
    return 1 if failed else 0


def _files(paths: list[Path]) -> list[Path]:
    files = []
    for path in paths:
        if path.is_dir():
            found = [p for p in sorted(path.rglob("*")) if p.suffix in (".jsonl", ".safetensors")]
            if not found:
                raise CommandError(f"{path} holds no replays (.jsonl) and no policies (.safetensors)")
            files += found[:MAX_FILES]
        else:
            files.append(path)
    return files


def _check(path: Path) -> tuple[str, str]:
    try:
        if path.suffix == ".safetensors":
            from byzanz_env.agents.policy_file import read_policy

            policy = read_policy(path)
            return "", f"policy {policy.name} is whole, sha256 {policy.sha256[:16]}"
        replay = read(path)
    except (OSError, ValueError) as problem:
        text = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        return text, ""
    end = json.loads(replay.lines[-1])
    state = "a whole game" if end["end"] == "over" else "an unfinished game"
    points = ", ".join(str(n) for n in end["points"])
    return "", f"{state}, {replay.players} players, {end['decisions']} decisions, points {points}"
