"""`auto`: the mechanism that the data at hand most likely allows to answer, chosen without looking at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fim_private.errors import BudgetError
from fim_private.mechanisms.registry import AUTO, REGISTRY, Row
from fim_private.plan.calibrated import Searches
from fim_private.plan.plan import Plan
from fim_private.plan.universe import Universe


def choose(planned: Callable[[Row], Plan], universe: Universe, max_items: int | None, searches: Searches) -> Plan:
    """The plan that needs the smallest lead over the bulk, from public quantities alone."""
    plans = []
    for row in REGISTRY.values():
        applies = (
            (universe.items is not None or not row.needs_universe)
            and (max_items is not None or not row.needs_cap)
            and (len(searches[0]) == 1 or not row.finds_items)
        )
        if row.automatic and applies:
            try:
                plans.append(planned(row))
            except BudgetError as error:
                refusal = error
    ranked = sorted((plan.lead, place) for place, plan in enumerate(plans) if plan.lead is not None)
    if not ranked:
        raise refusal
    others = ", ".join(f"{plans[place].mechanism_name} {lead:,}" for lead, place in ranked[1:])
    lead, best = ranked[0]
    why = (
        f"chosen because it needs the smallest lead of an itemset over the bulk of the ranking: {lead:,} transactions"
        + (f" ({others})" if others else "")
    )
    return replace(plans[best], why=why, asked_mechanism=AUTO)
