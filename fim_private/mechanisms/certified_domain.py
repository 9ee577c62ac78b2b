"""Certified domain: choose as if the most frequent itemsets were public, then name them if a noisy test allows it.

Some more than k itemsets are picked from the top l, without a stop symbol. The *support* of a pick is its count less
c_(l+1). The surplus is left out again, by picks among the picks, where little support is likely. So a
few picks may fall on rare itemsets, which would fail the test. How many of the k to test is chosen privately. They are
named if their smallest support, with discrete Gaussian noise, reaches T. The test is one number, so the same noise
costs the same whatever k is. Proof: docs/mathematics.md#certified-domain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.rising import FLAT, rising
from fim_private.arrays import Floats
from fim_private.mechanisms.certificate import Certificate, calibrate_certificate
from fim_private.mechanisms.left_out import LeftOut
from fim_private.mechanisms.peeling import Level, missed_by_picks, peel, peel_law, peeling_losses, picks_spending
from fim_private.mechanisms.protocol import MISSED, CalibratedMechanism, Law, Margin, Request, Spending, lead_of_list
from fim_private.privacy import AnyFailure, Failure, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

CANDIDATES, ITEMS, LEAST_PER_PICK = 20_000, 2_000, 10
"""l is 20,000, or 2,000 for single items, which are fewer, or 10 k if that is more.

A larger l makes c_(l+1) smaller, which helps where transactions are long, but each pick then has more to choose from.
The larger k is, the less budget a pick has. So l does not grow with k."""
TEST_SHARE, TEST_OF_ONE = Fraction(1, 8), Fraction(1, 2)
"""The test gets half of rho for one pick, less for more picks, and at least an eighth.

The test costs the same whatever k is. Picks need the more, the more there are."""
CUT_SHARE = Fraction(1, 25)
"""The share of rho that the choice of the length gets, if there is more than one pick."""

SPARE_SHARE = Fraction(3, 20)
"""The spare picks, in k."""
RISE = Fraction(1, 2)
"""How much more of epsilon later picks get. More is better for clear lists, and worse for others."""


def candidates_of(top: int, sizes: tuple[int, ...]) -> int:
    """l for k picks of itemsets of these sizes."""
    return max(ITEMS if sizes == (1,) else CANDIDATES, LEAST_PER_PICK * top)


def test_share_of(top: int) -> Fraction:
    """The share of rho that the test of k picks gets."""
    return max(TEST_SHARE, TEST_OF_ONE * Fraction(1000, math.isqrt(1000**2 * top)))


def spare_of(top: int) -> int:
    """How many more than k are picked."""
    return math.floor(SPARE_SHARE * top)


@dataclass(frozen=True, kw_only=True)
class CertifiedDomain:
    """More than k picks from the top l. k stay, of which as many are named as the certificate allows.

    Args:
        top: k.
        candidates: l, at least k and the spare picks; public.
        pick_epsilon: the epsilon of one pick, and of leaving one out; if they rise, of those in the middle.
        variance: the variance of the test's noise, in transactions squared.
        threshold: T, in transactions.
        test_delta: a bound on P(Delta + noise >= T).
        cut_epsilon: the epsilon of choosing how many picks to test; None if all are tested.
        spare: how many more than k are picked. As many are left out again.
        rise: how much more of epsilon later picks get than earlier ones. Those to leave out are the last.
        sensitivity: Delta.
    """

    top: int
    candidates: int
    pick_epsilon: Fraction
    variance: int
    threshold: int
    test_delta: Fraction
    cut_epsilon: Fraction | None = None
    spare: int = 0
    rise: Fraction = FLAT
    sensitivity: int = 1

    @classmethod
    def of(
        cls, certificate: Certificate, *, top: int, sizes: tuple[int, ...], pick_epsilon: Fraction, rise: Fraction
    ) -> CertifiedDomain:
        """The domain for itemsets of these sizes whose picks this certificate tests."""
        return cls(
            top=top,
            candidates=candidates_of(top, sizes),
            pick_epsilon=pick_epsilon,
            variance=certificate.variance,
            threshold=certificate.threshold,
            test_delta=certificate.failure.probability,
            cut_epsilon=certificate.cut_epsilon,
            spare=spare_of(top),
            rise=rise,
            sensitivity=certificate.sensitivity,
        )

    @property
    def picks(self) -> int:
        """How many are picked."""
        return self.top + self.spare

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
        """The picks and those to leave out, all of bounded range, then the test."""
        return (*peeling_losses(self.picks + self.spare, self.pick_epsilon, self.rise), *self.certificate.losses)

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
        """The picks, those to leave out, then the test."""
        return (
            *picks_spending(self.picks + self.spare, self.pick_epsilon, self.rise, left_out=self.spare),
            *self.certificate.spending,
        )

    @property
    def rate(self) -> Fraction:
        """The exponent of a pick in the middle is this times the count."""
        return self.pick_epsilon / self.sensitivity

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The exponent of each pick is this times the count."""
        return self._all_rates[: self.picks]

    @property
    def rates_out(self) -> tuple[Fraction, ...]:
        """The exponent of leaving out a pick is this times its support, negated."""
        return self._all_rates[self.picks :]

    @cached_property
    def _all_rates(self) -> tuple[Fraction, ...]:
        return tuple(self.rate * factor for factor in rising(self.picks + self.spare, self.rise))

    @cached_property
    def _float_rates(self) -> tuple[Floats, Floats]:
        """Those of the picks, then those of leaving out."""
        rates = np.array([float(rate) for rate in self._all_rates])
        return rates[: self.picks], rates[self.picks :]

    @cached_property
    def margins(self) -> tuple[Margin, ...]:
        """The lead with which no more picks than are left out fall on the bulk, and the others pass the test."""
        picked = lead_of_list(self._too_many_on_bulk, near=int(10 / self.rate), often=1 / 19)
        one = max(self.certificate.support_needed(MISSED), picked)
        return (
            Margin(
                counts=lead_of_list(self.missed, near=one),
                of_one=one,
                words=f"over place {self.candidates + 1:,} of the ranking and most places before it",
                place=self.candidates + 1,
            ),
        )

    def missed(self, lead: int) -> float:
        """How often not the whole list is named if all its itemsets have this lead; a bound.

        Proof: docs/mathematics.md#peeling.
        """
        # Before each pick, at least this many of the list are left, until all are picked.
        left = np.maximum(self.top - np.arange(self.picks), 1)
        # Picks of the bulk have a support of Delta.
        left_out = missed_by_picks(self._float_rates[1], math.log(self.top), lead - self.sensitivity)
        return min(1.0, self._too_many_on_bulk(lead, left) + left_out + self.certificate.missed(lead, self.top))

    def _too_many_on_bulk(self, lead: int, left: int | NDArray[np.int64] = 1) -> float:
        """How often more picks fall on the bulk than are left out, if this many of the list are left; a bound."""
        # m of them fall there on average. More than s do with probability m^(s+1)/(s+1)! at most.
        weights = math.log(self.candidates) - lead * self._float_rates[0] - np.log(left)
        average = float(np.logaddexp.reduce(weights))
        return math.exp(min(0.0, (self.spare + 1) * average - math.lgamma(self.spare + 2)))

    @property
    def tipping_leads(self) -> tuple[int, ...]:
        """The smallest support with which a list passes the test every second time."""
        return (self.threshold,)

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """The ranks that the certificate allows to name."""
        # A pick may fall on an itemset that does not occur, whose name nobody has. The picks go on: the neighbour with
        # such an itemset has it and the picks after it. It may be left out on either side.
        ranks = peel(profile.top(self.candidates), rates=self.rates, open_universe=False, randomness=randomness)
        supports = self._supports([profile.count(rank + 1) for rank in ranks], profile)
        kept = LeftOut(self.rates_out).keep(supports, randomness)
        tested = kept[: self.certificate.certify([supports[place] for place in kept], randomness)]
        nameable = [place for place, rank in enumerate(ranks) if self._has_name(profile.count(rank + 1), profile)]
        return tuple(ranks[place] for place in tested) if set(tested) <= set(nameable) else ()

    def law(self, profile: CountProfile) -> Law:
        """The exact law over ordered lists."""
        levels = profile.top(self.candidates)
        certifying = cache(self.certificate.law)  # many lists have the same smallest supports
        law: Law = {(): 0.0}
        for picked, chance in self._law_of_picks(levels).items():
            counts = [levels[place][0] for place in picked]
            supports = self._supports(counts, profile)
            nameable = {place for place, count in enumerate(counts) if self._has_name(count, profile)}
            for kept, left in LeftOut(self.rates_out).law(supports):
                smallest = tuple(accumulate((supports[place] for place in kept), min))
                for length, passed in certifying(smallest).items():
                    tested = kept[:length]
                    named = tuple(picked[place] for place in tested) if set(tested) <= nameable else ()
                    law[named] = law.get(named, 0.0) + chance * left * passed
        return {picked: chance for picked, chance in law.items() if chance}

    def _law_of_picks(self, levels: Sequence[Level]) -> Law:
        """The law of the picks before some are left out."""
        return peel_law(levels, rates=self.rates, open_universe=False)

    @staticmethod
    def _has_name(count: int, profile: CountProfile) -> bool:
        """Whether an itemset of this count can be named. One that does not occur has a name only if it was declared."""
        return count > 0 or profile.zeros is not None

    def _supports(self, counts: Sequence[int], profile: CountProfile) -> list[int]:
        """The picks' counts less c_(l+1), as many as there should be picks, and none below Delta.

        At or below Delta a support tells what one unit has, so all such supports look alike. So does a pick that is
        missing because fewer itemsets were declared.
        """
        level = profile.count(self.candidates + 1)
        supports = [max(count - level, self.sensitivity) for count in counts]
        return supports + [self.sensitivity] * (self.picks - len(supports))


def calibrate(request: Request) -> CalibratedMechanism:
    """The test gets a share of rho, and the choice of the length a little. The picks get the rest.

    Raises:
        BudgetError: delta is 0, or the budget is too small for a test.
    """
    request.require_delta()
    certificate, pick_epsilon, guarantee = calibrate_certificate(
        request,
        lambda pick: peeling_losses(request.top + 2 * spare_of(request.top), pick, RISE),
        test_share=test_share_of(request.top),
        cut_share=CUT_SHARE if request.top > 1 else Fraction(0),
    )
    mechanism = CertifiedDomain.of(
        certificate, top=request.top, sizes=request.sizes, pick_epsilon=pick_epsilon, rise=RISE
    )
    return CalibratedMechanism(mechanism=mechanism, guarantee=guarantee)
