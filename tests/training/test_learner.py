"""The learner: it learns, it repeats itself, and a resumed run is the uninterrupted one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from byzanz_env import BatchEnv
from byzanz_env.agents import load
from byzanz_env.agents.network import Architecture
from byzanz_env.agents.policy import PolicyAgent, PolicyFile, save_policy
from byzanz_env.decisions import agent_key, game_keys
from byzanz_env.games.byzanz.engine import NOTHING_LAID
from training.config import Pool
from training.evaluate import win_share
from training.kernels import final_outcome
from training.learner import Learner, TrainingError
from training.opponents import LEARNER, OpponentPool, PolicyMember, owner_of
from training.worker import CARRIED


def fingerprint(learner):
    arrays, table = learner.state()
    return {name: array.tobytes() for name, array in arrays.items()}, table


def advance(learner, updates):
    figures = [learner.update() for _ in range(updates)]
    return figures


@pytest.mark.parametrize(
    ("workers", "good_units", "precision"),
    [(1, 64, "fp32"), (2, 64, "fp32"), (2, 0, "fp32"), (2, 64, "bf16")],
)
def test_a_resumed_run_equals_the_uninterrupted_one(tiny, workers, good_units, precision):
    """Cut after every update: weights, moments, generators, tables, open decisions and pool agree."""
    pool = {"share": 0.7, "start": 512, "every": 1024, "size": 2, "agents": ["random", "heuristic"]}
    net = {"hidden": [32], "good_units": good_units}
    config = tiny(workers=workers, net=net, precision=precision, pool=pool)
    whole = Learner(config)
    states, figures = [], []
    for _ in range(5):
        arrays, table = whole.state()
        states.append(({name: array.copy() for name, array in arrays.items()}, table))
        figures.append(whole.update())
    expected = fingerprint(whole)
    assert len(whole.pool.snapshots) == 2
    whole.close()
    for cut, (arrays, table) in enumerate(states):
        resumed = Learner(config)
        resumed.restore(arrays, table)
        assert advance(resumed, 5 - cut) == figures[cut:]
        assert fingerprint(resumed) == expected
        resumed.close()


def test_two_runs_of_one_seed_are_equal_and_another_seed_differs(tiny):
    first, second, other = Learner(tiny()), Learner(tiny()), Learner(tiny(seed=2))
    for learner in (first, second, other):
        advance(learner, 2)
        learner.close()
    assert fingerprint(first) == fingerprint(second)
    assert fingerprint(first) != fingerprint(other)


@pytest.mark.parametrize("good_units", [0, 8])
def test_torch_and_the_playing_runtime_give_the_same_numbers(tiny, good_units):
    config = tiny(net={"hidden": [32], "good_units": good_units})
    learner = Learner(config)
    advance(learner, 2)
    env = learner.workers[0].env
    policy = PolicyFile("x", learner.architecture, learner.network.to_tensors())
    logits, outcomes = PolicyAgent(policy).network.forward(env.observations, env.action_masks)
    with torch.inference_mode():
        torch_logits, torch_outcomes = learner.network(torch.from_numpy(np.array(env.observations)))
    legal = env.action_masks > 0
    torch_logits = torch_logits.numpy()[:, learner.network.columns]
    np.testing.assert_allclose(logits[legal], torch_logits[legal], atol=2e-5)
    np.testing.assert_allclose(outcomes, torch_outcomes.numpy(), atol=2e-5)
    again = Learner(config)
    again.network.load_tensors(policy.tensors)
    for name, tensor in again.network.to_tensors().items():
        np.testing.assert_allclose(tensor, policy.tensors[name], rtol=1e-6)
    learner.close()
    again.close()


def test_a_gradient_that_is_not_finite_stops_the_run_before_it_reaches_the_weights(tiny):
    learner = Learner(tiny(workers=1))
    advance(learner, 1)
    before = learner.network.to_tensors()
    gradient = learner.workers[0].gradient

    def poisoned(*arguments):
        statistics = gradient(*arguments)
        next(iter(learner.workers[0].network.parameters())).grad[0, 0] = float("nan")
        return statistics

    learner.workers[0].gradient = poisoned
    with pytest.raises(TrainingError, match="not finite in update 2"):
        learner.update()
    for name, tensor in learner.network.to_tensors().items():
        np.testing.assert_array_equal(tensor, before[name])
    learner.close()


@pytest.mark.parametrize(("part", "subject"), [("estimate", "advantages are"), ("gradient", "loss is")])
def test_a_loss_that_is_not_finite_stops_the_run(tiny, part, subject):
    learner = Learner(tiny(workers=1))
    advance(learner, 1)
    before = learner.network.to_tensors()
    worker = learner.workers[0]
    real = getattr(worker, part)

    def poisoned(*arguments):
        if part == "estimate":
            total, squares, count = real(*arguments)
            return total * float("nan"), squares, count
        return real(*arguments) * float("nan")

    setattr(worker, part, poisoned)
    with pytest.raises(
        TrainingError, match=f"{subject} not finite in update 2: the last checkpoint is kept"
    ):
        learner.update()
    for name, tensor in learner.network.to_tensors().items():
        np.testing.assert_array_equal(tensor, before[name])
    learner.close()


def test_below_the_entropy_floor_the_weight_goes_back_up(tiny):
    ppo = {"steps": 32, "minibatch": 128, "entropy": 0.02, "entropy_end": 0.0}
    weights = {}
    for floor in (0.0, 100.0):
        learner = Learner(tiny(workers=1, ppo={**ppo, "entropy_floor": floor}))
        weights[floor] = [learner.update()["entropy_weight"] for _ in range(3)]
        arrays, table = learner.state()
        again = Learner(tiny(workers=1, ppo={**ppo, "entropy_floor": floor}))
        again.restore(arrays, table)
        assert again.update()["entropy_weight"] == learner.update()["entropy_weight"]
        learner.close()
        again.close()
    np.testing.assert_allclose(weights[0.0], [0.02, 0.02 * 5 / 6, 0.02 * 4 / 6])
    np.testing.assert_allclose(weights[100.0], [0.02, 0.02, 0.02])


def test_it_learns_to_beat_random_opponents(tiny):
    """From an even share to most games within a few seconds."""
    config = tiny(
        decisions=40 * 64 * 64,
        game={"tables": 64, "share_3": 1.0, "share_4": 0.0, "share_5": 0.0, "share_6": 0.0},
        net={"hidden": [64], "good_units": 16},
        ppo={"steps": 64, "minibatch": 1024, "learning_rate": 3e-3},
        pool={},
        evaluation={"players": 3},
    )
    learner = Learner(config)
    advance(learner, config.updates)
    learner.close()
    agent = PolicyAgent(PolicyFile("x", learner.architecture, learner.network.to_tensors()))
    result = win_share(agent, load("random"), 3, 60, 1)
    assert result.share - result.half_width > 0.5  # an even share is a third


def test_the_pool_decides_for_some_seats_and_only_the_learner_is_trained(tiny):
    learner = Learner(tiny(workers=1))
    worker = learner.workers[0]
    asked = []
    act = learner.pool.act

    def watched(env, rows, owners):
        assert (owners != LEARNER).all()
        asked.append(len(rows))
        return act(env, rows, owners)

    learner.pool.act = watched
    advance(learner, 1)
    assert not asked  # the pool is used from 512 decisions on
    for _ in range(2):
        advance(learner, 1)
        collected = worker.rollout.seats[CARRIED:]
        assert (collected >= 0).all()  # every decision of a rollout is the learner's
    assert sum(asked) > 0
    learner.close()


def test_pool_members_take_as_many_seats_as_the_settings_say():
    tables, players = 4000, 4
    guests = {}
    for share, alone in ((0.0, 1.0), (0.5, 0.0), (1.0, 0.4), (1.0, 1.0)):
        taken = np.zeros(tables, dtype=np.int64)
        for seat in range(players):
            taken += [owner_of(seed, seat, players, 2, share, alone) != LEARNER for seed in range(tables)]
        guests[share, alone] = np.bincount(taken, minlength=players) / tables
    wanted = {
        (0.0, 1.0): [1, 0, 0, 0],
        (0.5, 0.0): [0.5, 1 / 6, 1 / 6, 1 / 6],
        (1.0, 0.4): [0, 0.2, 0.2, 0.6],
        (1.0, 1.0): [0, 0, 0, 1],
    }
    for settings, shares in wanted.items():
        np.testing.assert_allclose(guests[settings], shares, atol=0.04)  # five standard errors


def played_by_asking(env, agents, alone):
    """What `OpponentPool.move` does for scripted members, one question after the other."""
    ended, busy = [], list(range(env.num_games))
    while busy:
        for row in list(busy):
            seed, seat = int(env.game_seeds[row]), int(env.seats[row])
            owner = owner_of(seed, seat, 4, len(agents), 1.0, alone)
            if owner == LEARNER or agents[owner].name == "random":
                busy.remove(row)
                continue
            keys = game_keys(env.game_seeds[[row]], env.seats[[row]], agent_key(agents[owner].name))
            env.step(agents[owner].act(env.decisions([row], keys)), [row])
            if env.dones[row]:
                ended.append(row)
    return sorted(ended)


def test_scripted_members_play_as_if_they_were_asked():
    """The compiled loop and the agents themselves bring the same games, to the byte, and the same ends."""
    agents = [load(name) for name in ("greedy", "random", "heuristic")]
    config = Pool(share=1.0, alone=0.5, start=0, agents=tuple(agent.name for agent in agents))
    pool = OpponentPool(config, Architecture(), agents, bf16=False)
    pool.act = lambda env, rows, owners: env.sample_actions(99)[rows]
    ours, theirs = BatchEnv(64, 4, seed=3, skip_forced=True), BatchEnv(64, 4, seed=3, skip_forced=True)
    ours.reset()
    theirs.reset()
    rows, slots, seen, asked = np.arange(64), np.arange(64) % 3, 0, 0
    for turn in range(120):
        ends, finals = np.zeros((3, 64), dtype=np.bool_), np.zeros((3, 64, 12), dtype=np.float32)
        learners = pool.move(ours, rows, 0, slots, ends, finals)
        over = played_by_asking(theirs, agents, 0.5)
        others = np.setdiff1d(rows, learners)  # where `random`, who is asked, has the turn
        asked += len(others)
        if len(others):
            theirs.canonicalise(others)
            theirs.step(theirs.sample_actions(99)[others], others)
            over += others[theirs.dones[others]].tolist()
        assert sorted((row, slots[row]) for row in over) == list(zip(*np.nonzero(ends.T), strict=True))
        for row in over:
            final = np.zeros(12, dtype=np.float32)
            final_outcome(theirs.winners[row], theirs.scores[row], 4, final)
            np.testing.assert_array_equal(finals[slots[row], row], final)
        seen += len(over)
        assert (ours.states.view(np.uint8) == theirs.states.view(np.uint8)).all()
        actions = ours.sample_actions(turn)
        ours.step(actions)
        theirs.step(actions)
    assert seen > 5
    assert asked > 100


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("good_units", [0, 8])
def test_a_policy_member_answers_as_the_policy_does(tiny, good_units, temperature):
    """In canonical order torch gives what the playing runtime gives, first card of a raise included."""
    learner = Learner(tiny(workers=1, net={"hidden": [32], "good_units": good_units}))
    advance(learner, 2)
    policy = PolicyFile("x", learner.architecture, learner.network.to_tensors())
    agent, member = PolicyAgent(policy, temperature), PolicyMember(policy, temperature, bf16=False)
    env = BatchEnv(50, 4, seed=5, skip_forced=True)
    env.reset()
    rows, phases = np.arange(50), set()
    for turn in range(150):
        env.canonicalise()
        phases |= set(env.states["phase"].tolist())
        answers = member.answer(env, rows)
        begun = np.flatnonzero(env.states["last_laid"] != NOTHING_LAID)
        keys = game_keys(env.game_seeds, env.seats, agent_key("x"))
        expected = agent.act(env.decisions(rows, keys))
        whole = np.setdiff1d(rows, begun)  # a raise that random play began is nobody's plan
        np.testing.assert_array_equal(answers[whole], expected[whole])
        env.step(env.sample_actions(turn))
    assert len(phases) >= 4
    learner.close()


@pytest.mark.parametrize("good_units", [0, 8])
def test_a_policy_member_lays_its_raises_to_the_end_as_the_policy_does(tiny, good_units):
    learner = Learner(tiny(workers=1, net={"hidden": [32], "good_units": good_units}))
    advance(learner, 2)
    learner.close()
    policy = PolicyFile("x", learner.architecture, learner.network.to_tensors())
    agent, member = PolicyAgent(policy), PolicyMember(policy, 0.0, bf16=False)
    env = BatchEnv(50, 4, seed=5, skip_forced=True)
    env.reset()
    rows, half_laid = np.arange(50), 0
    for _ in range(100):
        env.canonicalise()
        answers = member.answer(env, rows)
        keys = game_keys(env.game_seeds, env.seats, agent_key("x"))
        np.testing.assert_array_equal(answers, agent.act(env.decisions(rows, keys)))
        half_laid += int((env.states["last_laid"] != NOTHING_LAID).sum())
        env.step(answers)
    assert half_laid > 20


@pytest.mark.parametrize("name", ["random", "heuristic"])
def test_a_best_response_sits_alone_at_every_table(tiny, name):
    learner = Learner(tiny(workers=1, pool={"only": True, "agents": [name]}))
    worker = learner.workers[0]
    ended = 0
    for _ in range(4):
        advance(learner, 1)
        seats = worker.rollout.seats[CARRIED:]
        assert (seats >= 0).all()
        for table in range(worker.env.num_games):
            ends = [0, *np.flatnonzero(worker.rollout.ends[1:, table]) + 1, len(seats)]
            ended += len(ends) - 2
            for first, last in pairwise(ends):
                assert len(set(seats[first:last, table])) <= 1  # one seat learns in each game
    assert ended > 0
    learner.close()


def test_a_run_goes_on_without_the_policy_it_started_from_but_not_with_another_in_its_pool(tiny, tmp_path):
    paths = {}
    for seed in (1, 2):
        given = Learner(tiny(seed=seed, workers=1))
        given.close()
        paths[seed] = tmp_path / f"{seed}.safetensors"
        save_policy(paths[seed], PolicyFile("given", given.architecture, given.network.to_tensors()))
    net = {"hidden": [32], "good_units": 8, "start_from": str(paths[1])}
    config = tiny(net=net, pool={"share": 0.5, "start": 0, "agents": [str(paths[2])]})
    whole = Learner(config)
    advance(whole, 1)
    arrays, table = whole.state()
    arrays = {name: array.copy() for name, array in arrays.items()}
    whole.close()
    paths[1].rename(tmp_path / "elsewhere.safetensors")
    resumed = Learner(config, resumes=True)
    resumed.restore(arrays, table)
    assert advance(resumed, 1)
    resumed.close()
    paths[2].write_bytes((tmp_path / "elsewhere.safetensors").read_bytes())
    other = Learner(config, resumes=True)
    with pytest.raises(TrainingError, match="not the one this run was made with"):
        other.restore(arrays, table)
    other.close()


@pytest.mark.parametrize("good_units", [0, 8])
def test_a_wider_network_starts_as_the_narrow_one_it_is_given(tiny, tmp_path, good_units):
    """Same answers at first, new units that nobody reads yet, and all of it learns."""
    narrow = Learner(tiny(net={"hidden": [24, 16], "good_units": good_units}))
    advance(narrow, 2)
    narrow.close()
    path = tmp_path / "narrow.safetensors"
    save_policy(path, PolicyFile("narrow", narrow.architecture, narrow.network.to_tensors()))
    net = {"hidden": [40, 24], "good_units": good_units, "start_from": str(path)}
    wide = Learner(tiny(net=net))
    observations = torch.from_numpy(np.array(wide.workers[0].env.observations))
    with torch.inference_mode():
        for ours, theirs in zip(wide.network(observations), narrow.network(observations), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-5)
    before = wide.network.to_tensors()
    assert np.abs(before["hidden.0.weight"][24:]).max() > 0  # there is something to learn from
    advance(wide, 2)
    wide.close()
    for name, tensor in wide.network.to_tensors().items():
        if name.startswith("hidden.") and name.endswith("weight"):
            assert (tensor != before[name]).any(axis=1).mean() > 0.9, name


@pytest.mark.parametrize("net", [{"hidden": [16]}, {"hidden": [32, 32]}, {"good_units": 4}])
def test_a_start_that_does_not_fit_the_network_is_refused(tiny, tmp_path, net):
    given = Learner(tiny())
    given.close()
    path = tmp_path / "given.safetensors"
    save_policy(path, PolicyFile("given", given.architecture, given.network.to_tensors()))
    with pytest.raises(TrainingError, match="must be the same or wider"):
        Learner(tiny(net={"hidden": [32], "good_units": 8, **net, "start_from": str(path)}))
