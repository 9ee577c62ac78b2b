"""Certified domain: choose as if the most frequent itemsets were public, then name them if a noisy test allows it.

k itemsets are picked from the top l, without a stop symbol. The *support* of a pick is its count less c_(l+1). If the
smallest support in the list, with discrete Gaussian noise, reaches T, the whole list is named, otherwise nothing is.
The test is one number, so it costs the same whatever k is. Proof: docs/mathematics.md#certified-domain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.calibration import prove_renyi
from fim_private.accounting.rounding import exp_up, round_down
from fim_private.accounting.search import largest, least
from fim_private.errors import BudgetError
from fim_private.mechanisms.peeling import peel, peel_law, peeling_losses
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.privacy import ZCDP, AnyFailure, Failure, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import (
    log_discrete_gaussian_survival,
    log_discrete_gaussian_survival_bound,
    sample_discrete_gaussian,
)

CANDIDATES_PER_PICK = 1000
"""l = 1000 k. In retail data c_(l+1) is then small."""
TEST_SHARE = Fraction(1, 10)
"""The share of rho that the test gets."""
FAILURE_SHARE = Fraction(1, 4)
"""The share of delta that covers a list which passes although one unit decides what is on it. The rest of delta pays
for composition."""
_SAFE = 1 - 1e-9
"""The threshold uses slightly less than the allowed delta, because logarithms are rounded."""


@dataclass(frozen=True, kw_only=True)
class CertifiedDomain:
    """k picks from the top l, or nothing.

    Args:
        top: k.
        candidates: l, at least k; public.
        pick_epsilon: the epsilon of one pick.
        variance: the variance of the test's noise, in transactions squared, at least 1.
        threshold: T, in transactions.
        test_delta: a bound on P(Delta + noise >= T).
        sensitivity: Delta.
    """

    top: int
    candidates: int
    pick_epsilon: Fraction
    variance: int
    threshold: int
    test_delta: Fraction
    sensitivity: int = 1

    @property
    def losses(self) -> tuple[Loss, ...]:
        """k picks of bounded range, then the test."""
        return (*peeling_losses(self.top, self.pick_epsilon), _test_loss(self.variance, self.sensitivity))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """A list passes although one unit decides what is on it."""
        return (AnyFailure(self.test_delta),)

    @property
    def depth(self) -> int:
        """The top l and the one after."""
        return self.candidates + 1

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The picks, then the test."""
        return (
            Spending(what="picks", epsilon=self.pick_epsilon, times=self.top),
            Spending(what="test of the smallest support", rho=_test_loss(self.variance, self.sensitivity).rho),
        )

    @property
    def rate(self) -> Fraction:
        """The exponent of a pick is this times the count."""
        return self.pick_epsilon / self.sensitivity

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The lead with which all k are picked before the bulk, and pass the test."""
        passing = self.threshold + 1.645 * math.sqrt(self.variance)
        picked = (math.log(self.candidates) + math.log(self.top) + math.log(19)) / float(self.rate)
        return (
            Margin(
                counts=math.ceil(max(passing, picked)),
                words=f"between places {self.top:,} and {self.candidates + 1:,} of the ranking",
                place=self.candidates + 1,
            ),
        )

    @property
    def tipping_lead(self) -> int:
        """The smallest support with which a list passes the test every second time."""
        return self.threshold

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """k ranks, or none."""
        ranks = peel(
            profile.top(self.candidates),
            picks=self.top,
            rate=self.rate,
            open_universe=profile.zeros is None,
            randomness=randomness,
        )
        if len(ranks) < self.top:
            return ()
        support = profile.count(max(ranks) + 1) - profile.count(self.candidates + 1)
        noise = sample_discrete_gaussian(Fraction(self.variance), randomness)
        return ranks if support + noise >= self.threshold else ()

    def law(self, profile: CountProfile) -> Law:
        """The exact law over ordered lists."""
        levels = profile.top(self.candidates)
        law: Law = {(): 0.0}
        for picked, chance in peel_law(
            levels, picks=self.top, rate=self.rate, open_universe=profile.zeros is None
        ).items():
            named = self._passes([levels[place][0] for place in picked], profile) if len(picked) == self.top else 0.0
            law[picked] = chance * named
            law[()] += chance * (1 - named)
        return {picked: chance for picked, chance in law.items() if chance}

    def _passes(self, counts: Sequence[int], profile: CountProfile) -> float:
        """P(a list of these counts passes the test)."""
        support = min(counts) - profile.count(self.candidates + 1)
        return math.exp(log_discrete_gaussian_survival(self.threshold - support, float(self.variance)))


def _test_loss(variance: int, sensitivity: int) -> ZCDP:
    """The cost of the noisy smallest support."""
    return ZCDP(Fraction(sensitivity**2, 2 * variance))


def threshold_for(variance: int, *, sensitivity: int, delta: Fraction) -> int:
    """The least T with P(Delta + noise >= T) at most delta."""
    allowed = math.log(float(delta) * _SAFE)

    def holds(beyond: int) -> bool:
        return log_discrete_gaussian_survival_bound(beyond, float(variance)) <= allowed

    return sensitivity + least(holds, near=5 * math.isqrt(variance))


def calibrate(request: Request) -> CalibratedMechanism:
    """The test gets a tenth of rho. The picks get the rest, by Renyi composition.

    Raises:
        BudgetError: delta is 0, or the budget is too small for a test.
    """
    request.require_delta()
    epsilon, delta = request.epsilon, request.delta
    failure = round_down(float(delta * FAILURE_SHARE / (1 + exp_up(epsilon))))

    def proved(*losses: Loss) -> bool:
        return prove_renyi(losses, failure, epsilon=epsilon, delta=delta) is not None

    rho = largest(lambda each: proved(ZCDP(each)), epsilon)
    if rho is None:
        raise BudgetError("The budget is too small for a test of what was chosen.", "Give a larger --epsilon.")
    variance = math.ceil(Fraction(request.sensitivity**2) / (2 * TEST_SHARE * rho))
    test = _test_loss(variance, request.sensitivity)
    pick = largest(lambda each: proved(*peeling_losses(request.top, each), test), epsilon)
    if pick is None:
        raise AssertionError("nothing is left for the picks")
    mechanism = CertifiedDomain(
        top=request.top,
        candidates=CANDIDATES_PER_PICK * request.top,
        pick_epsilon=pick,
        variance=variance,
        threshold=threshold_for(variance, sensitivity=request.sensitivity, delta=failure),
        test_delta=failure,
        sensitivity=request.sensitivity,
    )
    guarantee = prove_renyi(mechanism.losses, failure, epsilon=epsilon, delta=delta)
    if guarantee is None:
        raise AssertionError("rho was shared out beyond what there is")
    return CalibratedMechanism(mechanism=mechanism, guarantee=guarantee)
