"""What items-first does after the counts of the items. Released numbers decide on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.rounding import ROUNDED_DOWN
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.lengths import MORE_BINS, LengthLook
from fim_private.mechanisms.measurement import Measurement

MOST_FULL = int(MORE_BINS[-1])
"""The look at how many itemsets transactions hold tells no larger numbers apart."""


@dataclass(frozen=True, kw_only=True)
class LaterSteps:
    """How each of these steps is done, and what it may cost.

    Args:
        pick_epsilon: the epsilon of one pick of itemsets; None if noisy counts select.
        transactions: about how many transactions there are.
        again: how the likeliest items were counted once more; None if they were not.
        item_deviation: the deviation of the noise in the items' counts, in transactions.
        recount: how the most frequent items are counted once more; None if they are not.
        pairs: how pairs are counted; None if they are not.
        pair_weight: the average weight with which they count.
        items: how the items of the candidates are picked; None if they are not.
        lacking: what it may cost to count how many units lack these; None if they are not picked.
        itemsets: how itemsets are counted, if the answer is read from their counts; None if picks select.
        spread: the look at how many of these itemsets transactions hold; None if picks select.
        in_doubt: what it may cost to count the itemsets in doubt again, each time.
        tokens: how many tokens go on.
        candidates: the answer is chosen from at most this many itemsets. Where picks choose from all itemsets of the
            tokens, this many are counted beforehand.
        certificate: what decides how many itemsets are named; None if the items' names are a public list.
    """

    pick_epsilon: Fraction | None = None
    transactions: float = 1.0
    again: Measurement | None = None
    item_deviation: float = math.inf
    recount: Measurement | None = None
    pairs: Measurement | None = None
    pair_weight: float = 1.0
    items: Exponential | None = None
    lacking: Fraction | None = None
    itemsets: Measurement | None = None
    spread: LengthLook | None = None
    in_doubt: tuple[float, ...] = ()
    tokens: int
    candidates: int
    certificate: Certificate | None = None


def shared(kind: type[Measurement], left: Fraction, share: float, *, full: float, sensitivity: int = 1) -> Measurement:
    """Noisy counts of this kind for a share of what is left; `full` and `sensitivity` are those of `Measurement`."""
    return kind.costing(float(left) * share * ROUNDED_DOWN, full=min(MOST_FULL, round(full)), sensitivity=sensitivity)
