"""The golden playthroughs have not changed (`make golden` writes them anew)."""

from __future__ import annotations

import pytest

from tests.byzanz.golden import FOLDER, PLAYERS, playthrough


@pytest.mark.plain
@pytest.mark.parametrize("players", PLAYERS)
def test_playthrough(players) -> None:
    text = playthrough(players)
    assert text == (FOLDER / f"{players}_players.txt").read_text()
    assert max(map(len, text.split("\n"))) > 0
    assert all(len(line) <= 80 for line in text.split("\n") if " of " not in line and "gone" not in line)
