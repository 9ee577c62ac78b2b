"""The searches of a plan, one after the other: counting for each of them, and selecting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from fim_private.counting import HiddenCounts, TransactionDatabase, largest_counts
from fim_private.mechanisms.protocol import Stepwise
from fim_private.mining import stepwise
from fim_private.mining.outcome import Outcome
from fim_private.plan import Plan
from fim_private.randomness import Randomness
from fim_private.release import FoundItem, ReleasedItemset
from fim_private.release.admission import check_universe
from fim_private.release.door import pass_through
from fim_private.transactions.item_codes import PADDING, name_order

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What one search selected, or several, in the order picked; and the items found first, if it finds items."""

    itemsets: tuple[ReleasedItemset, ...]
    codes: tuple[tuple[int, ...], ...]
    found: tuple[FoundItem, ...] | None = None

    def __add__(self, other: SearchResult) -> SearchResult:
        """The results of both, one after the other. An item found twice keeps its first count."""
        found = other.found if self.found is None else self.found
        if self.found is not None and other.found is not None:
            known = {item.item for item in self.found}
            both = (*self.found, *(item for item in other.found if item.item not in known))
            found = tuple(sorted(both, key=lambda item: -item.count))
        return SearchResult(itemsets=self.itemsets + other.itemsets, codes=self.codes + other.codes, found=found)


def count_all(bounded: TransactionDatabase, plan: Plan, progress: Progress) -> list[HiddenCounts | None]:
    """For each search of the plan, the counts that it looks at; None if all its counts follow from released numbers.

    Raises:
        InputError: more items occur than the declared universe has, or there is too much to count.
    """
    check_universe(bounded, plan)
    counted: list[HiddenCounts | None] = []
    for sizes, search in plan.selections:
        progress("counting")
        if isinstance(search, Stepwise):
            stepwise.check_work(bounded, search)
            counted.append(stepwise.count_first(bounded, search))
            continue
        counted.append(largest_counts(bounded, sizes, search.depth))
    return counted


def select_all(
    bounded: TransactionDatabase,
    plan: Plan,
    counted: Sequence[HiddenCounts | None],
    randomness: Randomness,
    progress: Progress,
) -> SearchResult:
    """What all searches select, one after the other."""
    chosen = []
    for (sizes, search), counts in zip(plan.selections, counted, strict=True):
        if isinstance(search, Stepwise):
            outcome = stepwise.run(bounded, search, randomness, counts=counts, progress=progress)
            chosen.append(_released(bounded, plan, outcome))
        elif counts is not None:
            progress("selecting")
            passed = pass_through(bounded, counts, search, plan, randomness, sizes=sizes)
            chosen.append(
                SearchResult(
                    itemsets=tuple(
                        ReleasedItemset(rank=rank, items=completed(one.items, plan), lead=one.lead)
                        for rank, one in enumerate(passed, start=1)
                    ),
                    codes=tuple(one.codes for one in passed),
                )
            )
    return reduce(SearchResult.__add__, chosen)


def completed(items: Sequence[str], plan: Plan) -> tuple[str, ...]:
    """The found items together with those that every itemset must contain, in item order."""
    return tuple(sorted((*plan.constraints.must_contain, *items), key=name_order))


def _released(bounded: TransactionDatabase, plan: Plan, outcome: Outcome) -> SearchResult:
    """What a mechanism that counts step by step answered, with names."""
    names = bounded.vocabulary
    counts: list[int] | list[None] = [None] * len(outcome.itemsets)
    if outcome.counts is not None:
        counts = [max(0, round(number)) for number in outcome.counts.tolist()]
    itemsets = tuple(
        ReleasedItemset(
            rank=rank,
            items=completed(names.gather(itemset[itemset != PADDING]).to_list(), plan),
            count=count,
            support=None if count is None else plan.question.support(count),
        )
        for rank, (itemset, count) in enumerate(zip(outcome.itemsets, counts, strict=True), start=1)
    )
    found = None
    if outcome.found is not None:
        counted = zip(names.gather(outcome.found.codes), outcome.found.counts.tolist(), strict=True)
        found = tuple(FoundItem(item=name, count=round(units, 2)) for name, units in counted)
    return SearchResult(itemsets=itemsets, codes=tuple(outcome.codes), found=found)
