"""A look at one count, where names are public and delta is 0: whether another way is better than items first.

The look is at the count of the last itemset that matters, with discrete Laplace noise.
* If that itemset is in a good part of all transactions, the data is dense. Few items then make up the answer, and
  counts of these items (`lacking_items.py`), or of all their subsets at once if several sizes are asked for
  (`privbasis.py`), are better than anything that goes by single itemsets. In the baskets of shops even the most
  frequent pairs are rarer. The count is compared with the number of transactions, which was released before.
* If the count stands out for picks from all itemsets of the list, such picks find them (`lifted_exponential.py`). Noisy
  counts of items would only cost budget.

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
"""By the largest size of itemsets, for which k the look is worth its price. For fewer items and pairs `auto` takes
picks without a look. More than `_SHORT` are picked from very large data only: there it is worth it in dense data."""
_TIMES_BULK, _CAUTION = 0.8, 0.5
"""Where a count is the logarithm of the universe, in scales of a pick, all others of the list together are picked as
often. Picks are better than items first if the last itemset has so many times this: for items, pairs and triples of ten
data sets alike, also with lists of many names that nobody has. So many scales of the look's noise are added."""
_ROUGH = (0.3, 0.4)
_TIMES_BULK_IF_ROUGH, _CAUTION_IF_ROUGH = 0.5, -0.5
"""Where transactions are long, first counts of items are rough, and items first has less to offer. The deviation of the
noise in them is taken as a multiple of that logarithm, for triples half of it: their parts are pairs. From the first to
the second of `_ROUGH`, less and less is enough for picks: at last what these numbers say in place of the ones above."""
_DENSE = 0.35
"""PrivBasis is ahead if the last itemset is in so many of all transactions: so it was for lists of 20 to 200 in four
dense data sets, and then in two others. Where it is in fewer than a quarter, PrivBasis is mostly behind."""
_SEEN = 4.0
"""Where items tell their itemsets, the count is at least so many scales of the look's noise."""
_MORE_THAN_ALL = 1.5
"""If so many times all units are said to hold an itemset, the look at their number saw too few of them."""
_BINNED = (3, 4)
"""Items and pairs alone are many beside the items that they are made of, and better found one by one than in bins.
Before the look, all itemsets are counted, which for larger ones takes long or is refused: four items are worth that
only for bins."""


@dataclass(frozen=True, kw_only=True)
class CountLook:
    """Noise for one count, and the ways that may follow with what the looks leave of the budget.

    Args:
        noise: of the look.
        size: items per itemset, or the most.
        picks: from the whole list.
        bins: in dense data; None if `picks` serves there too.
        least_length: the look is taken only if units hold so many items on average.
    """

    noise: LaplaceCounts
    size: int
    picks: LiftedExponential
    bins: PrivBasis | None
    least_length: float = 0.0

    @classmethod
    def of(cls, request: Request, *, before: Fraction) -> CountLook | None:
        """The look for what is asked, with a public list and without a delta; None if it is not worth its price.

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
            # In dense data units hold a good part of the items that so many itemsets have at least.
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
        """So many of the largest counts are needed for the look and for either way."""
        return max(self.picks.depth, 0 if self.bins is None else self.bins.depth)

    @property
    def place(self) -> int:
        """The look is at the count of the itemset at this place of the ranking. One unit moves it by at most Delta."""
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
        """Whether units hold so many items that the look is worth its price."""
        return bool(lengths.units @ lengths.lengths >= self.least_length * lengths.units.sum())

    def way(self, count: int, lengths: Lengths, item_deviation: float) -> PrivBasis | LiftedExponential | None:
        """The other way to go, by what this look found and the look at the lengths before it; None for items first.

        `item_deviation` is that of the noise in first counts of items, in units.
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
        """Whether data is so dense, and picks so rough, that counts of items alone are the way to go."""
        if count < _SEEN * float(self.noise.scale):
            return False
        scale = self.noise.sensitivity * self.picks.top / float(self.noise.epsilon / LOOK_SHARE)
        return rough_in_dense_data(count, self.noise.sensitivity * lengths.all_units, scale)


def _picks(request: Request, left: Fraction) -> LiftedExponential:
    """Picks from all itemsets of the list, for so much."""
    return LiftedExponential(
        top=request.top,
        pick_epsilon=left / sum(rising(request.top, RISE)),
        universe_size=request.require_universe(),
        rise=RISE,
        sensitivity=request.sensitivity,
        candidates=most_held(max(request.sizes)),
    )


def _bins(request: Request, left: Fraction) -> PrivBasis:
    """PrivBasis, for so much."""
    return PrivBasis(
        top=request.top,
        sizes=request.sizes,
        items=request.names,
        budget=left,
        gaussian=False,
        sensitivity=request.sensitivity,
        fewest_items=fewest_items(request.top, request.sizes),  # with fewer the list would be shorter than asked
    )
