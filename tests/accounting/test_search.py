from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.accounting.rounding import round_down
from fim_private.accounting.search import halved, largest, largest_between, least, smallest

F = Fraction


@given(st.integers(1, 10**30), st.integers(0, 10**30))
def test_the_search_finds_the_least_that_fits(limit: int, near: int) -> None:
    assert least(lambda number: number >= limit) == limit
    assert least(lambda number: number >= limit, near) == limit


@pytest.mark.parametrize("shape", ["line", "logarithm", "condition", "infinite"])
@given(st.integers(1, 2**31), st.integers(0, 10**15))
def test_the_search_finds_the_smallest_that_fits(shape: str, limit: int, further: int) -> None:
    excess = too_much(F(-limit), shape) if shape != "logarithm" else lambda value: math.log(limit / -value)
    assert smallest(lambda number: excess(F(-number)), limit + further) == limit
    assert smallest(lambda number: math.inf, limit) == limit


def test_a_smallest_number_is_found_soon() -> None:
    for limit in (1, 2, 77, 10**6, 10**9):
        tried: list[int] = []

        def excess(number: int, limit: int = limit, tried: list[int] = tried) -> float:
            tried.append(number)
            return math.log(limit / number)

        assert smallest(excess, 10**24) == limit
        assert len(tried) <= 15


def test_what_is_near_is_found_soon() -> None:
    asked: list[int] = []

    def fits(number: int) -> bool:
        asked.append(number)
        return number >= 1_000_000

    assert least(lambda number: fits(number + 999_999)) == 1
    assert asked.pop() == 1_000_000
    assert asked == []
    assert least(fits, near=1_000_000) == 1_000_000
    assert len(asked) < 25
    assert max(asked) == 1_000_001


def too_much(limit: Fraction, shape: str = "line") -> Callable[[Fraction], float]:
    """By how much a value exceeds the limit, in different measures."""

    def measured(value: Fraction) -> float:
        match shape:
            case "line":
                return float(value - limit)
            case "logarithm":
                return math.log(value / limit)
            case "condition":
                return 1.0 if value > limit else -1.0
            case "infinite":
                return math.inf if value > limit else -math.inf
            case "jump":
                return float(value) ** 3 if value > limit else 0.0
        raise ValueError(shape)

    return measured


def test_the_search_ends_at_nine_digits_or_at_nothing() -> None:
    for epsilon in (F(1, 10), F(1), F(50)):
        assert largest(too_much(F(1, 3)), epsilon) == F(333_333_333, 10**9)
        assert largest(lambda value: -1.0, epsilon) == pytest.approx(epsilon + 20, rel=1e-8)
        least = epsilon * F(math.exp(-60))
        for factor in (F(101, 100), F(2)):
            assert largest(too_much(least * factor), epsilon) == pytest.approx(least * factor, rel=1e-8)
        assert largest(too_much(least * F(99, 100)), epsilon) is None
        assert largest(lambda value: math.inf, epsilon) is None


@pytest.mark.parametrize("shape", ["line", "logarithm", "condition", "infinite", "jump"])
@given(st.fractions(F(1, 10**6), 50), st.fractions(F(1, 10**6), 50))
def test_the_search_finds_the_largest_that_fits(shape: str, limit: Fraction, epsilon: Fraction) -> None:
    assert largest(too_much(limit, shape), epsilon) == round_down(min(limit, epsilon + 20)) or limit >= epsilon + 20


@given(st.fractions(F(1, 10**6), 50))
def test_the_search_finds_nothing_where_nothing_fits(epsilon: Fraction) -> None:
    assert largest(too_much(F(0)), epsilon) is None


@pytest.mark.parametrize(("shape", "most"), [("logarithm", 20), ("line", 60), ("condition", 60), ("jump", 60)])
def test_a_line_is_searched_fast_and_nothing_slowly(shape: str, most: int) -> None:
    for limit in (F(1, 10**6), F(1, 7), F(20, 3)):
        tried: list[Fraction] = []

        def counted(value: Fraction, tried: list[Fraction] = tried, limit: Fraction = limit) -> float:
            tried.append(value)
            return too_much(limit, shape)(value)

        assert largest(counted, F(1)) == round_down(limit)
        assert len(tried) <= most


@given(st.fractions(F(1, 10**6), 50), st.fractions(F(1, 10**6), 50), st.integers(2, 9))
def test_the_largest_between_is_close_below_what_no_longer_fits(low: Fraction, limit: Fraction, digits: int) -> None:
    tried: list[Fraction] = []

    def fits(value: Fraction) -> bool:
        tried.append(value)
        return value <= limit

    high, ratio = low + 50, F(105, 100)
    found = largest_between(fits, low, high, ratio=ratio, digits=digits)
    assert found == low or found <= limit
    refused = min((value for value in tried if value > limit), default=high)
    assert found < refused <= found * max(ratio, (1 + F(10) ** (1 - digits)) ** 2)
    assert all(low < value < high for value in tried)


def test_what_is_close_enough_is_not_tried() -> None:
    for high in (F(3, 2), F(2)):
        assert largest_between(lambda value: pytest.fail("tried"), F(1), high, ratio=F(2)) == 1
    third = largest_between(lambda value: value <= F(1, 3), F(1, 10), F(1), ratio=1 + F(1, 10**12))
    assert third == F(333_333_333, 10**9)


def test_halving_keeps_what_holds_below_and_what_does_not_above() -> None:
    for limit in (0.0, 0.3, 0.999):
        low, high = halved(lambda value, limit=limit: value <= limit, 0.0, 1.0, 30)
        assert low <= limit < high
        assert high - low == 2.0**-30
