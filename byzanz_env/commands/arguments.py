"""Options that several verbs share."""

from __future__ import annotations

import argparse

MAX_SEED = 2**63 - 1


def seed(text: str) -> int:
    """A seed from the command line."""
    if not text.isascii() or not text.isdigit() or int(text) > MAX_SEED:
        raise argparse.ArgumentTypeError("a seed is a whole number from 0 to 2**63 - 1")
    return int(text)


def opponent_list(text: str) -> list[str]:
    """Opponents divided by commas."""
    specs = [word.strip() for word in text.split(",") if word.strip()]
    if not specs:
        raise argparse.ArgumentTypeError("name at least one opponent, such as heuristic")
    return specs


def add_table(parser: argparse.ArgumentParser) -> None:
    """--players, --opponents and --seed."""
    parser.add_argument("--players", type=int, default=4, choices=(3, 4, 5, 6), help="default 4")
    parser.add_argument(
        "--opponents",
        type=opponent_list,
        metavar="A,B,...",
        help="one per seat, repeated as needed: heuristic, greedy, random, montecarlo:N, ismcts:N, a "
        "shipped policy or a policy file; default: the strongest that is quick",
    )
    parser.add_argument("--seed", type=seed, help="deal this game again; default: a new one")
