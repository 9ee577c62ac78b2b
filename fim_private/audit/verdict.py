"""Audit a planned mechanism: compare its claim with the worst case found. Do the same with its broken twins."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

from fim_private.accounting.claim import claimed_delta
from fim_private.audit.laws import NUMERICAL_ERROR
from fim_private.audit.neighbours import Limits, Neighbours
from fim_private.audit.one_unit_more import Unit
from fim_private.audit.search import hardest
from fim_private.errors import UsageError
from fim_private.mechanisms.protocol import WithCounts
from fim_private.mechanisms.registry import COMPARATORS, Row, find
from fim_private.mechanisms.twins.certificates import ANONYMOUS_NAMES
from fim_private.mechanisms.twins.twin import Twin
from fim_private.plan import Plan
from fim_private.privacy import NeighbouringRelation
from fim_private.randomness import Randomness

MOST_PICKS = 10
"""The largest k. The size of an exact law over ordered lists is the number of groups to the power of k."""
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
"""The privacy profile is shown at these shares of the claimed epsilon."""
LOOSE = 3.0
"""A claim is called loose if its delta is more than this many times the delta found."""
_STEPS = 150
_CASES = 2_000


@dataclass(frozen=True, kw_only=True)
class LargestDelta:
    """The largest delta found at one epsilon, and the neighbours that have it. None if no pair has a delta."""

    delta: float
    neighbours: Neighbours | Unit | None


@dataclass(frozen=True, kw_only=True)
class TwinVerdict:
    """What the same search found for a broken twin."""

    name: str
    mistake: str
    found: LargestDelta
    caught: bool


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """An audit's result.

    Args:
        plan: what was audited.
        epsilons: where the profile was evaluated. The last is the claim's epsilon.
        claimed: the claimed delta at each epsilon.
        found: the largest delta found at each epsilon.
        compared: how many pairs of neighbours were compared. None if they were not counted.
        twins: the results for the broken twins at the last epsilon.
        changed: what was made smaller for the audit, in words. None if nothing was made smaller.
    """

    plan: Plan
    epsilons: tuple[float, ...]
    claimed: tuple[float, ...]
    found: tuple[LargestDelta, ...]
    compared: int | None
    twins: tuple[TwinVerdict, ...]
    changed: str | None

    @property
    def holds(self) -> bool:
        """Whether the search found no neighbours that break the claim at any of the epsilons."""
        return all(
            found.delta <= claimed * (1 + 1e-9) + NUMERICAL_ERROR
            for found, claimed in zip(self.found, self.claimed, strict=True)
        )

    @property
    def slack(self) -> float:
        """Claimed over found delta at the claim's epsilon. 1 if the claim is 0, infinite if nothing was found."""
        claimed, found = self.claimed[-1], self.found[-1].delta
        if claimed == 0:
            return 1.0
        return math.inf if found < NUMERICAL_ERROR else claimed / found

    @property
    def twins_caught(self) -> bool:
        """Whether every broken twin was caught. False without twins, as nothing then shows that an audit can fail."""
        return bool(self.twins) and all(twin.caught for twin in self.twins)


def limits_of(plan: Plan) -> Limits:
    """The neighbours for which the plan's mechanism must be private."""
    row, question = find(plan.mechanism_name), plan.question
    remaining = question.remaining_sizes[0]
    return Limits(
        sensitivity=plan.unit.sensitivity,
        relation=plan.relation,
        most_new=None
        if plan.max_items is None or not row.needs_cap
        else plan.unit.sensitivity * math.comb(plan.max_items, remaining),
        universe_size=question.remaining_universe.itemsets(remaining)
        if row.needs_universe
        else getattr(plan.mechanism, "universe_size", None),
    )


def twins_of(plan: Plan) -> tuple[Twin, ...]:
    """The broken versions of the plan's mechanism."""
    return ANONYMOUS_NAMES if plan.has_anonymous_names else find(plan.mechanism_name).twins


def claims(plan: Plan, epsilons: Sequence[float]) -> tuple[float, ...]:
    """The claimed delta at each epsilon, by group privacy if the plan serves `replace` in this way."""
    claimed = partial(claimed_delta, plan.mechanism.losses, plan.mechanism.failures)
    if plan.question.by_group_privacy(find(plan.mechanism_name)):
        return tuple(min(1.0, claimed(epsilon / 2) * (1 + math.exp(epsilon / 2))) for epsilon in epsilons)
    return tuple(map(claimed, epsilons))


def audit(
    plan: Plan,
    *,
    randomness: Randomness,
    steps: int = _STEPS,
    cases: int = _CASES,
    progress: Callable[[str], None] = lambda _phase: None,
) -> Verdict:
    """Search for the worst neighbours of the planned mechanism, and of its broken twins.

    Args:
        plan: the plan to audit. It names at most `MOST_PICKS` itemsets, unless it selects by noisy counts.
        randomness: for the search. No noise is drawn.
        steps: how many steps each climb makes.
        cases: how many hard cases for one pick. Several picks get fewer.
        progress: told the name of each phase as it begins.

    Raises:
        UsageError: the plan has too many picks for exact laws, or cannot be audited.
    """
    row, mechanism = find(plan.mechanism_name), plan.search
    if row.name in COMPARATORS:
        raise UsageError(
            f"{row.name} counts step by step, and its exact law over lists is too large to compute.",
            "Take another mechanism. The test-suite compares the exact laws of its steps.",
        )
    if plan.top > MOST_PICKS and not (isinstance(mechanism, WithCounts) and mechanism.gives_counts):
        raise UsageError(
            f"The exact law over lists of {plan.top:,} picks is too large to compute.",
            f"Audit at most --top {MOST_PICKS}; what is proved for k picks is proved in the same way for more.",
        )
    progress("searching the worst neighbours")
    if row.audited_by_units_in is not None:
        search = _over_units(row.audited_by_units_in, plan, steps, randomness)
    else:
        slowness = 1 if plan.top == 1 else 2 if plan.top <= 3 else 4 if plan.top <= 6 else 10
        search = _over_counts(limits_of(plan), steps // slowness, max(1, cases // slowness), randomness)
    epsilons, claimed, refuted = _claim(plan)
    smaller, changed = _computable(mechanism, row)
    found, compared = search(smaller, epsilons, None)
    twins = []
    for twin in twins_of(plan):
        if twin.fits(smaller, plan.relation):
            progress(f"twin: {twin.name}")
            (worst,), _ = search(twin.broken(smaller), epsilons[-1:], refuted)
            twins.append(TwinVerdict(name=twin.name, mistake=twin.mistake, found=worst, caught=worst.delta > refuted))
    return Verdict(
        plan=plan,
        epsilons=epsilons,
        claimed=claimed,
        found=found,
        compared=compared,
        twins=tuple(twins),
        changed=changed,
    )


_Found = tuple[tuple[LargestDelta, ...], int | None]
"""The worst case at each epsilon, and how many pairs of neighbours were compared."""
_Search = Callable[[Any, Sequence[float], float | None], _Found]
"""A search takes a mechanism, epsilons, and a delta that refutes the claim and ends the search (None to go on)."""


def _over_counts(limits: Limits, steps: int, cases: int, randomness: Randomness) -> _Search:
    """A search whose neighbours are count vectors, for mechanisms that choose from counts."""

    def search(mechanism: Any, epsilons: Sequence[float], refuted: float | None) -> _Found:
        enough = math.inf if refuted is None else refuted
        done = hardest(mechanism, epsilons, limits, steps=steps, cases=cases, randomness=randomness, enough=enough)
        worst = tuple(
            LargestDelta(delta=worst.delta, neighbours=worst.pair if worst.delta > NUMERICAL_ERROR else None)
            for worst in done.worst
        )
        return worst, done.tried

    return search


def _over_units(module: str, plan: Plan, steps: int, randomness: Randomness) -> _Search:
    """A search by this module. Its neighbours are data sets with one more unit: the mechanism sees more than counts."""
    if plan.relation is NeighbouringRelation.REPLACE:
        raise UsageError(
            f"{plan.mechanism_name} is audited for a unit added or removed. For `replace` group privacy serves it.",
            "Leave out --neighbours.",
        )

    def search(mechanism: Any, epsilons: Sequence[float], refuted: float | None) -> _Found:
        # A twin's mistake shows without the search for hard picks.
        further = steps if refuted is None else 0
        worst = import_module(module).largest_deltas(mechanism, epsilons, steps=further, randomness=randomness)
        return tuple(LargestDelta(delta=delta, neighbours=unit) for delta, unit in worst), None

    return search


def _claim(plan: Plan) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """The epsilons, the claimed delta at each, and the delta above which the last claim is refuted."""
    epsilons = tuple(share * float(plan.guarantee.epsilon) for share in SHARES)
    delta = float(plan.guarantee.delta)
    return epsilons, (*claims(plan, epsilons[:-1]), delta), delta * (1 + 1e-6) + NUMERICAL_ERROR


def _computable(mechanism: Any, row: Row) -> tuple[Any, str | None]:
    """The mechanism, with a lower public cap where its law would take long. The cap only ends a search."""
    lower = {name: min(cap, getattr(mechanism, name)) for name, cap in row.lowered.items()}
    words = [f"{cap} here instead of {getattr(mechanism, name):,}" for name, cap in lower.items()]
    return replace(mechanism, **lower), f"the search's public cap is {words[0]}" if words else None
