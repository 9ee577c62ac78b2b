"""The vocabulary of the promise: budgets, neighbouring relations, privacy units and losses, all frozen values.

Definitions: docs/mathematics.md#neighbours and docs/mathematics.md#losses.

A number that a user typed becomes the exact fraction that its text says. Nothing here is rounded.
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction

from fim_private.errors import UsageError

Number = str | int | float | Decimal | Fraction

LARGEST_EPSILON = 100
SMALLEST_EPSILON = Fraction(1, 10**6)
SMALLEST_DELTA = Fraction(1, 10**100)

_PEOPLE = {
    *("account", "borrower", "buyer", "client", "customer", "household", "member", "patient", "person", "shopper"),
    *("user", "visitor"),
}
_NUMBERED = re.compile(r"[\s_.-]*(id|no|nr|number|key|code)$", re.IGNORECASE)
"""What columns of people add to the word for one."""


def exact(value: Number, name: str) -> Fraction:
    """The fraction that a number's text says: 0.1 is one tenth, as text and as a float.

    Args:
        value: text such as "0.5", "1e-6" or "1/3", or a number.
        name: what the number is, for the error.

    Raises:
        UsageError: the value is not a finite number, or has more than 200 digits.

    >>> exact("1e-6", "delta"), exact(0.1, "epsilon")
    (Fraction(1, 1000000), Fraction(1, 10))
    """
    if isinstance(value, Fraction):
        return value
    try:
        text = str(value).strip()
        if "_" in text or not text.isascii():
            # Decimal reads 1_0 as ten: a slip of the hand would cost ten times the protection.
            raise InvalidOperation
        numerator, slash, denominator = text.partition("/")
        parts = [Decimal(numerator), Decimal(denominator) if slash else Decimal(1)]
        if not all(part.is_finite() for part in parts):
            raise InvalidOperation
        # A Decimal is read in no time whatever its exponent; a Fraction of 1e999999999 would fill the memory.
        if any(max(abs(part.adjusted()), len(part.as_tuple().digits)) > 200 for part in parts):
            raise UsageError(
                f"{name} is too small, too large or too precise: written out, it has more than 200 digits.",
                f"Give {name} with fewer digits; the smallest delta is 1e-100, or 0.",
            )
        return Fraction(parts[0]) / Fraction(parts[1])
    except (InvalidOperation, ZeroDivisionError, ValueError):
        raise UsageError(
            f"{name} is not a number that can be used.", f"Write {name} like 1, 0.5, 1e-6 or 1/3."
        ) from None


def whole(value: object, least: int, most: int, what: str) -> int:
    """The whole number `value` as a Python int.

    Args:
        value: an int of any type, such as numpy's; a bool is refused.
        least: the smallest allowed number.
        most: the largest allowed number.
        what: what the number is, for the error.

    Raises:
        UsageError: the value is not a whole number, or out of range.
    """
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise UsageError(f"{what} is out of range.", f"Choose a whole number from {least} to {most}.")
    return number


@dataclass(frozen=True)
class Budget:
    """The (epsilon, delta) that a release may cost at most.

    Args:
        epsilon: from 1e-6 to 100; each probability changes by at most a factor e^epsilon when one unit changes.
        delta: 0, or at least 1e-100 and below 1; the bound may fail by this probability.

    Raises:
        UsageError: a value is out of range.

    >>> Budget("1", "1e-6")
    Budget(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon"))
        object.__setattr__(self, "delta", exact(delta, "delta"))
        if not SMALLEST_EPSILON <= self.epsilon <= LARGEST_EPSILON:
            raise UsageError(
                "epsilon is out of range.",
                "Choose it between 1e-6 and 100; usual values are 0.1 to 2, and smaller values protect more.",
            )
        if not (self.delta == 0 or SMALLEST_DELTA <= self.delta < 1):
            raise UsageError(
                "delta is out of range.",
                "Choose 0, or a value from 1e-100 to below 1, such as 1e-6: far below one over the number of units.",
            )


class NeighbouringRelation(StrEnum):
    """Which two data sets are neighbours: the promise hides which of the two was used."""

    ADD_REMOVE = "add-remove"
    """One privacy unit is added or removed. All counts then move in one direction."""
    REPLACE = "replace"
    """One privacy unit is exchanged for another: one removal and one addition."""

    @classmethod
    def of(cls, value: str) -> NeighbouringRelation:
        """The relation with this name. A plain text would be planned wrongly, so convert it first.

        Raises:
            UsageError: no relation has this name.
        """
        try:
            return cls(value)
        except ValueError:
            raise UsageError(
                "There is no such neighbouring relation.", f"Choose one of: {', '.join(cls)} (--neighbours)."
            ) from None


class Together(StrEnum):
    """What it means that a unit with several transactions holds items together."""

    BASKET = "basket"
    """In at least one of its transactions. Counts are of units."""
    UNIT = "unit"
    """In all its transactions merged into one, so ever. Counts are of units."""

    @classmethod
    def of(cls, value: str) -> Together:
        """The member with this name.

        Raises:
            UsageError: there is none.
        """
        try:
            return cls(value)
        except ValueError:
            raise UsageError("Items are together in no such place.", "Choose --together basket or unit.") from None


@dataclass(frozen=True, kw_only=True)
class PrivacyUnit:
    """What counts as one unit, and how much one unit can change a count.

    Args:
        column: the column that names the unit; None if each transaction is its own unit.
        max_transactions: how many transactions per unit are kept, each of which then counts; None to keep all of them
            and count units (see `Together`).
    """

    column: str | None = None
    max_transactions: int | None = None

    def __post_init__(self) -> None:
        if self.max_transactions is not None and self.column is None:
            raise UsageError(
                "A cap on the transactions per unit needs a column that names the units.",
                "Name their column with --unit-column.",
            )
        if self.column is not None and not (isinstance(self.column, str) and self.column.strip()):
            raise UsageError("The column of the privacy unit is not a name.", "Give the name of a column, as text.")
        if self.max_transactions is not None:
            what = "The number of transactions to keep per unit"
            object.__setattr__(self, "max_transactions", whole(self.max_transactions, 1, 10**6, what))

    @property
    def sensitivity(self) -> int:
        """Delta: one unit changes any count by at most this."""
        return self.max_transactions or 1

    def describe(self, together: Together | None = None) -> str:
        """The unit in words; `together` is what is counted as together, if units are counted.

        >>> PrivacyUnit(column="CustomerID", max_transactions=5).describe()
        "one customer (column 'CustomerID'), with at most 5 of its transactions kept"
        """
        if self.column is None:
            return "one transaction"
        plain = self.column.isalpha() and self.column.islower()
        person = _NUMBERED.sub("", self.column).lower()
        name = self.column if plain else person if person in _PEOPLE else "unit"
        if self.max_transactions is not None:
            kept = f"with at most {self.max_transactions} of its transactions kept"
        else:
            kept = "with all its transactions" + (" merged into one" if together is Together.UNIT else "")
        return f"one {name} (column {self.column!r}), {kept}"


@dataclass(frozen=True)
class PureDP:
    """epsilon-differential privacy."""

    epsilon: Fraction


@dataclass(frozen=True)
class ApproxDP:
    """(epsilon, delta)-differential privacy."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class BoundedRange:
    """Over the outcomes, the log ratio of the two neighbours' probabilities varies by at most epsilon.

    Durfee and Rogers (2019). It implies epsilon-differential privacy and composes better.
    """

    epsilon: Fraction


@dataclass(frozen=True)
class ZCDP:
    """rho-zero-concentrated differential privacy (Bun and Steinke 2016)."""

    rho: Fraction


@dataclass(frozen=True)
class Gaussian(ZCDP):
    """No more can be learnt than from one number with Gaussian noise of variance 1/(2 rho) that a unit moves by 1.

    It implies rho-zCDP and composes better.
    """


ROUNDING_VARIANCE = 3
"""Gaussian noise, rounded to whole numbers at random, is discrete Gaussian noise with this much more variance."""


@dataclass(frozen=True)
class DiscreteGaussian(ZCDP):
    """Discrete Gaussian noise of this variance. rho is half of the squared length that a unit moves, over the variance.

    Proof of what it costs: docs/mathematics.md#discrete-gaussian.
    """

    variance: int

    @classmethod
    def of(cls, moved: int, variance: int) -> DiscreteGaussian:
        """The cost of noise with this variance if a unit moves the numbers by `moved`, a squared length."""
        return cls(Fraction(moved, 2 * variance), variance)

    @staticmethod
    def variance_costing(moved: int, rho: Fraction) -> int:
        """The least variance of noise that costs at most rho as Gaussian noise."""
        return math.ceil(moved / (2 * rho)) + ROUNDING_VARIANCE

    @property
    def gaussian(self) -> Gaussian:
        """What it costs as Gaussian noise.

        Raises:
            ValueError: the variance is not above `ROUNDING_VARIANCE`.
        """
        if self.variance <= ROUNDING_VARIANCE:
            raise ValueError("noise of so small a variance has no price as Gaussian noise")
        return Gaussian(self.rho * self.variance / (self.variance - ROUNDING_VARIANCE))


@dataclass(frozen=True)
class Chosen:
    """One of several ways, chosen by what the steps before it answered. Each is what its steps cost, in their order."""

    ways: tuple[tuple[Loss, ...], ...]


Loss = PureDP | ApproxDP | BoundedRange | ZCDP | Chosen


def tally(losses: Sequence[Loss]) -> dict[Loss, int]:
    """How often each loss occurs. Ten thousand equal losses are often one object, and fractions are slow to hash."""
    times: dict[Loss, int] = {}
    objects = {id(loss): loss for loss in losses}
    for one, number in Counter(map(id, losses)).items():
        times[objects[one]] = times.get(objects[one], 0) + number
    return times


@dataclass(frozen=True)
class AnyFailure:
    """A rare event that the losses do not cover. Nothing else is known about it.

    The event may happen on either neighbour's side and depend on everything else. So a proof pays for it once on one
    side and e^epsilon times on the other. Basic composition pays once; the mechanism must then meet a further premise
    (docs/mathematics.md#failures). If a loss is zCDP, basic composition cannot be used.

    Args:
        probability: a bound on the event's probability, on either side.
    """

    probability: Fraction


@dataclass(frozen=True)
class OneSidedFailure:
    """An event on the side of one neighbour alone, independent of everything that the losses cover there.

    Let the losses apply to the runs R and R'. The other neighbour's run is R'. This neighbour's run is, outcome by
    outcome, at least (1 - probability) R. So a proof pays for the event once.

    Args:
        probability: a bound on the event's probability.
    """

    probability: Fraction


@dataclass(frozen=True)
class StepwiseFailure:
    """An event with one bound for the whole run and for each step, whatever happened in earlier steps.

    Let the losses apply to the runs R and R'. Each neighbour's run is, outcome by outcome, at least
    (1 - probability)^steps times its own R or R'. A proof that can use this pays for the event once; all others treat
    it as `AnyFailure`.

    Args:
        probability: a bound on either side, for the whole run and for each step after any earlier ones.
        steps: the number of steps.
    """

    probability: Fraction
    steps: int


@dataclass(frozen=True)
class ChosenFailure:
    """The failure of the way that noisy looks choose: one-sided in the one way, any in the other.

    The looks are the first steps, and the losses cover them. A proof pays for the dearer of the two, and for very
    little more (docs/mathematics.md#chosen-failures).

    Args:
        one_sided: a bound on the event's probability in the one way, whatever the looks were.
        other: the same in the other way.
        looks: what all looks cost together, in rho.
    """

    one_sided: Fraction
    other: Fraction
    looks: Fraction

    @property
    def probability(self) -> Fraction:
        """A bound on the event's probability, on either side."""
        return max(self.one_sided, self.other)


Failure = AnyFailure | OneSidedFailure | StepwiseFailure | ChosenFailure


def separated(failures: Sequence[Failure]) -> list[Failure]:
    """Each chosen failure as two, for a proof that does not begin with its looks; all others as they are."""
    found: list[Failure] = []
    for failure in failures:
        if isinstance(failure, ChosenFailure):
            found += [OneSidedFailure(failure.one_sided), AnyFailure(failure.other)]
        else:
            found.append(failure)
    return found


def failures_of_parts(parts: Iterable[Sequence[Failure]]) -> tuple[Failure, ...]:
    """The failures of all parts of a release. Looks of one part are the first steps of all only if it is alone."""
    each = list(parts)
    found = [failure for part in each for failure in part]
    return tuple(separated(found) if len(each) > 1 else found)


def failure_probability(failures: Sequence[Failure]) -> Fraction:
    """A bound on the probability, on either side, that any of the failures happens."""
    return sum((failure.probability for failure in failures), Fraction(0))


def are_one_sided(failures: Sequence[Failure]) -> bool:
    """Whether there is at least one failure, and all failures are one-sided."""
    return bool(failures) and all(isinstance(failure, OneSidedFailure) for failure in failures)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A proved (epsilon, delta), and the theorem of composition that proves it.

    Args:
        epsilon: rounded up if it was computed in floating point.
        delta: rounded up in the same way.
        composition: "basic", "optimal", "gaussian" or "renyi"; "optimal and basic", say, if parts are added up.
    """

    epsilon: Fraction
    delta: Fraction
    composition: str
