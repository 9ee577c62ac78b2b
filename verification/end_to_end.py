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
from fim_private.plan import Plan, Universe
from fim_private.privacy import PrivacyUnit
from fim_private.release import Release
from verification.pipeline import (
    NAMES,
    RUNS,
    UNIT_COLUMN,
    Case,
    Progress,
    exact_epsilon,
    of_counts,
    parameters,
    planned,
    sample,
)
from verification.pipeline_twins import audit_twins
from verification.sampling import Sampled

_PUBLISHED_CAP, _PUBLISHED_COUNT = 8, 80
"""At this count the published mechanism names a single item now and then, at the plan here."""


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
    plan = planned(row.name, universe=universe, max_items=2 if row.needs_cap else None)
    pairs = [((count,) * heads, (count + 1, *(count,) * (heads - 1))) for count in range(1, 40, 3) for heads in (1, 2)]
    return max((of_counts(plan, *pair) for pair in pairs), key=lambda case: exact_epsilon(case, RUNS))


def _cases() -> tuple[Case, ...]:
    declared = Universe(names=NAMES[:3])
    customers = PrivacyUnit(column=UNIT_COLUMN)
    several = PrivacyUnit(column=UNIT_COLUMN, max_transactions=2)
    return (
        of_counts(planned("lmm"), (8, 8), (9, 8)),
        of_counts(planned("lmm-repeat"), (26, 24), (26, 25)),
        _published(),
        of_counts(planned("limited-domain"), (6, 6), (7, 7)),
        of_counts(planned("limited-domain", unit=customers, together="unit"), (6, 6), (7, 7)),
        of_counts(
            planned("limited-domain", size=2, unit=customers, constraints=Constraints(must_contain=["m"])),
            (6, 6),
            (7, 7),
        ),
        of_counts(planned("limited-domain", unit=several), (12, 12), (14, 14)),
        of_counts(
            planned("limited-domain", size=2, unit=several, constraints=Constraints(must_contain=["m"])),
            (12, 12),
            (14, 14),
        ),
        of_counts(planned("stable-max"), (3,), (4,)),
        of_counts(planned("choosing", max_items=2), (4,), (5,)),
        of_counts(planned("exponential", delta="0", universe=declared), (7, 5, 5), (7, 6, 6)),
        of_counts(planned("permute-and-flip", delta="0", universe=declared), (11, 11, 5), (12, 11, 6)),
        of_counts(planned("report-noisy-max", delta="0", universe=declared), (11, 11, 5), (12, 11, 6)),
        of_counts(planned("max-of-laplaces", delta="0", universe=declared), (5, 5, 5), (6, 6, 5)),
        _anonymous_names(),
        _items_first("peel"),
        _items_first("counts"),
        _look_first(),
        _weighted_gaussian(),
    )


def _published() -> Case:
    """The published large margin mechanism, its search cut short by its public cap: in full it takes long."""
    plan = planned("lmm-paper")
    plan = replace(plan, mechanism=replace(parameters(plan, PublishedLargeMargin), max_candidates=_PUBLISHED_CAP))
    return replace(
        of_counts(plan, (_PUBLISHED_COUNT,), (_PUBLISHED_COUNT + 1,)),
        name=f"lmm-paper, cap {_PUBLISHED_CAP}",
        seen=_names_something,
        by_command=False,
    )


def _anonymous_names() -> Case:
    """The program is told how many items can occur at most: two items occur, and a third does not."""
    plan = planned("exponential", universe=Universe(items=3))
    return replace(of_counts(plan, (16, 15, 0), (17, 15, 0)), name="exponential, anonymous names")


def _items_first(select: str) -> Case:
    """Four items that everybody has and one unit more: the sum of their noisy counts above a cut."""
    everybody, items = 60, NAMES[:4]
    plan = planned("items-first", select=select, top=4)
    # The sum's mean on the larger side and a deviation more: there the ratio is large, and hits are not rare.
    cut = 4 * (everybody + 1) + 2 * parameters(plan, ItemsFirst).items.measurement.deviation

    def seen(release: Release) -> bool:
        return bool(sum(found.count for found in release.found or ()) > cut)

    return Case(name=f"items-first, {select}", plan=plan, units=[[items]] * everybody, more=[items], seen=seen)


def _look_first() -> Case:
    """An item a little below the support with which picks name it, where the look leads either way; one more unit."""
    plan = planned("look-first")
    return _of_one_item(plan, parameters(plan, LookFirst).tipping_leads[0] - 4)


def _weighted_gaussian() -> Case:
    """An item whose weighted sum is a deviation of the noise below the threshold, and one more unit that has it."""
    plan = planned("weighted-gaussian")
    mechanism = parameters(plan, WeightedGaussian)
    histogram = mechanism.measurement
    return _of_one_item(plan, round((mechanism.threshold - math.sqrt(histogram.variance)) / histogram.resolution))


def _of_one_item(plan: Plan, everybody: int) -> Case:
    """One item that everybody has, and one unit more."""
    item = [NAMES[:1]]
    return Case(name=plan.mechanism_name, plan=plan, units=[item] * everybody, more=item, seen=_names_something)


def _names_something(release: Release) -> bool:
    return bool(release.itemsets)


def audit_end_to_end(progress: Progress) -> tuple[Sampled, ...]:
    """Every case, then every broken twin; of the twins alone `mistake` is given. Twins show with a quarter of the runs.

    Two seeded runs of each case are compared with the command line.

    Cost: about a millisecond a release, five with noisy maxima, and most of a second a run of the command line.
    """
    results = []
    for case in cases():
        progress(case.name)
        results.append(sample(case, RUNS, by_command=2))
    return (*results, *audit_twins(progress, runs=max(600, RUNS // 4)))
