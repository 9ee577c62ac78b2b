"""A certificate: itemsets are chosen first, and named only if a noisy test finds that all of them have support.

The support of an itemset is a number that one unit changes by at most Delta. The test adds discrete Gaussian noise to
the smallest support in the list, and compares it with T. It is one number, so the same noise costs the same whatever k
is. Long lists may be cut before: the exponential mechanism picks one of the lengths k, 0.85 k, 0.85^2 k, ..., 1, and
only the picks up to there are tested and named. Where released numbers tell how likely the first picks are to pass, a
length may also lie in between. Proof: docs/mathematics.md#certificate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import NormalDist

import numpy as np

from fim_private.accounting.calibration import LossesOfPick, calibrate_gaussian, largest_pick
from fim_private.accounting.gaussian_composition import gaussian_rho, range_costing
from fim_private.accounting.rounding import ROUNDED_DOWN, exp_up, round_down
from fim_private.accounting.search import least
from fim_private.arrays import Floats
from fim_private.mechanisms.item_prior import FLAT, ItemPrior
from fim_private.mechanisms.protocol import Request, Spending
from fim_private.privacy import AnyFailure, BoundedRange, DiscreteGaussian, Guarantee, Loss, OneSidedFailure
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import (
    log_discrete_gaussian_survival,
    log_discrete_gaussian_survival_bound,
    sample_discrete_gaussian,
)
from fim_private.randomness.weighted_choice import WeightedChoice

FAILURE_SHARE = Fraction(1, 4)
"""The share of delta that covers a list which passes although one unit decides what is on it. The rest of delta pays
for composition."""
_SHORTER = Fraction(17, 20)
"""Each length is this times the one before, rounded down."""
_LEAST_SHORTER = Fraction(19, 20)
"""Where itemsets fail the test by different items, a length may also be this times the one before."""
_FIRST_STEP, _STEP = Fraction(5), Fraction(1, 2)
"""The second length weighs e^-5 times the whole list, and each shorter one e^-1/2 times the one before. So a list with
enough support is cut with probability below 1/58, and mostly by little."""
_ENOUGH = 34
"""Enough support is this many tenths of a deviation above T. It is nearly sure to pass. If the test fails, nothing is
named, which is worse than a somewhat shorter list."""
_ORDERED_FIRST_STEP, _ORDERED_STEP = 3, 3
"""The same in the order of noisy supports, where mostly the end of a list lacks support. If the longer list is sure to
pass, each length weighs e^-3 times one that is longer by 1/0.85, and the second one another e^-3."""

_NOISE = np.array([NormalDist().inv_cdf((place + 0.5) / 9) for place in range(9)])
"""What the test's noise may be, in deviations. Each is equally likely."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A noisy test of the smallest support, and perhaps a choice of how much of the list to test.

    Args:
        variance: the variance of the test's noise, in transactions squared.
        threshold: T, in transactions.
        failure: a name passes that only one neighbour has. Its probability is a bound on P(Delta + noise >= T).
        cut_epsilon: the epsilon of choosing the length; None if the whole list is tested.
        general: whether supports may move both ways, as under `replace`. The choice of the length then has half the
            exponent.
        sensitivity: Delta.
    """

    variance: int
    threshold: int
    failure: AnyFailure | OneSidedFailure
    cut_epsilon: Fraction | None = None
    general: bool = False
    sensitivity: int = 1

    @classmethod
    def costing(
        cls,
        test: Fraction,
        cut: float | Fraction,
        *,
        failure: AnyFailure | OneSidedFailure,
        general: bool = False,
        sensitivity: int = 1,
    ) -> Certificate:
        """The certificate whose test costs at most this rho, and whose choice of the length costs `cut`, 0 for none."""
        moved = sensitivity**2
        variance = DiscreteGaussian.variance_costing(moved, test)
        paid = float(DiscreteGaussian.of(moved, variance).gaussian.rho)
        return cls(
            variance=variance,
            threshold=threshold_for(variance, sensitivity=sensitivity, delta=failure.probability),
            failure=failure,
            cut_epsilon=range_costing(float(cut), after=paid) if cut else None,
            general=general,
            sensitivity=sensitivity,
        )

    @property
    def rho(self) -> Fraction:
        """What the losses cost together as Gaussian noise."""
        return Fraction(gaussian_rho(self.losses))

    @property
    def test(self) -> DiscreteGaussian:
        """The cost of the test."""
        return DiscreteGaussian.of(self.sensitivity**2, self.variance)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The choice of the length, then the test."""
        return (self.test,) if self.cut_epsilon is None else (BoundedRange(self.cut_epsilon), self.test)

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The losses in words."""
        test = Spending(what="test of the smallest support", rho=self.test.gaussian.rho)
        if self.cut_epsilon is None:
            return (test,)
        return (Spending(what="choice of how many picks to test", epsilon=self.cut_epsilon), test)

    @property
    def rate(self) -> Fraction:
        """The exponent in the choice of the length is this times the score."""
        return (self.cut_epsilon or Fraction(0)) / (self.sensitivity * (2 if self.general else 1))

    def support_needed(self, missed: float) -> int:
        """The smallest support with which a tested list passes, except with this probability."""
        return self.threshold + math.ceil(-NormalDist(sigma=math.sqrt(self.variance)).inv_cdf(missed))

    def lengths(self, picks: int, trust: Sequence[float] = ()) -> tuple[int, ...]:
        """The lengths that may be chosen, the longest first.

        They follow from the number of picks, and from `trust` as in `certify`: a length in between is the last one
        before an itemset that may fail the test by a further item.

        >>> failure = AnyFailure(Fraction(1, 1000))
        >>> certificate = Certificate(variance=4, threshold=9, failure=failure, cut_epsilon=Fraction(1))
        >>> certificate.lengths(10)
        (10, 8, 6, 5, 4, 3, 2, 1)
        >>> certificate.lengths(10, [1.0] * 9 + [0.5])
        (10, 9, 7, 5, 4, 3, 2, 1)
        """
        if self.cut_epsilon is None:
            return (picks,)
        found = []
        while picks:
            found.append(picks)
            least = math.floor(_SHORTER * picks)
            between = range(math.floor(_LEAST_SHORTER * picks), least, -1) if trust else ()
            picks = next((length for length in between if trust[length] < trust[length - 1]), least)
        return tuple(found)

    def certify(self, supports: Sequence[int], randomness: Randomness, trust: Sequence[float] = ()) -> int:
        """How many of the picks are named: a length that was chosen and has passed, or 0.

        Args:
            supports: of all k picks in their order, in transactions. A pick without a name has support 0.
            randomness: where the bits come from.
            trust: for each number of first picks, how likely they are to pass by what was released before. The length
                is cut more readily where that is not likely. Empty where nothing is known.
        """
        if not supports:
            return 0
        if trust and len(trust) != len(supports):
            raise AssertionError("trust is for every number of picks")
        smallest = list(accumulate(supports, min))
        lengths = self.lengths(len(supports), trust)
        length = lengths[0]
        if self.cut_epsilon is not None:
            scores = self._scores(smallest, lengths, trust)
            order = sorted(range(len(lengths)), key=lambda place: -scores[place])
            choice = WeightedChoice([scores[place] for place in order], self.rate)
            length = lengths[order[choice.draw([1] * len(order), randomness)]]
        noise = sample_discrete_gaussian(Fraction(self.variance), randomness)
        return length if smallest[length - 1] + noise >= self.threshold else 0

    def trust(
        self, supports: Floats, deviation: float, prior: ItemPrior | None = None, seen: Floats | None = None
    ) -> list[float]:
        """How likely the first itemsets are to pass the test, by noisy counts of their rarest items.

        Args:
            supports: shape (itemsets,), how many units are expected to hold each itemset's rarest item.
            deviation: the deviation of the noise in these numbers.
            prior: how frequent items are. None if the items were not chosen for their large noisy counts.
            seen: shape (itemsets,), the noisy counts of these items, of which `prior` tells what to think. None if they
                are `supports`.
        """
        if not len(supports):
            return []
        least = self.threshold - _NOISE * math.sqrt(self.variance)
        passes = FLAT.reaching(supports, deviation, least)
        # Itemsets with one rarest item pass together.
        passes[1:][supports[1:] == supports[:-1]] = 1.0
        likely = np.cumprod(passes, axis=0).mean(axis=1)
        if prior is not None:
            alone = prior.reaching(supports if seen is None else seen, deviation, least).mean(axis=1)
            likely = np.minimum(likely, np.minimum.accumulate(alone))
        found: list[float] = likely.tolist()
        return found

    def law(self, supports: Sequence[int], trust: Sequence[float] = ()) -> dict[int, float]:
        """The exact law of `certify`."""
        if not supports:
            return {0: 1.0}
        smallest = list(accumulate(supports, min))
        law = {
            length: chance * self.passes(smallest[length - 1])
            for length, chance in self._chances(smallest, trust).items()
        }
        # A rounded sum may exceed 1. e^epsilon would make a delta of a probability below 0.
        return {0: max(0.0, 1 - math.fsum(law.values())), **law}

    def missed(self, support: int, picks: int) -> float:
        """How often not the whole list of this many picks is named if all have this support or more; a bound."""
        # A list is cut most often if its last pick alone has so little.
        chances = self._chances([support + self._enough] * (picks - 1) + [support])
        # Continuous noise fails the test at least as often (Canonne, Kamath, Steinke 2020, Proposition 25).
        return 1 - chances[picks] + NormalDist(support, math.sqrt(self.variance)).cdf(self.threshold)

    def passes(self, support: int) -> float:
        """P(support + noise >= T)."""
        return math.exp(log_discrete_gaussian_survival(self.threshold - support, float(self.variance)))

    def _chances(self, smallest: Sequence[int], trust: Sequence[float] = ()) -> dict[int, float]:
        """How likely each length is to be chosen, by the smallest support up to each place."""
        lengths = self.lengths(len(smallest), trust)
        reached = np.array([min(smallest[length - 1], self._enough) for length in lengths])
        exponents = float(self.rate) * reached - np.array(list(map(float, _penalties(lengths, trust))))
        weights = np.exp(exponents - exponents.max())
        return dict(zip(lengths, (weights / weights.sum()).tolist(), strict=True))

    @property
    def _enough(self) -> int:
        return self.threshold + _ENOUGH * math.isqrt(self.variance) // 10

    def _scores(self, smallest: Sequence[int], lengths: Sequence[int], trust: Sequence[float] = ()) -> list[Fraction]:
        """What a length lacks of a support that passes most tests, less a public penalty for being short."""
        penalties = [penalty / self.rate for penalty in _penalties(lengths, trust)]
        return [min(smallest[length - 1], self._enough) - less for length, less in zip(lengths, penalties, strict=True)]


def _penalties(lengths: Sequence[int], trust: Sequence[float]) -> list[Fraction]:
    """What is taken off the exponent of each length for being short."""
    if trust:
        # Where a list is not likely to pass, little speaks against a shorter one.
        steps = [Fraction(round(1000 * step), 1000) for step in _ordered_steps(lengths, trust)]
    else:
        steps = [_STEP if place else _FIRST_STEP for place in range(len(lengths) - 1)]
    return list(accumulate(steps, initial=Fraction(0)))


def calibrate_certificate(
    request: Request,
    losses_of: LossesOfPick,
    *,
    test_share: Fraction,
    cut_share: Fraction,
    one_sided: bool = False,
    general: bool = False,
) -> tuple[Certificate, Fraction, Guarantee]:
    """A certificate for shares of what may be spent, and the largest picks that fit beside it.

    Args:
        request: what picks and certificate together may spend; delta is above 0.
        losses_of: the losses of all picks as a function of one pick's epsilon.
        test_share: the share of rho that the test gets.
        cut_share: the share of rho that the choice of the length gets; 0 for a test of the whole list.
        one_sided: whether only one neighbour can have names that the other has not. The failure is then paid once.
        general: whether supports may move both ways.

    Returns:
        The certificate; the epsilon of one pick, rounded down; and what is proved of picks and certificate together.

    Raises:
        BudgetError: the budget is too small for a test.
    """
    epsilon, delta = request.epsilon, request.delta
    granted = delta if one_sided else delta / (1 + exp_up(epsilon))
    probability = round_down(float(granted * FAILURE_SHARE))
    failure = OneSidedFailure(probability) if one_sided else AnyFailure(probability)
    rho, _ = calibrate_gaussian((failure,), epsilon=epsilon, delta=delta)
    certificate = Certificate.costing(
        test_share * rho,
        cut_share * rho,
        failure=failure,
        general=general,
        sensitivity=request.sensitivity,
    )
    found = largest_pick(losses_of, failure, epsilon=epsilon, delta=delta, beside=certificate.losses)
    if found is None:
        raise AssertionError("nothing is left for the picks")
    return certificate, *found


def _ordered_steps(lengths: Sequence[int], trust: Sequence[float]) -> Iterator[float]:
    """By how much the penalty of each shorter length exceeds that of the length before."""
    for place, (longer, shorter) in enumerate(pairwise(lengths)):
        share = min(1.0, math.log(longer / shorter) / -math.log(_SHORTER))
        yield trust[longer - 1] ** 3 * ((0 if place else _ORDERED_FIRST_STEP) + _ORDERED_STEP * share)


@lru_cache(maxsize=256)
def threshold_for(variance: int, *, sensitivity: int, delta: Fraction) -> int:
    """The least T with P(Delta + noise >= T) at most delta."""
    allowed = math.log(float(delta) * ROUNDED_DOWN)

    def holds(beyond: int) -> bool:
        return log_discrete_gaussian_survival_bound(beyond, float(variance)) <= allowed

    return sensitivity + least(holds, near=5 * math.isqrt(variance))
