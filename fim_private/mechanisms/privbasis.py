"""PrivBasis: noisy counts of all subsets of a few small sets of items (Li, Qardaji, Su, Cao 2012).

For the top k over several sizes together, among the items of a public list. Four steps:
  1. How many different items, lambda, do the top k itemsets have? The exponential mechanism chooses the rank at which
    an item is as frequent as itemset number eta k.
  2. Which items? lambda picks among the items, and, if these do not fit into one basis, up to eta k - lambda picks
    among their pairs.
  3. Bases: small sets of items that cover these (`mining/bases.py`). This needs no data.
  4. A transaction is in one bin of each basis, so noisy counts of all bins cost little. The counts of all subsets of
    the bases are sums of bins, and the top k are read from them.

As published, the steps get 0.1, 0.4 and 0.5 of epsilon, and noise is Laplace noise. With a delta, discrete Gaussian
noise and Gaussian composition do better: the same shares are then of rho. Theorem and proof:
docs/mathematics.md#privbasis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

from fim_private.accounting.calibration import calibrate_gaussian, prove_basic
from fim_private.accounting.gaussian_composition import range_costing
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.count_noise import CountNoise, GaussianCounts, LaplaceCounts
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.noise_family import GAUSSIAN, LAPLACE
from fim_private.mechanisms.protocol import MUCH, CalibratedMechanism, Margin, Request, Spending
from fim_private.privacy import BoundedRange, DiscreteGaussian, Gaussian, Loss, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.uniform import uniform_below
from fim_private.randomness.weighted_choice import WeightedChoice

NUMBER, PICKS, BINS = Fraction(1, 10), Fraction(4, 10), Fraction(5, 10)
"""The paper's shares of the budget."""
ETA = Fraction(11, 10)
"""The paper's eta. The items and pairs of a list this many times as long as k are looked for."""
MOST_IN_BASIS = 12
"""The paper's limit: 2^12 bins."""
LARGEST_TOP = 500
_REHEARSED = 50
"""The number of items that are enough to rehearse with, together with their pairs."""


@dataclass(frozen=True, kw_only=True)
class PrivBasis:
    """The number of items, the picks of items and pairs, and the noise of the bins.

    Args:
        top: k.
        sizes: items per itemset, increasing. Itemsets of several sizes are ranked together.
        items: how many items the public list has.
        budget: what all steps together cost: an epsilon, or with Gaussian noise a rho.
        gaussian: whether the noise of the bins is Gaussian.
        sensitivity: Delta.
        most: the largest number of items in a basis.
        fewest_items: if fewer items are chosen, this many of the list are picked.
    """

    top: int
    sizes: tuple[int, ...]
    items: int
    budget: Fraction
    gaussian: bool
    sensitivity: int = 1
    most: int = MOST_IN_BASIS
    fewest_items: int = 1

    failures = ()
    gives_counts = True

    @property
    def losses(self) -> tuple[Loss, ...]:
        if self.gaussian:
            return tuple(Gaussian(share * self.budget) for share in (NUMBER, PICKS, BINS))
        return (BoundedRange(NUMBER * self.budget), PureDP(PICKS * self.budget), PureDP(BINS * self.budget))

    @property
    def spending(self) -> tuple[Spending, ...]:
        words = (
            "choice of the number of items",
            "picks of items and pairs",
            f"counts of all bins, with discrete {'Gaussian' if self.gaussian else 'Laplace'} noise",
        )
        costs = [share * self.budget for share in (NUMBER, PICKS, BINS)]
        return tuple(map((GAUSSIAN if self.gaussian else LAPLACE).spending, words, costs))

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The lead with which its items and pairs are all picked, if there are as many as usual."""
        pick = self._each_pick(PICKS, self.depth)
        most = max(self.items, math.comb(self.most_items, 2))
        picks = Exponential(top=self.depth, pick_epsilon=pick, universe_size=most, sensitivity=self.sensitivity)
        (picked,) = picks.margins
        words = (
            "of each of its items and pairs over the bulk of the declared items and their pairs, apart from the noise "
            "of its counts"
        )
        return (replace(picked, words=words),)

    @property
    def depth(self) -> int:
        """eta k, the length of the list whose items and pairs are looked for."""
        return math.ceil(ETA * self.top)

    @property
    def public_names(self) -> int:
        """How many items the public list has."""
        return self.items

    @property
    def most_items(self) -> int:
        """lambda is at most this: the first eta k itemsets have no more different items.

        If single items are among the itemsets asked for, no item after the first eta k is one of these.
        """
        return min(self.items, self.depth * (1 if 1 in self.sizes else max(self.sizes)))

    @property
    def number_epsilon(self) -> Fraction:
        """The epsilon of the choice of lambda."""
        return self._each_pick(NUMBER, 1)

    @property
    def variance_power(self) -> int:
        """The variance of the noise of a bin grows with the number of bases to this power."""
        return 1 if self.gaussian else 2

    def number_of_items(self, items: CountProfile, count: int, randomness: Randomness) -> int:
        """lambda: a rank of an item, more likely the closer its count is to this one.

        Counts of items and `count` move in one direction, so their differences move by at most Delta up or down. The
        exponent is therefore half that of a pick.

        Args:
            items: the counts of the items of the list, at least the first `most_items`.
            count: that of itemset number `depth`.
            randomness: where the bits come from.
        """
        levels = items.top(self.most_items)
        ends = list(accumulate(number for _, number in levels))
        order = sorted(range(len(levels)), key=lambda level: abs(levels[level][0] - count))
        scores = [-abs(levels[level][0] - count) for level in order]
        rate = self.number_epsilon / (2 * self.sensitivity)
        level = order[WeightedChoice(scores, rate).draw([levels[each][1] for each in order], randomness)]
        number = levels[level][1]
        return ends[level] - number + 1 + uniform_below(number, randomness)

    def number_law(self, items: CountProfile, count: int) -> list[float]:
        """The exact probability of each lambda, from 1 on."""
        distances = [abs(each - count) for each, number in items.top(self.most_items) for _ in range(number)]
        rate = float(self.number_epsilon / (2 * self.sensitivity))
        weights = [math.exp(-rate * (distance - min(distances))) for distance in distances]
        total = math.fsum(weights)
        return [weight / total for weight in weights]

    def number_of_pairs(self, number: int) -> int:
        """How many pairs of this many items are picked: none if the items fit into one basis.

        Of the first eta k itemsets lambda are items, if single items are asked for. If the others are many times
        lambda, many of them have more than two items. The pairs are then fewer, by the root of that factor.
        """
        left = self.depth - (number if 1 in self.sizes else 0)
        if number <= self.most or left <= 0:
            return 0
        larger = max(1.0, left / number) if max(self.sizes) > 2 else 1.0
        return min(math.comb(number, 2), math.ceil(left / math.sqrt(larger)))

    def picks(self, number: int) -> tuple[Exponential, Exponential | None]:
        """How lambda items are picked, and their pairs if one basis has no room for all. Together they cost `PICKS`."""
        pairs = self.number_of_pairs(number)
        pick = self._each_pick(PICKS, number + pairs)

        def picking(top: int, universe: int) -> Exponential:
            return Exponential(top=top, pick_epsilon=pick, universe_size=universe, sensitivity=self.sensitivity)

        return picking(number, self.items), picking(pairs, math.comb(number, 2)) if pairs else None

    def bins(self, bases: int) -> CountNoise:
        """The noise of the bins, which cost `BINS`. In each of this many bases a transaction is in one bin."""
        cost = BINS * self.budget
        if self.gaussian:
            variance = DiscreteGaussian.variance_costing(bases * self.sensitivity**2, cost)
            return GaussianCounts(top=bases, variance=variance, sensitivity=self.sensitivity)
        return LaplaceCounts(top=bases, epsilon=cost, sensitivity=self.sensitivity)

    def loud(self, names: int) -> Iterator[PrivBasis]:
        """The same with hardly any noise over a list of this many names, with one basis and with several."""
        yield replace(self, budget=MUCH, items=names)
        # A long list of itemsets has more items than fit into one basis.
        yield replace(self, budget=MUCH, items=names, most=2, top=2 * min(names, _REHEARSED))

    def _each_pick(self, share: Fraction, picks: int) -> Fraction:
        """The epsilon of each of so many picks that cost this share of the budget together."""
        if self.gaussian:
            return range_costing(float(share * self.budget), picks)
        return share * self.budget / picks


def calibrate(request: Request, *, gaussian: bool = False) -> CalibratedMechanism:
    """PrivBasis with all of the budget: with discrete Gaussian noise, or else without using delta.

    Raises:
        UsageError: the names of the items are not public, more itemsets are asked for than it serves, or larger ones.
        BudgetError: delta is 0 with Gaussian noise, or the budget is too small.
    """
    if not request.listed:
        raise UsageError(
            "PrivBasis needs the names of all items that may occur; their number is not enough.",
            "Give the public list of items with --universe-file.",
        )
    if request.top > LARGEST_TOP or max(request.sizes) > MOST_IN_BASIS:
        raise UsageError(
            f"PrivBasis names at most {LARGEST_TOP:,} itemsets, of at most {MOST_IN_BASIS} items.",
            "Ask for fewer with --top, or for a smaller --size, or take another mechanism.",
        )
    budget, guarantee = request.epsilon, None
    if gaussian:
        if request.delta == 0:
            raise BudgetError(
                "Gaussian noise needs a delta.", "Give --delta, such as 1e-6, or take --mechanism privbasis."
            )
        budget, guarantee = calibrate_gaussian((), epsilon=request.epsilon, delta=request.delta)
    mechanism = PrivBasis(
        top=request.top,
        sizes=request.sizes,
        items=request.names,
        budget=budget,
        gaussian=gaussian,
        sensitivity=request.sensitivity,
    )
    return CalibratedMechanism(mechanism=mechanism, guarantee=guarantee or prove_basic(mechanism.losses, Fraction(0)))
