"""RLlib: the seats of an episode all act and are all paid, under the names its module reads."""

from __future__ import annotations

import numpy as np

from training.libraries.common import PLAYERS
from training.libraries.rllib import ByzanzForRLlib


def test_every_seat_acts_and_is_paid() -> None:
    env = ByzanzForRLlib({"reward": "rank"})
    rng = np.random.default_rng(1)
    for seed in range(5):
        observations, _ = env.reset(seed=seed)
        paid, acted, over = dict.fromkeys(env.possible_agents, 0.0), set(), False
        while not over:
            (seat, seen), *rest = observations.items()
            assert not rest
            assert set(seen) == {"action_mask", "observations"}
            assert env.observation_spaces[seat].contains(seen)
            acted.add(seat)
            action = int(rng.choice(np.flatnonzero(seen["action_mask"])))
            observations, rewards, terminated, truncated, _ = env.step({seat: action})
            for name, reward in rewards.items():
                paid[name] += reward
            over = terminated["__all__"] or truncated["__all__"]
        assert len(acted) == PLAYERS
        assert abs(sum(paid.values())) < 1e-6
        assert any(paid.values())
