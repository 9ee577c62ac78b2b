"""Spark counts what this process counts, however the transactions are spread and whatever fails on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("pyspark")

from fim_private.catalogue.entries import path_of
from fim_private.counting import LocalDatabase, count_bins, count_chosen, count_histogram, occurs, top_itemsets
from fim_private.counting.spark.reading import read_with_spark
from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.mechanisms.lengths import BINS
from fim_private.randomness import SeededRandomness
from fim_private.transactions.bounding import count_units
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING, transactions_from_lists
from fim_private.transactions.reading import read_transactions
from fim_private.transactions.restriction import containing, keep_items
from tests.spark.data import rows_of, spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fim_private.counting.spark.database import SparkDatabase

Find = Callable[[str], Path]


def random_baskets(seed: int, number: int, items: int = 40) -> Transactions:
    """Baskets whose items follow Zipf's law, which changes half way: what is frequent depends on the partition."""
    generator = np.random.default_rng(seed)
    weights = 1 / np.arange(1, items + 1)
    weights /= weights.sum()
    lists = []
    for place in range(number):
        order = weights if place < number // 2 else weights[::-1]
        lists.append(generator.choice(items, size=generator.integers(1, 9), replace=False, p=order).tolist())
    return transactions_from_lists(lists)


def assert_same_top(database: SparkDatabase, local: Transactions, size: int, m: int) -> None:
    here, there = top_itemsets(local, size, m), database.top_itemsets(size, m)
    for mine, theirs in zip(here.reveal_to_curator(), there.reveal_to_curator(), strict=True):
        assert np.array_equal(mine, theirs)
    assert not there.complete or len(there) == len(count_histogram(local, size))


SPREADS = {
    "even": [150, 300, 450],
    "skewed": [590, 594, 597],
    "empty ones": [0, 0, 200, 200, 600],
    "one alone": [],
    "all but empty": [1, 2, 3, 4, 5],
}


@pytest.mark.parametrize("cuts", SPREADS.values(), ids=SPREADS)
def test_the_first_itemsets_are_the_same_however_they_are_spread(spark: SparkSession, cuts: list[int]) -> None:
    local = random_baskets(len(cuts), 600)
    database = spread(spark, local, cuts)
    for size, m in ((2, 5), (3, 40)):
        assert_same_top(database, local, size, m)


def test_the_first_itemsets_are_right_with_ties_and_where_there_are_fewer(spark: SparkSession) -> None:
    local = transactions_from_lists([["a", "b", "c"], ["b", "c", "d"], ["a", "d"]] * 20)
    database = spread(spark, local, [1, 30])
    for size, m in ((1, 3), (2, 3), (2, 4), (2, 100), (4, 5)):
        assert_same_top(database, local, size, m)


@pytest.mark.parametrize("cuts", SPREADS.values(), ids=SPREADS)
def test_lengths_are_the_same_however_the_transactions_are_spread(spark: SparkSession, cuts: list[int]) -> None:
    local = random_baskets(len(cuts), 600)
    local = replace(local, units=np.arange(600) % 190)
    for bins in (BINS, np.array([2, 5])):
        here = LocalDatabase(local).count_lengths(bins)
        assert np.array_equal(spread(spark, local, cuts).count_lengths(bins), here)
        merged = LocalDatabase(local).merge_units().count_lengths(bins)
        assert np.array_equal(spread(spark, local, cuts).merge_units().count_lengths(bins), merged)
    assert merged.sum() <= 190 < here.sum() < 600  # transactions with fewer than 2 items are in no bin


@pytest.mark.parametrize("cuts", SPREADS.values(), ids=SPREADS)
def test_bins_are_the_same_however_the_transactions_are_spread(spark: SparkSession, cuts: list[int]) -> None:
    local = replace(random_baskets(len(cuts), 600), units=np.arange(600) % 190)
    database = spread(spark, local, cuts)
    bases = np.array([[0, 3, 7, 9], [3, 4, PADDING, PADDING]], np.int32)
    there = database.count_bins(bases)
    assert there.vector().tolist() == count_bins(local, bases).vector().tolist()
    assert there.bases.tolist() == bases.tolist()
    merged = LocalDatabase(local).merge_units().count_bins(bases)
    assert database.merge_units().count_bins(bases).vector().tolist() == merged.vector().tolist()
    with pytest.raises(UsageError, match="no single bin"):
        database.count_units().count_bins(bases)
    with pytest.raises(UsageError, match="Spark cannot weigh"):
        database.weigh_itemsets((2,), np.zeros(3, np.int64))


def test_a_histogram_leads_to_the_itemsets_of_its_ranks(spark: SparkSession) -> None:
    local = random_baskets(7, 400)
    here, there = count_histogram(local, 2), spread(spark, local, [10, 10, 250]).count_histogram(2)
    assert len(there) == len(here)
    assert there.profile(3).zeros == 3
    for mine, theirs in zip(here.reveal_to_curator(), there.reveal_to_curator(), strict=True):
        assert np.array_equal(mine, theirs)
    everything = list(range(len(here)))
    mine, theirs = here.itemsets_at(everything), there.itemsets_at([*everything[::-1], 0])
    levels, numbers = here.reveal_to_curator()
    assert np.array_equal(theirs[-1], theirs[-2])
    first = 0
    for number in numbers.tolist():
        assert {*map(tuple, mine[first : first + number])} == {*map(tuple, theirs[:-1][::-1][first : first + number])}
        first += number
    assert len(levels) > 3
    assert "hidden" in repr(there)


def test_counts_of_given_itemsets_are_those_of_one_machine(spark: SparkSession) -> None:
    local = random_baskets(8, 300)
    database = spread(spark, local, [100, 100])
    weights = np.array([0, 60, 42, 35], np.int64)
    for itemsets in (np.arange(40, dtype=np.int32)[:, np.newaxis], np.array([[0, 1], [0, 2], [3, 39]], np.int32)):
        for table in (None, weights):
            mine, theirs = count_chosen(local, itemsets, table), database.count_chosen(itemsets, table)
            assert mine.vector().tolist() == theirs.vector().tolist()
    assert len(database.count_chosen(np.empty((0, 2), np.int32))) == 0
    for itemset in ([0], [0, 1], [5, 38], [39, 40], [36, 37, 38, 39]):
        assert database.occurs(itemset) is occurs(local, itemset)


def test_more_numbers_than_a_piece_holds_are_counted(spark: SparkSession) -> None:
    local = transactions_from_lists([[item, item + 1] for item in range(20_000)])
    assert_same_top(spread(spark, local, [5000]), local, 1, 30_000)


def test_items_can_be_declared_and_left_out(spark: SparkSession) -> None:
    local = random_baskets(9, 200)
    database = spread(spark, local, [100])
    named = database.restrict_to(["3", "7", "nobody buys this", " 5 "])
    assert named.vocabulary.to_list() == ["3", "5", "7", "nobody buys this"]
    codes = np.array([3, 5, 7], np.int32)
    kept = database.keep_items(codes)
    assert kept.vocabulary.to_list() == ["3", "5", "7"]
    pairs = np.array([[0, 1], [0, 2], [1, 2]], np.int32)
    exact = count_chosen(local, codes[pairs]).vector().tolist()
    assert named.count_chosen(pairs).vector().tolist() == kept.count_chosen(pairs).vector().tolist() == exact
    nothing = database.restrict_to(["nobody buys this"])
    assert len(nothing.top_itemsets(2, 5)) == len(nothing.count_histogram(1)) == 0


def test_a_task_that_is_tried_again_counts_once(spark: SparkSession) -> None:
    local = random_baskets(10, 300)
    database = spread(spark, local, [200], fails=True)
    assert_same_top(database, local, 2, 20)
    itemsets = np.array([[0, 1], [1, 2]], np.int32)
    assert database.count_chosen(itemsets).vector().tolist() == count_chosen(local, itemsets).vector().tolist()


def test_failures_show_nothing(spark: SparkSession) -> None:
    local = transactions_from_lists([[str(item) for item in range(70)]] * 3)
    with pytest.raises(InputError, match="too long to count all itemsets of size 20"):
        spread(spark, local, [1]).count_histogram(20)
    database = spread(spark, local, [1])
    database = replace(database, blocks=database.cluster.map(database.blocks, _fails_always, "secret int"))
    with pytest.raises(FimPrivateError, match="Spark gave up") as caught:
        _ = database._shape
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


def _fails_always(batches: object) -> object:
    raise ValueError("SECRET-ITEM")
    yield


@pytest.mark.parametrize(("name", "m"), [("foodmart.dat.gz", 1000), ("mushroom.dat.gz", 300)])
def test_small_public_data_are_counted_as_on_one_machine(
    spark: SparkSession, shared_data: Find, name: str, m: int
) -> None:
    path = shared_data(name)
    local, database = read_transactions(path), read_with_spark(spark, str(path))
    assert database.vocabulary.to_list() == local.vocabulary.to_list()
    for size in (2, 3):
        assert_same_top(database, local, size, m)


def test_the_data_that_ships_are_counted_as_on_one_machine(spark: SparkSession) -> None:
    path = path_of("online-retail-customers")
    local, database = read_transactions(path), read_with_spark(spark, str(path))
    assert database.notes.layout.describe() == local.notes.layout.describe()
    assert_same_top(database, local, 2, 5001)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "T10I4D100K.dat.gz",
        "bms-webview-2.dat.gz",
        "groceries.csv.gz",
        "kosarak-head.dat.gz",
        "online-retail-sales-baskets.csv.gz",
        "retail.dat.gz",
        "store-7501.csv.gz",
    ],
)
def test_public_data_are_counted_as_on_one_machine(spark: SparkSession, shared_data: Find, name: str) -> None:
    path = shared_data(name)
    local, database = read_transactions(path), read_with_spark(spark, str(path))
    for size, m in ((1, 1000), (2, 10_241), (3, 1000)):
        assert_same_top(database, local, size, m)
    here, there = count_histogram(local, 2), database.count_histogram(2)
    for mine, theirs in zip(here.reveal_to_curator(), there.reveal_to_curator(), strict=True):
        assert np.array_equal(mine, theirs)


def test_units_counted_together_are_those_of_one_machine(spark: SparkSession) -> None:
    generator = np.random.default_rng(11)
    lists = [generator.choice(12, size=generator.integers(1, 6), replace=False).tolist() for _ in range(400)]
    local = count_units(transactions_from_lists(lists, generator.integers(0, 60, size=400).tolist()))
    database = spread(spark, local, [100, 101, 300]).count_units()
    assert database.has_units
    assert database.count_units() is database
    for size, m in ((1, 5), (2, 10), (3, 40)):
        assert_same_top(database, local, size, m)
        here, there = count_histogram(local, size), database.count_histogram(size)
        for mine, theirs in zip(here.reveal_to_curator(), there.reveal_to_curator(), strict=True):
            assert np.array_equal(mine, theirs)
    weights = np.array([0, 60, 42, 35], np.int64)
    pairs = np.array([[0, 1], [0, 2], [3, 11]], np.int32)
    for table in (None, weights):
        mine = count_chosen(local, pairs, table).vector()
        assert database.count_chosen(pairs, table).vector().tolist() == mine.tolist()
    assert_same_top(database.containing(["3"]), containing(local, ["3"]), 2, 20)
    assert_same_top(database.keep_items(np.arange(6, dtype=np.int32)), keep_items(local, np.arange(6)), 2, 8)
    assert rows_of(database.merge_units()) == rows_of(spread(spark, local, [200]).merge_units())


def test_a_cap_cuts_counted_units_as_it_cuts_merged_ones(spark: SparkSession) -> None:
    generator = np.random.default_rng(12)
    lists = [generator.choice(12, size=generator.integers(1, 6), replace=False).tolist() for _ in range(300)]
    owners = generator.integers(0, 60, size=300)
    local = transactions_from_lists(lists, owners.tolist())
    database = spread(spark, local, [100, 200])
    capped = database.count_units().cap_items(4, SeededRandomness(2).words)
    merged = database.merge_units().cap_items(4, SeededRandomness(2).words)
    assert rows_of(capped.merge_units()) == rows_of(merged)
    rows = rows_of(capped)
    kept: dict[str | None, set[str]] = {unit: set() for unit, _ in rows}
    for unit, items in rows:
        kept[unit] |= items
    assert max(map(len, kept.values())) == 4
    cut = Counter((unit, items & kept[unit]) for unit, items in rows_of(database))
    assert Counter(rows) == Counter({row: number for row, number in cut.items() if row[1]})
    assert database.count_units().cap_items(12, SeededRandomness(2).words).counts_units
