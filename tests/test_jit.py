"""The compile cache: a second start loads it, an edited source is never served stale; JIT on = JIT off."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import byzanz_env

ROOT = Path(byzanz_env.__file__).parents[1]
COMPILING = "compiling the rules engine"

# `can_sell` is compiled with SET_SIZE of another file.
CAN_SELL = """
import numpy as np
from byzanz_env.games.byzanz.engine import STATE, can_sell
games = np.zeros(1, dtype=STATE)
games[0].hands[0][:2] = 1  # two cards of one type
print(can_sell(games[0], 0))
"""

# `scaled` and what it calls are compiled in two files outside the package.
OUTSIDE = {
    "first.py": """
from byzanz_env._jit import njit
from beside.second import factor
@njit
def scaled(x):
    return x * factor()
""",
    "second.py": """
from byzanz_env._jit import njit
@njit
def factor():
    return 2
""",
}

WHOLE_GAME = """
import hashlib
from byzanz_env import byzanz_v0
digest = hashlib.sha256()
for players in (3, 4, 5, 6):
    env = byzanz_v0.raw_env(num_players=players, reward="points", skip_forced=players % 2 == 0)
    env.reset(seed=2**62 + players)
    t = 0
    while not env.snapshot()["over"]:
        legal = env.last()[0]["action_mask"].nonzero()[0]
        env.step(int(legal[t % len(legal)]))
        digest.update(env.last()[0]["observation"].tobytes())
        t += 1
    digest.update(env.redeal(0, seed=5).save())
    digest.update(env.save())
print(digest.hexdigest())
"""


def run(code: str, root: Path, **environment: str) -> tuple[str, str]:
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "BYZANZ_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=root,
        env={**variables, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        check=True,
    )
    return done.stdout.strip(), done.stderr


@pytest.fixture
def package(tmp_path) -> Path:
    """A copy of the compiled part of the package."""
    root = tmp_path / "copy"
    for name in ("__init__.py", "_registration.py", "errors.py", "_jit.py", "_random.py", "games"):
        source, target = ROOT / "byzanz_env" / name, root / "byzanz_env" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return root


def test_second_start_loads_and_an_edit_elsewhere_is_seen(package, tmp_path) -> None:
    cache = tmp_path / "cache"
    first, said = run(CAN_SELL, package, BYZANZ_ENV_CACHE=str(cache))
    assert first == "False"
    assert said.count(COMPILING) == 1
    again, said = run(CAN_SELL, package, BYZANZ_ENV_CACHE=str(cache))
    assert again == "False"
    assert COMPILING not in said

    rules = package / "byzanz_env" / "games" / "byzanz" / "rules.py"
    text = rules.read_text()
    assert "SET_SIZE: Final = 3" in text
    edited = text.replace("SET_SIZE: Final = 3", "SET_SIZE: Final = 2")
    before = rules.stat()
    rules.write_text(edited)
    os.utime(rules, ns=(before.st_atime_ns, before.st_mtime_ns))  # file times do not matter
    changed, said = run(CAN_SELL, package, BYZANZ_ENV_CACHE=str(cache))
    assert changed == "True"
    assert COMPILING in said

    rules.write_text(text)
    back, said = run(CAN_SELL, package, BYZANZ_ENV_CACHE=str(cache))
    assert back == "False"
    assert COMPILING not in said  # both versions have their own place


def test_an_edit_in_a_compiled_file_outside_the_package_is_seen_by_its_callers(package, tmp_path) -> None:
    cache, folder = tmp_path / "cache", package / "beside"
    folder.mkdir()
    for name, text in OUTSIDE.items():
        (folder / name).write_text(text)
    code = "from beside.first import scaled; print(scaled(21))"
    assert run(code, package, BYZANZ_ENV_CACHE=str(cache))[0] == "42"
    again, said = run(code, package, BYZANZ_ENV_CACHE=str(cache))
    assert again == "42"
    assert COMPILING not in said
    (folder / "second.py").write_text(OUTSIDE["second.py"].replace("return 2", "return 3"))
    assert run(code, package, BYZANZ_ENV_CACHE=str(cache))[0] == "63"


def test_cache_is_private(package, tmp_path) -> None:
    cache = tmp_path / "cache"
    run(CAN_SELL, package, BYZANZ_ENV_CACHE=str(cache))
    folders = [cache, *(path for path in cache.iterdir() if path.is_dir())]
    assert len(folders) == 2
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in folders)


def test_games_are_the_same_without_the_compiler(capsys) -> None:
    exec(WHOLE_GAME, {})
    compiled = capsys.readouterr().out.strip()
    plain, said = run(WHOLE_GAME, ROOT, NUMBA_DISABLE_JIT="1")
    assert plain == compiled
    assert COMPILING not in said


def test_import_is_light() -> None:
    code = """
import sys
import byzanz_env
heavy = [name for name in ("numpy", "numba", "gymnasium", "pettingzoo", "torch") if name in sys.modules]
import gymnasium, pettingzoo
known = "byzanz_env/Byzanz-v0" in gymnasium.registry, "byzanz_env/byzanz-v0" in pettingzoo.aec_registry
print(heavy, *known)
"""
    assert run(code, ROOT)[0] == "[] True True"
    late = "import gymnasium, pettingzoo\n" + code
    assert run(late, ROOT)[0].endswith("True True")


def test_torch_is_never_imported() -> None:
    code = """
import sys
from byzanz_env import byzanz_v0, BatchEnv, ByzanzSingle, agents
byzanz_v0.env()
print("torch" in sys.modules)
"""
    assert run(code, ROOT)[0] == "False"
