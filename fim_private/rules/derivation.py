"""Derive the association rules of a release from its counts."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterator
from numbers import Real

from fim_private.errors import UsageError
from fim_private.release import Release, ReleasedItemset
from fim_private.rules.measures import confidence_interval, measures, relative_intervals
from fim_private.rules.released_counts import Items, ReleasedCounts
from fim_private.rules.rule import WITH_INTERVALS, AssociationRules, Interval, Rule

NEED_TOTAL = ("lift", "leverage", "conviction")
SORTS = ("confidence", *NEED_TOTAL, "count")
"""What rules can be ordered by."""
NO_COUNTS = "no count of the {} was released"
NO_TOTAL = "the number of transactions is not public"
ZERO = "the count of the {} is 0"


def association_rules(
    release: Release,
    *,
    min_confidence: float = 0.5,
    min_lift: float | None = None,
    lhs: Collection[str] = (),
    rhs: Collection[str] = (),
    sort: str = "confidence",
) -> AssociationRules:
    """The rules that released counts give. This costs no privacy, because it looks at the release only.

    Each released itemset with a count gives a rule for every way to split it into antecedent and consequent. A measure
    is None if the release lacks a count that it needs. All measures but confidence, Jaccard and Kulczynski also need
    the number of transactions, which is private unless it was declared public. A rule whose confidence (or lift) is
    unknown is kept if it may reach the threshold, as far as the counts of larger and smaller itemsets tell. `telling()`
    leaves it out if they tell nothing.

    An interval is for one measure of one rule: it holds the true value with probability 95 % over the noise of the
    release (`released_counts.py` gives the argument). The intervals do not all hold together with this probability.

    Args:
        release: a release with counts.
        min_confidence: from 0 to 1.
        min_lift: at least 0; needs the number of transactions.
        lhs: only rules whose antecedent holds all these items.
        rhs: only rules whose consequent holds all these items.
        sort: the measure that orders the rules (`SORTS`), the largest first.

    Raises:
        UsageError: a threshold is out of range, there is no such order, the release has no counts, or the minimum
            lift or the order was asked for without the number of transactions.
    """
    if not isinstance(release, Release):
        raise UsageError("Rules are made of a release.", "Give what mine or read_release returns.")
    if not _up_to(1, min_confidence):
        raise UsageError("The minimum confidence is out of range.", "Choose a number from 0 to 1.")
    if min_lift is not None and not _up_to(sys.float_info.max, min_lift):
        raise UsageError("The minimum lift is out of range.", "Choose a number of at least 0, such as 1.")
    if sort not in SORTS:
        raise UsageError("There is no such order of rules.", f"Choose one of {', '.join(SORTS)}.")
    for side in (lhs, rhs):
        if isinstance(side, str) or not isinstance(side, Collection):
            raise UsageError("A side of a rule is a list of items.", 'Write ["milk"].')
    counted = ReleasedCounts(release)
    if release.itemsets and all(line.count is None for line in release.itemsets):
        raise UsageError(
            "Rules need counts of the itemsets, and this release has none.",
            "Run `fim-private mine` with --release-counts or --min-count. That is another release, with its own cost.",
        )
    measure, asked = ("lift", "minimum lift") if min_lift is not None else (sort, "order")
    if measure in NEED_TOTAL and counted.total is None:
        raise UsageError(
            f"{measure.capitalize()} needs the number of transactions, which is private unless it was declared public.",
            f"Leave out the {asked}, or release with --public-transactions.",
        )
    found = [
        rule
        for rule in _rules(counted)
        if set(lhs) <= set(rule.antecedents)
        and set(rhs) <= set(rule.consequents)
        and _reaches(rule, min_confidence, min_lift)
    ]
    found.sort(key=lambda rule: (-_known(rule, sort), -_known(rule, "confidence"), rule.rank))
    return AssociationRules(rules=tuple(found), seeded=release.seeded)


def _up_to(most: float, value: object) -> bool:
    """Whether this is a number from 0 to this one."""
    return isinstance(value, Real) and 0 <= float(value) <= most


def _rules(counted: ReleasedCounts) -> Iterator[Rule]:
    for items, line in counted.lines.items():
        for antecedents in counted.parts(items):
            yield _rule(counted, line, antecedents, items - antecedents)


def _rule(counted: ReleasedCounts, line: ReleasedItemset, antecedents: Items, consequents: Items) -> Rule:
    both = line.count or 0
    antecedent, consequent = counted.count(antecedents), counted.count(consequents)
    return Rule(
        antecedents=tuple(item for item in line.items if item in antecedents),
        consequents=tuple(item for item in line.items if item in consequents),
        rank=line.rank,
        counts=(antecedent, consequent, both),
        measures=measures(both, antecedent, consequent, counted.total),
        intervals=_intervals(counted, frozenset(line.items), antecedents, consequents),
        note="; ".join(_gaps(antecedent, consequent, counted.total)) or None,
    )


def _intervals(
    counted: ReleasedCounts, both: Items, antecedents: Items, consequents: Items
) -> dict[str, Interval | None]:
    found: dict[str, Interval | None] = dict.fromkeys(WITH_INTERVALS)
    two = counted.together(both, antecedents)
    if two is not None:
        found["confidence"] = confidence_interval(*two)
    three = counted.together(both, antecedents, consequents)
    if three is not None and counted.total is not None:
        together, antecedent, consequent = three
        found |= relative_intervals(
            together, antecedent, consequent, counted.total, in_one_basket=counted.in_one_basket
        )
    return found


def _gaps(antecedent: int | None, consequent: int | None, total: int | None) -> Iterator[str]:
    """The reasons why measures are missing."""
    for name, count in (("antecedent", antecedent), ("consequent", consequent)):
        if count is None:
            yield NO_COUNTS.format(name)
        elif count <= 0:
            yield ZERO.format(name)
    if total is None:
        yield NO_TOTAL


def _reaches(rule: Rule, min_confidence: float, min_lift: float | None) -> bool:
    """Whether the rule's measures reach the thresholds, or may reach them if they are unknown."""

    def reaches(name: str, least: float) -> bool:
        value, interval = rule.measures[name], rule.intervals[name]
        if value is None:
            return interval is None or interval[1] >= least
        return value >= least

    return reaches("confidence", min_confidence) and (min_lift is None or reaches("lift", min_lift))


def _known(rule: Rule, name: str) -> float:
    value = rule.counts[2] if name == "count" else rule.measures[name]
    return -math.inf if value is None else value
