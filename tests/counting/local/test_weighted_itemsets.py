from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.counting import LocalDatabase, weigh_itemsets
from fim_private.counting.local import weighted_itemsets
from fim_private.errors import InputError
from fim_private.mechanisms.measurement import Measurement
from fim_private.transactions.bounding import count_units, merge_units
from fim_private.transactions.item_codes import PADDING, transactions_from_lists
from tests.counting.local.test_basis_bins import BASKETS, transactions_of

SIZES = st.sets(st.integers(1, 4), min_size=1).map(sorted)


def table(resolution: int) -> np.ndarray:
    return Measurement(full=1, resolution=resolution, variance=1).weights


def by_hand(units: Iterable[set[tuple[int, ...]]], resolution: int) -> Counter[tuple[int, ...]]:
    """What units that hold these itemsets add: the whole part of resolution/sqrt(how many they hold)."""
    totals: Counter[tuple[int, ...]] = Counter()
    for held in units:
        weight = int((resolution**2 // max(1, len(held))) ** 0.5)
        totals.update(dict.fromkeys(held, weight))
    return +totals


def held_in(basket: Iterable[int], sizes: Sequence[int]) -> set[tuple[int, ...]]:
    items = sorted(basket)
    return {some for size in sizes for some in combinations(items, size)}


def found(counts: object) -> dict[tuple[int, ...], int]:
    itemsets, totals = counts.reveal_to_curator()
    named = [tuple(code for code in row if code != PADDING) for row in itemsets.tolist()]
    assert totals.tolist() == sorted(totals.tolist(), reverse=True)
    assert len(set(named)) == len(named)
    return dict(zip(named, totals.tolist(), strict=True))


@pytest.mark.parametrize("at_once", [2**23, 1])
@given(BASKETS, SIZES, st.sampled_from([1, 2, 5, 64]))
def test_sums_are_those_of_the_definition(
    at_once: int, baskets: list[frozenset[int]], sizes: list[int], resolution: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_itemsets, "_AT_ONCE", at_once)
        counted = weigh_itemsets(transactions_of(baskets), sizes, table(resolution))
    assert found(counted) == by_hand((held_in(basket, sizes) for basket in baskets), resolution)
    assert counted.complete


@given(BASKETS, st.data(), SIZES, st.sampled_from([1, 3, 64]))
def test_counted_units_add_once_what_any_of_their_baskets_holds(
    baskets: list[frozenset[int]], data: st.DataObject, sizes: list[int], resolution: int
) -> None:
    owners = data.draw(st.lists(st.integers(0, 3), min_size=len(baskets), max_size=len(baskets)))
    names = sorted({item for basket in baskets for item in basket})
    transactions = transactions_from_lists([sorted(basket) for basket in baskets], owners)
    coded = [frozenset(map(names.index, basket)) for basket in baskets]
    of_owner = [[basket for basket, of in zip(coded, owners, strict=True) if of == owner] for owner in set(owners)]
    units = [set().union(*(held_in(basket, sizes) for basket in some)) for some in of_owner]
    assert found(weigh_itemsets(count_units(transactions), sizes, table(resolution))) == by_hand(units, resolution)
    expected = by_hand((held_in(set().union(*some), sizes) for some in of_owner), resolution)
    assert found(weigh_itemsets(merge_units(transactions), sizes, table(resolution))) == expected


@given(BASKETS, st.frozensets(st.integers(0, 7), min_size=1), SIZES, st.sampled_from([1, 2, 7, 64]))
def test_one_transaction_more_adds_no_more_than_the_length_that_is_paid_for(
    baskets: list[frozenset[int]], more: frozenset[int], sizes: list[int], resolution: int
) -> None:
    before, after = (
        found(weigh_itemsets(transactions_of(some), sizes, table(resolution))) for some in (baskets, [*baskets, more])
    )
    added = [after[itemset] - before.get(itemset, 0) for itemset in after]
    assert min(added, default=0) >= 0
    assert sum(each**2 for each in added) <= resolution**2
    assert set(before) <= set(after)


def test_no_transactions_have_no_itemsets() -> None:
    for empty in (transactions_from_lists([]), count_units(transactions_from_lists([], []))):
        assert len(weigh_itemsets(empty, (1, 2), table(4))) == 0


def test_a_transaction_with_too_many_itemsets_is_not_walked_through() -> None:
    """A million items have half a trillion pairs."""
    long = transactions_from_lists([[f"{item}" for item in range(100_000)], ["1", "2"]])
    assert len(weigh_itemsets(long, (2,), table(256))) == 1


def test_too_much_is_refused_before_anything_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    transactions = transactions_from_lists([["a", "b", "c"]] * 4)
    monkeypatch.setattr(weighted_itemsets, "MOST_OCCURRENCES", 11)
    with pytest.raises(InputError, match="too long"):
        weigh_itemsets(transactions, (2,), table(64))
    monkeypatch.setattr(weighted_itemsets, "MOST_OCCURRENCES", 12)
    assert len(weigh_itemsets(transactions, (2,), table(64))) == 3


def test_itemsets_that_do_not_fit_into_a_number_are_refused() -> None:
    transactions = transactions_from_lists([[f"{item}" for item in range(2**13)]])
    assert len(weigh_itemsets(transactions, (4,), table(64))) == 0
    with pytest.raises(InputError, match="too many different items"):
        weigh_itemsets(transactions, (5,), table(64))


def test_the_database_weighs_too() -> None:
    counts = LocalDatabase(transactions_of([frozenset({1, 2})])).weigh_itemsets((2,), table(8))
    assert repr(counts) == "ItemsetCounts(hidden)"
    assert counts.itemsets_at([0]).tolist() == [[1, 2]]
