"""The program `byzanz`: one verb per thing a person wants to do with the game.

Each verb lives in a module with `add_arguments(parser)` and `run(arguments) -> exit code`, and is imported
only when it is asked for: `byzanz --help` starts neither numpy nor numba. Exit codes: 0 done, 1 failed or
a check did not hold, 2 wrong usage. Errors are one sentence; `--debug` shows where they come from.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module

VERBS = {
    "play": ("byzanz_env.commands.play", "play against chosen opponents in the terminal"),
    "web": ("byzanz_env.commands.web", "play, watch and analyse in the browser"),
    "watch": ("byzanz_env.commands.watch", "watch opponents play each other"),
    "replay": ("byzanz_env.commands.replay", "show a recorded game, or make one web page of it"),
    "analyze": (
        "byzanz_env.commands.analyze",
        "chances to win along a game, and the moves that cost most",
    ),
    "eval": ("byzanz_env.arena.command", "measure opponents against each other"),
    "bench": ("byzanz_env.commands.bench", "measure the speed of the engine"),
    "verify": ("byzanz_env.commands.verify", "check replay and policy files"),
    "doctor": ("byzanz_env.commands.doctor", "check this installation"),
}
EXAMPLES = """examples:
  byzanz play                               a game against three opponents
  byzanz play --players 5 --opponents heuristic,random
  byzanz web                                the same in the browser, with hints and analysis
  byzanz watch --seed 7 --record game.jsonl
  byzanz replay game.jsonl --html game.html
  byzanz analyze game.jsonl
  byzanz eval heuristic greedy random
  byzanz VERB --help                        options of a verb
"""


class CommandError(Exception):
    """What went wrong, in one sentence for the person at the keyboard."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    if not words or words[0] in ("-h", "--help", "help"):
        _parser().print_help()
        return 0 if words else 2
    if words[0] == "--version":
        from importlib.metadata import version

        print(f"byzanz {version('byzanz-env')}")
        return 0
    if words[0] not in VERBS:
        _parser().print_usage(sys.stderr)
        print(f"byzanz: there is no verb {words[0]!r}; try byzanz --help", file=sys.stderr)
        return 2
    _hear_ctrl_c()
    return _run(words[0], words[1:], debug)


def _hear_ctrl_c() -> None:
    """Scripts have what they start in the background ignore Ctrl-C; it must still end a game or server."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _run(verb: str, words: list[str], debug: bool) -> int:
    try:
        module = import_module(VERBS[verb][0])
        parser = argparse.ArgumentParser(
            prog=f"byzanz {verb}",
            description=VERBS[verb][1].capitalize() + ".",
            epilog="Add --debug to see where an error comes from.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(parser)
        return int(module.run(parser.parse_args(words)) or 0)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read us has seen enough
        return 0
    except Exception as problem:
        if debug:
            raise
        print(f"byzanz {verb}: {_sentence(problem)}", file=sys.stderr)
        return 1


def _sentence(problem: Exception) -> str:
    """An error for people: its own words when it is one of ours, else a way to learn more."""
    if isinstance(problem, FileNotFoundError):
        return f"there is no file {problem.filename}"
    if isinstance(problem, OSError) and problem.filename:
        return f"{problem.filename}: {problem.strerror}"
    if isinstance(problem, (CommandError, ValueError)):
        return str(problem)
    if isinstance(problem, ModuleNotFoundError):
        extra = "web" if problem.name in ("starlette", "uvicorn") else "train"
        return f"{problem.name} is not installed; run: pip install 'byzanz-env[{extra}]'"
    first_line = str(problem).partition("\n")[0]
    return f"unexpected {type(problem).__name__}: {first_line}; run again with --debug to see where"


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:<{width}}  {text}" for verb, (_, text) in VERBS.items())
    return argparse.ArgumentParser(
        prog="byzanz",
        usage="byzanz VERB [options]",
        description=f"The card game Byzanz for 3 to 6 players.\n\nverbs:\n{verbs}",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


if __name__ == "__main__":
    sys.exit(main())
