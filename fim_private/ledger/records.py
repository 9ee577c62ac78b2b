"""What a ledger's tables say: its state at one moment, and its history."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fim_private.accounting.filter import HALF, Charge, Filter
from fim_private.errors import FimPrivateError
from fim_private.privacy import Budget, NeighbouringRelation

LARGEST = 10**30
"""No figure of a ledger comes near it, and floats go beyond it."""


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


@contextmanager
def _sound() -> Iterator[None]:
    """Whatever cannot be made sense of was not written by this program, or was changed since."""
    try:
        yield
    except (FimPrivateError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
        raise sqlite3.DatabaseError("damaged") from None


@_sound()
def read_state(connection: sqlite3.Connection) -> State:
    """The state that the ledger is in.

    Raises:
        sqlite3.DatabaseError: what it says cannot be.
    """
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
        spent += Charge(**{name: line["times"] * _fraction(line[name]) for name in vars(spent)})
    share, order = (None if row[name] is None else _fraction(row[name]) for name in ("basic_share", "renyi_order"))
    if (share is not None and share > 1) or order == 0:
        raise ValueError
    return State(
        budget=Budget(_fraction(total["epsilon"]), _fraction(total["delta"])),
        dataset=row["dataset"],
        composition=row["composition"],
        basic_share=share,
        order=order,
        relation=None if row["relation"] is None else NeighbouringRelation(row["relation"]),
        unit_column=row["unit_column"],
        spent=spent,
        releases=sum(line["times"] for line in alike),
        undelivered=sum(line["times"] for line in alike if line["state"] == "charged"),
    )


@_sound()
def read_history(connection: sqlite3.Connection) -> list[Entry]:
    """All releases and totals, oldest first. Errors as for `read_state`."""
    connection.row_factory = sqlite3.Row
    totals = [
        Entry(time=row["time"], what="total", epsilon=_fraction(row["epsilon"]), delta=_fraction(row["delta"]))
        for row in connection.execute("SELECT * FROM totals ORDER BY number")
    ]
    releases = [
        Entry(
            time=row["time"],
            what="release",
            epsilon=_fraction(row["epsilon"]),
            delta=_fraction(row["delta"]),
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


def _fraction(text: str) -> Fraction:
    """As `str` writes it, and not negative; a Fraction would also take 1e999999999, and fill the memory with it."""
    if not re.fullmatch(r"[0-9]{1,4000}(/[0-9]{1,4000})?", text):
        raise ValueError
    value = Fraction(text)
    if value > LARGEST:
        raise ValueError
    return value
