"""Certified domain: choose as if the most frequent itemsets were public, then name them if a noisy test allows it.

k itemsets are picked from the top l, without a stop symbol. The *support* of a pick is its count less c_(l+1). How many
of the picks to test is chosen privately. They are named if their smallest support, with discrete Gaussian noise,
reaches T. The test is one number, so it costs the same whatever k is. Proof: docs/mathematics.md#certified-domain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fim_private.mechanisms.certificate import Certificate, calibrate_certificate
from fim_private.mechanisms.peeling import peel, peel_law, peeling_losses
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.privacy import AnyFailure, Failure, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

CANDIDATES, LEAST_PER_PICK = 20_000, 10
"""l is 20,000, or 10 k if that is more. A larger l makes c_(l+1) smaller, which helps where transactions are long, but
each pick then has more to choose from. The larger k is, the less budget a pick has. So l does not grow with k."""
TEST_SHARE = Fraction(1, 10)
"""The share of rho that the test gets."""
CUT_SHARE = Fraction(1, 25)
"""The share of rho that the choice of the length gets, if there is more than one pick."""


def candidates_of(top: int) -> int:
    """l for k picks."""
    return max(CANDIDATES, LEAST_PER_PICK * top)


@dataclass(frozen=True, kw_only=True)
class CertifiedDomain:
    """k picks from the top l, of which as many are named as the certificate allows.

    Args:
        top: k.
        candidates: l, at least k; public.
        pick_epsilon: the epsilon of one pick.
        variance: the variance of the test's noise, in transactions squared, at least 1.
        threshold: T, in transactions.
        test_delta: a bound on P(Delta + noise >= T).
        cut_epsilon: the epsilon of choosing how many picks to test; None if all are tested.
        sensitivity: Delta.
    """

    top: int
    candidates: int
    pick_epsilon: Fraction
    variance: int
    threshold: int
    test_delta: Fraction
    cut_epsilon: Fraction | None = None
    sensitivity: int = 1

    @property
    def certificate(self) -> Certificate:
        """What decides how many picks are named."""
        return Certificate(
            variance=self.variance,
            threshold=self.threshold,
            failure=AnyFailure(self.test_delta),
            cut_epsilon=self.cut_epsilon,
            sensitivity=self.sensitivity,
        )

    @property
    def losses(self) -> tuple[Loss, ...]:
        """k picks of bounded range, then the test."""
        return (*peeling_losses(self.top, self.pick_epsilon), *self.certificate.losses)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """A list passes although one unit decides what is on it."""
        return (self.certificate.failure,)

    @property
    def depth(self) -> int:
        """The top l and the one after."""
        return self.candidates + 1

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The picks, then the test."""
        return (
            Spending(what="picks", epsilon=self.pick_epsilon, times=self.top),
            *self.certificate.spending,
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
    def tipping_leads(self) -> tuple[int, ...]:
        """The smallest support with which a list passes the test every second time."""
        return (self.threshold,)

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """As many ranks as the certificate allows."""
        ranks = peel(
            profile.top(self.candidates),
            picks=self.top,
            rate=self.rate,
            open_universe=profile.zeros is None,
            randomness=randomness,
        )
        named = self.certificate.certify(
            self._supports([profile.count(rank + 1) for rank in ranks], profile), randomness
        )
        return ranks[:named] if named <= len(ranks) else ()

    def law(self, profile: CountProfile) -> Law:
        """The exact law over ordered lists."""
        levels = profile.top(self.candidates)
        law: Law = {(): 0.0}
        for picked, chance in peel_law(
            levels, picks=self.top, rate=self.rate, open_universe=profile.zeros is None
        ).items():
            supports = self._supports([levels[place][0] for place in picked], profile)
            for length, passed in self.certificate.law(supports).items():
                named = picked[:length] if length <= len(picked) else ()
                law[named] = law.get(named, 0.0) + chance * passed
        return {picked: chance for picked, chance in law.items() if chance}

    def _supports(self, counts: Sequence[int], profile: CountProfile) -> list[int]:
        """The picks' counts less c_(l+1), k of them, and none below Delta.

        At or below Delta a support tells what one unit has, so all such supports look alike. So does a pick that is
        missing because fewer itemsets occur.
        """
        level = profile.count(self.candidates + 1)
        supports = [max(count - level, self.sensitivity) for count in counts]
        return supports + [self.sensitivity] * (self.top - len(supports))


def calibrate(request: Request) -> CalibratedMechanism:
    """The test gets a tenth of rho, and the choice of the length a little. The picks get the rest.

    Raises:
        BudgetError: delta is 0, or the budget is too small for a test.
    """
    request.require_delta()
    found = calibrate_certificate(
        request,
        lambda pick: peeling_losses(request.top, pick),
        test_share=TEST_SHARE,
        cut_share=CUT_SHARE if request.top > 1 else Fraction(0),
    )
    mechanism = CertifiedDomain(
        top=request.top,
        candidates=candidates_of(request.top),
        pick_epsilon=found.pick_epsilon,
        variance=found.certificate.variance,
        threshold=found.certificate.threshold,
        test_delta=found.certificate.failure.probability,
        cut_epsilon=found.certificate.cut_epsilon,
        sensitivity=request.sensitivity,
    )
    return CalibratedMechanism(mechanism=mechanism, guarantee=found.guarantee)
