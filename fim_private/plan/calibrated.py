"""The plan with a given mechanism, calibrated to the budget."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import cast

from fim_private.constraints import Constraints
from fim_private.errors import UsageError
from fim_private.mechanisms.counts import calibrate_with_counts
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.per_size import PerSize, calibrate_per_size
from fim_private.mechanisms.protocol import Calibrated, Mechanism, Request
from fim_private.mechanisms.registry import Row
from fim_private.plan.plan import Plan
from fim_private.plan.relation import doubled, halved
from fim_private.plan.universe import Universe
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit

Searches = tuple[tuple[int, ...], ...]
"""For each search, how many items the itemsets have that it ranks together, beside those they must contain."""


def plan_with(
    row: Row, *, sizes: tuple[int, ...], searches: Searches, top: int, budget: Budget, unit: PrivacyUnit,
    relation: NeighbouringRelation, universe: Universe, constraints: Constraints, max_items: int | None,
    select: str | None, min_count: int | None, count_share: Fraction | None, raw_counts: bool,
    public_transactions: int | None,
) -> Plan:  # fmt: skip
    """The plan with this mechanism; group privacy serves `replace` where the mechanism's proof does not.

    Counts hold for `replace` as they stand: an exchanged unit changes each by at most Delta too.
    """
    if len(searches[0]) > 1 and row.finds_items:
        raise UsageError(
            f"{row.name} finds itemsets of one size at a time.",
            "Add --per-size; or, to rank all sizes together, give --top instead of --min-count and --select, and leave "
            "out --mechanism.",
        )
    in_two_steps = relation is NeighbouringRelation.REPLACE and not row.both_relations
    epsilon, delta = halved(budget) if in_two_steps else (budget.epsilon, budget.delta)
    requests = [
        Request(
            top=top,
            epsilon=epsilon,
            delta=delta,
            sensitivity=unit.sensitivity,
            universe_size=universe.without(constraints).itemsets(*remaining),
            most_new=None
            if max_items is None
            else unit.sensitivity * sum(math.comb(max_items, size) for size in remaining),
            size=max(remaining),
            select=select,
            min_count=min_count,
        )
        for remaining in searches
    ]

    def calibrate(request: Request) -> Calibrated:
        if len(requests) == 1:
            return row.calibrate(request)
        each = [replace(one, epsilon=request.epsilon, delta=request.delta) for one in requests]
        return calibrate_per_size(row.calibrate, each, sizes)

    if count_share is None:
        calibrated, counts = calibrate(requests[0]), None
    else:
        calibrated, counts = calibrate_with_counts(calibrate, requests[0], share=count_share)
    return Plan(
        sizes=sizes,
        top=top,
        budget=budget,
        unit=unit,
        relation=relation,
        universe=universe,
        constraints=constraints,
        max_items=max_items,
        mechanism_name=row.name,
        mechanism=cast(Mechanism | ItemsFirst | PerSize, calibrated.mechanism),
        guarantee=doubled(calibrated.guarantee) if in_two_steps else calibrated.guarantee,
        min_count=min_count,
        asked_mechanism=row.name,
        asked_select=select,
        counts=counts,
        count_share=count_share,
        raw_counts=raw_counts,
        public_transactions=public_transactions,
    )
