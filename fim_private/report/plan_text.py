"""A plan in words: what is spent where, the composition, and the lead that an itemset needs."""

from __future__ import annotations

import math
from fractions import Fraction

from fim_private.mechanisms.anonymous_names import Certified
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.protocol import Spending
from fim_private.mechanisms.registry import find
from fim_private.plan import Plan
from fim_private.report.document.text import number, stated, wrapped

COUNTED_TWICE = "the total counts these parts twice, because to replace a unit is to remove one and to add one"
"""Why the parts compose to half of the epsilon for the relation `replace`."""


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
    if plan.universe.anonymous and plan.most_items is None:
        paragraphs.append("  --universe-items changes nothing: this mechanism needs no number of items")
    first, needed = ways_to_find_items(plan), support_needed(plan)
    if needed is not None:
        paragraphs.append(
            f"  no list of names is needed: at most {plan.most_items:,} items occur; "
            + ("" if first == [search for _, search in plan.selections] else "if items are counted first, ")
            + f"an item must be in about {needed:,} {items_counted(plan)} to be named"
        )
    search = _search(plan)
    if search:
        paragraphs.append(f"  {search}")
    together = _rho_of_all(plan)
    for line in plan.spending:
        times = f" each, {line.times:,} times" if line.times > 1 else ""
        paragraphs.append(f"  {line.what}: {_cost(line, together)}{times}")
    if plan.question.by_group_privacy(find(plan.mechanism_name)):
        paragraphs.append(f"  {COUNTED_TWICE}")
    paragraphs.append(
        f"  together at most epsilon {stated(plan.budget.epsilon)}, delta {stated(plan.budget.delta)} "
        f"({plan.guarantee.composition.capitalize()} composition, {plan.relation} neighbours)"
    )
    if plan.failure:
        paragraphs.append(
            f"  a name is revealed wrongly with probability at most {proved(plan.failure)}, which delta covers"
        )
    paragraphs.append(f"  {margin_sentence(plan)}")
    if plan.counts is not None:
        paragraphs.append(
            f"  counts: {plan.counts.law} noise with a standard deviation of {number(plan.counts.deviation)} "
            f"{plan.question.counted}; off by at most {plan.counts.half_width:,}, 19 times in 20"
        )
    return wrapped(*paragraphs, indent="    ")


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


def _rho_of_all(plan: Plan) -> Fraction | None:
    """What all parts cost together as Gaussian noise; None if some are paid for in epsilon."""
    costs = [line.times * line.rho for line in plan.spending if line.rho is not None]
    return sum(costs, Fraction(0)) if len(costs) == len(plan.spending) else None


def _cost(line: Spending, together: Fraction | None) -> str:
    if line.epsilon is not None:
        return f"epsilon {proved(line.epsilon)}"
    rho = line.rho or Fraction(0)
    if not together:
        return f"rho {proved(rho)} (as Gaussian noise)"
    share = 100 * float(rho / together)
    return f"{share:.{0 if share >= 10 else 1}f} % of the budget (rho {proved(rho)})"


def margin_sentence(plan: Plan, *, in_full: bool = True) -> str:
    """The lead that the mechanism needs. If others do as well, `in_full` says whether they follow."""
    counted, of_size = plan.question.counted, " of a size" if plan.question.per_size else ""
    first, *others = (
        f"a lead of about {margin.counts:,} {counted} {margin.words}" for margin in plan.mechanism.margins
    )
    sentences = [
        f"names the whole list{of_size} in 19 of 20 runs if there is {first}",
        *([f"It also does with {', or '.join(others)}"] if others and in_full else []),
    ]
    return ". ".join(sentences)


def ways_to_find_items(plan: Plan) -> list[ItemsFirst]:
    """Where the plan's searches count items first, or may do so."""
    ways = (search.items if isinstance(search, LookFirst) else search for _, search in plan.selections)
    return [way for way in ways if isinstance(way, ItemsFirst)]


def support_needed(plan: Plan) -> int | None:
    """The number of units that an item must be in to be named where items are counted first; None without one."""
    needed = (search.support_needed for search in ways_to_find_items(plan))
    return max((support for support in needed if support is not None), default=None)


def items_counted(plan: Plan) -> str:
    """What counts of items are numbers of: a unit counts once, also where several of its transactions are kept."""
    return plan.question.counted if plan.unit.max_transactions is None else "units"


def proved(value: Fraction | float) -> str:
    """What nobody typed: rounded up."""
    return stated(value, digits=4)
