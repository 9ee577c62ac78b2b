"""What is compared: mechanisms, sizes, numbers of itemsets, budgets, trials."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.registry import AUTO, COMPARATORS, find
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit, Together, exact

ALL_SIZES = 0
"""Stands for the size in a cell that ranks itemsets of several sizes together."""
MOST_COUNTED = 3
"""All itemsets of at most so many items are counted for those that choose from all sizes of them."""
PADDED = tuple(10**digits for digits in range(3, 10))
"""Numbers of items to which the universe is padded, to see which mechanisms depend on it."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a comparison runs, without its data.

    Args:
        sizes: items per itemset.
        tops: values of k.
        epsilons: the values of epsilon, as typed.
        delta: delta, as typed.
        trials: independent runs of each cell.
        mechanisms: names of the registry.
        universe_items: the number of items on the public list, or None for the number that occurs.
        max_items: how many items of a transaction are kept for mechanisms that need a cap.
        relation: the neighbouring relation.
        unit_column: the column that names the unit. None for single transactions.
        seed: determines the noise of every trial.
        long_tops: more values of k, for the fast mechanisms only.
        together: what a unit holds together, as in `plan.Question`; None without units.
        all_sizes: sizes whose itemsets are also ranked together, by the planner's choice and the published systems.
    """

    sizes: tuple[int, ...]
    tops: tuple[int, ...]
    epsilons: tuple[str, ...]
    delta: str
    trials: int
    mechanisms: tuple[str, ...]
    universe_items: int | None
    max_items: int
    relation: NeighbouringRelation
    unit_column: str | None
    seed: int
    long_tops: tuple[int, ...] = ()
    together: str | None = None
    all_sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.unit_column is not None:
            object.__setattr__(self, "together", Together.of(self.together or Together.BASKET))
        elif self.together is not None:
            raise UsageError("--together chooses how units are counted.", "Leave it out, or give --unit-column.")
        for values, what in (
            (self.sizes, "sizes"),
            (self.tops + self.long_tops, "tops"),
            (self.epsilons, "epsilons"),
            (self.mechanisms, "mechanisms"),
        ):
            if not values or len(set(values)) < len(values):
                raise UsageError(f"The list of {what} is empty or names one twice.", f"Correct --{what}.")
        if not 2 <= self.trials <= 10_000:
            raise UsageError("The number of trials is out of range.", "Choose --trials between 2 and 10000.")
        for name in self.mechanisms:
            find(name)
        for epsilon in self.epsilons:
            Budget(epsilon, self.delta)  # refuses what is out of range
        if max(self.sizes + self.all_sizes) > 5 or len(self.all_sizes) == 1:
            raise UsageError(
                "The itemset sizes are out of range.", "Choose sizes between 1 and 5; several for --all-sizes."
            )

    @property
    def without_delta(self) -> bool:
        """Whether delta is 0. Then nothing can be named without a list of items, so all mechanisms get one."""
        return Budget(self.epsilons[0], self.delta).delta == 0

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit."""
        return PrivacyUnit(column=self.unit_column)

    @property
    def described_unit(self) -> str:
        """The privacy unit in words."""
        return self.unit.describe(None if self.together is None else Together.of(self.together))

    @property
    def counts_units(self) -> bool:
        """Whether counts are of units that hold an itemset in one of several transactions."""
        return self.together == Together.BASKET

    def tops_of(self, name: str) -> tuple[int, ...]:
        """The values of k for a mechanism."""
        return self.tops + (self.long_tops if find(name).long_lists else ())

    @property
    def middle_epsilon(self) -> str:
        """The epsilon for figures that show only one: 1 if it is among the epsilons, else the middle one."""
        ordered = sorted(self.epsilons, key=lambda text: exact(text, "epsilon"))
        return next((text for text in ordered if exact(text, "epsilon") == 1), ordered[len(ordered) // 2])

    @property
    def main_size(self) -> int:
        """2 if it is among the sizes, else the first size."""
        return 2 if 2 in self.sizes else self.sizes[0]

    def fingerprint(self) -> dict[str, Any]:
        """Everything that the results of a cell depend on, except which cell it is."""
        kept = asdict(self)
        for grid in ("sizes", "all_sizes", "tops", "long_tops", "epsilons", "mechanisms"):
            del kept[grid]
        return json.loads(json.dumps(kept, default=str))  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One mechanism in one situation, run `trials` times.

    Args:
        mechanism: the name of the mechanism.
        size: items per itemset; `ALL_SIZES` for several sizes together.
        top: k.
        epsilon: epsilon, as typed.
        universe_items: the declared number of items; None for an open universe.
        padded: whether the universe was padded, to see which mechanisms depend on it.
    """

    mechanism: str
    size: int
    top: int
    epsilon: str
    universe_items: int | None
    padded: bool = False

    def plan(self, settings: Settings) -> Plan:
        """The plan of every trial.

        Raises:
            UsageError: the cell cannot be planned.
            BudgetError: the budget is too small for it.
        """
        row = find(self.mechanism)
        return make_plan(
            size=settings.all_sizes if self.size == ALL_SIZES else self.size,
            top=self.top,
            budget=Budget(self.epsilon, settings.delta),
            unit=settings.unit,
            relation=settings.relation,
            together=settings.together,
            universe=Universe(items=self.universe_items, listed=self.universe_items is not None),
            max_items=settings.max_items if row.needs_cap else None,
            mechanism=self.mechanism,
        )


def cells_of(settings: Settings, occurring: int) -> Iterator[Cell]:
    """All cells for a data set: the grid, then the padded universes for the main size and epsilon."""
    declared = settings.universe_items or occurring
    for name in settings.mechanisms:
        universe = declared if find(name).needs_universe or settings.without_delta else None
        for size in settings.sizes:
            for top in settings.tops_of(name):
                for epsilon in settings.epsilons:
                    yield Cell(mechanism=name, size=size, top=top, epsilon=epsilon, universe_items=universe)
    for (name, listed), top, epsilon in product(ranking_all_sizes(settings), ranked_tops(settings), settings.epsilons):
        universe = declared if listed else None
        yield Cell(mechanism=name, size=ALL_SIZES, top=top, epsilon=epsilon, universe_items=universe)
    for name in settings.mechanisms:
        row = find(name)
        if row.instead_of or row.weighs or name in COMPARATORS:
            continue  # `auto` takes it, it is not made for a public list, or it would hold the names of all items
        for top in padded_tops(settings):
            most = row.most_names or PADDED[-1]
            for items in (declared, *(items for items in PADDED if declared < items <= most)):
                yield Cell(
                    mechanism=name,
                    size=settings.main_size,
                    top=top,
                    epsilon=settings.middle_epsilon,
                    universe_items=items,
                    padded=True,
                )


def ranking_all_sizes(settings: Settings) -> tuple[tuple[str, bool], ...]:
    """The mechanisms that are run over several sizes together, and whether they get a list of the items.

    These are the planner's choice and its rivals without a list, then its choice and the published systems with one.
    Without a delta, those that choose from all itemsets of the list join in, if these are small enough to be counted.
    """
    if not settings.all_sizes:
        return ()
    open_universe = [name for name in (AUTO, "limited-domain", "weighted-gaussian") if name in settings.mechanisms]
    listed = [name for name in (AUTO, *COMPARATORS) if name != AUTO or name in settings.mechanisms]
    if settings.without_delta:
        counted = settings.mechanisms if max(settings.all_sizes) <= MOST_COUNTED else ()
        listed += [name for name in counted if find(name).chooses_from_list and name not in listed]
        return tuple((name, True) for name in listed if works_without_delta(name))
    return (*((name, False) for name in open_universe), *((name, True) for name in listed))


def chooses_from_all(settings: Settings, occurring: int) -> bool:
    """Whether a mechanism over several sizes together chooses from all itemsets of the list, by their counts."""
    ranked = [cell for cell in cells_of(settings, occurring) if cell.size == ALL_SIZES and cell.universe_items]
    rows = [find(cell.plan(settings).mechanism_name) for cell in ranked]
    return any(row.chooses_from_list for row in rows)


def works_without_delta(name: str) -> bool:
    """Whether a mechanism can be run with delta 0 and a public list of items."""
    universe, cap = Universe(items=10, listed=True), 2 if find(name).needs_cap else None
    try:
        make_plan(
            size=2, top=1, budget=Budget("1", "0"), unit=PrivacyUnit(), universe=universe, mechanism=name, max_items=cap
        )
    except BudgetError:
        return False
    return True


def ranked_tops(settings: Settings) -> tuple[int, ...]:
    """The values of k for several sizes together: from 50 to 200, or all if none is."""
    tops = tuple(sorted(settings.tops + settings.long_tops))
    return tuple(top for top in tops if 50 <= top <= 200) or tops


def padded_tops(settings: Settings) -> tuple[int, ...]:
    """The values of k for which universes are padded: 10 if it is among them, and the largest."""
    return tuple(sorted({10, max(settings.tops)} & set(settings.tops)))


def check(settings: Settings, occurring: int) -> None:
    """Plan every cell, so that nothing fails halfway.

    Raises:
        UsageError: a cell cannot be planned. The message says which.
    """
    if settings.universe_items is not None and settings.universe_items < occurring:
        raise UsageError(
            "The data holds more items than the declared universe.",
            "Give a larger --universe-items, or occurring for as many as occur.",
        )
    seen = set()
    for cell in cells_of(settings, occurring):
        kind = (cell.mechanism, cell.size, cell.top, cell.epsilon)
        if kind in seen:
            continue
        seen.add(kind)
        try:
            cell.plan(settings)
        except (UsageError, BudgetError) as error:
            where = f"size {cell.size}, top {cell.top}, epsilon {cell.epsilon}"
            raise UsageError(
                f"{cell.mechanism} cannot be run at {where}: {error.what}",
                _shorter(settings, occurring, cell) or error.next_step,
            ) from None


def _shorter(settings: Settings, occurring: int, cell: Cell) -> str:
    """Which values of k to ask for if a cell asks for more than all itemsets of its size; else an empty text."""
    possible = min(math.comb(settings.universe_items or occurring, size) for size in settings.sizes)
    short = ",".join(str(top) for top in settings.tops if top <= possible)
    return f"Give --tops {short}, or larger --sizes." if short and cell.top > possible else ""
