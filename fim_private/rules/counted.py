"""The released counts by itemset, what they say of itemsets that were not released, and intervals for several at once.

Several counts at once. Each released interval holds its true count with 95 % chance; two of them together with 90 % or
more only. For a measure of m counts each is therefore asked to hold with 1 - 0.05/m (Bonferroni), which makes 95 % for
all of them together whatever their dependence. An interval of half width h is widened to r (h + 1) - 1, with
r = ln(0.05/m) / ln(0.05), since the noise is log-concave (docs/mathematics.md#post-processing). For Laplace noise this
is exact, for Gaussian noise wider than need be by a tenth.

Missing counts. An itemset is in every transaction that holds a superset, and in none that lacks a subset: its count is
at least that of each superset and at most that of each subset. All of these take part in m.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from fim_private.release import Release, ReleasedItemset
from fim_private.release.record import UNLISTED
from fim_private.rules.rule import Interval

Items = frozenset[str]

FAILING = 0.05
"""How often an interval may miss."""

LARGEST_WHOLE = 6
"""Of itemsets up to this size all parts are looked at; of larger ones those that were released."""


@dataclass(kw_only=True)
class _Around:
    """What released itemsets around another say of its count: how many they are, and the tightest of their bounds."""

    number: int = 0
    least: int = 0
    most: float = math.inf


class Counted:
    """The counts of a release, looked up by itemset.

    Itemsets that name an item only as one that does not occur stand for no itemset in particular, and are left out.
    """

    def __init__(self, release: Release) -> None:
        named = [line for line in release.itemsets if line.count is not None and UNLISTED not in line.items]
        self.lines: dict[Items, ReleasedItemset] = {}
        for line in named:
            self.lines.setdefault(frozenset(line.items), line)
        self.total = release.terms.privacy.public_transactions
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
        """The subsets that are neither empty nor all, the larger first; of a large itemset the released ones."""
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
        """Intervals that hold the counts of all of these at once with 95 % chance.

        Returns:
            one for each, within 0 and the number of transactions; None where the noise is not known.
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
        """What is known of a count, from its own line or from those around it; None where nothing is of its noise."""
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
        """By how much each end moves so that so many intervals hold at once."""
        if number <= 1:
            return 0
        if self._half is None:  # every interval touches 0, so that its width does not say how wide the noise is
            return math.inf
        ratio = math.log(FAILING / number) / math.log(FAILING)
        return math.ceil(ratio * (self._half + 1)) - 1 - self._half


def _half(line: ReleasedItemset) -> int:
    return math.ceil(((line.count_high or 0) - (line.count_low or 0)) / 2)
