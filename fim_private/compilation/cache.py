"""Compile with numba, and keep the compiled code on disk where that is possible.

The cache on disk never gets in the way: the program works without it if it is full, damaged or not writable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock

from fim_private.errors import UsageError

_OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""No C program calls these functions. A way in for one takes as long to compile as a small loop."""

_DIGEST = hashlib.sha256().digest_size


def dispatcher_of(function: Callable[..., object]) -> Any:
    """What compiles the function at its first call, for each combination of types.

    Raises:
        UsageError: numba is set not to compile. In plain Python these loops take for ever, and their numbers do not
            wrap around as compiled numbers do.
    """
    if getattr(numba.config, "DISABLE_JIT", False):
        raise UsageError("NUMBA_DISABLE_JIT is set, and fim_private has to compile its loops.", "Unset it.")
    dispatcher: Any = numba.njit(**_OPTIONS)(function)
    with suppress(Exception):  # no place for the cache: compiled anew in each process
        dispatcher._cache = _Cache(function)
    return dispatcher


def _ask_for_scipy() -> None:
    if find_spec("scipy") is None:
        raise ImportError("scipy is not installed")


with suppress(ImportError, AttributeError), global_compiler_lock:
    # Before its first loop numba loads scipy, only to learn whether there is a `dot`. That takes a sixth of a second,
    # and no loop here uses `dot`. If a caller's own loop does, numba still loads scipy when it compiles that loop.
    _linalg: Any = import_module("numba.np.linalg")
    _ensure_blas, _linalg.ensure_blas = _linalg.ensure_blas, _ask_for_scipy
    try:
        import_module("numba.np.arraymath")
    finally:
        _linalg.ensure_blas = _ensure_blas


class _CheckedFiles(IndexDataCacheFile):
    """The cache of a function, with a checksum after each file: damaged code would crash the process."""

    def _load_index(self) -> Any:
        return super()._load_index() if _is_sound(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> Any:
        if not _is_sound(Path(self._data_path(name))):
            raise OSError("damaged")  # which numba takes for a file that is gone
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BinaryIO]:
        with super()._open_for_write(filepath) as file:
            yield file
            file.flush()
            # Numba reads what it wrote, and nothing behind it.
            file.write(hashlib.sha256(Path(file.name).read_bytes()).digest())


class _Cache(FunctionCache):
    """Numba's cache, which never raises an error."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFiles(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with suppress(Exception):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


def _is_sound(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-_DIGEST]).digest() == content[-_DIGEST:]
