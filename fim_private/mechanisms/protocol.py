"""What every mechanism is: a frozen value that knows its cost, how it selects, and its exact law.

A mechanism answers with ranks (0-based places in decreasing order of counts), and the door turns ranks into itemsets. A
rank from `profile.occurring` on is an itemset that does not occur. Only a declared universe has such ranks; in an open
universe such a draw ends the list. How places move with the counts: docs/mathematics.md#order-statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Protocol, runtime_checkable

from fim_private.accounting.search import least
from fim_private.errors import BudgetError, UsageError
from fim_private.privacy import Failure, Guarantee, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

Law = dict[tuple[int, ...], float]
"""The probability of each list of levels: one place in `profile.levels` per pick. `len(profile.levels)` stands for the
itemsets that do not occur. Inside a level every itemset is equally likely, so a law needs no more than this, and a
level of a million itemsets costs no more than a level of one."""


USUAL_NAMES = 65_536
"""The most different items that are assumed to exist, if nothing else is declared."""
PEEL, COUNTS, ITEMS = "peel", "counts", "items"
"""How items-first selects: by picks, by noisy counts, or, in dense data, by counts of items alone. Users can ask for
the first two."""
BY_COUNT, BY_LEVERAGE = "count", "leverage"
"""What itemsets are ranked by."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a mechanism, before any data is seen; the relation is add-remove unless the row says otherwise.

    Args:
        top: k, the number of itemsets to select, at least 1.
        epsilon: what everything together may spend.
        delta: what everything together may spend.
        sensitivity: Delta; one unit changes any count by at most this.
        universe_size: the number of itemsets in a declared universe; None for an open one.
        anonymous: whether only the number of items was declared. A mechanism that needs a universe then names itemsets
            by a certificate.
        names: N, the largest number of different items that there can be.
        most_new: one unit can add at most this many itemsets to those that occur; None if transactions are not capped.
        sizes: items per itemset, increasing.
        select: how items-first selects, "peel" or "counts"; None if the calibration decides.
        min_count: only itemsets above this count are asked for; None for the top alone.
        by: what itemsets are ranked by, "count" or "leverage".
        binned: whether transactions may be put into bins by the items they hold. Units with several baskets may not.
    """

    top: int
    epsilon: Fraction
    delta: Fraction
    sensitivity: int = 1
    universe_size: int | None = None
    anonymous: bool = False
    names: int = USUAL_NAMES
    most_new: int | None = None
    sizes: tuple[int, ...] = (1,)
    select: str | None = None
    min_count: int | None = None
    by: str = BY_COUNT
    binned: bool = True

    @property
    def listed(self) -> bool:
        """Whether the names of the items are a public list."""
        return self.universe_size is not None and not self.anonymous

    def require_delta(self) -> None:
        """Refuse a delta of 0.

        Raises:
            BudgetError: delta is 0, with which no mechanism can search an open universe.
        """
        if self.delta == 0 and self.listed:
            raise BudgetError("This mechanism needs a delta.", "Give --delta, such as 1e-6, or --mechanism auto.")
        if self.delta == 0:
            raise BudgetError(
                "Without a list of all items, delta = 0 allows no answer.",
                "Give --delta, such as 1e-6, or the names of all possible items with --universe-file.",
            )

    def require_universe(self) -> int:
        """The number of itemsets of the declared universe.

        Raises:
            UsageError: it was not declared.
        """
        if self.universe_size is None:
            raise UsageError(
                "This mechanism needs a declared universe of items.",
                "Give the public list of items with --universe-file, or the largest number of items that can exist "
                "with --universe-items. The default, --mechanism auto, needs neither.",
            )
        return self.universe_size


@dataclass(frozen=True, kw_only=True)
class Spending:
    """One line of a plan: a step, and its price as an epsilon or as rho, what it costs as Gaussian noise."""

    what: str
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    times: int = 1


MISSED = 0.05
"""With the stated lead, not the whole list is named with at most this probability: one time in 20."""
NORMAL_REACH = 1.645
"""Normal noise takes at most this many standard deviations off a lead, 19 times in 20."""


def normal_reach(numbers: int, missed: float = MISSED) -> float:
    """The most deviations that normal noise takes off any of `numbers` numbers, except with probability `missed`."""
    return -NormalDist().inv_cdf(missed / numbers)


@dataclass(frozen=True, kw_only=True)
class Margin:
    """The lead, in transactions, with which a mechanism names the whole list in at least 19 of 20 runs.

    Args:
        counts: the lead, a number of transactions. Each of the k itemsets has it.
        of_one: the lead with which a mechanism names one itemset as often; None if that is `counts`.
        words: between which places of the ranking the lead is measured.
        place: the lead is over this place of the ranking, 1-based; None for itemsets that do not occur.
        less_if_likely: itemsets of frequent items need less than this.
        otherwise: this lead is enough only where the lead over the place of the mechanism's first margin is small.
    """

    counts: int
    of_one: int | None = None
    words: str
    place: int | None = None
    less_if_likely: bool = False
    otherwise: bool = False

    @property
    def compared(self) -> int:
        """The lead by which mechanisms, ways and shares are chosen: their settings were measured with that of one."""
        return self.counts if self.of_one is None else self.of_one


def lead_of_list(missed: Callable[[int], float], *, near: int, often: float = MISSED) -> int:
    """The least lead with which the whole list is named, except with a probability of `often`.

    Args:
        missed: the probability with which not the whole list is named if all its itemsets have this lead; a bound.
        near: a guess.
        often: the probability that is allowed.
    """
    return least(lambda lead: missed(lead) <= often, near=near)


class Costed(Protocol):
    """What a plan holds: a frozen, validated set of parameters that knows its cost and the leads it needs."""

    @property
    def top(self) -> int:
        """k, the number of itemsets to select."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The costs of its steps, in order, if no failure happens."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The events that the losses do not cover."""

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The losses in words."""

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The leads it looks for, the preferred one first. Any one of them is enough."""


class Mechanism(Costed, Protocol):
    """A mechanism that selects from a count profile in one step."""

    @property
    def depth(self) -> int | None:
        """How many of the largest counts it looks at. This number is public. None stands for all counts."""

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """Up to `top` distinct ranks, in the order picked."""

    def law(self, profile: CountProfile) -> Law:
        """The exact distribution of `select`, computed without sampling. The profile must have few levels."""


MUCH = Fraction(10**6)
"""An epsilon, or a rho, with which there is hardly any noise."""


@runtime_checkable
class Stepwise(Costed, Protocol):
    """A mechanism that counts step by step: what it counts next follows from what it released before.

    A function of the layer `mining` runs the steps (`mining/stepwise.py`).
    """

    @property
    def sizes(self) -> tuple[int, ...]:
        """Items per itemset, increasing. Itemsets of several sizes are ranked together."""

    @property
    def public_names(self) -> int | None:
        """How many items the public list has; None if there is no list."""

    def loud(self, names: int) -> Iterator[Stepwise]:
        """The same with hardly any noise, over this many names: one for each way that the steps may go."""


@runtime_checkable
class WithGaps(Protocol):
    """A mechanism that can release each pick's noisy lead over its runner-up at no further cost."""

    @property
    def gaps(self) -> bool:
        """Whether it releases the leads."""

    def select_with_gaps(
        self, profile: CountProfile, randomness: Randomness
    ) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
        """The ranks of `select`, and the leads in transactions, rounded down."""


@runtime_checkable
class WithCounts(Protocol):
    """A mechanism that can answer with noisy counts."""

    @property
    def gives_counts(self) -> bool:
        """Whether every itemset that it names comes with a noisy count."""


@runtime_checkable
class WithTest(Protocol):
    """A mechanism that compares leads with public numbers. The audit looks hardest where that tips."""

    @property
    def tipping_leads(self) -> tuple[int, ...]:
        """The leads, in transactions, at which a test passes every second time."""


@dataclass(frozen=True, kw_only=True)
class CalibratedMechanism:
    """A mechanism, and what is proved of it for the relation that it was calibrated for."""

    mechanism: Costed
    guarantee: Guarantee
