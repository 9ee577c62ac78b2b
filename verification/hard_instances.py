"""The paper's small instances, with exact laws: its example (1) and its two lower bounds.

All are from Chaudhuri, Hsu, Song (2014): example (1) from section 2.2, Proposition 1 and Theorem 1 with the
constructions of appendix C. The planner makes each mechanism for the instance's universe, as for a release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from fim_private.accounting.search import least
from fim_private.errors import UsageError
from fim_private.mechanisms.protocol import Mechanism, Stepwise
from fim_private.mechanisms.registry import find
from fim_private.plan import Universe, make_plan
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.profile import CountProfile

MOST = 1 << 16
"""The largest number of transactions that is tried."""


@cache
def _mechanism(name: str, universe: int, budget: Budget, relation: NeighbouringRelation) -> Mechanism:
    declared = Universe(items=universe, listed=True)
    plan = make_plan(
        size=1, top=1, budget=budget, unit=PrivacyUnit(), relation=relation, universe=declared, mechanism=name
    )
    mechanism = plan.search
    if isinstance(mechanism, Stepwise):
        raise UsageError(f"{name} does not choose from counts alone.", "Take another mechanism for these instances.")
    return mechanism


def success(name: str, counts: tuple[int, ...], universe: int, budget: Budget, relation: NeighbouringRelation) -> float:
    """The exact probability that one selection names a maximiser. Itemsets have size 1.

    Args:
        name: a mechanism that does not need capped transactions.
        counts: the positive counts, decreasing.
        universe: K, the number of items.
        budget: what the selection may cost.
        relation: the neighbouring relation.
    """
    law = _mechanism(name, universe, budget, relation).law(CountProfile.of(counts, zeros=universe - len(counts)))
    return math.fsum(chance for levels, chance in law.items() if levels and levels[0] == 0)


def needed(name: str, maximisers: int, universe: int, budget: Budget) -> int | None:
    """The least n for which the mechanism names a maximiser of example (1) 19 times in 20.

    The data is D = (maximisers, ..., maximisers), and f(i, D) is the share of entries that are at least i. With
    D = (1, ..., 1) item 1 has count n and all others have count 0. With D = (2, ..., 2) items 1 and 2 have count n.
    None if no number of entries is enough.
    """

    def enough(entries: int) -> bool:
        return success(name, (entries,) * maximisers, universe, budget, NeighbouringRelation.ADD_REMOVE) >= 0.95

    found = least(lambda entries: entries > MOST or enough(entries))
    return found if found <= MOST else None


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """A family of instances: one of `rivals` items has m entries more than the others.

    Args:
        rivals: K in Proposition 1, l in Theorem 1: how many items look alike, except for the m entries.
        shared: how many entries hold all rivals (0 in Proposition 1, n/2 in Theorem 1).
        universe: the number of items, at least `rivals`.
        budget: alpha and delta of the mechanisms; delta is 0 in Proposition 1.
    """

    rivals: int
    shared: int
    universe: int
    budget: Budget

    def most(self, lead: int) -> float:
        """The largest success any (alpha, delta)-private algorithm can have on all instances of the family.

        Any two instances differ in m = lead entries. Suppose an algorithm names item i on every instance i with
        probability at least p. Then on instance i it names each other rival j with probability at least
        e^{-alpha m} p - delta/(1 - e^{-alpha}). All of these answers are failures, so 1 - p is at least (rivals - 1)
        times that. The paper's statements are the case m = log((rivals - 1)/2)/alpha, where p is below one half.
        """
        alpha, delta = float(self.budget.epsilon), float(self.budget.delta)
        others = self.rivals - 1
        excused = delta / -math.expm1(-alpha)
        return min(1.0, (1 + others * excused) / (1 + others * math.exp(-alpha * lead)))

    def reached(self, name: str, lead: int) -> float:
        """The exact success of a mechanism. The proof exchanges entries, so the relation is `replace`."""
        counts = (self.shared + lead, *((self.shared,) * (self.rivals - 1) if self.shared else ()))
        return success(name, counts, self.universe, self.budget, NeighbouringRelation.REPLACE)

    def sufficient(self, name: str) -> int:
        """The least lead with which a mechanism is right half the time. 500 if no lead below 500 is enough."""
        return least(lambda lead: lead >= 500 or self.reached(name, lead) >= 0.5)

    @property
    def stated(self) -> float:
        """log((rivals - 1)/2)/alpha, the lead of the paper's statement."""
        return math.log((self.rivals - 1) / 2) / float(self.budget.epsilon)


PROPOSITION_1 = LowerBound(rivals=10**6, shared=0, universe=10**6, budget=Budget("0.5", "0"))
THEOREM_1 = LowerBound(rivals=16, shared=2000, universe=64, budget=Budget("0.5", "1e-6"))


def pure(name: str) -> bool:
    """Whether a mechanism keeps its promise with delta = 0."""
    return find(name).needs_universe
