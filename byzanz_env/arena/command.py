"""The verb `eval`: arguments, progress, reports and exit codes.

0 means done, 1 that an agent failed, 2 that something was asked that cannot be, 3 that a file could not be
written or read, 130 that somebody pressed Ctrl-C. Nothing heavy is imported before the arguments are good.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from byzanz_env.files import must_be_writable, write_atomically

if TYPE_CHECKING:
    from byzanz_env.arena.match import Match
    from byzanz_env.arena.store import Store
    from byzanz_env.arena.tournament import Ending
    from byzanz_env.decisions import Agent

DONE, FAILED, USAGE, FILES, INTERRUPTED = 0, 1, 2, 3, 130
MAX_THREADS = 64

Load = Callable[[str], "Agent"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of `eval`."""
    parser.add_argument(
        "agents", nargs="+", metavar="AGENT", help="a name such as heuristic, or a policy file"
    )
    parser.add_argument("--players", type=int, default=4, help="3 to 6 (default %(default)s)")
    parser.add_argument(
        "--deals",
        type=int,
        default=2500,
        help="deals, each played in every rotation of the seats (default %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the deals (default %(default)s)")
    parser.add_argument(
        "--mirror", action="store_true", help="two agents: also the second alone against the first"
    )
    parser.add_argument(
        "--against", metavar="AGENT", help="each agent alone against copies of this one, same deals"
    )
    parser.add_argument(
        "--stop-early", action="store_true", help="stop when a sequential test knows the answer"
    )
    parser.add_argument(
        "--margin",
        type=float,
        default=0.02,
        help="smallest difference in win share that matters to --stop-early",
    )
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON")
    parser.add_argument("--html", metavar="FILE", help="write the report as one self-contained page")
    parser.add_argument(
        "--store", metavar="FILE", help="keep finished deals there, and take up a match from there"
    )
    parser.add_argument("--batch", type=int, help="games at once in a thread (results do not depend on it)")
    parser.add_argument("--threads", type=int, default=1, help="threads (results do not depend on it)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no tables")


def run(arguments: argparse.Namespace, load: Load | None = None) -> int:
    """Play what the arguments ask for and report it; return the exit code."""
    from byzanz_env.arena.store import StoreError

    try:
        for place in (arguments.json, arguments.html):
            if place:
                must_be_writable(Path(place))
        return _show(arguments, evaluate(arguments, load))
    except StoreError as error:
        return _say(str(error), USAGE)
    except OSError as error:
        return _say(
            f"{error.filename or 'a file'}: {error.strerror or error}; check the path and the disk", FILES
        )
    except ValueError as error:
        return _say(str(error), USAGE)


def _say(text: str, code: int) -> int:
    print(f"byzanz eval: {text}", file=sys.stderr)
    return code


def plan(arguments: argparse.Namespace, labels: Sequence[str]) -> Match:
    """The match that the arguments describe."""
    from byzanz_env.arena.match import Match

    if arguments.against is not None:
        kind = "against"
    else:
        kind = "duel" if len(labels) == 2 else "round robin"
    return Match(kind, arguments.players, arguments.seed, tuple(labels), arguments.mirror)


def label_agents(names: Sequence[str]) -> list[str]:
    """Labels for agents: their names, numbered where one is named again.

    The random numbers of an agent come from its label: the same agent named twice is two players with
    the same mind and different luck.
    """
    labels: list[str] = []
    for name in names:
        again = names[: len(labels)].count(name) + 1
        labels.append(name if again == 1 else f"{name} ({again})")
    return labels


def evaluate(arguments: argparse.Namespace, load: Load | None = None) -> dict[str, Any]:
    """Play what the arguments ask for and return the report."""
    from byzanz_env.arena.report import build
    from byzanz_env.opponents import plays

    specs = [*arguments.agents, *([arguments.against] if arguments.against is not None else [])]
    if len(specs) < 2:
        raise ValueError("one agent alone cannot play a match: name two or more, such as heuristic greedy")
    if not 1 <= arguments.threads <= MAX_THREADS:
        raise ValueError(f"{arguments.threads} threads cannot be had: choose 1 to {MAX_THREADS}")
    plan(arguments, label_agents(specs))  # refuse what cannot be played before anything is loaded
    if load is None:
        from byzanz_env.agents import load as load_agent

        load = load_agent
    crews = [[load(spec) for spec in specs] for _ in range(arguments.threads)]
    for spec, agent in zip(specs, crews[0], strict=True):
        if not plays(agent, arguments.players):
            raise ValueError(f"{spec} was not made for {arguments.players} players: choose another number")
    labels = label_agents([agent.name for agent in crews[0]])
    match = plan(arguments, labels)
    agents = [describe(*one) for one in zip(labels, specs, crews[0], strict=True)]
    with open_store(arguments.store, match, agents) as store:
        ending = _play(arguments, match, crews, store)
    return build(ending, agents, arguments.deals)


def describe(label: str, spec: str, agent: Agent) -> dict[str, Any]:
    """What a report says about an agent: its name, where it came from, the hash of its file if any."""
    return {"name": label, "spec": spec, "sha256": getattr(agent, "sha256", None)}


def open_store(
    path: str | None, match: Match, agents: Sequence[Mapping[str, Any]]
) -> Store | nullcontext[None]:
    """The file of finished deals, bound to all that a result depends on."""
    from byzanz_env.arena.store import Store
    from byzanz_env.arena.versions import code_hash, library_version

    if path is None:
        return nullcontext()
    settings = {
        "kind": match.kind,
        "players": match.players,
        "seed": match.seed,
        "mirror": match.mirror,
        "agents": [[agent["name"], agent["sha256"]] for agent in agents],
        "version": library_version(),
        "code": code_hash(),
    }
    return Store(path, match, settings)


def _play(
    arguments: argparse.Namespace, match: Match, crews: Sequence[Sequence[Agent]], store: Store | None
) -> Ending:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from byzanz_env.arena.tournament import run as run_match

    margin = arguments.margin if arguments.stop_early else None
    columns = (TextColumn("deals"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=_is_silent(arguments, console)) as bar:
        known = sum(deal < arguments.deals for deal in store.finished) if store is not None else 0
        task = bar.add_task("deals", total=arguments.deals, completed=known)  # not part of the speed
        return run_match(
            match,
            crews,
            arguments.deals,
            batch=arguments.batch,
            store=store,
            margin=margin,
            progress=lambda finished: bar.update(task, completed=finished),
        )


def _is_silent(arguments: argparse.Namespace, console: Any) -> bool:
    return bool(arguments.quiet) or not console.is_terminal


def _show(arguments: argparse.Namespace, found: Mapping[str, Any]) -> int:
    """Print and write a report; return the exit code."""
    import json

    from rich.console import Console

    from byzanz_env.arena import html, terminal

    if arguments.json:
        write_atomically(
            Path(arguments.json), (json.dumps(found, indent=2, allow_nan=False) + "\n").encode()
        )
    if arguments.html:
        write_atomically(Path(arguments.html), html.render(found).encode())
    if not arguments.quiet and found["match"]["deals"]:
        console = Console()
        terminal.show(found, console if console.is_terminal else Console(width=120))
    if found["complete"]:
        return DONE
    deals = found["match"]["deals"]
    kept = f"{deals:,} finished deals are kept in {arguments.store}; run the same command to go on"
    advice = (
        kept if arguments.store else f"{deals:,} deals were finished; use --store FILE to be able to go on"
    )
    return _say(f"{found['failure']} ({advice})", INTERRUPTED if found["interrupted"] else FAILED)


def main(words: Sequence[str] | None = None) -> int:
    """`python -m byzanz_env.arena`, the same as `byzanz eval`."""
    parser = argparse.ArgumentParser(
        "byzanz eval", description="Play a match on duplicate deals and report it."
    )
    add_arguments(parser)
    return run(parser.parse_args(words))
