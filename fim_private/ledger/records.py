"""From a ledger's events to its state at one moment, and to its history.

There are four kinds of events:

created    the total, how costs add up, and the data set
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

from fim_private.accounting.privacy_filter import HALF, Charge, PrivacyFilter
from fim_private.errors import FimPrivateError
from fim_private.ledger.chain import DamagedError, Event
from fim_private.privacy import Budget, NeighbouringRelation
from fim_private.release import Layout

LARGEST = 10**30
"""A bound far above every figure of a ledger, and within the range of floats."""


@dataclass(frozen=True, kw_only=True)
class State:
    """What a ledger says at one moment.

    Args:
        budget: the total in force.
        dataset: the data set's name, as its creator wrote it.
        composition: what was asked for: auto, basic, renyi or both.
        basic_share: the basic test's share of delta; None for "auto" before the first release.
        order: a of the Renyi test; None if there is no such test.
        failing_epsilon: E of the Renyi test; None if no failure may be paid on both sides, or before the first release.
        relation: the relation of all releases; None before the first release.
        unit_column: the column whose units all releases protect; None for transactions, or before the first release.
        layout: how the data of the first release with a layout was read.
        spent: the sum of all charges.
        releases: the number of charged releases.
        undelivered: the number of releases that are not noted as delivered.
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

    def rule(self) -> PrivacyFilter:
        """The filter in force. Before the first release it is provisional."""
        return PrivacyFilter(
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
        epsilon: the charge, or the total.
        delta: the charge, or the total.
        id: the release's id.
        state: "delivered", or "charged" if no delivery is noted.
        delivered: the time of delivery, UTC.
        mechanism: the mechanism's name.
        command: what was typed, without folders.
        plan: the plan's public parameters and the promise.
        losses: what the steps cost, exact fractions as text.
        failure_event: the probability of what the losses do not cover, as text.
        charged: all figures of the accountant, as text.
        layout: how the data was read, if the release recorded it.
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
    """Turn any failure to make sense of events into `DamagedError`: this program did not write them."""
    try:
        yield
    except (FimPrivateError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
        raise DamagedError from None


@_sound()
def state_of(events: Sequence[Event]) -> State:
    """The state of a ledger with these events.

    Raises:
        DamagedError: the events contradict each other or cannot be read.
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
    """All releases and totals, the oldest first. Raises the errors of `state_of`."""
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
    """Check that creation comes first and once, and that each release is charged once, then delivered at most once."""
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
    """The sum of all charges. Equal charges are counted first, because adding fractions is slow."""
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
    """A fraction as `str` writes it, at least 0. `Fraction` alone would accept 1e999999999 and fill the memory."""
    if not re.fullmatch(r"[0-9]{1,4000}(/[0-9]{1,4000})?", text):
        raise ValueError
    value = Fraction(text)
    if value > LARGEST:
        raise ValueError
    return value
