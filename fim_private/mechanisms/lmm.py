"""The large margin mechanism, calibrated: k picks from one margin search, after Chaudhuri, Hsu, Song (2014).

Search: sparse vector with noise DL(2 Delta/eps_S) tests the gap g_l = c_(k) - c_(l+1) on the grid k, 2k, 4k, ...,
against thresholds that bound the expected slack (`gap_thresholds.py`). Picks: peeling from the certified top l with
exponent eps_A c / Delta. If the search certifies nothing, the limited domain makes the picks, which are not spent yet.
Theorems and proofs: docs/mathematics.md#lmm-calibrated and docs/mathematics.md#lmm-fallback.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fim_private.accounting.calibration import calibrate_pick
from fim_private.mechanisms.gap_thresholds import doubling_grid, reach, thresholds
from fim_private.mechanisms.limited_domain import CANDIDATES_PER_PICK, LimitedDomain
from fim_private.mechanisms.peeling import mix, peel, peel_law, peeling_losses
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.mechanisms.sparse_vector import NEGLIGIBLE, discrete_laplace_law, search, search_law
from fim_private.privacy import AnyFailure, Failure, Loss, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

GRID_PER_PICK = 1024
"""The grid ends at this times k."""
SEARCH_SHARE = Fraction(1, 5)
"""eps_S = 0.2 eps."""


@dataclass(frozen=True, kw_only=True)
class LargeMargin:
    """k picks from the top l, where one search certifies l.

    Args:
        top: k.
        search_epsilon: eps_S.
        pick_epsilon: eps_A, for one pick.
        certificate_delta: the delta that the thresholds share.
        grid_limit: public cap of the grid.
        fallback: the limited domain that makes the picks if nothing is certified, or None.
        sensitivity: Delta.
    """

    top: int
    search_epsilon: Fraction
    pick_epsilon: Fraction
    certificate_delta: Fraction
    grid_limit: int
    fallback: LimitedDomain | None = None
    sensitivity: int = 1

    @cached_property
    def tests(self) -> tuple[tuple[int, int], ...]:
        """(l, T) for each point l of the grid, T its threshold."""
        grid = doubling_grid(self.top, self.grid_limit)
        bounds = thresholds(
            top=self.top,
            grid=grid,
            search_epsilon=self.search_epsilon,
            pick_epsilon=self.pick_epsilon,
            certificate_delta=self.certificate_delta,
            sensitivity=self.sensitivity,
        )
        return tuple(zip(grid, bounds, strict=True))

    @property
    def losses(self) -> tuple[Loss, ...]:
        return (PureDP(self.search_epsilon), *peeling_losses(self.top, self.pick_epsilon))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """A wrong certificate, or a pick of the fallback that comes wrongly before its stop symbol."""
        return (AnyFailure(self.certificate_delta + (self.fallback.stop_delta if self.fallback else 0)),)

    @property
    def depth(self) -> int:
        """One place beyond the last point of the grid, or the fallback's depth if that is more."""
        return max(self.tests[-1][0] + 1, self.fallback.depth if self.fallback else 0)

    @property
    def spending(self) -> tuple[Spending, ...]:
        return (
            Spending(what="search for a margin", epsilon=self.search_epsilon),
            Spending(what="picks", epsilon=self.pick_epsilon, times=self.top),
        )

    @property
    def scale(self) -> Fraction:
        """The scale of all noise in the search."""
        return 2 * self.sensitivity / self.search_epsilon

    @property
    def rate(self) -> Fraction:
        """A pick's exponent is this times the count."""
        return self.pick_epsilon / self.sensitivity

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The gaps that are certified at both ends of the grid, then the fallback's margins."""
        (first, threshold), (last, highest) = self.tests[0], self.tests[-1]
        noise = reach(float(self.scale))
        nearest = Margin(
            counts=threshold + noise,
            words=f"between places {self.top:,} and {first + 1:,} of the ranking",
            place=first + 1,
        )
        farthest = Margin(
            counts=highest + noise,
            words=f"between places {self.top:,} and {last + 1:,} (or after {2 * self.top:,}, {4 * self.top:,}, ...)",
            place=last + 1,
        )
        return (nearest, farthest, *(self.fallback.margins if self.fallback else ()))

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """k ranks; fewer if a draw falls on an itemset that does not occur, or if the fallback stops early."""
        found = search(
            self._excesses(profile), threshold_scale=self.scale, query_scale=self.scale, randomness=randomness
        )
        if found is None:
            return self.fallback.select(profile, randomness) if self.fallback else ()
        return peel(
            profile.top(self.tests[found][0]),
            rates=(self.rate,) * self.top,
            open_universe=profile.zeros is None,
            randomness=randomness,
        )

    def law(self, profile: CountProfile) -> Law:
        """The exact law over ordered lists, with an absolute error below 1e-15."""
        scale = float(self.scale)
        stops = search_law(list(self._excesses(profile)), shift_law=discrete_laplace_law(scale), query_scale=scale)
        *certified, uncertified = stops.tolist()
        parts: list[tuple[float, Law]] = [(uncertified, self.fallback.law(profile) if self.fallback else {(): 1.0})]
        for probability, (size, _) in zip(certified, self.tests, strict=True):
            if probability >= NEGLIGIBLE:
                head = peel_law(profile.top(size), rates=(self.rate,) * self.top, open_universe=profile.zeros is None)
                parts.append((probability, head))
        return mix(*parts)

    def _excesses(self, profile: CountProfile) -> Iterator[int]:
        bar = profile.count(self.top)
        return (bar - profile.count(size + 1) - threshold for size, threshold in self.tests)


def calibrate(request: Request, *, fallback: bool = True) -> CalibratedMechanism:
    """The mechanism with a fifth of epsilon as eps_S, and the largest eps_A that composition allows.

    Raises:
        BudgetError: delta is 0.
    """
    request.require_delta()
    search_epsilon = SEARCH_SHARE * request.epsilon

    def losses_of(pick: Fraction) -> tuple[Loss, ...]:
        return (PureDP(search_epsilon), *peeling_losses(request.top, pick))

    found = calibrate_pick(losses_of, epsilon=request.epsilon, delta=request.delta, failing=True)
    share = found.failure / 2 if fallback else found.failure
    return CalibratedMechanism(
        mechanism=LargeMargin(
            top=request.top,
            search_epsilon=search_epsilon,
            pick_epsilon=found.pick_epsilon,
            certificate_delta=share,
            grid_limit=GRID_PER_PICK * request.top,
            sensitivity=request.sensitivity,
            fallback=LimitedDomain(
                top=request.top,
                candidates=CANDIDATES_PER_PICK * request.top,
                pick_epsilon=found.pick_epsilon,
                stop_delta=share,
                sensitivity=request.sensitivity,
            )
            if fallback
            else None,
        ),
        guarantee=found.guarantee,
    )
