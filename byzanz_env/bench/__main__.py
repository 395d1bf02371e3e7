"""`python -m byzanz_env.bench [--seconds S] [--repetitions R] [--peers] [--out FOLDER]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from byzanz_env.bench import agents, ours, peers, report
from byzanz_env.bench.case import ALL_CORES, measure


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the page, and write it with `--out`."""
    parser = argparse.ArgumentParser(prog="python -m byzanz_env.bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each repetition of each case")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--peers", action="store_true", help="also measure the other libraries")
    parser.add_argument("--out", type=Path, help="folder for results.json, README.md and results.png")
    options = parser.parse_args(arguments)
    about = report.describe_machine()
    cores = len(ALL_CORES)
    cases = ours.cases(cores) + agents.cases(cores) + (peers.cases() if options.peers else [])
    measure(cases, options.seconds, options.repetitions, lambda line: print(line, file=sys.stderr))
    results = report.as_json(cases, about)
    results |= {"memory": ours.memory(), "seconds": options.seconds, "repetitions": options.repetitions}
    print(report.as_markdown(results))
    if options.out is not None:
        report.write(results, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
