"""The card game Byzanz for reinforcement learning and for people.

    from byzanz_env import byzanz_v0

    env = byzanz_v0.env(num_players=4)

Names are loaded when they are first used, so that `import byzanz_env` costs nothing. Importing it makes
`byzanz_env/byzanz-v0` known to PettingZoo's registry and `byzanz_env/Byzanz-v0` to Gymnasium's.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from byzanz_env import _registration
from byzanz_env.errors import IllegalActionError

if TYPE_CHECKING:
    from byzanz_env import agents, byzanz_v0
    from byzanz_env.envs.batch import BatchEnv
    from byzanz_env.envs.single import ByzanzSingle

__version__ = "0.1.0"
__all__ = ["BatchEnv", "ByzanzSingle", "IllegalActionError", "__version__", "agents", "byzanz_v0"]

_LAZY = {
    "agents": ("byzanz_env.agents", None),
    "byzanz_v0": ("byzanz_env.byzanz_v0", None),
    "BatchEnv": ("byzanz_env.envs.batch", "BatchEnv"),
    "ByzanzSingle": ("byzanz_env.envs.single", "ByzanzSingle"),
}

_registration.install()


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'byzanz_env' has no attribute {name!r}; it has {', '.join(__all__)}")
    module_name, attribute = _LAZY[name]
    module = importlib.import_module(module_name)
    value = module if attribute is None else getattr(module, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
