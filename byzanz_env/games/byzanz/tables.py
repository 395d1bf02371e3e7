"""Many games at once: compiled loops over an array of game records and the arrays that doors show.

Rows are independent of each other, so any split of them over threads gives the same games. May import
the engine and the observation of its own room.
"""

from __future__ import annotations

import numba
import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import below, derive_seed, seed_generator
from byzanz_env.games.byzanz.engine import (
    State,
    deal,
    legal_mask,
    ranks,
    skip_forced,
    step,
    win_shares,
)
from byzanz_env.games.byzanz.observe import encode
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS, OVER

REWARDS = ("win", "rank", "margin", "points")
WIN, RANK, MARGIN, POINTS = range(4)
MARGIN_SCALE = 10.0
CHECK, STEP, DEAL, CHOOSE = range(4)  # kinds of work on rows
SETTINGS, CHOICE, ILLEGAL = 6, 4, 5  # how many settings, and the places of those that change


@njit
def final_rewards(s: State, reward: int, out: np.ndarray) -> None:
    """Write what each seat gets at the end of a game; nothing for `points`, which are paid as banked."""
    players = int(s.players)
    out[:] = 0
    if reward == WIN:
        win_shares(s, out)
    elif reward == RANK:
        ranks(s, out)
        for seat in range(players):
            out[seat] = 1.0 - 2.0 * out[seat] / (players - 1)
    elif reward == MARGIN:
        total = 0.0
        for seat in range(players):
            total += s.points[seat]
        for seat in range(players):
            own = float(s.points[seat])
            out[seat] = (own - (total - own) / (players - 1)) / MARGIN_SCALE


@njit
def show(s: State, forced: bool, observation: np.ndarray, mask: np.ndarray) -> None:
    """Write mask and observation of the next decision; with `forced`, skip those without a choice."""
    if forced:
        skip_forced(s, mask)
    else:
        legal_mask(s, mask)
    if s.phase != OVER:
        encode(s, int(s.seat), observation)


@njit
def find_illegal(masks: np.ndarray, actions: np.ndarray) -> int:
    """The first row whose action is not legal, -1 when all are."""
    for row in range(len(actions)):
        action = actions[row]
        if action < 0 or action >= NUM_ACTIONS or masks[row, action] == 0:
            return row
    return -1


@njit
def find_illegal_rows(masks: np.ndarray, rows: np.ndarray, actions: np.ndarray) -> int:
    """The first place in `rows` whose action is not legal, -1 when all are."""
    for place in range(len(rows)):
        action = actions[place]
        if action < 0 or action >= NUM_ACTIONS or masks[rows[place], action] == 0:
            return place
    return -1


@njit
def find_repeated(rows: np.ndarray, seen: np.ndarray) -> int:
    """The first place in `rows` that names a row a second time, -1 for none; `seen` is left all zero."""
    found = -1
    for place in range(len(rows)):
        if seen[rows[place]] != 0 and found < 0:
            found = place
        seen[rows[place]] = 1
    for place in range(len(rows)):
        seen[rows[place]] = 0
    return found


@njit
def deal_rows(
    states: np.ndarray,
    rows: np.ndarray,
    settings: np.ndarray,  # seed, first row, reward, forced
    players: np.ndarray,
    game_seeds: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    seats: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Deal the games of `rows[start:stop]` from their seeds and show their first decisions."""
    forced = settings[3] != 0
    for place in range(start, stop):
        row = rows[place]
        s = states[row]
        deal(s, int(players[row]), int(game_seeds[row]))
        show(s, forced, observations[row], masks[row])
        seats[row] = s.seat


@njit
def show_rows(
    states: np.ndarray, observations: np.ndarray, masks: np.ndarray, seats: np.ndarray, forced: bool
) -> None:
    """Write masks, observations and deciding seats of games whose records came from elsewhere."""
    for row in range(len(states)):
        s = states[row]
        show(s, forced, observations[row], masks[row])
        seats[row] = s.seat


@njit
def step_rows(
    states: np.ndarray,
    rows: np.ndarray,
    actions: np.ndarray,
    settings: np.ndarray,  # seed, first row, reward, forced
    players: np.ndarray,
    game_seeds: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    seats: np.ndarray,
    games: np.ndarray,
    rewards: np.ndarray,
    dones: np.ndarray,
    scores: np.ndarray,
    winners: np.ndarray,
    finals: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Apply checked actions to `rows[start:stop]`; where a game ends, pay, keep its end, deal the next."""
    seed, first_row, reward = int(settings[0]), int(settings[1]), int(settings[2])
    forced = settings[3] != 0
    banked = np.zeros(MAX_PLAYERS, dtype=np.int8)
    for place in range(start, stop):
        row = rows[place]
        s = states[row]
        if dones[row]:
            dones[row] = False
            rewards[row] = 0
        if reward == POINTS:
            banked[:] = s.points
        step(s, int(actions[place]))
        show(s, forced, observations[row], masks[row])
        if reward == POINTS:
            for seat in range(MAX_PLAYERS):
                rewards[row, seat] = s.points[seat] - banked[seat]
        if s.phase == OVER:
            dones[row] = True
            if reward != POINTS:
                final_rewards(s, reward, rewards[row])
            win_shares(s, winners[row])
            scores[row] = s.points
            finals[row] = states[row]
            games[row] += 1
            game_seeds[row] = derive_seed(seed, first_row + row, int(games[row]))
            deal(s, int(players[row]), int(game_seeds[row]))
            show(s, forced, observations[row], masks[row])
        seats[row] = s.seat


@njit
def choose_rows(
    masks: np.ndarray, rows: np.ndarray, seed: int, out: np.ndarray, start: int, stop: int
) -> None:
    """Choose a legal action for each of `rows[start:stop]`, uniformly, from the seed and the row alone."""
    rng = np.empty(4, dtype=np.uint32)
    for place in range(start, stop):
        seed_generator(rng, seed, int(rows[place]))
        out[place] = random_action(masks[rows[place]], rng)


@numba.njit(inline="always")  # type: ignore[untyped-decorator]
def work_rows(
    kind: int,
    states: np.ndarray,
    rows: np.ndarray,
    actions: np.ndarray,
    settings: np.ndarray,  # seed, first row, reward, forced, seed of choices, whether an action is illegal
    players: np.ndarray,
    game_seeds: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    seats: np.ndarray,
    games: np.ndarray,
    rewards: np.ndarray,
    dones: np.ndarray,
    scores: np.ndarray,
    winners: np.ndarray,
    finals: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """One piece of the work that threads share: CHECK, STEP, DEAL or CHOOSE for `rows[start:stop]`."""
    if kind == CHECK:
        if find_illegal_rows(masks, rows[start:stop], actions[start:stop]) >= 0:
            settings[ILLEGAL] = 1
    elif kind == STEP:
        step_rows(
            states,
            rows,
            actions,
            settings,
            players,
            game_seeds,
            observations,
            masks,
            seats,
            games,
            rewards,
            dones,
            scores,
            winners,
            finals,
            start,
            stop,
        )
    elif kind == DEAL:
        deal_rows(states, rows, settings, players, game_seeds, observations, masks, seats, start, stop)
    elif kind == CHOOSE:
        choose_rows(masks, rows, int(settings[CHOICE]), actions, start, stop)


@njit
def game_seeds_of(seed: int, first_row: int, games: np.ndarray, out: np.ndarray) -> None:
    """The seeds of the games with these numbers, one per row."""
    for row in range(len(games)):
        out[row] = derive_seed(seed, first_row + row, int(games[row]))


@njit
def encode_rows(states: np.ndarray, rows: np.ndarray, seats: np.ndarray, out: np.ndarray) -> None:
    """The observations of any seats of `rows`."""
    for place in range(len(rows)):
        encode(states[rows[place]], int(seats[place]), out[place])


@njit
def random_actions(masks: np.ndarray, rng: np.ndarray, out: np.ndarray) -> None:
    """Choose one legal action per row, uniformly."""
    for row in range(len(masks)):
        out[row] = random_action(masks[row], rng)


@njit
def random_action(mask: np.ndarray, rng: np.ndarray) -> int:
    """A uniformly random legal action; the mask has at least one."""
    count = 0
    for action in range(NUM_ACTIONS):
        count += int(mask[action])
    left = below(rng, count)
    for action in range(NUM_ACTIONS):
        if mask[action] != 0:
            if left == 0:
                return action
            left -= 1
    return -1


@njit
def play_out(states: np.ndarray, seed: int) -> int:
    """Play all games to their ends with uniformly random actions; return the number of decisions."""
    rng = np.empty(4, dtype=np.uint32)
    mask = np.empty(NUM_ACTIONS, dtype=np.int8)
    decisions = 0
    for row in range(len(states)):
        s = states[row]
        seed_generator(rng, seed, row)
        while legal_mask(s, mask) > 0:
            step(s, random_action(mask, rng))
            decisions += 1
    return decisions
