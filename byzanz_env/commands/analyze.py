"""`byzanz analyze`: a replay judged by the strongest opponent."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from byzanz_env.advice import Adviser
from byzanz_env.agents import load
from byzanz_env.analysis import analyze
from byzanz_env.opponents import default_opponent, plays
from byzanz_env.replay import read
from byzanz_env.session import display_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a replay")
    parser.add_argument("--adviser", metavar="NAME", help="who judges; default: the strongest opponent")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")


def run(arguments: argparse.Namespace) -> int:
    replay = read(arguments.file)
    agent = load(arguments.adviser or default_opponent(replay.players))
    if not plays(agent, replay.players):
        raise ValueError(f"{arguments.adviser} was not made for {replay.players} players: name another")
    adviser = Adviser(agent)
    judged = analyze(replay, adviser)
    if arguments.json:
        print(json.dumps(judged))
        return 0
    names = display_names([agent["name"] for agent in replay.agents])
    print(f"Judged by {judged['adviser']}: chances to win as each player could see them.\n")
    for seat, name in enumerate(names):
        share = judged["agreement"][seat]
        curve = "".join(_bar(point["chances"][seat]) for point in _thin(judged["curve"], 60))
        agreed = "" if share is None else f"  decided like {judged['adviser']} {share:.0%}"
        print(f"{name:<9} {curve}{agreed}")
    print("\nThe decisions that cost most:" if judged["worst"] else "\nNo decision cost anything.")
    for move in judged["worst"]:
        print(
            f"  decision {move['n']:>3}  {names[move['seat']]:<9} -{move['cost']:.0%}  "
            f"{move['played']}; better: {move['better']}"
        )
    return 0


def _bar(chance: float) -> str:
    return "▁▂▃▄▅▆▇█"[min(7, int(chance * 8))]


def _thin(curve: list[dict[str, list[float]]], width: int) -> list[dict[str, list[float]]]:
    step = max(1, -(-len(curve) // width))
    return curve[::step]
