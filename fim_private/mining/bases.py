"""Bases: small sets of items that cover given items and pairs. They follow from released numbers alone.

The graph of the pairs has maximal cliques. Each of them is a basis, so that every pair lies in one. Bases are merged as
long as that lowers the average error of the counts of the items and pairs: fewer bases need less noise per bin, but the
counts of a larger basis are sums of more bins (Li, Qardaji, Su, Cao 2012, section 4; what it costs:
docs/mathematics.md#bins-of-bases).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.compilation import compiled
from fim_private.transactions.item_codes import PADDING, padded

Ints = NDArray[np.int32]

MOST_CLIQUES = 500
"""A graph may have very many maximal cliques. After this many, each pair that is in none of them is its own basis."""


def bases_of(items: Ints, pairs: Ints, *, most: int, power: int) -> Ints:
    """Bases that together hold every one of the items and every one of the pairs.

    Args:
        items: int32, shape (n,), different item codes.
        pairs: int32, shape (m, 2), pairs of them.
        most: the largest number of items in a basis, at least 2.
        power: the variance of the noise in a bin is proportional to the number of bases to this power.

    Returns:
        int32, shape (w, width), codes increasing in each row, padded.
    """
    if len(items) <= most:
        return np.sort(items)[np.newaxis]
    codes = np.sort(items)
    edges = [(first, second) for first, second in np.searchsorted(codes, np.sort(pairs, axis=1)).tolist()]
    bases = _merged(_covering(len(codes), edges, most), len(codes), edges, most, power)
    return padded([codes[list(basis)].tolist() for basis in sorted(bases)])


def maximal_cliques(adjacent: Sequence[set[int]]) -> Iterator[tuple[int, ...]]:
    """All maximal cliques of a graph, given by the neighbours of each vertex, each once, in a fixed order.

    Bron and Kerbosch 1973, with pivots.
    """

    def extended(clique: tuple[int, ...], candidates: set[int], seen: set[int]) -> Iterator[tuple[int, ...]]:
        if not candidates and not seen:
            yield tuple(sorted(clique))
            return
        # Each maximal clique holds the pivot or a vertex that is not its neighbour.
        pivot = max(sorted(candidates | seen), key=lambda vertex: len(candidates & adjacent[vertex]))
        for vertex in sorted(candidates - adjacent[pivot]):
            yield from extended((*clique, vertex), candidates & adjacent[vertex], seen & adjacent[vertex])
            candidates = candidates - {vertex}
            seen = seen | {vertex}

    yield from extended((), set(range(len(adjacent))), set())


def _covering(vertices: int, edges: Sequence[tuple[int, int]], most: int) -> list[tuple[int, ...]]:
    """The maximal cliques. Of one that is too large, any two halves of a basis are a basis."""
    adjacent: list[set[int]] = [set() for _ in range(vertices)]
    for first, second in edges:
        adjacent[first].add(second)
        adjacent[second].add(first)
    found: set[tuple[int, ...]] = set()
    for clique in islice(maximal_cliques(adjacent), MOST_CLIQUES):
        if len(clique) <= most:
            found.add(clique)
            continue
        halves = [clique[at : at + most // 2] for at in range(0, len(clique), most // 2)]
        found.update(tuple(sorted(one + other)) for one, other in combinations(halves, 2))
    covered = {pair for clique in found for pair in combinations(clique, 2)}
    found.update(edge for edge in edges if edge not in covered)
    held = {vertex for clique in found for vertex in clique}
    found.update((vertex,) for vertex in range(vertices) if vertex not in held)
    return sorted(found)


def _merged(
    bases: list[tuple[int, ...]], vertices: int, edges: Sequence[tuple[int, int]], most: int, power: int
) -> list[tuple[int, ...]]:
    """Merge the two bases that do least harm, as long as the average error falls."""
    pair_at = np.full((vertices, vertices), -1, np.int32)
    for place, (first, second) in enumerate(edges):
        pair_at[first, second] = place
    item_precision, pair_precision = np.zeros(vertices), np.zeros(len(edges))
    for basis in bases:
        _weigh(basis, 1, pair_at, item_precision, pair_precision)
    bases = list(bases)
    while len(bases) > 1:
        rows = np.full((len(bases), most), PADDING, np.int32)
        for row, basis in zip(rows, bases, strict=True):
            row[: len(basis)] = basis
        first, second, change = _best_merge(rows, pair_at, item_precision, pair_precision)
        error = float((1 / item_precision).sum() + (1 / pair_precision).sum())
        fewer = ((len(bases) - 1) / len(bases)) ** power
        if first < 0 or fewer * (error + change) >= error:
            break
        union = tuple(sorted({*bases[first], *bases[second]}))
        for basis, sign in ((bases[first], -1), (bases[second], -1), (union, 1)):
            _weigh(basis, sign, pair_at, item_precision, pair_precision)
        bases[first] = union
        del bases[second]
    return bases


def _weigh(basis: Sequence[int], sign: int, pair_at: Ints, item_precision: Floats, pair_precision: Floats) -> None:
    """Add (or take away) what a basis tells of its items and pairs: 1 over the number of bins in the sum."""
    item_precision[list(basis)] += sign * 2.0 ** (1 - len(basis))
    for first, second in combinations(basis, 2):
        if pair_at[first, second] >= 0:
            pair_precision[pair_at[first, second]] += sign * 2.0 ** (2 - len(basis))


@compiled
def _best_merge(bases: Ints, pair_at: Ints, item_precision: Floats, pair_precision: Floats) -> tuple[int, int, float]:
    """The two bases whose merging adds least to the sum of the variances, and how much, with equal noise in the bins.

    Args:
        bases: vertices, increasing in each row, padded.
        pair_at: for two vertices, the place of their pair, or -1.
        item_precision: of each item, the sum of what bases tell of it.
        pair_precision: the same for pairs.

    Returns:
        The places of the two, and the change; -1 for both places if no union is small enough.
    """
    number, most = bases.shape
    lengths = np.zeros(number, np.int64)
    for at in range(number):
        while lengths[at] < most and bases[at, lengths[at]] >= 0:
            lengths[at] += 1
    union = np.empty(2 * most, np.int32)
    # Whether the first basis, and the second, has each item of the union.
    has = np.empty((2, 2 * most), np.bool_)
    best_first, best_second, best = -1, -1, np.inf
    for first in range(number):
        for second in range(first + 1, number):
            size, one, two = 0, 0, 0
            while one < lengths[first] or two < lengths[second]:
                here = bases[first, one] if one < lengths[first] else np.int32(2**31 - 1)
                there = bases[second, two] if two < lengths[second] else np.int32(2**31 - 1)
                union[size] = min(here, there)
                has[0, size] = here <= there
                has[1, size] = there <= here
                one += 1 if here <= there else 0
                two += 1 if there <= here else 0
                size += 1
            if size > most:
                continue
            change = 0.0
            for at in range(size):
                old = item_precision[union[at]]
                new = old + 2.0 ** (1 - size)
                new -= has[0, at] * 2.0 ** (1 - lengths[first]) + has[1, at] * 2.0 ** (1 - lengths[second])
                change += 1 / new - 1 / old
                for other in range(at + 1, size):
                    pair = pair_at[union[at], union[other]]
                    if pair >= 0:
                        old = pair_precision[pair]
                        new = old + 2.0 ** (2 - size)
                        new -= (has[0, at] and has[0, other]) * 2.0 ** (2 - lengths[first])
                        new -= (has[1, at] and has[1, other]) * 2.0 ** (2 - lengths[second])
                        change += 1 / new - 1 / old
            if change < best:
                best_first, best_second, best = first, second, change
    return best_first, best_second, best
