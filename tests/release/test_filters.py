"""Filters of a release, against their definitions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fim_private.errors import UsageError
from fim_private.release import Release, ReleasedItemset
from fim_private.release.filters import KEEPS, check_keep, filtered
from fim_private.rules import association_rules

counted = st.dictionaries(st.frozensets(st.sampled_from("abcde"), min_size=1), st.integers(0, 30), max_size=20)


def release(counts: dict[frozenset[str], int | None]) -> Release:
    return Release(
        itemsets=tuple(
            ReleasedItemset(rank=rank, items=tuple(sorted(items)), count=count)
            for rank, (items, count) in enumerate(counts.items(), start=1)
        ),
        mechanism="items-first",
        privacy={},
        plan={"size": 2},
        seeded=False,
        version="0",
    )


@given(counted, st.sampled_from(KEEPS))
@example({frozenset("a"): 1000, frozenset("ab"): 905, frozenset("b"): 1010}, "non-redundant")
def test_a_filter_keeps_what_it_says(counts: dict[frozenset[str], int], keep: str) -> None:
    larger = {one: [counts[other] for other in counts if one < other] for one in counts}
    reasons = {
        "closed": lambda one, other: other >= counts[one],
        "non-redundant": lambda one, other: 10 * other >= 9 * counts[one],
        "maximal": lambda one, other: True,
    }
    expected = [one for one in counts if not any(reasons[keep](one, other) for other in larger[one])]
    whole = release(counts)
    left = filtered(whole, keep)
    assert [frozenset(itemset.items) for itemset in left.itemsets] == expected
    assert set(left.itemsets) <= set(whole.itemsets)
    assert left.plan == {"size": 2, "keep": keep}
    assert Release.from_json(left.to_json()) == left


@given(counted, st.sampled_from(KEEPS))
@example({frozenset("a"): 100, frozenset("b"): 96, frozenset("ab"): 95}, "non-redundant")
def test_no_count_of_a_subset_is_lost_if_subsets_were_counted(counts: dict[frozenset[str], int], keep: str) -> None:
    """Otherwise rules lack counts that were paid for."""
    plan = {"counts": {"noise": "discrete Laplace", "half_width": 3, "with_subsets": True}}
    subset = ReleasedItemset(rank=1, items=("f",), count=7)
    whole = replace(release(counts), plan=plan, subsets=(subset,))
    left = filtered(whole, keep)
    out = [line for line in whole.itemsets if line not in left.itemsets]
    assert left.subsets == (subset, *(replace(line, rank=rank) for rank, line in enumerate(out, start=2)))
    assert all(any({*line.items} < {*larger.items} for larger in left.itemsets) for line in out)
    assert filtered(replace(whole, plan={}), keep).subsets == (subset,)
    rules, others = (
        {(rule.antecedents, rule.consequents): rule.counts for rule in association_rules(one, min_confidence=0).rules}
        for one in (left, whole)
    )
    assert rules == others


@given(st.lists(st.frozensets(st.sampled_from("abcde"), min_size=1), min_size=1, max_size=12))
def test_closed_itemsets_say_all_counts(baskets: list[frozenset[str]]) -> None:
    """The property that the definition is made for: with exact counts of everything, each is the largest above it."""
    everything = {
        frozenset(some) for basket in baskets for r in range(1, 6) for some in combinations(sorted(basket), r)
    }
    counts = {some: sum(some <= basket for basket in baskets) for some in everything}
    closed = {frozenset(line.items): line.count for line in filtered(release(counts), "closed").itemsets}
    for some, count in counts.items():
        assert count == max(closed[other] or 0 for other in closed if some <= other)
    maximal = {frozenset(line.items) for line in filtered(release(counts), "maximal").itemsets}
    non_redundant = {frozenset(line.items) for line in filtered(release(counts), "non-redundant").itemsets}
    assert maximal <= non_redundant <= closed.keys()


def test_a_filter_that_cannot_be_applied_is_refused() -> None:
    without_counts = release({frozenset("ab"): None, frozenset("abc"): None})
    assert [line.items for line in filtered(without_counts, "maximal").itemsets] == [("a", "b", "c")]
    for keep in ("closed", "non-redundant"):
        with pytest.raises(UsageError, match="not released"):
            filtered(without_counts, keep)
        check_keep(keep, counts=True)
    with pytest.raises(UsageError, match="Choose one of: closed"):
        filtered(without_counts, "frequent")
    assert filtered(release({}), "closed").itemsets == ()
