"""The SB3 door: the episodes of single environments, masks as sb3-contrib asks for them, and it learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from byzanz_env import ByzanzSingle, IllegalActionError
from byzanz_env.decisions import Decisions
from byzanz_env.envs.sb3 import ByzanzVecEnv
from byzanz_env.games.byzanz.tables import random_actions


def legal_choices(env: ByzanzVecEnv, seed: int) -> np.ndarray:
    actions = np.zeros(env.num_envs, dtype=np.int64)
    random_actions(
        get_action_masks(env).astype(np.int8), np.array([seed, 1, 1, 1], dtype=np.uint32), actions
    )
    return actions


@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize("reward", ["win", "points"])
def test_every_table_plays_the_games_of_a_single_environment(reward: str, skip_forced: bool) -> None:
    env = ByzanzVecEnv(5, 3, "greedy", seed=7, reward=reward, skip_forced=skip_forced)
    singles = [ByzanzSingle(3, "greedy", reward=reward, skip_forced=skip_forced) for _ in range(5)]
    observations = env.reset()
    for row, single in enumerate(singles):
        observation, info = single.reset(seed=int(env.tables.env.game_seeds[row]))
        assert observation.tobytes() == observations[row].tobytes()
        assert info["seat"] == env.tables.learners[row]
    returns, lengths, episodes = np.zeros(5), np.zeros(5), 0
    for seed in range(1, 200):
        actions = legal_choices(env, seed)
        observations, rewards, dones, infos = env.step(actions)
        returns += rewards
        lengths += 1
        for row, single in enumerate(singles):
            observation, paid, terminated, _, _ = single.step(actions[row])
            assert (paid, terminated) == (pytest.approx(rewards[row]), dones[row])
            if terminated:
                episodes += 1
                assert infos[row]["terminal_observation"].tobytes() == observation.tobytes()
                assert infos[row]["episode"]["r"] == pytest.approx(returns[row])
                assert infos[row]["episode"]["l"] == lengths[row]
                returns[row] = lengths[row] = 0
                observation, _ = single.reset(seed=int(env.tables.env.game_seeds[row]))
            assert observation.tobytes() == observations[row].tobytes()
            assert (single.action_masks() == get_action_masks(env)[row]).all()
    assert episodes >= 5


def test_masks_are_found_by_sb3_contrib_and_never_empty() -> None:
    env = ByzanzVecEnv(3, 4)
    assert is_masking_supported(env)
    assert get_action_masks(env).all()
    env.reset()
    for seed in range(1, 120):
        masks = get_action_masks(env)
        assert masks.dtype == np.bool_
        assert masks.shape == (3, 288)
        assert masks.any(axis=1).all()
        env.step(legal_choices(env, seed))
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2
    with pytest.raises(AttributeError, match="no method 'fly'"):
        env.env_method("fly")
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("num_envs", 3)


def test_what_is_returned_stays_as_it_is() -> None:
    """SB3 keeps the last observations over a step before it stores them."""
    env = ByzanzVecEnv(4, 3)
    kept = env.reset()
    copy = kept.copy()
    env.step(legal_choices(env, 1))
    assert kept.tobytes() == copy.tobytes()


def test_seeds_and_resets() -> None:
    env, other = ByzanzVecEnv(4, 3, seed=5), ByzanzVecEnv(4, 3)
    first, second = env.reset(), env.reset()
    assert first.tobytes() != second.tobytes()
    other.seed(5)
    assert other.reset().tobytes() == first.tobytes()
    assert other.reset().tobytes() == second.tobytes()


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    env = ByzanzVecEnv(4, 3)
    env.reset()
    actions = legal_choices(env, 1)
    masks = get_action_masks(env)
    actions[3] = int(np.flatnonzero(~masks[3])[0])
    before = env.tables.env.states.tobytes()
    with pytest.raises(IllegalActionError, match="row 3"):
        env.step(actions)
    assert env.tables.env.states.tobytes() == before


class FirstLegal:
    """Takes the first legal action, or while it cheats a number that is none."""

    name = "cheat"
    cheats = False

    def act(self, decisions: Decisions) -> np.ndarray:
        return decisions.masks.argmax(axis=1) - 1000 * self.cheats


def test_a_reset_or_step_with_an_illegal_answer_of_an_opponent_did_not_happen() -> None:
    agent = FirstLegal()
    env, fair = ByzanzVecEnv(6, 3, agent, seed=2), ByzanzVecEnv(6, 3, FirstLegal(), seed=2)
    agent.cheats = True
    with pytest.raises(IllegalActionError, match="opponent cheat"):
        env.reset()
    assert get_action_masks(env).all()  # still before the first game
    agent.cheats = False
    assert env.reset().tobytes() == fair.reset().tobytes()
    failed = 0
    for seed in range(1, 150):
        actions = legal_choices(env, seed)
        before, agent.cheats = env.tables.env.save(), True
        try:
            mine = env.step(actions)
        except IllegalActionError:
            failed += 1
            assert env.tables.env.save() == before
            agent.cheats = False
            mine = env.step(actions)
        others = fair.step(actions)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(mine[:3], others[:3], strict=True))
    assert failed > 50


def test_maskable_ppo_learns_to_beat_random_opponents() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    env = ByzanzVecEnv(64, 3, "random", reward="points", skip_forced=True, seed=1)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=512,
        n_epochs=3,
        learning_rate=2e-3,
        gamma=1.0,
        policy_kwargs={"net_arch": [64]},
        seed=1,
        device="cpu",
    )
    model.learn(24_000)
    judges = ByzanzVecEnv(64, 3, "random", seed=99)
    wins, _ = evaluate_policy(model, judges, n_eval_episodes=256, deterministic=False)
    torch.set_num_threads(threads)
    print("win share", wins)
    assert len(model.ep_info_buffer) > 0
    assert wins > 1 / 3 + 0.1  # more than three standard errors above an even share
