"""The ledger: the total that all releases from one data set may cost, and what has been charged.

A release is charged before any of its noise is drawn, and noted as delivered after it was handed over. A crash between
the two loses budget, never privacy: the history then shows the release as charged, not delivered. The ledger records
plans, never data. It refuses a release that does not fit by the filter of `accounting/privacy_filter.py`. The filter's
proof lets people choose every release after seeing the earlier ones.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from fim_private.accounting.cost import Priced
from fim_private.accounting.privacy_filter import HALF, PrivacyFilter, best_order
from fim_private.errors import BudgetError, InputError, UsageError, check_kinds
from fim_private.ledger import store
from fim_private.ledger.chain import DamagedError, Event
from fim_private.ledger.charge import losses_record
from fim_private.ledger.decision import check_layout, decide, with_total
from fim_private.ledger.records import Entry, State, history_of, state_of
from fim_private.privacy import Budget, Number, failure_probability
from fim_private.randomness import SecureRandomness
from fim_private.release import Layout
from fim_private.release.terms import privacy_record

SHARES = {"auto": None, "basic": Fraction(1), "renyi": Fraction(0), "both": HALF}
"""The basic test's share of delta for each --composition; None if the first charge decides."""


class Ledger:
    """A ledger on disk. Several processes may use it at once. Each method reads it anew, and writes at most one event.

    Args:
        path: a file that `Ledger.create` or `fim-private budget create` made.
        on_wait: called whenever another process keeps the ledger for more than a second.

    Raises:
        InputError: there is no ledger, or it cannot be used.
        UsageError: the path is neither a text nor a path.
    """

    def __init__(self, path: str | Path, *, on_wait: Callable[[], None] | None = None) -> None:
        self.path = _path(path)
        self._on_wait = on_wait
        self.state()

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        epsilon: Number,
        delta: Number,
        dataset: str | None = None,
        composition: str = "auto",
    ) -> Ledger:
        """A new ledger, with nothing spent.

        Args:
            path: on a local disk; no file may be there yet.
            epsilon: what everything together may cost.
            delta: what everything together may cost.
            dataset: a name of the data set, for people.
            composition: "basic" (guarantees add up), "renyi" (the recorded losses are composed), "both" (half of delta
                for each), or "auto": the first release decides whether "both" or "basic" serves, from its plan alone.

        Raises:
            UsageError: a number is out of range, the name or the path is not a text, or there is a file already.
            InputError: the disk refuses.
        """
        if composition not in tuple(SHARES):
            raise UsageError("There is no such composition.", f"Choose one of: {', '.join(SHARES)}.")
        if dataset is not None:
            check_kinds(dataset=(dataset, str))
        budget = Budget(epsilon, delta)
        share = SHARES[composition]
        order = None
        if budget.delta and share != 1:
            part = PrivacyFilter(budget=budget, basic_share=HALF if share is None else share)
            order = best_order(budget.epsilon, part.renyi_delta - part.failures_delta)
        if order is None and composition == "renyi":
            raise UsageError(
                "Renyi composition proves nothing with so small an epsilon and delta.",
                "Leave out --composition, or give a larger delta.",
            )
        if order is None:
            share = Fraction(1)

        created = {
            "event": "created",
            "time": _now(),
            "dataset": dataset,
            "epsilon": str(budget.epsilon),
            "delta": str(budget.delta),
            "composition": composition,
            "basic_share": _text(share),
            "renyi_order": _text(order),
        }
        store.create(_path(path), created)
        return cls(path)

    def state(self) -> State:
        """The ledger's state now."""
        return self._state(store.read(self.path, self._on_wait))

    def _state(self, events: Sequence[Event]) -> State:
        try:
            return state_of(events)
        except DamagedError:
            raise store.damaged(self.path) from None

    def check(self, plan: Priced) -> None:
        """Refuse a release that would not fit now. Nothing is charged.

        Raises:
            BudgetError: the release does not fit. The message says what would.
            UsageError: the ledger holds releases for another unit or relation.
        """
        decide(self.state(), plan)

    def charge(self, plan: Priced, *, command: str | None = None, layout: Layout | None = None) -> str:
        """Charge a release. Once this returns, the charge is on the disk, and the noise may be drawn.

        Args:
            plan: the plan of a release or of a tuning.
            command: what was typed, for the record.
            layout: how the data of the release was read; None if nobody knows. The ledger remembers the first.

        Returns:
            The id of the release.

        Raises:
            BudgetError: the release does not fit; nothing was charged.
            UsageError: the ledger holds releases for another unit or relation, or of other transactions; or the layout
                was guessed and differs from the one that the ledger remembers.
            InputError: the ledger cannot be written to, and says whether it was charged. Nothing may be released.
        """
        # Slow steps come before the lock, so that others do not wait. What they depend on never changes, except the
        # first charge's decision and the total: these are checked again under the lock.
        cost = plan.cost
        check_layout(self.state(), cost, layout)
        self.check(plan)
        charged = {
            "event": "charged",
            "id": str(uuid.UUID(int=SecureRandomness().bits(128), version=4)),
            "command": command,
            "mechanism": cost.mechanism,
            "relation": str(cost.relation),
            "unit_column": cost.unit.column,
            "layout": None if layout is None else layout.record(),
            # As text, which only the history reads: thousands of plans take their time.
            "plan": json.dumps({"plan": cost.record, "privacy": privacy_record(plan, layout)}),
            "losses": json.dumps(losses_record(cost.losses or ())),
            "failure_event": str(failure_probability(cost.failures)),
        }

        def work(events: Sequence[Event]) -> Event:
            state = self._state(events)
            check_layout(state, cost, layout)
            rule, charge = decide(state, plan, search=False)
            figures = {name: str(value) for name, value in vars(charge).items()}
            return {**charged, "time": _now(), "charged": figures, **_settled(rule)}

        try:
            store.write(self.path, work, self._on_wait)
        except BudgetError:
            self.check(plan)  # somebody else was faster: says what would fit now
            raise
        except store.RecordedError as error:
            raise InputError(
                error.what,
                "Nothing was released, but the release was charged, not delivered: see `fim-private budget history`.",
            ) from None
        return str(charged["id"])

    def deliver(self, release: str) -> None:
        """Note that a release was handed over.

        Raises:
            InputError: the ledger cannot be written to, or knows no such release.
        """

        def work(events: Sequence[Event]) -> Event:
            if [event["event"] for event in events if event.get("id") == release] != ["charged"]:
                raise LookupError
            return {"event": "delivered", "id": release, "time": _now()}

        try:
            store.write(self.path, work, self._on_wait)
        except LookupError:
            raise InputError(
                f"The ledger knows no release {release}, or it was delivered before.",
                "Look at its history. If it lacks a release that was handed over, an older copy of the file was put in "
                "its place: put back a copy with all releases in it.",
            ) from None
        except store.RecordedError as error:
            raise InputError(
                error.what, f"The release {release} was charged, handed over and noted as delivered."
            ) from None
        except InputError as error:
            raise InputError(
                error.what,
                f"The release {release} was charged and handed over, but not noted as delivered. If the ledger's "
                "history lacks it, put back a copy with all releases in it.",
            ) from None

    def set_total(
        self, *, epsilon: Number | None = None, delta: Number | None = None, before: Budget | None = None
    ) -> State:
        """Set another total from now on; None leaves a number as it is. The history keeps both totals and their times.

        If `before` is given and another process has set another total than this, nothing is changed.

        After a raise, the promise for all releases, earlier ones included, is the new total. After a cut, it is the new
        total only if the earlier answers were not the reason for the cut; otherwise it is the highest total so far.

        Raises:
            UsageError: a number is out of range.
            InputError: the total is not `before`.
            BudgetError: more than the new total is already spent.
        """

        def work(events: Sequence[Event]) -> Event | None:
            state = self._state(events)
            if before not in (None, state.budget):
                raise InputError(
                    "Meanwhile another process changed the total of this ledger.",
                    "Nothing was set. Look at the total, and set it again if you still want to.",
                )
            budget = Budget(
                state.budget.epsilon if epsilon is None else epsilon, state.budget.delta if delta is None else delta
            )
            with_total(state, budget)
            if budget == state.budget:
                return None
            figures = {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}
            return {"event": "total", "time": _now(), **figures}

        return self._state(store.write(self.path, work, self._on_wait))

    def history(self) -> list[Entry]:
        """All releases and totals, the oldest first."""
        events = store.read(self.path, self._on_wait)
        self._state(events)
        try:
            return history_of(events)
        except DamagedError:
            raise store.damaged(self.path) from None


def _settled(rule: PrivacyFilter) -> dict[str, str | None]:
    """What the first release settles. Later releases record it again."""
    return {"basic_share": str(rule.basic_share), "failing_epsilon": _text(rule.failing_epsilon)}


def _path(given: str | Path) -> Path:
    if not isinstance(given, str | Path):
        raise UsageError("The ledger's path is not a text or a path.", 'Write it as in "shop.ledger".')
    return Path(given)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)
