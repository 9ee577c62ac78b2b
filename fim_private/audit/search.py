"""The worst neighbours: delta*(eps) maximised over pairs of neighbouring count vectors.

A unit's transactions may touch any set of itemsets, so every vector of changes between 0 and Delta is tried for
add-remove, and between -Delta and Delta for replace. Real data cannot make all of them happen; a mechanism that passes
here is private for more than it needs to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from fim_private.audit.laws import hockey_stick, law_over_itemsets
from fim_private.mechanisms.protocol import Law, Mechanism
from fim_private.privacy import NeighbouringRelation

Counts = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The largest delta found, and where.

    Args:
        delta: delta*(eps), the larger of the two directions.
        counts: one count vector.
        neighbour: the other.
    """

    delta: float
    counts: Counts
    neighbour: Counts


def neighbours(counts: Counts, *, sensitivity: int, relation: NeighbouringRelation) -> Iterator[Counts]:
    """Every neighbouring vector; for add-remove those with a unit more (the search looks both ways)."""
    least = 0 if relation is NeighbouringRelation.ADD_REMOVE else -sensitivity
    for change in product(range(least, sensitivity + 1), repeat=len(counts)):
        if any(change) and all(count + step >= 0 for count, step in zip(counts, change, strict=True)):
            yield tuple(count + step for count, step in zip(counts, change, strict=True))


def hard_cases(marks: Sequence[int], *, itemsets: int) -> Iterator[Counts]:
    """Structured count vectors, decreasing: ties at every rank, and gaps around every mark, over no, one or some floor.

    Args:
        marks: gaps at which something happens, such as thresholds.
        itemsets: length of the vectors, at least 2.
    """
    yield (0,) * itemsets
    yield (1,) + (0,) * (itemsets - 1)
    for floor in (0, 1, 5):
        for mark in marks:
            for gap in {max(0, mark + step) for step in (-2, -1, 0, 1, 2)}:
                for tied in range(1, itemsets):
                    yield (floor + gap,) * tied + (floor,) * (itemsets - tied)
                    if tied >= 2:
                        yield (floor + 2 * gap,) + (floor + gap,) * (tied - 1) + (floor,) * (itemsets - tied)


def largest_delta(
    mechanism: Mechanism,
    cases: Iterable[Counts],
    *,
    epsilon: float,
    declared: bool,
    sensitivity: int = 1,
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE,
) -> Worst:
    """delta*(eps) over all neighbours of all cases.

    Args:
        mechanism: whose law.
        cases: count vectors to start from.
        epsilon: at which epsilon.
        declared: whether the universe is the vector's itemsets, or open.
        sensitivity: Delta.
        relation: what neighbours are.
    """
    laws: dict[Counts, Law] = {}

    def law(counts: Counts) -> Law:
        if counts not in laws:
            laws[counts] = law_over_itemsets(mechanism, counts, declared=declared)
        return laws[counts]

    worst = Worst(delta=0.0, counts=(), neighbour=())
    for counts in dict.fromkeys(cases):
        for neighbour in neighbours(counts, sensitivity=sensitivity, relation=relation):
            delta = max(
                hockey_stick(law(counts), law(neighbour), epsilon),
                hockey_stick(law(neighbour), law(counts), epsilon),
            )
            if delta > worst.delta:
                worst = Worst(delta=delta, counts=counts, neighbour=neighbour)
    return worst
