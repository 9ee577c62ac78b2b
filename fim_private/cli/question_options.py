"""The question as options: what to find, and what to promise."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fim_private.cli.completion import mechanism_names, one_of
from fim_private.cli.options import (
    Delta,
    Epsilon,
    MaxItems,
    Neighbours,
    Select,
    TogetherOption,
    UnitColumn,
    UniverseItems,
    promise,
    what,
)
from fim_private.errors import UsageError
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit, Together, exact

if TYPE_CHECKING:
    from fim_private import plan

DEFAULT_COUNT_SHARE = "0.2"
"""The share of epsilon that released counts take; the rest finds the itemsets.

On web shop, supermarket, outlet and web sessions, more than this makes intervals a little narrower and names fewer of
the itemsets."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question as it is typed; `asked` makes a `fim_private.plan.Question` of it."""

    size: Annotated[int | None, what(help="The number of items in each itemset.")] = None
    sizes: Annotated[
        str | None,
        what(
            metavar="1-3",
            help="Several sizes instead of --size, such as 1-3 or 1,2. They share one ranking and one --top.",
        ),
    ] = None
    per_size: Annotated[
        bool,
        what(
            "--per-size",
            help="Find the top of each of the --sizes separately. The sizes share the budget.",
        ),
    ] = False
    by: Annotated[
        str,
        what(
            metavar="count|leverage",
            autocompletion=one_of("count", "leverage"),
            help="Rank by count, or pairs by leverage: how many more transactions hold both items than would by "
            "chance (items-first only).",
        ),
    ] = "count"
    top: Annotated[int | None, what(metavar="K", help="The number of itemsets to find.")] = None
    min_count: Annotated[
        int | None,
        what(
            metavar="C",
            help="Find only itemsets whose noisy count exceeds C (items-first only). --top may then be left out.",
        ),
    ] = None
    min_support: Annotated[
        str | None,
        what(
            metavar="SHARE",
            help="Instead of --min-count: find the itemsets that at least this share of --public-transactions holds.",
        ),
    ] = None
    release_counts: Annotated[
        bool,
        what(
            "--release-counts",
            help="Also release the itemsets' counts, with noise and 95 % intervals. They get a fifth of epsilon, or "
            "the share that you give, as in --release-counts 0.5, and whatever choosing the itemsets leaves over.",
        ),
    ] = False
    count_share: Annotated[str | None, what(metavar="SHARE", help="The same as --release-counts SHARE.")] = None
    raw_counts: Annotated[
        bool,
        what(
            "--raw-counts",
            help="Show released counts as they were drawn. Without this option they are made consistent: whole "
            "numbers, none negative, no itemset above its subsets.",
        ),
    ] = False
    with_subsets: Annotated[
        bool,
        what(
            "--with-subsets",
            help="With --release-counts: also count all subsets of the itemsets, so that rules have confidences. All "
            "counts share the budget, so each has more noise.",
        ),
    ] = False
    public_transactions: Annotated[
        int | None,
        what(
            metavar="N",
            help="Declare that there are N transactions (or units, if these are counted), and that this number is "
            "public. Released counts then come with supports (count divided by N). With --by leverage, the items are "
            "counted too, and leverage and lift are shown.",
        ),
    ] = None
    epsilon: Epsilon
    delta: Delta
    unit: Annotated[
        str | None,
        promise(
            metavar="transaction",
            help="The unit that is protected: 'transaction' if each belongs to a different person. Otherwise give "
            "--unit-column.",
        ),
    ] = None
    unit_column: UnitColumn = None
    together: TogetherOption = None
    merge: Annotated[
        bool, promise("--merge", help="Merge all transactions of a unit into one. The same as --together unit.")
    ] = False
    max_transactions: Annotated[
        int | None,
        promise(
            metavar="M",
            help="Count transactions, not units: keep at most M transactions of each unit, chosen at random.",
        ),
    ] = None
    neighbours: Neighbours = NeighbouringRelation.ADD_REMOVE
    max_items: MaxItems = None
    mechanism: Annotated[
        str | None,
        what(
            metavar="NAME",
            autocompletion=mechanism_names("auto"),
            help="A mechanism that `fim-private plan` lists. auto chooses one, and the plan says why.",
        ),
    ] = "auto"
    select: Select = None
    repeat: Annotated[bool, what("--repeat", help="lmm only: search for a gap before each pick.")] = False
    no_fallback: Annotated[bool, what("--no-fallback", help="lmm only: name nothing if no gap is found.")] = False
    universe_items: UniverseItems = None
    universe_file: Annotated[
        str | None,
        what(
            "--universe-file",
            "--items-file",
            metavar="FILE",
            help="A public list of items, one per line. Only these items are looked at, and they declare the "
            "universe. Both names of the option mean the same.",
        ),
    ] = None
    must_contain: Annotated[
        list[str] | None,
        what(
            metavar="ITEM",
            help="Find only itemsets that contain this item. Given several times: itemsets that contain all of these "
            "items. The search is then smaller.",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        what(
            metavar="ITEM",
            help="Leave this item out. May be given several times. Items named here or with --must-contain are public.",
        ),
    ] = None

    def asked(self) -> plan.Question:
        """The question, checked.

        Raises:
            UsageError: an option is missing or out of range, or two contradict each other.
            InputError: the list of items cannot be read.
        """
        from fim_private.constraints import Constraints
        from fim_private.plan import Question as Asked

        return Asked.of(
            unit=self.privacy_unit(),
            together=self.held_together(),
            size=itemset_sizes(self.size, self.sizes),
            top=self.top,
            budget=Budget(self.epsilon, self.delta),
            relation=self.neighbours,
            universe=self.universe(),
            constraints=Constraints(must_contain=self.must_contain or (), exclude=self.exclude or ()),
            max_items=self.max_items,
            mechanism=self._mechanism_name(),
            select=self.select,
            min_count=self._least_count(),
            count_share=self.count_share or (DEFAULT_COUNT_SHARE if self.release_counts else None),
            raw_counts=self.raw_counts,
            with_subsets=self.with_subsets,
            public_transactions=self.public_transactions,
            per_size=self.per_size,
            by=self.by,
        )

    def _least_count(self) -> int | None:
        """The count above which itemsets are asked for: what was typed, or just below the least support."""
        if self.min_support is None:
            return self.min_count
        if self.min_count is not None:
            raise UsageError("--min-count and --min-support say the same twice.", "Give one of them.")
        share = exact(self.min_support, "--min-support")
        if not 0 < share <= 1:
            raise UsageError("The least support is out of range.", "Choose it between 0 and 1, such as 0.01.")
        if self.public_transactions is None:
            raise UsageError(
                "A support is a share of the transactions, and their exact number is secret.",
                "Give --public-transactions N if their number may be known, or a count with --min-count.",
            )
        return max(1, math.ceil(share * self.public_transactions) - 1)

    def privacy_unit(self) -> PrivacyUnit:
        """The unit that the options describe.

        Raises:
            UsageError: no unit was named, or two options contradict each other.
        """
        if self.merge and self.max_transactions is not None:
            raise UsageError(
                "A unit's transactions are either merged or capped.",
                "Give --merge or --max-transactions, not both.",
            )
        if self.unit is not None and self.unit_column is not None:
            raise UsageError(
                "The unit is either each transaction or what a column says.",
                "Give --unit transaction or --unit-column, not both.",
            )
        if self.unit_column is not None:
            return PrivacyUnit(column=self.unit_column, max_transactions=self.max_transactions)
        if self.unit is None:
            raise UsageError(
                "The command does not say what to protect.",
                "Give --unit transaction if each transaction belongs to a different person, or --unit-column COLUMN.",
            )
        if self.unit != "transaction" or self.merge or self.max_transactions is not None:
            raise UsageError(
                "The command does not say which transactions belong to the same unit.",
                "Name the column with the owner by --unit-column, or give --unit transaction alone.",
            )
        return PrivacyUnit()

    def held_together(self) -> str | None:
        """What a unit holds together, as typed; None for the default.

        Raises:
            UsageError: two options contradict each other.
        """
        if self.merge and self.together not in (None, Together.UNIT):
            raise UsageError("--merge is the same as --together unit.", "Give --merge or --together, not both.")
        return Together.UNIT if self.merge else self.together

    def universe(self) -> plan.Universe:
        """The universe that the options declare, or the open one.

        Raises:
            UsageError: it was declared twice.
            InputError: the file cannot be read.
        """
        from fim_private.plan import Universe

        if self.universe_file is None:
            return Universe(items=self.universe_items)
        if self.universe_items is not None:
            raise UsageError("The universe was declared twice.", "Give --universe-items or --universe-file, not both.")
        from fim_private.transactions.restriction import read_item_names

        return Universe(names=tuple(read_item_names(self.universe_file)))

    def _mechanism_name(self) -> str:
        """The registry's name for the mechanism and its switches."""
        mechanism = self.mechanism or "auto"
        if not (self.repeat or self.no_fallback):
            return mechanism
        if mechanism not in {"lmm", "auto"} or (self.repeat and self.no_fallback):
            raise UsageError(
                "--repeat and --no-fallback are for the mechanism lmm, and only one of them can be given.",
                "Leave one out, or leave out --mechanism.",
            )
        return "lmm-repeat" if self.repeat else "lmm-no-fallback"


@dataclass(frozen=True, kw_only=True)
class QuestionToSeveral(Question):
    """The same question. Without a mechanism's name it is for all mechanisms that apply."""

    mechanism: Annotated[
        str | None,
        what(
            metavar="NAME",
            autocompletion=mechanism_names("auto"),
            help="Show this mechanism in full. Without this option, all that apply are listed.",
        ),
    ] = None


def itemset_sizes(size: int | None, sizes: str | None) -> tuple[int, ...]:
    """The numbers of items that are asked for.

    Raises:
        UsageError: the sizes were given twice, are missing or cannot be read.
    """
    if (size is None) == (sizes is None):
        raise UsageError(
            "The itemset size is missing." if size is None else "The itemset size was given twice.",
            "Give either --size, such as 2, or --sizes, such as 1-3 or 1,2.",
        )
    if size is not None:
        return (size,)
    found: set[int] = set()
    for part in str(sizes).split(","):
        ends = re.fullmatch(r"\s*([0-9]{1,3})\s*(?:-\s*([0-9]{1,3})\s*)?", part)
        first, last = (0, -1) if ends is None else (int(ends[1]), int(ends[2] or ends[1]))
        if first > last:
            raise UsageError("The itemset sizes cannot be read.", "Write --sizes as in 1-3 or 1,2.")
        found.update(range(first, last + 1))
    return tuple(sorted(found))
