"""`byzanz replay`: a recorded game in the terminal, or as one web page that needs nothing else."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from byzanz_env.files import must_be_writable, write_atomically
from byzanz_env.games.byzanz.text import position_text
from byzanz_env.replay import Replay, read
from byzanz_env.storyboard import Story, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a replay")
    parser.add_argument("--html", type=Path, metavar="OUT", help="write one self-contained page instead")
    parser.add_argument(
        "--no-analysis", action="store_true", help="leave the chances to win out of the page"
    )
    parser.add_argument("--at", type=int, metavar="N", help="show the table before decision N and stop")


def run(arguments: argparse.Namespace) -> int:
    replay = read(arguments.file)
    if arguments.html:
        must_be_writable(arguments.html)
        return _write_page(replay, arguments)
    story = tell(replay)
    if arguments.at is not None:
        if not 0 <= arguments.at < len(story.tables):
            raise ValueError(f"this game has decisions 0 to {len(story.tables) - 2}")
        print(position_text(story.tables[arguments.at], story.names))
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _browse(story)
    else:
        print("\n".join(line for lines in story.lines for line in lines))
    return 0


def _browse(story: Story) -> None:
    """Enter goes on, b goes back, a number jumps, q stops."""
    at, last = 0, len(story.tables) - 1
    while True:
        print("\n" + position_text(story.tables[at], story.names))
        for line in story.lines[at]:
            print("  " + line)
        print(f"{at} of {last}   Enter: on   b: back   number: go there   q: stop > ", end="", flush=True)
        try:
            word = sys.stdin.readline()
        except KeyboardInterrupt:
            word = ""
        if not word or word.strip().lower() in ("q", "quit"):
            print()
            return
        word = word.strip().lower()
        if word.isdigit():
            at = min(last, int(word))
        else:
            at = max(0, at - 1) if word == "b" else story.next_line(at)


def _write_page(replay: Replay, arguments: argparse.Namespace) -> int:
    from byzanz_env.web.page import self_contained

    judged = None
    if not arguments.no_analysis:
        from byzanz_env.advice import Adviser
        from byzanz_env.agents import load
        from byzanz_env.analysis import analyze
        from byzanz_env.opponents import default_opponent

        judged = analyze(replay, Adviser(load(default_opponent(replay.players))))
    write_atomically(arguments.html, self_contained(replay, judged).encode())
    print(f"The game is in {arguments.html}; open it in any browser.")
    return 0
