"""The ledger: what everything released from one data set may cost together, and what was charged of it.

A release is charged before any of its noise is drawn, and noted as delivered once it was handed over. A crash between
the two loses budget, never privacy: the history then shows it as charged, not delivered. What is recorded is what was
planned, never data. The ledger refuses what does not fit by the filter of `accounting/filter.py`, whose proof allows
every release to be chosen after seeing the earlier ones.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from fim_private.accounting.filter import HALF, Charge, Filter, best_order
from fim_private.errors import BudgetError, InputError, UsageError
from fim_private.ledger import store
from fim_private.ledger.charge import charge_of, losses_hold, losses_record
from fim_private.ledger.refusal import amount, refusal
from fim_private.plan import Plan
from fim_private.privacy import Budget, NeighbouringRelation, Number
from fim_private.randomness import SecureRandomness
from fim_private.release.planned import plan_record, privacy_record

SHARES = {"auto": None, "basic": Fraction(1), "renyi": Fraction(0), "both": HALF}
"""What --composition gives the basic test of delta; None: decided with the first charge."""


@dataclass(frozen=True, kw_only=True)
class State:
    """What a ledger says at one moment.

    Args:
        budget: the total in force.
        dataset: what it is about, in the words of whoever made it.
        composition: as it was asked for: auto, basic, renyi or both.
        basic_share: of delta, what the basic test has; None while no release has been charged to "auto".
        order: a of the Renyi test; None where there is none.
        relation: of all releases in it; None before the first.
        unit_column: the column whose units are protected; None for transactions, or before the first.
        spent: the sum of all charges.
        releases: how many were charged.
        undelivered: how many of them are not noted as delivered.
    """

    budget: Budget
    dataset: str | None
    composition: str
    basic_share: Fraction | None
    order: Fraction | None
    relation: NeighbouringRelation | None
    unit_column: str | None
    spent: Charge
    releases: int
    undelivered: int

    def rule(self, basic_share: Fraction | None = None) -> Filter:
        """The filter in force; before the first charge, the one with this share of delta for the basic test."""
        share = self.basic_share if self.basic_share is not None else basic_share
        return Filter(budget=self.budget, basic_share=HALF if share is None else share, order=self.order)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the history: a release, or a total that was set.

    Args:
        time: UTC.
        what: "release" or "total".
        epsilon: charged, or the total.
        delta: likewise.
        id: the release's.
        state: "charged" (and not delivered, as far as is known) or "delivered".
        delivered: when, UTC.
        mechanism: its name.
        command: what was typed, without folders.
        plan: the plan's public parameters and the promise.
        losses: what the steps cost, exact fractions as text.
        failure_event: the probability of what the losses do not cover, as text.
        charged: all figures of the accountant, as text.
    """

    time: str
    what: str
    epsilon: Fraction
    delta: Fraction
    id: str | None = None
    state: str | None = None
    delivered: str | None = None
    mechanism: str | None = None
    command: str | None = None
    plan: dict[str, Any] | None = None
    losses: list[dict[str, Any]] | None = None
    failure_event: str | None = None
    charged: dict[str, str] | None = None


class Ledger:
    """A ledger on disk. Several processes may use it at once; each method is one transaction.

    Args:
        path: of a file that `Ledger.create` or `fim-private budget create` made.

    Raises:
        InputError: there is none, or it cannot be used.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
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
            path: where no file is yet, on a local disk.
            epsilon: what everything together may cost.
            delta: likewise.
            dataset: what it is about; a name, for people.
            composition: "basic" (guarantees add up), "renyi" (the recorded losses are composed), "both" (half of delta
                for each), or "auto": the first release decides whether "both" or "basic" serves, from its plan alone.

        Raises:
            UsageError: a number is out of range, or there is a file already.
            InputError: the disk refuses.
        """
        if composition not in SHARES:
            raise UsageError("There is no such composition.", f"Choose one of: {', '.join(SHARES)}.")
        budget = Budget(epsilon, delta)
        share = SHARES[composition]
        order = None
        if budget.delta and share != 1:
            part = Filter(budget=budget, basic_share=HALF if share is None else share)
            order = best_order(budget.epsilon, part.renyi_delta - part.failures_delta)
        if order is None and composition == "renyi":
            raise UsageError(
                "Renyi composition proves nothing with so small an epsilon and delta.",
                "Leave out --composition, or give a larger delta.",
            )
        if order is None:
            share = Fraction(1)

        def fill(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO ledger (one, created, dataset, composition, basic_share, renyi_order) "
                "VALUES (1, ?, ?, ?, ?, ?)",
                (_now(), dataset, composition, _text(share), _text(order)),
            )
            _set_total(connection, budget)

        store.create(Path(path), fill)
        return cls(path)

    def state(self) -> State:
        """What the ledger says now."""
        return store.read(self.path, self._state)

    def check(self, plan: Plan) -> None:
        """Refuse a release that would not fit now; nothing is charged.

        Raises:
            BudgetError: it does not fit; the words say what would.
            UsageError: the ledger holds releases for another unit or relation.
        """
        _decided(self.state(), plan)

    def charge(self, plan: Plan, *, command: str | None = None) -> str:
        """Charge a release; once this returns, the charge is on the disk and its noise may be drawn.

        Args:
            plan: of the release.
            command: what was typed, for the record.

        Returns:
            The id of the release.

        Raises:
            BudgetError: it does not fit; nothing was charged.
            UsageError: the ledger holds releases for another unit or relation.
            InputError: the ledger cannot be written to; nothing is to be released.
        """
        # All that takes long is done before the others have to wait. What it depends on never changes, but for the
        # first charge's decision and the total: these are looked at again.
        self.check(plan)
        name = str(uuid.UUID(int=SecureRandomness().bits(128), version=4))
        record = json.dumps({"plan": plan_record(plan), "privacy": privacy_record(plan)}, ensure_ascii=False)
        losses = json.dumps(losses_record(plan.mechanism.losses) if losses_hold(plan) else [])

        def work(connection: sqlite3.Connection) -> None:
            state = self._state(connection)
            share, charge = _decided(state, plan, search=False)
            connection.execute(
                "UPDATE ledger SET basic_share = ?, relation = ?, unit_column = ?",
                (_text(share), str(plan.relation), plan.unit.column),
            )
            connection.execute(
                "INSERT INTO releases (id, time, command, mechanism, plan, losses, failure_event, "
                "epsilon, delta, renyi, plain, failure, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'charged')",
                (
                    *(name, _now(), command, plan.mechanism_name, record, losses, str(plan.mechanism.failure)),
                    *(str(getattr(charge, figure)) for figure in ("epsilon", "delta", "renyi", "plain", "failure")),
                ),
            )

        try:
            store.write(self.path, work)
        except BudgetError:
            self.check(plan)  # somebody else was faster: says what would fit now
            raise
        return name

    def deliver(self, release: str) -> None:
        """Note that a release was handed over.

        Args:
            release: its id.

        Raises:
            InputError: the ledger cannot be written to, or knows no such release.
        """

        def work(connection: sqlite3.Connection) -> int:
            return connection.execute(
                "UPDATE releases SET state = 'delivered', delivered = ? WHERE id = ? AND state = 'charged'",
                (_now(), release),
            ).rowcount

        try:
            noted = store.write(self.path, work)
        except InputError as error:
            raise InputError(
                error.what,
                f"The release {release} was charged and handed over; only the note that it was delivered is missing.",
            ) from None
        if noted != 1:
            raise InputError("The ledger knows no such release, or it was delivered before.", "Look at its history.")

    def set_total(self, *, epsilon: Number | None = None, delta: Number | None = None) -> State:
        """Another total from now on; None leaves one as it is. The history keeps both, with their times.

        Raised, the promise for everything released, earlier releases included, is that of the new total. Lowered, it is
        that of the new total if the reason was not among the answers given so far, else that of the highest total yet.

        Raises:
            UsageError: a number is out of range.
            BudgetError: more than that has been spent.
        """

        def work(connection: sqlite3.Connection) -> State:
            state = self._state(connection)
            budget = Budget(
                state.budget.epsilon if epsilon is None else epsilon, state.budget.delta if delta is None else delta
            )
            later = replace(state, budget=budget)
            if state.releases and not later.rule().admits(state.spent):
                raise BudgetError(
                    f"More was spent already: epsilon {amount(state.spent.epsilon, up=True)}, delta "
                    f"{amount(state.spent.delta, up=True)} (basic composition).",
                    "A total cannot be set below what was spent; the ledger is as it was.",
                )
            if budget != state.budget:
                _set_total(connection, budget)
            return later

        return store.write(self.path, work)

    def history(self) -> list[Entry]:
        """All releases and totals, oldest first."""
        return store.read(self.path, self._history)

    def _state(self, connection: sqlite3.Connection) -> State:
        connection.row_factory = sqlite3.Row
        row = connection.execute("SELECT * FROM ledger").fetchone()
        total = connection.execute("SELECT * FROM totals ORDER BY number DESC LIMIT 1").fetchone()
        if row is None or total is None:
            raise sqlite3.DatabaseError("damaged")
        # Most releases cost what others cost: a thousand of them are few lines, and fractions take their time.
        alike = connection.execute(
            "SELECT epsilon, delta, renyi, plain, failure, state, COUNT(*) AS times FROM releases "
            "GROUP BY epsilon, delta, renyi, plain, failure, state"
        ).fetchall()
        spent = Charge()
        for line in alike:
            spent += Charge(**{name: line["times"] * Fraction(line[name]) for name in vars(spent)})
        return State(
            budget=Budget(total["epsilon"], total["delta"]),
            dataset=row["dataset"],
            composition=row["composition"],
            basic_share=_fraction(row["basic_share"]),
            order=_fraction(row["renyi_order"]),
            relation=None if row["relation"] is None else NeighbouringRelation(row["relation"]),
            unit_column=row["unit_column"],
            spent=spent,
            releases=sum(line["times"] for line in alike),
            undelivered=sum(line["times"] for line in alike if line["state"] == "charged"),
        )

    def _history(self, connection: sqlite3.Connection) -> list[Entry]:
        connection.row_factory = sqlite3.Row
        totals = [
            Entry(time=row["time"], what="total", epsilon=Fraction(row["epsilon"]), delta=Fraction(row["delta"]))
            for row in connection.execute("SELECT * FROM totals ORDER BY number")
        ]
        releases = [
            Entry(
                time=row["time"],
                what="release",
                epsilon=Fraction(row["epsilon"]),
                delta=Fraction(row["delta"]),
                id=row["id"],
                state=row["state"],
                delivered=row["delivered"],
                mechanism=row["mechanism"],
                command=row["command"],
                plan=json.loads(row["plan"]),
                losses=json.loads(row["losses"]),
                failure_event=row["failure_event"],
                charged={name: row[name] for name in vars(Charge())},
            )
            for row in connection.execute("SELECT * FROM releases ORDER BY number")
        ]
        # Sorting is stable: of what happened in one second, totals come first.
        return sorted([*totals, *releases], key=lambda entry: entry.time)


def _decided(state: State, plan: Plan, *, search: bool = True) -> tuple[Fraction, Charge]:
    """The basic test's share of delta, and the plan's charge, which fits.

    Args:
        state: of the ledger.
        plan: of the release.
        search: whether to look for what would fit instead, which takes a second or two.

    Raises:
        BudgetError: it does not fit.
        UsageError: the ledger holds releases for another unit or relation.
    """
    _check_promise(state, plan)
    rules = [state.rule(share) for share in _shares(state, plan)]
    for rule in rules:
        charge = charge_of(plan, rule)
        if rule.admits(state.spent + charge):
            return rule.basic_share, charge
    raise refusal(plan, rules, state.spent, search=search)


def _shares(state: State, plan: Plan) -> Sequence[Fraction]:
    """What the basic test may have of delta: fixed, or open to the first charge, the better first.

    Nothing has been answered yet when the first charge is made, so what it decides depends on nobody's data. Renyi
    composition helps those who take less of delta than of epsilon: half of delta has to be enough for the basic test.
    """
    if state.basic_share is not None:
        return (state.basic_share,)
    guarantee, budget = plan.guarantee, state.budget
    even = 2 * guarantee.delta * budget.epsilon <= guarantee.epsilon * budget.delta
    return (HALF, Fraction(1)) if even else (Fraction(1), HALF)


def _check_promise(state: State, plan: Plan) -> None:
    """All releases of a ledger have to promise the same kind of thing, or their costs do not add up to a promise."""
    if state.relation is None:
        return
    if plan.relation is not state.relation:
        raise UsageError(
            f"This ledger holds releases for {state.relation} neighbours, and this one is for {plan.relation}.",
            f"Give --neighbours {state.relation}, or keep another ledger for another part of the budget.",
        )
    if plan.unit.column != state.unit_column:
        held = "each transaction" if state.unit_column is None else f"the units of column {state.unit_column!r}"
        asked = "each transaction" if plan.unit.column is None else f"the units of column {plan.unit.column!r}"
        option = "--unit transaction" if state.unit_column is None else f"--unit-column {state.unit_column}"
        raise UsageError(
            f"This ledger holds releases that protect {held}, and this one would protect {asked}: different promises, "
            "whose costs do not add up.",
            f"Give {option}, or keep another ledger.",
        )


def _set_total(connection: sqlite3.Connection, budget: Budget) -> None:
    connection.execute(
        "INSERT INTO totals (time, epsilon, delta) VALUES (?, ?, ?)", (_now(), str(budget.epsilon), str(budget.delta))
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _fraction(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)
