"""Compiled parts of the trainer: sampling, per-seat advantages, and the PPO loss with its gradient.

The tests hold them equal to plain code, advantages and loss to that of training/reference.py. Outcomes are
vectors of 12: shares of the win, then margins in tens of points, for the six seats from the observer on.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import make_copier, njit
from byzanz_env._random import next_word
from byzanz_env.agents.network import NUM_OUTCOMES
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS
from byzanz_env.games.byzanz.tables import MARGIN_SCALE

_copy_observation = make_copier(OBSERVATION_SIZE)
_copy_mask = make_copier(NUM_ACTIONS)


@njit
def sample_actions(
    logits: np.ndarray,  # [N, A] float32
    columns: np.ndarray,  # [A] int64: where each action stands among the logits
    masks: np.ndarray,  # [N, A] int8
    rng: np.ndarray,  # [4] uint32
    actions: np.ndarray,  # out [N] int64
    log_probs: np.ndarray,  # out [N] float32
) -> None:
    """Draw an action from the masked softmax of each row."""
    weights = np.empty(NUM_ACTIONS, dtype=np.float64)
    legal = np.empty(NUM_ACTIONS, dtype=np.int64)
    for row in range(len(logits)):
        count = 0
        highest = -np.inf
        for action in range(NUM_ACTIONS):
            if masks[row, action]:
                legal[count] = action
                count += 1
                highest = max(highest, float(logits[row, columns[action]]))
        total = 0.0
        for i in range(count):
            weights[i] = np.exp(float(logits[row, columns[legal[i]]]) - highest)
            total += weights[i]
        point = (next_word(rng) + 0.5) / 4294967296.0 * total
        chosen = 0
        while chosen < count - 1 and point >= weights[chosen]:
            point -= weights[chosen]
            chosen += 1
        actions[row] = legal[chosen]
        log_probs[row] = np.log(weights[chosen] / total)


@njit
def predict_outcomes(raw: np.ndarray, players: np.ndarray, out: np.ndarray) -> None:
    """Turn raw outcome outputs into chances to win (softmax over present seats) and margins."""
    for row in range(len(raw)):
        n = int(players[row])
        highest = raw[row, 0]
        for seat in range(1, n):
            highest = max(highest, raw[row, seat])
        total = 0.0
        out[row] = 0
        for seat in range(n):
            out[row, seat] = np.exp(raw[row, seat] - highest)
            total += out[row, seat]
        for seat in range(n):
            out[row, seat] /= total
            out[row, MAX_PLAYERS + seat] = raw[row, MAX_PLAYERS + seat]


@njit
def utility(outcome: np.ndarray, players: int, seat: int, margin_weight: float) -> float:
    """What an outcome is worth to a seat: 1 for the win to -1/(n-1), plus a share of the margin."""
    win = (players * outcome[seat] - 1.0) / (players - 1.0)
    return float(win + margin_weight * outcome[MAX_PLAYERS + seat])


@njit
def note_ends(
    rows: np.ndarray,
    slots: np.ndarray,  # [N] int64: how many decisions each table has in this rollout
    winners: np.ndarray,
    scores: np.ndarray,
    players: np.ndarray,
    ends: np.ndarray,  # out [T + 1, N] bool
    finals: np.ndarray,  # out [T + 1, N, 12] float32
) -> None:
    """Mark the games that just ended in these rows, and their outcomes."""
    for row in rows:
        ends[slots[row], row] = True
        final_outcome(winners[row], scores[row], int(players[row]), finals[slots[row], row])


@njit
def final_outcome(shares: np.ndarray, scores: np.ndarray, players: int, out: np.ndarray) -> None:
    """Write shares of the win and margins against the mean of the others, in tens of points."""
    out[:] = 0
    total = 0.0
    for seat in range(players):
        total += scores[seat]
    for seat in range(players):
        out[seat] = shares[seat]
        own = float(scores[seat])
        out[MAX_PLAYERS + seat] = (own - (total - own) / (players - 1)) / MARGIN_SCALE


@njit
def advantages(
    seats: np.ndarray,  # [P + T, N] int8, -1 for an empty slot; the first P rows are carried over
    outcomes: np.ndarray,  # [P + T, N, 12] float32, predicted
    ends: np.ndarray,  # [T + 1, N] bool: a game ended before decision t (0) or after decision t (t + 1)
    finals: np.ndarray,  # [T + 1, N, 12] float32, true outcomes by absolute seat
    players: np.ndarray,  # [N] int64
    gae_lambda: float,
    margin_weight: float,
    advantage: np.ndarray,  # out [P + T, N] float32
    targets: np.ndarray,  # out [P + T, N, 12] float32
    closed: np.ndarray,  # out [P + T, N] bool: has an advantage
    still_open: np.ndarray,  # out [P, N] int64: row of each seat's last decision, to carry; -1 for none
) -> None:
    """Generalised advantage estimation over each seat's own decisions; no seat borrows another's value.

    A seat's last decision before the edge has no successor yet: it stays open and is carried over to the
    next rollout, and the decision before it bootstraps from its value.
    """
    carried = MAX_PLAYERS
    steps = len(seats) - carried
    has_next = np.zeros(MAX_PLAYERS, dtype=np.bool_)
    reward = np.zeros(MAX_PLAYERS, dtype=np.float64)
    next_value = np.zeros(MAX_PLAYERS, dtype=np.float64)
    next_advantage = np.zeros(MAX_PLAYERS, dtype=np.float64)
    next_target = np.zeros((MAX_PLAYERS, NUM_OUTCOMES), dtype=np.float64)
    for table in range(seats.shape[1]):
        n = int(players[table])
        has_next[:] = False
        reward[:] = 0
        still_open[:, table] = -1
        for t in range(steps, -carried, -1):
            if t >= 0 and ends[t, table]:
                for seat in range(n):
                    has_next[seat] = True
                    reward[seat] = utility(finals[t, table], n, seat, margin_weight)
                    next_value[seat] = 0
                    next_advantage[seat] = 0
                    for other in range(n):
                        relative = (other - seat) % n
                        next_target[seat, relative] = finals[t, table, other]
                        next_target[seat, MAX_PLAYERS + relative] = finals[t, table, MAX_PLAYERS + other]
                    for relative in range(n, MAX_PLAYERS):
                        next_target[seat, relative] = 0
                        next_target[seat, MAX_PLAYERS + relative] = 0
            row = t - 1 + carried
            closed[row, table] = False
            seat = int(seats[row, table])
            if seat < 0:
                continue
            value = utility(outcomes[row, table], n, 0, margin_weight)
            if has_next[seat]:
                delta = reward[seat] + next_value[seat] - value
                gain = delta + gae_lambda * next_advantage[seat]
                advantage[row, table] = gain
                closed[row, table] = True
                for i in range(NUM_OUTCOMES):
                    targets[row, table, i] = next_target[seat, i]
                    ahead = gae_lambda * next_target[seat, i]
                    next_target[seat, i] = ahead + (1 - gae_lambda) * outcomes[row, table, i]
                next_advantage[seat] = gain
            else:
                still_open[seat, table] = row
                has_next[seat] = True
                next_advantage[seat] = 0
                for i in range(NUM_OUTCOMES):
                    next_target[seat, i] = outcomes[row, table, i]
            next_value[seat] = value
            reward[seat] = 0


@njit
def loss_gradient(
    logits: np.ndarray,  # [B, A] float32
    columns: np.ndarray,  # [A] int64: where each action stands among the logits
    raw_outcomes: np.ndarray,  # [B, 12] float32
    masks: np.ndarray,  # [B, A] int8
    actions: np.ndarray,  # [B] int64
    old_log_probs: np.ndarray,  # [B] float32
    advantage: np.ndarray,  # [B] float32, normalised
    targets: np.ndarray,  # [B, 12] float32
    players: np.ndarray,  # [B] int64
    coefficients: np.ndarray,  # clip, entropy, winner weight, margin weight
    scale: float,  # 1 / size of the whole minibatch
    d_logits: np.ndarray,  # out [B, A] float32
    d_outcomes: np.ndarray,  # out [B, 12] float32
    statistics: np.ndarray,  # out [8] sums, see below
) -> None:
    """The PPO loss of a minibatch and its gradient, in one pass over the legal actions.

    The sums are: policy loss, winner loss, margin loss, entropy, KL divergence, clipped decisions,
    |ratio - 1|, decisions.
    """
    clip, entropy_weight = coefficients[0], coefficients[1]
    winner_weight, margin_weight = coefficients[2], coefficients[3]
    legal = np.empty(NUM_ACTIONS, dtype=np.int64)
    probability = np.empty(NUM_ACTIONS, dtype=np.float64)
    log_probability = np.empty(NUM_ACTIONS, dtype=np.float64)
    d_logits[:] = 0
    d_outcomes[:] = 0
    statistics[:] = 0
    for row in range(len(logits)):
        count = 0
        highest = -np.inf
        chosen = 0
        for action in range(NUM_ACTIONS):
            if masks[row, action]:
                if action == actions[row]:
                    chosen = count
                legal[count] = columns[action]
                highest = max(highest, float(logits[row, legal[count]]))
                count += 1
        total = 0.0
        for i in range(count):
            probability[i] = np.exp(float(logits[row, legal[i]]) - highest)
            total += probability[i]
        log_total = np.log(total)
        entropy = 0.0
        for i in range(count):
            probability[i] /= total
            log_probability[i] = float(logits[row, legal[i]]) - highest - log_total
            entropy -= probability[i] * log_probability[i]
        log_ratio = log_probability[chosen] - float(old_log_probs[row])
        ratio = np.exp(log_ratio)
        gain = float(advantage[row])
        clipped_ratio = min(max(ratio, 1 - clip), 1 + clip)
        pull = 0.0
        if ratio * gain <= clipped_ratio * gain:
            statistics[0] -= ratio * gain
            pull = -gain * ratio
        else:
            statistics[0] -= clipped_ratio * gain
        for i in range(count):
            gradient = -pull * probability[i]
            if i == chosen:
                gradient += pull
            gradient += entropy_weight * probability[i] * (log_probability[i] + entropy)
            d_logits[row, legal[i]] = gradient * scale
        statistics[3] += entropy
        statistics[4] += ratio - 1 - log_ratio
        statistics[5] += abs(ratio - 1) > clip
        statistics[6] += abs(ratio - 1)
        statistics[7] += 1
        n = int(players[row])
        highest = -np.inf
        for seat in range(n):
            highest = max(highest, float(raw_outcomes[row, seat]))
        total = 0.0
        for seat in range(n):
            total += np.exp(float(raw_outcomes[row, seat]) - highest)
        for seat in range(n):
            log_chance = float(raw_outcomes[row, seat]) - highest - np.log(total)
            wanted = float(targets[row, seat])
            statistics[1] -= wanted * log_chance
            d_outcomes[row, seat] = winner_weight * (np.exp(log_chance) - wanted) * scale
            error = float(raw_outcomes[row, MAX_PLAYERS + seat]) - float(targets[row, MAX_PLAYERS + seat])
            statistics[2] += error * error / 2
            d_outcomes[row, MAX_PLAYERS + seat] = margin_weight * error * scale


@njit
def take_columns(source: np.ndarray, columns: np.ndarray, out: np.ndarray) -> None:
    """Copy some columns of each row, in the order given."""
    for row in range(len(source)):
        for i in range(len(columns)):
            out[row, i] = source[row, columns[i]]


@njit
def gather(
    observations: np.ndarray,  # [S, D] int8
    masks: np.ndarray,  # [S, A] int8
    indices: np.ndarray,  # [B] int64
    out_observations: np.ndarray,
    out_masks: np.ndarray,
) -> None:
    """Copy the rows of a minibatch side by side."""
    for row in range(len(indices)):
        _copy_observation(observations[indices[row]], out_observations[row], 0)
        _copy_mask(masks[indices[row]], out_masks[row], 0)
