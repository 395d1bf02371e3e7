"""The `table` fixture: a game with the cards a test names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.byzanz.positions import Played, build_deck


@pytest.fixture
def table() -> Callable[..., Played]:
    def make(
        players: int = 4, hands: Sequence[str] = (), bundles: Sequence[str] = (), removed: str = ""
    ) -> Played:
        return Played(players, deck=build_deck(players, hands, bundles, removed))

    return make
