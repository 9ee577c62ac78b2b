"""Single items of long units, read from their first counts: what it costs, the claim, and what is named."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from fim_private.accounting.gaussian_composition import gaussian_rho
from fim_private.audit.merged_outcomes import Pair, shifted
from fim_private.audit.one_unit_more import either_way
from fim_private.counting import LocalDatabase
from fim_private.mechanisms.item_reading import ItemReading
from fim_private.mechanisms.items_first import ItemsFirst, calibrate
from fim_private.mechanisms.left_out import LeftOut
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import COUNTS, Request
from fim_private.mining import items_first_steps
from fim_private.mining.items_first_steps import _read_items
from fim_private.mining.outcome import Outcome
from fim_private.privacy import BoundedRange, Loss
from fim_private.randomness import SeededRandomness
from tests.counting.local.test_basis_bins import transactions_of
from tests.sampling import FALSE_ALARM, SEED, p_value

F = Fraction
REQUEST = Request(top=100, epsilon=F(1), delta=F(1, 10**6), sizes=(1,))
LONG = Lengths(np.array([60.0]), np.array([4000.0]))
RANDOM = np.random.default_rng(SEED)


def planned(support: float | None = 150.0, **changes: object) -> ItemsFirst:
    mechanism = calibrate(replace(REQUEST, **changes)).mechanism
    assert isinstance(mechanism, ItemsFirst)
    return replace(mechanism, support=support)


def reading_of(mechanism: ItemsFirst) -> ItemReading:
    reading = mechanism.reading(LONG)
    assert reading is not None
    return reading


def losses_of(mechanism: ItemsFirst, reading: ItemReading, tokens: int) -> list[Loss]:
    """All that is paid if so many tokens are read. Left-out tokens are picks of bounded range."""
    out = [BoundedRange(rate) for rate in reading.left_out(tokens).rates]
    return [mechanism.look.loss, reading.items.measurement.loss, *out, *reading.certificate.losses]


def law_of(left_out: LeftOut, supports: list[int]) -> dict[tuple[int, ...], float]:
    """The law of what stays, in whatever order the others were left out."""
    law: dict[tuple[int, ...], float] = {}
    for kept, chance in left_out.law(supports):
        law[tuple(kept)] = law.get(tuple(kept), 0.0) + chance
    return law


@pytest.mark.parametrize(
    ("support", "changes", "lengths"),
    [
        (None, {}, LONG),  # nothing was released
        (150.0, {"top": 99}, LONG),
        (150.0, {}, Lengths(np.array([10.0]), np.array([4000.0]))),  # a histogram names them
        (1000.0, {}, LONG),  # they stand out, so picks have something to choose from
        (150.0, {"sizes": (2,)}, LONG),
        (150.0, {"sizes": (1, 2)}, LONG),
        (150.0, {"min_count": 100}, LONG),
        (150.0, {"sensitivity": 2}, LONG),
        (150.0, {"select": COUNTS}, LONG),
        (150.0, {"universe_size": 1000, "names": 1000}, LONG),
    ],
)
def test_items_are_read_only_where_that_is_better(
    support: float | None, changes: dict[str, object], lengths: Lengths
) -> None:
    assert planned().reading(LONG) is not None
    assert planned(support, **changes).reading(lengths) is None


@pytest.mark.parametrize("epsilon", [F(1, 10), F(1, 2), F(1), F(4)])
@pytest.mark.parametrize("top", [100, 1000])
def test_no_more_than_rho_is_spent_whatever_is_read(top: int, epsilon: Fraction) -> None:
    mechanism = planned(150.0 / float(epsilon), top=top, epsilon=epsilon)
    reading = reading_of(mechanism)
    assert reading.certificate.failure.probability == mechanism.test_delta
    for tokens in (0, 1, 5, 6, 60, top, top + 1, top + top // 5):
        assert gaussian_rho(losses_of(mechanism, reading, tokens)) <= mechanism.budget * F(1 + 1e-8)
        assert tokens - len(reading.left_out(tokens).rates) <= top
    assert gaussian_rho(losses_of(mechanism, reading, top + top // 5)) > F(9, 10) * mechanism.budget


def test_leaving_one_out_has_bounded_range_and_no_less() -> None:
    left_out, worst = LeftOut((F(1, 3),)), 0.0
    for _ in range(500):
        fewer = RANDOM.integers(0, 12, 4)
        one, other = (law_of(left_out, side.tolist()) for side in (fewer, fewer + RANDOM.integers(0, 2, 4)))
        assert one.keys() == other.keys()
        assert math.fsum(one.values()) == pytest.approx(1.0)
        ratios = [math.log(one[kept] / other[kept]) for kept in one]
        worst = max(worst, max(ratios) - min(ratios))
    assert worst == pytest.approx(1 / 3)


@pytest.mark.slow
def test_what_is_left_out_has_the_law_that_is_stated() -> None:
    left_out, supports = LeftOut((F(1, 5), F(1, 3))), [9, 2, 4, 0]
    randomness = SeededRandomness(SEED)
    drawn = Counter(tuple(left_out.keep(supports, randomness)) for _ in range(20_000))
    assert p_value(drawn.elements(), law_of(left_out, supports)) > FALSE_ALARM
    assert p_value(drawn.elements(), law_of(LeftOut((F(1, 5), F(1, 5))), supports)) < FALSE_ALARM


def largest_delta(mechanism: ItemsFirst, reading: ItemReading, left_out: LeftOut, measurement: Measurement) -> float:
    """The delta of one unit more that holds common items, and perhaps one that nobody else has; a lower bound.

    Noise moves in one direction, so the sum of its coordinates tells all. Every item that the unit holds is read.
    """
    worst, epsilon = 0.0, float(REQUEST.epsilon)
    supports = [3, 3, 4, 40, 41]
    for common, own in ((1, 0), (64, 0), (63, 1), (0, 1)):
        fewer = shifted(Measurement(full=1, resolution=1, variance=mechanism.look.variance), 1, 1)
        fewer = fewer.times(fewer)
        fewer = fewer.times(shifted(measurement, common or 1, measurement.added(common + own) if common else 0))
        for held in ((1, 1, 1, 0, 0), (0, 0, 0, 1, 1), (1, 0, 0, 0, 1)):
            one, other = (law_of(left_out, [*map(int.__add__, supports, moved)]) for moved in ((0,) * 5, held))
            picked = Pair(one=np.array([*one.values()]), other=np.array([other[kept] for kept in one]))
            support = 0 if own else reading.certificate.threshold - 1
            tests = [reading.certificate.law([support + moved] * 3) for moved in (0, 1)]
            whole, named = fewer.times(picked) if common else fewer, 0.0
            if own:
                named = 1 - tests[1][0]
            else:
                passed = [np.array([test.get(length, 0.0) for length in tests[0]]) for test in tests]
                whole = whole.times(Pair(one=passed[0], other=passed[1]))
            worst = max(worst, float(either_way(whole, named, [epsilon])[0]))
    return worst


def test_the_claim_holds_for_the_hardest_units_and_mistakes_are_caught() -> None:
    mechanism = planned()
    reading = reading_of(mechanism)
    sound = LeftOut(reading.left_out(120).rates[:2])
    allowed, measurement = float(REQUEST.delta), reading.items.measurement
    assert largest_delta(mechanism, reading, sound, measurement) <= allowed
    # What is left out by ten times the rate, the noise that two measurements of this price would have, a low threshold.
    assert largest_delta(mechanism, reading, LeftOut((F(1, 2),) * 2), measurement) > allowed
    exact = replace(measurement, variance=measurement.variance // 2)
    assert largest_delta(mechanism, reading, sound, exact) > allowed
    low = replace(reading, certificate=replace(reading.certificate, threshold=reading.certificate.threshold // 2))
    assert largest_delta(mechanism, low, sound, measurement) > allowed


def test_with_hardly_any_noise_the_most_frequent_items_are_named_in_the_order_of_their_counts() -> None:
    """Each unit holds items 0 to i: so the lower the number, the more frequent. Long units count less."""
    items = 150
    data = LocalDatabase(transactions_of([range(RANDOM.integers(1, items + 1)) for _ in range(3000)]))
    mechanism = planned(1000.0, epsilon=F(100))
    loud = replace(mechanism, tuning=replace(mechanism.tuning, reads_most=math.inf))
    outcome = _read_items(data, data, reading_of(loud), SeededRandomness(SEED))
    codes = [int(data.vocabulary[code]) for code in outcome.itemsets[:, 0].tolist()]
    assert sorted(codes) == list(range(100))
    assert outcome.found.codes.tolist() == outcome.itemsets[:, 0].tolist()
    assert np.all(np.diff(outcome.found.counts) <= 0)


@pytest.mark.slow
def test_what_nobody_or_one_unit_alone_has_is_never_named() -> None:
    """Rare items are read if nothing else is there, and then left out or refused."""
    data = LocalDatabase(transactions_of([range(60)] * 2000 + [range(60, 120)]))
    reading = reading_of(planned(epsilon=F(1, 2), support=400.0))
    named = [_read_items(data, data, reading, SeededRandomness(seed)).itemsets for seed in range(30)]
    items = {int(data.vocabulary[code]) for itemsets in named for code in itemsets[:, 0].tolist()}
    assert items == set(range(60))
    assert max(map(len, named)) <= 60


@pytest.mark.parametrize(("changes", "read"), [({}, True), ({"top": 99}, False), ({"sizes": (2,)}, False)])
def test_reading_is_rehearsed_where_it_may_be_chosen(
    changes: dict[str, object], read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted(*steps: Any) -> Outcome:
        outcomes.append(_read_items(*steps))
        return outcomes[-1]

    outcomes: list[Outcome] = []
    monkeypatch.setattr(items_first_steps, "_read_items", counted)
    data = LocalDatabase(transactions_of([range(at % 3, 9) for at in range(300)]))
    for way in planned(None, **changes).loud(len(data.vocabulary)):
        items_first_steps.run(data, way, SeededRandomness(SEED))
    assert bool(outcomes) is read
    assert all(len(outcome.itemsets) for outcome in outcomes)


def test_how_items_are_read_follows_from_released_numbers() -> None:
    """Each number here by its own formula: what it costs to err is precision alone, so no law would show it."""
    lengths = Lengths(np.array([8.0, 40.0, 150.0]), np.array([300.0, 900.0, 300.0]))
    chosen = set()
    for support in (110.0, 150.0, 200.0):
        mechanism = planned(support)
        reading, tuning = mechanism.reading(lengths), mechanism.tuning
        assert reading is not None
        rho = float(mechanism.budget - mechanism.look.loss.gaussian.rho)
        weights = {2**power: lengths.weight(2**power) for power in range(9)}
        noise = {full: math.sqrt(full / (2 * rho)) / weight for full, weight in weights.items()}
        expected = max(support, tuning.read_clear * min(noise.values()))
        lost = {full: tuning.read_lost * (1 - weight) * expected for full, weight in weights.items()}
        full = min(noise, key=lambda full: math.hypot(noise[full], lost[full]))
        chosen.add(full)
        assert (reading.items.measurement.full, reading.weight) == (full, weights[full])
        assert reading.out_rho == pytest.approx(tuning.read_out * rho)
        # The test is made for a support that it passes 19 times in 20.
        needed = reading.certificate.support_needed(0.05)
        assert needed == pytest.approx(tuning.read_sure * expected, rel=0.1)
        measurement = reading.items.measurement
        deviation = measurement.deviation / reading.weight
        count = (reading.certificate.threshold + 0.5 * deviation) * reading.weight * measurement.resolution
        width = math.hypot(deviation, math.sqrt(reading.certificate.variance))
        passes = NormalDist(0, width).cdf(0.5 * deviation)
        # One of 65,536 tokens may be a stranger. Among many whose supports are spread evenly it is what it seems.
        even = np.linspace(0, 8, 5_000) + np.random.default_rng(SEED).normal(0, 1, 5_000)
        even *= measurement.deviation * measurement.resolution
        for others, names, expected_trust in (([], 65_536, 0.0), (even, 5_001, passes)):
            read = replace(reading, items=replace(reading.items, names=names))
            noisy = np.array([count, *others]).round().astype(np.int64)
            assert read.trust(noisy, np.array([0], np.int32)) == pytest.approx([expected_trust], abs=0.05)
    assert len(chosen) > 1
    high = np.full(200, 10**6)
    assert [reading.tokens(high[:number]) for number in (0, 7, 120, 200)] == [0, 7, 120, 120]
    # By 65,536 strangers, 3 deviations are nearly surely noise, and 6 are not.
    deviation = math.isqrt(measurement.variance)
    assert reading.tokens(np.array([6 * deviation] * 30 + [3 * deviation] * 30)) == 30
    assert [len(reading.left_out(number).rates) for number in (0, 5, 6, 60, 119, 120)] == [0, 0, 1, 10, 19, 20]
