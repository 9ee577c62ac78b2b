"""What is asked of a release. The plan follows from this alone. It is checked once, without data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Required, TypedDict, TypeVar, Unpack, cast

from fim_private.constraints import NOTHING, Constraints
from fim_private.errors import UsageError, check_kinds
from fim_private.mechanisms.protocol import BY_COUNT, BY_LEVERAGE, COUNTS, PEEL
from fim_private.mechanisms.registry import AUTO, REGISTRY, Row, find
from fim_private.plan.universe import OPEN, Universe
from fim_private.privacy import Budget, NeighbouringRelation, Number, PrivacyUnit, Together, exact, whole

LARGEST_SIZE = 20
LARGEST_WITH_SUBSETS = 6
LARGEST_TOP = 10_000
MOST_ABOVE = 1_000
"""With a minimum count and no --top, at most this many itemsets are released."""
MOST_ITEMSETS = 10**300
COUNTING = next(row.name for row in REGISTRY.values() if row.reads_counts)
"""The mechanism for --select and --min-count, if none is named."""


Function = TypeVar("Function", bound=Callable[..., object])


class QuestionArguments(TypedDict, total=False):
    """A question as people write it, without the size: the fields of `Question`, or None for a default."""

    top: int | None
    budget: Required[Budget]
    unit: Required[PrivacyUnit]
    relation: NeighbouringRelation
    universe: Universe | None
    constraints: Constraints | None
    together: str | None
    max_items: int | None
    mechanism: str
    select: str | None
    min_count: int | None
    count_share: Number | None
    raw_counts: bool
    with_subsets: bool
    public_transactions: int | None
    per_size: bool
    by: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked: what to find, and what finding it may cost.

    Args:
        sizes: the sizes of the itemsets (numbers of items), increasing; their itemsets are ranked together.
        top: k, the number of itemsets. With `min_count` it may be left out; it is then 1,000.
        budget: what the whole release may cost.
        unit: the privacy unit; `PrivacyUnit()` is one transaction.
        relation: the neighbouring relation, add-remove or replace.
        universe: the declared universe, or the open one.
        constraints: what itemsets must and must not contain. A smaller search needs less noise.
        together: "basket" to count the units that hold an itemset in at least one transaction, "unit" to count those
            that hold it in all their transactions merged. The default is "basket" if a column names the unit and all
            its transactions are kept. Otherwise transactions are counted, and this is None.
        max_items: a transaction keeps at most this many of its remaining items, and a counted unit likewise. They are
            chosen uniformly at random. None keeps all items. This costs no privacy.
        mechanism: a name of the registry, or "auto" for the planner's choice.
        select: how items-first selects, "peel" or "counts"; None if the planner decides.
        min_count: release only itemsets with a noisy count above this. It needs a mechanism that counts (items-first).
        count_share: the share of epsilon, between 0 and 1, for the counts of the chosen itemsets. None releases no
            counts, except those of items-first.
        raw_counts: release these counts as drawn, not made consistent.
        with_subsets: also count every subset of the chosen itemsets, so that their rules have confidences.
        public_transactions: the number of transactions after bounding, or of units if these are counted, which is taken
            as public. Counts then come with supports.
        per_size: find the top of each size, not of all sizes together. All sizes share one budget.
        by: what itemsets are ranked by: "count", or for pairs "leverage", the number of transactions that hold both
            items beyond those that would if the items were independent. items-first alone knows leverage.

    Raises:
        UsageError: a number is out of range, or options contradict each other.
    """

    sizes: tuple[int, ...]
    top: int = cast(int, None)  # a number from `__post_init__` on
    budget: Budget
    unit: PrivacyUnit
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE
    universe: Universe = OPEN
    constraints: Constraints = NOTHING
    together: Together | None = None
    max_items: int | None = None
    mechanism: str = AUTO
    select: str | None = None
    min_count: int | None = None
    count_share: Fraction | None = None
    raw_counts: bool = False
    with_subsets: bool = False
    public_transactions: int | None = None
    per_size: bool = False
    by: str = BY_COUNT

    @classmethod
    def of(cls, *, size: int | Sequence[int], **asked: Unpack[QuestionArguments]) -> Question:
        """The question in checked form, of one size or several, with the other fields as people write them.

        Raises:
            UsageError: there is no such field, or as the class.
        """
        _refuse_unknown(asked)
        _refuse_missing(asked)
        return cls(sizes=size, **asked)  # type: ignore[arg-type] # `__post_init__` makes of them what the fields say

    def __post_init__(self) -> None:
        keep = partial(object.__setattr__, self)
        keep("universe", OPEN if self.universe is None else self.universe)
        keep("constraints", NOTHING if self.constraints is None else self.constraints)
        check_kinds(
            budget=(self.budget, Budget),
            unit=(self.unit, PrivacyUnit),
            universe=(self.universe, Universe),
            constraints=(self.constraints, Constraints),
            mechanism=(self.mechanism, str),
        )
        keep("relation", NeighbouringRelation.of(self.relation))
        self._settle_together(keep)
        keep("sizes", _sizes(self.sizes))
        keep("per_size", self.per_size and len(self.sizes) > 1)
        self._settle_order(keep)
        self._settle_selection(keep)
        keep("top", whole(self.top, 1, LARGEST_TOP, "The number of itemsets"))
        if self.max_items is not None:
            least = max(self.remaining_sizes)
            keep("max_items", whole(self.max_items, least, 10**6, "The number of items to keep per transaction"))
        self._settle_counts(keep)
        self._check_universe()

    def support(self, count: int) -> float | None:
        """The share of the transactions that this count is; None if their number is not public."""
        return None if self.public_transactions is None else min(1.0, count / self.public_transactions)

    def expected(self, one: int, other: int) -> int | None:
        """How many transactions would hold two items of these counts by chance; None if their number is not public."""
        return None if self.public_transactions is None else round(one * other / self.public_transactions)

    def _settle_together(self, keep: Callable[[str, Any], None]) -> None:
        """Units are counted if a column names them and none of their transactions is left out."""
        if self.unit.column is not None and self.unit.max_transactions is None:
            keep("together", Together.of(self.together or Together.BASKET))
        elif self.together is not None:
            counted = "each transaction is a unit" if self.unit.column is None else "--max-transactions keeps some"
            raise UsageError(
                f"--together chooses how units are counted, but transactions are counted, because {counted}.",
                "Leave out --together, or name the unit's column with --unit-column and leave out --max-transactions.",
            )

    def _settle_order(self, keep: Callable[[str, Any], None]) -> None:
        """Leverage chooses the mechanism that knows it, and is refused where it has no meaning or no proof."""
        if self.by not in (BY_COUNT, BY_LEVERAGE):
            raise UsageError("There is no such way to rank itemsets.", f"Choose --by {BY_COUNT} or {BY_LEVERAGE}.")
        if self.by == BY_COUNT:
            return
        if self.mechanism != AUTO and not find(self.mechanism).reads_counts:
            raise UsageError(
                f"The mechanism {self.mechanism} ranks itemsets by count alone.",
                f"--by {BY_LEVERAGE} goes with --mechanism {COUNTING}.",
            )
        if self.sizes != (2,):
            raise UsageError("Leverage compares two items.", "Give --size 2.")
        if self.constraints.must_contain:
            raise UsageError(
                "With --must-contain the program searches for one further item, and leverage compares two.",
                "Leave out --must-contain, or rank by count.",
            )
        if self.unit.sensitivity > 1:
            raise UsageError(
                "Leverage compares counts of pairs and of items, and --max-transactions counts items by unit.",
                "Leave out --max-transactions, or rank by count.",
            )
        if self.min_count is not None or self.select == COUNTS:
            raise UsageError(
                "Pairs of high leverage are picked, not read from noisy counts.",
                f"Leave out --min-count and --select {COUNTS}. --release-counts measures what was picked.",
            )
        keep("select", self.select or PEEL)

    def _settle_selection(self, keep: Callable[[str, Any], None]) -> None:
        """Options that only one mechanism with noisy counts understands choose that mechanism."""
        if self.min_count is not None:
            keep("min_count", whole(self.min_count, 1, 10**12, "The minimum count"))
            keep("select", self.select or COUNTS)
        if self.select is not None and self.mechanism == AUTO:
            keep("mechanism", COUNTING)
        if self.select is not None and not find(self.mechanism).reads_counts:
            raise UsageError(
                f"The mechanism {self.mechanism} has no way to select by noisy counts.",
                f"--select and --min-count go with --mechanism {COUNTING}.",
            )
        if self.min_count is not None and self.select != COUNTS:
            raise UsageError("A minimum count needs noisy counts.", f"Leave out --select, or give --select {COUNTS}.")
        if cast(int | None, self.top) is None:
            if self.min_count is None:
                raise UsageError("The question does not say how many itemsets to find.", "Give --top, or --min-count.")
            if self.count_share is not None:
                raise UsageError(
                    f"--min-count may find {MOST_ABOVE:,} itemsets, and new counts of so many would be mostly noise.",
                    "Give --top too, or leave out --release-counts: --min-count gives counts by itself.",
                )
            keep("top", min([MOST_ABOVE, *(number for number in self._searched if number)]))

    @property
    def _option_of_counts(self) -> str:
        """The option that was given and means nothing without counts."""
        return "--raw-counts" if self.raw_counts else "--with-subsets" if self.with_subsets else "--public-transactions"

    def _settle_counts(self, keep: Callable[[str, Any], None]) -> None:
        """Make the share exact, and refuse options about counts if none are released."""
        if self.count_share is not None:
            keep("count_share", exact(self.count_share, "the share of the counts"))
            if not 0 < self.count_share < 1:
                raise UsageError("The share of the counts is out of range.", "Choose it between 0 and 1, such as 0.3.")
        elif self.raw_counts or self.with_subsets or (self.public_transactions is not None and self.select != COUNTS):
            raise UsageError(
                f"{self._option_of_counts} needs counts, and this release has none.",
                f"Add --release-counts, or leave out {self._option_of_counts}.",
            )
        keep("with_subsets", self.with_subsets and max(self.sizes) > 1)
        if self.with_subsets and max(self.sizes) > LARGEST_WITH_SUBSETS:
            raise UsageError(
                "Itemsets of so many items have too many subsets to count.",
                f"Ask for at most {LARGEST_WITH_SUBSETS} items, or leave out --with-subsets.",
            )
        if self.with_subsets and self.constraints.must_contain:
            raise UsageError(
                "With --must-contain only transactions with these items are counted, and subsets may lack them.",
                "Leave out --with-subsets or --must-contain.",
            )
        if self.public_transactions is not None:
            most, what = 10**12, "The public number of transactions"
            keep("public_transactions", whole(self.public_transactions, 1, most, what))

    def _check_universe(self) -> None:
        universe = self.remaining_universe
        itemsets = universe.itemsets(*self.remaining_sizes)
        if itemsets is not None and itemsets > MOST_ITEMSETS:
            raise UsageError(
                "The declared universe has more than 1e300 itemsets of this size, too many to calculate with.",
                "Declare fewer items, or ask for a smaller --size.",
            )
        numbers = self._searched
        if 0 in numbers:
            raise UsageError(
                f"The declared universe has too few items for an itemset of this size: {universe.items}.",
                "Ask for a smaller --size, or declare more items. A list has one item per line.",
            )
        if any(number < self.top for number in numbers):
            raise UsageError(
                f"The declared universe has fewer itemsets of this size than are asked for: {min(numbers)}.",
                "Ask for fewer with --top, or declare more items. A list has one item per line.",
            )

    @property
    def _searched(self) -> list[int]:
        """How many itemsets each search chooses from; empty if no list says it."""
        universe = self.remaining_universe
        return [number for search in self.searches if (number := universe.itemsets(*search)) is not None]

    @property
    def tells_leverage(self) -> bool:
        """Whether the leverage of pairs follows from their counts, those of their items, and a public number."""
        return self.by == BY_LEVERAGE and self.count_share is not None and self.public_transactions is not None

    @property
    def counts_subsets(self) -> bool:
        """Whether subsets of the chosen itemsets are counted too: if that was asked for, or if leverage needs it."""
        return self.with_subsets or self.tells_leverage

    @property
    def counted_per_itemset(self) -> int:
        """How many counts are planned for each chosen itemset: one, or one for each of its subsets.

        A set of r items has 2^r - 1 subsets that are not empty. Some itemsets share subsets; the plan cannot know.
        """
        return 2 ** max(self.sizes) - 1 if self.counts_subsets else 1

    @property
    def counts_units(self) -> bool:
        """Whether counts are of units that hold an itemset in one of several transactions."""
        return self.together is Together.BASKET

    @property
    def counted(self) -> str:
        """What counts are numbers of, in words. Merged transactions of a unit are one transaction."""
        return "units" if self.counts_units else "transactions"

    @property
    def remaining_sizes(self) -> tuple[int, ...]:
        """For each size, how many items are searched for beside those that the itemset must contain."""
        return tuple(map(self.constraints.remaining_size, self.sizes))

    @cached_property
    def remaining_universe(self) -> Universe:
        """The universe without the items that the constraints name: the search is among these.

        Worked out once: with a long list it takes seconds, and the door asks for each pick of an absent itemset.
        """
        return self.universe.without(self.constraints)

    @property
    def searches(self) -> tuple[tuple[int, ...], ...]:
        """For each search, the remaining sizes that are ranked together."""
        return tuple((size,) for size in self.remaining_sizes) if self.per_size else (self.remaining_sizes,)

    def by_group_privacy(self, row: Row) -> bool:
        """Whether group privacy serves the relation, because the mechanism's own proof does not."""
        return self.relation is NeighbouringRelation.REPLACE and not row.both_relations

    def suits(self, row: Row) -> bool:
        """Whether the question gives a mechanism a universe and a cap that serve it."""
        return (
            (self.universe.items is not None or not row.needs_universe)
            and (not self.universe.has_list or row.serves_list)
            and (self.max_items is not None or not row.needs_cap)
            and (row.most_names is None or (self.remaining_universe.items or 0) <= row.most_names)
        )


def spelled_out(function: Function) -> Function:
    """Let help and notebooks show the fields behind a function's `**asked`."""
    signature = inspect.signature(function)
    asked = []
    for name, kind in QuestionArguments.__annotations__.items():
        text, usual = kind.__forward_arg__, getattr(Question, name, inspect.Parameter.empty)
        asked.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if text.endswith("| None") else usual,
                annotation=text.removeprefix("Required[").removesuffix("]"),
            )
        )
    given = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    function.__signature__ = signature.replace(parameters=[*given, *asked])  # type: ignore[attr-defined]
    return function


def _refuse_missing(names: Collection[str]) -> None:
    """Refuse a question that does not say what it may cost, or whom it protects."""
    for name, kind in (("budget", Budget), ("unit", PrivacyUnit)):
        if name not in names:
            raise UsageError(f"The argument {name} is missing.", f"Write {name}={kind.__name__}(...).")


def _refuse_unknown(names: Iterable[str]) -> None:
    """Refuse an argument that no question has, and show where it belongs."""
    for name in names:
        if name not in QuestionArguments.__annotations__:
            wholes = {"budget": Budget, "unit": PrivacyUnit, "universe": Universe, "constraints": Constraints}
            held = [
                f"{whole}={kind.__name__}({name}=...)"
                for whole, kind in wholes.items()
                if name in inspect.signature(kind).parameters
            ]
            known = ", ".join(["size", *QuestionArguments.__annotations__])
            raise UsageError(f"There is no argument {name}.", f"Write {held[0] if held else f'one of {known}'}.")


def _sizes(size: object) -> tuple[int, ...]:
    """The sizes in increasing order, each once."""
    given = tuple(size) if isinstance(size, Sequence) else (size,)
    if not given:
        raise UsageError("No itemset size was given.", "Give at least one.")
    return tuple(sorted({whole(each, 1, LARGEST_SIZE, "The itemset size") for each in given}))
