"""How many itemsets to ask for, in a shop of which two numbers are declared: computed from plans, without any data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from fim_private.errors import BudgetError, UsageError
from fim_private.plan.outlook import Outlook, outlook
from fim_private.plan.planner import plan_for
from fim_private.plan.question import Question
from fim_private.plan.shape import LARGEST, Shop
from fim_private.plan.universe import Universe
from fim_private.privacy import Number, exact

TOPS = (1, 5, 10, 20, 50, 100, 200, 500)
RELIABLE, HALF = 2 / 3, 0.5
"""A list is worth asking for if it names this share of the true top k; below the second one it is mostly not that."""
CLOSE = 0.25
"""A count is worth asking for if it is off by at most this share of itself, 19 times in 20."""
CATALOGUE = 5_000
"""The length of the public list that is assumed if nobody says how many items there are. The tenfold changes little."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """The outlooks of one way to ask, by the number of itemsets. A list that cannot be planned is left out."""

    outlooks: tuple[Outlook, ...]

    @cached_property
    def most(self) -> int | None:
        """The largest number of itemsets worth asking for, or None if no list is worth it."""
        good = [
            each.plan.top for each in self.outlooks if each.right >= RELIABLE and (each.count_error or 0.0) <= CLOSE
        ]
        return max(good, default=None)

    @property
    def too_many(self) -> int | None:
        """The least number beyond `most` from which on fewer than half would be right; None if not reached.

        A longer list may be right more often than a shorter one: other ways serve it.
        """
        wrong = list(takewhile(lambda each: each.right < HALF, reversed(self.outlooks)))
        return min((each.plan.top for each in wrong if each.plan.top > (self.most or 0)), default=None)

    def at(self, top: int) -> Outlook | None:
        """The outlook of this number of itemsets."""
        return next((each for each in self.outlooks if each.plan.top == top), None)


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to ask for.

    Args:
        question: what is asked, whatever its `top`.
        shop: what is declared of the data, with the number of items if the question has one.
        plain: without released counts.
        counted: with them.
        listed: without counts, with a public list of `catalogue` items, perhaps only for as many itemsets as are worth
            asking for without it, and more; None if the question has such a list.
        listed_counted: the same with counts.
        catalogue: how long the list is that is assumed.
    """

    question: Question
    shop: Shop
    plain: Column
    counted: Column
    listed: Column | None
    listed_counted: Column | None
    catalogue: int

    @property
    def tops(self) -> list[int]:
        """The numbers of itemsets that were looked at."""
        return sorted({each.plan.top for column in (self.plain, self.counted) for each in column.outlooks})


def advise(question: Question, shop: Shop, *, count_share: Number, tops: Sequence[int] = TOPS) -> Advice:
    """How many itemsets to ask for.

    Args:
        question: what is asked. Its `top` does not matter.
        shop: what is declared of the data.
        count_share: the share of epsilon for counts, if the question names none.
        tops: the numbers of itemsets to look at, increasing.

    Raises:
        UsageError: nothing public says how often such itemsets occur.
        BudgetError: the budget cannot pay for anything.
    """
    if shop.items_per_transaction < max(question.sizes):
        raise UsageError(
            f"Itemsets of {max(question.sizes)} items are rare where each holds about {shop.items_per_transaction:g}, "
            "and no public data says how rare.",
            "Give a larger --items-per-unit, or a smaller --size.",
        )
    items = question.universe.items
    if items is not None and shop.items_per_transaction >= items:
        raise UsageError(
            f"Each holds about {shop.items_per_transaction:g} items, but there are only {items:,}.",
            "Give a smaller --items-per-unit, or more items (--universe-items).",
        )
    shop = replace(shop, items=items)
    plain = replace(question, count_share=None, raw_counts=False, with_subsets=False, public_transactions=None)
    share = exact(question.count_share or count_share, "the share of the counts")
    counted = replace(plain, count_share=share, with_subsets=question.with_subsets)
    listed = question.universe.has_list
    catalogue = question.universe.items or CATALOGUE
    with_list = replace(plain, universe=Universe(items=catalogue, listed=True))
    columns: list[Column] = []
    for without, with_counts in ((plain, counted), (with_list, replace(counted, universe=with_list.universe))):
        if without is with_list and listed:
            break
        # A public list of items helps if at least as many itemsets are worth asking for.
        least = (columns[0].most or 0, columns[1].most or 0) if columns else (0, 0)
        columns.append(_column(without, shop, tops, least[0]))
        # Counts take part of the budget: where a list is too long without them, it is with them.
        worth_it = [top for top in tops if top <= (columns[-1].most or tops[0])]
        columns.append(_column(with_counts, shop, worth_it, least[1]))
    if not columns[0].outlooks:
        # Whatever refuses the smallest list says what is wrong.
        plan_for(replace(plain, top=tops[0]))
    return Advice(
        question=plain,
        shop=shop,
        plain=columns[0],
        counted=columns[1],
        listed=None if listed else columns[2],
        listed_counted=None if listed else columns[3],
        catalogue=catalogue,
    )


def _column(question: Question, shop: Shop, tops: Sequence[int], least: int) -> Column:
    """The outlooks of this many itemsets, and of fewer than `least` only if no more than that are worth asking for."""
    longer = Column(outlooks=tuple(_outlooks(question, shop, [top for top in tops if top >= least])))
    return longer if longer.most or not least else Column(outlooks=tuple(_outlooks(question, shop, tops)))


def _outlooks(question: Question, shop: Shop, tops: Sequence[int]) -> Iterator[Outlook]:
    for top in tops:
        try:
            found = outlook(plan_for(replace(question, top=top)), shop)
        except (BudgetError, UsageError):
            continue
        if found is None:
            raise UsageError(
                "--about does not answer for such itemsets.",
                f"Leave out --about, or ask for itemsets of at most {LARGEST} items by count, without --must-contain, "
                "--min-count and --per-size.",
            )
        yield found
        if found.right < HALF / 2:
            return
