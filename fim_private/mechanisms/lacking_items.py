"""Dense data: items are picked, and then counted by how many units *lack* them.

In dense data the k-th itemset is in a large share of all transactions, and its items in a larger one. Their counts then
tell nearly all of its count. Noisy counts of all items are rough there, since transactions are long. A few picks of
items are more exact. And a unit lacks few of the items that were picked, so that it adds little to the counts of those
who lack them, and these need far less noise than counts of those who hold them.

Proof: docs/mathematics.md#units-that-lack-items.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.mechanisms.asked_itemsets import MOST_CANDIDATES, AskedItemsets
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.itemset_picks import public_scores
from fim_private.mechanisms.later_steps import LaterSteps, shared
from fim_private.mechanisms.lengths import PICK_VARIANCE
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import BY_COUNT

LEAST_DENSE, _ROUGH = 0.2, 0.08
"""After a look, counts of items tell more than picks of itemsets on two conditions. At least `LEAST_DENSE` of all
transactions hold the k-th itemset. And the deviation of a pick's noise is at least `_ROUGH` times the number of
transactions that lack it: the fewer lack it, the less it matters how its items depend on each other.

Without a look, the k-th of the likeliest items and pairs is taken, as if items were independent. For pairs it has to be
in a larger share, and the noise is compared with the support itself."""
_SEEN = 3.0
"""Without a look before, counts of items alone also need a k-th support of this many deviations of their noise. With
Laplace noise, whose picks are rougher, they need a look."""


def may_tell(asked: AskedItemsets) -> bool:
    """Whether counts of items alone may tell what is asked for."""
    return asked.size > 1 and asked.by == BY_COUNT and asked.min_count is None


def tell(
    asked: AskedItemsets, supports: Floats, transactions: float, left: Fraction, *, deviation: float, known: bool
) -> bool:
    """Whether counts of items tell more of their itemsets than what is left tells of the itemsets themselves.

    Args:
        asked: what is asked for.
        supports: about how many units hold each token that goes on, in decreasing order.
        transactions: about how many transactions there are.
        left: what picks of itemsets might cost.
        deviation: of the noise in the supports.
        known: whether what was released before says so.
    """
    if not len(supports) or not may_tell(asked):
        return False
    if known or asked.noise.look.linear:
        return known
    pick = asked.noise.pick_epsilon(float(left), asked.top, 0.0, asked.tuning.rise)
    support, scale = asked.kth(supports, transactions), asked.sensitivity / float(pick)
    least = asked.tuning.dense if asked.size == 2 else LEAST_DENSE
    rough = math.sqrt(PICK_VARIANCE) * scale >= _ROUGH * support
    return rough and support >= _SEEN * deviation and _dense(support, transactions, least)


def rough_in_dense_data(support: float, transactions: float, scale: float) -> bool:
    """Whether a look found a large share of all transactions, and picks are rough beside what is left of them.

    Args:
        support: of the k-th itemset, in transactions.
        transactions: about how many there are.
        scale: of the noise in a pick, in transactions.
    """
    rough = math.sqrt(PICK_VARIANCE) * scale >= _ROUGH * (transactions - support)
    return rough and _dense(support, transactions, LEAST_DENSE)


def _dense(support: float, transactions: float, least: float) -> bool:
    """Whether a support is at least this share of all transactions.

    Far more than all transactions is no support: usual lengths are those of one transaction.
    """
    return least * transactions <= support <= 2 * transactions


def with_counts_of_lacking(asked: AskedItemsets, steps: LaterSteps, left: Fraction, supports: Floats) -> LaterSteps:
    """These steps with picks of items, and counts of how many units lack them. Together they cost what is left.

    Few items have k itemsets of several sizes. But if these do not reach the support of the k-th, which was released
    before, then single items do, and all that may are picked. `supports` is as for `tell`.
    """
    items = min(len(supports), math.ceil(asked.tuning.spare_items * asked.barely_enough))
    # Items are counted by unit, and a unit may hold an itemset Delta times.
    support = (asked.support or 0.0) / asked.sensitivity
    if asked.sizes[0] == 1 and _kth(asked, supports[:items], steps.transactions) < support:
        items = max(items, int(np.count_nonzero(supports >= support - steps.item_deviation)))
    share = left * asked.tuning.items_picked_share
    picks = Exponential(
        top=items,
        pick_epsilon=asked.noise.pick_epsilon(float(share), items, 0.0, asked.tuning.rise),
        universe_size=len(supports),
        rise=asked.tuning.rise,
        sensitivity=asked.sensitivity,
    )
    return replace(steps, items=picks, lacking=left - share)


def favour(picks: Exponential, item_counts: Floats, deviation: float) -> NDArray[np.int64]:
    """What is added to the counts of items before picks.

    Items are picked by the average of their noisy count and the pick's own, weighted by their precision.

    Args:
        picks: the picks.
        item_counts: about how many units hold each item.
        deviation: of the noise in that.
    """
    precision = PICK_VARIANCE * (picks.sensitivity / float(picks.pick_epsilon) / deviation) ** 2
    return public_scores(precision * item_counts)


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


def _kth(asked: AskedItemsets, supports: Floats, transactions: float) -> float:
    """About how many units hold the k-th of the itemsets of these items, as if independent; 0 if there are fewer."""
    top, shares = min(asked.top, MOST_CANDIDATES), np.minimum(1.0, supports / transactions)
    products, last, found = np.ones(1), np.full(1, -1), [np.zeros(top)]
    for size in range(1, asked.size + 1):
        one, other = np.nonzero(last[:, np.newaxis] < np.arange(len(shares)))
        products, last = products[one] * shares[other], other
        best = np.argsort(-products, kind="stable")[:top]
        products, last = products[best], last[best]
        if size in asked.sizes:
            found.append(products)
    return transactions * float(np.sort(np.concatenate(found))[-top])
