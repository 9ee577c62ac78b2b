"""A line of itemsets, each as long as the product of its items' weights: by hand, and itemset by itemset."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fim_private.mechanisms.product_weights import ProductWeights


def test_each_itemset_is_as_long_as_the_product_of_its_weights() -> None:
    products = ProductWeights([2, 1, 3], 2)
    assert products.total == 2 * 1 + 2 * 3 + 1 * 3
    assert [products.itemset(place) for place in range(11)] == [(0, 1)] * 2 + [(0, 2)] * 6 + [(1, 2)] * 3
    assert [products.interval(itemset) for itemset in ((0, 1), (0, 2), (1, 2))] == [(0, 2), (2, 6), (8, 3)]


@given(st.lists(st.integers(1, 4), max_size=6), st.integers(1, 4))
def test_the_line_holds_every_itemset(weights: list[int], size: int) -> None:
    products = ProductWeights(weights, size)
    lengths = {
        itemset: math.prod(weights[item] for item in itemset) for itemset in combinations(range(len(weights)), size)
    }
    assert products.total == sum(lengths.values())
    line = [products.itemset(place) for place in range(products.total)]
    assert Counter(line) == lengths
    for itemset, length in lengths.items():
        assert products.interval(itemset) == (line.index(itemset), length)
    itemsets = np.array(list(lengths), np.int32).reshape(-1, size)
    assert products.lengths(itemsets) == list(lengths.values())


def test_weights_may_be_larger_than_machine_numbers() -> None:
    products = ProductWeights([10**30, 1, 10**40], 2)
    assert products.total == 10**70 + 10**30 + 10**40
    assert products.itemset(10**30 + 10**70) == (1, 2)
    assert products.lengths(np.array([[0, 2]], np.int32)) == [10**70]
