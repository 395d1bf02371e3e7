"""The compiler door: `njit` with a cache that is never stale and never shared between users.

numba's own `cache=True` looks only at the file of the function, so that an edit in another file is
served stale. Here the cache lives in a directory named by a hash of all sources that are compiled or
compiled in: a second start is quick, an edited source is always compiled anew. numba stores the
compiled code as pickles, therefore the directory belongs to the user alone (mode 0700).

Set BYZANZ_ENV_CACHE to move the cache. Imports numpy and numba only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent
STALE_AFTER_DAYS = 14


@lru_cache(maxsize=1)
def source_hash() -> str:
    """Hash of the games' rooms, of every file that compiles, and of the compiler's versions."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version_info[:2]}".encode())
    digest.update(str(numba.config.BOUNDSCHECK).encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if PACKAGE / "games" in path.parents or b"numba" in source or b"_jit import" in source:
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(source)
    return digest.hexdigest()[:20]


def cache_root() -> Path:
    """The folder that holds the caches of all versions."""
    chosen = os.environ.get("BYZANZ_ENV_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "byzanz_env"


def _private_directory(path: Path) -> bool:
    """Make `path` if needed and say whether this user alone owns it and can write to it."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.stat()
        if hasattr(os, "getuid") and info.st_uid != os.getuid():
            return False
        if stat.S_IMODE(info.st_mode) & 0o077:
            path.chmod(0o700)
        return os.access(path, os.W_OK)
    except OSError:
        return False


@lru_cache(maxsize=1)
def cache_directory() -> str:
    """The private cache directory of exactly these sources; a throw-away one if none can be had."""
    root = cache_root()
    path = root / source_hash()
    if not (_private_directory(root) and _private_directory(path)):
        return tempfile.mkdtemp(prefix="byzanz_env_")
    os.utime(path)
    _sweep(root, keep=path)
    return str(path)


def _sweep(root: Path, keep: Path) -> None:
    """Remove caches of other versions that nobody has used for two weeks."""
    limit = time.time() - STALE_AFTER_DAYS * 86_400
    for other in root.iterdir():
        if other != keep and other.is_dir() and other.stat().st_mtime < limit:
            shutil.rmtree(other, ignore_errors=True)


@lru_cache
def _hash_of_folder(folder: Path) -> str:
    """Hash of the sources in a folder: what is compiled there may call what is compiled beside it."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


class _SourceLocator(_CacheLocator):  # type: ignore[misc]
    """Places the cache by the hash of the sources instead of by file time."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"
        self._around = _hash_of_folder(Path(py_file).resolve().parent)

    def get_cache_path(self) -> str:
        return cache_directory()

    def get_source_stamp(self) -> str:
        return source_hash() + self._around  # also right for compiled files outside the package

    def get_disambiguator(self) -> str:
        return self._name

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _SourceLocator:
        return cls(py_func, py_file)


class _SourceCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar = [_SourceLocator]


class _SourceCache(FunctionCache):  # type: ignore[misc]
    _impl_class = _SourceCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            _announce_compilation()
        return found


@lru_cache(maxsize=1)
def _announce_compilation() -> None:
    print("byzanz_env: compiling the rules engine, once; the next start is quick", file=sys.stderr)


def njit(function: Function) -> Function:
    """`numba.njit` without the GIL, cached by the hash of the package's sources."""
    compiled = numba.njit(nogil=True)(function)
    if not numba.config.DISABLE_JIT:
        compiled._cache = _SourceCache(function)
    return compiled  # type: ignore[no-any-return]


def make_copier(size: int) -> Callable[[np.ndarray, np.ndarray, int], None]:
    """A compiled `copy(source, out, start)` of exactly `size` int8 numbers, as one block move.

    numba turns a loop over a few bytes into a check for overlap and a byte-wise copy; writing
    observations with such loops costs a quarter of the engine's speed.
    """
    if numba.config.DISABLE_JIT:

        def copy(source: np.ndarray, out: np.ndarray, start: int) -> None:
            out[start : start + size] = source

        return copy

    @intrinsic  # type: ignore[untyped-decorator]
    def copy_block(typing: Any, source: Any, out: Any, start: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source_type, out_type, _ = signature.args
            from_array = context.make_array(source_type)(context, builder, arguments[0])
            to_array = context.make_array(out_type)(context, builder, arguments[1])
            target = builder.gep(to_array.data, [arguments[2]])
            cgutils.raw_memcpy(builder, target, from_array.data, ir.Constant(ir.IntType(64), size), 1)
            return context.get_dummy_value()

        return types.void(source, out, types.intp), generate

    return copy_block  # type: ignore[no-any-return]
