"""Put a policy into `checkpoints/`: evaluated for every player count in both directions, with its card.

`python -m training.ship runs/NAME/export/quick.safetensors quick` measures the policy alone against copies
of each opponent, and each opponent alone against copies of the policy, on deals that neither training nor
the choice of a checkpoint has seen. With `--folder` the result goes elsewhere: that is how the figures of a
shipped policy are measured again. `--keep` takes over the evaluation that is in the file already, to write
the card anew or to add what challengers achieved (`--responses`).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from byzanz_env.agents import load
from byzanz_env.agents.policy import PolicyAgent, PolicyFile, read_policy
from byzanz_env.agents.policy_file import check_name
from byzanz_env.files import must_be_writable, write_atomically
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


def kept(policy: PolicyFile) -> tuple[list[WinShare], list[dict[str, Any]]]:
    """The evaluation that a policy file brings, and what challengers achieved against it."""
    try:
        results = [WinShare(**row) for row in policy.evaluation["results"]]
        return results, [dict(row) for row in policy.evaluation.get("best_responses", [])]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{policy.name} holds no evaluation that could be kept ({error})") from None


def read_responses(paths: Sequence[Path], name: str) -> list[dict[str, Any]]:
    """What challengers achieved, from the results.json of training.best_response."""
    found: list[dict[str, Any]] = []
    for path in paths:
        try:
            found += json.loads(path.read_bytes())
        except OSError as error:
            raise ValueError(f"cannot read {path}: {error.strerror}") from None
    if not any(row.get("opponent") == name for row in found):
        raise ValueError(f"no challenger of {name} is in {', '.join(map(str, paths))}")
    return found


def ship(
    policy: PolicyFile,
    name: str,
    results: Sequence[WinShare],
    folder: Path,
    responses: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write the policy under its new name, with its evaluation and card, and the list of all."""
    path = folder / f"{name}.safetensors"
    write_with_card(path, dataclasses.replace(policy, name=name), results, name, responses)
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
        "decisions are those of all, updates and configuration those of the last alone. The policies",
        "between the parts are not here, so these cannot be trained again bit for bit. A policy with",
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
        "Made with `python -m training.ship FILE NAME`; an even share is 33.3, 25, 20 and 16.7 %. The same",
        "with `--folder runs/again` measures a shipped one again and leaves this folder as it is.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.ship", description=__doc__)
    parser.add_argument("policy", help="the exported policy file")
    parser.add_argument("name", help="what it is called from now on")
    parser.add_argument("--deals", type=int, default=2500, help="with 4 players (default 2500)")
    parser.add_argument("--other-deals", type=int, default=1000, help="with 3, 5 and 6 players")
    parser.add_argument("--opponents", nargs="+", default=list(OPPONENTS))
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to (default checkpoints)")
    parser.add_argument("--keep", action="store_true", help="the evaluation in the file, measure nothing")
    parser.add_argument("--responses", type=Path, nargs="+", default=[], metavar="RESULTS.JSON")
    chosen = parser.parse_args(arguments)
    if min(chosen.deals, chosen.other_deals) < 2:
        parser.error("--deals and --other-deals must be at least 2: one deal gives no interval")
    try:
        policy = read_policy(chosen.policy)
        policy = dataclasses.replace(policy, name=chosen.name)
        agent = PolicyAgent(policy)
        for spec in chosen.opponents:  # what is wrong is said before the games, not after
            load(spec)
        check_name(Path(chosen.name), chosen.name)
        must_be_writable(chosen.folder / f"{chosen.name}.safetensors")
        results, responses = kept(policy) if chosen.keep else ([], [])
        if chosen.responses:
            responses = read_responses(chosen.responses, chosen.name)
        for players in () if chosen.keep else policy.players:
            deals = chosen.deals if players == 4 else chosen.other_deals
            results += measure(agent, chosen.opponents, players, deals)
        path = ship(policy, chosen.name, results, chosen.folder, responses)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    print(f"{path} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
