"""How far apart the releases of items-first on two small data sets are, exactly: nothing is sampled.

A release is the items found with their noisy counts, and then either a list of picks, whose law is known, or noisy
counts. Given which items are found all noises are independent, so the sum over releases is one over a grid: an axis a
noisy count. Grids are cut where less than 1e-12 of a distribution is left out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fim_private.audit.laws import law_over_itemsets
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.measurement import Measurement
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass

Floats = NDArray[np.float64]
Basket = frozenset[int]
Unit = tuple[Basket, ...]
"""The transactions of one privacy unit."""

_REACH = 7.5


@dataclass(frozen=True)
class Axis:
    """One noisy count on both data sets: P and P' of each value of a grid; they need not sum to 1."""

    one: Floats
    other: Floats


def delta_of(mechanism: ItemsFirst, one: Collection[Unit], other: Collection[Unit], epsilon: float) -> float:
    """delta(epsilon) in one direction: the sum over releases of max(0, P - e^epsilon P').

    Args:
        mechanism: with candidates enough for every itemset.
        one: of each unit no more transactions than the sensitivity, and no more items than the discovery's `max_items`.
        other: likewise.
        epsilon: at which epsilon.
    """
    items = sorted(frozenset[int]().union(*_baskets(one), *_baskets(other)))
    total = 0.0
    for number in range(len(items) + 1):
        for found in combinations(items, number):
            missed = [item for item in items if item not in found]
            axes = [_found(mechanism, one, other, item) for item in found]
            scale = [
                math.prod(_missed(mechanism, _counted_as(mechanism, units, item)) for item in missed)
                for units in (one, other)
            ]
            if mechanism.itemsets is None:
                laws = [_picks(mechanism, _baskets(units), found) for units in (one, other)]
                outcomes = [(laws[0][chosen], laws[1].get(chosen, 0.0)) for chosen in laws[0]]
            else:
                outcomes = [(1.0, 1.0)]
                axes += list(_counted(mechanism, _baskets(one), _baskets(other), found))
            grid = [_product([axis.one for axis in axes]), _product([axis.other for axis in axes])]
            for chances in outcomes:
                excess = scale[0] * chances[0] * grid[0] - math.exp(epsilon) * scale[1] * chances[1] * grid[1]
                total += float(np.sum(np.maximum(excess, 0.0)))
    return total


def _baskets(units: Collection[Unit]) -> list[Basket]:
    return [basket for unit in units for basket in unit]


def _counted_as(mechanism: ItemsFirst, units: Collection[Unit], item: int) -> int:
    """An item's count in the discovery: each unit's transactions are one set."""
    weights = mechanism.discovery.measurement.weights
    sets = [frozenset[int]().union(*unit) for unit in units]
    return sum(int(weights[len(held)]) for held in sets if item in held)


def _missed(mechanism: ItemsFirst, units: int) -> float:
    """P(an item of this count is not found); 1 if nobody has it."""
    if units == 0:
        return 1.0
    variance = mechanism.discovery.measurement.variance
    reach = math.ceil(_REACH * math.sqrt(variance)) + abs(mechanism.discovery.threshold - units) + 1
    below = np.arange(-reach, mechanism.discovery.threshold - units + 1)
    return float(np.sum(discrete_gaussian_mass(below, variance)))


def _found(mechanism: ItemsFirst, one: Collection[Unit], other: Collection[Unit], item: int) -> Axis:
    """The noisy counts with which an item is found."""
    discovery = mechanism.discovery
    counts = [_counted_as(mechanism, units, item) for units in (one, other)]
    most = max(discovery.threshold, *counts) + math.ceil(_REACH * math.sqrt(discovery.measurement.variance))
    values = np.arange(discovery.threshold + 1, most + 1)
    masses = [
        discrete_gaussian_mass(values - units, discovery.measurement.variance) if units else np.zeros(len(values))
        for units in counts
    ]
    return Axis(*masses)


def _counted(
    mechanism: ItemsFirst, one: Collection[Basket], other: Collection[Basket], found: Sequence[int]
) -> Iterator[Axis]:
    """An axis for each noisy count of a pair, then of an itemset, of the items found."""
    for measurement, size in ((mechanism.pairs, 2), (mechanism.itemsets, mechanism.size)):
        if measurement is not None:
            itemsets = [frozenset(itemset) for itemset in combinations(found, size)]
            counts = [_weighted(measurement, baskets, itemsets) for baskets in (one, other)]
            reach = math.ceil(_REACH * math.sqrt(measurement.variance))
            for units, others in zip(*counts, strict=True):
                values = np.arange(min(units, others) - reach, max(units, others) + reach + 1)
                yield Axis(
                    discrete_gaussian_mass(values - units, measurement.variance),
                    discrete_gaussian_mass(values - others, measurement.variance),
                )


def _weighted(measurement: Measurement, baskets: Collection[Basket], itemsets: Sequence[Basket]) -> list[int]:
    counts = [0] * len(itemsets)
    for basket in baskets:
        held = [place for place, itemset in enumerate(itemsets) if itemset <= basket]
        for place in held:
            counts[place] += int(measurement.weights[len(held)])
    return counts


def _picks(
    mechanism: ItemsFirst, baskets: Collection[Basket], found: Sequence[int]
) -> dict[tuple[tuple[int, ...], ...], float]:
    """The law over lists of itemsets of the items found."""
    itemsets = list(combinations(found, mechanism.size))
    if not itemsets:
        return {(): 1.0}
    counts = [sum(set(itemset) <= basket for basket in baskets) for itemset in itemsets]
    law = law_over_itemsets(mechanism.picks(len(itemsets)), counts, declared=True)
    return {tuple(itemsets[place] for place in ranks): chance for ranks, chance in law.items()}


def _product(parts: Sequence[Floats]) -> Floats:
    """The outer product, flat."""
    product = np.ones(1)
    for part in parts:
        product = np.multiply.outer(product, part).ravel()
    return product
