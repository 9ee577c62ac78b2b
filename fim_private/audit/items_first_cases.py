"""The hardest neighbours of items-first at its planned parameters, compared exactly except for merged outcomes.

`verification/items_first_divergence.py` sums over everything that can be released, on small grids. With planned noise
this takes too long. Here the neighbours are chosen so that the sum factorises. Everybody's items are so frequent that
they go on for certain. The additional unit holds some of these items, and some items that nobody else has. It shifts
some coordinates of the noisy counts by the same amount, so the sum of these coordinates tells as much as all of them.
It is in one bin of each look. The smallest support is near the threshold of the certificate, or it is that of an item
that the unit alone has. Such an item is taken to have gone on by chance, and to be in the list, as the proof does.
Where first counts name the items, one that the unit alone has may reach their threshold.
Outcomes are then merged by their ratio of probabilities. Merging can only make the neighbours look more alike, so the
delta found is a lower bound, and a close one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fim_private.arrays import Floats
from fim_private.audit.merged_outcomes import Pair, shifted
from fim_private.audit.neighbours import Neighbours
from fim_private.audit.one_unit_more import CANDIDATES, Unit, either_way, hard_picks, pair_of_picks, worst_of
from fim_private.audit.weighted_gaussian_cases import found_of_its_own
from fim_private.mechanisms import lacking_items
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.named_items import NamedItems
from fim_private.randomness import Randomness

_LONG = 64
"""The longest unit that is tried."""


def largest_deltas(
    mechanism: ItemsFirst, epsilons: Sequence[float], *, steps: int, randomness: Randomness
) -> list[tuple[float, Unit]]:
    """The largest delta found at each epsilon, and what the unit holds there.

    Args:
        mechanism: the planned mechanism, or a broken twin of it.
        epsilons: the epsilons to look at.
        steps: how many steps the search for hard picks makes.
        randomness: where the bits of that search come from.
    """
    shown = (
        (unit, _deltas(way, unit, epsilons))
        for way in dict.fromkeys((mechanism, mechanism.usual_way))
        for unit in _units(way, epsilons, steps, randomness)
    )
    return worst_of(shown, len(epsilons))


def _units(mechanism: ItemsFirst, epsilons: Sequence[float], steps: int, randomness: Randomness) -> Iterator[Unit]:
    full = mechanism.items.measurement.full
    for select in mechanism.selections:
        for later in _ways(replace(mechanism, select=select)):
            picks = _hard_picks(mechanism, later, epsilons, steps, randomness)
            for common in sorted({0, full, max(2, mechanism.size), _LONG}):
                for own in _own(mechanism, later, common):
                    if common + own:
                        for laws in picks if common >= mechanism.size else picks[:1]:
                            support = _support(later.certificate, own)
                            yield Unit(common=common, own=own, picks=laws, steps=later, support=support)


def _own(mechanism: ItemsFirst, later: LaterSteps, common: int) -> tuple[int, ...]:
    """How many items the unit alone may have, beside items that everybody has."""
    items = mechanism.items
    if isinstance(items, NamedItems):
        numbers = (2**power for power in range(13))
        return (0, max(numbers, key=lambda own: found_of_its_own(items, own, common + own, 1)))
    return (0,) if later.certificate is None else (0, items.measurement.full)


def _ways(mechanism: ItemsFirst) -> Iterator[LaterSteps]:
    """What follows for transactions of a usual length, and if long ones make it worth while to count items again."""
    yield mechanism.usual
    if mechanism.test_delta is None:
        return
    rare, long, short = np.ones(1), *(Lengths(np.full(1, float(length)), np.ones(1)) for length in (_LONG, 1))
    again = mechanism.again(rare, long, short)
    if again is None:
        raise AssertionError("items are not counted again where this is most worth while")
    yield mechanism.later(rare, long, short, again)


def _hard_picks(
    mechanism: ItemsFirst, later: LaterSteps, epsilons: Sequence[float], steps: int, randomness: Randomness
) -> list[Neighbours | None]:
    """Counts of itemsets, or of items, for which picks tell much; None for no difference."""
    picks = _picks(mechanism, later)
    return [None] if picks is None else hard_picks(picks, mechanism.sensitivity, epsilons, steps, randomness)


def _picks(mechanism: ItemsFirst, later: LaterSteps) -> Exponential | None:
    """The picks of itemsets, or of items."""
    if later.items is not None:
        return replace(later.items, universe_size=CANDIDATES)
    return None if later.pick_epsilon is None else mechanism.picks(later.pick_epsilon, CANDIDATES)


def _lacking(mechanism: ItemsFirst, later: LaterSteps) -> Measurement | None:
    """How it is counted who lacks the picked items, if most units hold most of them."""
    if later.items is None or later.lacking is None:
        return None
    return lacking_items.lacking(mechanism.asked, later.lacking, np.full(later.items.top, 0.8), 1.0)


def _support(certificate: Certificate | None, own: int) -> int | None:
    """The smallest support without the unit: just below the threshold, or 0 if the unit's own item is in the list."""
    if certificate is None:
        return None
    return 0 if own else certificate.threshold - 1


def _of_the_look(mechanism: ItemsFirst) -> Pair:
    """One bin of the look, without and with the unit."""
    counted = mechanism.noise.measurement(full=1, resolution=1, variance=mechanism.look.variance)
    return shifted(counted, 1, 1)


def _deltas(mechanism: ItemsFirst, unit: Unit, epsilons: Sequence[float]) -> Floats:
    """delta at each epsilon, in the direction where it is larger."""
    steps, items = unit.steps, mechanism.items.measurement
    if steps is None:
        raise AssertionError("what follows is not known")
    fewer = looked = _of_the_look(mechanism)
    if unit.common:
        fewer = fewer.times(looked)
        fewer = fewer.times(shifted(items, unit.common, int(items.weights[unit.common + unit.own])))
        # A unit of several transactions holds the same items in each of them. Items are counted by unit.
        recounted = 0 if steps.recount is None else min(unit.common, steps.recount.full)
        pairs, itemsets = (math.comb(unit.common, size) for size in (2, mechanism.size))
        several, lacking = mechanism.sensitivity, _lacking(mechanism, steps)
        for measurement, held, times in (
            (steps.again, unit.common, 1),
            (steps.recount, recounted, several),
            (steps.pairs, pairs, several),
            (steps.itemsets, itemsets, several),
            # The unit lacks so many of the picked items that what it adds is as long as can be.
            (lacking, lacking.full if lacking else 0, 1),
            # All of the unit's itemsets may be in doubt.
            *((mechanism.recount(rho, 1.0), itemsets, several) for rho in steps.in_doubt),
        ):
            if measurement is not None and held:
                step = measurement.added(held) * times
                if step:
                    fewer = fewer.times(shifted(measurement, held, step))
    picks = _picks(mechanism, steps)
    if unit.picks is not None and picks is not None:
        fewer = fewer.times(pair_of_picks(picks, unit.picks))
    named = 0.0
    if isinstance(mechanism.items, NamedItems):
        named = found_of_its_own(mechanism.items, unit.own, unit.common + unit.own, 1)
    if steps.certificate is not None and unit.support is not None:
        tests = [steps.certificate.law([support] * mechanism.top) for support in (unit.support, unit.support + 1)]
        if unit.own:
            # Without the unit nothing is named: nobody has one of the items.
            named = 1 - tests[1].get(0, 0.0)
        else:
            lengths = sorted(tests[0].keys() | tests[1].keys())
            passed = [np.array([test.get(length, 0.0) for length in lengths]) for test in tests]
            fewer = fewer.times(Pair(one=passed[0], other=passed[1]))
    return either_way(fewer, named, epsilons)
