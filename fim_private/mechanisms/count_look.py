"""A look at one noisy count decides whether another way is better than items first. Names are public, and delta is 0.

The look adds discrete Laplace noise to the count of the k-th itemset.
* If a good part of all transactions hold that itemset, the data is dense. The answer is then made of few items.
  Counts of these items (`lacking_items.py`), or of all their subsets at once if several sizes are asked for
  (`privbasis.py`), are better than any way that treats itemsets one by one. In the baskets of shops even the most
  frequent pairs are rarer. The count is compared with the number of transactions, which was released before.
* If picks from all itemsets of the list can tell an itemset with this count from the rest, they follow
  (`lifted_exponential.py`). Noisy counts of items would only cost budget.
* Otherwise the mechanism counts the items first.

Theorem and proof: docs/mathematics.md#items-first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fim_private.accounting.rising import rising
from fim_private.mechanisms.asked_itemsets import fewest_items
from fim_private.mechanisms.count_noise import LaplaceCounts
from fim_private.mechanisms.exponential import RISE
from fim_private.mechanisms.lacking_items import LEAST_DENSE, rough_in_dense_data
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.lifted_exponential import LiftedExponential, most_held
from fim_private.mechanisms.privbasis import LARGEST_TOP, PrivBasis
from fim_private.mechanisms.protocol import BY_COUNT, Request, Spending

LOOK_SHARE = Fraction(3, 100)
"""The share of epsilon for the look."""
_PICKED, _SHORT = {1: range(16, 31), 2: range(8, 501), 3: range(1, 501), 4: range(1, 501)}, 60
"""The values of k for which the look is worth its price, by the largest size of itemsets. For smaller k `auto` picks
items and pairs without a look. Above `_SHORT` picks win only in very large data; the look serves dense data there."""
_TIMES_BULK, _CAUTION = 0.8, 0.5
"""The bulk is the logarithm of the universe's size times the scale of a pick. An itemset with this count is picked as
often as all itemsets with a count of 0 together. Picks are better than items first if the k-th itemset has at least
`_TIMES_BULK` times the bulk. This held for items, pairs and triples of ten data sets, also with long lists of names
that do not occur. For safety, `_CAUTION` scales of the look's noise are added."""
_ROUGH = (0.3, 0.4)
_TIMES_BULK_IF_ROUGH, _CAUTION_IF_ROUGH = 0.5, -0.5
"""Long transactions make the first counts of items rough, and items first is then less good. `_ROUGH` is the deviation
of the noise in these counts, divided by the bulk (and by 2 for triples, whose parts are pairs). Up to its first number
the rule above holds, from its second number on these numbers replace it, and in between the rule changes linearly."""
_DENSE = 0.35
"""PrivBasis is ahead if at least this share of all transactions hold the k-th itemset. This was measured for k = 20 to
200 in four dense data sets, and then checked in two others. Below a quarter, PrivBasis is mostly behind."""
_SEEN = 4.0
"""Counts of items alone follow only if the count is at least this many scales of the look's noise."""
_MORE_THAN_ALL = 1.5
"""No itemset is in more than all units. A share above this means that the look at their number saw too few of them."""
_BINNED = (3, 4)
"""The largest sizes for which PrivBasis may follow. If only items and pairs are asked for, other ways are better. The
look needs all itemsets counted, which takes long for large itemsets, or is refused. For four items it is taken only if
PrivBasis may follow."""


@dataclass(frozen=True, kw_only=True)
class CountLook:
    """Noise for one count, and the ways that may follow. The looks and the way together cost the whole budget.

    Args:
        noise: the look's noise.
        size: the number of items of the largest itemsets.
        picks: picks from all itemsets of the list.
        bins: PrivBasis, for dense data; None if it cannot follow.
        least_length: the look is taken only if units hold at least this many items on average.
    """

    noise: LaplaceCounts
    size: int
    picks: LiftedExponential
    bins: PrivBasis | None
    least_length: float = 0.0

    @classmethod
    def of(cls, request: Request, *, before: Fraction) -> CountLook | None:
        """The look for this request, which has a public list and no delta; None if it is not worth its price.

        `before` is what the looks before it cost.
        """
        if request.select is not None or request.min_count is not None or request.by != BY_COUNT:
            return None
        cost = LOOK_SHARE * request.epsilon
        left = request.epsilon - before - cost
        size, several = max(request.sizes), len(request.sizes) > 1
        in_bins = several and request.binned and size in _BINNED and request.top <= LARGEST_TOP
        if min(request.sizes) < 1 or request.top not in _PICKED.get(size, ()) or (size == max(_BINNED) and not in_bins):
            return None
        least = 0.0
        if request.top > _SHORT or (several and size not in _BINNED):
            # In dense data a unit holds a good part of the fewest items that this many itemsets can be made of.
            least = LEAST_DENSE ** (1 / size) * fewest_items(request.top, request.sizes)
        return cls(
            noise=LaplaceCounts(top=1, epsilon=cost, sensitivity=request.sensitivity),
            size=size,
            picks=_picks(request, left),
            bins=_bins(request, left) if in_bins else None,
            least_length=least,
        )

    @property
    def depth(self) -> int:
        """How many of the largest counts the look and each way need."""
        return max(self.picks.depth, 0 if self.bins is None else self.bins.depth)

    @property
    def place(self) -> int:
        """The place in the ranking whose count is looked at. One unit changes that count by at most Delta."""
        return self.picks.top

    @property
    def spending(self) -> Spending:
        """What the look costs, for people."""
        both = "look at how dense the data is, and how clear the itemsets are (counts of a few items may follow,"
        both += " PrivBasis, or picks from the whole list)"
        clear = "look at how clear the itemsets are (picks from the whole list follow if they are)"
        long = "look at how dense the data is, if transactions are long (counts of a few items, or picks, may follow)"
        what = both if self.bins is not None else long if self.least_length else clear
        return Spending(what=what, epsilon=self.noise.epsilon)

    def worth_it(self, lengths: Lengths) -> bool:
        """Whether units hold enough items for the look to be worth its price."""
        return bool(lengths.units @ lengths.lengths >= self.least_length * lengths.units.sum())

    def way(self, count: int, lengths: Lengths, item_deviation: float) -> PrivBasis | LiftedExponential | None:
        """The way that follows from what this look found, and the look at the lengths before; None for items first.

        `item_deviation` is the deviation of the noise in first counts of items, in units.
        """
        share = count / (self.noise.sensitivity * float(lengths.units.sum()))
        if self.bins is not None and _DENSE <= share <= _MORE_THAN_ALL:
            return self.bins
        bulk, scale = math.log(self.picks.universe_size) * float(self.picks.scale), float(self.noise.scale)
        rough = self.noise.sensitivity * item_deviation / bulk / (2 if self.size > 2 else 1)
        usual = _TIMES_BULK * bulk + _CAUTION * scale
        least = np.interp(rough, _ROUGH, (usual, _TIMES_BULK_IF_ROUGH * bulk + _CAUTION_IF_ROUGH * scale))
        return self.picks if count >= float(least) else None

    def items_tell(self, count: int, lengths: Lengths) -> bool:
        """Whether data is so dense, and picks are so rough, that counts of items alone are better."""
        if count < _SEEN * float(self.noise.scale):
            return False
        scale = self.noise.sensitivity * self.picks.top / float(self.noise.epsilon / LOOK_SHARE)
        return rough_in_dense_data(count, self.noise.sensitivity * lengths.all_units, scale)


def _picks(request: Request, left: Fraction) -> LiftedExponential:
    """Picks from all itemsets of the list, for this part of epsilon."""
    return LiftedExponential(
        top=request.top,
        pick_epsilon=left / sum(rising(request.top, RISE)),
        universe_size=request.require_universe(),
        rise=RISE,
        sensitivity=request.sensitivity,
        candidates=most_held(max(request.sizes)),
    )


def _bins(request: Request, left: Fraction) -> PrivBasis:
    """PrivBasis, for this part of epsilon."""
    return PrivBasis(
        top=request.top,
        sizes=request.sizes,
        items=request.names,
        budget=left,
        gaussian=False,
        sensitivity=request.sensitivity,
        fewest_items=fewest_items(request.top, request.sizes),  # with fewer the list would be shorter than asked
    )
