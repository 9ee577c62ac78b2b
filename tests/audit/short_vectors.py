"""Short vectors of counts and all their neighbours: the largest delta by exhaustive search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from fim_private.audit.neighbours import Group, Limits, Neighbours
from fim_private.audit.search import Search, Worst
from fim_private.mechanisms.protocol import Mechanism
from fim_private.privacy import NeighbouringRelation


def all_neighbours(counts: Sequence[int], limits: Limits) -> Iterator[Neighbours]:
    """Every neighbour of a short vector. For add-remove a unit is only added, as laws are compared both ways."""
    least = 0 if limits.relation is NeighbouringRelation.ADD_REMOVE else -limits.sensitivity
    for change in product(range(least, limits.sensitivity + 1), repeat=len(counts)):
        pair = Neighbours(groups=tuple(Group(count, count + step) for count, step in zip(counts, change, strict=True)))
        if limits.allow(pair):
            yield pair


def hard_vectors(marks: Sequence[int], *, itemsets: int) -> Iterator[tuple[int, ...]]:
    """Short decreasing vectors, with ties at every rank and gaps around every mark, above floors of 0, 1 and 5.

    Args:
        marks: gaps at which something happens, such as thresholds.
        itemsets: length of the vectors, at least 2.
    """
    yield (0,) * itemsets
    yield (1,) + (0,) * (itemsets - 1)
    for floor in (0, 1, 5):
        for mark in marks:
            for gap in sorted({max(0, mark + step) for step in (-2, -1, 0, 1, 2)}):
                for tied in range(1, itemsets):
                    yield (floor + gap,) * tied + (floor,) * (itemsets - tied)
                    if tied >= 2:
                        yield (floor + 2 * gap,) + (floor + gap,) * (tied - 1) + (floor,) * (itemsets - tied)


def largest_delta(
    mechanism: Mechanism, vectors: Iterable[tuple[int, ...]], *, epsilon: float, declared: bool, limits: Limits
) -> Worst:
    """The largest delta*(eps) over all neighbours of short vectors, by exhaustive search.

    Args:
        mechanism: the mechanism whose law is compared.
        vectors: count vectors to start from, all of one length.
        epsilon: the epsilon to look at.
        declared: whether the vectors' itemsets are the declared universe. Otherwise the universe is open.
        limits: how neighbours may differ.
    """
    vectors = list(dict.fromkeys(vectors))
    size = len(vectors[0]) if declared else None
    search = Search(
        mechanism,
        [epsilon],
        Limits(sensitivity=limits.sensitivity, relation=limits.relation, most_new=limits.most_new, universe_size=size),
    )
    for counts in vectors:
        for pair in all_neighbours(counts, limits):
            search.show(pair)
    return search.worst[0]
