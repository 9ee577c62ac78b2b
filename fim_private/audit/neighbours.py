"""Neighbouring data sets as counts, and hard cases among them.

Itemsets that have the same counts on both sides form a group, so three numbers may describe a data set with ten
thousand itemsets. A group may hold a single itemset.

A unit's transactions may touch any set of itemsets, so every change between 0 and Delta of each count is allowed for
add-remove, and between -Delta and Delta for replace. Real data cannot make all of these changes, except for itemsets of
size 1. So a mechanism that passes here is private for more neighbours than it has to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from fim_private.privacy import NeighbouringRelation
from fim_private.randomness import Randomness
from fim_private.randomness.uniform import uniform_below


class Group(NamedTuple):
    """Itemsets that are alike: their count, their count in the neighbour, and how many there are."""

    here: int
    there: int
    number: int = 1


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Two neighbouring data sets.

    Args:
        groups: all itemsets that occur in either data set, or the whole declared universe.
        ties_flipped: the neighbour's ranking orders itemsets of equal counts the other way round.
    """

    groups: tuple[Group, ...]
    ties_flipped: bool = False

    @property
    def sides(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """(count, number) of each group, on either side."""
        return (
            [(group.here, group.number) for group in self.groups],
            [(group.there, group.number) for group in self.groups],
        )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How neighbours may differ.

    Args:
        sensitivity: Delta.
        relation: the neighbouring relation.
        most_new: the most new itemsets that one unit may make occur. None allows any number.
        universe_size: the size of a declared universe, to which groups are filled up. None for an open universe.
    """

    sensitivity: int = 1
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE
    most_new: int | None = None
    universe_size: int | None = None

    def allow(self, pair: Neighbours) -> bool:
        """Whether the two data sets of the pair are neighbours."""
        steps = [group.there - group.here for group in pair.groups]
        new = sum(group.number for group in pair.groups if group.here == 0 < group.there)
        gone = sum(group.number for group in pair.groups if group.there == 0 < group.here)
        return (
            any(steps)
            and all(group.number > 0 and min(group.here, group.there) >= 0 for group in pair.groups)
            and all(abs(step) <= self.sensitivity for step in steps)
            and (self.relation is NeighbouringRelation.REPLACE or min(steps) >= 0 or max(steps) <= 0)
            and (self.most_new is None or max(new, gone) <= self.most_new)
            and (self.universe_size is None or sum(group.number for group in pair.groups) <= self.universe_size)
        )

    def completed(self, pair: Neighbours) -> Neighbours:
        """The pair, filled up with the itemsets of the declared universe that occur in neither data set."""
        missing = (self.universe_size or 0) - sum(group.number for group in pair.groups)
        return replace(pair, groups=(*pair.groups, Group(0, 0, missing))) if missing > 0 else pair


def hard_groups(*, top: int, leads: Sequence[int], places: Sequence[int], limits: Limits) -> Iterator[Neighbours]:
    """Hard cases: empty data, staircases, and about k itemsets that lead the others.

    Args:
        top: k.
        leads: how much the first itemsets lead by.
        places: how many itemsets a group holds.
        limits: how neighbours may differ.
    """
    delta = limits.sensitivity
    signs = (0, delta) if limits.relation is NeighbouringRelation.ADD_REMOVE else (-delta, 0, delta)
    for number in places:
        yield Neighbours(groups=(Group(0, delta, number),))
    for lead, first in product(leads, (0, 1)):
        # A staircase: each itemset leads the next by `lead`. Every second one changes, so that leads grow and shrink.
        steps = enumerate(range(top * lead, -1, -lead) if lead else ())
        yield Neighbours(groups=tuple(Group(here, here + delta * ((at + first) % 2), 1) for at, here in steps))
    for lead, floor, number in product(leads, (0, leads[-1]), places):
        for heads in sorted({1, top, top + 1}):
            for head_step, step, first_step in product(signs, signs, signs):
                groups = [Group(floor + lead, floor + lead + head_step, heads)]
                if first_step != step:
                    groups.append(Group(floor, floor + first_step, 1))
                if number > len(groups) - 1:
                    groups.append(Group(floor, floor + step, number - len(groups) + 1))
                yield Neighbours(groups=tuple(groups))
                if heads > 1 and head_step:  # only one of the first itemsets changes
                    yield Neighbours(
                        groups=(groups[0]._replace(number=1), Group(floor + lead, floor + lead, heads - 1), *groups[1:])
                    )


def moved(pair: Neighbours, limits: Limits, *, most_groups: int, reach: int, randomness: Randomness) -> Neighbours:
    """The pair after a random step. A step changes a count, a difference or a number, or adds or drops a group.

    Args:
        pair: where the step starts.
        limits: how neighbours may differ. The result may break these limits.
        most_groups: the largest number of groups.
        reach: counts move by up to about this much.
        randomness: where the bits come from.
    """
    groups = list(pair.groups)
    at = uniform_below(len(groups), randomness)
    group = groups[at]
    sign = 1 if randomness.bits(1) else -1
    match uniform_below(8, randomness):
        case 0 | 1:
            step = sign * (1 << uniform_below(max(1, reach.bit_length()), randomness))
            groups[at] = Group(group.here + step, group.there + step, group.number)
        case 2:
            groups[at] = group._replace(there=group.there + sign)
        case 3:
            groups[at] = Group(group.here + sign, group.there + sign, group.number)
        case 4:
            number = (group.number + sign, group.number * 2, group.number // 2)[uniform_below(3, randomness)]
            groups[at] = group._replace(number=number)
        case 5 if len(groups) < most_groups:
            twin = groups[uniform_below(len(groups), randomness)]
            step = uniform_below(2 * limits.sensitivity + 1, randomness) - limits.sensitivity
            groups.append(Group(twin.here, twin.here + step, 1))
        case 6 if len(groups) > 1:
            del groups[at]
        case 7:
            return replace(pair, ties_flipped=not pair.ties_flipped)
        case _:
            groups[at] = Group(group.there, group.here, group.number)
    return replace(pair, groups=tuple(groups))
