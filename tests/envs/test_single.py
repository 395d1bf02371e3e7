"""The Gymnasium door: checkers pass, games are those of the PettingZoo door, opponents keep the rules."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import byzanz_env
from byzanz_env import BatchEnv, ByzanzSingle, IllegalActionError, byzanz_v0
from byzanz_env.agents import load
from byzanz_env.decisions import Decisions, agent_key, game_keys
from byzanz_env.envs.learner import LearnerTables
from byzanz_env.envs.seating import Seating, make_agents
from byzanz_env.games.byzanz.rules import COMMIT


class FirstLegal:
    """Takes the legal action with the lowest index: always passes, always gives the first card."""

    name = "first-legal"

    def act(self, decisions: Decisions) -> np.ndarray:
        return decisions.masks.argmax(axis=1)


class Commits(FirstLegal):
    """Commits a raise that it never laid out."""

    name = "cheat"

    def act(self, decisions: Decisions) -> np.ndarray:
        return np.full(len(decisions), COMMIT)


class Mumbles(FirstLegal):
    name = "mumbler"

    def act(self, decisions: Decisions) -> np.ndarray:
        return np.zeros((len(decisions), 2))


def random_game(env: ByzanzSingle, seed: int) -> list[tuple[np.ndarray, float, bool, dict[str, object]]]:
    """A game of uniformly random legal actions: all that `step` returned."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    seen = []
    while not seen or not seen[-1][2]:
        action = rng.choice(np.flatnonzero(env.action_masks()))
        observation, reward, terminated, truncated, info = env.step(action)
        assert not truncated
        seen.append((observation, reward, terminated, info))
    return seen


@pytest.mark.parametrize("players", [3, 6])
def test_checkers_of_gymnasium_and_sb3_pass(players: int) -> None:
    env = gymnasium.make("byzanz_env/Byzanz-v0", num_players=players, opponents="random", seat="random")
    check_env(env.unwrapped)
    sb3_check_env(env.unwrapped)
    assert byzanz_env.ByzanzSingle is type(env.unwrapped)


@pytest.mark.parametrize("skip_forced", [False, True])
def test_it_is_the_game_of_the_aec_environment(skip_forced: bool) -> None:
    opponents = [load("random"), FirstLegal(), load("random")]
    env = ByzanzSingle(4, opponents, seat=2, reward="rank", skip_forced=skip_forced, illegal_action="raise")
    game = byzanz_v0.raw_env(num_players=4, reward="rank", skip_forced=skip_forced)
    observation, info = env.reset(seed=21)
    game.reset(seed=21)
    rng = np.random.default_rng(0)
    reward, terminated = 0.0, False
    while not terminated:
        seat = int(game.agent_selection[-1])
        seen = game.observe(game.agent_selection)
        if seat == 2:
            assert observation.tobytes() == seen["observation"].tobytes()
            assert info["action_mask"].tobytes() == seen["action_mask"].tobytes()
            action = int(rng.choice(np.flatnonzero(env.action_masks())))
            observation, reward, terminated, _, info = env.step(action)
        else:
            agent = opponents[(seat - 3) % 4]  # clockwise from the learner
            keys = game_keys(np.array([21]), np.array([seat]), agent_key(agent.name))
            decisions = Decisions(seen["observation"][None], seen["action_mask"][None], keys)
            action = int(agent.act(decisions)[0])
        game.step(action)
    while game.agents and not any(game.terminations.values()):  # opponents may still have had the last word
        seat = int(game.agent_selection[-1])
        seen = game.observe(game.agent_selection)
        agent = opponents[(seat - 3) % 4]
        keys = game_keys(np.array([21]), np.array([seat]), agent_key(agent.name))
        game.step(int(agent.act(Decisions(seen["observation"][None], seen["action_mask"][None], keys))[0]))
    assert reward == pytest.approx(game.rewards["player_2"])
    assert observation.tobytes() == game.observe("player_2")["observation"].tobytes()


def test_reset_with_a_seed_repeats_the_game_and_its_seat() -> None:
    env = ByzanzSingle(5, "greedy")
    first, again, other = random_game(env, 3), random_game(env, 3), random_game(env, 4)
    assert [step[0].tobytes() for step in first] == [step[0].tobytes() for step in again]
    assert [step[1] for step in first] == [step[1] for step in again]
    assert [step[0].tobytes() for step in first] != [step[0].tobytes() for step in other]
    env.reset(seed=3)
    first, _ = env.reset()
    env.reset(seed=3)
    again, _ = env.reset()
    assert first.tobytes() == again.tobytes()  # also the games after a seeded one


def test_random_seats_are_all_taken() -> None:
    env = ByzanzSingle(3, FirstLegal())
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(40)} == {0, 1, 2}


def test_points_are_paid_as_they_are_banked() -> None:
    env = ByzanzSingle(3, "random", reward="points", seat=0)
    steps = random_game(env, 5)
    assert sum(step[1] for step in steps) == env._tables.env.scores[0, 0]
    assert any(step[1] > 0 for step in steps[:-1])


def test_infos_are_numbers_with_the_same_keys_always() -> None:
    """TorchRL refuses strings in infos, and vector environments want stable keys."""
    env = ByzanzSingle(4, "random")
    _, info = env.reset(seed=1)
    for step in random_game(env, 1):
        assert step[3].keys() == info.keys()
        assert all(np.asarray(value).dtype.kind in "iu" for value in step[3].values())


def test_no_mask_is_ever_all_false() -> None:
    """Libraries that sample from a mask break on an empty one."""
    env = ByzanzSingle(3, "random")
    assert env.action_masks().all()
    assert all(np.any(step[3]["action_mask"]) for step in random_game(env, 2))
    assert env.action_masks().all()


def test_an_illegal_action_loses_or_raises() -> None:
    env = ByzanzSingle(3, "random")
    before, _ = env.reset(seed=1)
    observation, reward, terminated, _, info = env.step(COMMIT)
    assert (reward, terminated, info["illegal_action"]) == (-1.0, True, 1)
    assert observation.tobytes() == before.tobytes()
    with pytest.raises(ValueError, match="call reset"):
        env.step(0)
    strict = ByzanzSingle(3, "random", illegal_action="raise")
    before, _ = strict.reset(seed=1)
    mask = strict.action_masks()
    with pytest.raises(IllegalActionError, match=r"row 0: action 1 \(commit\) is not legal"):
        strict.step(COMMIT)
    assert (strict.action_masks() == mask).all()
    strict.step(int(mask.argmax()))


def test_a_game_without_a_decision_of_the_learner_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """With skipped forced moves a seat may never act; its first games here are given to the opponents."""
    given_away = []
    seat_learners = LearnerTables.seat_learners

    def seat_nobody_at_first(tables: LearnerTables, rows: np.ndarray | None = None) -> None:
        seat_learners(tables, rows)
        if len(given_away) < 2:
            given_away.append(int(tables.env.game_seeds[0]))
            tables.seating.agent_at[:] = 0

    monkeypatch.setattr(LearnerTables, "seat_learners", seat_nobody_at_first)
    env = ByzanzSingle(3, "random")
    _, info = env.reset(seed=1)
    assert env._tables.env.seats[0] == info["seat"]
    assert env._tables.env.game_seeds[0] not in given_away
    assert random_game(env, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": "nobody"}, "nobody"),
        ({"opponents": []}, "opponents is empty"),
        ({"opponents": ["random", "random"]}, "2 opponents are given"),
        ({"opponents": 7}, "opponents is 7"),
        ({"opponents": [7]}, "7 is no opponent"),
        ({"seat": 4}, "seat is 4"),
        ({"seat": "first"}, "seat is 'first'"),
        ({"illegal_action": "ignore"}, "illegal_action is 'ignore'"),
        ({"num_players": 2}, "num_players is 2"),
        ({"reward": "fame"}, "reward is 'fame'"),
        ({"render_mode": "human"}, "renders nothing"),
    ],
)
def test_bad_settings_raise(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ByzanzSingle(**arguments)  # type: ignore[arg-type]


def test_bad_calls_raise() -> None:
    env = ByzanzSingle(3, "random")
    with pytest.raises(ValueError, match=r"call reset\(\) before step"):
        env.step(0)
    with pytest.raises(ValueError, match="unknown option 'deck'"):
        env.reset(options={"deck": []})
    env.reset(seed=1)
    for bad in (0.0, True, [0, 0], "pass"):
        with pytest.raises(ValueError, match="actions"):
            env.step(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("agent", "message"), [(Commits(), "opponent cheat"), (Mumbles(), "opponent mumbler")]
)
def test_an_opponent_that_breaks_the_rules_is_named_and_nothing_moves(
    agent: FirstLegal, message: str
) -> None:
    env = BatchEnv(4, 3)
    env.reset()
    seating = Seating(env, [FirstLegal(), agent])
    seating.agent_at[:, :] = 0
    seating.agent_at[2, :] = 1
    before = env.states.copy()
    with pytest.raises(IllegalActionError, match=message):
        seating.answer()
    assert before.tobytes() == env.states.tobytes()
    seating.agent_at[2, :] = 0
    assert seating.answer().tolist() == [0, 1, 2, 3]


class CheatsAtTimes(FirstLegal):
    """Keeps the rules for so many calls, then commits what it never laid out until it is forgiven."""

    name = "cheat"

    def __init__(self, honest: int) -> None:
        self.honest = honest

    def act(self, decisions: Decisions) -> np.ndarray:
        self.honest -= 1
        return super().act(decisions) if self.honest >= 0 else np.full(len(decisions), COMMIT)


@pytest.mark.parametrize("honest", [0, 1])
def test_a_reset_or_step_with_an_illegal_answer_of_an_opponent_did_not_happen(honest: int) -> None:
    agent, fair = CheatsAtTimes(10**6), ByzanzSingle(4, FirstLegal(), seat=1)
    env = ByzanzSingle(4, agent, seat=1)
    for one in (env, fair):
        one.reset(seed=3)
    agent.honest = 0
    before = env._tables.env.save()
    with pytest.raises(IllegalActionError, match="opponent cheat"):
        env.reset(seed=8)
    agent.honest = honest
    with pytest.raises(IllegalActionError, match="opponent cheat"):
        env.step(0)
    assert env._tables.env.save() == before
    agent.honest = 10**6
    for _ in range(20):
        action = int(fair.action_masks().argmax())
        mine, others = env.step(action), fair.step(action)
        assert mine[0].tobytes() == others[0].tobytes()
        assert mine[1:3] == others[1:3]


def test_seating_asks_each_agent_once_for_its_rows_only() -> None:
    asked: list[tuple[str, int]] = []

    class Counts(FirstLegal):
        def __init__(self, name: str) -> None:
            self.name = name

        def act(self, decisions: Decisions) -> np.ndarray:
            asked.append((self.name, len(decisions)))
            return super().act(decisions)

    env = BatchEnv(6, 3)
    env.reset()
    seating = Seating(env, make_agents([Counts("a"), Counts("b")]))
    seating.agent_at[:3] = 0
    seating.agent_at[3:5] = 1
    assert seating.answer().tolist() == [0, 1, 2, 3, 4]
    assert asked == [("a", 3), ("b", 2)]
    assert seating.deciding().tolist() == [0, 0, 0, 1, 1, -1]
    assert seating.answer(np.array([5, 4])).tolist() == [4]
