"""The promise in words: what is protected, how much, by what, and what is not. From the plan and the release alone."""

from __future__ import annotations

import math
from fractions import Fraction

from fim_private.accounting.rounding import exp_up
from fim_private.constraints import Constraints
from fim_private.mechanisms.certified import Certified
from fim_private.mechanisms.items_first import BY_LEVERAGE, ItemsFirst
from fim_private.mechanisms.protocol import Spending, Stepwise
from fim_private.mechanisms.registry import COMPARATORS, REGISTRY, find
from fim_private.plan import Plan
from fim_private.plan.record import plan_record
from fim_private.printable import printable
from fim_private.privacy import ApproxDP, Budget, Guarantee, NeighbouringRelation, PureDP, Together, exact
from fim_private.release import Layout, Release
from fim_private.release.promise import privacy_record
from fim_private.release.release import SEEDED_NOTE
from fim_private.release.terms import CountTerms, PlanTerms, Terms
from fim_private.report.document.text import number, stated, times_as_likely, wrapped

WEAK_EPSILON, WEAK_DELTA = 10, Fraction(1, 1000)
"""A promise beyond either gets a warning."""
NEARLY_ALL = 0.8
"""A list with this share of all itemsets of its items says little of which of them are frequent."""
MANY_ITEMS = 5
"""Itemsets of so many frequent items are often rare."""


def promise(plan: Plan) -> str:
    """What is protected, how much, by what, and what is not, before any data is read; a paragraph each."""
    return wrapped(promise_paragraphs(plan))


def promise_paragraphs(plan: Plan, *, options: bool = True) -> list[str]:
    """The same, not wrapped, and perhaps without options of the command line."""
    terms = Terms.of(privacy_record(plan), plan_record(plan))
    return _promised(terms, plan.mechanism_name, seeded=False, options=options)


def promised(release: Release, *, options: bool = True) -> list[str]:
    """The same from a release alone, not wrapped. A release without a promise gets a warning instead.

    Args:
        release: any release.
        options: whether to name options of the command line.
    """
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
    owners = (
        "" if plan.unit_column else f", who may own several transactions{' (see --unit-column)' if options else ''}"
    )
    paragraphs = [
        f"The promise protects {promise.unit}: {event}.",
        *_together_sentence(plan),
        f"How much: epsilon {stated(epsilon)}, delta {stated(delta)}. One unit makes any set of answers at most "
        f"{times_as_likely(epsilon)} times as likely{more}.{holds} Someone who thinks it 50:50 {guess}, and decides "
        f"after seeing the answer, is right in at most {share_right(epsilon, delta)} % of cases.",
        f"Mechanism: {_by(mechanism)}. Noise is drawn exactly, not in floating point, from {source}.",
        "Not protected: what is true of many (that is the point of publishing); other units of the same person"
        f"{owners}; a second release of the same data, whose cost adds to this one's; running time, memory, and "
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
            "most so many. Which items occur is not taken as public: a noisy test of the smallest count decided which "
            "names are shown."
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
            + (f" Give {layout.guesses_as_typed()} to cover all data." if options else "")
        )
    return printable(" ".join(words))


def _by(mechanism: str) -> str:
    """The mechanism in words; its name alone where another version of this program knows it."""
    row = (REGISTRY | COMPARATORS).get(mechanism)
    return f"the mechanism {mechanism}" if row is None else f"{row.summary} ({row.source})"


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


def cut_note(release: Release) -> str | None:
    """What was left out before counting, so that counts and rules are of the rest; None if nothing was."""
    plan = release.terms.plan
    if plan.max_items is None and plan.max_transactions is None:
        return None
    return f"Counts, and rules made of them, are of what was left{_bounded(plan)}: of all data they would be larger."


def total_doubt(release: Release) -> str | None:
    """A warning if the released counts contradict the declared number of transactions; None if they do not."""
    total = release.terms.privacy.public_transactions
    counted = [itemset for itemset in (*release.itemsets, *release.subsets) if itemset.count is not None]
    # Where the noise of a count is unknown, only a count of twice the number contradicts it.
    least = [itemset.count_low if itemset.count_low is not None else (itemset.count or 0) // 2 for itemset in counted]
    if total is None or max(least, default=0) <= total:
        return None
    counts = what_counts(release.terms.plan)
    return (
        f"WARNING: the number of {counts} was declared as {total:,}, but released counts are larger, by more than "
        "their noise explains. Supports, and measures of rules, are wrong unless --public-transactions is the number "
        f"of {counts}."
    )


def _counts_sentence(plan: PlanTerms, counts: CountTerms) -> str:
    """What released counts are, how far they are off, and what was done to them."""
    treated = (
        "They are shown whole, at least 0, and none above that of a subset, which costs nothing; an interval is "
        "around the count as it was drawn."
        if counts.consistent
        else "They are shown as they were drawn."
    )
    return (
        f"Counts{' of itemsets and all their subsets' if counts.with_subsets else ''}: each is the number of "
        f"{_holders(plan)}{_bounded(plan)}, with "
        f"{printable(counts.noise)} noise of its own. The interval (within {counts.half_width:,} of the "
        f"noisy count, cut off at 0) holds that number with 95 % chance. {treated}"
    )


def what_counts(plan: PlanTerms) -> str:
    """What counts are numbers of."""
    return "units" if plan.counts_units else "transactions"


def _holders(plan: PlanTerms) -> str:
    if plan.counts_units:
        return "units that hold the itemset in at least one transaction"
    return "transactions that hold the itemset"


def _bounded(plan: PlanTerms) -> str:
    """What was done to the transactions before they were counted."""
    done, kept = [], plan.max_transactions
    if plan.together is Together.UNIT:
        done.append("a unit's were merged into one")
    elif kept is not None:
        done.append(f"at most {kept:,} of a unit were kept")
    if plan.max_items is not None:
        done.append(f"at most {plan.max_items:,} items of each were kept")
    return f", after {' and '.join(done)}" if done else ""


def tuning_note(guarantee: Guarantee, run: PureDP | ApproxDP, theorem: str, number_of_candidates: int) -> str:
    """What choosing among configurations costs, and why."""
    each = f"epsilon {_proved(run.epsilon)}" + (f", delta {_proved(run.delta)}" if isinstance(run, ApproxDP) else "")
    return wrapped(
        [
            f"Chosen among {number_of_candidates} configurations. One run with its score costs {each}. All runs "
            f"together, however many there were, cost epsilon {_proved(guarantee.epsilon)}, delta "
            f"{_proved(guarantee.delta)}: {theorem} of Liu and Talwar 2019."
        ]
    )


def shortfall(plan: Plan, release: Release) -> str | None:
    """Why fewer itemsets were named than asked for, and what would help; None where the list is full."""
    named = len(release.itemsets)
    asked, least = plan.mechanism.top, plan.question.min_count
    if least is not None and named == asked:
        return wrapped([f"The list ends at {named:,} itemsets. More may exceed {least:,}: give a larger --top."])
    if least is not None and not named:
        why = f"No itemset was found whose noisy count exceeds {least:,}."
        return wrapped([f"{why} What helps: a smaller --min-count, more data, a larger --epsilon, a smaller --size."])
    if named == asked or least is not None:
        return None
    what = "No itemset was named" if not named else f"Only {named} of {asked} itemsets could be named"
    paragraphs = [
        f"{what}. The run worked, but no {'other ' if named else ''}itemset was clear enough to name. The budget is "
        "spent.",
        f"{plan.mechanism_name} {margin_sentence(plan)}.",
        "What helps: more data, a larger --epsilon, fewer itemsets (--top), a smaller --size, a larger --delta"
        f"{_catalogue(plan)}{_cap(plan)}. `fim-private plan` shows the lead for any choice, without touching the data. "
        "With --about it says how many itemsets to ask for.",
    ]
    return wrapped(paragraphs)


def _cap(plan: Plan) -> str:
    """What helps where long transactions are cut."""
    return "" if plan.max_items is None else "; a larger --max-items, or none"


def _catalogue(plan: Plan) -> str:
    """What often helps too, unless the plan has it."""
    listed = plan.universe.items is not None and not plan.universe.anonymous
    return "" if listed else "; often a public list of your items, such as a catalogue (--universe-file)"


def found_note(plan: Plan, release: Release) -> str | None:
    """What was released beside the itemsets, and what its counts mean; None where there is nothing to say."""
    searches = _ways_to_find_items(plan)
    if not release.found or not searches:
        return None
    number = f"{len(release.found):,}"
    note = f"Items of these itemsets: {number}. Their noisy counts are part of the release (JSON)."
    possible = sum(math.comb(len(release.found), size) for size in plan.sizes)
    of_items = " A test showed that enough hold each of these items, not each itemset."
    if max(plan.sizes) > 1 and len(release.itemsets) > NEARLY_ALL * possible:
        note += (
            f"{of_items} The list has nearly all itemsets of so few items, so some of them may be in no basket. A "
            "smaller --top is more reliable."
        )
    elif max(plan.sizes) >= MANY_ITEMS:
        note += f"{of_items} So large itemsets may be in no basket: a smaller --size is more reliable."
    if plan.constraints.must_contain:
        note += " Their counts cover only transactions that hold all items of --must-contain."
    read_off = [steps.itemsets for search in searches if (steps := search.usual).itemsets is not None]
    has_counts = any(itemset.count is not None for itemset in release.itemsets)
    if read_off and plan.counts is None and (has_counts or plan.gives_counts):
        off = 2 * max(measured.deviation for measured in read_off)
        hardly = sum(itemset.count is not None and itemset.count < off for itemset in release.itemsets)
        note += (
            f" Counts are rough. Their noise is at most about {off:,.0f} {plan.question.counted}, 19 times in 20."
            + (f" {hardly:,} of the counts are smaller than that: perhaps nobody has these itemsets." if hardly else "")
            + " Besides, "
            f"{'a unit' if plan.question.counts_units else 'a transaction'} that holds more than "
            f"{min(measured.full for measured in read_off):,} of the itemsets counts as less than 1, and all counts "
            "are raised by the same factor for it. So those of itemsets in long transactions tend to be too low, and "
            "others too high: where most hold that many, by half or more. --release-counts with a small --top counts "
            "what was named, with intervals."
        )
    return wrapped([note])


def rules_note(plan: Plan, release: Release) -> str | None:
    """What rules will lack, while there is still something to decide; None if they lack nothing, or nobody asked."""
    if not release.itemsets or max(plan.sizes) == 1 or not plan.gives_counts:
        return None
    if plan.question.with_subsets or set(range(1, max(plan.sizes))) <= set(plan.sizes):
        return None
    return wrapped(
        [
            "Rules need the counts of smaller itemsets too, which this release lacks: `fim-private rules` can say "
            "little of their confidence. To have them, add --release-counts --with-subsets."
        ]
    )


def plan_text(plan: Plan) -> str:
    """One mechanism's plan in words: what is spent where, the composition, the margin."""
    paragraphs = [f"{plan.mechanism_name}: {find(plan.mechanism_name).summary}"]
    if plan.why:
        paragraphs.append(f"  {plan.why}")
    tested = [search.certificate for _, search in plan.selections if isinstance(search, Certified)]
    if tested:
        cuts = any(certificate.cut_epsilon is not None for certificate in tested)
        paragraphs.append(
            f"  no list of names is needed: at most {plan.universe.items:,} items occur, and a noisy test names the "
            f"picks{' up to a place chosen privately' if cuts else ''} if the smallest of their counts, with noise, "
            f"is at least {max(certificate.threshold for certificate in tested):,}"
        )
    first = _ways_to_find_items(plan)
    needed = max((support for search in first if (support := search.support_needed) is not None), default=None)
    if needed is not None:
        paragraphs.append(
            f"  no list of names is needed: at most {plan.most_items:,} items occur; "
            + ("" if first == [search for _, search in plan.selections] else "if items are counted first, ")
            + f"an item must be in about {needed:,} {plan.question.counted} to be named"
        )
    search = _search(plan)
    if search:
        paragraphs.append(f"  {search}")
    for line in plan.spending:
        times = f" each, {line.times:,} times" if line.times > 1 else ""
        paragraphs.append(f"  {line.what}: {_cost(line)}{times}")
    paragraphs.append(
        f"  together at most epsilon {stated(plan.budget.epsilon)}, delta {stated(plan.budget.delta)} "
        f"({plan.guarantee.composition.capitalize()} composition, {plan.relation} neighbours)"
    )
    if plan.failure:
        paragraphs.append(f"  {_proved(plan.failure)} of delta covers the chance that a name is revealed wrongly")
    paragraphs.append(f"  {margin_sentence(plan)}")
    if plan.counts is not None:
        paragraphs.append(
            f"  counts: {plan.counts.law} noise with a standard deviation of {number(plan.counts.deviation)} "
            f"{plan.question.counted}; off by at most {plan.counts.half_width:,}, 19 times in 20"
        )
    return wrapped(paragraphs, indent="    ")


def _ways_to_find_items(plan: Plan) -> list[ItemsFirst]:
    """Where the plan's searches count items first, or may do so."""
    ways = (way for _, search in plan.selections if isinstance(search, Stepwise) for way in search.branches)
    return [way for way in ways if isinstance(way, ItemsFirst)]


def _search(plan: Plan) -> str:
    """By how much the constraints make the search smaller; empty where they do not, or nobody knows by how much."""
    sizes, whole = plan.question.remaining_sizes, plan.universe.itemsets(*plan.sizes)
    given = len(plan.constraints.must_contain)
    parts = []
    if given:
        looked_for, size = (" or ".join(map(str, each)) for each in (sizes, plan.sizes))
        parts.append(f"looks for {looked_for} of {size} items, the others being given")
    remaining = plan.question.remaining_universe.itemsets(*sizes)
    if remaining != whole:
        parts.append(f"searches {remaining:,} itemsets instead of {whole:,}")
    if given and plan.max_items is not None:
        most, before = (sum(math.comb(plan.max_items, each) for each in some) for some in (sizes, plan.sizes))
        holder = "unit" if plan.question.counts_units else "transaction"
        parts.append(f"of which a {holder} holds {most:,} at most, instead of {before:,}")
    return "; ".join(parts)


def _cost(line: Spending) -> str:
    if line.epsilon is not None:
        return f"epsilon {_proved(line.epsilon)}"
    return f"rho {_proved(line.rho or Fraction(0))} (as Gaussian noise, composed into epsilon below)"


def _proved(value: Fraction | float) -> str:
    """What nobody typed: rounded up."""
    return stated(value, digits=4)


def margin_sentence(plan: Plan) -> str:
    """The lead that the mechanism needs, or any one of several leads."""
    margins, counted = plan.mechanism.margins, plan.question.counted
    leads = ", or ".join(f"about {margin.counts:,} {counted} {margin.words}" for margin in margins)
    return f"answers in 19 of 20 runs if there is a lead of {leads}"
