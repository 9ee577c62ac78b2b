"""What every mechanism is: a frozen value that knows its cost, its choice and its exact law.

A mechanism answers with ranks (0-based places in decreasing order of counts); the door turns ranks into itemsets. A
rank from `profile.occurring` on is an itemset that does not occur, and comes only out of a declared universe; in an
open one such a draw ends the list. How places in the order move with the counts: docs/mathematics.md#order-statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from fim_private.errors import BudgetError, UsageError
from fim_private.privacy import Failure, Guarantee, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

Law = dict[tuple[int, ...], float]
"""Probability of each list of levels: places in `profile.levels`, one a pick; `len(profile.levels)` stands for the
itemsets that do not occur. What a mechanism picks from a level is up to the order inside it alone, so a law needs no
more than this, and a level of a million itemsets costs what a level of one does."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a mechanism, before any data is seen; the relation is add-remove unless the row says otherwise.

    Args:
        top: k, how many itemsets to select, at least 1.
        epsilon: what everything together may spend.
        delta: likewise.
        sensitivity: Delta, by how much one unit changes any count at most.
        universe_size: the number of itemsets of a declared universe; None for an open one.
        most_new: how many itemsets one unit can add to those that occur, at most; None where transactions are not
            capped.
        size: items an itemset.
        select: how items-first selects, "peel" or "counts"; None where the calibration decides.
        min_count: only itemsets above this count are asked for; None for the top alone.
    """

    top: int
    epsilon: Fraction
    delta: Fraction
    sensitivity: int = 1
    universe_size: int | None = None
    most_new: int | None = None
    size: int = 1
    select: str | None = None
    min_count: int | None = None

    def require_delta(self) -> None:
        """Refuse a delta of 0.

        Raises:
            BudgetError: delta is 0, with which no mechanism can search an open universe.
        """
        if self.delta == 0:
            raise BudgetError(
                "An open universe cannot be searched with delta = 0.",
                "Give --delta, such as 1e-6, or declare the universe and use --mechanism exponential.",
            )

    def require_universe(self) -> int:
        """The number of itemsets of the declared universe.

        Raises:
            UsageError: it was not declared.
        """
        if self.universe_size is None:
            raise UsageError(
                "This mechanism chooses from a declared universe of items.",
                "Give the public list of items with --universe-file, or their number with --universe-items; "
                "the mechanism lmm needs neither.",
            )
        return self.universe_size


@dataclass(frozen=True, kw_only=True)
class Spending:
    """One line of a plan: what is paid for, with what: an epsilon, or the rho of zero-concentrated privacy."""

    what: str
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    times: int = 1


@dataclass(frozen=True, kw_only=True)
class Margin:
    """How many transactions a lead has to be for the mechanism to be of use 19 times in 20.

    Args:
        counts: the number of transactions.
        words: between which places of the ranking by count.
        place: the place over which the lead is measured, 1-based; None for itemsets that do not occur.
    """

    counts: int
    words: str
    place: int | None = None


class Costed(Protocol):
    """What a plan holds: a frozen, validated set of parameters that knows what it costs and what it looks for."""

    @property
    def top(self) -> int:
        """k, how many itemsets it selects."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What its steps cost, in the order they are taken, where no failure happens."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The events that the losses do not cover."""

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The losses in words."""

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The leads it looks for, the first in preference; any one of them will do."""


class Mechanism(Costed, Protocol):
    """One that chooses from a count profile in one go."""

    @property
    def depth(self) -> int | None:
        """How many of the largest counts it looks at, a public number; None for all."""

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """Up to `top` ranks in the order they were picked; each is picked once."""

    def law(self, profile: CountProfile) -> Law:
        """The exact distribution of `select`, computed without sampling; for profiles of few levels."""


@runtime_checkable
class WithGaps(Protocol):
    """A mechanism that can name each pick's noisy lead over its runner-up at no further cost."""

    @property
    def gaps(self) -> bool:
        """Whether it does."""

    def select_with_gaps(
        self, profile: CountProfile, randomness: Randomness
    ) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
        """As `select`, and the leads in transactions, rounded down."""


@runtime_checkable
class WithCounts(Protocol):
    """A mechanism that can answer with noisy counts."""

    @property
    def gives_counts(self) -> bool:
        """Whether every itemset it names comes with one."""


@runtime_checkable
class WithTest(Protocol):
    """A mechanism that compares a lead with a public number. The audit looks hardest where that tips."""

    @property
    def tipping_lead(self) -> int:
        """The lead, in transactions, at which the test passes every second time."""


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """A mechanism together with what was proved of it for the relation it was calibrated for."""

    mechanism: Costed
    guarantee: Guarantee
