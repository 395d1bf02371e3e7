"""A run that is small enough to train in a second."""

from __future__ import annotations

import pytest

from training.config import from_table

TINY = {
    "name": "tiny",
    "decisions": 6 * 16 * 32,
    "precision": "fp32",
    "save_minutes": 1000.0,
    "game": {"tables": 16},
    "net": {"hidden": [32], "good_units": 8},
    "ppo": {"steps": 32, "minibatch": 128},
    "pool": {"share": 0.5, "start": 512, "every": 1024, "size": 2, "agents": ["random"]},
    "evaluation": {
        "every": 1_000_000,
        "deals": 2,
        "opponents": ["random"],
        "final_deals": 2,
        "final_opponents": ["random"],
    },
}


@pytest.fixture
def tiny():
    """Make a tiny configuration; keyword arguments replace top-level keys."""

    def make(**changes):
        return from_table({**TINY, **changes})

    return make
