from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fim_private.counting import ItemsetCounts, count_histogram, count_itemsets, find_itemsets, occurs, top_itemsets
from fim_private.errors import InputError, UsageError
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import transactions_from_lists
from fim_private.transactions.reading import read_transactions
from tests.counting.brute_force import Itemset, brute_force
from tests.counting.local.conftest import counting, each_method

baskets_of = st.lists(st.sets(st.integers(0, 9), max_size=8), max_size=30)
tied = st.lists(st.just({0, 1, 2, 3, 4, 5}) | st.just({1, 2, 3, 6}), max_size=12)
baskets_strategy = baskets_of | tied
sizes = st.integers(1, 5)


def transactions_of(baskets: Sequence[set[int]]) -> Transactions:
    """Items 0 to 9 as two-digit names, so that an item's code is its number among those that occur."""
    return transactions_from_lists([[f"i{item}" for item in basket] for basket in baskets])


def named(transactions: Transactions, counts: ItemsetCounts) -> list[tuple[Itemset, int]]:
    itemsets, numbers = counts.reveal_to_curator()
    items = [int(name[1:]) for name in transactions.vocabulary]
    rows = [tuple(items[code] for code in row) for row in itemsets.tolist()]
    return list(zip(rows, numbers.tolist(), strict=True))


@each_method
@settings(max_examples=60, deadline=None)
@given(baskets_strategy, sizes, st.integers(1, 4), st.integers(1, 2))
def test_all_itemsets_are_those_of_brute_force(
    methods: tuple[str, ...], baskets: list[set[int]], size: int, floor: int, threads: int
) -> None:
    transactions = transactions_of(baskets)
    expected = brute_force(baskets, size, floor)
    for method in methods:
        with counting(method):
            counted = count_itemsets(transactions, size, floor, threads=threads)
            assert named(transactions, counted) == expected
            assert counted.complete is (floor == 1)
            found = find_itemsets(transactions, size, floor, threads=threads)
            itemsets, counts = found.reveal_to_curator()
            rows = [tuple(sorted(int(transactions.vocabulary[code][1:]) for code in row)) for row in itemsets.tolist()]
            assert sorted(zip(rows, counts.tolist(), strict=True)) == sorted(expected)
            assert len(found) == len(expected)


@each_method
@settings(max_examples=60, deadline=None)
@given(baskets_strategy, sizes, st.integers(1, 60))
def test_the_first_m_are_those_of_brute_force(
    methods: tuple[str, ...], baskets: list[set[int]], size: int, m: int
) -> None:
    transactions, everything = transactions_of(baskets), brute_force(baskets, size)
    for method in methods:
        with counting(method):
            top = top_itemsets(transactions, size, m)
            assert named(transactions, top) == everything[:m]
            assert not top.complete or len(everything) <= m
            assert top.complete or len(everything) >= m
            assert top.profile().complete is top.complete


@each_method
@settings(max_examples=60, deadline=None)
@given(baskets_strategy, sizes)
def test_a_histogram_leads_back_to_every_itemset_once(
    methods: tuple[str, ...], baskets: list[set[int]], size: int
) -> None:
    transactions = transactions_of(baskets)
    exact = dict(brute_force(baskets, size))
    for method in methods:
        with counting(method):
            histogram = count_histogram(transactions, size)
            assert len(histogram) == len(exact)
            items = [int(name[1:]) for name in transactions.vocabulary]
            found = [
                tuple(items[code] for code in row) for row in histogram.itemsets_at(range(len(histogram))).tolist()
            ]
            assert sorted(found) == sorted(exact)
            assert [exact[itemset] for itemset in found] == sorted(exact.values(), reverse=True)
            profile = histogram.profile(zeros=7)
            assert profile.complete
            assert [count for count, number in profile.top(len(exact)) for _ in range(number)] == sorted(
                exact.values(), reverse=True
            )
            assert profile.universe_size == len(exact) + 7


@settings(max_examples=60, deadline=None)
@given(baskets_strategy, sizes)
def test_ranks_of_a_table_are_its_rows(baskets: list[set[int]], size: int) -> None:
    counted = count_itemsets(transactions_of(baskets), size)
    itemsets, counts = counted.reveal_to_curator()
    ranks = list(range(len(counted)))[::-1]
    np.testing.assert_array_equal(counted.itemsets_at(ranks), itemsets[::-1])
    profile = counted.profile()
    assert [profile.count(place + 1) for place in range(len(counted))] == counts.tolist()


@settings(max_examples=60, deadline=None)
@given(baskets_strategy, st.lists(st.integers(0, 12), min_size=1, max_size=4, unique=True))
def test_occurs_is_what_it_says(baskets: list[set[int]], codes: list[int]) -> None:
    transactions = transactions_of(baskets)
    items = [int(name[1:]) for name in transactions.vocabulary]
    known = all(code < len(items) for code in codes)
    expected = known and any({items[code] for code in codes} <= basket for basket in baskets)
    assert occurs(transactions, codes) is expected


def test_one_long_transaction_is_counted_in_bounded_batches() -> None:
    """More itemsets than one batch of output holds, all tied."""
    long = set(range(90))
    transactions = transactions_from_lists([[f"i{item:02}" for item in long], ["i00", "i01", "i02", "i03"]])
    counted = count_itemsets(transactions, 3)
    assert len(counted) == 90 * 89 * 88 // 6
    assert counted.profile().top(5) == [(2, 4), (1, 1)]
    top = top_itemsets(transactions, 3, 6).reveal_to_curator()[0]
    assert [tuple(row) for row in top.tolist()] == [*combinations(range(4), 3), (0, 1, 4), (0, 1, 5)]
    assert len(count_histogram(transactions, 3)) == len(counted)


@given(baskets_strategy, st.integers(2, 5), st.integers(1, 30))
def test_without_ties_what_is_more_frequent_than_the_last_is_the_same(
    baskets: list[set[int]], size: int, m: int
) -> None:
    transactions = transactions_of(baskets)
    itemsets, counts = top_itemsets(transactions, size, m).reveal_to_curator()
    any_ties = top_itemsets(transactions, size, m, ties=False)
    others, their_counts = any_ties.reveal_to_curator()
    assert their_counts.tolist() == counts.tolist()
    known = slice(len(counts)) if any_ties.complete else counts > counts[-1]
    assert others[known].tolist() == itemsets[known].tolist()
    assert any_ties.complete is (len(count_itemsets(transactions, size)) < m)


def test_without_ties_a_walk_ends_where_no_count_can_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two baskets of 60 items have 10^15 itemsets of 15 items, all as frequent as the last."""
    monkeypatch.setattr("fim_private.counting.local.work.MOST_STEPS", 10**8)
    transactions = transactions_from_lists([[f"i{item:02}" for item in range(60)]] * 2)
    assert top_itemsets(transactions, 15, 100, ties=False).profile().top(100) == [(2, 100)]
    with pytest.raises(InputError, match="too long"):
        top_itemsets(transactions, 15, 100)


def test_what_cannot_be_counted_is_refused_without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("work", "queries"):
        monkeypatch.setattr(f"fim_private.counting.local.{module}.MOST_STEPS", 10**7)
    transactions = transactions_from_lists([[str(item) for item in range(4000)]])
    for call in (
        lambda: count_histogram(transactions, 5),
        lambda: top_itemsets(transactions, 5, 10),
    ):
        with pytest.raises(InputError, match="max_items=") as caught:
            call()
        assert "4000" not in str(caught.value)


def test_bringing_itemsets_into_order_counts_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fim_private.counting.local.work.MOST_STEPS", 100_000)
    transactions = transactions_from_lists([[str(item) for item in range(60)]])
    assert len(count_histogram(transactions, 3)) == 60 * 59 * 58 // 6
    with pytest.raises(InputError, match="max_items="):
        top_itemsets(transactions, 3, 10)


def test_no_size_is_too_large_to_answer() -> None:
    """Forecasts pass all floats in between, and room is only made for itemsets that occur."""
    transactions = transactions_from_lists([[f"{item:04}" for item in range(1200)], ["0000", "0001"]])
    with pytest.raises(InputError, match="max_items="):
        count_histogram(transactions, 300)
    whole = top_itemsets(transactions, 1200, 2)
    assert whole.complete
    np.testing.assert_array_equal(whole.reveal_to_curator()[0], [np.arange(1200)])
    for size in (1201, 10**6):
        assert len(count_itemsets(transactions, size)) == 0
        assert len(top_itemsets(transactions, size, 5)) == 0
        assert len(count_histogram(transactions, size)) == 0


def test_arguments_are_checked_and_nothing_prints() -> None:
    transactions = transactions_of([{1, 2}])
    for call in (
        lambda: count_itemsets(transactions, 0),
        lambda: count_itemsets(transactions, 1, 0),
        lambda: top_itemsets(transactions, 1, 0),
        lambda: count_histogram(transactions, 0),
    ):
        with pytest.raises(UsageError):
            call()
    for counted in (
        count_itemsets(transactions, 2),
        count_histogram(transactions, 2),
        find_itemsets(transactions, 1),
        find_itemsets(transactions, 2),
    ):
        assert "hidden" in repr(counted)
        assert len(counted) in {1, 2}


Find = Callable[[str], Path]


@pytest.mark.parametrize(
    ("name", "size", "itemsets"),
    [
        ("retail.dat.gz", 1, 16_470),
        ("retail.dat.gz", 2, 3_586_797),
        ("retail.dat.gz", 3, 46_495_042),
        ("groceries.csv.gz", 1, 169),
        ("groceries.csv.gz", 2, 9_636),
        ("groceries.csv.gz", 3, 139_424),
    ],
)
def test_public_data_have_the_known_numbers_of_itemsets(shared_data: Find, name: str, size: int, itemsets: int) -> None:
    assert len(count_histogram(read_transactions(shared_data(name)), size)) == itemsets


@pytest.mark.parametrize(
    ("name", "itemset", "count"),
    [
        ("retail.dat.gz", ("39", "48"), 29_142),
        ("retail.dat.gz", ("39", "41", "48"), 7_366),
        ("groceries.csv.gz", ("other vegetables", "whole milk"), 736),
    ],
)
def test_public_data_have_the_known_top_itemsets(
    shared_data: Find, name: str, itemset: tuple[str, ...], count: int
) -> None:
    transactions = read_transactions(shared_data(name))
    # Items 39, 41 and 48 of retail stand in more triples than one.
    itemsets, counts = top_itemsets(transactions, len(itemset), 1).reveal_to_curator()
    assert tuple(transactions.vocabulary[code] for code in itemsets[0].tolist()) == itemset
    assert counts[0] == count


def test_the_first_thousand_triples_of_retail_are_right(shared_data: Find) -> None:
    transactions = read_transactions(shared_data("retail.dat.gz"))
    top = top_itemsets(transactions, 3, 1000)
    floor = int(top.reveal_to_curator()[1][-1])
    everything = count_itemsets(transactions, 3, floor)
    for one, other in zip(top.reveal_to_curator(), everything.reveal_to_curator(), strict=True):
        np.testing.assert_array_equal(one, other[:1000])


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.filterwarnings("ignore")
def test_itemsets_are_those_of_mlxtend(shared_data: Find, size: int) -> None:
    import pandas as pd
    from mlxtend.frequent_patterns import fpgrowth

    transactions = read_transactions(shared_data("groceries.csv.gz"))
    table = np.zeros((len(transactions), len(transactions.vocabulary)), dtype=bool)
    table[np.repeat(np.arange(len(transactions)), transactions.lengths()), transactions.items] = True
    floor = 30
    frame = fpgrowth(pd.DataFrame(table), min_support=(floor - 0.5) / len(transactions), max_len=size)
    theirs = {
        tuple(sorted(itemset)): round(support * len(transactions))
        for itemset, support in zip(frame["itemsets"], frame["support"], strict=True)
        if len(itemset) == size
    }
    itemsets, counts = count_itemsets(transactions, size, floor).reveal_to_curator()
    ours = dict(zip(map(tuple, itemsets.tolist()), counts.tolist(), strict=True))
    assert ours == theirs


@pytest.mark.parametrize("size", [4, 5])
def test_itemsets_of_dense_data_are_those_of_brute_force(shared_data: Find, size: int) -> None:
    transactions = read_transactions(shared_data("mushroom.dat.gz"))
    few = 60
    end = int(transactions.offsets[few])
    part = Transactions(
        offsets=transactions.offsets[: few + 1], items=transactions.items[:end], vocabulary=transactions.vocabulary
    )
    baskets = [set(items.tolist()) for items in np.split(part.items, part.offsets[1:-1])]
    expected = brute_force(baskets, size, floor=12)
    itemsets, counts = count_itemsets(part, size, 12).reveal_to_curator()
    assert list(zip(map(tuple, itemsets.tolist()), counts.tolist(), strict=True)) == expected
    top = top_itemsets(part, size, 200)
    assert [tuple(row) for row in top.reveal_to_curator()[0].tolist()] == [itemset for itemset, _ in expected[:200]]
