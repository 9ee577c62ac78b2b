"""An audit in words and as a record: what is claimed, what was found, and for which neighbours."""

from __future__ import annotations

import math
from typing import Any

from fim_private.audit.laws import NUMERICAL_ERROR
from fim_private.audit.neighbours import Neighbours
from fim_private.audit.one_unit_more import Unit
from fim_private.audit.verdict import LOOSE, LargestDelta, Verdict
from fim_private.privacy import NeighbouringRelation
from fim_private.report.document.text import number, table, wrapped

_MANY = 999.5
"""From here on three digits would need an exponent."""


def verdict_text(verdict: Verdict) -> str:
    """The audit for a terminal."""
    plan = verdict.plan
    rows = [
        [number(epsilon), delta_text(claimed), delta_text(found.delta), ratio_text(claimed, found.delta)]
        for epsilon, claimed, found in zip(verdict.epsilons, verdict.claimed, verdict.found, strict=True)
    ]
    blocks = [
        table(["epsilon", "delta claimed", "delta found", "claimed / found"], rows, right=[True] * 4),
        wrapped(conclusion(verdict)),
    ]
    hardest = verdict.found[-1]
    if hardest.neighbours is not None:
        blocks.append(
            f"The hardest neighbours at epsilon {number(verdict.epsilons[-1])}:\n{picture(hardest, plan.relation)}"
        )
    if verdict.twins:
        lines = [
            [twin.name, delta_text(twin.found.delta), "caught" if twin.caught else "NOT CAUGHT"]
            for twin in verdict.twins
        ]
        blocks.append(
            "Broken twins: each has a mistake made on purpose, and the same search must refute the same claim:\n"
            + table(["mistake", "delta found", ""], lines, right=[False, True, False])
        )
        first = verdict.twins[0]
        blocks.append(
            wrapped(f"The first twin in full: {first.mistake}. The search found these neighbours:")
            + f"\n{picture(first.found, plan.relation)}"
        )
    if verdict.changed:
        blocks.append(wrapped(f"Made smaller for the audit: {verdict.changed}."))
    return "\n\n".join(blocks)


def conclusion(verdict: Verdict) -> str:
    """Whether the claim holds, and how loose it is."""
    compared = (
        "all neighbours compared"
        if verdict.compared is None
        else f"all {verdict.compared:,} pairs of neighbours compared"
    )
    if not verdict.holds:
        return f"THE CLAIM IS BROKEN: there are neighbours whose laws differ by more than is claimed ({compared})."
    text = (
        f"The claim holds for {compared}, by exact laws (error below {number(NUMERICAL_ERROR)}). Nothing was sampled."
    )
    slack = verdict.slack
    if slack == math.inf:
        text += " Nothing was found at the claimed epsilon. The claim is loose: a sharper proof could save noise."
    elif slack > LOOSE:
        text += (
            f" The claimed delta is {times(slack)} times the delta found. The claim is loose: a sharper proof could "
            "save noise."
        )
    elif verdict.claimed[-1] == 0:
        text += (
            " The claim has delta 0, so there is nothing to compare at its own epsilon. The rows above show how close "
            "it is."
        )
    elif times(slack) == "1":
        text += " The delta found is the claimed delta, so hardly any noise could be saved."
    else:
        text += f" The claimed delta is {times(slack)} times the delta found, so little noise could be saved."
    return text


def picture(found: LargestDelta, relation: NeighbouringRelation) -> str:
    """The neighbours as a table, one line per group of itemsets."""
    if isinstance(found.neighbours, Unit):
        return f"  {unit_sentence(found.neighbours)}"
    if found.neighbours is None:
        return "  (none)"
    what = "with one unit more or less" if relation is NeighbouringRelation.ADD_REMOVE else "with one unit exchanged"
    rows = [[f"{count:,}", f"{here:,}", f"{there:,}"] for count, here, there in groups_of(found.neighbours)]
    lines = table(["itemsets", "count", what], rows, right=[True] * 3).splitlines()
    if found.neighbours.ties_flipped:
        lines.append("(in the neighbour, itemsets with equal counts are ranked in the opposite order)")
    return "\n".join(f"  {line}" for line in lines)


def groups_of(neighbours: Neighbours) -> list[tuple[int, int, int]]:
    """(number of itemsets, count, count in the neighbour), largest counts first; equal groups are joined."""
    tally: dict[tuple[int, int], int] = {}
    for group in neighbours.groups:
        tally[group.here, group.there] = tally.get((group.here, group.there), 0) + group.number
    return [(tally[counts], *counts) for counts in sorted(tally, reverse=True)]


def sentence(found: LargestDelta) -> str:
    """The neighbours in one line, for tables."""
    if found.neighbours is None:
        return "none"
    if isinstance(found.neighbours, Unit):
        return unit_sentence(found.neighbours)
    parts = [
        f"{number_:,} of count {here:,}" + ("" if here == there else f" against {there:,}")
        for number_, here, there in groups_of(found.neighbours)
    ]
    return "; ".join(parts)


def unit_sentence(unit: Unit) -> str:
    """What the additional unit holds."""

    def what(number_: int) -> str:
        return f"{number_:,} {unit.of.removesuffix('s') if number_ == 1 else unit.of}"

    held = []
    if unit.common:
        held.append(f"{what(unit.common)} that everybody has")
    if unit.own:
        held.append(f"{f'{unit.own:,}' if held else what(unit.own)} that nobody else has")
    return f"one unit more, which holds {' and '.join(held)}" if held else "none"


def delta_text(delta: float) -> str:
    """A delta with two digits; 0 if it is smaller than the numerical error."""
    return "0" if delta < NUMERICAL_ERROR else number(float(f"{delta:.2g}"))


def ratio_text(claimed: float, found: float) -> str:
    """The claimed delta divided by the delta found."""
    if found < NUMERICAL_ERROR:
        return "–"
    return times(claimed / found)


def times(ratio: float) -> str:
    """How many times, with three digits or all of a whole number.

    >>> times(1.0), times(4.556), times(1017.6)
    ('1', '4.56', '1,018')
    """
    return f"{ratio:,.0f}" if ratio >= _MANY else f"{ratio:.3g}"


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """The audit as a record for JSON."""
    plan = verdict.plan
    return {
        "mechanism": plan.mechanism_name,
        "top": plan.top,
        "relation": str(plan.relation),
        "sensitivity": plan.unit.sensitivity,
        "holds": verdict.holds,
        "claimed_over_found": None if math.isinf(verdict.slack) else verdict.slack,
        "profile": [
            {"epsilon": epsilon, "claimed": claimed, "found": found.delta, "neighbours": _neighbours_record(found)}
            for epsilon, claimed, found in zip(verdict.epsilons, verdict.claimed, verdict.found, strict=True)
        ],
        "compared": verdict.compared,
        "twins": [
            {
                "name": twin.name,
                "mistake": twin.mistake,
                "found": twin.found.delta,
                "caught": twin.caught,
                "neighbours": _neighbours_record(twin.found),
            }
            for twin in verdict.twins
        ],
        "changed_for_the_audit": verdict.changed,
        "numerical_error": NUMERICAL_ERROR,
    }


def _neighbours_record(found: LargestDelta) -> Any:
    neighbours = found.neighbours
    if neighbours is None:
        return None
    if isinstance(neighbours, Unit):
        return {f"common_{neighbours.of}": neighbours.common, f"own_{neighbours.of}": neighbours.own}
    return [
        {"itemsets": number_, "count": here, "other_count": there} for number_, here, there in groups_of(neighbours)
    ]
