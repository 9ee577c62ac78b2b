"""Shorter lists from a release: closed, non-redundant or maximal itemsets only.

Everything here looks at released itemsets and counts, never at data: it is post-processing and costs no privacy. A
superset that was not released removes nothing.

Sources: closed itemsets, Pasquier, Bastide, Taouil, Lakhal (1999); maximal ones, Bayardo (1998); within a tolerance,
Cheng, Ke, Ng (2006), delta-tolerance closed frequent itemsets.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

from fim_private.errors import UsageError
from fim_private.release.release import Release, ReleasedItemset

CLOSED, NON_REDUNDANT, MAXIMAL = "closed", "non-redundant", "maximal"
COVERS = {CLOSED: " and has as large a count", NON_REDUNDANT: " and has at least nine tenths of its count", MAXIMAL: ""}
"""An itemset is left out if a larger one contains it, and what else each filter asks of the larger one, in words."""
KEEPS = tuple(COVERS)

TOLERANCE = Fraction(1, 10)
"""An itemset is redundant if a superset's count is lower by at most this share."""


def filtered(release: Release, keep: str) -> Release:
    """The release with some of its itemsets only. Ranks stay as they were; the plan records what was kept.

    If subsets were counted for the rules, those that are left out follow the other subsets. Each is a subset of an
    itemset that stays, because the largest itemset that covers it stays.

    Args:
        release: any release.
        keep: "closed" keeps an itemset if no released proper superset has as large a count. "non-redundant" keeps it if
            none has more than nine tenths of its count (`TOLERANCE`), because noise seldom leaves two counts equal.
            "maximal" keeps it if no proper superset was released.

    Raises:
        UsageError: there is no such filter, or it needs counts that were not released for all itemsets.

    Cost: for each itemset, about the number of itemsets that share an item with it.
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

    left: list[ReleasedItemset] = []
    out: list[ReleasedItemset] = []
    for itemset in release.itemsets:
        (out if covered(itemset) else left).append(itemset)
    subsets, counts = release.subsets, release.terms.plan.counts
    if counts is not None and counts.with_subsets:
        subsets += tuple(replace(one, rank=rank, lead=None) for rank, one in enumerate(out, start=len(subsets) + 1))
    return replace(release, itemsets=tuple(left), subsets=subsets, plan={**release.plan, "keep": keep})


def check_keep(keep: str, *, counts: bool) -> None:
    """Check, before any budget is spent, that a release can be filtered in this way.

    Raises:
        UsageError: it cannot be filtered in this way.
    """
    if keep not in KEEPS:
        raise UsageError("There is no such choice of itemsets to keep.", f"Choose one of: {', '.join(KEEPS)}.")
    if keep != MAXIMAL and not counts:
        raise UsageError(
            f"Counts decide which itemsets are {keep}, and they are not released.",
            f"Release counts, or keep those that are {MAXIMAL}.",
        )


def _least(itemset: ReleasedItemset, keep: str) -> Fraction:
    """A superset with at least this count removes the itemset."""
    return _count(itemset) * (1 - TOLERANCE) if keep == NON_REDUNDANT else Fraction(_count(itemset))


def _count(itemset: ReleasedItemset) -> int:
    if itemset.count is None:
        raise AssertionError("checked before")
    return itemset.count
