"""Items without names: every one of the N tokens gets noise, and nothing tells which of them are items that occur."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private.mechanisms.anonymous_items import MOST_TOKENS, AnonymousItems
from fim_private.mechanisms.measurement import Measurement
from fim_private.randomness import Randomness, SeededRandomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from tests.sampling import FALSE_ALARM, SEED, p_value

QUIET = Measurement(full=1, resolution=1, variance=1)


@dataclass(frozen=True, kw_only=True)
class Given(Measurement):
    """Draws no noise, and keeps what it was given."""

    def add_noise(self, counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        seen.append(counts)
        return counts


seen: list[NDArray[np.int64]] = []


def test_all_names_get_noise_also_those_that_nobody_has() -> None:
    seen.clear()
    measurement = Given(full=1, resolution=1, variance=1)
    AnonymousItems(measurement=measurement, names=9).find(np.array([40, 30]), SeededRandomness(SEED))
    assert [counts.tolist() for counts in seen] == [[40, 30, 0, 0, 0, 0, 0, 0, 0]]


def test_frequent_items_go_on_in_decreasing_order_with_their_noisy_counts() -> None:
    counts = np.array([500, 0, 900, 700])
    places, noisy = AnonymousItems(measurement=QUIET, names=4).find(counts, SeededRandomness(SEED))
    assert places[:3].tolist() == [2, 3, 0]
    assert np.all(np.abs(noisy[:3] - [900, 700, 500]) < 8)
    assert np.all(np.diff(noisy) <= 0)


def test_tokens_that_nobody_has_are_marked_and_are_few() -> None:
    """With wide noise some go on: about half of those that go on at most."""
    items = AnonymousItems(measurement=Measurement(full=1, resolution=1, variance=10_000), names=20_000)
    counts = np.full(200, 600)
    randomness = SeededRandomness(SEED)
    strangers = []
    for _ in range(20):
        places, _ = items.find(counts, randomness)
        assert set(places.tolist()) <= {-1, *range(200)}
        assert np.count_nonzero(places >= 0) > 190
        strangers.append(np.count_nonzero(places < 0))
    assert 0 < np.mean(strangers) < 300


def test_a_token_of_nobody_goes_on_as_often_as_an_item_of_the_same_count() -> None:
    """Between two tokens of one count nothing tells which is which: neither noise nor the order of ties."""
    items = AnonymousItems(measurement=QUIET, names=2)
    randomness = SeededRandomness(SEED)
    firsts = Counter(
        int(places[0]) for places, _ in (items.find(np.array([0]), randomness) for _ in range(6000)) if len(places)
    )
    assert set(firsts) == {0, -1}
    assert p_value([0] * firsts[0] + [1] * firsts[-1], {0: 0.5, 1: 0.5}) > FALSE_ALARM


def test_ties_are_in_random_order() -> None:
    tied = AnonymousItems(measurement=Given(full=1, resolution=1, variance=1), names=3)
    randomness = SeededRandomness(SEED)
    orders = [tuple(tied.find(np.array([50, 50, 50]), randomness)[0].tolist()) for _ in range(6000)]
    law = dict.fromkeys([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], 1 / 6)
    assert p_value(orders, law) > FALSE_ALARM
    skewed = {order: 1 / 4 if order[0] == 0 else 1 / 8 for order in law}
    assert p_value(orders, skewed) < FALSE_ALARM


def test_noise_has_its_law() -> None:
    items = AnonymousItems(measurement=Measurement(full=1, resolution=1, variance=20), names=1)
    randomness = SeededRandomness(SEED)
    drawn = [int(items.find(np.array([500]), randomness)[1][0]) - 500 for _ in range(4000)]
    values = np.arange(-60, 61)
    for variance, right in ((20.0, True), (20 * 0.49, False), (20 * 1.69, False)):
        law = dict(zip(values.tolist(), discrete_gaussian_mass(values, variance).tolist(), strict=True))
        assert (p_value(drawn, law) > FALSE_ALARM) == right


@pytest.mark.parametrize("names", [1, 50, 65_536])
def test_what_is_expected_is_positive_and_below_the_noisy_count(names: int) -> None:
    measurement = Measurement(full=4, resolution=8, variance=900)
    items = AnonymousItems(measurement=measurement, names=names)
    noisy = np.sort(np.arange(31, 900, 7))[::-1].astype(np.int64)
    expected = items.expected(noisy)
    assert np.all(expected > 0)
    assert np.all(expected <= noisy / 8)
    assert expected[0] == pytest.approx(noisy[0] / 8, rel=1e-3)


def test_nothing_goes_on_where_nothing_stands_out() -> None:
    items = AnonymousItems(measurement=Measurement(full=1, resolution=1, variance=10**6), names=65_536)
    places, noisy = items.find(np.array([3, 2]), SeededRandomness(SEED))
    assert len(places) == len(noisy) < 20
    assert math.isfinite(float(np.sum(items.expected(noisy))))


def test_of_a_public_list_goes_on_what_noise_may_have_lifted() -> None:
    """Its names may be released, so what goes on without cause does no harm: picks and counts come after it."""
    items = AnonymousItems(measurement=Measurement(full=1, resolution=1, variance=10**6), names=65_536, listed=True)
    places, noisy = items.find(np.array([4]), SeededRandomness(SEED))
    assert len(places) == MOST_TOKENS
    assert np.array_equal(items.expected(noisy), noisy.astype(float))
