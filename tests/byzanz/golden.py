"""Golden playthroughs: whole games in text, one file per number of players.

`python -m tests.byzanz.golden` writes them anew; the test compares. Read the diff before you commit it.
"""

from __future__ import annotations

from pathlib import Path

from byzanz_env.games.byzanz.actions import to_text
from byzanz_env.games.byzanz.text import format_cards, position_text
from byzanz_env.games.byzanz.view import seen_by, seen_by_all
from tests.byzanz.positions import Played, stride_deck

FOLDER = Path(__file__).parent / "golden"
PLAYERS = (3, 4, 5, 6)
STRIDE = 45
EVERY = 40  # decisions between two pictures of the whole table


def _table(game: Played, seat: int | None) -> str:
    observations = [game.observe(each) for each in range(game.players)]
    winners = [each for each, share in enumerate(game.win_shares()) if share] if game.over else []
    view = seen_by_all(observations) if seat is None else seen_by(observations[seat], seat)
    return position_text(view, winners=winners)


def playthrough(players: int) -> str:
    """A scripted game (part 12, a = 3, b = 5): each decision with its legal actions, and some tables."""
    game, lines, t = Played(players, deck=stride_deck(STRIDE)), [], 0
    while not game.over:
        if t % EVERY == 0:
            eyes = None if t % (2 * EVERY) == 0 else game.seat
            lines += ["", _table(game, eyes), ""]
        legal = game.legal()
        action = legal[(3 * t * t + 5 * t) % len(legal)]
        numbers = " ".join(map(str, legal))
        lines.append(f"{t:>3}  player_{game.seat} {game.phase:<5} {to_text(action):<30} of {numbers}")
        game.step(action)
        t += 1
    lines += ["", _table(game, None), "", f"gone: {format_cards(game.gone)}", ""]
    return "\n".join(lines).lstrip("\n")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for players in PLAYERS:
        path = FOLDER / f"{players}_players.txt"
        path.write_text(playthrough(players))
        print(f"wrote {path.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
