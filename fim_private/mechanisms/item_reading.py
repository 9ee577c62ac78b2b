"""Single items of long units: read from their first counts, which get most of the budget.

Units that hold many items add little to each of their counts. If the noise is so large that few items stand out of it,
picks have nothing to choose from. So the tokens with the largest noisy counts are the answer. Some more are read than
are named, and rare ones left out (`left_out.py`), which would fail the certificate.

Theorem and proof: docs/mathematics.md#items-first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.gaussian_composition import range_costing
from fim_private.accounting.rounding import ROUNDED_DOWN
from fim_private.mechanisms.anonymous_items import AnonymousItems
from fim_private.mechanisms.asked_itemsets import AskedItemsets
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.left_out import LeftOut
from fim_private.mechanisms.lengths import FULLS, Lengths
from fim_private.mechanisms.measurement import Measurement, up_to_last


@dataclass(frozen=True, kw_only=True)
class ItemReading:
    """Noisy counts of the items, picks of those to leave out, and the certificate.

    Args:
        asked: what is asked for.
        items: how the items are counted.
        weight: the average weight with which they count.
        out_rho: what leaving some out may cost.
        certificate: what decides how many are named.
    """

    asked: AskedItemsets
    items: AnonymousItems
    weight: float
    out_rho: float
    certificate: Certificate

    def tokens(self, noisy: NDArray[np.int64]) -> int:
        """How many tokens are read, by their noisy counts in units, in decreasing order."""
        told = up_to_last(self.items.by_noise(noisy) <= self.asked.tuning.read_noise)
        return min(told, self.asked.top + math.floor(self.asked.tuning.read_spare * self.asked.top))

    def left_out(self, tokens: int) -> LeftOut:
        """How some of this many tokens are left out."""
        spare = self.asked.tuning.read_spare
        number = max(tokens - self.asked.top, math.floor(tokens * spare / (1 + spare)))
        if not number:
            return LeftOut(())
        return LeftOut((range_costing(self.out_rho, number, after=float(self.certificate.rho)),) * number)

    def trust(self, noisy: NDArray[np.int64], kept: NDArray[np.int32]) -> list[float]:
        """How likely the first of the tokens that are kept are to pass, by the noisy counts of all, in units."""
        measurement = self.items.measurement
        supports = noisy[kept] / measurement.resolution / self.weight
        prior = self.items.prior(noisy, self.weight)
        return self.certificate.trust(supports, measurement.deviation / self.weight, prior)


def item_reading(
    asked: AskedItemsets,
    items: AnonymousItems,
    left: Fraction,
    lengths: Lengths,
    *,
    seen: float,
    certificate: Callable[[float], Certificate],
) -> ItemReading | None:
    """How single items are read; None if another way is better, or if nothing tells.

    Args:
        asked: what is asked for.
        items: the tokens.
        left: what everything may cost.
        lengths: how many items units hold.
        seen: the support with which an item would go on to picks.
        certificate: the one that items of a support are likely to pass, and that costs no more than it needs.
    """
    tuning, support = asked.tuning, asked.support
    single = asked.sizes == (1,) and asked.min_count is None and asked.sensitivity == 1
    if not single or support is None or asked.top < tuning.long_list or support > tuning.reads_most * seen:
        return None
    rho = float(left) * ROUNDED_DOWN
    noise = {full: _counted(rho, full).deviation / lengths.weight(full) for full in FULLS}
    least = min(noise.values())
    support = max(support, tuning.read_clear * least)
    off = {full: math.hypot(noise[full], tuning.read_lost * (1 - lengths.weight(full)) * support) for full in FULLS}
    full = min(FULLS, key=off.__getitem__)
    test, out = certificate(tuning.read_sure * support), tuning.read_out * rho
    return ItemReading(
        asked=asked,
        items=replace(items, measurement=_counted((rho - out - float(test.rho)) * ROUNDED_DOWN, full)),
        weight=lengths.weight(full),
        out_rho=out,
        certificate=test,
    )


def _counted(rho: float, full: int) -> Measurement:
    return Measurement.costing(rho, full=full, sensitivity=1)
