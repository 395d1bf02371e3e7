"""`byzanz watch`: opponents play each other, all hands face up."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from byzanz_env.commands.arguments import add_table
from byzanz_env.commands.play import score_sheet
from byzanz_env.files import must_be_writable
from byzanz_env.opponents import default_opponent, seat_agents
from byzanz_env.replay import write
from byzanz_env.session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument(
        "--pause", type=float, default=0.0, metavar="SECONDS", help="after each line; default 0"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="write a replay")
    parser.add_argument("--json", action="store_true", help="only the result, as JSON")


def run(arguments: argparse.Namespace) -> int:
    specs = arguments.opponents or [default_opponent(arguments.players)]
    session = Session(list(seat_agents(specs, arguments.players)), seed=arguments.seed)
    if arguments.record:
        must_be_writable(arguments.record)
    try:
        _watch(session, arguments)
    finally:  # also when it is stopped by Ctrl-C, or an opponent fails
        if arguments.record:
            write(session.replay(), arguments.record)
    if arguments.json:
        result = {"agents": session.agent_names, "seed": session.seed, **session.scores()}
        print(json.dumps(result | {"decisions": session.decisions_taken}))
    else:
        print("\n" + score_sheet(session))
        print(f"Seed {session.seed}." + (f" The game is in {arguments.record}" if arguments.record else ""))
    sys.stdout.flush()
    return 0


def _watch(session: Session, arguments: argparse.Namespace) -> None:
    if not arguments.json:
        print("\n".join(session.log))
    for step in session.advance():
        for line in step.lines if not arguments.json else ():
            print(line, flush=True)
            time.sleep(max(0.0, min(arguments.pause, 60.0)))
