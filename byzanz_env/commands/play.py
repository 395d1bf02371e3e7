"""`byzanz play`: a game in the terminal that explains itself."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable
from pathlib import Path

from byzanz_env.advice import Adviser, advise, path_text
from byzanz_env.agents import load
from byzanz_env.commands.arguments import add_table
from byzanz_env.commands.places import fresh_path
from byzanz_env.commands.words import HELP, RULES, describe, offered, understand
from byzanz_env.files import must_be_writable
from byzanz_env.games.byzanz.text import position_text
from byzanz_env.opponents import default_opponent, seat_agents
from byzanz_env.replay import write
from byzanz_env.session import Session, Step

PROMPTS = {
    "bid": "Your bid (bid CARDS, pass, sell TYPE)",
    "give": "Give one card of the bundle to the market",
    "pick": "Take one type from the market",
    "trim": "You hold more than seven cards: sell or discard",
    "final": "Last chance to sell (pass to stop)",
}


class QuitGameError(Exception):
    """The player has had enough."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument("--seat", type=int, default=0, help="where you sit, 0 starts; default 0")
    parser.add_argument("--record", type=Path, metavar="FILE", help="where the replay goes")
    parser.add_argument("--ask-forced", action="store_true", help="ask even when there is only one choice")
    parser.add_argument("--hints", action="store_true", help="show a hint at every decision")


def run(arguments: argparse.Namespace) -> int:
    players, seat = arguments.players, arguments.seat
    if not 0 <= seat < players:
        raise ValueError(f"with {players} players you sit on a seat from 0 to {players - 1}")
    specs = arguments.opponents or [default_opponent(players)]
    others = iter(seat_agents(specs, players))
    agents = [None if at == seat else next(others) for at in range(players)]
    session = Session(agents, seed=arguments.seed)
    path = arguments.record or fresh_path()
    must_be_writable(path)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a slip of the keyboard must not end the game
    rivals = ", ".join(
        f"{session.names[at]} ({session.agent_names[at]})" for at in range(players) if at != seat
    )
    print(f"Byzanz: you against {rivals}. Type ? for help.")
    print("\n".join(session.log))
    _play(session, seat, path, arguments)
    return 0


def _play(session: Session, seat: int, path: Path, arguments: argparse.Namespace) -> None:
    table = Terminal(session, seat, arguments.hints)
    try:
        while not session.is_over:
            _print_steps(session.advance(seat, forced=not arguments.ask_forced))
            if not session.is_over:
                table.decide()
    except (QuitGameError, EOFError, KeyboardInterrupt):
        print()
    finally:  # also when an opponent fails
        if session.is_over:
            print("\n" + score_sheet(session))
        path = _keep(session, path)
        done = "The game" if session.is_over else "The game so far"
        print(f"{done} is in {path}")
    if session.is_over:
        print(f"Look back: byzanz replay {path}   byzanz analyze {path}   byzanz web --replay {path}")


def _keep(session: Session, path: Path) -> Path:
    """Write the game where it was asked for, or if that fails, where games are kept."""
    try:
        return write(session.replay(), path)
    except OSError as problem:
        print(f"{path} cannot be written: {problem.strerror}", file=sys.stderr)
        return write(session.replay(), fresh_path())


def _print_steps(steps: Iterable[Step]) -> None:
    for step in steps:
        for line in step.lines:
            print("  " + line)
    sys.stdout.flush()


def score_sheet(session: Session) -> str:
    """Who has what at the end, the best first."""
    scores = session.scores()
    points, held, shares = scores["points"], scores["hand_sizes"], scores["shares"]
    lines = []
    for seat in sorted(range(session.players), key=lambda seat: (-points[seat], -held[seat])):
        share = shares[seat]
        mark = "wins" if share == 1 else "shares the win" if share > 0 else ""
        name = f"{session.names[seat]} ({session.agent_names[seat]})"
        lines.append(f"{points[seat]:>4} points  {held[seat]} cards  {name}  {mark}".rstrip())
    return "\n".join(lines)


class Terminal:
    """One seat's side of the conversation."""

    def __init__(self, session: Session, seat: int, hints: bool) -> None:
        self.session, self.seat, self.hints = session, seat, hints
        self._adviser: Adviser | None = None

    def decide(self) -> None:
        """Show the table and ask until the decision is taken; a sale is followed by the next question."""
        self._show_table()
        if self.hints:
            self._hint()
        while True:
            line = self._ask()
            if self._answered(line):
                return

    def _ask(self) -> str:
        prompt = PROMPTS[self.session.view(self.seat).phase]
        sys.stdout.write(f"{prompt}, ? for help > ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.strip()

    def _answered(self, line: str) -> bool:
        word = line.lower()
        if word in ("quit", "q", "exit"):
            raise QuitGameError
        if word in ("?", "help"):
            print(HELP)
        elif word in ("hint", "h"):
            self._hint()
        elif word == "rules":
            print(RULES)
        elif word == "log":
            print("\n".join(self.session.log[-30:]))
        elif word in ("table", "t", ""):
            self._show_table()
        else:
            return self._play(line)
        return False

    def _play(self, line: str) -> bool:
        try:
            path = understand(self.session, line)
        except ValueError as problem:
            print(f"  That does not work: {problem}.")
            return False
        for action in path:
            _print_steps([self.session.act(action, self.seat)])
        return True

    def _show_table(self) -> None:
        position = position_text(self.session.view(self.seat), self.session.names)
        print("\n" + "\n".join(position.splitlines()[:-1]))  # the prompt says what its last line says
        for number, path in enumerate(offered(self.session), start=1):
            print(f"  {number:>2}  {describe(path)}")

    def _hint(self) -> None:
        if self._adviser is None:
            self._adviser = Adviser(load(default_opponent(self.session.players)))
        advice = advise(self.session, self._adviser)
        for choice in advice.choices:
            chance = "" if choice.probability is None else f"  {choice.probability:.0%}"
            print(f"  {advice.adviser} would: {path_text(choice.path)}{chance}")
        chances = zip(self.session.names, advice.chances, strict=True)
        print("  Chances to win: " + ", ".join(f"{name} {chance:.0%}" for name, chance in chances))
