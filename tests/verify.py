"""The long check: many random games on the engine and on the reference, move by move (`make verify`).

Half of the games are played by uniformly random players, half by players who are extreme in some way.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time

from tests.reference.compare import compare_game

PLAYERS = (3, 4, 5, 6)
CHUNK = 25


def _compare(task: tuple[int, int, bool]) -> tuple[int, int, int]:
    players, start, adversarial = task
    return players, CHUNK, sum(compare_game(players, start + i, adversarial) for i in range(CHUNK))


def verify(games: int, jobs: int, first_seed: int) -> None:
    """Compare at least `games` games, shared equally among the player counts."""
    compare_game(3, 0, False)  # compile once, before the processes start
    chunks = -(-games // (CHUNK * len(PLAYERS) * 2))
    tasks = [
        (players, first_seed + CHUNK * chunk, adversarial)
        for chunk in range(chunks)
        for players in PLAYERS
        for adversarial in (False, True)
    ]
    played = dict.fromkeys(PLAYERS, 0)
    decisions = dict.fromkeys(PLAYERS, 0)
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for players, count, moves in pool.imap_unordered(_compare, tasks):
            played[players] += count
            decisions[players] += moves
    seconds = time.perf_counter() - start
    for players in PLAYERS:
        print(f"{players} players: {played[players]:>6} games, {decisions[players]:>8} decisions: equal")
    total, moves = sum(played.values()), sum(decisions.values())
    print(f"{total} games equal to the reference, move by move ({moves} decisions, {seconds:.0f} s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=1_000_000)
    arguments = parser.parse_args()
    verify(arguments.games, arguments.jobs, arguments.first_seed)


if __name__ == "__main__":
    main()
