"""BatchEnv: the games of the PettingZoo door, at any number of threads; bad input changes nothing."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from byzanz_env import BatchEnv, IllegalActionError, byzanz_v0
from byzanz_env._random import derive_seed
from byzanz_env.decisions import agent_key, game_keys
from byzanz_env.envs import crew
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.rules import OVER
from byzanz_env.games.byzanz.tables import REWARDS, random_actions

MIXED = [3, 4, 5, 6] * 65  # enough rows that two threads are really used
SHOWN = (
    "observations",
    "action_masks",
    "seats",
    "rewards",
    "dones",
    "scores",
    "winners",
    "game_seeds",
    "games",
)


def legal_choices(env: BatchEnv, seed: int = 1) -> np.ndarray:
    """A legal action per row, from a generator that starts anew in each call."""
    actions = np.zeros(env.num_games, dtype=np.int64)
    random_actions(env.action_masks.copy(), np.array([seed, 2, 3, 4], dtype=np.uint32), actions)
    return actions


def play(env: BatchEnv, steps: int, first: int = 1) -> None:
    for seed in range(first, first + steps):
        env.step(legal_choices(env, seed))


def snapshot(env: BatchEnv) -> dict[str, np.ndarray]:
    return {name: getattr(env, name).copy() for name in (*SHOWN, "states")}


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    for name, array in one.items():
        assert array.tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize("players", [3, 4, 5, 6, MIXED], ids=str)
def test_batch_plays_the_games_of_the_aec_environment(
    players: int | Sequence[int], skip_forced: bool, threads: int
) -> None:
    rows = 260
    env = BatchEnv(rows, players, seed=11, reward="margin", skip_forced=skip_forced, threads=threads)
    env.reset()
    watched = {}
    for row in (0, 1, 2, 3, 258, 259):  # rows of the first and of the last thread
        watched[row] = byzanz_v0.raw_env(
            num_players=int(env.num_players[row]), reward="margin", skip_forced=skip_forced
        )
        watched[row].reset(seed=int(env.game_seeds[row]))
    ended = 0
    for seed in range(1, 450):
        actions = legal_choices(env, seed)
        for row, game in watched.items():
            seat = int(env.seats[row])
            assert game.agent_selection == f"player_{seat}"
            seen = game.observe(game.agent_selection)
            assert seen["observation"].tobytes() == env.observations[row].tobytes()
            assert seen["action_mask"].tobytes() == env.action_masks[row].tobytes()
            game.step(int(actions[row]))
        env.step(actions)
        for row, game in watched.items():
            over = any(game.terminations.values())
            assert over == env.dones[row]
            if over:
                ended += 1
                names = game.possible_agents
                due = [game.rewards[name] for name in names]
                assert np.allclose(due, env.rewards[row, : len(names)])
                assert game.snapshot()["points"] == env.scores[row, : len(names)].tolist()
                game.reset(seed=int(env.game_seeds[row]))
            else:
                assert not env.rewards[row].any()
    assert ended >= len(watched)


def test_threads_and_splits_give_the_same_games() -> None:
    whole = BatchEnv(520, MIXED * 2, seed=3)
    threaded = BatchEnv(520, MIXED * 2, seed=3, threads=2)
    parts = [BatchEnv(260, MIXED, seed=3, first_row=first) for first in (0, 260)]
    for env in (whole, threaded, *parts):
        env.reset()
    for seed in range(1, 700):
        actions = legal_choices(whole, seed)
        whole.step(actions)
        threaded.step(actions)
        for part, env in enumerate(parts):
            env.step(actions[260 * part : 260 * part + 260])
    assert whole.games.min() > 0
    assert_same(snapshot(whole), snapshot(threaded))
    joined = {name: np.concatenate([getattr(env, name) for env in parts]) for name in (*SHOWN, "states")}
    assert_same(snapshot(whole), joined)


def test_game_seeds_come_from_seed_row_and_game_alone() -> None:
    env = BatchEnv(4, 3, seed=9, first_row=100)
    env.reset()
    play(env, 800)
    for row in range(4):
        assert env.games[row] > 0
        assert env.game_seeds[row] == derive_seed(9, 100 + row, int(env.games[row]))
    env.reset(seed=10)
    assert [int(seed) for seed in env.game_seeds] == [derive_seed(10, 100 + row, 0) for row in range(4)]
    assert not env.games.any()


@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_scores_and_winners_of_ended_games(reward: str) -> None:
    env = BatchEnv(32, 5, seed=2, reward=reward)
    env.reset()
    banked = np.zeros((32, 6))
    seen = 0
    for seed in range(1, 700):
        env.step(legal_choices(env, seed))
        banked += env.rewards
        for row in np.flatnonzero(env.dones):
            seen += 1
            assert env.winners[row].sum() == pytest.approx(1)
            best = env.scores[row, :5].max()
            assert (env.scores[row, env.winners[row] > 0] == best).all()
            if reward == "points":
                assert banked[row].tolist() == env.scores[row].tolist()
            elif reward == "win":
                assert env.rewards[row].tolist() == env.winners[row].tolist()
            else:
                assert env.rewards[row].sum() == pytest.approx(0, abs=1e-5)
                assert env.rewards[row, env.winners[row] > 0].max() == env.rewards[row].max()
            banked[row] = 0
    assert seen > 32


def test_final_observations_show_the_end_to_any_seat() -> None:
    env = BatchEnv(1, 3, seed=4)
    env.reset()
    with pytest.raises(ValueError, match="no game has ended"):
        env.final_observations([0], [0])
    game = byzanz_v0.raw_env(num_players=3)
    game.reset(seed=int(env.game_seeds[0]))
    seed = 0
    while not env.dones[0]:
        seed += 1
        action = legal_choices(env, seed)
        game.step(int(action[0]))
        env.step(action)
    for seat in range(3):
        shown = game.observe(f"player_{seat}")["observation"]
        assert env.final_observations([0], [seat]).tobytes() == shown.tobytes()
    with pytest.raises(ValueError, match="seats at these tables"):
        env.final_observations([0], [3])


def test_step_of_some_rows_leaves_the_others_alone() -> None:
    env = BatchEnv(6, MIXED[:6], seed=8)
    env.reset()
    play(env, 30)
    before = snapshot(env)
    chosen = np.array([4, 1])
    env.step(legal_choices(env)[chosen], rows=chosen)
    after = snapshot(env)
    for name, array in before.items():
        others = [0, 2, 3, 5]
        assert array[others].tobytes() == after[name][others].tobytes(), name
    assert (before["states"][chosen] != after["states"][chosen]).all()
    env.step(np.array([], dtype=np.int64), rows=[])
    assert_same(after, snapshot(env))


def test_deal_puts_a_chosen_game_on_a_table() -> None:
    env = BatchEnv(3, 4, seed=8)
    env.reset()
    play(env, 20)
    env.deal([2, 0], [77, 77])
    assert env.states[0].tobytes() == env.states[2].tobytes()
    game = byzanz_v0.raw_env(num_players=4)
    game.reset(seed=77)
    assert game.observe("player_0")["observation"].tobytes() == env.observations[0].tobytes()
    with pytest.raises(ValueError, match="one for each of the rows"):
        env.deal([1], [-5])


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0], r"shape \(2,\); one per row is \(3,\)"),
        (np.zeros((3, 1), dtype=np.int64), "shape"),
        (0, "shape"),
        ([0.0, 0.0, 0.0], "float64; they must be integers"),
        ([False, False, False], "bool; they must be integers"),
        (["pass"] * 3, "must be integers"),
        ([0, 0, 288], "row 2: action 288 is not legal for seat 0 in phase bid"),
        ([0, -1, 0], "row 1: action -1 is not legal"),
        (np.array([0, 0, 2**64 - 1], dtype=np.uint64), "row 2: action -1 is not legal"),
        (
            [0, 1, 0],
            r"row 1: action 1 \(commit\) is not legal for seat 0 in phase bid; legal are 0 \(pass\)",
        ),
    ],
)
def test_bad_actions_raise_and_change_nothing(actions: object, message: str) -> None:
    env = BatchEnv(3, [3, 4, 6], seed=5)
    env.reset()
    before = snapshot(env)
    with pytest.raises(ValueError, match=message):
        env.step(actions)
    assert_same(before, snapshot(env))
    env.step([0, 0, 0])  # and the game goes on


def test_an_illegal_action_in_the_last_thread_changes_no_row() -> None:
    env = BatchEnv(260, MIXED, threads=2)
    env.reset()
    actions = np.zeros(260, dtype=np.int64)
    actions[259] = 1
    before = snapshot(env)
    with pytest.raises(IllegalActionError, match="row 259"):
        env.step(actions)
    assert_same(before, snapshot(env))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 0], "row 0 is named twice"),
        ([0, 3], "from 0 to 2"),
        ([-1, 0], "from 0"),
        ([[0]], "shape"),
        ([0.0, 1.0], "float64"),
    ],
)
def test_bad_rows_raise(rows: object, message: str) -> None:
    env = BatchEnv(3)
    env.reset()
    with pytest.raises(ValueError, match=message):
        env.step([0, 0], rows=rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_games": 0}, "num_games is 0"),
        ({"num_games": 2.0}, "num_games is 2.0"),
        ({"num_games": 2, "num_players": 7}, "num_players is 7"),
        ({"num_games": 2, "num_players": [3]}, "1 numbers for 2 rows"),
        ({"num_games": 2, "num_players": None}, "one number per row"),
        ({"num_games": 2, "seed": -1}, "seed is -1"),
        ({"num_games": 2, "reward": "money"}, "reward is 'money'"),
        ({"num_games": 2, "threads": 0}, "threads is 0"),
        ({"num_games": 2, "skip_forced": 1}, "skip_forced is 1"),
        ({"num_games": 2, "first_row": -1}, "first_row is -1"),
    ],
)
def test_bad_settings_raise(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BatchEnv(**arguments)  # type: ignore[arg-type]


def test_nothing_works_before_reset() -> None:
    env = BatchEnv(2)
    for call in (
        lambda: env.step([0, 0]),
        env.save,
        lambda: env.copy_rows([0], [1]),
        lambda: env.deal([0], [1]),
    ):
        with pytest.raises(ValueError, match=r"call reset\(\) before"):
            call()


def test_arrays_are_the_same_memory_and_read_only() -> None:
    env = BatchEnv(2)
    arrays = {name: getattr(env, name) for name in (*SHOWN, "states", "num_players")}
    env.reset()
    play(env, 3)
    for name, array in arrays.items():
        assert getattr(env, name) is array
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_memory_of_a_game() -> None:
    env = BatchEnv(100)
    shown = sum(getattr(env, name).nbytes for name in SHOWN)
    owned = {
        id(array): array
        for array in vars(env).values()
        if isinstance(array, np.ndarray) and array.base is None
    }
    assert sum(array.nbytes for array in owned.values()) - shown <= 2048 * 100


def test_save_and_restore_go_on_with_the_same_games() -> None:
    env = BatchEnv(8, MIXED[:8], seed=6, reward="points", skip_forced=True, first_row=5)
    env.reset()
    play(env, 300)
    saved, at_save = env.save(), snapshot(env)
    play(env, 200, first=1000)
    later = snapshot(env)
    env.restore(saved)
    assert_same(at_save, snapshot(env))
    for copy in (env, BatchEnv.from_bytes(saved, threads=2), pickle.loads(pickle.dumps(env))):
        assert_same(at_save, snapshot(copy))
        assert copy.final_observations([0], [0]).any()
    play(env, 200, first=1000)
    assert_same(later, snapshot(env))


def test_restore_refuses_damage_and_foreign_batches() -> None:
    env = BatchEnv(4, seed=1)
    env.reset()
    play(env, 10)
    saved, before = env.save(), snapshot(env)
    flipped = bytearray(saved)
    flipped[-1] ^= 1
    for bad, message in [
        (b"", "no saved batch"),
        (b"x" * len(saved), "no saved batch"),
        (bytes(flipped), "checksum"),
        (saved[:-1], "checksum"),
        ("text", "is bytes"),
    ]:
        with pytest.raises(ValueError, match=message):
            env.restore(bad)  # type: ignore[arg-type]
    other = BatchEnv(4, 5)
    with pytest.raises(ValueError, match="another num_players"):
        other.restore(saved)
    with pytest.raises(ValueError, match="another reward"):
        BatchEnv(4, reward="rank").restore(saved)
    assert_same(before, snapshot(env))


def test_restore_refuses_games_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    env = BatchEnv(4, seed=1)
    env.reset()
    play(env, 10)
    before = snapshot(env)
    broken = BatchEnv.from_bytes(env.save())
    broken._states["hands"][2, 0, 0] += 1  # a 113th card
    with pytest.raises(ValueError, match="row 2"):
        env.restore(broken.save())
    assert_same(before, snapshot(env))


def test_copied_rows_play_the_same_and_then_their_own_games() -> None:
    env = BatchEnv(6, 4, seed=12)
    env.reset()
    play(env, 40)
    before = snapshot(env)
    env.copy_rows([0, 0, 1], [2, 3, 0])
    after = snapshot(env)
    for name in (*SHOWN[:-1], "states"):
        for source, target in ((0, 2), (0, 3), (1, 0)):
            assert after[name][target].tobytes() == before[name][source].tobytes(), name
    while env.games[2] == 0:
        actions = legal_choices(env)
        actions[3] = actions[2]
        env.step(actions)
    assert env.scores[2].tolist() == env.scores[3].tolist()
    assert env.game_seeds[2] == derive_seed(12, 2, 1)
    assert env.game_seeds[3] == derive_seed(12, 3, 1)


def test_copy_rows_refuses_what_does_not_fit() -> None:
    env = BatchEnv(3, [3, 4, 4])
    env.reset()
    with pytest.raises(ValueError, match="same number of players"):
        env.copy_rows([0], [1])
    with pytest.raises(ValueError, match="cannot go into"):
        env.copy_rows([1], [1, 2])
    with pytest.raises(ValueError, match="named twice"):
        env.copy_rows([1, 1], [2, 2])


def test_decisions_are_what_the_seats_may_know() -> None:
    env = BatchEnv(5, 4)
    env.reset()
    rows = np.array([3, 1])
    keys = game_keys(env.game_seeds[rows], env.seats[rows], agent_key("somebody"))
    decisions = env.decisions(rows, keys)
    assert decisions.observations.tobytes() == env.observations[rows].tobytes()
    assert decisions.masks.tobytes() == env.action_masks[rows].tobytes()
    dealt_anew = decisions.redealt()
    assert dealt_anew.dtype == STATE
    assert (dealt_anew["deck"] != env.states["deck"][rows]).any()
    assert (dealt_anew["phase"] != OVER).all()


def big_batch(threads: int = 3) -> BatchEnv:
    env = BatchEnv(400, 3, seed=1, threads=threads)
    env.reset()
    env.step(env.sample_actions(0))
    return env


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_the_threads_of_a_crew_take_part_and_fall_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    env, alone = big_batch(), big_batch(threads=1)
    board = env._crew._board
    places = board[crew.LINE + crew.PLACE :: crew.LINE]
    wait_until(lambda: (places == crew.ASLEEP).all())
    actions = alone.sample_actions(1)
    serve = crew.serve

    def idle_caller_serve(board: np.ndarray, member: int, *at: object) -> bool:
        return serve(board, member, *at) if member else idle_caller(board)

    monkeypatch.setattr(crew, "serve", idle_caller_serve)
    env.step(actions)
    monkeypatch.undo()
    alone.step(actions)
    assert_same(snapshot(alone), snapshot(env))
    wait_until(lambda: (places == crew.ASLEEP).all())


def idle_caller(board: np.ndarray) -> bool:
    """Offers the work as the caller does, and leaves all of it to the others."""
    board[crew.KIND] = board[crew.WANTED]
    board[crew.NEXT :: crew.LINE] = 0
    places = board[crew.LINE + crew.PLACE :: crew.LINE]
    places[:] = crew.OFFERED
    wait_until(lambda: bool((places == crew.ASLEEP).all()))
    return True


def test_an_error_in_a_thread_is_raised_and_the_crew_works_again(monkeypatch: pytest.MonkeyPatch) -> None:
    env, alone = big_batch(threads=2), big_batch(threads=1)
    wait_until(lambda: bool((env._crew._board[crew.LINE :: crew.LINE] == crew.ASLEEP).all()))

    serve = crew.serve

    def stumble(board: np.ndarray, member: int, *at: object) -> bool:
        if member:
            raise RuntimeError(f"member {member} stumbled")
        return serve(board, member, *at)

    monkeypatch.setattr(crew, "serve", stumble)

    def play_until_it_shows() -> None:
        for seed in range(1, 1000):  # the caller may be done before a thread has stumbled
            actions = alone.sample_actions(seed)
            alone.step(actions)
            env.step(actions)

    with pytest.raises(RuntimeError, match="stumbled"):
        play_until_it_shows()
    monkeypatch.undo()
    for seed in range(50):
        actions = alone.sample_actions(seed)
        alone.step(actions)
        env.step(actions)
    assert_same(snapshot(alone), snapshot(env))


def test_a_closed_batch_goes_on_with_new_threads() -> None:
    env, alone = big_batch(), big_batch(threads=1)
    before = list(env._crew._members)
    env.close()
    for member in before:
        member.join(60)
        assert not member.is_alive()
    env.step(env.sample_actions(5))
    alone.step(alone.sample_actions(5))
    assert_same(snapshot(alone), snapshot(env))
    members = list(env._crew._members)
    assert members
    assert before[0] not in members
    del env
    for member in members:  # they do not keep the batch alive, and end with it
        member.join(60)
        assert not member.is_alive()


def test_a_caller_whose_threads_lost_their_core_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    env, alone = big_batch(2), big_batch(threads=1)
    answers = iter([False, False, True, True])
    monkeypatch.setattr(crew, "gather", lambda board, members: next(answers))
    waits: list[float] = []
    monkeypatch.setattr(crew.time, "sleep", waits.append)
    env._crew._wait(2)
    assert len(waits) == 2
    monkeypatch.undo()
    env.step(env.sample_actions(1))
    alone.step(alone.sample_actions(1))
    assert_same(snapshot(alone), snapshot(env))


@pytest.mark.plain
def test_sampled_actions_are_legal_and_depend_on_seed_and_row_alone() -> None:
    env, other = BatchEnv(300, 3, seed=1, threads=2), BatchEnv(300, 3, seed=1)
    with pytest.raises(ValueError, match="call reset"):
        env.sample_actions(0)
    env.reset()
    other.reset()
    for seed in range(3):
        actions = env.sample_actions(seed)
        assert env.action_masks[np.arange(300), actions].all()
        assert actions.tolist() == other.sample_actions(seed).tolist()
        env.step(actions)
        other.step(actions)
    assert len(set(env.sample_actions(7).tolist())) > 5
    assert env.sample_actions(7).tolist() != env.sample_actions(8).tolist()
    with pytest.raises(ValueError, match="seed is -1"):
        env.sample_actions(-1)


@pytest.mark.plain
def test_an_illegal_action_changes_nothing_compiled_or_not() -> None:
    env = BatchEnv(3, 4, threads=2)
    env.reset()
    before = snapshot(env)
    with pytest.raises(IllegalActionError, match="row 2"):
        env.step([0, 0, 1])
    assert_same(before, snapshot(env))
    env.step([0, 0, 0])
    assert (env.seats == 1).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only systems that fork need it")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_threads_start_again_after_a_fork() -> None:
    env = BatchEnv(260, MIXED, threads=2)
    env.reset()
    env.step(np.zeros(260, dtype=np.int64))
    child = os.fork()
    if child == 0:
        env.step(np.zeros(260, dtype=np.int64))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
