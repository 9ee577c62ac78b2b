"""Association rules in a terminal."""

from __future__ import annotations

import math

from fim_private.printable import printable
from fim_private.release import Release
from fim_private.release.release import SEEDED_NOTE
from fim_private.report.document.text import table, wrapped
from fim_private.report.remarks import cut_note, total_doubt
from fim_private.report.tables import JOINT
from fim_private.rules import AssociationRules, Rule
from fim_private.rules.rule import WITH_INTERVALS

INTERVALS = (
    "Brackets show intervals: over the noise, each holds the true value of its rule and measure with at least 95 % "
    "probability."
)
HINT = "To have the counts of all subsets, mine with --release-counts --with-subsets."
LEFT_OUT = "--keep left out the counts of itemsets that larger ones cover."
LESS_NOISE = "All subsets were counted, so only less noise helps: a larger --epsilon, or fewer itemsets (--top)."
FREE = "Rules are computed from the release alone, so they cost no privacy."


def no_rules(release: Release) -> str:
    """Why a release shows no rules."""
    if not release.itemsets:
        return "The release has no itemsets, so it has no rules."
    if all(len(itemset.items) == 1 for itemset in release.itemsets):
        return "The release has no itemsets of two items or more, so it has no rules."
    return "No rule reaches the thresholds."


def rules_table(found: AssociationRules, release: Release) -> str:
    """The rules with their measures and intervals, one line per rule. Measures that no rule has are left out."""
    marked = [f"*** {SEEDED_NOTE} ***"] if found.seeded else []
    if not found.rules:
        return "\n".join([*marked, no_rules(release)])
    head, rows = rules_rows(found)
    shown = [[printable(cell) for cell in row] for row in rows]
    return "\n".join([*marked, table(head, shown, right=[False, *(True for _ in head[1:])])])


def rules_rows(found: AssociationRules, *, arrow: str = "->") -> tuple[list[str], list[list[str]]]:
    """The head and a row for each rule. Measures that no rule has are left out."""
    given = [
        name
        for name in WITH_INTERVALS
        if name == "confidence"
        or any(rule.measures[name] is not None or rule.intervals[name] is not None for rule in found.rules)
    ]
    rows = [
        [
            f"{JOINT.join(rule.antecedents)} {arrow} {JOINT.join(rule.consequents)}",
            *(_cell(rule, name) for name in given),
            f"{rule.counts[2]:,}",
        ]
        for rule in found.rules
    ]
    return ["rule", *given, "count"], rows


def rules_remarks(found: AssociationRules, release: Release) -> list[str]:
    """What a reader of the table needs to know, as paragraphs."""
    remarks = [FREE]
    if any(interval is not None for rule in found.rules for interval in rule.intervals.values()):
        remarks[0] += f" {INTERVALS}"
    unknown = [rule for rule in found.rules if rule.measures["confidence"] is None]
    if unknown:
        remarks.append(
            f"The confidence of {len(unknown):,} of the {len(found.rules):,} rules is unknown: the count of their left "
            "side was not released or is 0. These rules are listed because they may reach the threshold."
        )
    if found.untold:
        remarks.append(
            f"Left out: {found.untold:,} rules of which the released counts say nothing. The count of their left side "
            "was not released or is all noise."
        )
    if unknown or found.untold:
        plan = release.terms.plan
        lacking = HINT if plan.keep is None else f"{LEFT_OUT} {HINT}"
        remarks[-1] += f" {lacking if plan.counts is None or not plan.counts.with_subsets else LESS_NOISE}"
    if any(rule.note and "number of transactions" in rule.note for rule in found.rules):
        remarks.append(
            "Lift, leverage and conviction need the number of transactions, which is private. If you may declare it "
            "public, mine with --public-transactions N."
        )
    if release.terms.plan.counts_units and any(
        (rule.measures["lift"], rule.intervals["lift"]) != (None, None) for rule in found.rules
    ):
        remarks.append(
            "Both sides of a rule count where they are in one basket, but each side by itself in any basket of a unit. "
            "So lift is below 1 for items that have nothing to do with each other, and leverage is below 0. Compare "
            "rules with each other, or mine with --together unit."
        )
    if release.found is not None and release.itemsets and all(i.count_low is None for i in release.itemsets):
        remarks.append("The counts of this release are rough, and so are the measures (see `fim-private show`).")
    remarks += [note for note in (cut_note(release), total_doubt(release)) if note is not None]
    return list(map(wrapped, remarks))


def _cell(rule: Rule, name: str) -> str:
    value, interval = rule.measures[name], rule.intervals[name]
    shown = "?" if value is None else _number(value)
    return shown if interval is None else f"{shown} [{_number(interval[0])}, {_number(interval[1])}]"


def _number(value: float) -> str:
    return "inf" if math.isinf(value) else f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
