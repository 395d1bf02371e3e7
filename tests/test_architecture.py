"""Imports go one way: this test reads them and locks the doors."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import byzanz_env

ROOT = Path(byzanz_env.__file__).parents[1]
PACKAGE = ROOT / "byzanz_env"

# From the ground up: a module may import its own layer and those before it.
LAYERS = (
    (
        "byzanz_env._atomic",
        "byzanz_env._jit",
        "byzanz_env._random",
        "byzanz_env.errors",
        "byzanz_env.files",
        "byzanz_env.machine",
        "byzanz_env._registration",
    ),
    ("byzanz_env.games.byzanz.rules",),
    ("byzanz_env.games.byzanz.engine",),
    ("byzanz_env.games",),
    ("byzanz_env.decisions", "byzanz_env.render"),
    ("byzanz_env.agents",),
    ("byzanz_env.envs", "byzanz_env.byzanz_v0"),  # after the agents: some doors seat them
    ("byzanz_env.opponents", "byzanz_env.arena", "byzanz_env.replay"),
    ("byzanz_env",),  # programs for people: cli, commands, web, bench and what they share
)

# Heavy or optional packages, and the only modules that may import them.
RESERVED = {
    "torch": (),
    "training": (),
    "tests": (),
    "stable_baselines3": ("byzanz_env.envs.sb3",),
    "sb3_contrib": ("byzanz_env.envs.sb3",),
    "pettingzoo": (
        "byzanz_env.envs.aec",
        "byzanz_env.byzanz_v0",
        "byzanz_env.bench",
        "byzanz_env.commands",
    ),
    "starlette": ("byzanz_env.web",),
    "uvicorn": ("byzanz_env.web", "byzanz_env.commands.web"),
}
NEVER = ("pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle")


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def is_within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def layer_of(module: str) -> int:
    """The layer with the longest prefix of the name."""
    return max(
        (len(prefix), layer)
        for layer, names in enumerate(LAYERS)
        for prefix in names
        if is_within(module, prefix)
    )[1]


def guarded(tree: ast.AST) -> set[ast.AST]:
    """Imports for the type checker only."""
    return {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }


def imports(module: str) -> set[str]:
    tree = ast.parse(MODULES[module].read_text())
    skipped, found = guarded(tree), set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in MODULES else str(node.module))
    return found


@pytest.mark.parametrize("module", [name for name in MODULES if name != "byzanz_env"])
def test_imports_go_one_way(module) -> None:
    layer = layer_of(module)
    for name in imports(module):
        if is_within(name, "byzanz_env") and name != "byzanz_env":
            assert layer_of(name) <= layer, f"{module} may not import {name}"


@pytest.mark.parametrize("module", MODULES)
def test_heavy_packages_stay_behind_their_doors(module) -> None:
    for name in imports(module):
        for package, allowed in RESERVED.items():
            if is_within(name, package):
                assert any(is_within(module, door) for door in allowed), f"{module} may not import {name}"
        assert name.split(".")[0] not in NEVER, f"{module} may not import {name}"


def test_the_package_itself_is_light() -> None:
    assert {name for name in imports("byzanz_env") if is_within(name, "byzanz_env")} == {
        "byzanz_env._registration",
        "byzanz_env.errors",
    }


def test_the_engine_imports_its_rules_numpy_and_the_compiler_only() -> None:
    allowed = {"__future__", "typing", "numpy", "byzanz_env._jit", "byzanz_env._random"}
    assert imports("byzanz_env.games.byzanz.engine") == allowed | {"byzanz_env.games.byzanz.rules"}
    assert {
        name for name in imports("byzanz_env.games.byzanz.rules") if name.startswith("byzanz_env")
    } == set()


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("byzanz_env.games.")])
def test_a_room_knows_nothing_outside_it(module) -> None:
    ground = LAYERS[0]
    for name in imports(module):
        if is_within(name, "byzanz_env"):
            assert name in ground or is_within(name, "byzanz_env.games.byzanz"), (
                f"{module} may not import {name}"
            )


def test_nothing_that_is_loaded_can_run_code() -> None:
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("eval", "exec", "torch.load", "pickle.load", "pickle.loads"), module
                unsafe = any(word.arg == "allow_pickle" for word in node.keywords)
                assert not unsafe or called == "np.load", module
