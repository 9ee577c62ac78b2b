"""The plan of a release: everything that is fixed before any data is seen."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

from fim_private.accounting.cost import Cost
from fim_private.constraints import Constraints
from fim_private.mechanisms.count_noise import CountNoise
from fim_private.mechanisms.per_size import PerSize
from fim_private.mechanisms.protocol import USUAL_NAMES, Margin, Mechanism, Spending, Stepwise, WithCounts
from fim_private.mechanisms.registry import find
from fim_private.notebook_table import notebook_table
from fim_private.plan.question import Question
from fim_private.plan.record import plan_record
from fim_private.plan.universe import Universe
from fim_private.privacy import Budget, Guarantee, Loss, NeighbouringRelation, PrivacyUnit, failure_probability

FAR_BEYOND = 100
"""Places beyond this many times k are the bulk of the ranking."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a release will do and what it will cost, fixed before any data is seen.

    Args:
        question: what was asked; `question.mechanism` may leave the mechanism to the planner.
        mechanism_name: the mechanism's name in the registry.
        mechanism: the mechanism with its parameters.
        guarantee: what is proved for this unit and relation; at most the budget.
        why: why the planner chose this mechanism; None if the question names the mechanism.
        counts: the noise of the chosen itemsets' counts, which are measured anew; None if no such counts are released.
    """

    question: Question
    mechanism_name: str
    mechanism: Mechanism | Stepwise | PerSize
    guarantee: Guarantee
    why: str | None = None
    counts: CountNoise | None = None

    def __repr__(self) -> str:
        return f"<Plan, {self._in_short()}, lead {self.lead if self.lead is not None else '-'}>"

    def _repr_html_(self) -> str:
        """The plan's steps and what they cost, as notebooks show a value."""
        rows = [
            [
                line.what,
                *(None if cost is None else f"{float(cost):.6g}" for cost in (line.epsilon, line.rho)),
                line.times,
            ]
            for line in self.spending
        ]
        rows += [
            [f"needs a lead of {margin.counts:,} {margin.words}", None, None, None] for margin in self.mechanism.margins
        ]
        return notebook_table(f"Plan, {self._in_short()}", ["what", "epsilon", "rho", "times"], rows)

    def _in_short(self) -> str:
        budget = f"epsilon {float(self.budget.epsilon):g}, delta {float(self.budget.delta):g}"
        sizes = ", ".join(map(str, self.sizes))
        protects = self.unit.describe(self.question.together)
        return f"top {self.top} of size {sizes} by {self.mechanism_name}, {budget}, protects {protects}"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the itemsets, increasing."""
        return self.question.sizes

    @property
    def top(self) -> int:
        """k, the number of itemsets; per size, if each size is searched separately."""
        return self.question.top

    @property
    def budget(self) -> Budget:
        """What was allowed."""
        return self.question.budget

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit."""
        return self.question.unit

    @property
    def relation(self) -> NeighbouringRelation:
        """The neighbouring relation."""
        return self.question.relation

    @property
    def universe(self) -> Universe:
        """The declared universe, or the open one."""
        return self.question.universe

    @property
    def constraints(self) -> Constraints:
        """What itemsets must and must not contain."""
        return self.question.constraints

    @property
    def max_items(self) -> int | None:
        """At most this many of the remaining items of a transaction are kept. None keeps all of them."""
        return self.question.max_items

    @property
    def size(self) -> int:
        """The size of the itemsets, if there is only one size."""
        (size,) = self.sizes
        return size

    @property
    def selections(self) -> tuple[tuple[tuple[int, ...], Mechanism | Stepwise], ...]:
        """The searches in order: for each, the sizes it looks for and the mechanism that picks."""
        if not isinstance(self.mechanism, PerSize):
            return ((self.question.remaining_sizes, self.mechanism),)
        searches = cast(tuple[Mechanism | Stepwise, ...], self.mechanism.parts)
        return tuple(((size,), search) for size, search in zip(self.question.remaining_sizes, searches, strict=True))

    @property
    def search(self) -> Mechanism | Stepwise:
        """The only search, if there is only one."""
        ((_, search),) = self.selections
        return search

    @property
    def failure(self) -> Fraction:
        """A bound on the probability, on either neighbour's side, of any event that the losses do not cover."""
        return failure_probability(self.mechanism.failures)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What all steps cost if no failure happens: first the mechanism's losses, then the counts'."""
        return self.mechanism.losses if self.counts is None else (*self.mechanism.losses, self.counts.loss)

    @property
    def cost(self) -> Cost:
        """What a ledger charges for the release.

        The losses are given if the mechanism's proof holds for the relation, not if group privacy serves it.
        """
        public: dict[str, Any] = {}
        if self.most_items is not None:
            public["most_items"] = self.most_items
        if self.question.public_transactions is not None:
            public["public_transactions"] = self.question.public_transactions
        return Cost(
            budget=self.budget,
            guarantee=self.guarantee,
            losses=None if self.question.by_group_privacy(find(self.mechanism_name)) else self.losses,
            failures=self.mechanism.failures,
            unit=self.unit,
            relation=self.relation,
            together=self.question.together,
            mechanism=self.mechanism_name,
            public=public,
            record=plan_record(self),
        )

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The losses in words."""
        return self.mechanism.spending if self.counts is None else (*self.mechanism.spending, self.counts.spending)

    @property
    def gives_counts(self) -> bool:
        """Whether every released itemset comes with a count."""
        return self.counts is not None or all(
            isinstance(search, WithCounts) and search.gives_counts for _, search in self.selections
        )

    @property
    def most_items(self) -> int | None:
        """The most different items that occur, whose names are not public; None if the mechanism needs no number."""
        row = find(self.mechanism_name)
        if self.universe.anonymous:
            return self.universe.items if row.needs_universe or row.finds_items else None
        return USUAL_NAMES if self.universe.items is None and row.finds_items else None

    @property
    def has_anonymous_names(self) -> bool:
        """Whether a mechanism for a declared universe chooses among items whose number alone is declared."""
        return self.most_items is not None and find(self.mechanism_name).needs_universe

    def declared_itemsets(self, *sizes: int) -> int | None:
        """How many itemsets of these remaining sizes the mechanism's universe has; None if the universe is open.

        A number of items without names declares nothing to a mechanism that needs no universe.
        """
        if self.universe.anonymous and self.most_items is None:
            return None
        return self.question.remaining_universe.itemsets(*sizes)

    @cached_property
    def lead(self) -> int | None:
        """The least margin over the bulk: over itemsets that do not occur, or a place far beyond k; None without one.

        A margin over the next place does not count: the data alone decides how far apart the places are. A
        margin that is enough only where another lead is small counts only if no other margin is over the bulk.
        """
        over = self.margins_over_bulk
        usual = [margin for margin in over if not margin.otherwise] or over
        return min((margin.counts for margin in usual), default=None)

    @property
    def compared_lead(self) -> int | None:
        """The least margin over the bulk by which mechanisms are chosen."""
        return min((margin.compared for margin in self.margins_over_bulk), default=None)

    @property
    def margins_over_bulk(self) -> tuple[Margin, ...]:
        """The margins over itemsets that do not occur, or over a place far beyond k."""
        return tuple(margin for margin in self.mechanism.margins if self._over_bulk(margin))

    @property
    def near_lead(self) -> int | None:
        """The margin over the next place; None if the mechanism states none. No mechanism states two."""
        return next((margin.counts for margin in self.mechanism.margins if not self._over_bulk(margin)), None)

    def _over_bulk(self, margin: Margin) -> bool:
        return margin.place is None or margin.place > FAR_BEYOND * self.top
