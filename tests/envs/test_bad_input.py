"""What a stranger may get wrong: every slip raises a clear ValueError and leaves the game as it was."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import byzanz_env
from byzanz_env import IllegalActionError, byzanz_v0
from byzanz_env.envs.arguments import check_deck
from byzanz_env.envs.saves import SIZE
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.rules import full_deck

NO_ACTIONS = [
    -1,
    288,
    10**30,
    57,  # a pick while bidding
    1.0,
    0.5,
    float("nan"),
    True,
    False,
    np.True_,
    None,
    "0",
    "pass",
    b"\0",
    [0],
    (0,),
    {},
    np.array([0]),
    np.array([0, 1]),
    np.array([[0]]),
    np.array(0.0),
    np.array(True),
    np.float64(0),
    np.float32("nan"),
    np.int64(-1),
    np.uint64(2**64 - 1),
    np.array("pass"),
    object,
    0j,
]


def fresh(**settings):
    env = byzanz_v0.raw_env(**settings)
    env.reset(seed=5)
    return env


def whole(env) -> tuple:
    """Everything that a failed call may not change."""
    seen = {agent: env.observe(agent) for agent in env.possible_agents}
    return (
        env.save(),
        env._frame.tobytes(),
        env.agents[:],
        env.agent_selection,
        dict(env.rewards),
        dict(env._cumulative_rewards),
        dict(env.terminations),
        {agent: (s["observation"].tobytes(), s["action_mask"].tobytes()) for agent, s in seen.items()},
    )


@pytest.mark.plain
@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
@pytest.mark.parametrize("wrapped", [False, True])
def test_illegal_action_raises_and_changes_nothing(action, wrapped) -> None:
    env = byzanz_v0.env() if wrapped else byzanz_v0.raw_env()
    env.reset(seed=5)
    before = whole(env.unwrapped)
    with pytest.raises(
        IllegalActionError, match=r"seat 0 \(player_0\), phase bid: action .* legal are 0 \(pass\)"
    ):
        env.step(action)
    assert whole(env.unwrapped) == before
    env.step(0)


@pytest.mark.plain
@pytest.mark.parametrize(
    "action", [0, np.int64(0), np.int8(0), np.uint16(0), np.array(0), np.array(0, np.int32)], ids=repr
)
def test_integers_of_all_kinds_are_actions(action) -> None:
    env = fresh()
    env.step(action)
    assert env.agent_selection == "player_1"


def test_error_is_a_value_error_that_names_the_action() -> None:
    assert issubclass(IllegalActionError, ValueError)
    with pytest.raises(IllegalActionError, match=r"57 \(take merchants\) is not legal"):
        fresh().step(57)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_players": 2}, "3 to 6 players"),
        ({"num_players": 7}, "3 to 6 players"),
        ({"num_players": 4.0}, "3 to 6 players"),
        ({"num_players": "4"}, "3 to 6 players"),
        ({"num_players": True}, "3 to 6 players"),
        ({"num_players": None}, "3 to 6 players"),
        ({"reward": "score"}, "win, rank, margin, points"),
        ({"reward": None}, "win, rank, margin, points"),
        ({"reward": 0}, "win, rank, margin, points"),
        ({"skip_forced": 1}, "True and False"),
        ({"render_mode": "ascii"}, "human, ansi, rgb_array"),
        ({"perspective": "player_9"}, "perspective"),
        ({"perspective": 1.0}, "perspective"),
    ],
)
def test_wrong_settings(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        byzanz_v0.env(**settings)


def swapped(place: int, kind: object) -> list:
    deck: list = list(full_deck())
    deck[place] = kind
    return deck


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "integer from 0"),
        ({"seed": 1.0}, "integer from 0"),
        ({"seed": "1"}, "integer from 0"),
        ({"seed": True}, "integer from 0"),
        ({"options": {"dek": []}}, "unknown option 'dek'"),
        ({"options": ["deck"]}, "dict"),
        ({"options": {"deck": []}}, "0 cards"),
        ({"options": {"deck": "cloth"}}, "list of 112"),
        ({"options": {"deck": 5}}, "list of 112"),
        ({"options": {"deck": list(full_deck())[:-1]}}, "111 cards"),
        ({"options": {"deck": swapped(0, 1)}}, "5 cards of kind 0; the game has 6"),
        ({"options": {"deck": swapped(3, 25)}}, "card 3 of the deck is 25"),
        ({"options": {"deck": swapped(3, -1)}}, "card 3 of the deck is -1"),
        ({"options": {"deck": swapped(3, 0.0)}}, "card 3 of the deck is 0.0"),
        ({"options": {"deck": swapped(3, True)}}, "card 3 of the deck is True"),
        ({"options": {"deck": swapped(3, "cloth1")}}, "card 3"),
        ({"options": {"deck": np.zeros((112, 2), dtype=int)}}, "card 0"),
    ],
)
def test_wrong_reset_changes_nothing(arguments, message) -> None:
    env = fresh()
    before = whole(env)
    with pytest.raises(ValueError, match=message):
        env.reset(**arguments)
    assert whole(env) == before


def test_decks_of_all_kinds() -> None:
    deck = list(full_deck())
    for same in (
        tuple(deck),
        np.array(deck),
        np.array(deck, dtype=np.uint8),
        [np.int8(kind) for kind in deck],
    ):
        assert check_deck(same).tolist() == deck


def test_before_reset() -> None:
    env = byzanz_v0.raw_env()
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.snapshot, env.save, env.table):
        with pytest.raises(ValueError, match="reset"):
            call()
    with pytest.raises(AttributeError, match="before reset"):
        _ = byzanz_v0.env().rewards


def test_unknown_agents_and_seats() -> None:
    env = fresh()
    with pytest.raises(ValueError, match="agents are player_0"):
        env.observe("player_4")
    for seat in (4, -1, 1.0, True, "nobody"):
        with pytest.raises(ValueError, match=r"seats are|agents are"):
            env.redeal(seat, seed=0)
    with pytest.raises(ValueError, match="integer from 0"):
        env.redeal(0, seed=-1)


# --- blobs


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def played() -> tuple:
    env = fresh()
    chance = np.random.default_rng(3)
    for _ in range(60):
        env.step(int(chance.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
    return env, env.save()


def refuses(env, blob, message=".") -> None:
    before = whole(env)
    with pytest.raises(ValueError, match=message):
        env.restore(blob)
    assert whole(env) == before


@pytest.mark.parametrize("blob", [b"", b"BYZANZ\r\n", b"hello" * 500, None, "text", 5, b"\x80\x04K\x01."])
def test_foreign_blobs_are_refused(blob) -> None:
    refuses(fresh(), blob, r"saved game|a save is bytes")


def test_damaged_blobs_are_refused() -> None:
    env, blob = played()
    for place in range(SIZE):
        damaged = bytearray(blob)
        damaged[place] ^= 1 << place % 8
        refuses(env, bytes(damaged), "saved game")
    for size in (0, 1, SIZE - 1, SIZE + 1):
        refuses(env, (blob + b"\0")[:size], "saved game")


def test_blobs_of_other_settings_are_refused() -> None:
    _, blob = played()
    for settings in ({"num_players": 5}, {"reward": "rank"}, {"skip_forced": True}):
        refuses(fresh(**settings), blob, "make an environment with these settings")


def test_other_versions_are_refused() -> None:
    env, blob = played()
    for place in (8, 10):  # the version, and the hash of the record
        body = bytearray(blob[:-32])
        body[place] ^= 1
        refuses(env, sealed(bytes(body)), "another version")


@pytest.mark.plain
def test_forged_records_never_play_out_of_bounds() -> None:
    """Change bytes of the record and seal it well: it is refused, or it is a game that plays to its end."""
    env, blob = played()
    start = SIZE - 32 - STATE.itemsize
    chance = np.random.default_rng(1)
    refused = 0
    for trial in range(300):
        body = bytearray(blob[:-32])
        for _ in range(1 + trial % 3):
            body[start + int(chance.integers(STATE.itemsize))] = int(chance.integers(256))
        try:
            env.restore(sealed(bytes(body)))
        except ValueError:
            refused += 1
            continue
        for _ in range(2000):
            if env.snapshot()["over"]:
                break
            env.step(int(chance.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
        assert env.snapshot()["over"]
    assert refused > 200


def test_every_field_out_of_range_is_refused() -> None:
    env, blob = played()
    start = SIZE - 32 - STATE.itemsize
    for name in STATE.names:
        if name in ("rng", "opener", "starter"):
            continue
        game = np.frombuffer(blob[start:-32], dtype=STATE).copy()
        for value in (-100, 100):
            wrong = game.copy()
            wrong[name] = value
            refuses(env, sealed(blob[:start] + wrong.tobytes()), "saved game")
    for name in ("opener", "starter", "seat", "phase", "players", "auction", "first_passer", "last_laid"):
        wrong = np.frombuffer(blob[start:-32], dtype=STATE).copy()
        wrong[name] = 120
        refuses(env, sealed(blob[:start] + wrong.tobytes()), "saved game")


OPTIMISED = """
import numpy as np
from byzanz_env import IllegalActionError, byzanz_v0
assert False, "asserts are off"
env = byzanz_v0.env()
env.reset(seed=5)
before, wrong = env.unwrapped.save(), 0
actions = [-1, 288, 57, 0.0, float("nan"), True, None, "0", np.array([0]), np.float64(0)]
for action in actions:
    try:
        env.step(action)
    except IllegalActionError:
        wrong += 1
for call in (
    lambda: byzanz_v0.env(num_players=2),
    lambda: byzanz_v0.env(reward="x"),
    lambda: env.reset(options={"deck": [1]}),
    lambda: env.unwrapped.restore(before[:-1]),
):
    try:
        call()
    except ValueError:
        wrong += 1
print(wrong == len(actions) + 4, env.unwrapped.save() == before)
"""


def test_the_same_under_python_without_asserts() -> None:
    root = Path(byzanz_env.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-O", "-c", OPTIMISED],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("True True", 0), done.stderr
