from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fim_private import compiled


def test_without_a_place_for_the_cache_functions_are_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def njit(*, cache: bool = False, **_: Any) -> Callable[[Any], Any]:
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function 'f': no locator available")
        return lambda function: function

    monkeypatch.setattr(compiled.numba, "njit", njit)
    assert compiled.compiled(len) is len
    assert asked == [True, False]
