"""The compiled parts of the trainer against their plain twins and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS
from training import kernels, reference

P = MAX_PLAYERS


def rollout(steps, tables, players):
    rows = P + steps
    return {
        "seats": np.full((rows, tables), -1, dtype=np.int8),
        "outcomes": np.zeros((rows, tables, 12), dtype=np.float32),
        "ends": np.zeros((steps + 1, tables), dtype=np.bool_),
        "finals": np.zeros((steps + 1, tables, 12), dtype=np.float32),
        "players": np.full(tables, players, dtype=np.int64),
    }


def estimate(given, gae_lambda=0.95, margin_weight=0.0):
    rows, tables = given["seats"].shape
    advantage = np.zeros((rows, tables), dtype=np.float32)
    targets = np.zeros((rows, tables, 12), dtype=np.float32)
    closed = np.zeros((rows, tables), dtype=np.bool_)
    still_open = np.zeros((P, tables), dtype=np.int64)
    kernels.advantages(*given.values(), gae_lambda, margin_weight, advantage, targets, closed, still_open)
    return advantage, targets, closed, still_open


def set_chance(given, row, table, players, chance):
    """A prediction in which the observer wins with this chance."""
    given["outcomes"][row, table, :players] = (1 - chance) / (players - 1)
    given["outcomes"][row, table, 0] = chance


def test_gae_by_hand_for_three_seats():
    """Seats 0 1 2 0 1 2 decide, then the game ends and seat 1 wins."""
    given = rollout(6, 1, 3)
    chances = [0.3, 0.4, 0.2, 0.5, 0.6, 0.1]
    for t, chance in enumerate(chances):
        given["seats"][P + t, 0] = t % 3
        set_chance(given, P + t, 0, 3, chance)
    given["ends"][6, 0] = True
    given["finals"][6, 0, 1] = 1.0
    advantage, targets, closed, still_open = estimate(given, gae_lambda=0.9)
    value = [(3 * c - 1) / 2 for c in chances]
    for seat, reward in ((0, -0.5), (1, 1.0), (2, -0.5)):
        last = reward - value[seat + 3]
        first = value[seat + 3] - value[seat] + 0.9 * last
        assert advantage[P + seat + 3, 0] == pytest.approx(last, abs=1e-6)
        assert advantage[P + seat, 0] == pytest.approx(first, abs=1e-6)
    assert closed[P:, 0].all()
    assert (still_open == -1).all()
    np.testing.assert_allclose(targets[P + 4, 0, :3], [1, 0, 0])  # the winner's own view
    np.testing.assert_allclose(targets[P + 3, 0, :3], [0, 1, 0])  # from seat 0 the winner sits to the left
    expected = 0.9 * np.array([0, 1, 0]) + 0.1 * given["outcomes"][P + 3, 0, :3]
    np.testing.assert_allclose(targets[P + 0, 0, :3], expected, atol=1e-6)


def test_no_seat_borrows_the_value_of_another():
    """Changing what seat 1 predicts changes nothing for seat 0."""
    given = rollout(8, 1, 3)
    rng = np.random.default_rng(0)
    for t in range(8):
        given["seats"][P + t, 0] = t % 3
        set_chance(given, P + t, 0, 3, rng.uniform(0.1, 0.9))
    before = estimate(given)[0]
    for t in range(1, 8, 3):
        set_chance(given, P + t, 0, 3, 0.99)
    after = estimate(given)[0]
    own = [P + t for t in range(8) if t % 3 == 0]
    np.testing.assert_array_equal(before[own], after[own])
    assert not np.array_equal(before, after)


def test_the_last_decision_of_a_seat_stays_open_and_is_closed_in_the_next_rollout():
    given = rollout(4, 1, 3)
    for t, seat in enumerate((0, 1, 0, 1)):
        given["seats"][P + t, 0] = seat
        set_chance(given, P + t, 0, 3, 0.2 + 0.1 * t)
    advantage, _, closed, still_open = estimate(given)
    assert closed[:, 0].tolist() == [False] * P + [True, True, False, False]
    assert still_open[:, 0].tolist() == [P + 2, P + 3, -1, -1, -1, -1]
    assert advantage[P, 0] == pytest.approx(1.5 * 0.2, abs=1e-6)  # bootstraps from its own next value
    following = rollout(4, 1, 3)
    following["seats"][0, 0] = 0
    set_chance(following, 0, 0, 3, 0.4)
    following["ends"][0, 0] = True  # the game ended before the first decision of this rollout
    following["finals"][0, 0, 0] = 1.0
    advantage, _, closed, still_open = estimate(following)
    assert closed[0, 0]
    assert advantage[0, 0] == pytest.approx(1.0 - (3 * 0.4 - 1) / 2, abs=1e-6)
    assert (still_open == -1).all()


def test_advantages_equal_the_plain_recursion_on_random_rollouts():
    rng = np.random.default_rng(3)
    steps, players, weight = 40, 4, 0.3
    given = rollout(steps, 20, players)
    for table in range(20):
        for t in range(steps):
            given["seats"][P + t, table] = rng.integers(players)
            given["outcomes"][P + t, table, :players] = rng.dirichlet(np.ones(players))
            given["outcomes"][P + t, table, P : P + players] = rng.normal(size=players)
        end = rng.integers(5, steps)
        given["ends"][end, table] = True
        given["finals"][end, table, :players] = rng.dirichlet(np.ones(players))
        given["finals"][end, table, P : P + players] = rng.normal(size=players)
    advantage, targets, closed, _ = estimate(given, 0.8, weight)
    for table in range(20):
        end = int(np.flatnonzero(given["ends"][:, table])[0])
        for seat in range(players):
            rows = [P + t for t in range(end) if given["seats"][P + t, table] == seat]
            outcome = given["outcomes"][rows, table]
            values = (players * outcome[:, 0] - 1) / (players - 1) + weight * outcome[:, P]
            final = given["finals"][end, table]
            reward = (players * final[seat] - 1) / (players - 1) + weight * final[P + seat]
            rewards = [0.0] * (len(rows) - 1) + [reward] if rows else []
            plain = reference.seat_advantages(values.tolist(), rewards, 0.0, 0.8)
            np.testing.assert_allclose(advantage[rows, table], plain, atol=1e-5)
            assert closed[rows, table].all()
            wanted = np.zeros(
                12
            )  # the end as this seat sees it, and before it more and more of the forecast
            for relative in range(players):
                wanted[relative] = final[(seat + relative) % players]
                wanted[P + relative] = final[P + (seat + relative) % players]
            for row in reversed(rows):
                np.testing.assert_allclose(targets[row, table], wanted, atol=1e-5)
                wanted = 0.8 * wanted + 0.2 * given["outcomes"][row, table]


def test_predicted_chances_are_a_softmax_over_the_seats_that_are_there():
    rng = np.random.default_rng(4)
    raw = (5 * rng.normal(size=(40, 12))).astype(np.float32)
    players = np.arange(40) % 4 + 3
    out = np.full((40, 12), 7.0, dtype=np.float32)
    kernels.predict_outcomes(raw, players, out)
    for row, n in enumerate(players):
        chances = torch.softmax(torch.from_numpy(raw[row, :n]), dim=0).numpy()
        expected = np.concatenate([chances, np.zeros(P - n), raw[row, P : P + n], np.zeros(P - n)])
        np.testing.assert_allclose(out[row], expected, atol=1e-6)


def minibatch(size, seed):
    rng = np.random.default_rng(seed)
    masks = (rng.random((size, NUM_ACTIONS)) < 0.03).astype(np.int8)
    masks[:, 0] = 1
    actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
    players = rng.integers(3, 7, size)
    targets = np.zeros((size, 12), dtype=np.float32)
    for row, n in enumerate(players):
        targets[row, :n] = rng.dirichlet(np.ones(n))
        targets[row, P : P + n] = rng.normal(size=n)
    return {
        "logits": rng.normal(size=(size, NUM_ACTIONS)).astype(np.float32),
        "raw_outcomes": rng.normal(size=(size, 12)).astype(np.float32),
        "masks": masks,
        "actions": actions,
        "old_log_probs": rng.uniform(-3, -0.1, size).astype(np.float32),
        "advantage": rng.normal(size=size).astype(np.float32),
        "targets": targets,
        "players": players,
    }


def with_columns(given, columns):
    logits, *others = given.values()
    return logits, columns, *others


def test_the_loss_and_its_gradient_equal_torch():
    size = 300
    given = minibatch(size, 1)
    coefficients = np.array([0.2, 0.03, 0.5, 0.25])
    d_logits = np.empty((size, NUM_ACTIONS), dtype=np.float32)
    d_outcomes = np.empty((size, 12), dtype=np.float32)
    sums = np.zeros(8)
    columns = np.random.default_rng(5).permutation(NUM_ACTIONS)
    places = np.argsort(columns)
    moved = {**given, "logits": np.ascontiguousarray(given["logits"][:, places])}
    kernels.loss_gradient(*with_columns(moved, columns), coefficients, 1 / size, d_logits, d_outcomes, sums)
    d_logits = d_logits[:, columns]
    tensors = {name: torch.tensor(array) for name, array in given.items()}
    tensors["logits"].requires_grad_()
    tensors["raw_outcomes"].requires_grad_()
    loss = reference.ppo_loss(**tensors, coefficients=coefficients)
    loss.backward()
    np.testing.assert_allclose(d_logits, tensors["logits"].grad.numpy(), atol=1e-7)
    np.testing.assert_allclose(d_outcomes, tensors["raw_outcomes"].grad.numpy(), atol=1e-7)
    own = (
        sums[0] - coefficients[1] * sums[3] + coefficients[2] * sums[1] + coefficients[3] * sums[2]
    ) / sums[7]
    assert own == pytest.approx(loss.item(), rel=1e-5)
    assert sums[5] > 0  # some ratios are clipped, so that branch was compared too


def test_masked_entropy_is_the_logarithm_of_the_number_of_legal_actions():
    given = minibatch(50, 2)
    given["logits"][:] = 1.7
    sums = np.zeros(8)
    buffers = np.empty((50, NUM_ACTIONS), np.float32), np.empty((50, 12), np.float32)
    given = with_columns(given, np.arange(NUM_ACTIONS))
    kernels.loss_gradient(*given, np.array([0.2, 0.0, 0.0, 0.0]), 1.0, *buffers, sums)
    assert sums[3] == pytest.approx(sum(math.log(mask.sum()) for mask in given[3]), rel=1e-6)


def test_sampling_follows_the_masked_softmax():
    size = 40_000
    logits = np.tile(np.linspace(-1, 1, NUM_ACTIONS, dtype=np.float32), (size, 1))
    masks = np.zeros((size, NUM_ACTIONS), dtype=np.int8)
    masks[:, [3, 100, 287]] = 1
    actions, log_probs = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.float32)
    columns = np.random.default_rng(5).permutation(NUM_ACTIONS)
    moved = np.ascontiguousarray(logits[:, np.argsort(columns)])
    rng = np.array([1, 2, 3, 4], dtype=np.uint32)
    kernels.sample_actions(moved, columns, masks, rng, actions, log_probs)
    weights = np.exp(logits[0, [3, 100, 287]])
    for action, probability in zip((3, 100, 287), weights / weights.sum(), strict=True):
        assert (actions == action).mean() == pytest.approx(probability, abs=0.01)
        assert np.exp(log_probs[actions == action][0]) == pytest.approx(probability, rel=1e-5)


def test_final_outcomes_are_shares_and_margins():
    out = np.zeros(12)
    kernels.final_outcome(np.array([0.5, 0.5, 0, 0, 0, 0]), np.array([20, 20, 11, 0, 0, 0]), 3, out)
    np.testing.assert_allclose(out[:6], [0.5, 0.5, 0, 0, 0, 0])
    np.testing.assert_allclose(out[6:], [0.45, 0.45, -0.9, 0, 0, 0])
