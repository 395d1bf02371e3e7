"""# Byzanz, version 0 (draft)"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from byzanz_env.envs.aec import ByzanzAEC

__all__ = ["env", "raw_env"]
raw_env = ByzanzAEC


def env(**settings: Any) -> AECEnv:
    """The environment, with PettingZoo's check that calls come in the right order."""
    return wrappers.OrderEnforcingWrapper(raw_env(**settings))
