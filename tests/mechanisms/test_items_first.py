"""Items first, verified exactly on small data; and the mistakes one could make, which the same check must catch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.accounting.calibration import prove_discovery
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.discovery import Discovery
from fim_private.mechanisms.items_first import COUNTS, PEEL, ItemsFirst, Tuning, calibrate
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import Request
from fim_private.privacy import failure_probability
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import log_discrete_gaussian_survival
from verification.items_first_divergence import Unit, delta_of

F = Fraction
NUMERICAL_ERROR = 1e-9
DELTA = F(1, 10)


HALF = F(1, 20)


def small(select: str, *, full: int = 2, resolution: int = 2, stop_delta: Fraction = HALF) -> ItemsFirst:
    """An instance whose grids are small; the full sizes are so small that weights matter."""
    measured = Measurement(full=full, resolution=resolution, variance=6)
    return ItemsFirst(
        top=2,
        size=2,
        discovery=Discovery.failing(stop_delta, measurement=measured, max_items=3),
        stop_delta=stop_delta,
        pick_epsilon=F(2, 5) if select == PEEL else None,
        pairs=None if select == PEEL else Measurement(full=1, resolution=resolution, variance=6),
        itemsets=None if select == PEEL else Measurement(full=1, resolution=resolution, variance=9),
        joined=100,
        candidates=100,
    )


def claim(mechanism: ItemsFirst) -> tuple[float, float]:
    guarantee = prove_discovery(mechanism.losses, failure_probability(mechanism.failures), epsilon=F(50), delta=DELTA)
    assert guarantee is not None
    return float(guarantee.epsilon), float(guarantee.delta)


def units_of(items: int, transactions: int) -> list[Unit]:
    """Every unit there can be: so many transactions, each any set of items."""
    baskets = [frozenset(basket) for size in range(1, items + 1) for basket in combinations(range(items), size)]
    return list(combinations_with_replacement(baskets, transactions))


def neighbours(mechanism: ItemsFirst, items: int) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """Data with few units, many, those of nobody else, counts at the threshold; and one unit more."""
    around = mechanism.discovery.threshold // mechanism.discovery.measurement.resolution
    units = units_of(items, mechanism.sensitivity)
    full: Unit = (frozenset(range(items)),) * mechanism.sensitivity
    first, two = ((frozenset({0}),), (frozenset({0, 1}),))
    for common in ([], [full] * 2, [two] * around, [first] * around, [full] * (2 * around), [full] * (6 * around)):
        for unit in units:
            yield common, [*common, unit]
    single = [(frozenset({item}),) for item in range(items)] * around
    yield single, [*single, full]


def worst(mechanism: ItemsFirst, epsilon: float, items: int) -> float:
    return max(
        delta
        for one, other in neighbours(mechanism, items)
        for delta in (delta_of(mechanism, one, other, epsilon), delta_of(mechanism, other, one, epsilon))
    )


@pytest.mark.parametrize("select", [PEEL, COUNTS])
def test_the_claim_holds_exactly(select: str) -> None:
    """Three items where picks are made; two, and so one pair, where every noisy count is an axis of the grid."""
    mechanism = small(select)
    epsilon, delta = claim(mechanism)
    assert worst(mechanism, epsilon, 3 if select == PEEL else 2) <= delta + NUMERICAL_ERROR


@pytest.mark.parametrize("select", [PEEL, COUNTS])
def test_units_of_two_transactions_are_covered(select: str) -> None:
    one = small(select)
    mechanism = replace(
        one,
        sensitivity=2,
        pairs=one.pairs and replace(one.pairs, sensitivity=2, variance=12),
        itemsets=one.itemsets and replace(one.itemsets, sensitivity=2, variance=12),
    )
    epsilon, delta = claim(mechanism)
    assert worst(mechanism, epsilon, 3 if select == PEEL else 2) <= delta + NUMERICAL_ERROR


@pytest.mark.parametrize("select", [PEEL, COUNTS])
def test_units_that_are_exchanged_are_covered_by_group_privacy(select: str) -> None:
    """The planner serves `replace` by group privacy: (2 eps, (1 + e^eps) delta)."""
    mechanism = small(select)
    epsilon, delta = claim(mechanism)
    items = 3 if select == PEEL else 2
    around = mechanism.discovery.threshold // mechanism.discovery.measurement.resolution
    for number in (0, around):
        common: list[Unit] = [(frozenset(range(items)),)] * number
        for one, other in product(units_of(items, 1), repeat=2):
            found = delta_of(mechanism, [*common, one], [*common, other], 2 * epsilon)
            assert found <= (1 + math.exp(epsilon)) * delta + NUMERICAL_ERROR


@pytest.mark.parametrize("stop_delta", [F(99, 1000), F(1, 20), F(1, 1000)])
def test_discovery_alone_holds_exactly(stop_delta: Fraction) -> None:
    """Three items make no itemset of size 4, so nothing follows the discovery."""
    mechanism = replace(small(COUNTS, stop_delta=stop_delta), size=4, pairs=None, itemsets=None, pick_epsilon=F(0))
    epsilon, delta = claim(replace(mechanism, pick_epsilon=None))
    assert worst(mechanism, epsilon, 3) <= delta + NUMERICAL_ERROR


def test_neither_bound_nor_failure_is_given_away() -> None:
    """The exact delta is at least the failure itself: a unit's own items are really found that often."""
    mechanism = small(PEEL)
    found = max(delta_of(mechanism, [(frozenset(range(size)),)], [], 50.0) for size in (1, 2, 3))
    assert 0.3 * float(mechanism.stop_delta) < found <= float(mechanism.stop_delta)


class WholeWeights(Measurement):
    """Broken: a transaction adds 1 to everything it holds; its length is bounded by nothing."""

    @property
    def weights(self) -> np.ndarray:
        return np.full(100, self.resolution)


def broken() -> dict[str, ItemsFirst]:
    sound = small(PEEL, stop_delta=F(99, 1000))
    items = sound.discovery.measurement
    counts = small(COUNTS)
    assert counts.pairs is not None
    assert counts.itemsets is not None
    return {
        "threshold for one item": replace(
            sound, discovery=Discovery.failing(sound.stop_delta, measurement=items, max_items=1)
        ),
        "threshold forgets that the item counts 1 already": replace(
            sound, discovery=replace(sound.discovery, threshold=sound.discovery.threshold - items.resolution)
        ),
        "no bound on what a unit adds": replace(
            small(PEEL),
            discovery=replace(
                small(PEEL).discovery,
                measurement=WholeWeights(full=1, resolution=2, variance=6),
            ),
        ),
        "half the noise of the items": replace(
            sound, discovery=replace(sound.discovery, measurement=replace(items, variance=1))
        ),
        "noise for units of 1 where counts are in halves": replace(
            counts, pairs=replace(counts.pairs, variance=1), itemsets=replace(counts.itemsets, variance=1)
        ),
        "exponent of the picks six times as large": replace(small(PEEL), pick_epsilon=F(12, 5)),
    }


@pytest.mark.parametrize("name", broken())
def test_broken_twins_fail_the_same_check(name: str) -> None:
    """Each twin is checked against the claim of the sound mechanism."""
    twin = broken()[name]
    sound = small(twin.select, stop_delta=twin.stop_delta)
    if isinstance(twin.discovery.measurement, WholeWeights):
        sound = replace(sound, discovery=replace(sound.discovery, measurement=replace(twin.discovery.measurement)))
    epsilon, delta = claim(sound)
    assert worst(twin, epsilon, 3 if twin.select == PEEL else 2) > delta + NUMERICAL_ERROR


@given(st.integers(1, 30), st.integers(1, 64))
def test_what_a_transaction_adds_is_bounded_however_long_it_is(full: int, resolution: int) -> None:
    weights = Measurement(full=full, resolution=resolution, variance=1).weights
    held = np.arange(len(weights))
    assert np.all(weights**2 * held <= resolution**2 * full)
    assert weights[-1] == 0  # and so for anything longer
    assert np.all(weights[1 : full + 1] == resolution)
    assert np.all((weights[full + 1 :] + 1) ** 2 * held[full + 1 :] > resolution**2 * full)  # not less than need be


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 0.003, 2.0])
@pytest.mark.parametrize("sensitivity", [1, 7])
def test_a_measurement_costs_what_it_may(rho: float, sensitivity: int) -> None:
    measurement = Measurement.costing(rho, full=12, sensitivity=sensitivity)
    assert F(99, 100) * F(rho) < measurement.loss.rho <= F(rho)
    assert measurement.loss.rho == F(sensitivity**2 * measurement.resolution**2 * 12, 2 * measurement.variance)


@pytest.mark.parametrize("delta", [F(1, 10**3), F(1, 10**7), F(1, 10**30)])
@pytest.mark.parametrize("variance", [30, 4000, 10**6])
def test_the_threshold_is_the_least_that_will_do(delta: Fraction, variance: int) -> None:
    measurement = Measurement(full=4, resolution=8, variance=variance)
    discovery = Discovery.failing(delta, measurement=measurement, max_items=64)

    def chance(threshold: int) -> float:
        return max(
            math.log(length)
            + log_discrete_gaussian_survival(threshold + 1 - int(measurement.weights[length]), float(variance))
            for length in range(1, 65)
        )

    assert chance(discovery.threshold) <= math.log(delta)
    assert chance(discovery.threshold - 1) > math.log(delta) - 1e-8


def test_items_that_nobody_has_are_never_found() -> None:
    """They get no noise: to be found they would have to be in a list, and which are in it would be told."""
    discovery = Discovery(
        measurement=Measurement(full=1, resolution=1, variance=10**6), max_items=9, threshold=-(10**9)
    )
    places, noisy = discovery.find(np.array([0, 3, 0, 1]), SeededRandomness(1))
    assert places.tolist() == [1, 3]
    assert len(noisy) == 2


def test_a_bound_takes_over_where_summing_takes_too_long() -> None:
    exact, bound = (
        Discovery.failing(
            F(1, 10**7), measurement=Measurement(full=4, resolution=1, variance=10**10 + more), max_items=64
        )
        for more in (0, 1)
    )
    assert exact.threshold < bound.threshold < 1.01 * exact.threshold


REQUEST = Request(top=10, epsilon=F(1), delta=F(1, 10**6), size=2)


@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(10)])
@pytest.mark.parametrize("sensitivity", [1, 4])
def test_everything_is_spent_and_no_more(select: str, size: int, epsilon: Fraction, sensitivity: int) -> None:
    request = replace(REQUEST, size=size, epsilon=epsilon, select=select, sensitivity=sensitivity)
    calibrated = calibrate(request)
    assert F(999, 1000) * epsilon < calibrated.guarantee.epsilon <= epsilon
    assert calibrated.guarantee.delta <= request.delta


def test_shares_are_those_of_the_tuning() -> None:
    mechanism = calibrate(replace(REQUEST, select=COUNTS), Tuning(items_share=0.3, pairs_share=0.5)).mechanism
    assert isinstance(mechanism, ItemsFirst)
    shares = [float(step.loss.rho) for _, step in mechanism.measurements]
    assert [share / sum(shares) for share in shares] == pytest.approx([0.3, 0.35, 0.35], abs=0.001)


def test_delta_is_needed_and_ways_to_select_are_two() -> None:
    with pytest.raises(BudgetError):
        calibrate(replace(REQUEST, delta=F(0)))
    with pytest.raises(UsageError):
        calibrate(replace(REQUEST, select="guess"))
