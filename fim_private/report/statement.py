"""The promise in words: what is protected, how much, by what, and what is not. From the plan and the release alone."""

from __future__ import annotations

import math
import textwrap
from fractions import Fraction

from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.protocol import Spending
from fim_private.mechanisms.registry import find
from fim_private.plan import Plan
from fim_private.privacy import ApproxDP, Guarantee, NeighbouringRelation, PureDP
from fim_private.release import Release
from fim_private.release.record import SEEDED_NOTE


def number(value: Fraction | float) -> str:
    """A number as people write it: 1, 0.25, 1e-6.

    >>> number(Fraction(1, 10**6)), number(Fraction(1)), number(0.120880304)
    ('1e-6', '1', '0.1209')
    """
    return f"{float(value):.4g}".replace("e-0", "e-").replace("e+0", "e")


def promise(plan: Plan, *, seeded: bool) -> str:
    """What is protected, how much, by what, and what is not; a paragraph each."""
    epsilon = float(plan.budget.epsilon)
    unit = plan.unit.describe()
    if plan.relation is NeighbouringRelation.ADD_REMOVE:
        event = "whether it is in the data, and what it holds"
        guess = "whether one unit is in the data"
    else:
        event = "what it holds (that it is in the data is not hidden)"
        guess = "which of two versions of one unit is in the data"
    failing = f"but for a chance of {number(plan.budget.delta)}" if plan.budget.delta else "without exception"
    odds = 100 / (1 + math.exp(-epsilon))
    row = find(plan.mechanism_name)
    source = "a SEED: this output is NOT private" if seeded else "the operating system's secure source"
    owners = "" if plan.unit.column else ", who may own several transactions (see --unit-column)"
    paragraphs = [
        f"Protected is {unit}: {event}.",
        f"How much: epsilon {number(plan.budget.epsilon)}, delta {number(plan.budget.delta)}. One unit makes no answer "
        f"more than {math.exp(epsilon):.3g} times likelier or less likely, {failing}. Somebody to whom it is a toss of "
        f"a coin {guess} will be at most {odds:.{3 if odds < 99.9 else 7}g} % sure after seeing the answer.",
        f"By what: {row.summary} ({row.source}). Noise is drawn exactly, not in floating point, from {source}.",
        "Not protected: what is true of many (that is the point of publishing); other units of the same person"
        f"{owners}; a second release of the same data, whose cost adds to this one's; running time, memory, and "
        "whether the data could be read and counted at all (--max-items bounds the work).",
    ]
    if plan.takes_names_as_public:
        paragraphs.append(
            "Taken as public: the names of the items that occur, and that they are no more than declared, since only "
            "their number was. Give --universe-file for a promise without these conditions."
        )
    if seeded:
        paragraphs.append(f"WARNING: {SEEDED_NOTE}.")
    return wrapped(paragraphs)


def tuning_note(guarantee: Guarantee, run: PureDP | ApproxDP, theorem: str, number_of_candidates: int) -> str:
    """What choosing among configurations costs, and why."""
    each = f"epsilon {number(run.epsilon)}" + (f", delta {number(run.delta)}" if isinstance(run, ApproxDP) else "")
    return wrapped(
        [
            f"Chosen among {number_of_candidates} configurations. A run of any of them, its score included, costs "
            f"{each}; everything together, however many runs there were, epsilon {number(guarantee.epsilon)}, delta "
            f"{number(guarantee.delta)}: {theorem} of Liu and Talwar 2019."
        ]
    )


def shortfall(plan: Plan, release: Release) -> str | None:
    """Why fewer itemsets were named than asked for, and what would help; None where the list is full."""
    named = len(release.itemsets)
    if named == plan.top or plan.min_count is not None:
        return None
    what = "No itemset was named" if not named else f"Only {named} of {plan.top} itemsets were named"
    paragraphs = [
        f"{what}: the lead that this budget asks for was not found. Nothing went wrong, and the budget is spent.",
        f"{plan.mechanism_name} {margin_sentence(plan)}.",
        "What helps: more data, a larger --epsilon, fewer itemsets (--top), a smaller --size, a larger --delta. "
        "`fim-private plan` shows the lead for any choice, without touching the data.",
    ]
    return wrapped(paragraphs)


def found_note(plan: Plan, release: Release) -> str | None:
    """What was released beside the itemsets, and what its counts mean; None where there is nothing to say."""
    mechanism = plan.mechanism
    if release.found is None or not isinstance(mechanism, ItemsFirst):
        return None
    number = f"{len(release.found):,}"
    note = f"Items found to be frequent: {number}; they and their noisy counts are part of the release (JSON)."
    if mechanism.itemsets is not None:
        off = f"{mechanism.itemsets.deviation:,.0f}"
        note += (
            f" Counts are estimates, off by about {off} transactions or less; a "
            f"transaction that holds more than {mechanism.itemsets.full:,} of the itemsets counts less than 1, so "
            "counts are rather too low."
        )
    return wrapped([note])


def plan_text(plan: Plan) -> str:
    """One mechanism's plan in words: what is spent where, the composition, the margin."""
    paragraphs = [f"{plan.mechanism_name}: {find(plan.mechanism_name).summary}"]
    if plan.why:
        paragraphs.append(f"  {plan.why}")
    for line in plan.mechanism.spending:
        times = f" each, {line.times:,} times" if line.times > 1 else ""
        paragraphs.append(f"  {line.what}: {_cost(line)}{times}")
    paragraphs.append(
        f"  together at most epsilon {number(plan.budget.epsilon)}, delta {number(plan.budget.delta)} "
        f"({plan.guarantee.composition} composition, {plan.relation} neighbours)"
    )
    if plan.mechanism.failure:
        paragraphs.append(
            f"  of delta, {number(plan.mechanism.failure)} is set aside for a wrong certificate, stop or find"
        )
    paragraphs.append(f"  {margin_sentence(plan)}")
    return wrapped(paragraphs, indent="    ")


def _cost(line: Spending) -> str:
    if line.epsilon is not None:
        return f"epsilon {number(line.epsilon)}"
    return f"rho {number(line.rho or 0)} (zero-concentrated privacy, composed into epsilon below)"


def margin_sentence(plan: Plan) -> str:
    """The lead the mechanism needs, and its fallback's."""
    leads = "; or of ".join(f"about {margin.counts:,} transactions {margin.words}" for margin in plan.mechanism.margins)
    return f"needs a lead, to answer 19 times in 20, of {leads}"


def wrapped(paragraphs: list[str], *, indent: str = "") -> str:
    """Each paragraph on lines of at most 100 letters; `indent` is put before all but its first line."""
    return "\n".join(
        textwrap.fill(paragraph, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        for paragraph in paragraphs
    )
