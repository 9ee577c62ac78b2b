from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from fim_private.errors import UsageError
from fim_private.transactions import bounding
from fim_private.transactions.bounding import cap_items, keep_transactions, merge_units
from fim_private.transactions.curator_text import dropped
from fim_private.transactions.item_codes import transactions_from_lists
from tests.transactions.reading import as_sets

ROWS = st.lists(st.tuples(st.integers(0, 4), st.sets(st.integers(0, 12), min_size=1)), max_size=14)
LEAST_CHANCE = 1e-7
"""A correct build fails less than once in a million runs even if the seed were drawn anew."""


@pytest.mark.slow
@given(ROWS.filter(bool), st.integers(1, 6))
def test_what_caps_drop_is_known_beforehand(rows, most):
    transactions = of(rows)
    gone, cut = dropped(np.bincount(transactions.units), most)
    kept = keep_transactions(transactions, most, words_from(1))
    assert gone == len(transactions) - len(kept)
    assert cut == int((np.bincount(transactions.units) > np.bincount(kept.units)).sum())
    gone, cut = dropped(transactions.lengths(), most)
    capped = cap_items(transactions, most, words_from(1))
    assert gone == len(transactions.items) - len(capped.items)
    assert cut == int((transactions.lengths() > capped.lengths()).sum())


def words_from(seed: int):
    generator = np.random.default_rng(seed)
    return lambda count: generator.integers(0, 2**64, size=count, dtype=np.uint64)


def of(rows):
    return transactions_from_lists([items for _, items in rows], units=[unit for unit, _ in rows])


def as_names(items):
    return {str(item) for item in items}


@pytest.mark.slow
@given(ROWS)
def test_merging_gives_the_union_of_each_unit(rows):
    merged = merge_units(of(rows))
    unions: dict[int, set[str]] = {}
    for unit, items in rows:
        unions.setdefault(unit, set()).update(as_names(items))
    assert merged.units is None
    assert as_sets(merged) == list(unions.values())


def test_without_units_each_transaction_is_one():
    plain = transactions_from_lists([["a"], ["a", "b"]])
    assert merge_units(plain) is plain
    assert keep_transactions(plain, 1, words_from(0)) is plain


@pytest.mark.slow
@given(ROWS, st.integers(1, 5), st.integers(0, 2**32))
def test_a_unit_keeps_as_many_as_it_may(rows, most, seed):
    kept = keep_transactions(of(rows), most, words_from(seed))
    sets = as_sets(kept)
    for unit in range(5):
        own = [as_names(items) for owner, items in rows if owner == unit]
        code = list(dict.fromkeys(owner for owner, _ in rows)).index(unit) if own else -1
        chosen = [items for items, owner in zip(sets, kept.units.tolist(), strict=True) if owner == code]
        assert len(chosen) == min(most, len(own))
        assert not Counter(map(frozenset, chosen)) - Counter(map(frozenset, own))


@pytest.mark.slow
@given(ROWS, st.integers(1, 5), st.integers(0, 2**32))
def test_a_transaction_keeps_as_many_items_as_it_may(rows, most, seed):
    transactions = of(rows)
    capped = cap_items(transactions, most, words_from(seed))
    assert len(capped) == len(transactions)
    for before, after in zip(as_sets(transactions), as_sets(capped), strict=True):
        assert after <= before
        assert len(after) == min(most, len(before))
    assert np.array_equal(capped.units, transactions.units)


@pytest.mark.slow
@given(ROWS, st.integers(0, 4), st.integers(1, 3), st.integers(0, 2**32))
def test_a_unit_taken_away_changes_nothing_of_the_others(rows, gone, most, seed):
    """With the same words for the other units, bounded data differ by the transactions of the one unit alone."""
    words = words_from(seed)(len(rows))
    stays = np.array([unit != gone for unit, _ in rows], dtype=bool)
    full = keep_transactions(of(rows), most, lambda _: words)
    less = keep_transactions(of([row for row in rows if row[0] != gone]), most, lambda _: words[stays])
    difference = Counter(map(frozenset, as_sets(full)))
    difference.subtract(map(frozenset, as_sets(less)))
    assert all(count >= 0 for count in difference.values())
    assert difference.total() == min(most, sum(unit == gone for unit, _ in rows))


def test_every_pair_of_transactions_is_as_likely():
    units = 6000
    rows = [(unit, {item}) for item in range(4) for unit in range(units)]
    kept = keep_transactions(of(rows), 2, words_from(11))
    pairs: dict[int, list[str]] = {}
    for unit, items in zip(kept.units.tolist(), as_sets(kept), strict=True):
        pairs.setdefault(unit, []).extend(items)
    tally = Counter(frozenset(pair) for pair in pairs.values())
    assert len(tally) == 6
    assert chisquare(list(tally.values())).pvalue > LEAST_CHANCE


def test_every_pair_of_items_is_as_likely_whatever_the_transaction():
    transactions = transactions_from_lists([["a", "b", "c", "d"]] * 6000)
    sets = as_sets(cap_items(transactions, 2, words_from(12)))
    tally = Counter(map(frozenset, sets))
    assert len(tally) == 6
    assert chisquare(list(tally.values())).pvalue > LEAST_CHANCE
    neighbours = Counter(zip(map(frozenset, sets[::2]), map(frozenset, sets[1::2]), strict=True))
    assert len(neighbours) == 36
    assert chisquare(list(neighbours.values())).pvalue > LEAST_CHANCE


@pytest.mark.parametrize("most", [0, -1])
def test_a_bound_below_one_is_refused(most):
    for bound in (keep_transactions, cap_items):
        with pytest.raises(UsageError, match="Give at least 1"):
            bound(transactions_from_lists([["a"]], units=[1]), most, words_from(0))


def test_no_transactions_can_be_bounded():
    nothing = transactions_from_lists([], units=[])
    for bounded in (
        keep_transactions(nothing, 1, words_from(0)),
        cap_items(nothing, 1, words_from(0)),
        merge_units(nothing),
    ):
        assert as_sets(bounded) == []


def test_nothing_is_copied_where_nothing_is_too_much():
    transactions = transactions_from_lists([["a", "b"], ["c"]], units=[1, 2])

    def none(count):
        raise AssertionError

    assert cap_items(transactions, 2, none) is transactions
    assert keep_transactions(transactions, 1, words_from(0)) is transactions


@given(ROWS, st.integers(1, 5), st.integers(1, 20), st.integers(0, 2**32))
def test_words_are_drawn_in_parts_and_for_long_transactions_alone(rows, most, at_once, seed):
    transactions = of(rows)
    whole = cap_items(transactions, most, words_from(seed))
    drawn = []

    def words(count):
        drawn.append(count)
        return stream[sum(drawn[:-1]) : sum(drawn)]

    needed = sum(len(items) for _, items in rows if len(items) > most)
    stream = words_from(seed)(needed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounding, "AT_ONCE", at_once)
        parts = cap_items(transactions, most, words)
    assert sum(drawn) == needed
    assert max(drawn, default=0) < at_once + 13
    assert np.array_equal(parts.items, whole.items)
    assert np.array_equal(parts.offsets, whole.offsets)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=60), st.data())
def test_the_smallest_words_stay_and_of_equal_ones_the_first(words, data):
    most = data.draw(st.integers(1, len(words) - 1))
    transactions = transactions_from_lists([range(len(words))])
    capped = cap_items(transactions, most, lambda _: np.array(words, dtype=np.uint64))
    smallest = np.argsort(words, kind="stable")[:most]
    assert as_sets(capped) == [as_names(smallest.tolist())]


def test_merging_many_transactions_of_long_units():
    generator = np.random.default_rng(5)
    rows = [(int(unit), set(generator.integers(0, 500, size=30).tolist())) for unit in generator.integers(0, 40, 2000)]
    unions: dict[int, set[str]] = {}
    for unit, items in rows:
        unions.setdefault(unit, set()).update(as_names(items))
    assert as_sets(merge_units(of(rows))) == list(unions.values())
