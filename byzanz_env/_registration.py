"""Names for the registries of Gymnasium and PettingZoo, given when those libraries are there.

Importing either takes a fifth of a second, too long for a program that only prints its help. So a library
that is already imported gets our names at once, and one that is not gets them right after its own import.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

GYMNASIUM_ID = "byzanz_env/Byzanz-v0"
PETTINGZOO_ID = "byzanz_env/byzanz-v0"


def _register_gymnasium(gymnasium: Any) -> None:
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(GYMNASIUM_ID, entry_point="byzanz_env.envs.single:ByzanzSingle")


def _register_pettingzoo(pettingzoo: Any) -> None:
    if not hasattr(pettingzoo, "register"):
        return  # PettingZoo before 1.26 has no registry
    if PETTINGZOO_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", PETTINGZOO_ID, entry_point="byzanz_env.byzanz_v0:env")


_WAITING: dict[str, Callable[[Any], None]] = {
    "gymnasium": _register_gymnasium,
    "pettingzoo": _register_pettingzoo,
}


class _RegisterAfterImport(MetaPathFinder):
    """Finds a waited-for library as Python would, and adds our registration to the end of its import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        register = _WAITING.pop(name, None)
        if not _WAITING and self in sys.meta_path:
            sys.meta_path.remove(self)
        if register is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            _extend(spec.loader, register)
        return spec


def _extend(loader: Loader, register: Callable[[Any], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: types.ModuleType) -> None:
        execute(module)
        register(module)

    loader.exec_module = exec_module  # type: ignore[method-assign]


def install() -> None:
    """Register with the libraries that are imported, and wait for the others."""
    for name in list(_WAITING):
        if name in sys.modules:
            _WAITING.pop(name)(sys.modules[name])
    if _WAITING:
        sys.meta_path.insert(0, _RegisterAfterImport())
