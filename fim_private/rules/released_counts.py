"""Released counts by itemset, what they say about other itemsets, and intervals that hold for several counts at once.

Several counts at once: each released interval holds its true count with probability 95 %, but two of them together hold
with only 90 % or more. So for a measure that uses m counts, each interval has to hold with probability 1 - 0.05/m
(Bonferroni). All of them together then hold with 95 %, whatever their dependence. An interval of half width h is
widened to r (h + 1) - 1 with r = ln(0.05/m) / ln(0.05), because the noise is log-concave
(docs/mathematics.md#post-processing). This is exact for Laplace noise, and about a tenth too wide for Gaussian noise.

Missing counts: an itemset is in every transaction that holds a superset, and in none that lacks a subset. So its count
is at least each superset's count and at most each subset's count. All counts used in this way take part in m.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from fim_private.release import Release, ReleasedItemset
from fim_private.release.release import UNLISTED
from fim_private.rules.rule import Interval

Items = frozenset[str]

FAILING = 0.05
"""The probability that an interval misses the true count."""

LARGEST_WHOLE = 6
"""All subsets of an itemset up to this size are tried; for larger itemsets, only the released subsets."""


@dataclass(kw_only=True)
class _Around:
    """What released subsets and supersets say about a count: how many there are, and their tightest bounds."""

    number: int = 0
    least: int = 0
    most: float = math.inf


class ReleasedCounts:
    """The counts of a release, looked up by itemset.

    Releases of older versions may hold itemsets with an unnamed item that does not occur. They are left out, because
    they stand for no particular itemset.
    """

    def __init__(self, release: Release) -> None:
        released = (*release.itemsets, *release.subsets)
        named = [line for line in released if line.count is not None and UNLISTED not in line.items]
        self.lines: dict[Items, ReleasedItemset] = {}
        for line in named:
            self.lines.setdefault(frozenset(line.items), line)
        self.total = release.terms.privacy.public_transactions
        self.in_one_basket = release.terms.plan.counts_units
        self._half = max(
            (_half(line) for line in self.lines.values() if line.count_low is not None and line.count_low > 0),
            default=None,
        )
        self._known: dict[Items, _Around | None] = {}
        self._above: dict[Items, _Around] = {}
        for items, line in self.lines.items():
            for part in self.parts(items):
                if part not in self.lines:
                    around = self._above.setdefault(part, _Around())
                    around.number += 1
                    around.least = max(around.least, line.count_low or 0)

    def parts(self, items: Items) -> Iterator[Items]:
        """The proper, non-empty subsets, the larger ones first; of a large itemset, only the released ones."""
        if len(items) > LARGEST_WHOLE:
            yield from (other for other in self.lines if other < items)
            return
        for size in range(len(items) - 1, 0, -1):
            yield from map(frozenset, combinations(sorted(items), size))

    def count(self, items: Items) -> int | None:
        """The released count."""
        line = self.lines.get(items)
        return None if line is None else line.count

    def together(self, *itemsets: Items) -> tuple[Interval, ...] | None:
        """Intervals that hold the counts of all these itemsets at once with probability 95 %.

        Returns:
            one interval per itemset, within 0 and the number of transactions; None if the noise is not known.
        """
        around = [self._around(items) for items in itemsets]
        if any(one is None for one in around):
            return None
        known = [one for one in around if one is not None]
        wider = self._wider(sum(one.number for one in known))
        total = math.inf if self.total is None else self.total
        return tuple((min(max(0, one.least - wider), total), min(max(0, one.most + wider), total)) for one in known)

    def _around(self, items: Items) -> _Around | None:
        if items not in self._known:
            self._known[items] = self._look_around(items)
        return self._known[items]

    def _look_around(self, items: Items) -> _Around | None:
        """What is known of a count, from its own line or from sub- and supersets; None if its noise is unknown."""
        line = self.lines.get(items)
        if line is not None:
            if line.count_low is None or line.count_high is None:
                return None
            return _Around(number=1, least=line.count_low, most=line.count_high)
        above = self._above.get(items, _Around())
        below = [self.lines[part].count_high for part in self.parts(items) if part in self.lines]
        highs = [high for high in below if high is not None]
        return _Around(number=above.number + len(highs), least=above.least, most=min(highs, default=math.inf))

    def _wider(self, number: int) -> float:
        """How far each end of an interval moves so that this many intervals hold at once."""
        if number <= 1:
            return 0
        if self._half is None:  # every interval touches 0, so that its width does not say how wide the noise is
            return math.inf
        ratio = math.log(FAILING / number) / math.log(FAILING)
        return math.ceil(ratio * (self._half + 1)) - 1 - self._half


def _half(line: ReleasedItemset) -> int:
    return math.ceil(((line.count_high or 0) - (line.count_low or 0)) / 2)
