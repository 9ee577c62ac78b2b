from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.counting import count_bins, count_chosen
from fim_private.mining import bases as bases_module
from fim_private.mining.bases import bases_of, maximal_cliques
from fim_private.mining.privbasis_steps import subset_counts
from fim_private.transactions.item_codes import PADDING
from tests.counting.local.test_basis_bins import array_of, transactions_of

GRAPHS = st.integers(1, 8).flatmap(
    lambda vertices: st.tuples(
        st.just(vertices), st.sets(st.sampled_from([*combinations(range(vertices), 2)] or [(0, 0)]))
    )
)


def rows_of(bases: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(code for code in row if code != PADDING) for row in bases.tolist()]


def average_error(bases: list[tuple[int, ...]], items: list[int], pairs: list[tuple[int, ...]], power: int) -> float:
    """The average variance over items and pairs, by its definition."""
    variances = []
    for query in [*((item,) for item in items), *pairs]:
        held = [2.0 ** (len(query) - len(basis)) for basis in bases if set(query) <= set(basis)]
        variances.append(len(bases) ** power / sum(held))
    return sum(variances) / len(variances)


@given(GRAPHS)
def test_cliques_are_those_of_brute_force(graph: tuple[int, set[tuple[int, int]]]) -> None:
    vertices, edges = graph[0], {edge for edge in graph[1] if edge[0] != edge[1]}
    adjacent = [{b for a, b in [*edges, *((b, a) for a, b in edges)] if a == vertex} for vertex in range(vertices)]
    cliques = [
        set(some)
        for size in range(1, vertices + 1)
        for some in combinations(range(vertices), size)
        if all(pair in edges for pair in combinations(some, 2))
    ]
    maximal = sorted(tuple(sorted(one)) for one in cliques if not any(one < other for other in cliques))
    assert sorted(maximal_cliques(adjacent)) == maximal


@pytest.mark.parametrize("power", [1, 2])
@given(GRAPHS, st.integers(2, 6))
def test_bases_hold_every_item_and_every_pair_and_are_never_too_large(
    power: int, graph: tuple[int, set[tuple[int, int]]], most: int
) -> None:
    vertices, edges = graph[0], sorted(edge for edge in graph[1] if edge[0] != edge[1])
    items = np.array([3 * vertex + 1 for vertex in range(vertices)], np.int32)[::-1]
    pairs = np.array([[3 * b + 1, 3 * a + 1] for a, b in edges], np.int32).reshape(-1, 2)
    bases = rows_of(bases_of(items, pairs, most=most, power=power))
    assert all(1 <= len(basis) <= max(most, 1) and list(basis) == sorted(set(basis)) for basis in bases)
    assert {item for basis in bases for item in basis} == set(items.tolist())
    held = {pair for basis in bases for pair in combinations(basis, 2)}
    assert {(3 * a + 1, 3 * b + 1) for a, b in edges} <= held
    if vertices <= most:
        assert len(bases) == 1


def merges(bases: list[tuple[int, ...]], most: int) -> list[list[tuple[int, ...]]]:
    """Everything that merging two bases can lead to."""
    return [
        [*bases[:a], *bases[a + 1 : b], *bases[b + 1 :], tuple(sorted({*bases[a], *bases[b]}))]
        for a, b in combinations(range(len(bases)), 2)
        if len({*bases[a], *bases[b]}) <= most
    ]


@pytest.mark.parametrize("power", [1, 2])
@given(GRAPHS, st.integers(2, 6))
def test_bases_are_merged_until_that_no_longer_lowers_the_average_error(
    power: int, graph: tuple[int, set[tuple[int, int]]], most: int
) -> None:
    vertices, edges = graph[0], sorted(edge for edge in graph[1] if edge[0] != edge[1])

    def error(bases: list[tuple[int, ...]]) -> float:
        return average_error(bases, [*range(vertices)], edges, power)

    cliques = bases_module._covering(vertices, edges, most)
    merged = bases_module._merged(cliques, vertices, edges, most, power)
    assert error(merged) <= error(cliques) + 1e-12
    assert all(error(other) >= error(merged) - 1e-9 for other in merges(merged, most))
    if len(merged) == len(cliques) - 1:
        assert error(merged) == pytest.approx(min(map(error, merges(cliques, most))))


def test_a_clique_that_is_too_large_becomes_bases_that_hold_its_pairs() -> None:
    items = np.arange(17, dtype=np.int32)
    pairs = np.array([*combinations(range(17), 2)], np.int32)
    bases = rows_of(bases_of(items, pairs, most=12, power=1))
    assert len(bases) == 3
    assert {pair for basis in bases for pair in combinations(basis, 2)} == {*map(tuple, pairs.tolist())}


def test_pairs_beyond_the_cliques_that_are_looked_at_are_bases_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases_module, "MOST_CLIQUES", 1)
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (4, 5)]
    assert bases_module._covering(7, edges, 3) == [(0, 1, 2), (2, 3), (4, 5), (6,)]


@given(
    st.lists(st.frozensets(st.integers(0, 7), min_size=1), min_size=1, max_size=25),
    st.lists(st.frozensets(st.integers(0, 7), min_size=1, max_size=5), min_size=1, max_size=4),
    st.sets(st.integers(1, 4), min_size=1),
)
def test_without_noise_the_counts_of_subsets_are_those_of_the_data(
    baskets: list[frozenset[int]], bases: list[frozenset[int]], sizes: set[int]
) -> None:
    transactions, array = transactions_of(baskets), array_of(bases)
    itemsets, counts = subset_counts(array, count_bins(transactions, array).vector(), sorted(sizes))
    expected = {some for basis in bases for size in sizes for some in combinations(sorted(basis), size)}
    assert sorted(rows_of(itemsets)) == sorted(expected)
    if expected:
        assert counts.tolist() == count_chosen(transactions, itemsets).vector().tolist()


def test_counts_from_several_bases_are_averaged_with_the_weights_of_least_variance() -> None:
    bases = np.array([[0, 1, PADDING], [0, 2, 3]], np.int32)
    bins = np.array([1, 0, 3, 10, 0, 0, 0, 0, 0, 0], np.int64)
    itemsets, counts = subset_counts(bases, bins, (1,))
    found = dict(zip(rows_of(itemsets), counts.tolist(), strict=True))
    # Item 0 is in 2 bins of the first basis, which add up to 4, and in 4 of the second, which add up to 10.
    assert found == {(0,): (4 / 2 + 10 / 4) / (1 / 2 + 1 / 4), (1,): 3.0, (2,): 0.0, (3,): 0.0}
