"""The goods are interchangeable: renaming them changes nothing that a network sees or does."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from byzanz_env.games.byzanz import engine, observe, rules, symmetry

ALL_ORDERS = [np.array(order) for order in permutations(range(rules.NUM_TYPES))]


def look(game):
    observation = np.zeros(observe.OBSERVATION_SIZE, dtype=np.int8)
    mask = np.zeros(rules.NUM_ACTIONS, dtype=np.int8)
    engine.legal_mask(game[0], mask)
    observe.encode(game[0], int(game[0].seat), observation)
    return observation, mask


def games(seed, players):
    """Every decision of a random game: the game, its observation, its mask and the action to come."""
    rng = np.random.default_rng(seed)
    game = np.zeros(1, dtype=engine.STATE)
    engine.deal(game[0], players, seed)
    while game[0].phase != rules.OVER:
        observation, mask = look(game)
        action = int(rng.choice(np.flatnonzero(mask)))
        yield game, observation, mask, action, rng
        engine.step(game[0], action)


@pytest.mark.plain
@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_renamed_games_look_the_same_in_canonical_order(players):
    checked = 0
    for game, observation, mask, _, rng in games(17, players):
        if game[0].last_laid != engine.NOTHING_LAID:
            continue
        renamed = game.copy()
        symmetry.relabel_state(renamed[0], ALL_ORDERS[rng.integers(720)])
        first, second = (observation.copy(), mask.copy()), look(renamed)
        symmetry.canonicalise(game.copy()[0], *first)
        symmetry.canonicalise(renamed[0], *second)
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])
        np.testing.assert_array_equal(look(renamed)[0], second[0])
        np.testing.assert_array_equal(look(renamed)[1], second[1])
        checked += 1
    assert checked > 50


@pytest.mark.plain
@pytest.mark.parametrize("players", [3, 6])
def test_the_observation_route_equals_the_state_route(players):
    """Relabelling what a seat sees gives the same as relabelling the game and looking again."""
    for game, observation, mask, action, rng in games(5, players):
        if game[0].last_laid != engine.NOTHING_LAID:
            continue
        order = ALL_ORDERS[rng.integers(720)]
        renamed = game.copy()
        symmetry.relabel_state(renamed[0], order)
        seen, seen_mask = look(renamed)
        relabelled, relabelled_mask = observation.copy(), np.zeros_like(mask)
        symmetry.relabel_observation(relabelled, order)
        np.testing.assert_array_equal(relabelled, seen)
        if game[0].phase == rules.BID:
            symmetry.mask_before_raise(relabelled, relabelled_mask)
        else:
            symmetry.relabel_mask(mask, order, relabelled_mask)
        np.testing.assert_array_equal(relabelled_mask, seen_mask)
        new_action = next(a for a in range(288) if symmetry.original_action(a, order) == action)
        if game[0].phase != rules.BID or action < rules.LAY or action >= rules.SELL:
            after = game.copy()
            engine.step(after[0], action)
            engine.step(renamed[0], new_action)
            symmetry.relabel_state(after[0], order)
            assert after.tobytes() == renamed.tobytes()


@pytest.mark.plain
def test_actions_map_one_to_one_for_every_order():
    for order in ALL_ORDERS:
        mapped = {symmetry.original_action(action, order) for action in range(rules.NUM_ACTIONS)}
        assert len(mapped) == rules.NUM_ACTIONS


@pytest.mark.plain
@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_a_raise_on_the_observation_is_a_raise_in_the_game(players):
    laid = 0
    for game, observation, mask, action, _ in games(23, players):
        if game[0].last_laid != engine.NOTHING_LAID:
            own_mask = np.zeros_like(mask)
            symmetry.mask_within_raise(observation, int(game[0].last_laid), own_mask)
            np.testing.assert_array_equal(own_mask, mask)
        if rules.LAY <= action < rules.GIVE_CARD:
            after = game.copy()
            engine.step(after[0], action)
            shown, _ = look(after)
            imagined = observation.copy()
            symmetry.lay(imagined, action - rules.LAY)
            np.testing.assert_array_equal(imagined, shown)
            before, back = observation.copy(), shown.copy()
            symmetry.take_back_raise(before)
            symmetry.take_back_raise(back)
            np.testing.assert_array_equal(back, before)
            laid += 1
    assert laid > 10
