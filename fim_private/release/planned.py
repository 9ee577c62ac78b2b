"""The plan and its promise as plain values, for the record that goes with a release."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from fim_private.mechanisms.counts import CONFIDENCE, CountNoise
from fim_private.plan import Plan
from fim_private.transactions.layout import Layout


def privacy_record(plan: Plan, layout: Layout | None = None) -> dict[str, Any]:
    """The promise, for the release's record.

    Args:
        plan: of the release.
        layout: of the data, which is taken as public; None where no data was read yet.
    """
    record: dict[str, Any] = {
        "epsilon": float(plan.budget.epsilon),
        "delta": float(plan.budget.delta),
        "neighbours": str(plan.relation),
        "unit": plan.unit.describe() + _transaction(plan, layout),
        "proved": {
            "epsilon": float(plan.guarantee.epsilon),
            "delta": float(plan.guarantee.delta),
            "composition": plan.guarantee.composition,
        },
    }
    if layout is not None:
        record["layout"] = layout.record()
    if plan.takes_names_as_public:
        record["taken_as_public"] = "the names of the items that occur, and that they are no more than declared"
    if plan.public_transactions is not None:
        record["public_transactions"] = plan.public_transactions
    return record


def _transaction(plan: Plan, layout: Layout | None) -> str:
    """What a transaction is, where that is the unit."""
    return "" if layout is None or plan.unit.column is not None else f" ({layout.transaction})"


def plan_record(plan: Plan) -> dict[str, Any]:
    """The plan's public parameters, exact fractions as text."""
    return {
        "size": plan.sizes[0] if len(plan.sizes) == 1 else None,
        "sizes": list(plan.sizes),
        "per_size": plan.per_size,
        "top": plan.top,
        "mechanism": plan.mechanism_name,
        "why": plan.why,
        "unit_column": plan.unit.column,
        "max_transactions": plan.unit.max_transactions,
        "max_items": plan.max_items,
        "min_count": plan.min_count,
        "universe_items": plan.universe.items,
        "must_contain": list(plan.constraints.must_contain),
        "exclude": list(plan.constraints.exclude),
        "sensitivity": plan.unit.sensitivity,
        "parameters": parameters(plan.mechanism),
        "spending": [
            {
                "what": line.what,
                "epsilon": None if line.epsilon is None else float(line.epsilon),
                "rho": None if line.rho is None else float(line.rho),
                "times": line.times,
            }
            for line in plan.spending
        ],
        "counts": None if plan.counts is None else _counts_record(plan, plan.counts),
        "failure_probability": float(plan.failure),
        "margins": [{"counts": margin.counts, "words": margin.words} for margin in plan.mechanism.margins],
    }


def _counts_record(plan: Plan, noise: CountNoise) -> dict[str, Any]:
    return {
        "noise": noise.law,
        "parameters": parameters(noise),
        "share": str(plan.count_share),
        "deviation": noise.deviation,
        "half_width": noise.half_width,
        "confidence": CONFIDENCE,
        "consistent": not plan.raw_counts,
    }


def parameters(value: object) -> Any:
    """A frozen value's fields by name, exact fractions as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: parameters(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [parameters(each) for each in value]
    return str(value) if isinstance(value, Fraction) else value
