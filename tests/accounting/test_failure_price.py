"""What failures cost: never less than the worst that can happen, in small runs that are known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest

from fim_private.accounting.calibration import composed_need, failure_price
from fim_private.accounting.joint_proof import Part, needed_together
from fim_private.privacy import AnyFailure, ChosenFailure, Failure, Gaussian, Guarantee, OneSidedFailure

F = Fraction
Law = dict[str, float]


def excess(here: Law, there: Law, epsilon: float) -> float:
    """delta*(epsilon) in one direction."""
    return sum(max(0.0, chance - math.exp(epsilon) * there.get(outcome, 0.0)) for outcome, chance in here.items())


def runs(look: float, steps: tuple[float, float]) -> tuple[Law, Law]:
    """A look that chooses a way, then an answer with a step for each way: randomised response, on either side."""
    found = []
    for side in (1, -1):
        run = {}
        for way, move in zip("12", (look, -look), strict=True):
            for answer, sign in zip("ab", (1, -1), strict=True):
                step = sign * steps[int(way) - 1]
                run[way + answer] = 1 / (1 + math.exp(side * move)) / (1 + math.exp(side * step))
        found.append(run)
    return found[0], found[1]


def failing(run: Law, *, first: float, second: float, gained: str, lost: str) -> Law:
    """The run with its failures.

    After looks that choose the first way, a share `first` of all outcomes becomes `gained`. After the others, a share
    `second` moves from the outcome `lost` to `gained`.
    """
    found = {}
    for outcome, chance in run.items():
        found[outcome] = chance * (1 - first) if outcome[0] == "1" else chance
    ways = {way: sum(chance for outcome, chance in run.items() if outcome[0] == way) for way in "12"}
    found["1" + gained] = found.get("1" + gained, 0.0) + first * ways["1"]
    taken = min(second * ways["2"], found["2" + lost])
    found["2" + lost] -= taken
    found["2" + gained] = found.get("2" + gained, 0.0) + taken
    return found


def worst(
    failure: ChosenFailure, look: float, steps: tuple[float, float], epsilon: float
) -> Iterator[tuple[float, float]]:
    """For each direction and each way to fail: delta*(epsilon), and what the run without failures has of it."""
    one_sided, other = float(failure.one_sided), float(failure.other)
    smaller, larger = runs(look, steps)
    for lost, gained in product("ab", ("new", "a", "b")):
        for lost_there, gained_there in product("ab", ("new there", "a", "b")):
            here = failing(larger, first=one_sided, second=other, gained=gained, lost=lost)
            there = failing(smaller, first=0.0, second=other, gained=gained_there, lost=lost_there)
            yield excess(here, there, epsilon), excess(larger, smaller, epsilon)
            yield excess(there, here, epsilon), excess(smaller, larger, epsilon)


def price_of(failure: ChosenFailure, epsilon: float) -> float:
    return float(failure_price([failure], Fraction(math.exp(epsilon))))


def without_the_looks(failure: ChosenFailure, epsilon: float) -> float:
    return max(float(failure.one_sided), (1 + math.exp(epsilon)) * float(failure.other))


def the_cheaper(failure: ChosenFailure, epsilon: float) -> float:
    return min(float(failure.one_sided), (1 + math.exp(epsilon)) * float(failure.other))


def paid_once(failure: ChosenFailure, _: float) -> float:
    return float(failure.probability)


CASES = [
    (ChosenFailure(F(one), F(other), F(look**2 / 2)), sign * look, (first, second), epsilon)
    for one, other in ((0.02, 0.01), (0.02, 0.0), (0.0, 0.02), (0.0372, 0.01), (0.01, 0.03))
    for look in (0.01, 0.6, 1.5)
    for sign in (1, -1)
    for first, second in ((0.2, 0.2), (1.0, -1.0), (0.0, 4.0), (4.0, 0.0), (0.0, -4.0))
    for epsilon in (0.0, 0.01, 0.3, 1.0, 2.0)
]


def broken(price: Callable[[ChosenFailure, float], float]) -> int:
    """In how many cases this price does not cover the worst."""
    return sum(
        any(
            found > covered + price(failure, epsilon) + 1e-12 for found, covered in worst(failure, look, steps, epsilon)
        )
        for failure, look, steps, epsilon in CASES
    )


@pytest.mark.slow
def test_what_looks_choose_never_costs_more_than_its_price() -> None:
    assert broken(price_of) == 0


@pytest.mark.parametrize("price", [without_the_looks, the_cheaper, paid_once])
def test_a_lower_price_is_not_enough(price: Callable[[ChosenFailure, float], float]) -> None:
    assert broken(price) > 0


def test_beside_others_a_one_sided_failure_is_paid_once_and_all_others_on_both_sides() -> None:
    odds = F(3)
    chosen = ChosenFailure(F(2, 100), F(1, 100), F(1, 10))
    mixed: list[Failure] = [OneSidedFailure(F(1, 1000)), AnyFailure(F(1, 500))]
    assert failure_price(mixed, odds) == F(1, 1000) + 4 * F(1, 500)
    assert failure_price([*mixed, chosen], odds) == F(21, 1000) + 4 * F(12, 1000)
    assert failure_price([], odds) == 0
    assert 0 <= float(failure_price([chosen], odds)) - (0.04 + 0.03 * math.sqrt(0.05)) < 1e-9


@pytest.mark.parametrize("first", [True, False])
def test_looks_that_others_may_go_before_do_not_lower_the_price(first: bool) -> None:
    """Whatever chooses the looks' part also moves the chance of either way."""
    chosen = ChosenFailure(F(2, 10**7), F(1, 10**8), F(0))
    budget = {"epsilon": F(1), "delta": F(1, 10**6)}
    own = Guarantee(epsilon=F(2), delta=F(1), composition="gaussian")
    part = Part(losses=(Gaussian(F(1, 200)),), failures=(chosen,), guarantee=own)
    before = Part(losses=(Gaussian(F(1, 200)),), failures=(), guarantee=own)
    alone = composed_need([Gaussian(F(1, 100))], [chosen], **budget)
    apart = composed_need([Gaussian(F(1, 100))], [OneSidedFailure(F(2, 10**7)), AnyFailure(F(1, 10**8))], **budget)
    assert alone[0] < apart[0]
    parts = [part] if first else [before, part]
    assert needed_together(parts, [Gaussian(F(1, 200))] if first else [], **budget) == (alone if first else apart)
