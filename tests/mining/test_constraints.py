"""What is counted under constraints and bounds: against brute force, and with one privacy unit less."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fim_private import (
    Budget,
    Constraints,
    PrivacyUnit,
    Universe,
    transactions_from_lists,
)
from fim_private.counting import LocalDatabase
from fim_private.mechanisms.registry import REGISTRY
from fim_private.mining.mine import bound
from fim_private.plan import Plan
from tests.asking import mined, planned
from tests.mechanisms.cases import needs
from tests.transactions.reading import as_sets

BUDGET = Budget("2", "1e-6")
ITEMS = "abcdef"
UNITS = [
    PrivacyUnit(),
    PrivacyUnit(column="customer"),
    *(PrivacyUnit(column="customer", max_transactions=m) for m in (1, 2, 3)),
]

Row = tuple[int, frozenset[str]]

rows = st.lists(st.tuples(st.integers(0, 4), st.frozensets(st.sampled_from(ITEMS), min_size=1)), max_size=25)
constraints = st.builds(
    lambda must, out: Constraints(must_contain=sorted(must), exclude=sorted(out - must)),
    st.frozensets(st.sampled_from("abcdex"), max_size=2),
    st.frozensets(st.sampled_from("abcdex"), max_size=2),
)
"""A universe of listed items, one of which does not occur."""
universes = st.sampled_from([None, Universe(names=tuple("abcdexyz"))])


class Streams:
    """Words for bounding: each call begins a stream of its own, so a unit at the end takes no other unit's words."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._calls = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        self._calls += 1
        return np.random.default_rng([self._seed, self._calls]).integers(0, 2**64, size=count, dtype=np.uint64)


def plan_of(unit: PrivacyUnit, asked: Constraints, size: int = 3, **options: Any) -> Plan:
    """A plan that counts transactions, merged ones where units have several: `test_together` counts units."""
    if unit.column is not None and unit.max_transactions is None:
        options["together"] = "unit"
    return planned(size=size, top=1, budget=BUDGET, unit=unit, constraints=asked, mechanism="stable-max", **options)


def bounded(given_rows: list[Row], plan: Plan, seed: int = 0) -> list[set[str]]:
    units = None if plan.unit.column is None else [unit for unit, _ in given_rows]
    transactions = transactions_from_lists([sorted(items) for _, items in given_rows], units)
    database = bound(LocalDatabase(transactions), plan, Streams(seed))
    assert not plan.constraints.named & set(database.vocabulary)
    return as_sets(database.transactions)


def counts_of(sets: list[set[str]], size: int) -> Counter[frozenset[str]]:
    return Counter(frozenset(itemset) for items in sets for itemset in combinations(sorted(items), size))


def baskets_of(given_rows: list[Row], plan: Plan) -> list[set[str]]:
    """The transactions before the constraints."""
    listed = set(plan.universe.names or ITEMS)
    if plan.unit.column is None:
        return [items & listed for _, items in given_rows]
    unions: dict[int, set[str]] = {}
    for unit, items in given_rows:
        unions.setdefault(unit, set()).update(items & listed)
    return list(unions.values())


@pytest.mark.slow
@settings(max_examples=80)
@given(rows, constraints, universes, st.sampled_from(UNITS[:2]), st.integers(3, 4))
def test_counts_are_those_of_the_itemsets_asked_for(
    given_rows: list[Row], asked: Constraints, universe: Universe | None, unit: PrivacyUnit, size: int
) -> None:
    plan = plan_of(unit, asked, size, universe=universe)
    counted = counts_of(bounded(given_rows, plan), plan.question.remaining_sizes[0])
    must = frozenset(asked.must_contain)
    everything = counts_of(baskets_of(given_rows, plan), size)
    expected = {
        itemset: count for itemset, count in everything.items() if itemset >= must and not itemset & set(asked.exclude)
    }
    assert {itemset | must: count for itemset, count in counted.items()} == expected


@pytest.mark.slow
@settings(max_examples=150)
@given(
    rows,
    st.lists(st.frozensets(st.sampled_from(ITEMS), min_size=1), min_size=1, max_size=6),
    constraints,
    universes,
    st.sampled_from(UNITS),
    st.none() | st.integers(3, 4),
    st.integers(0, 2**32),
)
@example([], [frozenset("abc")] * 6, Constraints(must_contain=["a"]), None, UNITS[3], None, 0)
def test_one_unit_adds_at_most_delta_transactions_and_changes_no_other(
    others: list[Row],
    own: list[frozenset[str]],
    asked: Constraints,
    universe: Universe | None,
    unit: PrivacyUnit,
    max_items: int | None,
    seed: int,
) -> None:
    """For every bounding choice: what is counted with the unit is what is counted without it, and Delta more at most.

    So counts of any size move one way, each by at most Delta: 1 where transactions are merged, m where m are kept.
    """
    plan = plan_of(unit, asked, universe=universe, max_items=max_items)
    most = plan.mechanism.sensitivity
    if unit.column is None:
        own = own[:1]
    full = bounded([*others, *((5, items) for items in own)], plan, seed)
    less = bounded(others, plan, seed)
    assert full[: len(less)] == less
    assert len(full) - len(less) <= most
    assert all(len(items) <= (max_items or len(ITEMS)) for items in full)
    if unit.max_transactions is not None and max_items is None and universe is None:
        hold = [items for items in own if items - set(asked.exclude) > set(asked.must_contain)]
        assert len(full) - len(less) == min(unit.max_transactions, len(hold))
    if max_items is not None:
        size = plan.question.remaining_sizes[0]
        most_new = most * comb(max_items, size)  # what `choosing` is told
        assert len(counts_of(full, size)) - len(counts_of(less, size)) <= most_new
    for size in range(1, 4):
        assert max((counts_of(full, size) - counts_of(less, size)).values(), default=0) <= most


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(
    "name", sorted(set(REGISTRY) - {"lmm-no-fallback", "stable-max"})
)  # which need leads of their own
def test_every_mechanism_finds_what_is_asked_for(name: str, size: int) -> None:
    baskets = [["bread", "milk", "tea"]] * 6000 + [["milk", "salt"]] * 9000 + [["bread", "tea"]] * 9000
    release = mined(
        baskets,
        size=size,
        top=1,
        budget=BUDGET,
        mechanism=name,
        constraints=Constraints(must_contain=["tea", "milk"][: size - 1], exclude=["salt", "absent"]),
        seed=5,  # the published version of truncated frequencies misses now and then
        **needs(name, 1000, listed=False),
    )
    (found,) = release.itemsets
    assert found.items in ({("bread", "tea"), ("milk", "tea")} if size == 2 else {("bread", "milk", "tea")})
    assert "salt" not in {item.item for item in release.found or ()}


@pytest.mark.parametrize("name", ["exponential", "lmm", "items-first", "choosing"])
@pytest.mark.parametrize("universe", [Universe(items=50), Universe(names=tuple("abcx"))])
def test_nothing_tells_whether_a_named_item_occurs(name: str, universe: Universe) -> None:
    """With the same noise the release is identical, and there is no error."""

    def release(lists: list[list[str]], asked: Constraints) -> str:
        return mined(
            lists, top=1, budget=BUDGET, mechanism=name, universe=universe, constraints=asked, max_items=3, seed=4
        ).to_json()

    out, must = Constraints(exclude=["x"]), Constraints(must_contain=["x"])
    baskets = [["a", "b", "c"]] * 900
    absent = release(baskets, out)
    assert '"x"\n' in absent  # in the plan
    assert release([[*basket, "x"] for basket in baskets] + [["x"]], out) == absent
    assert release([*baskets, ["x"]], must) == release(baskets, must)
    assert release([["x"]] * 900, must) == release(baskets, must)
