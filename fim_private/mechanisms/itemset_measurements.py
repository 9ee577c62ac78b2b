"""Noisy counts of itemsets of tokens by items-first: how many tokens go on to them, and how they are counted."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fim_private.accounting.rounding import ROUNDED_DOWN
from fim_private.arrays import Floats
from fim_private.mechanisms.asked_itemsets import MOST_CANDIDATES, MOST_TESTED, AskedItemsets
from fim_private.mechanisms.later_steps import MOST_FULL, LaterSteps, shared
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement

_LEAST_CANDIDATES = 100
_RECOUNTS = 2
"""How often itemsets in doubt are counted again. After the first time fewer are in doubt."""


def tokens(asked: AskedItemsets, supports: Floats, lengths: Lengths, left: Fraction, item_deviation: float) -> int:
    """How many tokens go on.

    Args:
        asked: what is asked for.
        supports: about how many units hold each token, in decreasing order.
        lengths: how many items units hold.
        left: what the first counts of the items leave of the budget.
        item_deviation: the deviation of the noise in these counts, in transactions.
    """
    if not len(supports):
        return asked.fewest
    if asked.sizes[0] > 1:
        return max(asked.fewest, _clear(asked, supports, lengths, left))
    # A larger itemset is at most as frequent as its items, so no item far below the k-th item is asked for.
    last = float(supports[min(asked.top, len(supports)) - 1]) if asked.min_count is None else asked.min_count
    least = last - asked.tuning.below_last * item_deviation
    return max(asked.fewest, min(2 * asked.top, int(np.count_nonzero(supports >= least))))


def with_counts(
    asked: AskedItemsets,
    steps: LaterSteps,
    left: Fraction,
    supports: Floats,
    *,
    few: int,
    held: Lengths,
    budget: Fraction,
) -> LaterSteps:
    """These steps with noisy counts of pairs and itemsets, which cost what is left.

    Args:
        asked: what is asked for.
        steps: the steps before.
        left: what all counts may cost.
        supports: about how many units hold each token, in decreasing order.
        few: the most tokens that go on.
        held: how many of the first tokens units hold.
        budget: what all steps of the mechanism may cost.
    """
    tuning, kind = asked.tuning, asked.noise.measurement
    spread = asked.noise.look.costing(Fraction(tuning.look_share) * budget, sensitivity=asked.sensitivity)
    left -= spread.cost
    pairs, rest, in_doubt = None, 1.0, 0.0
    if asked.size > 1:
        pairs, rest = _pairs(asked, left, tuning.pairs_share, held), 1 - tuning.pairs_share
        # Few itemsets will be in doubt. Larger ones are only as good as the pairs that they are built from, which
        # then need the budget.
        if asked.sizes[0] <= 2 and pairs.deviation <= tuning.clear * asked.last_needed(supports):
            pairs, rest = _pairs(asked, left, tuning.clear_pairs_share, held), tuning.clear_itemsets_share
            in_doubt = float(left) * (1 - tuning.clear_pairs_share - rest) * ROUNDED_DOWN
    # With little noise, what long transactions lose matters more than noise.
    full = tuning.full_itemsets * asked.boldness
    if asked.min_count is not None:
        deviation = asked.min_count / 20
        full = max(full, kind.full_with(deviation, float(left) * rest, sensitivity=asked.sensitivity))
    return replace(
        steps,
        pairs=pairs,
        itemsets=shared(kind, left, rest, full=full, sensitivity=asked.sensitivity),
        spread=spread,
        in_doubt=(in_doubt / _RECOUNTS,) * _RECOUNTS if in_doubt else (),
        tokens=min(steps.tokens, few),
        candidates=min(MOST_CANDIDATES, max(_LEAST_CANDIDATES, tuning.counted * asked.top)),
    )


def weighted(asked: AskedItemsets, usual: Measurement, held: Lengths, support: float) -> Measurement:
    """How itemsets are counted for the price of the usual counts.

    An itemset that mostly long transactions hold loses more than others, by about the deviation of the weights. That
    matters more than noise if the counts are large. Then more itemsets of a transaction count in full.

    Args:
        asked: what is asked for.
        usual: how they are counted if they are rare.
        held: how many of the itemsets transactions hold.
        support: about how many transactions hold the last itemset asked for.
    """
    kind, price, first = type(usual), usual.cost, round(asked.noise.full(usual.full, held, (1,)))
    if first != usual.full:
        usual = kind.costing(price, full=first, sensitivity=asked.sensitivity)
    larger = [
        kind.costing(price, full=first << n, sensitivity=asked.sensitivity)
        for n in range(1, (MOST_FULL // first).bit_length())
    ]

    def off(one: Measurement) -> float:
        lost = min(2, len(asked.sizes)) * held.uneven(one.full) * support
        return math.hypot(one.deviation, lost) / held.weight(one.full)

    return min([usual, *larger], key=off)


def _pairs(asked: AskedItemsets, left: Fraction, share: float, held: Lengths) -> Measurement:
    """How pairs are counted for a share of what is left."""
    full = asked.noise.full(asked.tuning.full_pairs * asked.boldness, held, (2,))
    return shared(asked.noise.measurement, left, share, full=full, sensitivity=asked.sensitivity)


def _clear(asked: AskedItemsets, supports: Floats, lengths: Lengths, left: Fraction) -> int:
    """How many tokens may be in an itemset that is asked for, but no more than clear counts of pairs allow.

    The more tokens go on, the more of their pairs a transaction holds, and the less it counts in each of them.
    """
    tuning, last = asked.tuning, asked.last(supports, float(lengths.units.sum()))
    most = min(MOST_TESTED, int(np.count_nonzero(supports >= tuning.rarest * last)))
    share = np.cumsum(supports[:most]) / float(lengths.lengths @ lengths.units)

    def noise(tokens: int) -> float:
        held = lengths.thinned(min(1.0, float(share[tokens - 1])))
        pairs = _pairs(asked, left, tuning.pairs_share, held)
        return pairs.deviation / held.weight(pairs.full, (2,))

    return bisect_right(range(1, most + 1), last / tuning.pairs_stand_out, key=noise)
