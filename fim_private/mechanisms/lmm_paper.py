"""The large margin mechanism as published (Chaudhuri, Hsu, Song 2014, Algorithm 1), in counts, repeated k times.

One selection:
    m = c_(1) + Z, Z ~ DL(3/alpha);  G ~ DL(6/alpha);  Z_l ~ DL(12/alpha);
    stop at the first l = 1, 2, ... with m - c_(l+1) > Z_l + G + T(l);
    then the exponential mechanism on the top l with exponent alpha c / 6.
It is (alpha, delta)-differentially private for both neighbouring relations (the paper's Theorem 2, for discrete noise:
docs/mathematics.md#lmm-as-published). The search ends at a public cap, and names no itemset then. In a smaller
declared universe it ends with the whole universe.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fim_private.accounting.calibration import calibrate_equal
from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.mechanisms.peeling import mix, peel, peel_law
from fim_private.mechanisms.protocol import NORMAL_REACH, CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.mechanisms.rounds import law_in_rounds, margin_of_rounds, select_in_rounds
from fim_private.mechanisms.sparse_vector import NEGLIGIBLE, discrete_laplace_law, search, search_law
from fim_private.privacy import ApproxDP, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_laplace import sample_discrete_laplace

MAX_CANDIDATES = 10_000


@dataclass(frozen=True, kw_only=True)
class PublishedLargeMargin:
    """k selections without replacement, each as published.

    Args:
        top: k.
        alpha: the epsilon of one selection.
        selection_delta: the delta of one selection.
        max_candidates: public cap of the search; a smaller declared universe replaces it.
        sensitivity: Delta.
    """

    top: int
    alpha: Fraction
    selection_delta: Fraction
    max_candidates: int = MAX_CANDIDATES
    sensitivity: int = 1

    failures = ()

    @property
    def losses(self) -> tuple[Loss, ...]:
        return (ApproxDP(self.alpha, self.selection_delta),) * self.top

    @property
    def depth(self) -> int:
        """One place beyond the cap, plus the places of the other selections."""
        return self.max_candidates + 1 + self.top

    @property
    def spending(self) -> tuple[Spending, ...]:
        third = self.alpha / 3
        return (
            Spending(what="estimates of the maximum", epsilon=third, times=self.top),
            Spending(what="searches for a margin", epsilon=third, times=self.top),
            Spending(what="picks", epsilon=third, times=self.top),
        )

    def threshold(self, size: int) -> int:
        """T(l), in counts, where l is `size`.

        >>> lmm = PublishedLargeMargin(top=1, alpha=Fraction(1), selection_delta=Fraction(1, 10**6))
        >>> lmm.threshold(1), lmm.threshold(10), lmm.threshold(100)
        (417, 479, 547)
        """
        scale, delta = self.sensitivity / float(self.alpha), float(self.selection_delta)
        terms = (
            3 * scale * math.log(3 / (2 * delta)),
            6 * scale * math.log(3 / delta),
            12 * scale * math.log(3 * size * (size + 1) / delta),
            6 * (self.sensitivity + scale * math.log(3 * size / delta)),
        )
        return sum(math.ceil(term * (1 + RELATIVE_ERROR)) for term in terms)

    @property
    def rate(self) -> Fraction:
        """A pick's exponent is this times the count."""
        return self.alpha / (6 * self.sensitivity)

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The first threshold, plus what the three noises may take off the gap."""
        noise = math.sqrt(2 * (3**2 + 6**2 + 12**2)) * self.sensitivity / float(self.alpha)
        return margin_of_rounds(self.threshold(1) + math.ceil(NORMAL_REACH * noise))

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """Up to k ranks. The list ends when a search reaches the cap."""
        return select_in_rounds(profile, self.top, lambda left: self._select_one(left, randomness))

    def law(self, profile: CountProfile) -> Law:
        """The exact law over ordered lists, with an absolute error below 1e-15."""
        return law_in_rounds(profile, self.top, self._law_of_one)

    def _select_one(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        scale = self.sensitivity / self.alpha
        maximum = profile.count(1) + sample_discrete_laplace(3 * scale, randomness)
        found = search(
            (maximum + excess for excess in self._excesses(profile)),
            threshold_scale=6 * scale,
            query_scale=12 * scale,
            randomness=randomness,
        )
        size = self._stop(found, profile)
        if size is None:
            return ()
        return peel(profile.top(size), rates=(self.rate,), open_universe=profile.zeros is None, randomness=randomness)

    def _law_of_one(self, profile: CountProfile) -> Law:
        scale = self.sensitivity / float(self.alpha)
        stops = search_law(
            [profile.count(1) + excess for excess in self._excesses(profile)],
            shift_law=_difference(discrete_laplace_law(6 * scale), discrete_laplace_law(3 * scale)),
            query_scale=12 * scale,
        )
        parts: list[tuple[float, Law]] = []
        for index, probability in enumerate(stops.tolist()):
            if probability < NEGLIGIBLE:
                continue
            size = self._stop(index if index < len(stops) - 1 else None, profile)
            if size is None:
                parts.append((probability, {(): 1.0}))
                continue
            head = peel_law(profile.top(size), rates=(self.rate,), open_universe=profile.zeros is None)
            parts.append((probability, head))
        return mix(*parts)

    def _excesses(self, profile: CountProfile) -> Iterator[int]:
        """-c_(l+1) - T(l) - 1 for each tested l. The test is m - c_(l+1) - T(l) - 1 + Z >= G."""
        tested = self.max_candidates
        if profile.universe_size is not None:
            tested = min(tested, max(profile.universe_size - 1, 0))
        return (-profile.count(size + 1) - self.threshold(size) - 1 for size in range(1, tested + 1))

    def _stop(self, found: int | None, profile: CountProfile) -> int | None:
        """l, or None if the search reached the cap. A small declared universe needs no certificate as a whole."""
        if found is not None:
            return found + 1
        universe = profile.universe_size
        return universe if universe and universe <= self.max_candidates else None


def _difference(
    one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The law of the difference of two independent symmetric integer variables."""
    reach = int(one[0][-1] + other[0][-1])
    return np.arange(-reach, reach + 1), np.convolve(one[1], other[1])


def calibrate(request: Request) -> CalibratedMechanism:
    """The mechanism with the largest alpha that basic or optimal composition of k selections allows.

    Raises:
        BudgetError: delta is 0.
    """
    request.require_delta()
    found = calibrate_equal(request.top, epsilon=request.epsilon, delta=request.delta, failing=True)
    mechanism = PublishedLargeMargin(
        top=request.top, alpha=found.epsilon, selection_delta=found.delta, sensitivity=request.sensitivity
    )
    return CalibratedMechanism(mechanism=mechanism, guarantee=found.guarantee)
