"""Tokens count what the items that they stand for count. Nobody's token counts 0."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fim_private.counting import LocalDatabase, Tokens
from fim_private.mechanisms.laplace_measurement import LaplaceMeasurement
from fim_private.mechanisms.measurement import Measurement
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING, transactions_from_lists

BASKETS = st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=20)


def database_of(baskets: list[set[str]], units: list[int] | None = None) -> LocalDatabase:
    data = transactions_from_lists([sorted(basket) for basket in baskets])
    if units is None:
        return LocalDatabase(data)
    return LocalDatabase(
        Transactions(offsets=data.offsets, items=data.items, vocabulary=data.vocabulary, units=np.array(units))
    )


@given(BASKETS, st.data())
def test_counts_are_those_of_the_items(baskets: list[set[str]], data: st.DataObject) -> None:
    database = database_of(baskets)
    names = database.vocabulary.to_list()
    codes = [*data.draw(st.permutations(range(len(names))))[:4], -1]
    codes = data.draw(st.permutations(codes))
    tokens = Tokens(database, database, np.array(codes))
    assert len(tokens) == len(codes)
    for size in range(1, len(codes) + 1):
        itemsets = list(combinations(range(len(codes)), size))
        counted = tokens.count_chosen(np.array(itemsets, np.int32)).vector().tolist()
        held = [[None if codes[token] < 0 else names[codes[token]] for token in itemset] for itemset in itemsets]
        assert counted == [sum(set(items) <= basket for basket in baskets) for items in held]


def test_several_sizes_are_counted_together() -> None:
    database = database_of([{"a", "b", "c"}, {"a", "b"}, {"c"}])
    tokens = Tokens(database, database, np.array([2, -1, 0, 1]))  # c, nobody's, a, b
    itemsets = np.array([[0, PADDING], [1, PADDING], [2, 3], [0, 1]], np.int32)
    counted = tokens.count_chosen(itemsets, np.array([9, 5, 3, 0]))
    assert counted.vector().tolist() == [3 + 5, 0, 3 + 5, 0]
    assert counted.holders().tolist() == [0, 2, 1, 0]


def test_weights_depend_on_how_many_of_the_itemsets_a_transaction_holds() -> None:
    database = database_of([{"a", "b", "c"}, {"a", "b"}, {"c"}])
    tokens = Tokens(database, database, np.array([2, -1, 0]))  # c, nobody's, a
    weights = np.array([9, 5, 3, 0])
    singles = np.array([[0], [1], [2]], np.int32)
    assert tokens.count_chosen(singles, weights).vector().tolist() == [3 + 5, 0, 3 + 5]


@given(BASKETS, st.data())
def test_units_lack_what_none_of_their_transactions_holds(baskets: list[set[str]], data: st.DataObject) -> None:
    units = data.draw(st.lists(st.integers(0, 4), min_size=len(baskets), max_size=len(baskets)))
    database = database_of(baskets, units)
    names = database.vocabulary.to_list()
    codes = data.draw(st.permutations([*data.draw(st.permutations(range(len(names))))[:4], -1, -1]))
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=8)))
    expected = [0] * len(codes)
    for unit in set(units):
        bought = set().union(*(basket for basket, of in zip(baskets, units, strict=True) if of == unit))
        lacked = [place for place, code in enumerate(codes) if code < 0 or names[code] not in bought]
        for place in lacked if len(lacked) < len(codes) else ():
            expected[place] += int(weights[min(len(lacked), len(weights) - 1)])
    counted = Tokens(database, database.merge_units(), np.array(codes)).count_lacking(weights)
    assert counted.vector().tolist() == expected


@given(
    BASKETS, st.sets(st.sampled_from("abcdef"), min_size=1), st.integers(1, 7),
    st.sampled_from([Measurement, LaplaceMeasurement]),
)  # fmt: skip
def test_what_a_unit_adds_to_the_counts_of_those_who_lack_items_is_bounded(
    baskets: list[set[str]], further: set[str], full: int, kind: type[Measurement]
) -> None:
    measurement = kind.costing(0.1, full=full, sensitivity=1)
    counted = []
    for each in ([set("abcdef"), *baskets], [set("abcdef"), *baskets, further]):
        database = database_of(each)
        tokens = Tokens(database, database, np.array([0, 1, 2, 3, 4, 5, -1]))
        counted.append(tokens.count_lacking(measurement.weights).vector())
    change = counted[1] - counted[0]
    assert change.min() >= 0
    assert change @ change <= measurement.resolution**2 * full
    assert kind is Measurement or change.sum() <= measurement.resolution * full
    # The further unit lacks all that it does not hold, in full if that is not more than `full`.
    lacked = 7 - len(further)
    assert np.count_nonzero(change) == lacked
    assert lacked > full or set(change.tolist()) <= {0, measurement.resolution}


def test_lengths_are_of_units_and_of_the_first_tokens() -> None:
    database = database_of([{"a", "b"}, {"b", "c"}, {"d"}, {"a"}], [7, 7, 8, 9])
    tokens = Tokens(database, database.merge_units(), np.array([1, -1, 2, 0, 3]))  # b, nobody's, c, a, d
    bins = np.array([1, 2, 3])
    assert tokens.count_lengths(1, bins).tolist() == [1, 0, 0]
    assert tokens.count_lengths(3, bins).tolist() == [0, 1, 0]
    assert tokens.count_lengths(5, bins).tolist() == [2, 0, 1]


def test_supports_are_of_the_rarest_item_and_count_units_once() -> None:
    database = database_of([{"a", "b"}, {"a", "b"}, {"a"}, {"b", "c"}], [1, 1, 2, 3])
    tokens = Tokens(database, database.merge_units(), np.array([0, 1, -1, 2]))  # a, b, nobody's, c
    itemsets = np.array([[0, 1], [0, 3], [1, 2], [0, 1]], np.int32)
    assert tokens.supports(itemsets) == [2, 1, 0, 2]  # not the support of the itemset itself
    assert tokens.supports(np.array([[3], [0]], np.int32)) == [1, 2]
    assert tokens.supports(np.array([[3, PADDING], [0, PADDING], [0, 3]], np.int32)) == [1, 2, 1]


def test_what_is_shown_is_no_data() -> None:
    database = database_of([{"a", "secret"}])
    tokens = Tokens(database, database, np.array([1, -1]))
    assert repr(tokens) == "Tokens(hidden)"


def test_codes_come_back_in_the_shape_asked_for() -> None:
    database = database_of([{"a", "b", "c"}])
    tokens = Tokens(database, database, np.array([2, -1, 0]))
    assert tokens.codes(np.array([[0, 2], [2, PADDING]], np.int32)).tolist() == [[2, 0], [0, PADDING]]


def test_a_token_that_nobody_has_leaves_no_codes_at_all() -> None:
    database = database_of([{"a", "b", "c"}])
    tokens = Tokens(database, database, np.array([2, -1, 0]))
    assert tokens.codes(np.array([[0, 2], [1, 2]], np.int32)).shape == (0, 2)
