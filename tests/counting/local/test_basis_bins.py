from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.counting import BasisBins, LocalDatabase, count_bins
from fim_private.counting.local import chosen_counts
from fim_private.errors import UsageError
from fim_private.transactions.bounding import count_units, merge_units
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING, transactions_from_lists

BASKETS = st.lists(st.frozensets(st.integers(0, 7), min_size=1), min_size=1, max_size=25)
BASES = st.lists(st.frozensets(st.integers(0, 9), min_size=1, max_size=5), max_size=4)


def transactions_of(baskets: list[frozenset[int]]) -> Transactions:
    """Baskets whose item codes are their numbers, 0 to 7."""
    everything = transactions_from_lists([list("01234567"), *([f"{item}" for item in basket] for basket in baskets)])
    return Transactions(
        offsets=everything.offsets[1:] - 8, items=everything.items[8:], vocabulary=everything.vocabulary
    )


def array_of(bases: list[frozenset[int]]) -> np.ndarray:
    width = max(map(len, bases), default=0)
    rows = [[*sorted(basis), *[PADDING] * (width - len(basis))] for basis in bases]
    return np.array(rows, np.int32).reshape(len(bases), width)


@pytest.mark.parametrize("threads", [1, 2])
@given(BASKETS, BASES)
def test_each_transaction_is_in_the_bin_of_what_it_holds(
    threads: int, baskets: list[frozenset[int]], bases: list[frozenset[int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chosen_counts, "_OCCURRENCES_AT_ONCE", 2**20 if threads == 1 else 10)
        counted = count_bins(transactions_of(baskets), array_of(bases), threads=threads)
    expected = []
    for basis in bases:
        items = sorted(basis)
        for number in range(1, 2 ** len(items)):
            held = {item for place, item in enumerate(items) if number >> place & 1}
            expected.append(sum(basket & basis == held for basket in baskets))
    assert counted.vector().tolist() == expected
    assert len(counted) == len(expected)
    assert counted.bases.tolist() == array_of(bases).tolist()


@given(BASKETS, st.frozensets(st.integers(0, 7)), BASES)
def test_one_transaction_more_is_in_at_most_one_bin_of_each_basis(
    baskets: list[frozenset[int]], more: frozenset[int], bases: list[frozenset[int]]
) -> None:
    array = array_of(bases)
    after = count_bins(transactions_of([*baskets, more] if more else baskets), array).vector()
    change = after - count_bins(transactions_of(baskets), array).vector()
    assert set(change.tolist()) <= {0, 1}
    assert change.sum() == sum(bool(more & basis) for basis in bases) <= len(bases)


def test_a_unit_of_two_baskets_is_in_two_bins_unless_they_are_merged() -> None:
    baskets = transactions_from_lists([["a"], ["b"], ["a", "b"]], ["x", "x", "y"])
    bases = np.array([[0, 1]], np.int32)
    assert count_bins(baskets, bases).vector().tolist() == [1, 1, 1]
    assert count_bins(merge_units(baskets), bases).vector().tolist() == [0, 0, 2]
    with pytest.raises(UsageError, match="no single bin"):
        count_bins(count_units(baskets), bases)


def test_bins_show_no_data() -> None:
    bins = LocalDatabase(transactions_of([frozenset({1, 2})])).count_bins(np.array([[1, 2]], np.int32))
    assert repr(bins) == "BasisBins(hidden)"
    assert isinstance(bins, BasisBins)
    assert bins.vector().tolist() == [0, 0, 1]


def test_a_basis_of_the_largest_size_has_all_its_bins() -> None:
    generator = np.random.default_rng(5)
    baskets = [frozenset(np.flatnonzero(generator.random(8) < 0.4).tolist()) | {0} for _ in range(2_000)]
    bases = np.array([range(8)], np.int32)
    bins = count_bins(transactions_of(baskets), bases).vector()
    assert bins.sum() == 2_000
    for pair in combinations(range(8), 2):
        held = sum(int(bins[number - 1]) for number in range(1, 256) if all(number >> item & 1 for item in pair))
        assert held == sum(basket >= set(pair) for basket in baskets)
