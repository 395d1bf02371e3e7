"""Tianshou: rewards lie in the learner's own rows, and every stored action was legal."""

from __future__ import annotations

import numpy as np
from tianshou.env import PettingZooEnv

from byzanz_env import byzanz_v0
from training.libraries.tianshou_dqn import train


def test_rewards_lie_in_the_rows_of_the_learner() -> None:
    _, clock, buffer = train(seconds=3)
    assert clock.steps > 0
    taken = buffer[:]
    assert taken.obs.mask[np.arange(len(taken)), taken.act].all()
    assert not taken.rew[~taken.terminated].any()
    assert taken.obs.mask.any(axis=1).all()


def test_the_wrapper_for_pettingzoo_pays_other_seats_in_the_row_of_the_mover() -> None:
    """Why the script does not use it: the rewards of all seats come with whoever moved last."""
    env = PettingZooEnv(byzanz_v0.env(num_players=3, reward="rank"))
    observation, _ = env.reset(seed=1)
    rng = np.random.default_rng(1)
    terminated = False
    while not terminated:
        action = int(rng.choice(np.flatnonzero(observation["mask"])))
        observation, rewards, terminated, _, _ = env.step(action)
    assert len(rewards) == 3
    assert np.count_nonzero(rewards) >= 2
