"""Differentially private frequent itemset mining.

    files -> transactions -> bounding -> counting -> [ plan -> mechanism -> noise ] -> release -> tables, reports
                                          exact, hidden        the door               public from here on

Baskets are read, bounded, counted, and selected from through one door; everything after it is free post-processing.

    >>> from fim_private import Budget, PrivacyUnit, mine, read_transactions  # doctest: +SKIP
    >>> baskets = read_transactions("baskets.csv")  # doctest: +SKIP
    >>> mine(baskets, size=2, top=10, budget=Budget("1", "1e-6"), unit=PrivacyUnit()).to_polars()  # doctest: +SKIP

Imports go one way: `tests/test_architecture.py` says which folder may import which.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fim_private.constraints import Constraints
from fim_private.errors import BudgetError, FimPrivateError, InputError, UsageError
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.version import __version__

if TYPE_CHECKING:
    from fim_private.ledger import Ledger
    from fim_private.mining import mine
    from fim_private.plan import Plan, Universe, make_plan
    from fim_private.release import Release
    from fim_private.release.files import read_release
    from fim_private.rules import association_rules
    from fim_private.transactions.dataset import Transactions
    from fim_private.transactions.item_codes import transactions_from_lists
    from fim_private.transactions.reading import read_transactions

__all__ = [
    "Budget",
    "BudgetError",
    "Constraints",
    "FimPrivateError",
    "InputError",
    "Ledger",
    "NeighbouringRelation",
    "Plan",
    "PrivacyUnit",
    "Release",
    "Transactions",
    "Universe",
    "UsageError",
    "__version__",
    "association_rules",
    "make_plan",
    "mine",
    "read_release",
    "read_transactions",
    "transactions_from_lists",
]

_HOMES = {
    "Ledger": "fim_private.ledger",
    "Plan": "fim_private.plan",
    "Release": "fim_private.release",
    "Transactions": "fim_private.transactions.dataset",
    "Universe": "fim_private.plan",
    "association_rules": "fim_private.rules",
    "make_plan": "fim_private.plan",
    "mine": "fim_private.mining",
    "read_release": "fim_private.release.files",
    "read_transactions": "fim_private.transactions.reading",
    "transactions_from_lists": "fim_private.transactions.item_codes",
}


def __dir__() -> list[str]:
    """The public names, also those that are imported when they are used."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Import what needs polars or numba only when it is used, so that `fim-private --help` answers at once."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
