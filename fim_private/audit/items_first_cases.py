"""The hardest neighbours of items-first at its planned parameters, compared exactly except for merged outcomes.

`items_first_divergence.py` sums over everything that can be released. With planned noise this takes too long. Here the
neighbours are chosen so that the sum factorises. Everybody's items are so frequent that they are found for certain. The
additional unit holds some of these items, and some items that nobody else has. It shifts some coordinates of the noisy
counts by the same amount, so the sum of these coordinates tells as much as all of them. Outcomes are then merged by
their ratio of probabilities. Merging can only make the neighbours look more alike, so the delta found is a lower bound,
and a close one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fim_private.audit.laws import Floats, law_over_groups
from fim_private.audit.neighbours import Limits, Neighbours
from fim_private.audit.search import hardest
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.measurement import Measurement
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass, log_discrete_gaussian_survival

_REACH = 9.0
_CELLS = 800
_FINEST = 25.0
"""Log ratios beyond plus or minus this are merged."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What the additional unit holds.

    Args:
        common: items that everybody has.
        own: items that nobody else has.
        picks: the itemsets of the common items, if the mechanism makes picks. Otherwise None.
    """

    common: int
    own: int
    picks: Neighbours | None = None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The probabilities P and P' of merged outcomes."""

    one: Floats
    other: Floats

    def times(self, next_step: Pair) -> Pair:
        """Both steps, which are independent. Outcomes of nearly the same ratio are merged."""
        return _merged(np.outer(self.one, next_step.one).ravel(), np.outer(self.other, next_step.other).ravel())

    def deltas(self, epsilons: Sequence[float]) -> Floats:
        """delta(eps) of the first law over the other."""
        return np.array([np.sum(np.maximum(0.0, self.one - math.exp(epsilon) * self.other)) for epsilon in epsilons])


def _merged(one: Floats, other: Floats) -> Pair:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(np.log(one) - np.log(other), nan=0.0, posinf=_FINEST, neginf=-_FINEST)
    cell = np.clip(np.rint(ratio * (_CELLS / _FINEST)), -_CELLS, _CELLS).astype(np.int64) + _CELLS
    return Pair(one=np.bincount(cell, one).astype(float), other=np.bincount(cell, other).astype(float))


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
    picks: list[Neighbours | None] = [None]
    if mechanism.select == "peel":
        candidates = 100
        found = hardest(
            mechanism.picks(candidates),
            [share * float(epsilons[-1]) for share in (0.3, 0.5, 0.7, 0.9)],
            Limits(sensitivity=mechanism.sensitivity, universe_size=candidates),
            steps=steps,
            starts=3,
            randomness=randomness,
        )
        picks += [worst.pair for worst in found.worst if worst.delta]
    full = mechanism.discovery.measurement.full
    most = mechanism.discovery.max_items
    for common in sorted({0, full, max(2, mechanism.size), most}):
        for own in (0, 1, full, most):
            if 1 <= common + own <= most:
                for laws in picks if common >= mechanism.size else picks[:1]:
                    yield Unit(common=common, own=own, picks=laws)


def _deltas(mechanism: ItemsFirst, unit: Unit, epsilons: Sequence[float]) -> Floats:
    """delta at each epsilon, in the direction where it is larger."""
    discovery = mechanism.discovery
    weight = int(discovery.measurement.weights[unit.common + unit.own])
    fails = math.exp(log_discrete_gaussian_survival(discovery.threshold + 1 - weight, discovery.measurement.variance))
    found = -math.expm1(unit.own * math.log1p(-fails))
    fewer = Pair(one=np.ones(1), other=np.ones(1))
    if unit.common:
        fewer = fewer.times(_shifted(discovery.measurement, unit.common, weight))
        # A unit of several transactions holds the same items in each of them.
        for measurement, size in ((mechanism.pairs, 2), (mechanism.itemsets, mechanism.size)):
            if measurement is not None and (held := math.comb(unit.common, size)):
                step = int(measurement.weights[held]) * mechanism.sensitivity
                fewer = fewer.times(_shifted(measurement, held, step))
    if unit.picks is not None:
        sides = [law_over_groups(mechanism.picks(100), side, declared=True) for side in unit.picks.sides]
        outcomes = list(sides[0] | sides[1])
        laws = [np.array([side.get(outcome, 0.0) for outcome in outcomes]) for side in sides]
        fewer = fewer.times(Pair(one=laws[0], other=laws[1]))
    more = Pair(one=fewer.other * (1 - found), other=fewer.one)
    return np.maximum(Pair(one=more.other, other=more.one).deltas(epsilons), found + more.deltas(epsilons))


def _shifted(measurement: Measurement, coordinates: int, step: int) -> Pair:
    """The laws of the sum of the coordinates' noise, without and with a shift of `step` in each coordinate."""
    total = _of_sums(float(measurement.variance), coordinates)
    moved = np.concatenate([np.zeros(coordinates * step), total])
    return _merged(np.concatenate([total, np.zeros(coordinates * step)]), moved)


@lru_cache(maxsize=32)
def _of_sums(variance: float, coordinates: int) -> Floats:
    """The law of the sum of `coordinates` discrete Gaussians, on consecutive integers around 0."""
    reach = math.ceil(_REACH * math.sqrt(variance * coordinates))
    padded = 1 << (2 * reach).bit_length()
    values = np.arange(padded) - padded // 2
    mass = np.fft.ifftshift(discrete_gaussian_mass(values, variance))
    total: Floats = np.fft.fftshift(np.fft.irfft(np.fft.rfft(mass) ** coordinates, padded))
    # In the far tails only the rounding errors of the transform are left.
    total[total < 1e-15] = 0.0
    return total
