"""Hard neighbours of the weighted Gaussian histogram at its planned parameters, by exact laws of merged outcomes.

As in the proof, the noisy sums of the itemsets that both neighbours have are shown, and which itemsets are found. The
additional unit has Delta transactions. They hold some itemsets that everybody has, which are found for certain. All
their sums shift by the same amount, so the total of the sums tells as much as all of them. The transactions also hold
some itemsets that nobody else has: the same ones, or each its own. Finding one of these tells the sides apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from fim_private.arrays import Floats
from fim_private.audit.merged_outcomes import Pair, shifted
from fim_private.audit.one_unit_more import CANDIDATES, Unit, either_way, hard_picks, pair_of_picks, worst_of
from fim_private.mechanisms.named_items import NamedItems
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import log_discrete_gaussian_survival

_NOTHING = Pair(one=np.ones(1), other=np.ones(1))
_COMMON = (0, 1, 45, 1225)
_ITEMS = (1, 2, 3, 4, 6, 10, 18, 32, 60, 91)
"""The unit's own itemsets are all itemsets of this many items of its own."""


def largest_deltas(
    mechanism: WeightedGaussian, epsilons: Sequence[float], *, steps: int, randomness: Randomness
) -> list[tuple[float, Unit]]:
    """The largest delta found at each epsilon, and what the unit holds there. Arguments as in `items_first_cases`."""
    units = _units(mechanism, epsilons, steps, randomness)
    return worst_of(((unit, _deltas(mechanism, unit, epsilons)) for unit in units), len(epsilons))


def found_of_its_own(histogram: WeightedGaussian | NamedItems, own: int, held: int, sensitivity: int) -> float:
    """The probability that an itemset of the unit alone is found, if each of its transactions has this many of them.

    Args:
        histogram: what finds itemsets.
        own: how many itemsets of each transaction are the unit's own: the same ones, or different ones.
        held: how many itemsets each transaction holds.
        sensitivity: how many transactions the unit has.
    """
    weight = histogram.measurement.added(held)
    if not own or not weight:
        return 0.0
    chances = []
    for itemsets, added in ((own, sensitivity * weight), (sensitivity * own, weight)):
        tail = log_discrete_gaussian_survival(histogram.threshold - added, float(histogram.measurement.variance))
        chances.append(-math.expm1(itemsets * math.log1p(-math.exp(tail))))
    return max(chances)


def _units(
    mechanism: WeightedGaussian, epsilons: Sequence[float], steps: int, randomness: Randomness
) -> Iterator[Unit]:
    picks = hard_picks(mechanism.picks(CANDIDATES), mechanism.sensitivity, epsilons, steps, randomness)
    for common in _COMMON:
        numbers = (sum(math.comb(items, size) for size in mechanism.sizes) for items in _ITEMS)
        own = max(numbers, key=lambda own: found_of_its_own(mechanism, own, common + own, mechanism.sensitivity))
        for its_own in (0, own):
            for pair in picks if common else picks[:1]:
                if common + its_own:
                    yield Unit(common=common, own=its_own, picks=pair, of="itemsets")


def _deltas(mechanism: WeightedGaussian, unit: Unit, epsilons: Sequence[float]) -> Floats:
    """delta at each epsilon, in the direction where it is larger."""
    held = unit.common + unit.own
    step = mechanism.sensitivity * mechanism.measurement.added(held)
    fewer = _NOTHING
    if unit.common and step:
        fewer = fewer.times(shifted(mechanism.measurement, unit.common, step))
    if unit.picks is not None:
        fewer = fewer.times(pair_of_picks(mechanism.picks(CANDIDATES), unit.picks))
    named = found_of_its_own(mechanism, unit.own, held, mechanism.sensitivity)
    return either_way(fewer, named, epsilons)
