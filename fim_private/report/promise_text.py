"""The promise in words: what is protected, how much, by what, and what is not. From the plan and the release alone."""

from __future__ import annotations

import math
from fractions import Fraction

from fim_private.accounting.rounding import exp_up
from fim_private.constraints import Constraints
from fim_private.mechanisms.protocol import BY_LEVERAGE
from fim_private.mechanisms.registry import COMPARATORS, REGISTRY
from fim_private.plan import Plan
from fim_private.plan.record import plan_record
from fim_private.printable import printable
from fim_private.privacy import Budget, NeighbouringRelation, Together, exact
from fim_private.release import Layout, Release
from fim_private.release.release import SEEDED_NOTE
from fim_private.release.terms import CountTerms, PlanTerms, Terms, privacy_record
from fim_private.report.document.text import stated, times_as_likely, wrapped

WEAK_EPSILON, WEAK_DELTA = 10, Fraction(1, 1000)
"""A promise beyond either gets a warning."""


def promise(plan: Plan) -> str:
    """What is protected, how much, by what, and what is not, before any data is read; a paragraph each."""
    return wrapped(*promise_paragraphs(plan))


def promise_paragraphs(plan: Plan, *, options: bool = True) -> list[str]:
    """The same, not wrapped, and perhaps without options of the command line."""
    terms = Terms.of(privacy_record(plan), plan_record(plan))
    return _promised(terms, plan.mechanism_name, seeded=False, options=options)


def promised(release: Release, *, options: bool = True) -> list[str]:
    """The same from a release alone, not wrapped, with names of options or without; without a promise, a warning."""
    return _promised(release.terms, release.mechanism, seeded=release.seeded, options=options)


def _promised(terms: Terms, mechanism: str, *, seeded: bool, options: bool) -> list[str]:
    privacy, plan, promise = terms.privacy, terms.plan, terms.privacy.promise
    warning = [f"WARNING: {SEEDED_NOTE}."] if seeded else []
    if promise is None:
        return ["This file states no promise. Treat it as not private.", *warning]
    epsilon, delta = promise.epsilon, promise.delta
    if privacy.neighbours == NeighbouringRelation.ADD_REMOVE:
        event = "whether it is in the data, and what it holds"
        guess = "whether one unit is in the data"
        holds = " For what a unit holds (another unit in its place) it is " + _exchange(epsilon, delta)
    else:
        event = "what it holds (that it is in the data is not hidden)"
        guess = "which of two versions of one unit is in the data"
        holds = ""
    more = f", plus {stated(delta)}" if delta else ""
    source = "a SEED: this output is NOT private" if seeded else "the operating system's secure source"
    owned = "units" if plan.unit_column else "transactions"
    owner = " (see --unit-column)" if options and not plan.unit_column else ""
    paragraphs = [
        f"The promise protects {promise.unit}: {event}.",
        *_together_sentence(plan),
        f"How much: epsilon {stated(epsilon)}, delta {stated(delta)}. One such unit makes any set of answers at most "
        f"{times_as_likely(epsilon)} times as likely{more}.{holds} Someone who thinks it 50:50 {guess}, and decides "
        f"after seeing the answer, is right in at most {share_right(epsilon, delta)} % of cases.",
        f"Mechanism: {_by(mechanism)}. Noise is drawn exactly, not in floating point, from {source}.",
        "Not protected: what is true of many (that is the point of publishing); all "
        f"{owned} of one person together, if somebody has several{owner}; a second release of the same data, whose "
        "cost adds to this one's; running time, memory, and "
        f"whether the data could be read and counted at all{' (--max-items bounds the work)' if options else ''}.",
    ]
    if plan.by == BY_LEVERAGE:
        paragraphs.append(
            f"Pairs are ranked by leverage: how many more {what_counts(plan)} hold both items than expected if one "
            "item did not depend on the other. What is expected is an estimate from noisy counts of the items, and so "
            "the order is one too."
        )
    constraints = Constraints(must_contain=plan.must_contain, exclude=plan.exclude)
    if constraints.named:
        paragraphs.append(
            f"The question asks for itemsets {printable(constraints.describe())}. The items that it names are public."
            + (_told("those that must be in them occur", options=options) if plan.must_contain else "")
        )
    if terms.listed_items is not None:
        paragraphs.append(
            f"The list of {terms.listed_items:,} items is public." + _told("one of them occurs", options=options)
        )
    if plan.counts is not None:
        paragraphs.append(_counts_sentence(plan, plan.counts))
    if privacy.layout is not None:
        paragraphs.append(_layout_sentence(privacy.layout, options=options))
    if privacy.public_transactions is not None:
        paragraphs.append(
            f"Taken as public: the number of {what_counts(plan)}, {privacy.public_transactions:,}, as declared; "
            "supports are counts divided by it. The program did not check it against the data."
        )
    if privacy.names_are_public:
        paragraphs.append(
            "Taken as public: the names of the items that occur, and that they are no more than declared, since only "
            "their number was." + (" Give --universe-file for a promise without these conditions." if options else "")
        )
    if privacy.most_items is not None:
        paragraphs.append(
            f"Declared: no more than {privacy.most_items:,} different items occur"
            f"{' beside those that the question names' if constraints.named else ''}. The promise covers data with at "
            "most that many. Which items occur is not taken as public: a noisy test decided which names are shown."
        )
    return [*paragraphs, *warning]


def weak_promise(budget: Budget) -> str | None:
    """A warning if the promise is too weak to protect anybody; None if it is not."""
    reasons = []
    if budget.epsilon > WEAK_EPSILON:
        right = share_right(float(budget.epsilon), float(budget.delta))
        reasons.append(f"with epsilon {stated(budget.epsilon)} a guess may be right in up to {right} % of cases")
    if budget.delta > WEAK_DELTA:
        reasons.append(f"with delta {stated(budget.delta)} anybody's data may be shown with that probability")
    return f"WARNING: this protects hardly anybody: {', and '.join(reasons)}." if reasons else None


def _together_sentence(plan: PlanTerms) -> list[str]:
    """What is counted, if it is neither transactions nor merged ones."""
    if not plan.counts_units:
        return []
    return [
        "What is counted: units, not transactions. An itemset counts once for each unit that holds its items together "
        "in one transaction (one basket), however many of its transactions do."
    ]


def exchanged(epsilon: float, delta: float) -> tuple[Fraction, Fraction]:
    """The bound for one unit in the place of another: one is removed, and one is added (group privacy)."""
    once = exact(epsilon, "epsilon")
    return 2 * once, min((1 + exp_up(once)) * exact(delta, "delta"), Fraction(1))


def _exchange(epsilon: float, delta: float) -> str:
    twice, failing = exchanged(epsilon, delta)
    more = f", plus {stated(failing, digits=4)}" if delta else ""
    return f"at most {times_as_likely(twice)} times{more}."


def share_right(epsilon: float, delta: float) -> str:
    """How often the best guess between two neighbours is right, in per cent, rounded up: (e^eps + delta)/(e^eps + 1).

    No test between them has a smaller sum of its two errors (Kairouz, Oh, Viswanath 2015).
    """
    share = 100 * (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    digits = 1 if share < 99.9 else 5
    return f"{min(100.0, math.ceil(share * 10**digits) / 10**digits):.7g}"


def _layout_sentence(layout: Layout, *, options: bool) -> str:
    """How the data was read, which is taken as public, and what follows if that was guessed."""
    data = "file" if layout.kind in ("text", "Parquet", "Excel") else "data"
    words = [
        f"The layout of the {data} is taken as public: {layout.describe()}.",
        f"A transaction is {layout.transaction}.",
    ]
    if layout.format == "one-hot":
        words.append("The header, which names the items, is public too.")
    elif layout.format == "long" or (layout.format == "lists" and layout.item_column is not None):
        words.append("The names of the columns are public too.")
    if layout.query is not None:
        words.append(
            "The query is public. The promise covers what is done with the rows that it gives. Each of them, and "
            "whether it is there, has to depend on one unit alone, whatever the database computes."
        )
    if layout.where is not None:
        words.append("Each row is read or left out by itself, before units are formed; the condition is public.")
    if layout.guessed:
        guessed = " and ".join(part.replace("_", " ") for part in layout.guessed)
        words.append(
            f"The program guessed from the data: {guessed}. The promise covers only data that lead to the same guess."
            + (f" Give {layout.guesses_as_typed()} to lift this condition." if options else "")
        )
    return printable(" ".join(words))


def _by(mechanism: str) -> str:
    """The mechanism in words; its name alone where another version of this program knows it."""
    row = (REGISTRY | COMPARATORS).get(mechanism)
    return f"the mechanism {mechanism}" if row is None else f"{row.summary} ({row.source})"


def _counts_sentence(plan: PlanTerms, counts: CountTerms) -> str:
    """What released counts are, how far they are off, and what was done to them."""
    treated = (
        "They are shown as whole numbers of at least 0, and none is above that of a subset. This costs nothing. An "
        "interval is around the count as it was drawn."
        if counts.consistent
        else "They are shown as they were drawn."
    )
    return (
        f"Counts{' of itemsets and all their subsets' if counts.with_subsets else ''}: each is the number of "
        f"{_holders(plan)}{bounded(plan)}, with "
        f"{printable(counts.noise)} noise of its own. The interval (within {counts.half_width:,} of the "
        f"noisy count, cut off at 0) holds that number with 95 % chance. {treated}"
    )


def what_counts(plan: PlanTerms) -> str:
    """What counts are numbers of."""
    return "units" if plan.counts_units else "transactions"


def _told(what: str, *, options: bool) -> str:
    """What an answer tells by being there, as a sentence: without it nothing is charged."""
    unless = "Unless --allow-absent-items was given" if options else "Unless absent items were allowed"
    return f" {unless}, the answer also tells that {what}."


def _holders(plan: PlanTerms) -> str:
    if plan.counts_units:
        return "units that hold the itemset in at least one transaction"
    return "transactions that hold the itemset"


def bounded(plan: PlanTerms) -> str:
    """What was done to the transactions before they were counted."""
    done, kept = [], plan.max_transactions
    if plan.together is Together.UNIT:
        done.append("a unit's were merged into one")
    elif kept is not None:
        done.append(f"at most {kept:,} of a unit were kept")
    if plan.max_items is not None:
        done.append(f"at most {plan.max_items:,} items of each were kept")
    return f", after {' and '.join(done)}" if done else ""
