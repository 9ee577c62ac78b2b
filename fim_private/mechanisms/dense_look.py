"""A look at whether the data is dense: whether the itemsets asked for are in a good part of all transactions.

Few items then make up the answer, and counts of all their subsets at once are better than anything that goes by single
itemsets: `privbasis.py`. In the baskets of shops even the most frequent pairs are rarer. The look is at one number, the
count of the last itemset that matters, with discrete Laplace noise. It is compared with the number of transactions,
which was released before.

Theorem and proof: docs/mathematics.md#items-first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fim_private.mechanisms.count_noise import LaplaceCounts
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.privbasis import LARGEST_TOP, PrivBasis
from fim_private.mechanisms.protocol import Request

LOOK_SHARE = Fraction(3, 100)
"""The share of epsilon for the look."""
_DENSE = 0.35
"""PrivBasis is ahead if the last itemset is in so many of all transactions: so it was for lists of 20 to 200 in four
dense data sets, and then in two others. Where it is in fewer than a quarter, PrivBasis is mostly behind."""
_MORE_THAN_ALL = 1.5
"""If so many times all units are said to hold an itemset, the look at their number saw too few of them."""
_LARGEST = (3, 4)
"""Items and pairs alone are many beside the items that they are made of, and better found one by one. Before the look,
all itemsets are counted, which for larger ones takes long or is refused."""


@dataclass(frozen=True, kw_only=True)
class DenseLook:
    """Noise for one count. If that is large, the way to go is PrivBasis, with what the looks leave of the budget."""

    noise: LaplaceCounts
    basis: PrivBasis

    @classmethod
    def of(cls, request: Request, *, before: Fraction) -> DenseLook | None:
        """The look for what is asked, with a public list and without a delta; None if it is not worth its price.

        `before` is what the looks before it cost.
        """
        top, sizes, cost = request.top, request.sizes, LOOK_SHARE * request.epsilon
        asked = request.binned and request.select is None and request.min_count is None
        if not asked or len(sizes) == 1 or min(sizes) < 1 or max(sizes) not in _LARGEST or top > LARGEST_TOP:
            return None
        basis = PrivBasis(
            top=top,
            sizes=sizes,
            items=request.names,
            budget=request.epsilon - before - cost,
            gaussian=False,
            sensitivity=request.sensitivity,
        )
        return cls(noise=LaplaceCounts(top=1, epsilon=cost, sensitivity=request.sensitivity), basis=basis)

    @property
    def place(self) -> int:
        """The look is at the count of the itemset at this place of the ranking. One unit moves it by at most Delta."""
        return self.basis.wanted

    def decides(self, count: int, lengths: Lengths) -> bool:
        """Whether PrivBasis is the way to go, by what this look found and the look at the lengths before it."""
        share = count / (self.noise.sensitivity * float(lengths.units.sum()))
        return _DENSE <= share <= _MORE_THAN_ALL
