"""Single items of short transactions: their first counts name them, and picks choose among those that were named.

No test is then needed, which costs much of a long list. Units that hold many items add little to the first counts, so
tokens are better for them.

Theorem and proof: docs/mathematics.md#single-items.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from fim_private.accounting.gaussian_composition import range_costing
from fim_private.accounting.rounding import ROUNDED_DOWN
from fim_private.mechanisms.asked_itemsets import AskedItemsets
from fim_private.mechanisms.lengths import FULLS, Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian, threshold_of


def item_histogram(
    asked: AskedItemsets, left: Fraction, failure: Fraction, lengths: Lengths
) -> WeightedGaussian | None:
    """The counts that name single items, and the picks among them; None if tokens are better.

    Args:
        asked: what is asked for.
        left: what everything may cost.
        failure: the probability with which an item may be named that one unit alone has.
        lengths: how many items units hold.
    """
    tuning = asked.tuning
    single = asked.sizes == (1,) and asked.min_count is None and asked.sensitivity == 1
    if not single or lengths.weight(tuning.full_items) < tuning.short:
        return None
    rho = float(left) * ROUNDED_DOWN
    picks = tuning.picks_of_found / max(1.0, math.sqrt(asked.top / tuning.few_of_found))
    measurement = _counted(asked, rho * (1 - picks), lengths)
    return WeightedGaussian(
        top=asked.top,
        sizes=asked.sizes,
        measurement=measurement,
        threshold=threshold_of(measurement, failure),
        failure=failure,
        pick_epsilon=range_costing(rho * picks, asked.top),
    )


def _counted(asked: AskedItemsets, rho: float, lengths: Lengths) -> Measurement:
    """How single items are counted if these counts name them.

    The less a long unit counts, the smaller the noise is. But what an item loses by that depends on the units that hold
    it. If the items asked for stand out of the noise clearly, long units count more.
    """
    tuning = asked.tuning
    if asked.support is None:
        full = min(FULLS[-1], round(tuning.full_found * asked.boldness**1.5))
        return Measurement.costing(rho, full=full, sensitivity=1)
    each = [Measurement.costing(rho, full=full, sensitivity=1) for full in FULLS]
    weights = [lengths.weight(measurement.full) for measurement in each]
    noise = [measurement.deviation / weight for measurement, weight in zip(each, weights, strict=True)]
    best = int(np.argmin(noise))
    clear = [place for place in range(best, len(each)) if tuning.stands_out * noise[place] <= asked.support]
    lost = [tuning.lost * (1 - weight) * asked.support for weight in weights]
    return each[min(clear, key=lambda place: math.hypot(noise[place], lost[place]), default=best)]
