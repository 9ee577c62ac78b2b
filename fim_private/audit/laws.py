"""The exact law of a mechanism over named itemsets, and how far two such laws are apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from fim_private.arrays import Floats
from fim_private.mechanisms.protocol import Law
from fim_private.profile import CountProfile

NUMERICAL_ERROR = 1e-12
"""A delta computed here is at most this far from the true one. Laws are sums of products of doubles."""


class HasLaw(Protocol):
    """Anything that has an exact law, such as a mechanism."""

    def law(self, profile: CountProfile) -> Law:
        """The exact distribution over lists of levels."""


def law_over_groups(
    mechanism: HasLaw, groups: Sequence[tuple[int, int]], *, declared: bool, last_first: bool = False
) -> Law:
    """The law over lists of groups. A group is named by its place.

    Args:
        mechanism: the mechanism whose law is wanted.
        groups: (count, how many itemsets have it). Several groups may have the same count.
        declared: whether `groups` names the whole of a declared universe. Otherwise the universe is open, and the
            itemsets of count 0 are some of endlessly many.
        last_first: of groups with the same count, rank the later group first. The order of ties must not matter to
            privacy.

    Cost: that of the mechanism's law.
    """
    order = sorted(
        (place for place, (count, _) in enumerate(groups) if count > 0),
        key=lambda place: (-groups[place][0], -place if last_first else place),
    )
    absent = [(place, number) for place, (count, number) in enumerate(groups) if count == 0]
    profile = CountProfile(
        levels=[groups[place][0] for place in order],
        multiplicities=[groups[place][1] for place in order],
        zeros=sum(number for _, number in absent) if declared else None,
    )
    levels_law = mechanism.law(profile)
    if not absent and order == list(range(len(order))):
        return levels_law  # each group is named by its own level
    law: Law = {}
    for levels, probability in levels_law.items():
        for named, chance in _fillings(tuple(levels), order, absent):
            law[named] = law.get(named, 0.0) + probability * chance
    return law


def law_over_itemsets(mechanism: HasLaw, counts: Sequence[int], *, declared: bool) -> Law:
    """The law over lists of itemsets. An itemset is named by its place in `counts`."""
    return law_over_groups(mechanism, [(count, 1) for count in counts], declared=declared)


def _fillings(
    levels: tuple[int, ...], order: Sequence[int], absent: Sequence[tuple[int, int]]
) -> Iterator[tuple[tuple[int, ...], float]]:
    """The lists of groups that a list of levels may stand for. Absent itemsets are drawn uniformly."""
    if max(levels, default=-1) < len(order):
        yield tuple(order[level] for level in levels), 1.0
        return
    if levels[0] < len(order):
        for rest, chance in _fillings(levels[1:], order, absent):
            yield (order[levels[0]], *rest), chance
        return
    left = sum(number for _, number in absent)
    for at, (place, number) in enumerate(absent):
        if number:
            fewer = [*absent[:at], (place, number - 1), *absent[at + 1 :]]
            for rest, chance in _fillings(levels[1:], order, fewer):
                yield (place, *rest), chance * number / left


def hockey_stick(one: Law, other: Law, epsilons: Sequence[float]) -> Floats:
    """delta(eps) in one direction at each eps: the sum over outcomes of max(0, P - e^eps P'); float64, (epsilons,)."""
    chances = np.array(list(one.values()))
    others = np.array([other.get(outcome, 0.0) for outcome in one])
    excess: Floats = np.maximum(chances - np.exp(np.asarray(epsilons))[:, np.newaxis] * others, 0.0)
    deltas: Floats = excess.sum(axis=1)
    return deltas
