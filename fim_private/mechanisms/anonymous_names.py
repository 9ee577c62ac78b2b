"""Anonymous names: a mechanism for a declared universe, where only the number N of possible items is public.

The mechanism chooses among the itemsets of N tokens, as if all were declared. Each item that occurs has a token, and
nobody has the others. A certificate then decides how many of the picks are named: the support of an itemset is its
count. The program cannot name a token that nobody has: the answer is then empty, whatever the certificate says. So
neighbours differ more than the mechanism allows only if an itemset is named whose items only one unit has. Its count is
at most Delta, and delta pays for the chance that it passes. Proof: docs/mathematics.md#anonymous-names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import cast

from fim_private.errors import BudgetError
from fim_private.mechanisms.certificate import Certificate, calibrate_certificate
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.joint_exponential import JointExponential
from fim_private.mechanisms.noisy_maxima import NoisyMaxima
from fim_private.mechanisms.protocol import (
    CalibratedMechanism,
    Costed,
    Law,
    Margin,
    Request,
    Spending,
    WithGaps,
    lead_of_list,
)
from fim_private.privacy import BoundedRange, Failure, Loss, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

LONG = 10
"""From this k on, the list may be cut before the test."""
TEST_SHARE, TEST_OF_ONE = Fraction(1, 10), Fraction(1, 3)
"""The test of a short list gets rho/(3k), but at least rho/10: few picks leave more to it."""
CUT_SHARE = Fraction(1, 20)
"""The share of rho that the choice of the length gets, and that the test of a long list gets."""
_ONCE = 1 / 60
"""Picks, choice of the length, and test each go wrong with at most this probability: together one time in 20."""


Declared = Exponential | JointExponential | NoisyMaxima
"""Mechanisms for a declared universe. Their only margin is the lead of one pick over the whole universe.

Their losses follow from the epsilon of one pick. With a lead that is larger by `scale` counts, a wrong pick is less
likely by a factor e.
"""


@dataclass(frozen=True, kw_only=True)
class Certified:
    """k picks by the inner mechanism from the itemsets of N tokens. The certificate decides how many are named."""

    inner: Declared
    certificate: Certificate

    depth = None

    @property
    def top(self) -> int:
        """k."""
        return self.inner.top

    @property
    def sensitivity(self) -> int:
        """Delta."""
        return self.inner.sensitivity

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The picks, then the certificate."""
        return (*self.inner.losses, *self.certificate.losses)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """An itemset passes although only one neighbour has all its names."""
        return (self.certificate.failure,)

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The picks, then the certificate."""
        return (*self.inner.spending, *self.certificate.spending)

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The count with which the list is picked before all that do not occur, is not cut, and passes the test.

        Mechanisms are compared by what an itemset needs to be picked and to pass.
        """
        (one,) = self.inner.margins
        # One pick goes wrong one time in 20 at its own margin, and the first ones have the smallest epsilon.
        least = min(loss.epsilon for loss in self.inner.losses if isinstance(loss, BoundedRange | PureDP))
        scale = float(self.inner.scale * self.inner.pick_epsilon / least)
        picked = one.compared + math.ceil(scale * math.log(self.top / _ONCE / 20))
        passing = self.certificate.support_needed(_ONCE)
        missed = partial(self.certificate.missed, picks=self.top)
        uncut = max(passing, lead_of_list(missed, near=passing, often=2 * _ONCE))
        words = "between each itemset of the list and those that do not occur"
        return (Margin(counts=max(picked, uncut), of_one=max(picked, passing), words=words),)

    @property
    def tipping_leads(self) -> tuple[int, ...]:
        """The smallest count with which a list passes the test every second time."""
        return (self.certificate.threshold,)

    @property
    def gaps(self) -> bool:
        """Whether the named picks come with their noisy leads."""
        return isinstance(self.inner, WithGaps) and self.inner.gaps

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """The ranks that the certificate allows to name. No rank is of an itemset that does not occur."""
        ranks = self.inner.select(profile, randomness)
        return ranks[: self._named(ranks, profile, randomness)]

    def select_with_gaps(
        self, profile: CountProfile, randomness: Randomness
    ) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
        """The ranks of `select`, and their leads. The leads of picks that are not named are not released."""
        ranks, leads = cast(WithGaps, self.inner).select_with_gaps(profile, randomness)
        named = self._named(ranks, profile, randomness)
        return ranks[:named], leads[:named]

    def law(self, profile: CountProfile) -> Law:
        """The exact law over ordered lists."""
        law: Law = {(): 0.0}
        for picked, chance in self.inner.law(profile).items():
            occurring = len(profile.levels)
            counts = self._supports([profile.levels[level] if level < occurring else 0 for level in picked])
            for length, passed in self.certificate.law(counts).items():
                named = picked[:length] if all(counts[:length]) else ()
                law[named] = law.get(named, 0.0) + chance * passed
        return {picked: chance for picked, chance in law.items() if chance}

    def _named(self, ranks: Sequence[int], profile: CountProfile, randomness: Randomness) -> int:
        """How many picks are named: as many as the certificate says, and none if one of them does not occur."""
        counts = self._supports([profile.count(rank + 1) for rank in ranks])
        length = self.certificate.certify(counts, randomness)
        return length if all(counts[:length]) else 0

    def _supports(self, counts: Sequence[int]) -> list[int]:
        """The picks' counts, and 0 for each pick that the mechanism did not make."""
        return [*counts, *[0] * (self.top - len(counts))]


def certify(declared: Costed, request: Request, *, general: bool) -> CalibratedMechanism:
    """The mechanism with a certificate for its list.

    Args:
        declared: the mechanism as calibrated for a list of names. Only the epsilon of its picks changes.
        request: what picks and certificate together may spend.
        general: whether the claim must also hold for `replace`. Both neighbours may then have names of their own.

    Raises:
        BudgetError: delta is 0, or the budget is too small for a test.
    """
    if request.delta == 0:
        raise BudgetError(
            "With only a number of items, a test decides which names are revealed, and the test needs a delta.",
            "Give --delta, such as 1e-6, or the names of all possible items with --universe-file.",
        )
    inner = cast(Declared, declared)
    long = request.top >= LONG
    certificate, pick_epsilon, guarantee = calibrate_certificate(
        request,
        lambda pick: replace(inner, pick_epsilon=pick).losses,
        test_share=CUT_SHARE if long else max(TEST_SHARE, TEST_OF_ONE / request.top),
        cut_share=CUT_SHARE if long else Fraction(0),
        one_sided=not general,
        general=general,
    )
    mechanism = Certified(inner=replace(inner, pick_epsilon=pick_epsilon), certificate=certificate)
    return CalibratedMechanism(mechanism=mechanism, guarantee=guarantee)
