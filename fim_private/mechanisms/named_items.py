"""Items of short transactions: their first counts name them, and no test is needed later.

The test of a whole list asks for much support, and one rare item fails all that follow it. Where units hold few items,
their counts are so exact that an item which stands out of the noise is certainly no single unit's. Units that hold many
items add little to the first counts, so tokens (`anonymous_items.py`) are better for them.

Theorem and proof: docs/mathematics.md#named-items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.rounding import ROUNDED_DOWN
from fim_private.mechanisms.anonymous_items import AnonymousItems
from fim_private.mechanisms.asked_itemsets import AskedItemsets
from fim_private.mechanisms.lengths import FULLS, TYPICAL_LENGTH, Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import BY_LEVERAGE, NORMAL_REACH, Margin, normal_reach
from fim_private.mechanisms.weighted_gaussian import threshold_of
from fim_private.randomness import Randomness

_MOST_NAMED = 50_000
"""At most this many go on: five times the largest k, and so few that what counts them is compiled before the charge."""


@dataclass(frozen=True, kw_only=True)
class NamedItems(AnonymousItems):
    """Noisy counts of the items that occur. Those that reach a threshold are named, and no other token goes on.

    From there on they are what a public list is elsewhere, so `listed` holds.

    Args:
        threshold: T, in the measurement's units.
        failure: a bound on the probability that an item of one unit alone reaches it.
    """

    threshold: int
    failure: Fraction

    def find(self, counts: NDArray[np.int64], randomness: Randomness) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The items that are named, in decreasing order of their noisy counts, and these counts, in units.

        Equal ones keep their order, which is that of their names.
        """
        occurring = np.flatnonzero(counts)
        noisy = self.measurement.add_noise(counts[occurring], randomness)
        named = np.flatnonzero(noisy >= self.threshold)
        order = named[np.argsort(-noisy[named], kind="stable")][:_MOST_NAMED]
        return occurring[order], noisy[order]

    def margin(self, top: int) -> Margin:
        """The count with which k single items all reach the threshold, 19 times in 20. Picks choose from such items."""
        counts, one = (
            math.ceil(self.needed(deviations, TYPICAL_LENGTH)) for deviations in (normal_reach(top), NORMAL_REACH)
        )
        words = f"over itemsets that do not occur (for units with at most {TYPICAL_LENGTH} different items)"
        return Margin(counts=counts, of_one=one, words=words)

    def seen(self, lengths: Lengths) -> float:
        """How many units of these lengths reach the threshold every second time."""
        return self.threshold / self.measurement.resolution / lengths.weight(self.measurement.full)

    def needed(self, deviations: float, length: int) -> float:
        """How many units of this length reach the threshold if noise takes off this many standard deviations."""
        # At a tiny epsilon a long unit adds nothing. What is needed is then far beyond any data.
        added = self.measurement.added(length) or self.measurement.resolution / math.sqrt(length)
        return (self.threshold + deviations * math.sqrt(self.measurement.variance)) / added


def named_items(
    asked: AskedItemsets, items: AnonymousItems, left: Fraction, failure: Fraction, lengths: Lengths, *, counted: bool
) -> NamedItems | None:
    """How first counts name the items; None if tokens are better.

    Args:
        asked: what is asked for.
        items: the tokens.
        left: what these counts and all later steps may cost.
        failure: the probability with which an item may be named that one unit alone has.
        lengths: how many items units hold.
        counted: whether the answer is certainly read from later counts, which need the budget more than picks do.
    """
    tuning, smallest = asked.tuning, asked.sizes[0]
    if items.all_go_on or lengths.weight(tuning.full_items) < tuning.short:
        return None
    if asked.sizes == (1,) and not counted:
        share = 1 - tuning.picks_of_found / max(1.0, math.sqrt(asked.top / tuning.few_of_found))
    else:
        share = tuning.share_of_items(asked.epsilon, listed=False)
        if asked.support is None:
            share *= tuning.named_share[min(smallest, len(tuning.named_share)) - 1]
        elif smallest <= len(tuning.named_noise):
            whole = _counted(asked, float(left), lengths)
            noise = whole.deviation / lengths.weight(whole.full)
            share *= tuning.named_noise[smallest - 1] * math.sqrt(noise / max(asked.support, 1.0))
            share = max(tuning.least_named, share)
        share = min(tuning.most_named_counted if counted else tuning.most_named, share)
    measurement = _counted(asked, float(left) * share * ROUNDED_DOWN, lengths)
    threshold = threshold_of(measurement, failure)
    return NamedItems(measurement=measurement, names=items.names, listed=True, threshold=threshold, failure=failure)


def _counted(asked: AskedItemsets, rho: float, lengths: Lengths) -> Measurement:
    """How the items are counted if these counts name them.

    The less a long unit counts, the smaller the noise is. But what an item loses by that depends on the units that hold
    it. If the itemsets asked for stand out of the noise clearly, long units count more.
    """
    tuning = asked.tuning
    if asked.support is None:
        usual = tuning.leverage_full_items if asked.by == BY_LEVERAGE else tuning.full_found * asked.boldness**1.5
        full = min(FULLS[-1], round(usual))
        return Measurement.costing(rho, full=full, sensitivity=1)
    each = [Measurement.costing(rho, full=full, sensitivity=1) for full in FULLS]
    weights = [lengths.weight(measurement.full) for measurement in each]
    noise = [measurement.deviation / weight for measurement, weight in zip(each, weights, strict=True)]
    best = int(np.argmin(noise))
    clear = [place for place in range(best, len(each)) if tuning.stands_out * noise[place] <= asked.support]
    lost = [tuning.lost * (1 - weight) * asked.support for weight in weights]
    return each[min(clear, key=lambda place: math.hypot(noise[place], lost[place]), default=best)]
