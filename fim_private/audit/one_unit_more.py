"""Neighbours with one more unit, for mechanisms that see more of it than counts: what their cases share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fim_private.arrays import Floats
from fim_private.audit.laws import law_over_groups
from fim_private.audit.merged_outcomes import Pair
from fim_private.audit.neighbours import Limits, Neighbours
from fim_private.audit.search import hardest
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.randomness import Randomness

CANDIDATES = 100
"""The number of itemsets on which the picks are compared."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What the additional unit holds, and what follows.

    Args:
        common: items that everybody has, or itemsets.
        own: items that nobody else has, or itemsets.
        picks: the itemsets of the common items, if the mechanism makes picks. Otherwise None.
        steps: the later steps that released numbers decided on.
        support: the smallest support without this unit; None if no certificate is needed.
        of: what is counted here, items or itemsets.
    """

    common: int
    own: int
    picks: Neighbours | None = None
    steps: LaterSteps | None = None
    support: int | None = None
    of: str = "items"


def worst_of(shown: Iterable[tuple[Unit, Floats]], number: int) -> list[tuple[float, Unit]]:
    """The largest delta at each of so many epsilons, and the unit that shows it."""
    worst = [(0.0, Unit(common=0, own=0))] * number
    for unit, deltas in shown:
        for at, delta in enumerate(deltas.tolist()):
            if delta > worst[at][0]:
                worst[at] = delta, unit
    return worst


def hard_picks(
    picks: Exponential, sensitivity: int, epsilons: Sequence[float], steps: int, randomness: Randomness
) -> list[Neighbours | None]:
    """Counts of `CANDIDATES` itemsets for which picks tell much; None for no difference.

    Args:
        picks: how itemsets are picked.
        sensitivity: Delta. What the picks take it for may be the mistake.
        epsilons: the epsilons to look at.
        steps: of the search.
        randomness: of the search.
    """
    found = hardest(
        picks,
        [share * float(epsilons[-1]) for share in (0.3, 0.5, 0.7, 0.9)],
        Limits(sensitivity=sensitivity, universe_size=CANDIDATES),
        steps=steps,
        starts=3,
        randomness=randomness,
    )
    return [None, *(worst.pair for worst in found.worst if worst.delta)]


def pair_of_picks(picks: Exponential, counts: Neighbours) -> Pair:
    """The laws of the picks on either side."""
    sides = [law_over_groups(picks, side, declared=True) for side in counts.sides]
    outcomes = list(sides[0] | sides[1])
    one, other = (np.array([side.get(outcome, 0.0) for outcome in outcomes]) for side in sides)
    return Pair(one=one, other=other)


def either_way(fewer: Pair, named: float, epsilons: Sequence[float]) -> Floats:
    """delta at each epsilon, in the direction where it is larger.

    Args:
        fewer: the laws without the unit and with it, if nothing of its own is named.
        named: the probability that something of its own is named, which tells the sides apart.
        epsilons: the epsilons to look at.
    """
    more = Pair(one=fewer.other * (1 - named), other=fewer.one)
    return np.maximum(Pair(one=more.other, other=more.one).deltas(epsilons), named + more.deltas(epsilons))
