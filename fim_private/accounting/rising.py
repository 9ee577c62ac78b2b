"""Later picks get more epsilon than earlier ones, because fewer right itemsets are left for them.

While many of the k most frequent itemsets are left, a pick finds one of them even with much noise. The last pick has to
find the last one. Which pick finds which itemset does not matter to the list. Proof: docs/mathematics.md#rising-picks.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

STAGES = 5
"""All picks of one stage have the same epsilon: weights are then computed five times, not for each pick."""


FLAT = Fraction(0)
"""All picks get the same."""

MOST_RISE = Fraction(5, 2)
"""The rise is below this. From here on the first picks would get nothing."""


def rising(picks: int, rise: Fraction) -> tuple[Fraction, ...]:
    """What each pick gets, as factors that grow by `rise`/5 from stage to stage. The middle stage gets 1.

    Args:
        picks: how many picks.
        rise: from 0, where all picks get the same, to below `MOST_RISE`.

    >>> [float(factor) for factor in rising(7, Fraction(1))]
    [0.6, 0.8, 0.8, 1.0, 1.2, 1.2, 1.4]
    """
    return tuple(factor for factor, times in staged(picks, rise) for _ in range(times))


@lru_cache(maxsize=256)
def staged(picks: int, rise: Fraction) -> tuple[tuple[Fraction, int], ...]:
    """The same stage by stage: the factor, and how many picks get it."""
    stages = STAGES if rise else 1
    last = [(2 * picks * stage + stages - 1) // (2 * stages) for stage in range(stages + 1)]
    each = (
        (1 + rise * Fraction(stage - stages // 2, stages), last[stage + 1] - last[stage]) for stage in range(stages)
    )
    return tuple((factor, times) for factor, times in each if times)
