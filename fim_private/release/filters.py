"""Shorter lists from a release: closed, non-redundant or maximal itemsets only.

Everything here looks at the released itemsets and their released counts alone, never at data: it is post-processing and
costs no privacy. A superset that was not released leaves nothing out.

Sources: closed itemsets, Pasquier, Bastide, Taouil, Lakhal (1999); maximal ones, Bayardo (1998); within a tolerance,
Cheng, Ke, Ng (2006), delta-tolerance closed frequent itemsets.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

from fim_private.errors import UsageError
from fim_private.release.record import Release, ReleasedItemset

CLOSED, NON_REDUNDANT, MAXIMAL = "closed", "non-redundant", "maximal"
KEEPS = (CLOSED, NON_REDUNDANT, MAXIMAL)

TOLERANCE = Fraction(1, 10)
"""A superset with so little less of the count makes an itemset redundant."""


def filtered(release: Release, keep: str) -> Release:
    """The release with these of its itemsets alone, ranks as they were; the plan says what was kept.

    Args:
        release: any.
        keep: "closed": no released proper superset has as large a count; "non-redundant": none has more than nine
            tenths of it (`TOLERANCE`), for noise seldom leaves two counts equal; "maximal": there is none at all.

    Raises:
        UsageError: there is no such filter, or it needs counts, which were not released for all itemsets.

    Cost: for each itemset about the number of those that share an item with it.
    """
    check_keep(keep, counts=all(itemset.count is not None for itemset in release.itemsets))
    holding: dict[str, set[int]] = defaultdict(set)
    for place, itemset in enumerate(release.itemsets):
        for item in itemset.items:
            holding[item].add(place)

    def covered(itemset: ReleasedItemset) -> bool:
        holders = set.intersection(*(holding[item] for item in itemset.items))
        larger = (release.itemsets[place] for place in holders)
        return any(
            len(other.items) > len(itemset.items) and (keep == MAXIMAL or _count(other) >= _least(itemset, keep))
            for other in larger
        )

    left = tuple(itemset for itemset in release.itemsets if not covered(itemset))
    return replace(release, itemsets=left, plan={**release.plan, "keep": keep})


def check_keep(keep: str, *, counts: bool) -> None:
    """Find out before anything is spent whether a release could be filtered so.

    Args:
        keep: as `filtered`.
        counts: whether counts are released.

    Raises:
        UsageError: it could not.
    """
    if keep not in KEEPS:
        raise UsageError("There is no such choice of itemsets to keep.", f"Choose one of: {', '.join(KEEPS)}.")
    if keep != MAXIMAL and not counts:
        raise UsageError(
            f"Which itemsets are {keep} is a matter of their counts, and these are not released.",
            f"Release counts, or keep those that are {MAXIMAL}.",
        )


def _least(itemset: ReleasedItemset, keep: str) -> Fraction:
    """The count from which on a superset makes the itemset superfluous."""
    return _count(itemset) * (1 - TOLERANCE) if keep == NON_REDUNDANT else Fraction(_count(itemset))


def _count(itemset: ReleasedItemset) -> int:
    if itemset.count is None:
        raise AssertionError("checked before")
    return itemset.count
