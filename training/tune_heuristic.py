"""Tune the weights of the heuristic by self-play on the engine, and write them to its data file.

A candidate plays one seat against copies of the champion, every deal in every seat: the champion itself
would score exactly 1/n there, so nothing else has to be played for comparison. It changes a few weights at
random, and becomes the champion when it is better beyond doubt. Candidates and deals are seeded. The file
is the only state, written at each new champion, so that tuning can be stopped and taken up again.

    python -m training.tune_heuristic heuristic_2.json --players 4 --candidates 300

The shipped heuristic is frozen, because results are compared over time: tuning starts from its weights and
writes a file of its own, with the next version. To ship that, put it in the place of
`byzanz_env/games/byzanz/heuristic_weights.json`; a test then asks for the new signature.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import derive_seed
from byzanz_env.files import write_atomically
from byzanz_env.games.byzanz import valuation
from byzanz_env.games.byzanz.bidding import SHEET
from byzanz_env.games.byzanz.bots import choose_scripted
from byzanz_env.games.byzanz.engine import STATE, deal, legal_mask, step, win_shares
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, encode
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS, OVER
from byzanz_env.games.byzanz.valuation import (
    INDEX,
    NUM_WEIGHTS,
    WEIGHT_NAMES,
    Valuation,
    make_valuation,
    named_weights,
    weights_array,
)

SHIPPED = Path(valuation.__file__).with_name("heuristic_weights.json")
MARGIN = 0.02  # worth of a point ahead, beside the win itself: less noise
CHUNK = 125  # deals between looks at the result
MOST_CHUNKS = 24
REPORT_DEALS = 2_500
FIXED = frozenset(["eager"])


@njit
def play_deals(
    states: np.ndarray,
    sheets: np.ndarray,
    players: int,
    seed: int,
    first: int,
    a: Valuation,
    b: Valuation,
    out: np.ndarray,
) -> int:
    """Play each deal in every seat, `a` against copies of `b`; write win share and margin per deal.

    Returns the number of decisions that were not forced.
    """
    s = states[0]
    mask = np.empty(NUM_ACTIONS, dtype=np.int8)
    observation = np.empty(OBSERVATION_SIZE, dtype=np.int8)
    shares = np.empty(MAX_PLAYERS)
    decisions = 0
    for i in range(len(out)):
        out[i] = 0
        for seat in range(players):
            deal(s, players, derive_seed(seed, first + i, players))
            while s.phase != OVER:
                count = legal_mask(s, mask)
                if count == 1:
                    action = 0
                    while mask[action] == 0:
                        action += 1
                else:
                    decisions += 1
                    encode(s, int(s.seat), observation)
                    if s.seat == seat:
                        action = choose_scripted(observation, mask, a, sheets[0])
                    else:
                        action = choose_scripted(observation, mask, b, sheets[0])
                step(s, action)
            win_shares(s, shares)
            total = 0.0
            for other in range(players):
                total += s.points[other]
            own = float(s.points[seat])
            out[i, 0] += shares[seat] / players
            out[i, 1] += (own - (total - own) / (players - 1)) / players
    return decisions


def match(players: int, seed: int, deals: int, a: Valuation, b: Valuation) -> tuple[float, float, float]:
    """Win share of `a` against copies of `b`, its 95 % half width (clustered by deal), and the margin."""
    out = np.zeros((deals, 2))
    play_deals(np.zeros(1, dtype=STATE), np.zeros(1, dtype=SHEET), players, seed, 0, a, b, out)
    half = 1.96 * out[:, 0].std(ddof=1) / math.sqrt(deals)
    return float(out[:, 0].mean()), float(half), float(out[:, 1].mean())


def mutate(weights: np.ndarray, players: int, rng: np.random.Generator) -> np.ndarray:
    """A step for one to three weights that matter with so many players."""
    unused = {
        f"{name}_{auction}" for name in ("pass", "free") for auction in range(players - 1, MAX_PLAYERS)
    }
    free = [i for name, i in INDEX.items() if name not in FIXED | unused]
    step = np.zeros(NUM_WEIGHTS)
    chosen = rng.choice(free, size=int(rng.choice([1, 1, 2, 3])), replace=False)
    width = float(rng.choice([0.3, 1.0, 2.0]))
    step[chosen] = rng.normal(size=len(chosen)) * width * (0.1 + 0.3 * np.abs(weights[chosen]))
    return step


def is_better(players: int, seed: int, candidate: Valuation, champion: Valuation) -> bool:
    """Whether the candidate beats its champion beyond doubt; most are given up early."""
    states, sheets = np.zeros(1, dtype=STATE), np.zeros(1, dtype=SHEET)
    gains = np.empty(0)
    for chunk in range(MOST_CHUNKS):
        out = np.zeros((CHUNK, 2))
        play_deals(states, sheets, players, seed, chunk * CHUNK, candidate, champion, out)
        gains = np.concatenate([gains, out[:, 0] - 1 / players + MARGIN * out[:, 1]])
        spread = float(gains.std(ddof=1)) / math.sqrt(len(gains))
        z = float(gains.mean()) / spread if spread > 0 else 0.0
        if z < -0.5 or (chunk >= 2 and z < 0.5) or (chunk >= 6 and z < 1.0):
            return False
        if chunk >= 3 and z > 3.0:
            return True
    return z > 2.0


def tune(weights: np.ndarray, players: int, candidates: int, seed: int) -> Iterator[tuple[int, np.ndarray]]:
    """Try so many candidates; yields the number and the weights of each that becomes the champion."""
    rng = np.random.default_rng([seed, players])
    champion = make_valuation(weights)
    step = np.zeros(NUM_WEIGHTS)
    for tried in range(1, candidates + 1):
        step = step if step.any() else mutate(weights[players], players, rng)  # what helped may help again
        trial = weights.copy()
        trial[players] += step
        candidate = make_valuation(trial)
        if is_better(players, derive_seed(seed, tried, players), candidate, champion):
            weights, champion = trial, candidate
            changed = ", ".join(f"{WEIGHT_NAMES[i]} {trial[players, i]:.3f}" for i in np.flatnonzero(step))
            print(f"{players} players, candidate {tried} of {candidates}: {changed}", flush=True)
            yield tried, weights
        else:
            step = np.zeros(NUM_WEIGHTS)


def report(players: int, seed: int, weights: np.ndarray, before: Valuation) -> None:
    """Show what the weights are worth on deals that tuning has not seen."""
    after = make_valuation(weights)
    for name, other in (("greedy", valuation.load_valuation("greedy")), ("the weights before", before)):
        share, half, margin = match(players, derive_seed(seed, 2**40, players), REPORT_DEALS, after, other)
        print(
            f"{players} players against {name}: {share:.1%} +- {half:.1%}, margin {margin:.2f}", flush=True
        )


def read_start(path: Path) -> dict[str, Any]:
    """The weights to start from: those of an earlier tuning in this file, else the shipped ones."""
    if path.resolve() == SHIPPED:
        raise ValueError("the shipped weights are frozen: name a file of your own")
    if path.exists():
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or not {"version", "tuned", "weights"} <= set(data):
            raise ValueError(f"{path} is no file of weights: choose another name")
        return data
    data = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return {**data, "version": data["version"] + 1}


def main(words: Sequence[str] | None = None) -> int:
    """Tune for each number of players in turn."""
    parser = argparse.ArgumentParser(
        "python -m training.tune_heuristic", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("file", type=Path, help="where the weights are written, and taken up again")
    parser.add_argument("--players", type=int, nargs="+", default=[4], choices=range(3, 7))
    parser.add_argument("--candidates", type=int, default=300, help="for each number of players")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)
    try:
        data = read_start(arguments.file)
        for players in arguments.players:
            data = _tune_table(arguments, data, players)
    except (ValueError, KeyError, OSError) as error:
        print(f"tune_heuristic: {error}", file=sys.stderr)
        return 2
    return 0


def _tune_table(arguments: argparse.Namespace, data: dict[str, Any], players: int) -> dict[str, Any]:
    """Tune for one number of players, writing every champion; returns the data with the last."""
    before, history = make_valuation(weights_array(data["weights"])), data["tuned"]
    champions = tune(before["weights"], players, arguments.candidates, arguments.seed)
    for taken, (tried, weights) in enumerate(champions, start=1):
        note = f"{players} players, seed {arguments.seed}: {tried} candidates, {taken} taken"
        data = {**data, "tuned": [*history, note], "weights": named_weights(weights)}
        write_atomically(arguments.file, (json.dumps(data, indent=1) + "\n").encode())
    if data["tuned"] == history:
        print(f"{players} players: no candidate was better, nothing was written", flush=True)
    report(players, arguments.seed, weights_array(data["weights"]), before)
    return data


if __name__ == "__main__":
    sys.exit(main())
