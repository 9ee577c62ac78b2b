"""The plan as plain values, for the record in a release."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fim_private.mechanisms.count_noise import CONFIDENCE, CountNoise

if TYPE_CHECKING:
    from fim_private.plan.plan import Plan


def plan_record(plan: Plan) -> dict[str, Any]:
    """The plan's public parameters, exact fractions as text."""
    return {
        "size": plan.sizes[0] if len(plan.sizes) == 1 else None,
        "sizes": list(plan.sizes),
        "per_size": plan.question.per_size,
        "by": plan.question.by,
        "top": plan.top,
        "mechanism": plan.mechanism_name,
        "why": plan.why,
        "unit_column": plan.unit.column,
        "max_transactions": plan.unit.max_transactions,
        "together": None if plan.question.together is None else str(plan.question.together),
        "max_items": plan.max_items,
        "min_count": plan.question.min_count,
        # A number without names that the mechanism does not need is no part of the promise.
        "universe_items": None if plan.universe.anonymous and plan.most_items is None else plan.universe.items,
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
        "share": str(plan.question.count_share),
        "deviation": noise.deviation,
        "half_width": noise.half_width,
        "confidence": CONFIDENCE,
        "consistent": not plan.question.raw_counts,
        **({"with_subsets": True} if plan.question.counts_subsets else {}),
    }


def parameters(value: object) -> Any:
    """The fields of a frozen value by name, with exact fractions as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: parameters(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [parameters(each) for each in value]
    return str(value) if isinstance(value, Fraction) else value
