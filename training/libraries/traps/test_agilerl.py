"""AgileRL: every transition that is stored was closed by its own seat, and the ends are paid."""

from __future__ import annotations

import numpy as np
from agilerl.components.replay_buffer import ReplayBuffer

from training.libraries.agilerl_dqn import GAMES, OpenTransitions, train


def test_training_makes_no_illegal_move_and_fills_the_buffer() -> None:
    agent, clock = train(seconds=3)  # BatchEnv raises at an illegal action
    assert clock.steps >= GAMES
    assert agent.actor is not None


def test_a_seat_that_has_not_acted_stores_nothing() -> None:
    buffer = ReplayBuffer(max_size=100)
    waiting = OpenTransitions(buffer)
    rows, seats = np.array([3, 5]), np.array([0, 2])
    size = waiting.observations.shape[-1]
    seen, after = np.ones((2, size), dtype=np.float32), np.zeros((2, size), dtype=np.float32)
    waiting.close(rows, seats, after, done=True)
    assert len(buffer) == 0
    waiting.open(rows[:1], seats[:1], seen[:1], np.array([7]))
    waiting.paid[3, 0] = 0.5
    waiting.close(rows, seats, after, done=True)
    assert len(buffer) == 1
    assert float(buffer.sample(1)["reward"]) == 0.5
    assert waiting.paid[3, 0] == 0
    waiting.close(rows, seats, after, done=True)
    assert len(buffer) == 1
