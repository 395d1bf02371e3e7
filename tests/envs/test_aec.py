"""The PettingZoo door: its own contract, rewards, saves, copies, re-deals."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from byzanz_env import byzanz_v0
from byzanz_env.agents import load
from byzanz_env.envs.aec import ByzanzAEC
from byzanz_env.envs.saves import SIZE
from byzanz_env.games.byzanz.actions import from_text
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, layout_table, views
from byzanz_env.games.byzanz.rules import full_deck
from byzanz_env.session import Session
from tests.byzanz.positions import build_deck
from tests.reference.byzanz import Game

REWARDS = ("win", "rank", "margin", "points")
PLAYERS = (3, 4, 5, 6)

# PettingZoo's own tests warn of things that its own card games do, too: observations are a dict with a
# mask, and the mask of an agent that has finished is all zero.
pettingzoo_warnings = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]


def with_pettingzoo_warnings(test):
    for mark in pettingzoo_warnings:
        test = mark(test)
    return test


def play(env, chance, decisions=10**6, check=None) -> dict[str, float]:
    """Random legal play; return the sum of the rewards that each agent has seen."""
    returns: dict[str, float] = {}
    for agent in env.agent_iter(decisions):
        observation, reward, termination, truncation, _ = env.last()
        returns[agent] = returns.get(agent, 0.0) + reward
        if check is not None:
            check(env)
        if termination or truncation:
            env.step(None)
        else:
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[int(chance.random() * len(legal))]))
    return returns


def started(players=4, decisions=0, seed=1, **settings) -> ByzanzAEC:
    env = byzanz_v0.raw_env(num_players=players, **settings)
    env.reset(seed=seed)
    play(env, np.random.default_rng(seed), decisions)
    return env


def finished(players=4, seed=1, **settings) -> ByzanzAEC:
    env = started(players, 0, seed, **settings)
    chance = np.random.default_rng(seed)
    while not env.snapshot()["over"]:
        play(env, chance, 1)
    return env


# --- PettingZoo's own tests


@with_pettingzoo_warnings
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("skip_forced", [False, True])
def test_api(players, skip_forced, capsys) -> None:
    for reward in REWARDS:
        env = byzanz_v0.env(num_players=players, reward=reward, skip_forced=skip_forced)
        api_test(env, num_cycles=200)  # 200 per agent: more than a game
    api_test(byzanz_v0.raw_env(num_players=players), num_cycles=20)


@pytest.mark.parametrize("players", PLAYERS)
def test_seed(players) -> None:
    for skip_forced in (False, True):
        seed_test(
            lambda skip=skip_forced: byzanz_v0.env(num_players=players, skip_forced=skip), num_cycles=400
        )


@pytest.mark.parametrize("players", PLAYERS)
def test_render(players, capsys) -> None:
    render_test(lambda render_mode: byzanz_v0.env(num_players=players, render_mode=render_mode))
    assert "Byzanz" in capsys.readouterr().out


def test_registry() -> None:
    if not hasattr(pettingzoo, "register"):
        assert pettingzoo.__version__ < "1.26"  # these have no registry, and nothing breaks
        return
    env = pettingzoo.make("aec", "byzanz_env/byzanz-v0", num_players=5)
    assert env.unwrapped.num_players == 5


# --- the game behind the door


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("reward", REWARDS)
def test_snapshot_is_the_reference(players, reward) -> None:
    deck = list(full_deck())
    np.random.default_rng(players).shuffle(deck)
    env, plain = byzanz_v0.raw_env(num_players=players, reward=reward), Game(players, deck)
    env.reset(options={"deck": deck})
    chance, t = np.random.default_rng(players), 0
    while plain.phase != "over":
        assert json.loads(json.dumps(env.snapshot())) == plain.snapshot()
        observation = env.last()[0]
        assert np.flatnonzero(observation["action_mask"]).tolist() == plain.legal()
        assert env.agent_selection == f"player_{plain.seat}"
        action = int(chance.choice(plain.legal()))
        env.step(action)
        plain.play(action)
        t += 1
    assert env.snapshot() == plain.snapshot()
    assert all(env.terminations.values())
    assert not any(env.truncations.values())


def test_same_seed_same_game() -> None:
    assert started(seed=7, decisions=40).save() == started(seed=7, decisions=40).save()
    assert started(seed=7).snapshot() != started(seed=8).snapshot()


def test_reset_without_a_seed_goes_on_from_the_last_one() -> None:
    first, second, fresh = started(seed=7), started(seed=7), byzanz_v0.raw_env()
    deals = []
    for _ in range(3):
        first.reset()
        second.reset()
        fresh.reset()
        assert first.save() == second.save()
        deals.append(json.dumps(first.snapshot()))
    assert len(set(deals)) == 3
    other = byzanz_v0.raw_env()
    other.reset()
    assert other.snapshot() != fresh.snapshot()


@pytest.mark.parametrize("seed", [0, 2**31, 2**63 - 1, 2**63, 2**200, np.int64(5), np.uint64(2**63 + 1)])
def test_any_seed_from_0(seed) -> None:
    assert started(seed=seed).snapshot() == started(seed=int(seed)).snapshot()


def test_large_seeds_differ() -> None:
    assert started(seed=2**63).snapshot() != started(seed=2**64).snapshot() != started(seed=0).snapshot()


@pytest.mark.parametrize("players", PLAYERS)
def test_skip_forced_is_the_same_game(players) -> None:
    full, short = started(players, reward="points"), started(players, reward="points", skip_forced=True)
    chance, steps = np.random.default_rng(1), 0
    while not short.snapshot()["over"]:
        mask = short.last()[0]["action_mask"]
        assert mask.sum() > 1
        while (forced := full.last()[0]["action_mask"]).sum() == 1:
            full.step(int(forced.argmax()))
        assert full.snapshot() == short.snapshot()
        action = int(chance.choice(np.flatnonzero(mask)))
        full.step(action)
        short.step(action)
        steps += 1
    while not full.snapshot()["over"]:
        full.step(int(full.last()[0]["action_mask"].argmax()))
    assert full.snapshot() == short.snapshot()
    assert steps > 20


def test_observe_works_for_every_agent_at_any_time() -> None:
    def check(env) -> None:
        truth = env.unwrapped.snapshot()
        for seat, agent in enumerate(env.unwrapped.possible_agents):
            seen = env.observe(agent)
            assert seen["observation"].shape == (OBSERVATION_SIZE,)
            assert seen["observation"].dtype == seen["action_mask"].dtype == np.int8
            assert env.observation_space(agent).contains(seen)
            assert bool(seen["action_mask"].any()) == (seat == truth["seat"])
            assert views(seen["observation"])["hand"].tolist() == truth["hands"][seat]

    env = byzanz_v0.env(num_players=5)
    env.reset(seed=3)
    play(env, np.random.default_rng(3), check=check)


def test_observations_are_copies() -> None:
    env = started(decisions=10)
    first = env.last()[0]
    kept = {name: array.copy() for name, array in first.items()}
    first["action_mask"][:] = 1
    first["observation"][:] = 99
    again = env.last()[0]
    assert all((again[name] == kept[name]).all() for name in kept)


def test_observation_has_the_same_length_for_all_player_counts() -> None:
    assert {started(players).last()[0]["observation"].shape for players in PLAYERS} == {(OBSERVATION_SIZE,)}


def test_infos_are_numeric_and_stable() -> None:
    keys = set()

    def check(env) -> None:
        for info in env.infos.values():
            keys.add(tuple(info))
            assert all(isinstance(value, (int, float)) for value in info.values())

    env = started(decisions=0)
    play(env, np.random.default_rng(1), check=check)
    assert keys == {("seat", "score", "win_share")}


# --- rewards


def expected_rewards(name: str, truth: dict) -> list[float]:
    scores, cards = truth["scores"], [sum(hand) for hand in truth["hands"]]
    n = len(scores)
    if name == "win":
        return [1 / len(truth["winners"]) if seat in truth["winners"] else 0.0 for seat in range(n)]
    if name == "margin":
        return [(own - (sum(scores) - own) / (n - 1)) / 10 for own in scores]
    if name == "points":
        return [float(score) for score in scores]
    standing = sorted(zip(scores, cards, strict=True), reverse=True)
    places = [
        [i for i, other in enumerate(standing) if other == own] for own in zip(scores, cards, strict=True)
    ]
    return [1 - 2 * (sum(place) / len(place)) / (n - 1) for place in places]


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("skip_forced", [False, True])
def test_every_seat_gets_its_reward(players, reward, skip_forced) -> None:
    for seed in range(4):
        env = byzanz_v0.env(num_players=players, reward=reward, skip_forced=skip_forced)
        env.reset(seed=seed)
        returns = play(env, np.random.default_rng(seed))
        assert env.agents == []
        expected = expected_rewards(reward, env.unwrapped.snapshot())
        assert [returns[f"player_{seat}"] for seat in range(players)] == pytest.approx(expected)


def test_points_are_paid_when_banked() -> None:
    env = byzanz_v0.raw_env(reward="points")
    env.reset(options={"deck": build_deck(4, hands=["wine1 wine2 wine4 olive1"])})
    env.step(from_text("sell wine 4,2,1"))
    assert env.rewards == {"player_0": 4.0, "player_1": 0.0, "player_2": 0.0, "player_3": 0.0}
    assert env.last()[1] == 4.0
    assert env.infos["player_0"]["score"] == 4
    env.step(from_text("pass"))
    assert not any(env.rewards.values())


def test_last_steps_after_the_end() -> None:
    env = finished()
    for seat in range(4):
        assert env.agent_selection == f"player_{seat}"
        assert env.last()[2] is True
        with pytest.raises(ValueError, match="only action is None"):
            env.step(0)
        env.step(None)
    assert env.agents == []
    with pytest.raises(ValueError, match="reset"):
        env.step(None)
    env.reset(seed=1)
    assert env.agents == env.possible_agents


# --- saves and copies


@pytest.mark.parametrize("reward", ["win", "points"])
@pytest.mark.parametrize("decisions", [0, 33, 150, 100_000])
def test_restored_games_go_on_the_same(reward, decisions) -> None:
    env = started(3, 0, reward=reward)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[-1]))
    chance = np.random.default_rng(2)
    for _ in range(decisions):
        if env.snapshot()["over"]:
            env.step(None)  # one agent has taken its leave
            break
        play(env, chance, 1)
    blob = env.save()
    assert len(blob) == SIZE
    other = byzanz_v0.raw_env(num_players=3, reward=reward)
    other.restore(blob)
    twins = [other, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for twin in twins:
        assert twin.save() == blob
        assert twin.snapshot() == env.snapshot()
        assert (twin.agents, twin.agent_selection) == (env.agents, env.agent_selection)
        assert (twin.rewards, twin.infos) == (env.rewards, env.infos)
        assert twin.terminations == env.terminations
    ends = [play(each, np.random.default_rng(9)) for each in [env, *twins]]
    assert all(end == ends[0] for end in ends)
    assert all(twin.snapshot() == env.snapshot() for twin in twins)


def test_copies_are_independent() -> None:
    env = started(decisions=20)
    blob = env.save()
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        play(twin, np.random.default_rng(0), 5)
        assert twin.save() != blob
        assert env.save() == blob
        assert twin.last()[0]["action_mask"].sum() == np.count_nonzero(twin._frame[:288])


def test_wrapped_environments_can_be_copied() -> None:
    env = byzanz_v0.env()
    env.reset(seed=4)
    play(env, np.random.default_rng(4), 30)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.unwrapped.save() == env.unwrapped.save()
        assert play(twin, np.random.default_rng(0)) == play(copy.deepcopy(env), np.random.default_rng(0))


@pytest.mark.parametrize("players", PLAYERS)
def test_redeal_keeps_the_seat_in_the_dark(players) -> None:
    env = started(players, decisions=25)
    before = env.save()
    for seat, agent in enumerate(env.possible_agents):
        twin = env.redeal(seat, seed=11)
        assert env.save() == before
        assert twin.observe(agent)["observation"].tobytes() == env.observe(agent)["observation"].tobytes()
        assert twin.observe(agent)["action_mask"].tobytes() == env.observe(agent)["action_mask"].tobytes()
        assert twin.snapshot() != env.snapshot()
        assert env.redeal(agent, seed=11).save() == twin.save()
        play(twin, np.random.default_rng(0))
        assert twin.snapshot()["over"]


# --- render


def test_ansi_is_plain_text_of_80_columns() -> None:
    for players in PLAYERS:
        env = started(players, render_mode="ansi")
        chance = np.random.default_rng(players)
        while not env.snapshot()["over"]:
            text = env.render()
            assert max(map(len, text.splitlines())) <= 80
            assert text.isprintable() or text.replace("\n", "").isprintable()
            play(env, chance, 1)
        assert "wins" in env.render() or "share" in env.render()


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_render_shows_only_what_the_eyes_know(mode) -> None:
    env = started(4, decisions=3, render_mode=mode)
    for seat in range(4):
        env.perspective = seat
        assert np.array_equal(env.render(), env.render())
        twin = env.redeal(seat, seed=3)
        assert twin.snapshot()["hands"] != env.snapshot()["hands"]
        assert np.array_equal(twin.render(), env.render())
        env.perspective = twin.perspective = "all"
        assert not np.array_equal(twin.render(), env.render())


def test_perspective() -> None:
    env = started(4, render_mode="ansi", perspective="player_2")
    assert "seen by player_2" in env.render()
    env.perspective = None
    assert "seen by player_0" in env.render()  # who decides
    assert "all hands" in finished(render_mode="ansi").render()
    with pytest.raises(ValueError, match="perspective"):
        byzanz_v0.env(perspective=4)
    with pytest.raises(ValueError, match="render_mode"):
        started().render()


# --- documents


def test_doc_page_has_the_layout() -> None:
    assert byzanz_v0.__doc__ is not None
    assert layout_table() in byzanz_v0.__doc__
    assert f"({OBSERVATION_SIZE},)" in byzanz_v0.__doc__


def test_doc_page_snippet_runs() -> None:
    assert byzanz_v0.__doc__ is not None
    code = byzanz_v0.__doc__.split("## Use\n")[1].split("\n## ")[0]
    scope: dict[str, object] = {}
    exec("\n".join(line[4:] for line in code.splitlines()), scope)
    assert scope["env"].agents == []


def test_an_agent_of_ours_is_asked_and_sees_no_hidden_card():
    """All kinds of agents answer, and a re-deal of what they cannot know changes nothing."""
    for name in ("random", "heuristic", "montecarlo:8", "quick"):
        agent = load(name)
        env = started(decisions=30)
        for turn in range(20):
            action = env.unwrapped.ask(agent)
            assert env.observe(env.agent_selection)["action_mask"][action]
            assert env.unwrapped.ask(agent) == action
            assert env.unwrapped.redeal(env.agent_selection, turn).ask(agent) == action
            env.step(action)


def test_asking_does_not_touch_the_game_and_needs_one():
    class Vandal:
        name = "vandal"

        def act(self, decisions):
            decisions.observations[:], decisions.masks[:] = 0, 1
            decisions.redealt()["points"][:] = 99
            return np.array([0])

    env = started(decisions=10)
    before = env.save()
    env.ask(Vandal())
    assert env.save() == before
    assert env.observe(env.agent_selection)["action_mask"].sum() < 288
    with pytest.raises(ValueError, match="nobody decides now"):
        byzanz_v0.raw_env().ask(load("random"))
    play(env, np.random.default_rng(1))
    with pytest.raises(ValueError, match="nobody decides now"):
        env.ask(load("random"))


def test_agents_that_are_asked_play_as_they_do_at_the_table_of_the_program():
    agents = [load(name) for name in ("random", "greedy", "heuristic", "quick")]
    env = byzanz_v0.raw_env()
    env.reset(seed=5)
    actions = []
    while not env.terminations[env.agent_selection]:
        seat = env.infos[env.agent_selection]["seat"]
        actions.append(env.ask(agents[seat]))
        env.step(actions[-1])
    session = Session(agents, seed=5)
    for _ in session.advance():
        pass
    assert session.replay().actions == tuple(actions)
