"""The plans of the audit report: every mechanism, with one pick and several, both relations, and Delta 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from multiprocessing import get_context

from fim_private.audit.verdict import Verdict, audit
from fim_private.mechanisms.certified_domain import CertifiedDomain
from fim_private.mechanisms.protocol import COUNTS
from fim_private.mechanisms.registry import REGISTRY, Row
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.randomness import SeededRandomness

PICKS = 3
LONG, LONG_AT = 10, "exponential"
"""A list that is long enough to be cut before its names are tested, and the mechanism whose law then takes least."""
SPARE_AT = "certified-domain"
"""The mechanism that makes spare picks, though not for lists so short that their exact law can be listed."""
LISTED_AT = "look-first"
"""The mechanism that needs no public list, but picks in another way if it has one."""
COUNTED = 100
UNIVERSE = 100
MAX_ITEMS = 10
PAIR = PrivacyUnit(column="customer", max_transactions=2)


def standard_plans(budget: Budget) -> Iterator[Plan]:
    """Plans for pairs, over an open universe or, if the mechanism needs one, a declared universe of `UNIVERSE` items.

    Where single items go another way, there is a plan for these too.
    """
    for row in REGISTRY.values():
        yield _plan(row, budget, top=1)
        yield _plan(row, budget, top=PICKS)
        yield _plan(row, budget, top=1, unit=PAIR)
        if row.reads_counts:
            yield _plan(row, budget, top=COUNTED, select=COUNTS)
            yield _plan(row, budget, top=COUNTED, select=COUNTS, unit=PAIR)
            yield _plan(row, budget, top=PICKS, size=1)
            without_delta = replace(budget, delta=Fraction(0))
            yield _plan(row, without_delta, top=PICKS, listed=True)
            yield _plan(row, without_delta, top=COUNTED, select=COUNTS, unit=PAIR, listed=True)
        elif not row.weighs:
            yield _plan(row, budget, top=1, relation=NeighbouringRelation.REPLACE)
        if row.needs_universe:
            yield _plan(row, budget, top=1, anonymous=True)
            yield _plan(row, budget, top=2, unit=PAIR, anonymous=True)
        if row.name == LONG_AT:
            yield _plan(row, budget, top=LONG, anonymous=True)
        if row.name == LISTED_AT:
            yield _plan(row, budget, top=PICKS, listed=True)
        if row.name == SPARE_AT:
            yield _with_spare(_plan(row, budget, top=2))


def _with_spare(plan: Plan) -> Plan:
    """The plan with one spare pick, for which all picks get half of their epsilon. It costs no more."""
    mechanism = plan.mechanism
    if not isinstance(mechanism, CertifiedDomain):
        raise TypeError(f"{plan.mechanism_name} makes no spare picks")
    return replace(plan, mechanism=replace(mechanism, spare=1, pick_epsilon=mechanism.pick_epsilon / 2))


def _plan(
    row: Row, budget: Budget, *, top: int, size: int = 2, unit: PrivacyUnit | None = None, select: str | None = None,
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE, anonymous: bool = False,
    listed: bool = False,
) -> Plan:  # fmt: skip
    return make_plan(
        size=size,
        top=top,
        budget=budget,
        unit=unit or PrivacyUnit(),
        relation=relation,
        universe=Universe(items=UNIVERSE, listed=not anonymous) if row.needs_universe or listed else None,
        max_items=MAX_ITEMS if row.needs_cap else None,
        mechanism=row.name,
        select=select,
    )


def audit_all(budget: Budget, *, seed: int, workers: int, progress: Callable[[str], None]) -> tuple[Verdict, ...]:
    """A verdict for each of the standard plans, in their order.

    Cost: about a quarter of an hour of one processor.
    """
    plans = list(standard_plans(budget))
    verdicts = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for done, verdict in enumerate(pool.map(_audited, plans, [seed] * len(plans)), start=1):
            verdicts.append(verdict)
            progress(f"exact search: {done} of {len(plans)} plans")
    return tuple(verdicts)


def _audited(plan: Plan, seed: int) -> Verdict:
    return audit(plan, randomness=SeededRandomness(seed))
