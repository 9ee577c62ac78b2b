"""The promise as plain values, for the record in a release."""

from __future__ import annotations

from typing import Any

from fim_private.accounting.cost import Priced
from fim_private.transactions.layout import Layout


def privacy_record(plan: Priced, layout: Layout | None = None) -> dict[str, Any]:
    """The promise, for the release's record.

    Args:
        plan: the release's plan.
        layout: the layout of the data, which is taken as public; None if no data was read yet.
    """
    cost = plan.cost
    transaction = "" if layout is None or cost.unit.column is not None else f" (a basket, {layout.transaction})"
    return {
        "epsilon": float(cost.budget.epsilon),
        "delta": float(cost.budget.delta),
        "neighbours": str(cost.relation),
        "unit": cost.unit.describe(cost.together) + transaction,
        "proved": {
            "epsilon": float(cost.guarantee.epsilon),
            "delta": float(cost.guarantee.delta),
            "composition": cost.guarantee.composition,
        },
        **({} if layout is None else {"layout": layout.record()}),
        **cost.public,
    }
