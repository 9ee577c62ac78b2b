"""The exact law of a mechanism over named itemsets, and how far two such laws are apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

from fim_private.mechanisms.protocol import Law, Mechanism
from fim_private.profile import CountProfile


def law_over_itemsets(mechanism: Mechanism, counts: Sequence[int], *, declared: bool) -> Law:
    """P(list of itemsets), each itemset named by its place in `counts`.

    Args:
        mechanism: whose law.
        counts: one count an itemset, 0 for those that do not occur.
        declared: whether `counts` names the whole of a declared universe; otherwise the universe is open, and itemsets
            of count 0 are some of those without end.

    Cost: that of the mechanism's law; for small universes.
    """
    order = sorted((place for place, count in enumerate(counts) if count > 0), key=lambda place: -counts[place])
    absent = [place for place, count in enumerate(counts) if count == 0]
    profile = CountProfile.of(counts, zeros=len(absent) if declared else None)
    law: Law = {}
    for ranks, probability in mechanism.law(profile).items():
        fillings = list(permutations(absent, sum(rank >= len(order) for rank in ranks)))
        for filling in fillings:
            following = iter(filling)
            named = tuple(order[rank] if rank < len(order) else next(following) for rank in ranks)
            law[named] = law.get(named, 0.0) + probability / len(fillings)
    return law


def hockey_stick(one: Law, other: Law, epsilon: float) -> float:
    """delta(eps) in one direction: the sum over outcomes of max(0, P - e^eps P')."""
    factor = math.exp(epsilon)
    return math.fsum(max(0.0, chance - factor * other.get(outcome, 0.0)) for outcome, chance in one.items())
