"""How far apart the releases of items-first on two small data sets are, exactly: nothing is sampled.

The universe is N names that include the items of both data sets. Compared are: the value of each look in the bin that
differs, the noisy count of each of the N names, perhaps a second one, the later steps that these values decide on, how
many itemsets the certificate lets pass, and their names, if all of their items occur. The program forgets most of that:
it shows no look, and shows only what belongs to itemsets that are named. So its release is post-processing of the
outcome compared here.

All noises are independent until released values decide something. So the sum over outcomes is one over a grid of looks
and items, and for each way to go on one over what follows. The two are joined by sorting their ratios. Outcomes that
are followed by the same and have the same ratio are one outcome. Grids are cut where less than 1e-9 of a distribution
is left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from fim_private.audit.laws import law_over_itemsets
from fim_private.mechanisms.anonymous_items import AnonymousItems
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.laplace_measurement import LaplaceMeasurement
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.lengths import BINS
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.noise_family import GAUSSIAN, LAPLACE, NoiseFamily
from fim_private.mechanisms.protocol import PEEL
from fim_private.privacy import DiscreteGaussian, OneSidedFailure

Floats = NDArray[np.float64]
Basket = frozenset[int]
Unit = tuple[Basket, ...]
"""The transactions of one privacy unit."""

_REACH, _LAPLACE_REACH = 6.2, 15.0

LOOKS, ITEMS, AGAIN, CERTIFICATE, DOUBT = "looks", "items", "again", "certificate", "doubt"


@dataclass(frozen=True)
class Masses:
    """P and P' of the same outcomes, in the same order."""

    one: Floats
    other: Floats

    def times(self, further: Masses) -> Masses:
        """Both, where they are independent: the outcomes of `further` vary fastest."""
        return Masses(
            np.multiply.outer(self.one, further.one).ravel(), np.multiply.outer(self.other, further.other).ravel()
        )

    def where(self, chosen: NDArray[np.bool_]) -> Masses:
        """Those of some outcomes."""
        return Masses(self.one[chosen], self.other[chosen])

    def merged(self) -> Masses:
        """Outcomes of one ratio as one, which changes no delta: a ratio's eleventh decimal is rounding error."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.round(np.log(self.one) - np.log(self.other), 11)
        _, places = np.unique(ratios, return_inverse=True)
        return Masses(*(np.bincount(places, masses).astype(np.float64) for masses in (self.one, self.other)))


class SmallItemsFirst(ItemsFirst):
    """items-first with small grids. The looks and the noisy counts of the items decide between two ways to go on."""

    counted_again = Fraction(0)
    """The share of what is left for counting the items once more."""
    counted_in_doubt = Fraction(0)
    """The share of what is left after that for counting an itemset in doubt once more."""

    def ways(self) -> tuple[LaterSteps, LaterSteps]:
        """The later steps that can follow: a weak certificate or a strong one. Both cost all that is left."""
        return self.way(Fraction(1, 2)), self.way(Fraction(1, 5))

    def remembered(self, step: str) -> bool:
        """Whether a step is taken off the budget; a broken twin forgets one."""
        return bool(step)

    def way(self, test_share: Fraction) -> LaterSteps:
        """The later steps with this share of what is left for the test, and the same again for choosing the length."""
        left = self.budget
        left -= 2 * self.look.cost if self.remembered(LOOKS) else 0
        left -= self.items.measurement.cost if self.remembered(ITEMS) else 0
        again = _measured(self.noise, left * self.counted_again, 1) if self.counted_again else None
        left -= again.cost if again is not None and self.remembered(AGAIN) else 0
        certificate = self._small_certificate(left * test_share)
        if certificate is not None and self.remembered(CERTIFICATE):
            left -= certificate.rho
        if self.select == PEEL:
            after = float(certificate.rho) if certificate else 0.0
            pick = self.noise.pick_epsilon(float(left), self.top, after, self.tuning.rise)
            return LaterSteps(again=again, pick_epsilon=pick, tokens=9, candidates=9, certificate=certificate)
        in_doubt = left * self.counted_in_doubt
        measured = _measured(self.noise, (left - in_doubt) / (2 if self.size > 2 else 1), self.sensitivity)
        return LaterSteps(
            again=again,
            pairs=measured if self.size > 2 else None,
            itemsets=measured,
            in_doubt=(float(in_doubt * (1 if self.remembered(DOUBT) else 100)),) if in_doubt else (),
            tokens=9,
            candidates=9,
            certificate=certificate,
        )

    def item_masses(self, units: int, values: NDArray[np.int64]) -> Floats:
        """P(noisy count = value) for an item of this count, in the measurement's units."""
        return self.items.measurement.masses(values - units)

    def names(self, items: Collection[int], occurring: Collection[int]) -> bool:
        """Whether itemsets of these items may be named, if the certificate lets them pass."""
        return set(items) <= set(occurring)

    def _small_certificate(self, rho: Fraction) -> Certificate | None:
        if self.test_delta is None:
            return None
        return Certificate.costing(rho / 2, rho / 2, failure=OneSidedFailure(self.test_delta))


class CountsAgain(SmallItemsFirst):
    """It counts all items once more, and puts them in the order of these counts."""

    counted_again = Fraction(3, 4)


class CountsInDoubt(SmallItemsFirst):
    """It counts one itemset once more: that whose noisy count is nearest to 2. This count alone decides the list."""

    counted_in_doubt = Fraction(2, 3)


def small(
    select: str,
    *,
    names: int = 2,
    size: int = 1,
    budget: Fraction = Fraction(3, 4),
    shares: tuple[Fraction, Fraction] = (Fraction(1, 12), Fraction(1, 3)),
    test_delta: Fraction | None = Fraction(1, 100),
    full: int | None = None,
    resolution: int = 1,
    sensitivity: int = 1,
    noise: NoiseFamily = GAUSSIAN,
    kind: type[SmallItemsFirst] = SmallItemsFirst,
) -> SmallItemsFirst:
    """An instance.

    Args:
        select: "peel" or "counts".
        names: N.
        size: items per itemset.
        budget: of all steps together.
        shares: of the budget, for each look and for the items.
        test_delta: of the certificate; None for a public list of names.
        full: of the items' measurement; None for N, so that weights play no role.
        resolution: of the items' measurement.
        sensitivity: Delta.
        noise: the family of noise of all steps.
        kind: the class, perhaps of a broken twin.
    """
    full = names if full is None else full
    measured = _exactly(noise, full, shares[1] * budget, resolution=resolution)
    return kind(
        top=2,
        sizes=(size,),
        select=select,
        look=noise.look.costing(shares[0] * budget),
        items=AnonymousItems(measurement=measured, names=names),
        budget=budget,
        test_delta=test_delta,
        sensitivity=sensitivity,
        noise=noise,
    )


def delta_of(mechanism: SmallItemsFirst, one: Collection[Unit], other: Collection[Unit], epsilon: float) -> float:
    """delta(epsilon) in one direction: the sum over outcomes of max(0, P - e^epsilon P').

    Args:
        mechanism: its N names are 0, 1, ..., N - 1.
        one: of each unit no more transactions than the sensitivity, of items below N.
        other: likewise; it differs from the first by one unit.
        epsilon: at which epsilon.
    """
    deltas = (
        _joined(first, further, math.exp(epsilon))
        for first, way, order in _first_steps(mechanism, one, other)
        for further in [_later(mechanism, way, order, tuple(one), tuple(other))]
    )
    return math.fsum(deltas)


def _joined(first: Masses, further: Masses, ratio: float) -> float:
    """The sum of max(0, P Q - ratio P' Q') over all pairs of outcomes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = further.one / further.other
        wanted = ratio * first.other
        wanted /= first.one
    lift[np.isnan(lift)] = 0.0
    wanted[np.isnan(wanted)] = np.inf
    order = np.argsort(-lift, kind="stable")
    sums = [np.concatenate([[0.0], np.cumsum(masses[order])]) for masses in (further.one, further.other)]
    above = np.searchsorted(-lift[order], -wanted, side="left")
    return float(np.sum(first.one * sums[0][above] - ratio * first.other * sums[1][above]))


def _first_steps(
    mechanism: SmallItemsFirst, one: Collection[Unit], other: Collection[Unit]
) -> Iterator[tuple[Masses, int, tuple[int, ...]]]:
    """The looks and the noisy counts of the items, split by what follows: which way, and the order of the tokens."""
    names = mechanism.items.names
    (less, more) = sorted((list(one), list(other)), key=len)
    unit = next(unit for unit in more if more.count(unit) > less.count(unit))
    place = int(np.searchsorted(BINS, len(frozenset[int]().union(*unit)), side="right")) - 1
    bins = [_in_bin(units, place) for units in (one, other)]
    seen = mechanism.noise.measurement(full=1, resolution=1, variance=mechanism.look.variance)
    look, looked = _axis(seen, *bins)
    axes = [_item_axis(mechanism, one, other, item) for item in range(names)]
    looks, items = look.times(look), Masses(np.ones(1), np.ones(1))
    for axis, _ in axes:
        items = items.times(axis)
    noisy = [values.ravel() for values in np.meshgrid(*(values for _, values in axes), indexing="ij")]
    # Any function of released values may decide which way. This one makes every step matter.
    switched = ((looked > bins[0])[:, None] ^ (looked > bins[1])).ravel()
    many = noisy[0] + noisy[-1] > 2
    ranked = np.argsort(-np.stack(noisy, axis=1), axis=1, kind="stable")
    # Looks and items are split and merged before they are multiplied: their grid is thousands of times as large.
    halves = [looks.where(switched == half).merged() for half in (False, True)]
    for order in permutations(range(names)):
        here = np.logical_and.reduce([ranked[:, place] == item for place, item in enumerate(order)])
        for chosen in (0, 1):
            for half, looked_at in enumerate(halves):
                yield looked_at.times(items.where(here & (many == (chosen ^ half))).merged()), chosen, order


@lru_cache(maxsize=16)
def _ways(mechanism: SmallItemsFirst) -> tuple[LaterSteps, LaterSteps]:
    return mechanism.ways()


@lru_cache(maxsize=256)
def _later(
    mechanism: SmallItemsFirst, way: int, order: tuple[int, ...], one: tuple[Unit, ...], other: tuple[Unit, ...]
) -> Masses:
    """What follows, on both data sets: perhaps new counts of the items, which put them in another order."""
    again = _ways(mechanism)[way].again
    if again is None:
        return _last(mechanism, way, order, one, other).merged()
    names = mechanism.items.names
    masses, grids = Masses(np.ones(1), np.ones(1)), []
    for axis, values in _counted(again, [(item,) for item in range(names)], _merged(one), _merged(other)):
        masses = masses.times(axis)
        grids.append(values)
    noisy = np.stack([values.ravel() for values in np.meshgrid(*grids, indexing="ij")], axis=1)
    ranked = np.array(order)[np.argsort(-noisy[:, order], axis=1, kind="stable")]
    parts = []
    for renewed in permutations(range(names)):
        here = np.all(ranked == renewed, axis=1)
        if here.any():
            parts.append(masses.where(here).merged().times(_last(mechanism, way, renewed, one, other).merged()))
    return Masses(np.concatenate([part.one for part in parts]), np.concatenate([part.other for part in parts])).merged()


def _merged(units: Collection[Unit]) -> list[Unit]:
    """Each unit's transactions as one."""
    return [(frozenset[int]().union(*unit),) for unit in units]


@lru_cache(maxsize=256)
def _last(
    mechanism: SmallItemsFirst, way: int, order: tuple[int, ...], one: tuple[Unit, ...], other: tuple[Unit, ...]
) -> Masses:
    """Picks or noisy counts of itemsets, and the certificate, on both data sets."""
    steps = _ways(mechanism)[way]
    itemsets = list(combinations(range(mechanism.items.names), mechanism.size))
    before = Masses(np.ones(1), np.ones(1))
    if steps.pick_epsilon is not None:
        # Likely itemsets get a public addition to their counts.
        favour = [sum(len(order) - order.index(item) for item in itemset) for itemset in itemsets]
        laws = [
            law_over_itemsets(
                mechanism.picks(steps.pick_epsilon, len(itemsets)),
                [
                    sum(set(itemset) <= basket for basket in _baskets(units)) + more
                    for itemset, more in zip(itemsets, favour, strict=True)
                ],
                declared=True,
            )
            for units in (one, other)
        ]
        lists = sorted(laws[0].keys() | laws[1].keys())
        which = np.arange(len(lists))
        before = Masses(*(np.array([law.get(chosen, 0.0) for chosen in lists]) for law in laws))
    else:
        grids = []
        if steps.pairs is not None:
            pairs = list(combinations(range(mechanism.items.names), 2))
            for axis, _ in _counted(steps.pairs, pairs, one, other):
                before = before.times(axis)
        number = len(before.one)
        if steps.itemsets is not None:
            for axis, values in _counted(steps.itemsets, itemsets, one, other):
                before = before.times(axis)
                grids.append(values)
        counts = np.stack([values.ravel() for values in np.meshgrid(*grids, indexing="ij")], axis=1)
        for cost in steps.in_doubt:
            measured = _measured(mechanism.noise, Fraction(cost), mechanism.sensitivity)
            before, counts = _counted_in_doubt(measured, before, counts, itemsets=itemsets, sides=(one, other))
        ranked = np.argsort(-counts, axis=1, kind="stable")[:, : mechanism.top]
        # Each list as one number: rows are slow to sort.
        shape = (len(itemsets),) * ranked.shape[1]
        numbers, places = np.unique(np.ravel_multi_index(tuple(ranked.T), shape), return_inverse=True)
        lists = [tuple(map(int, row)) for row in zip(*np.unravel_index(numbers, shape), strict=True)]
        which = np.tile(places, number)
    # Itemsets of tokens with large noisy counts come first.
    ranked_lists = [
        sorted((itemsets[at] for at in chosen), key=lambda itemset: max(order.index(item) for item in itemset))
        for chosen in lists
    ]
    return _certified(mechanism, steps.certificate, before, lists=ranked_lists, which=which, sides=(one, other))


def _counted_in_doubt(
    measurement: Measurement,
    before: Masses,
    counts: NDArray[np.int64],
    *,
    itemsets: Sequence[tuple[int, ...]],
    sides: tuple[Collection[Unit], Collection[Unit]],
) -> tuple[Masses, NDArray[np.int64]]:
    """One more count of the itemset whose first count is nearest to 2, in place of that count.

    Args:
        measurement: how it is counted.
        before: the outcomes so far.
        counts: shape (outcomes, itemsets), the first counts.
        itemsets: what was counted.
        sides: both data sets.
    """
    nearest = np.argmin(np.abs(counts - 2), axis=1)
    parts, found = [], []
    for place, itemset in enumerate(itemsets):
        here = nearest == place
        ((axis, values),) = _counted(measurement, [itemset], *sides)
        parts.append(before.where(here).times(axis))
        renewed = np.repeat(counts[here], len(values), axis=0)
        renewed[:, place] = np.tile(values, int(here.sum()))
        found.append(renewed)
    joined = Masses(np.concatenate([part.one for part in parts]), np.concatenate([part.other for part in parts]))
    return joined, np.concatenate(found)


def _certified(
    mechanism: SmallItemsFirst,
    certificate: Certificate | None,
    before: Masses,
    *,
    lists: Sequence[Sequence[tuple[int, ...]]],
    which: NDArray[np.int64],
    sides: Sequence[Collection[Unit]],
) -> Masses:
    """Each list with the number of its itemsets that are named: none if one of their items does not occur.

    Args:
        mechanism: what may be named.
        certificate: the test.
        before: the outcomes so far.
        lists: the lists that there can be.
        which: shape (outcomes,), which of them each outcome has.
        sides: both data sets.
    """
    if certificate is None:
        return before
    parts = []
    for place, listed in enumerate(lists):
        here = before.where(which == place)
        laws = [_named(mechanism, certificate, listed, units) for units in sides]
        for named in sorted({*laws[0], *laws[1]}):
            one, other = (law.get(named, 0.0) for law in laws)
            parts.append(Masses(here.one * one, here.other * other))
    return Masses(np.concatenate([part.one for part in parts]), np.concatenate([part.other for part in parts]))


def _named(
    mechanism: SmallItemsFirst, certificate: Certificate, listed: Sequence[tuple[int, ...]], units: Collection[Unit]
) -> dict[int, float]:
    sets = [frozenset[int]().union(*unit) for unit in units]
    supports = [min(sum(item in held for held in sets) for item in itemset) for itemset in listed]
    occurring = frozenset[int]().union(*sets)
    law: dict[int, float] = defaultdict(float)
    for number, chance in certificate.law(supports).items():
        revealed = mechanism.names({item for itemset in listed[:number] for item in itemset}, occurring)
        law[number if revealed else 0] += chance
    return law


def _item_axis(
    mechanism: SmallItemsFirst, one: Collection[Unit], other: Collection[Unit], item: int
) -> tuple[Masses, NDArray[np.int64]]:
    counts = [_counted_as(mechanism, units, item) for units in (one, other)]
    values = _values(mechanism.items.measurement, *counts)
    return Masses(*(mechanism.item_masses(units, values) for units in counts)), values


def _counted_as(mechanism: SmallItemsFirst, units: Collection[Unit], item: int) -> int:
    """An item's count, in units of the measurement: each unit's transactions are one set."""
    weights = mechanism.items.measurement.weights
    sets = [frozenset[int]().union(*unit) for unit in units]
    return sum(int(weights[len(held)]) for held in sets if item in held)


def _in_bin(units: Collection[Unit], place: int) -> int:
    lengths = [len(frozenset[int]().union(*unit)) for unit in units]
    return sum(int(np.searchsorted(BINS, length, side="right")) - 1 == place for length in lengths)


def _counted(
    measurement: Measurement, itemsets: Sequence[tuple[int, ...]], one: Collection[Unit], other: Collection[Unit]
) -> Iterator[tuple[Masses, NDArray[np.int64]]]:
    """An axis for each itemset: its noisy count."""
    for counts in zip(*(_weighted(measurement, _baskets(units), itemsets) for units in (one, other)), strict=True):
        yield _axis(measurement, *counts)


def _axis(measurement: Measurement, one: int, other: int) -> tuple[Masses, NDArray[np.int64]]:
    values = _values(measurement, one, other)
    return Masses(*(measurement.masses(values - units) for units in (one, other))), values


def _values(measurement: Measurement, one: int, other: int) -> NDArray[np.int64]:
    deviations = _LAPLACE_REACH if isinstance(measurement, LaplaceMeasurement) else _REACH
    reach = math.ceil(deviations * math.sqrt(measurement.variance))
    return np.arange(min(one, other) - reach, max(one, other) + reach + 1)


def _measured(noise: NoiseFamily, cost: Fraction, sensitivity: int) -> Measurement:
    """Counts in transactions, of which a transaction that holds two itemsets counts in full for both."""
    return _exactly(noise, 2, cost, sensitivity=sensitivity)


def _exactly(
    noise: NoiseFamily, full: int, cost: Fraction, *, resolution: int = 1, sensitivity: int = 1
) -> Measurement:
    """The measurement of this resolution that costs at most this much."""
    if noise is LAPLACE:
        variance = 2 * math.ceil(sensitivity * resolution * full / cost) ** 2
    else:
        variance = DiscreteGaussian.variance_costing(sensitivity**2 * resolution**2 * full, cost)
    return noise.measurement(full=full, resolution=resolution, variance=variance, sensitivity=sensitivity)


def _baskets(units: Collection[Unit]) -> list[Basket]:
    return [basket for unit in units for basket in unit]


def _weighted(measurement: Measurement, baskets: Collection[Basket], itemsets: Sequence[tuple[int, ...]]) -> list[int]:
    counts = [0] * len(itemsets)
    for basket in baskets:
        held = [place for place, itemset in enumerate(itemsets) if set(itemset) <= basket]
        for place in held:
            counts[place] += int(measurement.weights[len(held)])
    return counts
