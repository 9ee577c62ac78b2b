"""Dense data: items are picked, and then counted by how many units *lack* them.

In dense data the k-th itemset is in a large share of all transactions, and its items in nearly all. Their counts then
tell nearly all of its count. Noisy counts of all items are rough there, since transactions are long. A few picks of
items are more exact. And a unit lacks few of the items that were picked, so that it adds little to the counts of those
who lack them, and these need far less noise than counts of those who hold them.

Proof: docs/mathematics.md#units-that-lack-items.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from fim_private.arrays import Floats
from fim_private.mechanisms.asked_itemsets import AskedItemsets
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.later_steps import LaterSteps, shared
from fim_private.mechanisms.lengths import PICK_VARIANCE
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import BY_COUNT


def may_tell(asked: AskedItemsets) -> bool:
    """Whether counts of items alone may tell what is asked for."""
    return asked.size > 1 and asked.by == BY_COUNT and asked.min_count is None and not asked.noise.look.linear


def tell(asked: AskedItemsets, supports: Floats, transactions: float, left: Fraction, *, known: bool) -> bool:
    """Whether counts of items tell more of their itemsets than what is left tells of the itemsets themselves.

    Args:
        asked: what is asked for.
        supports: about how many units hold each token that goes on, in decreasing order.
        transactions: about how many transactions there are.
        left: what picks of itemsets might cost.
        known: whether what was released before says so.
    """
    if not len(supports) or not may_tell(asked):
        return False
    pick = asked.noise.pick_epsilon(float(left), asked.top, 0.0, asked.tuning.rise)
    support, scale = asked.kth(supports, transactions), asked.sensitivity / float(pick)
    dense = asked.tuning.dense if asked.size == 2 else asked.tuning.dense_larger
    return known or rough_in_dense_data(support, transactions, scale, dense=dense, rough=asked.tuning.rough)


def rough_in_dense_data(support: float, transactions: float, scale: float, *, dense: float, rough: float) -> bool:
    """Whether a support is a large share of all transactions, and the noise of picks is large beside it.

    Args:
        support: of the k-th itemset, in transactions.
        transactions: about how many there are.
        scale: of the noise in a pick, in transactions.
        dense: the support is at least this share of them.
        rough: the deviation of the noise is at least this times the support.
    """
    # Far more than all transactions is no support: usual lengths are those of one transaction.
    return dense * transactions <= support <= min(2 * transactions, math.sqrt(PICK_VARIANCE) * scale / rough)


def with_counts_of_lacking(asked: AskedItemsets, steps: LaterSteps, left: Fraction) -> LaterSteps:
    """These steps with picks of items, and counts of how many units lack them. Together they cost what is left."""
    items = min(steps.tokens, math.ceil(asked.tuning.spare_items * asked.barely_enough))
    share = left * asked.tuning.items_picked_share
    picks = Exponential(
        top=items,
        pick_epsilon=asked.noise.pick_epsilon(float(share), items, 0.0, asked.tuning.rise),
        universe_size=steps.tokens,
        rise=asked.tuning.rise,
        sensitivity=asked.sensitivity,
    )
    return replace(steps, items=picks, lacking=left - share)


def lacking(asked: AskedItemsets, cost: Fraction, item_counts: Floats, transactions: float) -> Measurement:
    """How it is counted how many units lack each of some items.

    Args:
        asked: what is asked for.
        cost: what it may cost.
        item_counts: about how many units hold each of them.
        transactions: about how many there are.
    """
    lacked = float((1 - item_counts / transactions).clip(0.0, 1.0).sum())
    return shared(asked.noise.measurement, cost, 1.0, full=max(1.0, asked.tuning.full_lacking * lacked))
