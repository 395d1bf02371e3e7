"""What must hold in every position, whoever plays: cards, masks, knowledge, re-deals, random numbers."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from byzanz_env import _random
from byzanz_env.games.byzanz import rules
from byzanz_env.games.byzanz.observe import LAYOUT, OBSERVATION_SIZE, views
from byzanz_env.games.byzanz.soundness import SOUND, find_fault
from tests.byzanz.positions import Played, build_deck, eager, meek
from tests.reference.byzanz import signature

LONGEST_GAME = 2000  # decisions; random games have 200 to 320

# A seeded game is the same on every machine: this number changes only with -vN.
SEEDED_GAMES = 1546852394158731230


def random_choice(seed: int):
    chance = np.random.default_rng(seed)
    return lambda game: game.legal()[int(chance.random() * len(game.legal()))]


def play_auctions(game: Played, choose, cards: int) -> None:
    """Play on until more than so many cards have been turned up."""
    start = int(game.state.drawn)
    game.play_on(choose, until=lambda g: int(g.state.drawn) > start + cards)


def check_position(game: Played) -> None:
    s = game.state
    assert game.total_cards() == rules.KIND_COUNTS.tolist()
    assert (s.hands >= 0).all()
    assert (s.known >= 0).all()
    assert (s.known <= s.hands).all()
    assert (s.hands.sum(1) == s.hand_size).all()
    assert (s.hand_size - s.known.sum(1) == s.unknown).all()
    for seat in range(game.players):
        trims = game.phase == "trim" and game.seat == seat
        assert (int(s.hand_size[seat]) + int(s.bids[seat].sum()) > 7) == trims
    assert bool(game.legal()) != game.over
    assert find_fault(game.games) == (-1, SOUND)


@pytest.mark.plain
@settings(
    max_examples=4 if numba.config.DISABLE_JIT else 20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    players=st.integers(3, 6),
    deck=st.permutations(rules.full_deck()),
    choices=st.lists(st.integers(0, 10_000), min_size=150, max_size=150),
)
def test_every_position_is_sound(players, deck, choices) -> None:
    game = Played(players, deck=deck)
    for choice in choices:
        check_position(game)
        if game.over:
            break
        legal = game.legal()
        game.step(legal[choice % len(legal)])


@pytest.mark.parametrize("players", [3, 4, 5, 6])
@pytest.mark.parametrize("choose", [meek, eager, random_choice(1)], ids=["meek", "eager", "random"])
def test_every_game_ends(players, choose) -> None:
    for seed in range(5):
        game = Played(players, seed=seed)
        assert game.play_on(choose, until=lambda _: False) < LONGEST_GAME
        assert game.over
        check_position(game)


def hidden_truth(game: Played, seat: int) -> bytes:
    """All that a seat cannot know: the other hands, the removed cards and the pile."""
    others = [other for other in range(game.players) if other != seat]
    return game.state.hands[others].tobytes() + game.state.deck[4 * game.players :].tobytes()


def check_redeal(game: Played, seat: int, seed: int) -> Played:
    twin = game.redealt(seat, seed)
    assert twin.observe(seat).tobytes() == game.observe(seat).tobytes()
    assert twin.total_cards() == rules.KIND_COUNTS.tolist()
    assert find_fault(twin.games) == (-1, SOUND)
    return twin


@pytest.mark.plain
@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_8_3_redeal_keeps_what_a_seat_knows(players) -> None:
    game, choose, changed = Played(players, seed=players), random_choice(players), 0
    decision = 0
    while not game.over:
        if decision % 9 == 0:
            for seat in range(players):
                twin = check_redeal(game, seat, seed=decision)
                changed += hidden_truth(twin, seat) != hidden_truth(game, seat)
        game.step(choose(game))
        decision += 1
    assert changed > decision // 9


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_8_3_redealt_games_play_to_their_end(players) -> None:
    game, choose = Played(players, seed=50 + players), random_choice(players)
    while not game.over:
        seat = game.seat
        for observer in {seat, (seat + 1) % players}:
            twin = game.redealt(observer, seed=7)
            twin.play_on(choose, until=lambda _: False)
            assert twin.over
            assert twin.total_cards() == rules.KIND_COUNTS.tolist()
        play_auctions(game, choose, 6)


@pytest.mark.plain
@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_8_3_two_truths_that_a_seat_cannot_tell_apart_give_the_same_redeal(players) -> None:
    game, choose = Played(players, seed=90 + players), random_choice(players)
    compared = 0
    for _ in range(12):
        for seat in range(players):
            other_truth = game.redealt(seat, seed=1)
            compared += hidden_truth(other_truth, seat) != hidden_truth(game, seat)
            assert (
                other_truth.redealt(seat, seed=2).games.tobytes()
                == game.redealt(seat, seed=2).games.tobytes()
            )
        play_auctions(game, choose, 2)
        if game.over:
            break
    assert compared > 0


@pytest.mark.plain
def test_redeal_lets_a_half_laid_raise_be_finished() -> None:
    """Seat 0 has 1 in its bid, lays 4 against a bid of 4: the re-deal may not make that impossible."""
    deck = build_deck(3, hands=["spice1 olive4 olive1 grain1", "cloth4 wood1 wood1 wood1"])
    game = Played(3, deck=deck)
    game.play("lay grain1", "commit", "lay cloth4", "commit", "pass", "lay olive4")
    for seed in range(200):
        twin = check_redeal(game, seat=2, seed=seed)
        assert twin.legal()


@pytest.mark.plain
def test_observation_has_the_layout() -> None:
    game = Played(4, seed=1)
    parts = game.views(0)
    assert sum(part.size for part in LAYOUT) == OBSERVATION_SIZE
    assert [(name, part.shape) for name, part in parts.items()] == [
        (part.name, part.shape) for part in LAYOUT
    ]
    batch = np.stack([game.observe(seat) for seat in range(4)])
    assert views(batch)["bids"].shape == (4, 6, 25)
    assert np.shares_memory(views(batch)["hand"], batch)
    with pytest.raises(ValueError, match="numbers"):
        views(batch[:, 1:])


@pytest.mark.plain
def test_xoshiro128pp_gives_the_published_numbers() -> None:
    rng = np.array([1, 2, 3, 4], dtype=np.uint32)
    published = [641, 1573767, 3222811527, 3517856514, 836907274]
    published += [4247214768, 3867114732, 1355841295, 495546011, 621204420]
    assert [_random.next_word(rng) for _ in published] == published


@pytest.mark.plain
def test_murmur3_gives_the_published_hash() -> None:
    words = np.frombuffer(b"test", dtype="<u4").astype(np.uint32)
    assert _random.murmur3(words, 0) == 0xBA6BD213
    assert _random.murmur3(words, 0x9747B28C) == 0x704B81DC
    assert _random.murmur3(words[:0], 1) == 0x514E28B7


@pytest.mark.plain
def test_below_is_fair() -> None:
    rng = np.array([1, 2, 3, 4], dtype=np.uint32)
    counts = np.bincount([_random.below(rng, 5) for _ in range(5000)], minlength=5)
    assert len(counts) == 5
    assert (abs(counts - 1000) < 150).all()  # five standard deviations


@pytest.mark.plain
def test_seeded_games_are_the_same_everywhere() -> None:
    """A signature over seeded games in which decision t takes legal action t modulo their number."""
    sig = 0
    for players in (3, 4, 5, 6):
        game, t = Played(players, seed=2**40 + players), 0
        while not game.over:
            legal = game.legal()
            action = legal[t % len(legal)]
            sig = signature(sig, action, game.seat)
            game.step(action)
            t += 1
    assert sig == SEEDED_GAMES
