"""What a ledger's events come to: its state at one moment, and its history.

created    the total, how costs add up, and what the ledger is about
total      another total from now on
charged    a release: its plan, its cost, and what it protects
delivered  that release was handed over
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fim_private.accounting.filter import HALF, Charge, Filter
from fim_private.errors import FimPrivateError
from fim_private.ledger.chain import DamagedError, Event
from fim_private.privacy import Budget, NeighbouringRelation
from fim_private.release import Layout

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
        failing_epsilon: E of the Renyi test; None where no failure may be paid on both sides, or before the first
            release.
        relation: of all releases in it; None before the first.
        unit_column: the column whose units all releases protect; None for transactions, or before the first release.
        layout: how the data of the first release with a layout was read.
        spent: the sum of all charges.
        releases: how many were charged.
        undelivered: how many of them are not noted as delivered.
    """

    budget: Budget
    dataset: str | None
    composition: str
    basic_share: Fraction | None
    order: Fraction | None
    failing_epsilon: Fraction | None
    relation: NeighbouringRelation | None
    unit_column: str | None
    layout: Layout | None
    spent: Charge
    releases: int
    undelivered: int

    def rule(self) -> Filter:
        """The filter in force; before the first release, one that it may settle otherwise."""
        return Filter(
            budget=self.budget,
            basic_share=HALF if self.basic_share is None else self.basic_share,
            order=self.order,
            failing_epsilon=self.failing_epsilon,
        )


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
        layout: how the data was read, where that was said.
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
    layout: Layout | None = None


@contextmanager
def _sound() -> Iterator[None]:
    """Whatever cannot be made sense of was not written by this program, whatever its hash says."""
    try:
        yield
    except (FimPrivateError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
        raise DamagedError from None


@_sound()
def state_of(events: Sequence[Event]) -> State:
    """The state that a ledger with these events is in.

    Raises:
        DamagedError: what they say cannot be.
    """
    _check_order(events)
    created, total = events[0], _of_kind(events, "created", "total")[-1]
    releases, delivered = _of_kind(events, "charged"), _of_kind(events, "delivered")
    first = releases[0] if releases else None
    share = created["basic_share"] if first is None else first["basic_share"]
    order = None if created["renyi_order"] is None else _fraction(created["renyi_order"])
    failing = None if first is None else first["failing_epsilon"]
    state = State(
        budget=Budget(_fraction(total["epsilon"]), _fraction(total["delta"])),
        dataset=None if created["dataset"] is None else _text(created["dataset"]),
        composition=_text(created["composition"]),
        basic_share=None if share is None else _fraction(share),
        order=order,
        failing_epsilon=None if failing is None else _fraction(failing),
        relation=None if first is None else NeighbouringRelation(first["relation"]),
        unit_column=None if first is None or first["unit_column"] is None else _text(first["unit_column"]),
        layout=next((_layout(event) for event in releases if event["layout"] is not None), None),
        spent=_sum(releases),
        releases=len(releases),
        undelivered=len(releases) - len(delivered),
    )
    if (state.basic_share is not None and state.basic_share > 1) or order == 0:
        raise ValueError
    return state


@_sound()
def history_of(events: Sequence[Event]) -> list[Entry]:
    """All releases and totals, oldest first. Errors as for `state_of`."""
    _check_order(events)
    entries: dict[object, Entry] = {}
    for place, event in enumerate(events):
        if event["event"] == "delivered":
            entry = entries[event["id"]]
            entries[event["id"]] = replace(entry, state="delivered", delivered=_text(event["time"]))
        elif event["event"] == "charged":
            entries[event["id"]] = _release(event)
        else:
            entries[place] = Entry(
                time=_text(event["time"]),
                what="total",
                epsilon=_fraction(event["epsilon"]),
                delta=_fraction(event["delta"]),
            )
    return list(entries.values())


def _release(event: Event) -> Entry:
    return Entry(
        time=_text(event["time"]),
        what="release",
        epsilon=_fraction(event["charged"]["epsilon"]),
        delta=_fraction(event["charged"]["delta"]),
        id=_text(event["id"]),
        state="charged",
        mechanism=_text(event["mechanism"]),
        command=event["command"],
        plan=json.loads(event["plan"]),
        losses=json.loads(event["losses"]),
        failure_event=event["failure_event"],
        charged=event["charged"],
        layout=_layout(event),
    )


def _layout(event: Event) -> Layout | None:
    layout = Layout.of_record(event["layout"])
    if layout is None and event["layout"] is not None:
        raise ValueError
    return layout


def _check_order(events: Sequence[Event]) -> None:
    """A ledger is created once and first; what is delivered was charged, and each happens to a release once."""
    charged, delivered = set(), set()
    for place, event in enumerate(events):
        match event["event"]:
            case "created":
                is_possible = place == 0
            case "total":
                is_possible = place > 0
            case "charged":
                is_possible = event["id"] not in charged
                charged.add(event["id"])
            case "delivered":
                is_possible = event["id"] in charged and event["id"] not in delivered
                delivered.add(event["id"])
            case _:
                is_possible = False
        if not is_possible:
            raise ValueError


def _of_kind(events: Sequence[Event], *kinds: str) -> list[Event]:
    return [event for event in events if event["event"] in kinds]


def _sum(releases: Sequence[Event]) -> Charge:
    """What all of them cost. Most cost what others cost, and fractions take their time."""
    names = tuple(vars(Charge()))
    alike = Counter(tuple(_text(release["charged"][name]) for name in names) for release in releases)
    spent = Charge()
    for figures, times in alike.items():
        spent += Charge(**{name: times * _fraction(text) for name, text in zip(names, figures, strict=True)})
    return spent


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _fraction(text: str) -> Fraction:
    """As `str` writes it, and not negative; a Fraction would also take 1e999999999, and fill the memory with it."""
    if not re.fullmatch(r"[0-9]{1,4000}(/[0-9]{1,4000})?", text):
        raise ValueError
    value = Fraction(text)
    if value > LARGEST:
        raise ValueError
    return value
