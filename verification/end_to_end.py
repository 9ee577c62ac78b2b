"""Every mechanism sampled end to end, and the broken pipelines beside them.

The pairs of count vectors are among the hardest that the exact search found, of those that a few thousand runs can tell
something of.
"""

from __future__ import annotations

import math
from dataclasses import replace

from fim_private.constraints import Constraints
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.registry import REGISTRY, Row, find
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import Budget, PrivacyUnit
from fim_private.release import Release
from verification.pipeline import NAMES, RUNS, UNIT_COLUMN, Case, Progress, exact_epsilon, of_counts, sample
from verification.pipeline_twins import audit_twins
from verification.sampling import Sampled

_PUBLISHED_CAP, _PUBLISHED_COUNT = 8, 80
"""At this count the published mechanism names a single item now and then, at the plan here."""


def _planned(mechanism: str, *, delta: str = "0.01", size: int = 1, top: int = 1, **more: object) -> Plan:
    unit = more.pop("unit", PrivacyUnit())
    return make_plan(size=size, top=top, budget=Budget("2", delta), mechanism=mechanism, unit=unit, **more)  # type: ignore[arg-type]


def cases() -> tuple[Case, ...]:
    """At least one for each family of mechanisms, and for units of several baskets."""
    made = _cases()
    families = {find(case.plan.mechanism_name).family for case in made}
    others: dict[str, Row] = {}
    for row in REGISTRY.values():
        if row.family not in families:
            others.setdefault(row.family, row)
    return (*made, *map(_searched, others.values()))


def _searched(row: Row) -> Case:
    """The case of a mechanism that nobody chose one for: of a few pairs of counts, that with the most telling event."""
    universe = Universe(names=NAMES[:3]) if row.needs_universe else None
    plan = _planned(row.name, universe=universe, max_items=2 if row.needs_cap else None)
    pairs = [((count,) * heads, (count + 1, *(count,) * (heads - 1))) for count in range(1, 40, 3) for heads in (1, 2)]
    return max((of_counts(plan, *pair) for pair in pairs), key=lambda case: exact_epsilon(case, RUNS))


def _cases() -> tuple[Case, ...]:
    declared = Universe(names=NAMES[:3])
    customers = PrivacyUnit(column=UNIT_COLUMN)
    several = PrivacyUnit(column=UNIT_COLUMN, max_transactions=2)
    return (
        of_counts(_planned("lmm"), (8, 8), (9, 8)),
        of_counts(_planned("lmm-repeat"), (26, 24), (26, 25)),
        _published(),
        of_counts(_planned("limited-domain"), (6, 6), (7, 7)),
        of_counts(_planned("limited-domain", unit=customers, together="unit"), (6, 6), (7, 7)),
        of_counts(
            _planned("limited-domain", size=2, unit=customers, constraints=Constraints(must_contain=["m"])),
            (6, 6),
            (7, 7),
        ),
        of_counts(_planned("limited-domain", unit=several), (12, 12), (14, 14)),
        of_counts(
            _planned("limited-domain", size=2, unit=several, constraints=Constraints(must_contain=["m"])),
            (12, 12),
            (14, 14),
        ),
        of_counts(_planned("stable-max"), (3,), (4,)),
        of_counts(_planned("choosing", max_items=2), (4,), (5,)),
        of_counts(_planned("exponential", delta="0", universe=declared), (7, 5, 5), (7, 6, 6)),
        of_counts(_planned("permute-and-flip", delta="0", universe=declared), (11, 11, 5), (12, 11, 6)),
        of_counts(_planned("report-noisy-max", delta="0", universe=declared), (11, 11, 5), (12, 11, 6)),
        of_counts(_planned("max-of-laplaces", delta="0", universe=declared), (5, 5, 5), (6, 6, 5)),
        _anonymous_names(),
        _items_first("peel"),
        _items_first("counts"),
        _look_first(),
        _weighted_gaussian(),
    )


def _published() -> Case:
    """The published large margin mechanism, its search cut short by its public cap: in full it takes long."""
    plan = _planned("lmm-paper")
    if not isinstance(plan.mechanism, PublishedLargeMargin):
        raise AssertionError("the published mechanism was planned")
    plan = replace(plan, mechanism=replace(plan.mechanism, max_candidates=_PUBLISHED_CAP))
    case = of_counts(plan, (_PUBLISHED_COUNT,), (_PUBLISHED_COUNT + 1,))
    return replace(
        case,
        name=f"lmm-paper, cap {_PUBLISHED_CAP}",
        seen=lambda release: bool(release.itemsets),
        event="the only item is named",
        by_command=False,
    )


def _anonymous_names() -> Case:
    """The program is told how many items can occur at most: two items occur, and a third does not."""
    plan = _planned("exponential", universe=Universe(items=3))
    return replace(of_counts(plan, (16, 15, 0), (17, 15, 0)), name="exponential, anonymous names")


def _items_first(select: str) -> Case:
    """Four items that everybody has and one unit more: the sum of their noisy counts above a cut."""
    everybody, items = 60, NAMES[:4]
    plan = _planned("items-first", select=select, top=4)
    if not isinstance(plan.mechanism, ItemsFirst):
        raise AssertionError("items-first was planned")
    # The sum's mean on the larger side and a deviation more: there the ratio is large, and hits are not rare.
    cut = 4 * (everybody + 1) + 2 * plan.mechanism.items.measurement.deviation

    def seen(release: Release) -> bool:
        return bool(sum(found.count for found in release.found or ()) > cut)

    return Case(
        name=f"items-first, {select}",
        plan=plan,
        units=[[items]] * everybody,
        more=[items],
        seen=seen,
        event=f"noisy counts of four items sum to more than {cut:.1f}",
    )


def _look_first() -> Case:
    """An item a little below the support with which picks name it, where the look leads either way; one more unit."""
    plan = _planned("look-first")
    if not isinstance(plan.mechanism, LookFirst):
        raise AssertionError("look-first was planned")
    return _of_one_item(plan, plan.mechanism.tipping_leads[0] - 4)


def _weighted_gaussian() -> Case:
    """An item whose weighted sum is a deviation of the noise below the threshold, and one more unit that has it."""
    plan = _planned("weighted-gaussian")
    if not isinstance(plan.mechanism, WeightedGaussian):
        raise AssertionError("weighted-gaussian was planned")
    histogram = plan.mechanism.measurement
    return _of_one_item(plan, round((plan.mechanism.threshold - math.sqrt(histogram.variance)) / histogram.resolution))


def _of_one_item(plan: Plan, everybody: int) -> Case:
    """One item that everybody has, and one unit more."""
    return Case(
        name=plan.mechanism_name,
        plan=plan,
        units=[[NAMES[:1]]] * everybody,
        more=[NAMES[:1]],
        seen=lambda release: bool(release.itemsets),
        event="the only item is named",
    )


def audit_end_to_end(
    progress: Progress = lambda _phase: None, *, runs: int = RUNS, by_command: int | None = 2
) -> tuple[Sampled, ...]:
    """Every case, then every broken twin; of the twins alone `mistake` is given.

    Args:
        progress: told the name of each case as it begins.
        runs: of either side of each case; twins show with a quarter of them.
        by_command: so many seeded runs of each case are compared with the command line. None compares no run.

    Cost: about a millisecond a release, five with noisy maxima, and most of a second a run of the command line.
    """
    results = []
    for case in cases():
        progress(case.name)
        results.append(sample(case, runs, by_command=by_command))
    return (*results, *audit_twins(progress, runs=max(600, runs // 4)))
