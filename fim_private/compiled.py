"""How this program compiles its loops: with numba, kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """The function, compiled; kept on disk where the package's folder or the user's cache can be written to."""
    try:
        return cast(Function, numba.njit(nogil=True, error_model="numpy", cache=True)(function))
    except RuntimeError:  # no place for the cache: compiled anew in each process
        return cast(Function, numba.njit(nogil=True, error_model="numpy")(function))
