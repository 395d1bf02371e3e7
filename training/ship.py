"""Put a policy into `checkpoints/`: evaluated for every player count in both directions, with its card.

`python -m training.ship runs/NAME/export/quick.safetensors quick` measures the policy alone against copies
of each opponent, and each opponent alone against copies of the policy, on deals that neither training nor
the choice of a checkpoint has seen.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from byzanz_env.agents import load
from byzanz_env.agents.policy import PolicyAgent, PolicyFile, read_policy
from byzanz_env.files import write_atomically
from training.evaluate import REPORT_SEED, WinShare, win_share
from training.export import write_with_card

FOLDER = Path("checkpoints")
OPPONENTS = ("random", "greedy", "heuristic")
THREADS = 2


def measure(agent: PolicyAgent, opponents: Sequence[str], players: int, deals: int) -> list[WinShare]:
    """Both directions against each opponent."""
    results = []
    for spec in opponents:
        opponent = load(spec)
        results.append(win_share(agent, opponent, players, deals, REPORT_SEED, THREADS))
        alone = win_share(opponent, agent, players, deals, REPORT_SEED, THREADS)
        results.append(dataclasses.replace(alone, opponent=opponent.name, direction="opponent alone"))
        for result in results[-2:]:
            share = f"{result.share:.1%} ±{result.half_width:.1%}"
            print(f"{players} players, {result.direction}, {result.opponent}: {share}", flush=True)
    return results


def ship(policy: PolicyFile, name: str, results: Sequence[WinShare], folder: Path) -> Path:
    """Write the policy under its new name, with its evaluation and card, and the list of all."""
    path = folder / f"{name}.safetensors"
    write_with_card(path, dataclasses.replace(policy, name=name), results, name)
    write_atomically(folder / "README.md", overview(folder).encode())
    return path


def overview(folder: Path) -> str:
    """The list of the shipped policies, from their files."""
    lines = [
        "# Shipped opponents",
        "",
        "Policies trained by self-play. Agents that the card of a policy names under `pool.agents` were",
        "also its training opponents, at a share `pool.share` of the tables: win shares against them",
        "flatter it. Where a card names `net.start_from`, the training had earlier parts: hours and",
        "decisions are those of all, the configuration is that of the last (and of the parts before",
        "where they are listed). A policy with",
        "shares for one number of players went on from `strong` at tables of that size alone, and is the",
        "default opponent there. Each plays without torch.",
        'Load one by name: `byzanz_env.agents.load("strong")`, `byzanz play --opponents strong`.',
        "Win share of one alone against copies of the frozen `heuristic`, duplicate deals, 95 % interval:",
        "",
        "| policy | trained decisions | hours | 3 players | 4 | 5 | 6 | KiB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for path in sorted(folder.glob("*.safetensors")):
        policy = read_policy(path)
        cells = []
        for players in (3, 4, 5, 6):
            found = [
                result
                for result in policy.evaluation.get("results", [])
                if (result["players"], result["opponent"]) == (players, "heuristic")
                and result["direction"] == "one against all"
            ]
            cells.append(f"{found[0]['share']:.1%} ±{found[0]['half_width']:.1%}" if found else "")
        decisions, hours = policy.training.get("decisions", 0), policy.training.get("hours", 0)
        lines.append(
            f"| [{policy.name}]({path.stem}.md) | {decisions:,} | {hours} | {' | '.join(cells)} | "
            f"{path.stat().st_size // 1024} |"
        )
    lines += [
        "",
        "Made with `python -m training.ship FILE NAME`; an even share is 33.3, 25, 20 and 16.7 %.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.ship", description=__doc__)
    parser.add_argument("policy", help="the exported policy file")
    parser.add_argument("name", help="what it is called from now on")
    parser.add_argument("--deals", type=int, default=2500, help="with 4 players (default 2500)")
    parser.add_argument("--other-deals", type=int, default=1000, help="with 3, 5 and 6 players")
    parser.add_argument("--opponents", nargs="+", default=list(OPPONENTS))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args(arguments)
    if min(chosen.deals, chosen.other_deals) < 2:
        parser.error("--deals and --other-deals must be at least 2: one deal gives no interval")
    try:
        policy = read_policy(chosen.policy)
        agent = PolicyAgent(dataclasses.replace(policy, name=chosen.name))
        results = []
        for players in policy.players:
            deals = chosen.deals if players == 4 else chosen.other_deals
            results += measure(agent, chosen.opponents, players, deals)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    path = ship(policy, chosen.name, results, chosen.folder)
    print(f"{path} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
