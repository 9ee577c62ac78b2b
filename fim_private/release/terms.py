"""The promise and the plan in a release's record: the promise as it is written, and both read into typed values.

A record is JSON. Anybody can edit it, and older and newer versions write fewer or more fields. So a value of another
type than this version writes is treated as missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fim_private.accounting.cost import Priced
from fim_private.errors import UsageError
from fim_private.privacy import Budget, Together
from fim_private.transactions.layout import Layout


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What is protected, and how much. `epsilon` and `delta` are those of a `Budget`; `unit` is in words."""

    epsilon: float
    delta: float
    unit: str

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Promise | None:
        """The promise in a record; None if the record does not say what is protected and how much.

        A record that promises more than was proved was changed by somebody. It gives None too.
        """
        epsilon, delta, unit = _number(record, "epsilon"), _number(record, "delta"), _text(record, "unit")
        if epsilon is None or delta is None or unit is None:
            return None
        proved = record.get("proved")
        if isinstance(proved, Mapping):
            needed, failed = _number(proved, "epsilon"), _number(proved, "delta")
            if needed is None or failed is None or not (0 <= needed <= epsilon and 0 <= failed <= delta):
                return None
        try:
            Budget(epsilon, delta)
        except UsageError:  # no release of this program promises such numbers
            return None
        return cls(epsilon=epsilon, delta=delta, unit=unit)


@dataclass(frozen=True, kw_only=True)
class PrivacyTerms:
    """The promise, and what it takes as public.

    Args:
        promise: None if the release does not say what it protects and how much.
        neighbours: a name of `NeighbouringRelation`.
        layout: how the data was read.
        names_are_public: whether the names of the items that occur are taken as public, as older versions did if only
            their number was declared.
        most_items: the declared largest number of different items, if a mechanism used it.
        public_transactions: the number of transactions, at least 1, if it was declared public.
    """

    promise: Promise | None
    neighbours: str | None
    layout: Layout | None
    names_are_public: bool
    most_items: int | None
    public_transactions: int | None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> PrivacyTerms:
        """The terms in a record that `privacy_record` of this or another version wrote."""
        return cls(
            promise=Promise.of(record),
            neighbours=_text(record, "neighbours"),
            layout=Layout.of_record(record.get("layout")),
            names_are_public=bool(record.get("taken_as_public")),
            most_items=_whole(record, "most_items") or None,
            public_transactions=_whole(record, "public_transactions") or None,
        )


@dataclass(frozen=True, kw_only=True)
class SpendingTerms:
    """One step that the budget was spent on. Either `epsilon` or `rho` is None."""

    what: str | None
    epsilon: float | None
    rho: float | None
    times: int | None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> SpendingTerms:
        """The terms of one line of a plan's spending."""
        return cls(
            what=_text(record, "what"),
            epsilon=_number(record, "epsilon"),
            rho=_number(record, "rho"),
            times=_whole(record, "times"),
        )


@dataclass(frozen=True, kw_only=True)
class CountTerms:
    """The noise of released counts: its name, its reach in 19 of 20 cases, and what was done to the counts."""

    noise: str
    half_width: int
    consistent: bool
    with_subsets: bool = False

    @classmethod
    def of(cls, record: object) -> CountTerms | None:
        """The terms of a plan's counts; None if none were measured."""
        if not isinstance(record, Mapping):
            return None
        noise, half_width = _text(record, "noise"), _whole(record, "half_width")
        if noise is None or half_width is None:
            return None
        return cls(
            noise=noise,
            half_width=half_width,
            consistent=record.get("consistent") is True,
            with_subsets=record.get("with_subsets") is True,
        )


@dataclass(frozen=True, kw_only=True)
class PlanTerms:
    """What was asked for and how it was paid for: the fields of `Plan` that some reader of releases needs.

    `by` is what itemsets were ranked by; None before there was a choice. `together` is None if transactions were
    counted. Before there was a choice, all units were merged. `keep` is the filter that shortened the list; None if it
    was not shortened.
    """

    top: int | None
    unit_column: str | None
    max_transactions: int | None
    together: Together | None
    max_items: int | None
    min_count: int | None
    by: str | None
    universe_items: int | None
    must_contain: tuple[str, ...]
    exclude: tuple[str, ...]
    spending: tuple[SpendingTerms, ...]
    counts: CountTerms | None
    keep: str | None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> PlanTerms:
        """The terms in a record that `plan_record` of this or another version wrote."""
        unit_column, max_transactions = _text(record, "unit_column"), _whole(record, "max_transactions")
        together = None
        if unit_column is not None and max_transactions is None:
            together = Together.BASKET if _text(record, "together") == Together.BASKET else Together.UNIT
        return cls(
            top=_whole(record, "top"),
            unit_column=unit_column,
            max_transactions=max_transactions,
            together=together,
            max_items=_whole(record, "max_items"),
            min_count=_whole(record, "min_count"),
            by=_text(record, "by"),
            universe_items=_whole(record, "universe_items"),
            must_contain=tuple(name for name in _list(record, "must_contain") if isinstance(name, str)),
            exclude=tuple(name for name in _list(record, "exclude") if isinstance(name, str)),
            spending=tuple(SpendingTerms.of(line) for line in _list(record, "spending") if isinstance(line, Mapping)),
            counts=CountTerms.of(record.get("counts")),
            keep=_text(record, "keep"),
        )

    @property
    def counts_units(self) -> bool:
        """Whether counts are of units that hold an itemset in one of several transactions."""
        return self.together is Together.BASKET


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a release says of its promise, and of its plan."""

    privacy: PrivacyTerms
    plan: PlanTerms

    @classmethod
    def of(cls, privacy: Mapping[str, Any], plan: Mapping[str, Any]) -> Terms:
        """The terms of both records."""
        return cls(privacy=PrivacyTerms.of(privacy), plan=PlanTerms.of(plan))

    @property
    def listed_items(self) -> int | None:
        """How many items the public list has; None if there is no list."""
        if self.privacy.names_are_public or self.privacy.most_items is not None:
            return None
        return self.plan.universe_items


def privacy_record(plan: Priced, layout: Layout | None = None) -> dict[str, Any]:
    """The promise, for the release's record. The layout is taken as public; it is None if no data was read yet."""
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


def _number(record: Mapping[str, Any], name: str) -> float | None:
    """A number of at least 0 and of at most 64 bits."""
    value = record.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _whole(record: Mapping[str, Any], name: str) -> int | None:
    """A whole number of at least 0."""
    value = _number(record, name)
    return value if isinstance(value, int) else None


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) else None


def _list(record: Mapping[str, Any], name: str) -> list[Any]:
    value = record.get(name)
    return value if isinstance(value, list) else []
