from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fim_private.counting import count_chosen
from fim_private.counting.local import chosen_counts, intersections
from fim_private.errors import UsageError
from fim_private.transactions.bounding import count_units
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING, transactions_from_lists
from fim_private.transactions.restriction import keep_items

BASKETS = st.lists(st.frozensets(st.integers(0, 7), min_size=1), min_size=1, max_size=25)


def transactions_of(baskets: list[frozenset[int]]) -> Transactions:
    return transactions_from_lists([[f"{item}" for item in sorted(basket)] for basket in baskets])


@pytest.mark.slow
@given(BASKETS, st.sets(st.integers(1, 5), min_size=1, max_size=3), st.data())
def test_counts_are_those_of_brute_force(baskets: list[frozenset[int]], sizes: set[int], data: st.DataObject) -> None:
    """By a table and by a tree, by one thread and by two."""
    transactions = transactions_of(baskets)
    items = len(transactions.vocabulary)
    every = [itemset for size in sizes for itemset in combinations(range(max(items, *sizes, 1)), size)]
    itemsets = data.draw(st.lists(st.sampled_from(every), unique=True, min_size=1))
    width = max(map(len, itemsets))
    padded = [[*itemset, *[PADDING] * (width - len(itemset))] for itemset in itemsets]
    weights = data.draw(st.none() | st.lists(st.integers(0, 9), min_size=1, max_size=6))
    rows = [
        set(transactions.items[first:end].tolist())
        for first, end in zip(transactions.offsets[:-1], transactions.offsets[1:], strict=True)
    ]
    expected = [0] * len(itemsets)
    holders = [0] * (1 if weights is None else len(weights))
    for row in rows:
        held = [place for place, itemset in enumerate(itemsets) if set(itemset) <= row]
        holders[min(len(held), len(holders) - 1)] += 1
        for place in held:
            expected[place] += 1 if weights is None else weights[min(len(held), len(weights) - 1)]
    for cells, threads in product((chosen_counts._MOST_CELLS, 0), (1, 2)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chosen_counts, "_MOST_CELLS", cells)
            patch.setattr(chosen_counts, "_OCCURRENCES_AT_ONCE", 2**20 if threads == 1 else 10)
            counted = count_chosen(
                transactions,
                np.array(padded, np.int32),
                None if weights is None else np.array(weights, np.int64),
                threads=threads,
            )
        assert counted.vector().tolist() == expected
        assert counted.holders().tolist() == holders
        assert counted.reveal_to_curator()[0].tolist() == padded
        ranked = counted.itemsets_at(range(len(itemsets))).tolist()
        assert ranked == [padded[place] for place in np.argsort(-np.array(expected), kind="stable")]
        profile = counted.profile()
        assert profile.occurring == sum(count > 0 for count in expected)
        assert profile.universe_size == len(itemsets)
        assert [profile.count(place) for place in range(1, profile.occurring + 1)] == sorted(
            (count for count in expected if count), reverse=True
        )


def test_pairs_and_the_tree_of_their_beginnings_agree_on_larger_data(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    lengths = generator.choice([1, 2, 5, 40, 300], size=3_000)
    baskets = [generator.zipf(1.3, size=length) % 700 for length in lengths]
    transactions = transactions_from_lists([basket.tolist() for basket in baskets])
    first, second = (generator.integers(0, len(transactions.vocabulary), size=5_000) for _ in range(2))
    different = first != second
    itemsets = np.unique(np.sort(np.stack([first, second], axis=1)[different], axis=1), axis=0).astype(np.int32)
    weights = (1000 / np.sqrt(1 + np.arange(50))).astype(np.int64)
    monkeypatch.setattr(chosen_counts, "_OCCURRENCES_AT_ONCE", 1_000)
    by_table = count_chosen(transactions, itemsets, weights).vector()
    monkeypatch.setattr(chosen_counts, "_MOST_CELLS", 0)
    assert np.array_equal(by_table, count_chosen(transactions, itemsets, weights, threads=1).vector())
    assert by_table.any()


@pytest.mark.parametrize("units", [1_500, 400, 2])
@pytest.mark.parametrize("size", [3, 4])
def test_bits_and_the_tree_of_their_beginnings_agree_on_larger_data(
    size: int, units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(size)
    lengths = generator.choice([1, 2, 5, 40, 100], size=1_500)
    baskets = [(generator.zipf(1.3, size=length) % 60).tolist() for length in lengths]
    transactions = count_units(transactions_from_lists(baskets, generator.integers(0, units, size=1_500).tolist()))
    drawn = np.sort(generator.integers(0, len(transactions.vocabulary) + 5, size=(20_000, size)), axis=1)
    itemsets = np.unique(drawn[(np.diff(drawn, axis=1) > 0).all(axis=1)], axis=0).astype(np.int32)
    generator.shuffle(itemsets)
    by_bits = count_chosen(transactions, itemsets).vector()
    monkeypatch.setattr(intersections, "AT_ONCE", 1_000)
    monkeypatch.setattr(intersections, "MOST_BYTES", 5_000)
    sizes: list[int] = []
    set_bits = intersections._set

    def measured(*arrays: NDArray[np.uint64]) -> None:
        sizes.append(arrays[-1].nbytes)
        set_bits(*arrays)

    monkeypatch.setattr(intersections, "_set", measured)
    assert np.array_equal(by_bits, count_chosen(transactions, itemsets).vector())
    # However many transactions one unit has.
    assert len(sizes) > 1
    assert max(sizes) <= 5_000
    # Weights of 1 are counted without bits.
    assert np.array_equal(by_bits, count_chosen(transactions, itemsets, np.ones(2, np.int64)).vector())
    assert by_bits.any()


def test_a_failure_in_a_thread_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(chosen_counts, "_add_items", fail)
    monkeypatch.setattr(chosen_counts, "_OCCURRENCES_AT_ONCE", 1)
    with pytest.raises(MemoryError):
        count_chosen(transactions_from_lists([["a"]] * 9), np.array([[0]], np.int32), threads=2)


def test_restricting_keeps_what_is_asked_for() -> None:
    transactions = transactions_from_lists([["a", "b", "c"], ["b"], ["c", "d"], ["a", "d"]])
    kept = keep_items(transactions, np.array([1, 3], np.int32))
    assert kept.vocabulary.to_list() == ["b", "d"]
    assert kept.offsets.tolist() == [0, 1, 2, 3, 4]
    assert kept.items.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "itemsets", [[[1, 0]], [[0, 0]], [[0, 1], [0, 1]], [[-1, 2]], [[0, -1, 1]], [[0, -1], [0, -1]], [[-1, -1]]]
)
def test_itemsets_must_be_itemsets(itemsets: list[list[int]]) -> None:
    with pytest.raises(UsageError):
        count_chosen(transactions_from_lists([["a", "b", "c"]]), np.array(itemsets, np.int32))


def test_without_itemsets_or_transactions_there_are_no_counts() -> None:
    transactions = transactions_from_lists([["a", "b"]])
    assert count_chosen(transactions, np.empty((0, 2), np.int32)).vector().tolist() == []
    nobody = keep_items(transactions, np.empty(0, np.int32))
    assert count_chosen(nobody, np.empty((0, 2), np.int32)).profile().occurring == 0


def test_it_shows_no_data() -> None:
    counted = count_chosen(transactions_from_lists([["a", "b"]]), np.array([[0, 1]], np.int32))
    assert repr(counted) == "ChosenCounts(hidden)"
    assert len(counted) == 1
    assert counted.size == 2
    assert counted.reveal_to_curator()[1].tolist() == [1]
