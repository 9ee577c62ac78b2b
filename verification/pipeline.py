"""The whole pipeline sampled: neighbouring files are written, read and released as the command line does it.

Exact laws show what a mechanism does with counts. Here reading, bounding, counting, the door and the source of
randomness stand in between, and nothing is known of them but what comes out. One basket more makes any step between 0
and 1 of counts of single items real.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from fim_private.audit.laws import law_over_itemsets
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.protocol import Law, Stepwise
from fim_private.mechanisms.registry import find
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan, make_plan
from fim_private.privacy import Budget, PrivacyUnit
from fim_private.release import Release
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.reading import read_transactions
from verification.sampling import Sampled, telling_event

RUNS = 2_000
NAMES = tuple("abcdefgh")
UNIT_COLUMN = "customer"

Units = Sequence[Sequence[Sequence[str]]]
"""A data set: units of baskets of items."""
Pipeline = Callable[[Transactions], Release]
Progress = Callable[[str], None]
Kind = TypeVar("Kind")


@dataclass(frozen=True, kw_only=True)
class Case:
    """Two neighbouring data sets, and how they are released.

    Args:
        name: of the row of a table.
        plan: what is claimed.
        units: the smaller data set.
        more: the unit that the larger one has besides.
        counts: of the items in the order of their names, on both sides, after bounding; None for items-first.
        seen: the event, where no exact law chooses it, likelier on the larger data set.
        by_command: whether the command line can plan the same.
    """

    name: str
    plan: Plan
    units: Units
    more: Sequence[Sequence[str]]
    counts: tuple[Sequence[int], Sequence[int]] | None = None
    seen: Callable[[Release], bool] | None = None
    by_command: bool = True


def planned(mechanism: str, *, delta: str = "0.01", size: int = 1, top: int = 1, **more: Any) -> Plan:
    """A plan at epsilon 2, for units of one transaction unless `unit` says otherwise."""
    more.setdefault("unit", PrivacyUnit())
    return make_plan(size=size, top=top, budget=Budget("2", delta), mechanism=mechanism, **more)


def parameters(plan: Plan, kind: type[Kind]) -> Kind:
    """The plan's mechanism, which was planned as one of this kind."""
    if not isinstance(plan.mechanism, kind):
        raise AssertionError(f"{kind.__name__} was planned")
    return plan.mechanism


def baskets_of(counts: Sequence[int]) -> Units:
    """Units of one basket each that have these counts of single items: nested, so there are few of them."""
    baskets = ([name for name, count in zip(NAMES, counts, strict=False) if count > at] for at in range(max(counts)))
    return [[basket] for basket in baskets]


def write(units: Units, path: Path, *, long: bool) -> None:
    """The data set as a file: a basket a line, or, where units have several, a row an item."""
    if not long:
        lines = [",".join(basket) for unit in units for basket in unit]
    else:
        lines = [f"{UNIT_COLUMN},basket,item"]
        lines += [
            f"{unit},{unit}-{number},{item}"
            for unit, baskets in enumerate(units)
            for number, basket in enumerate(baskets)
            for item in basket
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path: Path, plan: Plan) -> Transactions:
    """As the command line reads the file."""
    if plan.unit.column is None:
        return read_transactions(path, format="basket", separator=",")
    return read_transactions(
        path, format="long", transaction_column="basket", item_column="item", unit_column=UNIT_COLUMN
    )


def sample(
    case: Case,
    runs: int,
    *,
    mistake: str | None = None,
    pipeline: Pipeline | None = None,
    by_command: int | None = None,
) -> Sampled:
    """Write both files, release each this many times, and count the event.

    Args:
        case: what to release.
        runs: of each side.
        mistake: of a broken twin.
        pipeline: from what was read to a release; None for `mine_as_planned` with the secure source.
        by_command: this many seeded runs are also compared with the command line. None compares no run.
    """
    release = pipeline or (lambda transactions: mine_as_planned(transactions, case.plan))
    seen, exact, swapped = case.seen, None, False
    if seen is None:
        outcomes, exact, swapped = _worst_event(case, runs)

        given = set(case.plan.constraints.must_contain)

        def seen(released: Release) -> bool:
            return tuple(tuple(sorted(set(itemset.items) - given)) for itemset in released.itemsets) in outcomes

    long = case.plan.unit.column is not None
    hits, same = [], None
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("smaller.csv", "larger.csv")]
        for path, units in zip(paths, (case.units, [case.more, *case.units]), strict=True):
            write(units, path, long=long)
            transactions = read(path, case.plan)
            hits.append(sum(seen(release(transactions)) for _ in range(runs)))
        if by_command is not None and case.by_command:
            same = sum(_same(paths[seed % 2], case.plan, seed) for seed in range(by_command))
    less, likelier = (hits[1], hits[0]) if swapped else (hits[0], hits[1])
    return Sampled(
        name=case.name,
        claim=(float(case.plan.guarantee.epsilon), float(case.plan.guarantee.delta)),
        runs=runs,
        hits=likelier,
        other_hits=less,
        exact=exact,
        same_by_command=same,
        mistake=mistake,
    )


def exact_epsilon(case: Case, runs: int) -> float:
    """The epsilon of the event that this many runs tell most of, by the exact laws; 0 where none tells anything."""
    _, exact, _ = _worst_event(case, runs)
    return exact or 0.0


def _worst_event(case: Case, runs: int) -> tuple[frozenset[object], float | None, bool]:
    """Lists of names, the event's exact epsilon, and whether it is likelier on the smaller data set."""
    mechanism = case.plan.search
    if case.counts is None or isinstance(mechanism, Stepwise):
        raise AssertionError("the event has to be given where there is no law over lists")
    declared = find(case.plan.mechanism_name).needs_universe
    laws: list[Law] = [law_over_itemsets(mechanism, counts, declared=declared) for counts in case.counts]
    delta = float(case.plan.guarantee.delta)
    event = telling_event(laws[1], laws[0], runs=runs, delta=delta)
    outcomes = frozenset(tuple((NAMES[at],) for at in places) for places in event.outcomes)
    return outcomes, event.exact(delta), event.swapped


def _same(path: Path, plan: Plan, seed: int) -> bool:
    """Whether the command line prints the very release that the call makes, from the same seed."""
    arguments = [str(path), "--size", str(plan.size), "--top", str(plan.top), "--seed", str(seed)]
    arguments += ["--epsilon", str(plan.budget.epsilon), "--delta", str(plan.budget.delta)]
    arguments += ["--mechanism", plan.mechanism_name, "--json", "--quiet"]
    if plan.unit.column is None:
        arguments += ["--unit", "transaction", "--format", "basket", "--separator", ","]
    else:
        arguments += ["--unit-column", UNIT_COLUMN, "--format", "long"]
        arguments += ["--transaction-column", "basket", "--item-column", "item"]
    if plan.unit.max_transactions is not None:
        arguments += ["--max-transactions", str(plan.unit.max_transactions)]
    if plan.question.together is not None:
        arguments += ["--together", plan.question.together]
    if plan.universe.names is not None:
        universe = path.with_name("universe.txt")
        universe.write_text("\n".join(plan.universe.names) + "\n", encoding="utf-8")
        arguments += ["--universe-file", str(universe)]
    elif plan.universe.anonymous:
        arguments += ["--universe-items", str(plan.universe.items)]
    for name in plan.constraints.must_contain:
        arguments += ["--must-contain", name]
    for name in plan.constraints.exclude:
        arguments += ["--exclude", name]
    if plan.max_items is not None:
        arguments += ["--max-items", str(plan.max_items)]
    if isinstance(plan.mechanism, ItemsFirst):
        arguments += ["--select", plan.mechanism.select or "peel"]
    printed = subprocess.run(  # noqa: S603 - this program itself, and no shell
        [sys.executable, "-m", "fim_private", "mine", *arguments], capture_output=True, text=True, check=True
    ).stdout
    called = mine_as_planned(read(path, plan), plan, seed=seed)
    return replace(Release.from_json(printed), command=None) == Release.from_json(called.to_json())


def of_counts(plan: Plan, one: Sequence[int], other: Sequence[int]) -> Case:
    """The case of two count vectors of single items that one unit's baskets turn into each other.

    Every basket holds the items that itemsets must contain as well, but for one of the unit, which is to be left out.
    """
    must = plan.constraints.must_contain
    step = [name for name, less, more in zip(NAMES, one, other, strict=False) if more > less]
    unit, times = plan.unit, 1
    name = plan.mechanism_name
    if unit.column is not None:
        # One basket more than are kept or needed: bounding has something to do.
        times = (unit.max_transactions or 1) + 1
        counted = {"basket": "customers counted by basket", "unit": "customers merged"}
        name += f", {counted.get(plan.question.together or '', f'{unit.max_transactions} baskets each')}"
    units = [[[*basket, *must] for basket in unit] for unit in baskets_of(one)]
    more = [[*step, *must]] * times
    if must:
        name += f", {plan.constraints.describe()}"
        more.append(step)
    return Case(name=name, plan=plan, units=units, more=more, counts=(one, other))
