"""What the reader of a release needs to know beside its promise: what its counts mean, and why a list is short."""

from __future__ import annotations

import math
from dataclasses import replace

from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import BY_LEVERAGE, COUNTS
from fim_private.mechanisms.registry import find
from fim_private.plan import Plan
from fim_private.privacy import ApproxDP, Guarantee, PureDP
from fim_private.release import Release, ReleasedItemset
from fim_private.release.filters import COVERS
from fim_private.report.document.text import wrapped
from fim_private.report.plan_text import items_counted, margin_sentence, proved, support_needed, ways_to_find_items
from fim_private.report.promise_text import bounded, what_counts

NEARLY_ALL = 0.8
"""A list with this share of all itemsets of its items says little of which of them are frequent."""
MANY_ITEMS = 5
"""Itemsets of this many frequent items are often rare."""
_RANDOM = (
    "If no itemset stands out in the data, the list is a random choice, and part of it may be in no basket: "
    "--release-counts shows how often each occurs."
)


def counts_note(release: Release) -> str | None:
    """What the counts of a release mean; None where it has none."""
    if all(itemset.count is None for itemset in release.itemsets):
        return None
    note = "Counts are estimates: noise was added to them, which is part of the protection."
    if any(itemset.count_low is not None for itemset in release.itemsets):
        note += " Each interval held the true count with 95 % chance when the noise was drawn."
        note += f" {cut}" if (cut := cut_note(release)) else ""
    elif release.found is not None:
        note += " Long transactions count less, and all counts are raised for it by the same factor."
    doubt = total_doubt(release)
    return note if doubt is None else f"{note} {doubt}"


def keep_note(release: Release) -> str | None:
    """Which itemsets a filter left out; None if there was no filter, or none that is known."""
    keep = release.terms.plan.keep
    if keep not in COVERS or not release.itemsets:
        return None
    contained = f"an itemset was left out if a larger one of the answer contains it{COVERS[keep]}"
    return f"Only {keep} itemsets are listed: {contained}."


def cut_note(release: Release) -> str | None:
    """What was left out before counting, so that counts and rules are of the rest; None if nothing was."""
    plan = release.terms.plan
    if plan.max_items is None and plan.max_transactions is None:
        return None
    return f"Counts, and rules made of them, are of what was left{bounded(plan)}: of all data they would be larger."


def total_doubt(release: Release) -> str | None:
    """A warning if the released counts contradict the declared number of transactions; None if they do not."""
    total = release.terms.privacy.public_transactions
    counted = [itemset for itemset in (*release.itemsets, *release.subsets) if itemset.count is not None]
    if total is None or max(map(_surely, counted), default=0) <= total:
        return None
    counts = what_counts(release.terms.plan)
    return (
        f"WARNING: the number of {counts} was declared as {total:,}, but released counts are larger, by more than "
        "their noise explains. Supports, and measures of rules, are wrong unless --public-transactions is the number "
        f"of {counts}."
    )


def _surely(itemset: ReleasedItemset) -> int:
    """A number that the true count hardly ever falls below, also in a long list.

    Of a hundred 95 % intervals some lie above their counts. Hardly any does that is three times as wide. Where the
    noise of a count is unknown, it is taken for half of the count.
    """
    if itemset.count_low is None or itemset.count_high is None:
        return (itemset.count or 0) // 2
    return itemset.count_low - (itemset.count_high - itemset.count_low)


def shortfall(plan: Plan, release: Release) -> str | None:
    """Why fewer itemsets were named than asked for, and what would help; None where the list is full."""
    named = len(release.itemsets)
    asked, least = plan.mechanism.top, plan.question.min_count
    if least is not None and named == asked:
        return wrapped(f"The list ends at {named:,} itemsets. More may exceed {least:,}: give a larger --top.")
    if least is not None and not named:
        why, needed = f"No itemset was found whose noisy count exceeds {least:,}.", support_needed(plan)
        if needed is None or needed < least:
            shares = " or --min-support" if plan.question.public_transactions is not None else ""
            smaller = f"a smaller --min-count{shares}, "
        else:
            smaller, why = "", f"{why} An item must be in about {needed:,} {items_counted(plan)} to be named."
        return wrapped(f"{why} What helps: {smaller}more data, a larger --epsilon{_smaller(plan)}.")
    if named == asked or least is not None:
        return None
    what, missing = "", "no itemset was clear enough to name"
    if named:
        what, missing = f"Only {named} of {asked} itemsets could be named. ", "the rest was not clear enough to name"
        if plan.universe.has_list:  # nothing is tested then, so what is named need not be clear
            missing = "too few items stood out to make more"
    return wrapped(
        f"{what}The run worked, but {missing}. The budget is spent."
        + (" What is named may be wrong too." if named else ""),
        f"{plan.mechanism_name} {margin_sentence(plan, in_full=False)}.",
        f"What helps: more data, a larger --epsilon{_fewer(plan)}{_smaller(plan)}, a larger --delta"
        f"{_catalogue(plan)}{_cap(plan)}. `fim-private plan` shows the lead for any choice, without touching the data. "
        "With --about it says how many itemsets to ask for.",
    )


def _fewer(plan: Plan) -> str:
    """What helps too, unless a single itemset is asked for."""
    return "" if plan.top == 1 else ", fewer itemsets (--top)"


def _smaller(plan: Plan) -> str:
    """What helps too, unless an itemset has one item beside those that it must contain."""
    if max(plan.sizes) - len(plan.constraints.must_contain) == 1:
        return ""
    return ", a smaller --size" if len(plan.sizes) == 1 else ", smaller --sizes"


def _catalogue(plan: Plan) -> str:
    """What often helps too, unless the plan has it."""
    return (
        "" if plan.universe.has_list else "; often a public list of your items, such as a catalogue (--universe-file)"
    )


def _cap(plan: Plan) -> str:
    """What helps where units or long transactions are cut."""
    several = plan.unit.max_transactions not in (None, 1)
    fewer = "; a smaller --max-transactions, or none, since it multiplies the noise" if several else ""
    return fewer + ("" if plan.max_items is None else "; a larger --max-items, or none")


def found_note(plan: Plan, release: Release) -> str | None:
    """What was released beside the itemsets, and what its counts mean; None where there is nothing to say."""
    searches = ways_to_find_items(plan)
    if not release.found or not searches:
        untested = _picks_from_list(plan) and all(itemset.count is None for itemset in release.itemsets)
        return wrapped(f"Names of your list need no test. {_RANDOM}") if untested and release.itemsets else None
    number = f"{len(release.found):,}"
    note = f"Items of these itemsets: {number}. Their noisy counts are part of the release (JSON)."
    possible = sum(math.comb(len(release.found), size) for size in plan.sizes)
    of_items = " A test showed that each of these items is frequent enough to be named. It did not test the itemsets."
    of_items = of_items if plan.universe.names is None else " Names of your list need no test."
    read_off = [measured for search in searches if (measured := _measured(search, release)) is not None]
    off = 2 * max((measured.deviation for measured in read_off), default=math.inf)
    doubtful = any(_may_be_in_no_basket(itemset, off) for itemset in release.itemsets)
    if doubtful and max(plan.sizes) > 1 and len(release.itemsets) > NEARLY_ALL * possible:
        note += (
            f"{of_items} The list has nearly all itemsets of so few items, so some of them may be in no basket. A "
            "smaller --top is more reliable."
        )
    elif doubtful and max(plan.sizes) >= MANY_ITEMS:
        note += f"{of_items} So large itemsets may be in no basket: a smaller --size is more reliable."
    elif doubtful and max(plan.sizes) > 1 and all(itemset.count is None for itemset in release.itemsets):
        note += f"{of_items} {_RANDOM}"
    if plan.constraints.must_contain:
        note += " Their counts cover only transactions that hold all items of --must-contain."
    has_counts = any(itemset.count is not None for itemset in release.itemsets)
    if read_off and plan.counts is None and (has_counts or plan.gives_counts):
        full = min(measured.full for measured in read_off)
        hardly = sum(itemset.count is not None and itemset.count < off for itemset in release.itemsets)
        note += (
            f" Counts are rough. Their noise is usually at most about {off:,.0f} {plan.question.counted}."
            + (f" {hardly:,} of the counts are smaller than that: perhaps nobody has these itemsets." if hardly else "")
            + f" {'A unit' if plan.question.counts_units else 'A transaction'} that holds more than "
            f"{full:,} of the itemsets counts as less than 1. To make up for "
            "this, all counts are raised by the same factor. So counts of itemsets in long transactions tend to be too "
            "low, and other counts too high: by half or more if most transactions hold that many. Where counts are "
            f"large, the noise and the number {full:,} may be several times as large. --release-counts with a small "
            "--top counts what was named, with intervals."
        )
    return wrapped(note)


def _picks_from_list(plan: Plan) -> bool:
    """Whether an answer without counts and found items consists of picks that no test follows."""
    ways = (
        isinstance(search, ItemsFirst) or (isinstance(search, LookFirst) and search.test_delta is None)
        for _, search in plan.selections
    )
    return plan.universe.has_list and (find(plan.mechanism_name).chooses_from_list or any(ways))


def _measured(search: ItemsFirst, release: Release) -> Measurement | None:
    """How a search usually counts what it names, also one that usually picks, if it has counted here; None if not."""
    rough = {len(each.items) for each in release.itemsets if each.count is not None and each.count_low is None}
    usual = search.usual_way.usual.itemsets
    return (
        replace(search, select=COUNTS).usual_way.usual.itemsets if usual is None and rough & {*search.sizes} else usual
    )


def _may_be_in_no_basket(itemset: ReleasedItemset, off: float) -> bool:
    """Whether its count, if there is one, may be all noise; `off` is the most noise of a count without an interval."""
    if itemset.count is None:
        return True
    return (itemset.count - off if itemset.count_low is None else itemset.count_low) <= 0


def rules_note(plan: Plan, release: Release, *, left_out: bool) -> str | None:
    """What rules will lack, while there is still something to decide; None if they lack nothing, or nobody asked.

    The release has all itemsets; `left_out` says whether --keep left out some of them.
    """
    question = plan.question
    if not release.itemsets or max(plan.sizes) == 1 or question.tells_leverage:
        return None
    if question.by == BY_LEVERAGE:
        counts = "" if question.count_share else "--release-counts "
        return wrapped(
            "Leverage and lift follow from counts and from the number of transactions: add "
            f"{counts}--public-transactions N."
        )
    if not plan.gives_counts or question.with_subsets:
        return None
    lacks = "which this release lacks"
    if set(range(1, max(plan.sizes))) <= set(plan.sizes):
        if not left_out:
            return None
        lacks = "and --keep left out some of them"
    few = "" if question.min_count is None else "--top K "
    return wrapped(
        f"Rules need the counts of smaller itemsets too, {lacks}: `fim-private rules` can say little of their "
        f"confidence. To have them, add {few}--release-counts --with-subsets."
    )


def tuning_note(guarantee: Guarantee, run: PureDP | ApproxDP, theorem: str, number_of_candidates: int) -> str:
    """What choosing among configurations costs, and why."""
    each = f"epsilon {proved(run.epsilon)}" + (f", delta {proved(run.delta)}" if isinstance(run, ApproxDP) else "")
    return wrapped(
        f"Chosen among {number_of_candidates} configurations. One run with its score costs {each}. All runs together, "
        f"however many there were, cost epsilon {proved(guarantee.epsilon)}, delta {proved(guarantee.delta)}: "
        f"{theorem} of Liu and Talwar 2019."
    )
