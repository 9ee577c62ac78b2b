"""A usual question, so that a test says only what matters to it: the top 3 pairs at (1, 1e-6), of transactions."""

from __future__ import annotations

from typing import Any

from fim_private import Budget, Plan, PrivacyUnit, Release, Transactions, make_plan, mine, transactions_from_lists
from fim_private.counting import TransactionDatabase


def asked(epsilon: object = "1", delta: object = "1e-6", **changes: Any) -> dict[str, Any]:
    return {"size": 2, "top": 3, "budget": Budget(epsilon, delta), "unit": PrivacyUnit(), **changes}


def planned(**changes: Any) -> Plan:
    return make_plan(**asked(**changes))


def mined(baskets: Transactions | TransactionDatabase | list[list[str]], **changes: Any) -> Release:
    data = transactions_from_lists(baskets) if isinstance(baskets, list) else baskets
    return mine(data, **asked(**changes))
