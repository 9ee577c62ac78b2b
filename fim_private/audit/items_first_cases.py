"""The hardest neighbours of items-first at its planned parameters, compared exactly except for merged outcomes.

`verification/items_first_divergence.py` sums over everything that can be released, on small grids. With planned noise
this takes too long. Here the neighbours are chosen so that the sum factorises. Everybody's items are so frequent that
they go on for certain. The additional unit holds some of these items, and some items that nobody else has. It shifts
some coordinates of the noisy counts by the same amount, so the sum of these coordinates tells as much as all of them.
It is in one bin of each look. The smallest support is near the threshold of the certificate, or it is that of an item
that the unit alone has. Such an item is taken to have gone on by chance, and to be in the list, as the proof does.
Outcomes are then merged by their ratio of probabilities. Merging can only make the neighbours look more alike, so the
delta found is a lower bound, and a close one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fim_private.audit.laws import Floats, law_over_groups
from fim_private.audit.merged_outcomes import Pair, shifted
from fim_private.audit.neighbours import Limits, Neighbours
from fim_private.audit.search import hardest
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.items_first import COUNTS, PEEL, ItemsFirst, LaterSteps
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.randomness import Randomness

_CANDIDATES = 100
"""The picks are compared on so many itemsets."""
_LONG = 64
"""The longest unit that is tried."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What the additional unit holds, and what follows.

    Args:
        common: items that everybody has, or itemsets.
        own: items that nobody else has, or itemsets.
        picks: the itemsets of the common items, if the mechanism makes picks. Otherwise None.
        steps: the later steps that released numbers decided on.
        support: the smallest support without this unit; None if no certificate is needed.
        of: what is counted here, items or itemsets.
    """

    common: int
    own: int
    picks: Neighbours | None = None
    steps: LaterSteps | None = None
    support: int | None = None
    of: str = "items"


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
    worst = [(0.0, Unit(common=0, own=0))] * len(epsilons)
    for unit in _units(mechanism, epsilons, steps, randomness):
        for at, delta in enumerate(_deltas(mechanism, unit, epsilons).tolist()):
            if delta > worst[at][0]:
                worst[at] = delta, unit
    return worst


def _units(mechanism: ItemsFirst, epsilons: Sequence[float], steps: int, randomness: Randomness) -> Iterator[Unit]:
    full = mechanism.items.measurement.full
    for select in (PEEL, COUNTS) if mechanism.select is None else (mechanism.select,):
        for later in _ways(replace(mechanism, select=select)):
            picks = _hard_picks(mechanism, later, epsilons, steps, randomness)
            for common in sorted({0, full, max(2, mechanism.size), _LONG}):
                for own in (0,) if later.certificate is None else (0, full):
                    if common + own:
                        for laws in picks if common >= mechanism.size else picks[:1]:
                            support = _support(later.certificate, own)
                            yield Unit(common=common, own=own, picks=laws, steps=later, support=support)


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
    """Counts of itemsets for which picks tell much; None for no difference."""
    if later.pick_epsilon is None:
        return [None]
    found = hardest(
        mechanism.picks(later.pick_epsilon, _CANDIDATES),
        [share * float(epsilons[-1]) for share in (0.3, 0.5, 0.7, 0.9)],
        Limits(sensitivity=mechanism.sensitivity, universe_size=_CANDIDATES),
        steps=steps,
        starts=3,
        randomness=randomness,
    )
    return [None, *(worst.pair for worst in found.worst if worst.delta)]


def _support(certificate: Certificate | None, own: int) -> int | None:
    """The smallest support without the unit: just below the threshold, or 0 if the unit's own item is in the list."""
    if certificate is None:
        return None
    return 0 if own else certificate.threshold - 1


def _deltas(mechanism: ItemsFirst, unit: Unit, epsilons: Sequence[float]) -> Floats:
    """delta at each epsilon, in the direction where it is larger."""
    steps, items = unit.steps, mechanism.items.measurement
    if steps is None:
        raise AssertionError("what follows is not known")
    bin_of_look = Measurement(full=1, resolution=1, variance=mechanism.look.variance)
    fewer = shifted(bin_of_look, 1, 1)
    if unit.common:
        fewer = fewer.times(shifted(bin_of_look, 1, 1))
        fewer = fewer.times(shifted(items, unit.common, int(items.weights[unit.common + unit.own])))
        # A unit of several transactions holds the same items in each of them. Items are counted by unit.
        recounted = 0 if steps.recount is None else min(unit.common, steps.recount.full)
        pairs, itemsets = (math.comb(unit.common, size) for size in (2, mechanism.size))
        several = mechanism.sensitivity
        for measurement, held, times in (
            (steps.again, unit.common, 1),
            (steps.recount, recounted, several),
            (steps.pairs, pairs, several),
            (steps.itemsets, itemsets, several),
        ):
            if measurement is not None and held:
                step = int(measurement.weights[min(held, len(measurement.weights) - 1)]) * times
                if step:
                    fewer = fewer.times(shifted(measurement, held, step))
    if unit.picks is not None and steps.pick_epsilon is not None:
        picked = mechanism.picks(steps.pick_epsilon, _CANDIDATES)
        sides = [law_over_groups(picked, side, declared=True) for side in unit.picks.sides]
        outcomes = list(sides[0] | sides[1])
        laws = [np.array([side.get(outcome, 0.0) for outcome in outcomes]) for side in sides]
        fewer = fewer.times(Pair(one=laws[0], other=laws[1]))
    named = 0.0
    if steps.certificate is not None and unit.support is not None:
        tests = [steps.certificate.law([support] * mechanism.top) for support in (unit.support, unit.support + 1)]
        if unit.own:
            # Without the unit nothing is named: nobody has one of the items.
            named = 1 - tests[1].get(0, 0.0)
        else:
            lengths = sorted(tests[0].keys() | tests[1].keys())
            passed = [np.array([test.get(length, 0.0) for length in lengths]) for test in tests]
            fewer = fewer.times(Pair(one=passed[0], other=passed[1]))
    more = Pair(one=fewer.other * (1 - named), other=fewer.one)
    return np.maximum(Pair(one=more.other, other=more.one).deltas(epsilons), named + more.deltas(epsilons))
