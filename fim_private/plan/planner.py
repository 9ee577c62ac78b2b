"""From a question to concrete parameters, without data: what `fim-private plan` prints is what `mine` does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Unpack, cast

from fim_private.accounting.rising import FLAT, rising
from fim_private.accounting.rounding import exp_up, round_down
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.count_noise import calibrate_with_counts
from fim_private.mechanisms.per_size import PerSize, calibrate_per_size
from fim_private.mechanisms.protocol import USUAL_NAMES, CalibratedMechanism, Margin, Mechanism, Request, Stepwise
from fim_private.mechanisms.registry import AUTO, REGISTRY, Row, find
from fim_private.plan.plan import Plan
from fim_private.plan.question import Question, QuestionArguments, spelled_out
from fim_private.privacy import Budget, Guarantee

LIKELY, LIKELY_WITHOUT_DELTA, LIKELY_WITH_LOOK = Fraction(7, 12), Fraction(1, 3), Fraction(1, 10)
"""Mechanisms that find the items first find likely itemsets with these shares of the lead that they state."""
FEW, FEW_LARGER, LONG = {1: 15, 2: 7, 3: 5}, 3, 11
FEW_OF_LIST = 10
"""A list of single items is short beside a public list of at least this many times as many."""


@spelled_out
def make_plan(*, size: int | Sequence[int], **asked: Unpack[QuestionArguments]) -> Plan:
    """The plan for a release.

    Args:
        size: number of items per itemset; several numbers for the top of all these sizes together.
        asked: the other fields of `fim_private.plan.Question`. `budget=`, `unit=` and one of `top=` and `min_count=`
            are required.

    Raises:
        UsageError: a number is out of range, or options contradict each other.
        BudgetError: the budget cannot pay for the mechanism or the counts.
    """
    return plan_for(Question.of(size=size, **asked))


def plan_for(question: Question) -> Plan:
    """The plan that answers a question.

    Raises:
        UsageError: there is no such mechanism, or it does not apply.
        BudgetError: the budget cannot pay for the mechanism or the counts.
    """
    return _choose(question) if question.mechanism == AUTO else _plan_with(find(question.mechanism), question)


def plan_again(plan: Plan, *, budget: Budget, top: int) -> Plan:
    """The plan for the same question with another budget or top.

    Raises:
        UsageError: as `make_plan`.
        BudgetError: as `make_plan`.
    """
    return plan_for(replace(plan.question, budget=budget, top=top))


def _choose(question: Question) -> Plan:
    """For `auto`: the plan that is expected to need the smallest lead over the bulk. Only public quantities decide."""
    plans: list[Plan] = []
    decided: set[str] = set()
    for row in sorted(REGISTRY.values(), key=lambda row: not row.instead_of):
        if row.automatic and row.name not in decided and question.suits(row):
            try:
                plans.append(_plan_with(row, question))
                decided.update(row.instead_of)
            except BudgetError as error:
                refusal = error
    ranked = sorted(
        ((plan, plan.lead) for plan in plans if plan.lead is not None),
        key=lambda found: (_weighed(found[0]), found[0].compared_lead or 0),
    )
    if not ranked:
        raise refusal
    (best, lead), *others = ranked
    smallest = "needs the smallest lead over the bulk of the ranking among the mechanisms that auto considers"
    if all(lead <= other for _, other in others):
        reason = f"it {smallest}:"
    elif all((best.compared_lead or 0) <= (plan.compared_lead or 0) for plan, _ in others):
        reason = f"one itemset {smallest}; the whole list needs"
    else:
        likely = any(margin.less_if_likely for margin in best.margins_over_bulk)
        which = "likely itemsets" if likely else "lists that begin with clear itemsets"
        reason = f"{which} need less than the stated lead over the bulk of the ranking:"
    left = ", ".join(f"{plan.mechanism_name} {other:,}" for plan, other in others)
    why = f"chosen because {reason} {lead:,} {question.counted}" + (f" ({left})" if left else "")
    return replace(best, why=why)


def _weighed(plan: Plan) -> Fraction:
    """The lead of one itemset by which `auto` compares plans.

    Mechanisms that find the items first prefer itemsets of frequent items. The lead that they state leaves this out, so
    it is multiplied:
    * With a delta, for k of 2 and more, by `LIKELY`: measured for pairs and triples of eight data sets and of made-up
      shops (`benchmarks/shops.py`). For single items look-first picks.
    * With a list too, by 0: in samples of 600 to 8,000 transactions of five data sets, look-first found at least as
      much as picks alone for k of 3 and more (pairs alone: of 4 and more), and far more where the lead is small. For
      shorter lists it found less. For single items this holds for k of 16 and more on seven data sets, if the public
      list is at least `FEW_OF_LIST` times as long. Of shorter ones it leaves out more than picks get wrong.
    * Without a delta, by `LIKELY_WITHOUT_DELTA`: measured for single items, pairs, triples and several sizes of seven
      data sets, with a list. Up to k = `FEW`, by the largest size, picks from all itemsets are at least as good, and
      far better if transactions are long; for triples alone up to k = `FEW_LARGER`.
    * Without a delta, where items-first looks at one count, by `LIKELY_WITH_LOOK` for k of at least `LONG`, and for
      triples alone: `auto` then takes it for all lists of 20 items and more, and it is at least as good.
    * Without a delta, for larger itemsets than `FEW` has, by 0: picks from all need all itemsets counted, which is
      refused if transactions are long. items-first was as good for k = 1 to 5 of four data sets.

    Picks from a list of which later ones get more are compared by what one in the middle needs. The first have less
    epsilon, but hardly any list is equally clear from its first to its last itemset.
    """
    question, sizes = plan.question, plan.question.remaining_sizes
    if question.budget.delta == 0:
        larger, uncounted = min(sizes) > 2, max(sizes) > max(FEW)
        finds = uncounted or plan.top > (FEW_LARGER if larger else FEW[max(sizes)])
        looks = any(getattr(search, "count_look", None) for _, search in plan.selections)
        surely = looks and max(sizes) > 1 and (plan.top >= LONG or larger)
        likely = Fraction(0) if uncounted else LIKELY_WITH_LOOK if surely else LIKELY_WITHOUT_DELTA
    else:
        listed = plan.universe.has_list
        if listed and max(sizes) == 1:
            finds = FEW[1] < plan.top <= (question.remaining_universe.items or 0) / FEW_OF_LIST
        elif listed:
            finds = plan.top > (3 if sizes == (2,) else 2)
        else:
            finds = plan.top > 1 and min(sizes) > 1
        likely = Fraction(0) if listed else LIKELY
    first = rising(plan.top, getattr(plan.mechanism, "rise", FLAT))[0]

    def weight(margin: Margin) -> Fraction:
        if margin.less_if_likely:
            return likely if finds else Fraction(1)
        return first if margin.place is None else Fraction(1)

    return min(margin.compared * weight(margin) for margin in plan.margins_over_bulk)


def _plan_with(row: Row, question: Question) -> Plan:
    """The plan with this mechanism. Group privacy serves `replace` if the mechanism's own proof does not.

    The proof for counts holds for `replace` too: an exchanged unit also changes each count by at most Delta.
    """
    unit, searches = question.unit, question.searches
    if row.most_names is not None and (question.remaining_universe.items or 0) > row.most_names:
        raise UsageError(
            f"{row.name} gives noise to every possible item, and so serves at most {row.most_names:,} of them.",
            "Give a smaller --universe-items, or take another mechanism.",
        )
    if row.in_bins and question.counts_units:
        raise UsageError(
            f"{row.name} cannot count the units that hold an itemset in one of several baskets.",
            "Merge the baskets of a unit (--together unit), keep some of them (--max-transactions), or take another "
            "mechanism.",
        )
    in_two_steps = question.by_group_privacy(row)
    epsilon, delta = halved(question.budget) if in_two_steps else (question.budget.epsilon, question.budget.delta)
    requests = [
        Request(
            top=question.top,
            epsilon=epsilon,
            delta=delta,
            sensitivity=unit.sensitivity,
            universe_size=question.remaining_universe.itemsets(*remaining),
            anonymous=question.universe.anonymous,
            names=question.remaining_universe.items or USUAL_NAMES,
            most_new=None
            if question.max_items is None
            else unit.sensitivity * sum(math.comb(question.max_items, size) for size in remaining),
            sizes=remaining,
            select=question.select,
            min_count=question.min_count,
            by=question.by,
            binned=not question.counts_units,
        )
        for remaining in searches
    ]

    def calibrate(request: Request) -> CalibratedMechanism:
        if len(requests) == 1:
            return row.calibrate(request)
        each = [replace(one, epsilon=request.epsilon, delta=request.delta) for one in requests]
        return calibrate_per_size(row.calibrate, each, question.sizes)

    if question.count_share is None:
        calibrated, counts = calibrate(requests[0]), None
    else:
        calibrated, counts = calibrate_with_counts(
            calibrate, requests[0], share=question.count_share, each=question.counted_per_itemset
        )
    return Plan(
        question=question,
        mechanism_name=row.name,
        mechanism=cast(Mechanism | Stepwise | PerSize, calibrated.mechanism),
        guarantee=doubled(calibrated.guarantee) if in_two_steps else calibrated.guarantee,
        counts=counts,
    )


def halved(budget: Budget) -> tuple[Fraction, Fraction]:
    """(epsilon, delta) that a mechanism for add-remove may spend so that the budget holds for `replace`.

    One exchange is one removal and one addition (docs/mathematics.md#group-privacy).
    """
    epsilon = budget.epsilon / 2
    delta = round_down(float(budget.delta / (1 + exp_up(epsilon)))) if budget.delta else Fraction(0)
    return epsilon, delta


def doubled(guarantee: Guarantee) -> Guarantee:
    """The guarantee for `replace` of a mechanism with this guarantee for add-remove (group privacy, two steps)."""
    return Guarantee(
        epsilon=2 * guarantee.epsilon,
        delta=guarantee.delta * (1 + exp_up(guarantee.epsilon)),
        composition=guarantee.composition,
    )
