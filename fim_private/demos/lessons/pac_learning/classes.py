"""Finite classes of hypotheses over a known distribution: true errors, and counts of correct answers in a sample.

Each class has a proved radius of uniform convergence: with probability 1 - delta_0 over a sample of n, no hypothesis'
error in the sample is further from its true error than this radius. The radius stands for the paper's
C_0 sqrt(d log(n/delta_0)/n), with its constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.demos import shop
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

Whole = NDArray[np.int64]

PLACES, BEST, FLIPPED = 4096, 1500, 0.1
"""How many places the line has, the place of the true threshold, and how often a label is wrong."""


@dataclass(frozen=True, eq=False, kw_only=True)
class HypothesisClass:
    """The distinct functions of a class, and how many hypotheses are each function.

    Args:
        name: what the class is called.
        errors: float64, shape (functions,): the true error of each.
        hypotheses: how many hypotheses are each function: whole numbers of any size.
        radius: the radius of uniform convergence, from n and delta_0.
        correct: how many of n examples, drawn independently, each function classifies correctly.
    """

    name: str
    errors: Floats
    hypotheses: tuple[int, ...]
    radius: Callable[[int, float], float]
    correct: Callable[[int, Randomness], Whole]

    @property
    def size(self) -> int:
        """|H|."""
        return sum(self.hypotheses)

    @property
    def least(self) -> float:
        """The least error in the class."""
        return float(np.min(self.errors))

    def within(self, excess: float) -> int:
        """How many hypotheses err by at most `excess` more than the best."""
        return sum(self.hypotheses[place] for place in np.flatnonzero(self.errors <= self.least + excess).tolist())


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """What a mechanism sees of a training sample, and the true errors behind it.

    Args:
        counts: how many hypotheses have which count of correct answers.
        errors: for each level, the true errors of its hypotheses.
        shares: for each level, the share of its hypotheses that has each of these errors.
    """

    counts: CountProfile
    errors: tuple[Floats, ...]
    shares: tuple[Floats, ...]


def draw(hypotheses: HypothesisClass, n: int, randomness: Randomness) -> Sample:
    """A training sample of n examples."""
    correct = hypotheses.correct(n, randomness)
    levels = np.unique(correct)[::-1]
    levels = levels[levels > 0]
    multiplicities, errors, shares = [], [], []
    for level in levels.tolist():
        places = np.flatnonzero(correct == level)
        many = [hypotheses.hypotheses[place] for place in places.tolist()]
        multiplicities.append(sum(many))
        errors.append(hypotheses.errors[places])
        shares.append(np.array([number / sum(many) for number in many]))
    counts = CountProfile(
        levels=levels.tolist(), multiplicities=multiplicities, zeros=hypotheses.size - sum(multiplicities)
    )
    return Sample(counts=counts, errors=tuple(errors), shares=tuple(shares))


@cache
def thresholds() -> HypothesisClass:
    """Thresholds on a line: 1 from place j on. Labels follow the threshold at BEST, and one in ten is flipped."""
    distance = np.abs(np.arange(PLACES + 1) - BEST) / PLACES
    return HypothesisClass(
        name="thresholds",
        errors=FLIPPED + (1 - 2 * FLIPPED) * distance,
        hypotheses=(1,) * (PLACES + 1),
        radius=_radius_of_thresholds,
        correct=_correct_thresholds,
    )


def _radius_of_thresholds(n: int, delta: float) -> float:
    """Bound two distribution functions, of examples with label 1 and with label 0, at delta/2 each (Massart 1990)."""
    return 2 * math.sqrt(math.log(4 / delta) / (2 * n))


def _correct_thresholds(n: int, randomness: Randomness) -> Whole:
    words = randomness.words(n)
    places = (words % PLACES).astype(np.int64)
    flipped = (words >> np.uint64(12)).astype(np.float64) < FLIPPED * 2.0**52
    ones = (places >= BEST) != flipped
    positive = np.bincount(places[ones], minlength=PLACES)
    negative = np.bincount(places[~ones], minlength=PLACES)
    below = np.concatenate([[0], np.cumsum(negative)])
    from_here = np.concatenate([np.cumsum(positive[::-1])[::-1], [0]])
    correct: Whole = below + from_here
    return correct


@cache
def stumps(features: int) -> HypothesisClass:
    """Decision stumps on the data set that ships: they tell from a single item whether a customer has many goods.

    A hypothesis says "many" if the customer has a certain item, or if the customer does not have it. An example is a
    customer drawn from the 4,372, so true errors are known. Features that no customer has make constant hypotheses.

    Raises:
        ValueError: there are not more features than items that occur.
    """
    items, customers, many = _purchases()
    having = np.bincount(items, minlength=shop.ITEMS)
    having_many = np.bincount(items[many[customers]], minlength=shop.ITEMS)
    right = having_many + np.sum(~many) - (having - having_many)
    all_right = np.concatenate([right, [np.sum(~many)]])
    absent = features - shop.ITEMS
    if absent < 1:
        raise ValueError("declare more features than occur: a constant hypothesis belongs to every class here")
    functions = 2 * (shop.ITEMS + 1)
    return HypothesisClass(
        name=f"stumps of {features:,} features",
        errors=np.concatenate([shop.CUSTOMERS - all_right, all_right]) / shop.CUSTOMERS,
        hypotheses=((1,) * shop.ITEMS + (absent,)) * 2,
        radius=lambda n, delta: math.sqrt(math.log(2 * functions / delta) / (2 * n)),  # Hoeffding, for each function
        correct=_correct_stumps,
    )


@cache
def _purchases() -> tuple[Whole, Whole, NDArray[np.bool_]]:
    """The item and the customer of each purchase, and whether each customer has many items."""
    data = shop.baskets()
    lengths = data.lengths()
    return data.items.astype(np.int64), np.repeat(np.arange(len(data)), lengths), lengths > np.median(lengths)


def _correct_stumps(n: int, randomness: Randomness) -> Whole:
    items, customers, many = _purchases()
    drawn = (randomness.words(n) % shop.CUSTOMERS).astype(np.int64)
    times = np.bincount(drawn, minlength=shop.CUSTOMERS)
    signed = np.where(many, times, -times)
    right = np.bincount(items, weights=signed[customers], minlength=shop.ITEMS).astype(np.int64) + np.sum(times[~many])
    right = np.concatenate([right, [np.sum(times[~many])]])
    return np.concatenate([right, n - right])
