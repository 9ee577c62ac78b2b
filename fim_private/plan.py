"""From what is asked to concrete parameters, without data: what `fim-private plan` prints is what `mine` does.

The neighbouring relation is served here and nowhere else: a mechanism calibrated for add-remove at (eps/2,
delta/(1+e^{eps/2})) is (eps, delta)-differentially private for `replace`, which is one removal and one addition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import cast

from fim_private.accounting.rounding import exp_up, round_down
from fim_private.constraints import NOTHING, Constraints
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.counts import CountNoise, calibrate_with_counts
from fim_private.mechanisms.items_first import COUNTS, ItemsFirst
from fim_private.mechanisms.per_size import PerSize, calibrate_per_size
from fim_private.mechanisms.protocol import Calibrated, Margin, Mechanism, Request, Spending
from fim_private.mechanisms.registry import AUTO, REGISTRY, Row, find
from fim_private.privacy import Budget, Guarantee, Loss, NeighbouringRelation, Number, PrivacyUnit, exact

LARGEST_SIZE = 20
LARGEST_TOP = 10_000
MOST_ABOVE = 1_000
"""So many itemsets above a least count at most, unless it is said otherwise."""
MOST_ITEMSETS = 10**300
COUNTING = "items-first"
"""The mechanism that can answer with noisy counts."""
Searches = tuple[tuple[int, ...], ...]
"""For each search, how many items the itemsets have that it ranks together, beside those they must contain."""
FAR_BEYOND = 100
"""Places beyond this many times k count as the bulk of the ranking."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Universe:
    """The public list of items, as far as it is declared.

    Args:
        items: their number; None for an open universe.
        names: the items themselves, each once; None where only their number is known. Their number then follows.
    """

    items: int | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.names is not None:
            if self.items not in {None, len(set(self.names))}:
                raise UsageError("The number of items is not that of their names.", "Give the names alone.")
            object.__setattr__(self, "items", len(set(self.names)))
        if self.items is not None and not 1 <= self.items <= 10**18:
            raise UsageError("The number of items in the universe is out of range.", "Give a number from 1 to 1e18.")

    def itemsets(self, *sizes: int) -> int | None:
        """The sum of C(items, size), exact; None for an open universe."""
        return None if self.items is None else sum(math.comb(self.items, size) for size in sizes)

    def without(self, constraints: Constraints) -> Universe:
        """The items that are searched among: those that the constraints do not name.

        Where only a number was declared, the items named are taken to be among them.

        Raises:
            UsageError: none is left, or an item to be contained is not on the list.
        """
        if self.items is None or not constraints.named:
            return self
        if self.names is None:
            left = self.items - len(constraints.named)
        else:
            listed = {name.strip() for name in self.names}
            if not listed.issuperset(constraints.must_contain):
                raise UsageError(
                    "An item to be contained is not on the public list of items.",
                    "Add it to --universe-file, or leave out --must-contain.",
                )
            names = tuple(sorted(listed - constraints.named))
            left = len(names)
        if left < 1:
            raise UsageError("The constraints leave nothing of the declared universe.", "Declare more items.")
        return Universe(items=left) if self.names is None else Universe(names=names)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a release will do and what it will cost, fixed before any data is seen.

    Args:
        sizes: numbers of items of an itemset, increasing; of all these sizes together the top is asked for.
        top: k, how many itemsets; of each size where they are searched one by one.
        budget: what was allowed.
        unit: the privacy unit.
        relation: the neighbouring relation.
        universe: the declared universe, or the open one.
        constraints: what itemsets must and must not contain.
        max_items: how many of the remaining items of a transaction are kept; None for all.
        mechanism_name: the row of the registry.
        mechanism: its parameters.
        guarantee: what was proved for this unit and relation; at most the budget.
        why: the reason for the mechanism, in words, where the planner chose it.
        min_count: only itemsets whose noisy count exceeds this are released; None for the top alone.
        asked_mechanism: the mechanism that was asked for: a name, or "auto".
        asked_select: how items-first was asked to select; None where that was left to it.
        counts: the noise of the chosen itemsets' counts, measured anew; None where none are released.
        count_share: of epsilon, what the counts may cost; None likewise.
        raw_counts: whether the counts are released as they were drawn, rather than made consistent.
        public_transactions: the number of transactions, where it was declared to be public.
    """

    sizes: tuple[int, ...]
    top: int
    budget: Budget
    unit: PrivacyUnit
    relation: NeighbouringRelation
    universe: Universe
    max_items: int | None
    mechanism_name: str
    mechanism: Mechanism | ItemsFirst | PerSize
    guarantee: Guarantee
    constraints: Constraints = NOTHING
    why: str | None = None
    min_count: int | None = None
    asked_mechanism: str
    asked_select: str | None = None
    counts: CountNoise | None = None
    count_share: Fraction | None = None
    raw_counts: bool
    public_transactions: int | None = None

    @property
    def size(self) -> int:
        """The number of items of each itemset, where it is one number."""
        (size,) = self.sizes
        return size

    @property
    def selections(self) -> tuple[tuple[tuple[int, ...], Mechanism | ItemsFirst], ...]:
        """The searches, one after the other: how many items each looks for, and what picks from them."""
        if not isinstance(self.mechanism, PerSize):
            return ((self.remaining_sizes, self.mechanism),)
        searches = cast(tuple[Mechanism | ItemsFirst, ...], self.mechanism.parts)
        return tuple(((size,), search) for size, search in zip(self.remaining_sizes, searches, strict=True))

    @property
    def search(self) -> Mechanism | ItemsFirst:
        """The only one of the searches."""
        ((_, search),) = self.selections
        return search

    @property
    def per_size(self) -> bool:
        """Whether the top of each size is asked for, rather than that of all sizes together."""
        return isinstance(self.mechanism, PerSize)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What all steps cost, where the mechanism's failure event does not happen: its own, then the counts'."""
        return self.mechanism.losses if self.counts is None else (*self.mechanism.losses, self.counts.loss)

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The losses in words."""
        return self.mechanism.spending if self.counts is None else (*self.mechanism.spending, self.counts.spending)

    @property
    def gives_counts(self) -> bool:
        """Whether every released itemset comes with a count."""
        return self.counts is not None or (
            isinstance(self.mechanism, ItemsFirst) and self.mechanism.itemsets is not None
        )

    @property
    def remaining_sizes(self) -> tuple[int, ...]:
        """How many items of an itemset of each size are searched for, beside those it must contain."""
        return tuple(map(self.constraints.remaining_size, self.sizes))

    @property
    def remaining_size(self) -> int:
        """The same, where it is one number."""
        return self.constraints.remaining_size(self.size)

    @property
    def remaining_universe(self) -> Universe:
        """What they are searched among."""
        return self.universe.without(self.constraints)

    @property
    def takes_names_as_public(self) -> bool:
        """Whether the promise holds only if the names of the occurring items are public, and no more than declared."""
        declared = self.universe.items is not None and self.universe.names is None
        return declared and not find(self.mechanism_name).finds_items

    @property
    def lead(self) -> int | None:
        """The least margin over the bulk: itemsets that do not occur, or a place far beyond k. None if there is none.

        A margin over the next place is none of these: how far apart the places of a ranking are is up to the data.
        """
        return min((margin.counts for margin in self.mechanism.margins if self._over_bulk(margin)), default=None)

    @property
    def near_lead(self) -> int | None:
        """The margin over a place near k, of which a mechanism has one or none."""
        return next((margin.counts for margin in self.mechanism.margins if not self._over_bulk(margin)), None)

    def _over_bulk(self, margin: Margin) -> bool:
        return margin.place is None or margin.place > FAR_BEYOND * self.top


def make_plan(
    *,
    size: int | Sequence[int],
    top: int | None = None,
    budget: Budget,
    unit: PrivacyUnit,
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE,
    universe: Universe | None = None,
    constraints: Constraints | None = None,
    max_items: int | None = None,
    mechanism: str = "lmm",
    select: str | None = None,
    min_count: int | None = None,
    count_share: Number | None = None,
    raw_counts: bool = False,
    public_transactions: int | None = None,
    per_size: bool = False,
) -> Plan:
    """The plan for a release.

    Args:
        size: number of items of each itemset; several numbers for the top of all these sizes together.
        top: k, how many itemsets; with `min_count` it may be left out, and is 1,000 then.
        budget: what the release may cost.
        unit: the privacy unit.
        relation: the neighbouring relation.
        universe: the declared universe; None for an open one.
        constraints: what itemsets must and must not contain; None for nothing.
        max_items: how many of the remaining items of a transaction are kept; None for all.
        mechanism: a name of the registry, or "auto" for the one that needs the smallest lead over the bulk.
        select: how items-first selects, "peel" or "counts"; None where the planner decides.
        min_count: release only itemsets whose noisy count exceeds this; needs a mechanism that counts.
        count_share: of epsilon, what the chosen itemsets' counts may cost, between 0 and 1; None releases none.
        raw_counts: release the counts as they were drawn, rather than made consistent.
        public_transactions: how many transactions there are (after bounding), which is taken as public: counts then
            come with supports.
        per_size: find the top of each size rather than that of all sizes together, from the one budget.

    Raises:
        UsageError: a number is out of range, or options contradict each other.
        BudgetError: the budget cannot pay for the mechanism, or the counts.
    """
    sizes = _sizes(size)
    if min_count is not None:
        _check_range(min_count, 1, 10**12, "The least count")
        select = select or COUNTS
    if select is not None and mechanism == AUTO:
        mechanism = COUNTING
    if (select or min_count is not None) and mechanism != COUNTING:
        raise UsageError(
            f"The mechanism {mechanism} has no way to select by noisy counts.",
            f"--select and --min-count go with --mechanism {COUNTING}.",
        )
    if min_count is not None and select != COUNTS:
        raise UsageError("A least count needs noisy counts.", f"Leave out --select, or give --select {COUNTS}.")
    if top is None:
        if min_count is None:
            raise UsageError("It was not said how many itemsets to find.", "Give --top, or --min-count.")
        top = MOST_ABOVE
    _check_range(top, 1, LARGEST_TOP, "The number of itemsets")
    constraints = constraints or NOTHING
    remaining = tuple(map(constraints.remaining_size, sizes))
    if max_items is not None:
        _check_range(max_items, max(remaining), 10**6, "The number of items to keep of a transaction")
    share = _count_share(count_share, raw_counts=raw_counts, public_transactions=public_transactions)
    universe = universe or Universe()
    remaining_universe = universe.without(constraints)
    searches = tuple((size,) for size in remaining) if per_size else (remaining,)
    itemsets = remaining_universe.itemsets(*remaining)
    if itemsets is not None and itemsets > MOST_ITEMSETS:
        raise UsageError(
            "The declared universe has more than 1e300 itemsets of this size, too many to calculate with.",
            "Declare fewer items, or ask for a smaller --size.",
        )
    if any((number := remaining_universe.itemsets(*search)) is not None and number < top for search in searches):
        raise UsageError(
            "The declared universe has fewer itemsets of this size than are asked for.",
            "Ask for fewer with --top, or declare more items.",
        )

    planned = partial(
        _plan_of,
        sizes=sizes,
        searches=searches,
        top=top,
        budget=budget,
        unit=unit,
        relation=relation,
        universe=universe,
        constraints=constraints,
        max_items=max_items,
        select=select,
        min_count=min_count,
        count_share=share,
        raw_counts=raw_counts,
        public_transactions=public_transactions,
    )
    return _choose(planned, universe, max_items, searches) if mechanism == AUTO else planned(find(mechanism))


def plan_again(plan: Plan, *, budget: Budget, top: int) -> Plan:
    """The plan that the same question would get with another budget or top.

    Raises:
        UsageError: as `make_plan`.
        BudgetError: likewise.
    """
    return make_plan(
        size=plan.sizes,
        top=top,
        budget=budget,
        unit=plan.unit,
        relation=plan.relation,
        universe=plan.universe,
        constraints=plan.constraints,
        max_items=plan.max_items,
        mechanism=plan.asked_mechanism,
        select=plan.asked_select,
        min_count=plan.min_count,
        count_share=plan.count_share,
        raw_counts=plan.raw_counts,
        public_transactions=plan.public_transactions,
        per_size=plan.per_size,
    )


def _choose(planned: Callable[[Row], Plan], universe: Universe, max_items: int | None, searches: Searches) -> Plan:
    """The plan that needs the smallest lead over the bulk, from public quantities alone."""
    plans = []
    for row in REGISTRY.values():
        applies = (
            (universe.items is not None or not row.needs_universe)
            and (max_items is not None or not row.needs_cap)
            and (len(searches[0]) == 1 or not row.finds_items)
        )
        if row.automatic and applies:
            try:
                plans.append(planned(row))
            except BudgetError as error:
                refusal = error
    ranked = sorted((plan.lead, place) for place, plan in enumerate(plans) if plan.lead is not None)
    if not ranked:
        raise refusal
    others = ", ".join(f"{plans[place].mechanism_name} {lead:,}" for lead, place in ranked[1:])
    lead, best = ranked[0]
    why = (
        f"chosen because it needs the smallest lead of an itemset over the bulk of the ranking: {lead:,} transactions"
        + (f" ({others})" if others else "")
    )
    return replace(plans[best], why=why, asked_mechanism=AUTO)


def _plan_of(
    row: Row, *, sizes: tuple[int, ...], searches: Searches, top: int, budget: Budget, unit: PrivacyUnit,
    relation: NeighbouringRelation, universe: Universe, constraints: Constraints, max_items: int | None,
    select: str | None, min_count: int | None, count_share: Fraction | None, raw_counts: bool,
    public_transactions: int | None,
) -> Plan:  # fmt: skip
    """The plan with this mechanism; group privacy serves `replace` where the mechanism's proof does not.

    Counts hold for `replace` as they stand: an exchanged unit changes each by at most Delta too.
    """
    if len(searches[0]) > 1 and row.finds_items:
        raise UsageError(
            f"{row.name} finds itemsets of one size at a time.",
            "Add --per-size, or take another --mechanism (auto takes one that ranks all sizes together).",
        )
    halved = relation is NeighbouringRelation.REPLACE and not row.both_relations
    epsilon, delta = _half(budget) if halved else (budget.epsilon, budget.delta)
    requests = [
        Request(
            top=top,
            epsilon=epsilon,
            delta=delta,
            sensitivity=unit.sensitivity,
            universe_size=universe.without(constraints).itemsets(*remaining),
            most_new=None
            if max_items is None
            else unit.sensitivity * sum(math.comb(max_items, size) for size in remaining),
            size=max(remaining),
            select=select,
            min_count=min_count,
        )
        for remaining in searches
    ]

    def calibrate(request: Request) -> Calibrated:
        if len(requests) == 1:
            return row.calibrate(request)
        each = [replace(one, epsilon=request.epsilon, delta=request.delta) for one in requests]
        return calibrate_per_size(row.calibrate, each, sizes, independent=row.finds_items)

    if count_share is None:
        calibrated, counts = calibrate(requests[0]), None
    else:
        calibrated, counts = calibrate_with_counts(
            calibrate, requests[0], share=count_share, independent=row.finds_items
        )
    return Plan(
        sizes=sizes,
        top=top,
        budget=budget,
        unit=unit,
        relation=relation,
        universe=universe,
        constraints=constraints,
        max_items=max_items,
        mechanism_name=row.name,
        mechanism=cast(Mechanism | ItemsFirst | PerSize, calibrated.mechanism),
        guarantee=_doubled(calibrated.guarantee) if halved else calibrated.guarantee,
        min_count=min_count,
        asked_mechanism=row.name,
        asked_select=select,
        counts=counts,
        count_share=count_share,
        raw_counts=raw_counts,
        public_transactions=public_transactions,
    )


def _half(budget: Budget) -> tuple[Fraction, Fraction]:
    """What a mechanism for add-remove may spend so that the budget holds for `replace`."""
    epsilon = budget.epsilon / 2
    delta = round_down(float(budget.delta / (1 + exp_up(epsilon)))) if budget.delta else Fraction(0)
    return epsilon, delta


def _doubled(guarantee: Guarantee) -> Guarantee:
    """The guarantee for `replace` of a mechanism that has this one for add-remove (group privacy, two steps)."""
    return Guarantee(
        epsilon=2 * guarantee.epsilon,
        delta=guarantee.delta * (1 + exp_up(guarantee.epsilon)),
        composition=guarantee.composition,
    )


def _count_share(share: Number | None, *, raw_counts: bool, public_transactions: int | None) -> Fraction | None:
    """The share, exact; refuses what is said of counts where none are released."""
    if share is None:
        if raw_counts or public_transactions is not None:
            raise UsageError(
                "No counts are released to be left raw, or divided by the number of transactions.",
                "Add --release-counts (count_share=... in Python).",
            )
        return None
    part = exact(share, "the share of the counts")
    if not 0 < part < 1:
        raise UsageError("The share of the counts is out of range.", "Choose it between 0 and 1, such as 0.3.")
    if public_transactions is not None:
        _check_range(public_transactions, 1, 10**12, "The public number of transactions")
    return part


def _sizes(size: int | Sequence[int]) -> tuple[int, ...]:
    """The sizes in increasing order, each once."""
    given = tuple(size) if isinstance(size, Sequence) else (size,)
    for each in given:
        _check_range(each, 1, LARGEST_SIZE, "The itemset size")
    if not given:
        raise UsageError("No itemset size was given.", "Give at least one.")
    return tuple(sorted(set(given)))


def _check_range(value: int, least: int, most: int, what: str) -> None:
    if not isinstance(value, int) or not least <= value <= most:
        raise UsageError(f"{what} is out of range.", f"Choose a whole number from {least} to {most}.")
