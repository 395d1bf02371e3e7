"""`byzanz bench`: the speed of the engine on this machine."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="of each repetition of each case; default 1"
    )
    parser.add_argument("--repetitions", type=int, default=5, help="default 5")
    parser.add_argument("--peers", action="store_true", help="also measure the other libraries")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write results.json, README.md and a picture"
    )


def run(arguments: argparse.Namespace) -> int:
    from byzanz_env.bench.__main__ import main

    words = ["--seconds", str(arguments.seconds), "--repetitions", str(arguments.repetitions)]
    words += ["--peers"] if arguments.peers else []
    words += ["--out", str(arguments.out)] if arguments.out else []
    return main(words)
