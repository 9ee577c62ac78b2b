"""Units counted together: an itemset counts once per unit that holds it in at least one of its transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fim_private.counting import (
    LocalDatabase,
    count_chosen,
    count_histogram,
    count_itemsets,
    occurs,
    top_itemsets,
)
from fim_private.counting.local import chosen_counts
from fim_private.mechanisms.measurement import Measurement
from fim_private.randomness import SeededRandomness
from fim_private.transactions.bounding import count_units
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import transactions_from_lists
from fim_private.transactions.restriction import keep_items
from tests.counting.brute_force import Itemset
from tests.counting.local.conftest import counting, each_method

Owned = list[tuple[int, frozenset[int]]]
"""Each basket with the number of its owner."""

ITEMS = 8
baskets_of = st.frozensets(st.integers(0, ITEMS - 1), min_size=1, max_size=ITEMS)
owned = st.lists(st.tuples(st.integers(0, 5), baskets_of), min_size=1, max_size=25)
sizes = st.integers(1, 4)


def transactions_of(rows: Owned) -> Transactions:
    """Items keep their numbers as codes, because every item is in the vocabulary."""
    data = transactions_from_lists([[f"{item}" for item in basket] for _, basket in rows], [who for who, _ in rows])
    return count_units(LocalDatabase(data).restrict_to([str(item) for item in range(ITEMS)]).transactions)


def by_owner(rows: Owned) -> dict[int, list[frozenset[int]]]:
    baskets: dict[int, list[frozenset[int]]] = {who: [] for who, _ in rows}
    for who, basket in rows:
        baskets[who].append(basket)
    return baskets


def held(baskets: Sequence[frozenset[int]], size: int) -> set[Itemset]:
    """The itemsets that a unit holds in at least one basket."""
    return {itemset for basket in baskets for itemset in combinations(sorted(basket), size)}


def brute_force(rows: Owned, size: int) -> list[tuple[Itemset, int]]:
    counts = Counter(itemset for baskets in by_owner(rows).values() for itemset in held(baskets, size))
    return sorted(counts.items(), key=lambda line: (-line[1], line[0]))


def rows_of(transactions: Transactions) -> Owned:
    assert transactions.units is not None
    parts = np.split(transactions.items, transactions.offsets[1:-1])
    return [(int(who), frozenset(part.tolist())) for who, part in zip(transactions.units, parts, strict=True)]


@pytest.mark.slow
@each_method
@settings(max_examples=60, deadline=None)
@given(owned, sizes, st.integers(1, 30), st.integers(1, 2))
def test_counts_are_those_of_brute_force(
    methods: tuple[str, ...], rows: Owned, size: int, m: int, threads: int
) -> None:
    data, expected = transactions_of(rows), brute_force(rows, size)

    def pairs(found: tuple[np.ndarray, np.ndarray]) -> list[tuple[Itemset, int]]:
        return list(zip(map(tuple, found[0].tolist()), found[1].tolist(), strict=True))

    for method in methods:
        with counting(method):
            assert pairs(count_itemsets(data, size, threads=threads).reveal_to_curator()) == expected
            floor = [line for line in expected if line[1] >= 2]
            assert pairs(count_itemsets(data, size, 2, threads=threads).reveal_to_curator()) == floor
            assert pairs(top_itemsets(data, size, m, threads=threads).reveal_to_curator()) == expected[:m]
            histogram = count_histogram(data, size, threads=threads)
            levels, numbers = histogram.reveal_to_curator()
            found = Counter(count for _, count in expected)
            assert dict(zip(levels.tolist(), numbers.tolist(), strict=True)) == found
            ranked = [tuple(row) for row in histogram.itemsets_at(range(len(histogram))).tolist()]
            counts = dict(expected)
            assert [counts[itemset] for itemset in ranked] == [count for _, count in expected]
            assert len(set(ranked)) == len(expected)
            for itemset in combinations(range(ITEMS), size):
                assert occurs(data, itemset) == (itemset in counts)


@settings(max_examples=60, deadline=None)
@given(owned, st.integers(1, 4), st.data())
def test_weights_go_by_what_a_unit_holds_in_all_its_baskets(rows: Owned, size: int, data: st.DataObject) -> None:
    """By a table and by a tree, all at once and in pieces."""
    every = list(combinations(range(ITEMS), size))
    itemsets = data.draw(st.lists(st.sampled_from(every), unique=True, min_size=1))
    weights = data.draw(st.none() | st.lists(st.integers(0, 9), min_size=1, max_size=6))
    expected = dict.fromkeys(itemsets, 0)
    for baskets in by_owner(rows).values():
        both = held(baskets, size) & set(itemsets)
        for itemset in both:
            expected[itemset] += 1 if weights is None else weights[min(len(both), len(weights) - 1)]
    table = None if weights is None else np.array(weights, np.int64)
    transactions = transactions_of(rows)
    for cells, at_once in product((chosen_counts._MOST_CELLS, 0), (2**20, 5)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chosen_counts, "_MOST_CELLS", cells)
            patch.setattr(chosen_counts, "_OCCURRENCES_AT_ONCE", at_once)
            counted = count_chosen(transactions, np.array(itemsets, np.int32), table)
        assert counted.vector().tolist() == [expected[itemset] for itemset in itemsets]


@settings(max_examples=60, deadline=None)
@given(owned, st.frozensets(st.integers(0, ITEMS - 1), min_size=1, max_size=3), sizes)
def test_restrictions_act_inside_each_basket_of_a_unit(rows: Owned, named: frozenset[int], size: int) -> None:
    database = LocalDatabase(transactions_of(rows))
    names = [str(item) for item in sorted(named)]
    others = [item for item in range(ITEMS) if item not in named]

    def counted(bounded: LocalDatabase, codes: Sequence[int]) -> dict[Itemset, int]:
        itemsets, counts = bounded.top_itemsets(size, 1000).reveal_to_curator()
        return {tuple(codes[code] for code in row): count for row, count in zip(itemsets.tolist(), counts, strict=True)}

    holders = [(who, basket - named) for who, basket in rows if basket > named]
    assert counted(database.containing(names), others) == dict(brute_force(holders, size))
    kept = [(who, basket & named) for who, basket in rows]
    assert counted(database.restrict_to(names), sorted(named)) == dict(brute_force(kept, size))
    left = [(who, basket - named) for who, basket in rows]
    assert counted(database.keep_items(np.array(others, np.int32)), others) == dict(brute_force(left, size))


@settings(max_examples=60, deadline=None)
@given(owned, st.integers(1, 6), st.integers(0, 1000))
def test_a_cap_keeps_the_same_items_in_all_baskets_of_a_unit(rows: Owned, most: int, seed: int) -> None:
    data = transactions_of(rows)
    capped = LocalDatabase(data).cap_items(most, SeededRandomness(seed).words).transactions
    after = rows_of(capped)
    assert capped.counts_units
    assert sorted(by_owner(after)) == list(range(len(by_owner(rows))))
    for baskets, (_, left) in zip(_in_order(rows_of(data)), sorted(by_owner(after).items()), strict=True):
        items, kept = frozenset().union(*baskets), frozenset().union(*left)
        assert len(kept) == min(most, len(items))
        assert kept <= items
        assert left == [basket & kept for basket in baskets if basket & kept]
    merged = LocalDatabase(data).merge_units().cap_items(most, SeededRandomness(seed).words).transactions
    again = LocalDatabase(capped).merge_units().transactions
    assert np.array_equal(merged.offsets, again.offsets)
    assert np.array_equal(merged.items, again.items)
    assert again.units is None
    assert not again.counts_units


def _in_order(rows: Owned) -> Iterator[list[frozenset[int]]]:
    return (baskets for _, baskets in sorted(by_owner(rows).items()))


def test_a_cap_favours_no_item_of_a_unit() -> None:
    """Items in many baskets of the unit are kept as often as those in one."""
    data = transactions_of([(0, frozenset({0, 1}))] * 9 + [(0, frozenset({2, 3}))])
    randomness = SeededRandomness(7)
    runs = 4000
    kept = Counter(
        tuple(np.unique(LocalDatabase(data).cap_items(2, randomness.words).transactions.items).tolist())
        for _ in range(runs)
    )
    assert sorted(kept) == list(combinations(range(4), 2))
    # Six standard deviations of a count with chance 1/6.
    assert all(abs(number - runs / 6) < 6 * (runs * 5 / 36) ** 0.5 for number in kept.values())


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(owned, st.lists(baskets_of, min_size=1, max_size=6), st.integers(1, 3), st.data())
def test_one_unit_changes_each_count_by_at_most_one_and_all_upwards(
    rows: Owned, more: list[frozenset[int]], size: int, data: st.DataObject
) -> None:
    without, inside = transactions_of(rows), transactions_of([*rows, *((99, basket) for basket in more)])
    every = np.array(list(combinations(range(ITEMS), size)), np.int32)
    change = count_chosen(inside, every).vector() - count_chosen(without, every).vector()
    assert set(change.tolist()) <= {0, 1}
    assert change.sum() == len(held(more, size))
    measurement = Measurement(resolution=10, full=data.draw(st.integers(1, 20)), variance=100)
    weighted = [count_chosen(each, every, measurement.weights).vector() for each in (inside, without)]
    moved = weighted[0] - weighted[1]
    assert (moved >= 0).all()
    assert (moved**2).sum() <= measurement.resolution**2 * measurement.full


def test_without_units_each_transaction_is_one() -> None:
    data = transactions_from_lists([["a", "b"], ["a"]])
    assert count_units(data) is data
    assert data.first_of_units() is None
    units = replace(data, units=np.array([0, 0]))
    assert units.first_of_units() is None  # units are known, and transactions are counted
    assert count_units(units).first_of_units().tolist() == [0, 2]


def test_group_numbers_start_again_before_they_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lists number their groups of transactions with 32 bits."""
    from fim_private.counting.local import walk

    generator = np.random.default_rng(6)
    rows = [
        (int(who), frozenset(generator.integers(0, ITEMS, 5).tolist())) for who in generator.integers(0, 10, size=200)
    ]
    data = transactions_of(rows)
    fresh = walk.scratch_for

    def nearly_full(items: int, *, counts_units: bool) -> object:
        scratch = fresh(items, counts_units=counts_units)
        scratch.group[0] = 2**32 - 20
        scratch.last[:] = 3  # a number that comes again
        return scratch

    monkeypatch.setattr(walk, "scratch_for", nearly_full)
    for size in (2, 3):
        itemsets, counts = count_itemsets(keep_items(data, np.arange(ITEMS, dtype=np.int32)), size).reveal_to_curator()
        assert list(zip(map(tuple, itemsets.tolist()), counts.tolist(), strict=True)) == brute_force(rows, size)


def test_pairs_are_counted_beyond_the_units_that_have_numbers() -> None:
    """The counters of pairs number units with 16 bits. Units of one transaction and of two come in turn."""
    owners = np.sort(np.append(np.arange(200_000), np.arange(0, 200_000, 2)))
    pairs = np.array([[0, 1], [0, 2], [1, 2]], np.int32)
    chosen = np.random.default_rng(7).integers(0, 3, len(owners))
    data = count_units(
        Transactions(
            offsets=np.arange(0, 2 * len(owners) + 1, 2),
            items=pairs[chosen].ravel(),
            vocabulary=pl.Series(["a", "b", "c"]),
            units=owners.astype(np.int64),
        )
    )
    itemsets, counts = top_itemsets(data, 2, 3).reveal_to_curator()
    expected = {tuple(pair): len(np.unique(owners[chosen == sort])) for sort, pair in enumerate(pairs.tolist())}
    assert dict(zip(map(tuple, itemsets.tolist()), counts.tolist(), strict=True)) == expected
    assert min(expected.values()) > 2**16


@pytest.mark.parametrize("most", [1, 2, 40])
def test_bits_and_lists_agree_on_more_units_than_a_word_holds(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Units of very different numbers of transactions: words of one, of few and of many layers."""
    generator = np.random.default_rng(most)
    owners = [who for who in range(300) for _ in range(1 + int(most * generator.random() ** 6))]
    baskets = [frozenset(np.flatnonzero(generator.random(ITEMS) < 0.4).tolist()) or frozenset({0}) for _ in owners]
    rows = list(zip(owners, baskets, strict=True))
    data = transactions_of(rows)
    for size in (3, 4, 5):
        for dense in (True, False):
            monkeypatch.setattr("fim_private.counting.local.task.is_dense", lambda _index, dense=dense: dense)
            itemsets, counts = count_itemsets(data, size).reveal_to_curator()
            assert list(zip(map(tuple, itemsets.tolist()), counts.tolist(), strict=True)) == brute_force(rows, size)
            itemsets, counts = top_itemsets(data, size, 7).reveal_to_curator()
            found = list(zip(map(tuple, itemsets.tolist()), counts.tolist(), strict=True))
            assert found == brute_force(rows, size)[:7]
