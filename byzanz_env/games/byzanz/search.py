"""Flat Monte Carlo: weigh a few sensible actions by playing re-dealt games to their end, compiled.

The true hidden cards never come here: a search gets a re-dealt game and deals it anew, from seeds of its
own, for every world it looks at. All candidates are played in the same worlds, so that their differences
to the first candidate, the prior's choice, are paired. The prior is left only on evidence: the plain
best of many noisy means plays worse than the prior itself.

May import the engine, the observation, the re-deal and the bots of its own room.
"""

from __future__ import annotations

import math

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import derive_seed
from byzanz_env.games.byzanz.bots import best_sale, choose_scripted, stage_of
from byzanz_env.games.byzanz.engine import State, legal_mask, step, win_shares
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, OFFSETS, encode
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import (
    BID,
    FINAL,
    GIVE,
    GIVE_CARD,
    MAX_PLAYERS,
    NUM_ACTIONS,
    NUM_SETS,
    NUM_TYPES,
    OVER,
    PICK,
    SELL,
    SELL_MERCHANTS,
    TAKE,
    TRIM,
)
from byzanz_env.games.byzanz.valuation import CODES, Valuation, add_cards

MAX_CANDIDATES = 16
MARGIN = 0.02  # worth of a point ahead, beside the win itself: less noise
EVIDENCE = 2.0  # standard errors by which another action must be better than the prior's
CUTS = 3  # times that the weaker half of the candidates is dropped
FIRST_WORLDS = 8  # before anything is dropped

_HAND = OFFSETS["hand"]


@njit
def play_out(s: State, v: Valuation, observation: np.ndarray, mask: np.ndarray) -> None:
    """Play a game to its end, every seat by the scripted policy on what that seat may know."""
    while s.phase != OVER:
        if legal_mask(s, mask) == 1:
            action = 0
            while mask[action] == 0:
                action += 1
        else:
            encode(s, int(s.seat), observation)
            action = choose_scripted(observation, mask, v)
        step(s, action)


@njit
def outcomes(s: State, out: np.ndarray) -> None:
    """Write what the end of a game is worth to each seat: its share of the win and a little of its lead."""
    players = int(s.players)
    win_shares(s, out)
    total = 0.0
    for seat in range(players):
        total += s.points[seat]
    for seat in range(players):
        own = float(s.points[seat])
        out[seat] += MARGIN * (own - (total - own) / (players - 1))


@njit
def find_candidates(
    s: State, v: Valuation, observation: np.ndarray, mask: np.ndarray, out: np.ndarray
) -> int:
    """Write the actions worth looking at, the scripted policy's choice first; returns how many.

    A sale can always wait for the hand limit or the end, so that it is looked at only there; the final
    sale is solved exactly by the policy. Needs the observation and the mask of the seat that decides.
    """
    prior = choose_scripted(observation, mask, v)
    out[0] = prior
    count = 1
    phase = int(s.phase)
    if phase == FINAL:
        return count
    first, last = 0, NUM_ACTIONS
    if phase == BID:
        last = GIVE_CARD
    elif phase == GIVE:
        first, last = GIVE_CARD, TAKE
    elif phase == PICK:
        first, last = TAKE, SELL
    elif phase == TRIM:
        first = SELL_MERCHANTS
        count = _sales_by_type(int(s.players), v, observation, mask, out)
    for action in range(first, last):
        if mask[action] != 0 and action != prior and count < len(out):
            out[count] = action
            count += 1
    return count


@njit
def _sales_by_type(
    players: int, v: Valuation, observation: np.ndarray, mask: np.ndarray, out: np.ndarray
) -> int:
    """Add the best sale of each type."""
    count = 1
    codes = np.zeros(CODES, dtype=np.int64)
    scratch = np.empty(NUM_ACTIONS)
    add_cards(codes, observation, _HAND)
    of_type = np.zeros(NUM_ACTIONS, dtype=np.int8)
    for good in range(NUM_TYPES):
        first = SELL + good * NUM_SETS
        of_type[first : first + NUM_SETS] = mask[first : first + NUM_SETS]
        sale, _ = best_sale(codes, players, stage_of(observation), of_type, v, scratch)
        of_type[first : first + NUM_SETS] = 0
        if sale >= 0 and sale != out[0]:
            out[count] = sale
            count += 1
    return count


@njit
def play_world(
    work: np.ndarray,
    world_seed: int,
    candidates: np.ndarray,
    alive: np.ndarray,
    v: Valuation,
    observation: np.ndarray,
    mask: np.ndarray,
    values: np.ndarray,
) -> None:
    """Deal one world from the game in `work[0]` and write what each living candidate gets in it."""
    seat = int(work[0].seat)
    results = np.empty(MAX_PLAYERS)
    work[1] = work[0]
    redeal(work[1], seat, world_seed)
    for i in range(len(candidates)):
        if alive[i]:
            work[2] = work[1]
            step(work[2], int(candidates[i]))
            play_out(work[2], v, observation, mask)
            outcomes(work[2], results)
            values[i] = results[seat]


@njit
def _drop_weaker_half(alive: np.ndarray, means: np.ndarray, count: int) -> int:
    """Keep the prior and the better half of the others, one at least; returns how many live."""
    living = 0
    for i in range(1, count):
        living += alive[i]
    for _ in range(living // 2):
        worst = -1
        for i in range(1, count):
            if alive[i] and (worst < 0 or means[i] < means[worst]):
                worst = i
        alive[worst] = 0
    return 1 + living - living // 2


@njit
def weigh(
    work: np.ndarray, candidates: np.ndarray, count: int, budget: int, seed: int, v: Valuation, evidence: float
) -> int:
    """Spend at most `budget` play-outs on the candidates; returns the index of the one to take."""
    observation = np.empty(OBSERVATION_SIZE, dtype=np.int8)
    mask = np.empty(NUM_ACTIONS, dtype=np.int8)
    alive = np.ones(count, dtype=np.int8)
    values = np.zeros(count)
    means, squares = np.zeros(count), np.zeros(count)  # of the differences to the prior, running
    living, spent, worlds, cuts = count, 0, 0, 0
    while spent + living <= budget:
        play_world(work, derive_seed(seed, worlds, 4), candidates[:count], alive, v, observation, mask, values)
        spent += living
        worlds += 1
        for i in range(1, count):
            if alive[i]:
                difference = values[i] - values[0] - means[i]
                means[i] += difference / worlds
                squares[i] += difference * (values[i] - values[0] - means[i])
        due = spent * (CUTS + 1) >= budget * (cuts + 1)
        if cuts < CUTS and due and worlds >= FIRST_WORLDS:
            cuts += 1
            living = _drop_weaker_half(alive, means, count)
    best = 0
    for i in range(1, count):
        if alive[i] and worlds > 1 and means[i] > means[best]:
            error = math.sqrt(squares[i] / (worlds - 1) / worlds)
            if means[i] > evidence * error:
                best = i
    return best


@njit
def monte_carlo_rows(
    games: np.ndarray, seeds: np.ndarray, budget: int, v: Valuation, evidence: float, out: np.ndarray
) -> None:
    """Answer the decision of each re-dealt game by flat Monte Carlo with `budget` play-outs."""
    work = games[:1].repeat(3)
    observation = np.empty(OBSERVATION_SIZE, dtype=np.int8)
    mask = np.empty(NUM_ACTIONS, dtype=np.int8)
    candidates = np.empty(MAX_CANDIDATES, dtype=np.int64)
    for row in range(len(games)):
        work[0] = games[row]
        s = work[0]
        legal_mask(s, mask)
        encode(s, int(s.seat), observation)
        count = find_candidates(s, v, observation, mask, candidates)
        chosen = 0
        if count > 1:
            chosen = weigh(work, candidates, count, budget, int(seeds[row]), v, evidence)
        out[row] = candidates[chosen]


@njit
def evaluate_candidates(
    games: np.ndarray,
    candidates: np.ndarray,
    counts: np.ndarray,
    seeds: np.ndarray,
    worlds: int,
    v: Valuation,
    means: np.ndarray,
    errors: np.ndarray,
) -> None:
    """Play every candidate [B, K] of each re-dealt game in the same `worlds`, for other priors to use.

    Writes into `means` [B, K] what each gets on average, and into `errors` [B, K] the standard error of
    its difference to candidate 0.
    """
    work = games[:1].repeat(3)
    observation = np.empty(OBSERVATION_SIZE, dtype=np.int8)
    mask = np.empty(NUM_ACTIONS, dtype=np.int8)
    alive = np.ones(candidates.shape[1], dtype=np.int8)
    values = np.zeros((worlds, candidates.shape[1]))
    for row in range(len(games)):
        work[0] = games[row]
        count = int(counts[row])
        for world in range(worlds):
            seed = derive_seed(int(seeds[row]), world, 4)
            play_world(work, seed, candidates[row, :count], alive, v, observation, mask, values[world])
        for i in range(count):
            means[row, i] = values[:, i].mean()
            difference = values[:, i] - values[:, 0]
            errors[row, i] = difference.std() / math.sqrt(max(1, worlds - 1))
