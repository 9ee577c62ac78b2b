"""Units merged and bounded by Spark: the same law as here, and the same result however often it is computed."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("pyspark")

from fim_private.counting.spark.bounding import words_of
from fim_private.errors import UsageError
from fim_private.randomness import SecureRandomness, SeededRandomness
from fim_private.transactions.bounding import merge_units
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import transactions_from_lists
from fim_private.transactions.restriction import containing
from tests.spark.data import local_rows, rows_of, spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNITS = 900
SIX_SIGMA = 6 * (UNITS * (1 / 3) * (2 / 3)) ** 0.5


def customers() -> Transactions:
    """Three baskets a customer, one in each third of the data."""
    lists = [[f"{place}", "both"] for place in range(3) for _ in range(UNITS)]
    return transactions_from_lists(lists, [*range(UNITS)] * 3)


def test_merged_units_are_those_of_one_machine(spark: SparkSession) -> None:
    generator = np.random.default_rng(1)
    lists = [generator.choice(30, size=generator.integers(1, 5), replace=False).tolist() for _ in range(300)]
    local = transactions_from_lists(lists, generator.integers(0, 50, size=300).tolist())
    database = spread(spark, local, [10, 10, 200])
    merged = database.merge_units()
    assert not merged.has_units
    assert [items for _, items in rows_of(merged)] == local_rows(merge_units(local))
    assert merged.merge_units() is merged


def test_the_choice_of_each_unit_s_transactions_is_uniform(spark: SparkSession) -> None:
    database = spread(spark, customers(), [UNITS, 2 * UNITS])
    kept = database.keep_transactions(1, SeededRandomness(3).words)
    rows = rows_of(kept)
    assert kept.has_units
    assert len(rows) == len({unit for unit, _ in rows}) == UNITS
    # Uniform: less than once in a hundred million runs would a fair choice be further off, and the seed is fixed.
    shares = Counter(next(iter(items - {"both"})) for _, items in rows)
    assert all(abs(shares[str(place)] - UNITS / 3) < SIX_SIGMA for place in range(3))
    # The same key, other partitions, and tasks that fail: the same choice.
    again = spread(spark, customers(), [100], fails=True).keep_transactions(1, SeededRandomness(3).words)
    assert rows_of(again) == rows
    other = database.keep_transactions(1, SecureRandomness().words)
    assert rows_of(other) != rows
    two = defaultdict(list)
    for unit, items in rows_of(database.keep_transactions(2, SeededRandomness(3).words)):
        two[unit].append(items)
    assert {len(baskets) for baskets in two.values()} == {2}
    assert all(items in two[unit] for unit, items in rows)
    assert len(kept.merge_units().top_itemsets(1, 9)) == 4


def test_the_choice_of_each_transaction_s_items_is_uniform(spark: SparkSession) -> None:
    local = transactions_from_lists([["a", "b", "c"]] * UNITS + [["a"], ["b", "c"]])
    database = spread(spark, local, [7])
    capped = database.cap_items(1, SeededRandomness(4).words)
    rows = rows_of(capped)
    assert len(rows) == UNITS + 2
    assert {len(items) for _, items in rows} == {1}
    shares = Counter(next(iter(items)) for _, items in rows)
    assert all(abs(shares[item] - UNITS / 3) < SIX_SIGMA + 2 for item in "abc")
    assert rows_of(capped) == rows
    assert rows_of(spread(spark, local, [600, 700]).cap_items(1, SeededRandomness(4).words)) == rows
    assert rows_of(database.cap_items(1, SeededRandomness(5).words)) != rows
    two = rows_of(database.cap_items(2, SeededRandomness(4).words))
    assert max(len(items) for _, items in two) == 2
    # Nothing to cut: no word is drawn, as here.
    assert database.cap_items(3, lambda number: pytest.fail("words were drawn")) is database
    for call in (database.cap_items, database.keep_transactions):
        with pytest.raises(UsageError):
            call(0, SeededRandomness(1).words)


def test_transactions_that_contain_items_are_those_of_one_machine(spark: SparkSession) -> None:
    generator = np.random.default_rng(2)
    lists = [generator.choice(9, size=generator.integers(1, 6), replace=False).tolist() for _ in range(300)]
    local = transactions_from_lists(lists, generator.integers(0, 50, size=300).tolist())
    database = spread(spark, local, [10, 10, 200])
    for names in (["0"], ["0", "3"], ["0", "absent"]):
        left, here = database.containing(names), containing(local, names)
        assert left.vocabulary.equals(here.vocabulary)
        assert left.has_units
        assert [items for _, items in sorted(rows_of(left), key=lambda row: sorted(row[1]))] == local_rows(here)


def test_words_are_of_key_and_identity() -> None:
    key = bytes(32)
    assert np.array_equal(words_of(key, b"someone", 2), words_of(key, b"someone", 5)[:2])
    assert len({words_of(one, name, 1)[0] for one in (key, key[1:] + b"\1") for name in (b"a", b"b")}) == 4


def test_without_units_nothing_is_chosen(spark: SparkSession) -> None:
    database = spread(spark, transactions_from_lists([["a"]]), [])
    assert database.keep_transactions(1, lambda number: pytest.fail("words were drawn")) is database
