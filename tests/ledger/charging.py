"""Plans to charge, and processes that charge them."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from fim_private import Budget, BudgetError, InputError, Ledger, PrivacyUnit, Universe, make_plan
from fim_private.ledger import chain
from fim_private.ledger.chain import Event
from fim_private.plan import Plan
from tests.processes import side_by_side

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["fim_private.ledger", "fim_private.plan"])


def plan_for(epsilon: str, delta: str = "0", *, top: int = 1, mechanism: str = "exponential", **options) -> Plan:
    options = {"unit": PrivacyUnit(), "universe": Universe(items=1000, listed=True), **options}
    return make_plan(size=2, top=top, budget=Budget(epsilon, delta), mechanism=mechanism, **options)


def three_charges(folder: Path) -> tuple[Ledger, list[str]]:
    ledger, plan = Ledger.create(folder / "shop.ledger", epsilon="1", delta="0"), plan_for("0.1")
    return ledger, [ledger.charge(plan) for _ in range(3)]


def ids(ledger: Ledger) -> list[str | None]:
    return [entry.id for entry in ledger.history() if entry.what == "release"]


def charged_until_refused(ledger: Ledger, plan: Plan) -> int:
    for charged in range(100):
        try:
            ledger.charge(plan)
        except BudgetError:
            return charged
    raise AssertionError("never refused")


def with_events(events: list[Event]) -> bytes:
    """A ledger in which just this has happened, with all its hashes: what a forger makes."""
    data = chain.begin(events[0])
    for event in events[1:]:
        log = chain.read(data)
        line, mark = chain.add(log, event)
        data = data[: log.next_mark] + mark + data[log.next_mark + chain.MARK :] + line
    return data


def charge_six_times(path: Path, plan: Plan, start: object, answers: multiprocessing.Queue) -> None:
    """Six charges as fast as they come; the answer is how many were granted."""
    start.wait()
    granted = 0
    for _ in range(6):
        try:
            Ledger(path).charge(plan)
            granted += 1
        except (BudgetError, InputError):
            pass
    answers.put(granted)


def race(names: tuple[Path, Path]) -> list[int]:
    """What four processes were granted, two by each name."""
    plan, start, answers = plan_for("1"), PROCESSES.Barrier(4), PROCESSES.Queue()
    racing = [PROCESSES.Process(target=charge_six_times, args=(names[at % 2], plan, start, answers)) for at in range(4)]
    with side_by_side(*racing):
        return [answers.get(timeout=200) for _ in racing]
