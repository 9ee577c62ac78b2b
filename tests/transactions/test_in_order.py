from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from fim_private.transactions.in_order import in_order


def parts_then_failure(number: int) -> Iterator[int]:
    yield from range(number)
    raise EOFError


@pytest.mark.parametrize("number", [0, 1, 2, 50])
def test_results_have_the_order_of_the_parts(number: int) -> None:
    def work(part: int) -> int:
        time.sleep(0.001 * (part % 3))
        return part * part

    assert list(in_order(work, range(number))) == [part * part for part in range(number)]


@pytest.mark.parametrize("number", [0, 1, 20])
def test_a_failure_of_the_source_comes_after_the_parts_before_it(number: int) -> None:
    results = in_order(str, parts_then_failure(number))
    taken = []
    with pytest.raises(EOFError):
        taken.extend(results)
    assert taken == [str(part) for part in range(number)]


def test_the_first_part_that_fails_is_the_one_that_is_heard_of() -> None:
    def work(part: int) -> int:
        time.sleep(0.02 if part == 1 else 0)
        raise ValueError(part)

    with pytest.raises(ValueError, match=r"^0$"):
        list(in_order(work, parts_then_failure(5)))


def test_who_stops_taking_results_stops_the_work() -> None:
    done = []
    results = in_order(done.append, iter(range(1000)))
    next(results)
    results.close()
    assert len(done) < 100
