"""Compile the program's loops with numba at their first call, so that what needs no loop does not load numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

LOOPS: list[Loop] = []
"""All functions to compile."""


def compiled(function: Function) -> Function:
    """The function, compiled at its first call; kept on disk if the package's folder or the user's cache is writable.

    Raises:
        UsageError: at the first call, if numba is set not to compile.
    """
    loop = Loop(function)
    LOOPS.append(loop)
    return cast(Function, loop)


class Loop:
    """A function that is compiled at its first call. Its attributes are those of numba's dispatcher."""

    def __init__(self, function: Callable[..., object]) -> None:
        update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns."""
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba knows it."""
        from fim_private.compilation.cache import dispatcher_of  # noqa: PLC0415 - loads numba

        return dispatcher_of(self.py_func)

    @property
    def signatures(self) -> list[Any]:
        """The types of arguments for which the function is compiled in this process."""
        return self.dispatcher.signatures if "dispatcher" in vars(self) else []

    @property
    def _numba_type_(self) -> Any:
        """The type that numba sees where another compiled function calls this one."""
        return self.dispatcher._numba_type_
