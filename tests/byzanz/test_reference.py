"""The engine against the second implementation and against the stored vectors of part 12."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.byzanz.positions import Played, stride_deck
from tests.reference import byzanz as reference
from tests.reference.compare import compare_game

VECTORS = json.loads((Path(reference.__file__).parent / "byzanz_vectors.json").read_text())


@pytest.mark.parametrize("players", [3, 4, 5, 6])
@pytest.mark.parametrize("adversarial", [False, True])
def test_hundred_games_are_the_same_move_by_move(players, adversarial) -> None:
    decisions = sum(compare_game(players, seed, adversarial) for seed in range(100))
    assert decisions > 100 * 50


@pytest.mark.plain
@pytest.mark.parametrize("players", [3, 6])
def test_one_game_is_the_same_move_by_move(players) -> None:
    assert compare_game(players, 1000, False) > 50


def perft(game: Played, depth: int) -> int:
    if depth == 0 or game.over:
        return 1
    leaves = 0
    for action in game.legal():
        child = game.copy()
        child.step(action)
        leaves += perft(child, depth - 1)
    return leaves


def scripted(game: Played, case: dict[str, int], decisions: int) -> int:
    """Play on by the script of part 12; return the signature."""
    signature = 0
    for t in range(decisions):
        action = reference.scripted_action(game.legal(), t, case["a"], case["b"])
        signature = reference.signature(signature, action, game.seat)
        game.step(action)
    return signature


@pytest.mark.plain
@pytest.mark.parametrize("case", VECTORS["opening"], ids=lambda case: f"{case['players']} players")
def test_vectors_of_the_opening(case) -> None:
    game = Played(case["players"], deck=stride_deck(case["stride"]))
    assert [perft(game, depth) for depth in (1, 2, 3, 4)] == case["perft"][:4]


@pytest.mark.parametrize("case", VECTORS["opening"], ids=lambda case: f"{case['players']} players")
def test_vectors_of_the_opening_in_full_depth(case) -> None:
    game = Played(case["players"], deck=stride_deck(case["stride"]))
    depths = range(1, len(case["perft"]) + 1)
    assert [perft(game, depth) for depth in depths] == case["perft"]


def test_vectors_of_the_middle() -> None:
    for case in VECTORS["middle"]:
        game = Played(case["players"], deck=stride_deck(case["stride"]))
        scripted(game, case, case["after"])
        assert (game.phase, game.seat, game.legal()) == (case["phase"], case["seat"], case["legal"]), case
        assert perft(game, 3) == case["perft3"], case


@pytest.mark.parametrize(
    "case", VECTORS["games"], ids=lambda case: f"{case['players']}-{case['a']}-{case['b']}"
)
def test_vectors_of_whole_games(case) -> None:
    game = Played(case["players"], deck=stride_deck(case["stride"]))
    assert scripted(game, case, case["decisions"]) == case["signature"]
    assert game.over
    assert game.points == case["scores"]
    assert game.state.hand_size[: game.players].tolist() == case["hand_sizes"]
    assert [seat for seat, share in enumerate(game.win_shares()) if share] == case["winners"]
