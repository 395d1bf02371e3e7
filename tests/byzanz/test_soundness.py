"""Every position of a game is sound, and a record with one changed byte is refused or can be played on."""

from __future__ import annotations

import numpy as np
import pytest

from byzanz_env._jit import njit
from byzanz_env._random import below, seed_generator
from byzanz_env.games.byzanz.engine import STATE, deal, legal_mask, step
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import NUM_ACTIONS
from byzanz_env.games.byzanz.soundness import FAULTS, SOUND, check_games, fault_of, find_fault
from byzanz_env.games.byzanz.tables import play_out, random_action


@njit
def play_and_look(states: np.ndarray, players: int, games: int) -> int:
    """The fault of the first position, or re-dealt position, that is not found sound."""
    mask = np.empty(NUM_ACTIONS, dtype=np.int8)
    scratch = np.empty(NUM_ACTIONS, dtype=np.int8)
    rng = np.empty(4, dtype=np.uint32)
    seed_generator(rng, 7, players)
    for game in range(games):
        s, other = states[0], states[1]
        deal(s, players, game)
        while True:
            fault = fault_of(s, scratch)
            if fault != SOUND or legal_mask(s, mask) == 0:
                break
            states[1] = states[0]
            redeal(other, below(rng, players), game)
            fault = fault_of(other, scratch)
            if fault != SOUND:
                break
            step(s, random_action(mask, rng))
        if fault != SOUND:
            return fault
    return SOUND


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_every_position_is_sound_also_after_a_redeal(players: int) -> None:
    assert FAULTS[play_and_look(np.zeros(2, dtype=STATE), players, 150)] == FAULTS[SOUND]


def positions(players: int, count: int) -> np.ndarray:
    """Games that are random numbers of decisions old."""
    games = np.zeros(count, dtype=STATE)
    rng = np.random.default_rng(players)
    mask = np.zeros(NUM_ACTIONS, dtype=np.int8)
    for row in range(count):
        deal(games[row], players, row)
        for _ in range(int(rng.integers(200))):
            if legal_mask(games[row], mask) == 0:
                break
            step(games[row], int(rng.choice(np.flatnonzero(mask))))
    return games


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_a_changed_byte_is_refused_or_harmless(players: int) -> None:
    rng = np.random.default_rng(players)
    refused = 0
    for game in positions(players, 12):
        for _ in range(300):
            bent = np.array([game], dtype=STATE)
            place = int(rng.integers(STATE.itemsize))
            bent.view(np.uint8)[place] ^= np.uint8(1 << rng.integers(8))
            if find_fault(bent)[1] == SOUND:
                play_out(bent, 1)  # must come to an end
                assert bent["hand_size"].max() <= 7
            else:
                refused += 1
    assert refused > 12 * 300 * 0.6  # a few bytes may hold anything: the generator, where dealt cards lay


def test_an_error_names_the_row_and_the_fault() -> None:
    games = positions(4, 3)
    check_games(games)
    games["seat"][1] = 5
    with pytest.raises(ValueError, match="row 1 has a number out of its range"):
        check_games(games)
    with pytest.raises(ValueError, match="not records"):
        check_games(np.zeros(3, dtype=np.int64))
