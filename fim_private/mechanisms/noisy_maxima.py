"""k picks: each takes the itemset with the largest noisy count among those that are left, with fresh noise.

Under add-remove, Laplace or exponential noise of scale Delta/eps makes one pick eps-differentially private. The
textbook's scale is 2 Delta/eps, and also holds for `replace`. Proof: docs/mathematics.md#noisy-maxima. The noise is
drawn exactly (`noisy_maximum.py`).

* Permute and flip (McKenna and Sheldon 2020): in random order, each itemset is accepted with probability
  e^{eps (c_i - c_(1))/Delta}; the first accepted wins. That is the largest count with exponential noise
  (docs/mathematics.md#permute-and-flip), and drawn as such, for any number of itemsets.
* Report noisy max gives the noisy gap to the runner-up for free (Ding et al. 2021; docs/mathematics.md#free-gap).
* Max of Laplaces (Bhaskar et al. 2010) has Laplace noise.

Where epsilons are added up, later picks get more (docs/mathematics.md#rising-picks).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.calibration import calibrate_equal
from fim_private.accounting.rising import FLAT, rising
from fim_private.accounting.search import least
from fim_private.mechanisms.exponential import RISE
from fim_private.mechanisms.peeling import peeling_losses, picks_spending
from fim_private.mechanisms.protocol import MISSED, CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.mechanisms.remaining_levels import RemainingLevels
from fim_private.mechanisms.rounds import law_in_rounds
from fim_private.privacy import Loss, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.noisy_maximum import Noise, NoisyMaximum, winning_probabilities


@dataclass(frozen=True, kw_only=True)
class NoisyMaxima:
    """k picks over a declared universe.

    Args:
        top: k.
        pick_epsilon: the epsilon of one pick; if they rise, of those in the middle.
        universe_size: how many itemsets were declared.
        noise: the distribution of the noise.
        general: whether to use the textbook's noise. It is twice as wide and does not need monotone counts.
        gaps: whether each pick's noisy lead over its runner-up is released too.
        rise: how much more of epsilon later picks get than earlier ones.
        sensitivity: Delta.
    """

    top: int
    pick_epsilon: Fraction
    universe_size: int
    noise: Noise
    general: bool = False
    gaps: bool = False
    rise: Fraction = FLAT
    sensitivity: int = 1

    failures = ()
    depth = None

    @property
    def losses(self) -> tuple[Loss, ...]:
        """k epsilon-differentially private picks. Unlike the exponential mechanism's, they are not bounded-range."""
        return peeling_losses(self.top, self.pick_epsilon, self.rise, PureDP)

    @property
    def spending(self) -> tuple[Spending, ...]:
        return picks_spending(self.top, self.pick_epsilon, self.rise)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of a pick in the middle, in counts."""
        return self.sensitivity * (2 if self.general else 1) / self.pick_epsilon

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """The scale of the noise of each pick."""
        return tuple(self.scale / factor for factor in rising(self.top, self.rise))

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The lead that the itemsets of the list need over all others of the universe together."""
        bulk, scales = max(self.universe_size - 1, 1), self.scales

        def wins(lead: int, picks: Counter[tuple[int, Fraction]]) -> bool:
            each = [
                (winning_probabilities([lead, 0], [left, bulk], scale, self.noise)[0], times)
                for (left, scale), times in picks.items()
            ]
            return math.prod(chance**times for chance, times in each) >= 1 - MISSED

        # The more of them are left, the more often one of them wins: of 32 to 63, at least as often as of 32.
        least_left = [left if left < 32 else 1 << (left.bit_length() - 1) for left in range(self.top, 0, -1)]
        # Of single picks, the first have the widest noise.
        first, every = Counter([(1, scales[0])]), Counter(zip(least_left, scales, strict=True))
        one = least(lambda lead: wins(lead, first))
        counts = least(lambda lead: wins(lead, every), near=one)
        words = "between each itemset of the list and the bulk of the declared universe"
        return (Margin(counts=counts, of_one=one, words=words),)

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        return self._select(profile, randomness, gaps=False)[0]

    def select_with_gaps(
        self, profile: CountProfile, randomness: Randomness
    ) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
        """Ranks, and the noisy lead of each over its round's runner-up, rounded down; None without a runner-up."""
        return self._select(profile, randomness, gaps=True)

    def _select(
        self, profile: CountProfile, randomness: Randomness, *, gaps: bool
    ) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
        levels = profile.top(profile.universe_size or 0)
        counts = [count for count, _ in levels]
        scales = self.scales
        races = {scale: NoisyMaximum(counts, scale, self.noise) for scale in set(scales)}
        remaining = RemainingLevels([multiplicity for _, multiplicity in levels])
        ranks: list[int] = []
        leads: list[int | None] = []
        for scale in scales:
            if not any(remaining.left):
                break
            if gaps:
                level, lead = races[scale].draw_with_gap(remaining.left, randomness)
            else:
                level, lead = races[scale].draw(remaining.left, randomness), None
            ranks.append(remaining.take(level, randomness))
            leads.append(lead)
        return tuple(ranks), tuple(leads)

    def law(self, profile: CountProfile) -> Law:
        """The law over ordered lists, by quadrature. The absolute error is about 1e-14 per pick."""
        scales = self.scales

        def law_of_one(left: CountProfile) -> Law:
            taken = (profile.universe_size or 0) - (left.universe_size or 0)
            return self._law_of_one(left, scales[taken])

        return law_in_rounds(profile, self.top, law_of_one)

    def _law_of_one(self, profile: CountProfile, scale: Fraction) -> Law:
        left = [
            (place, count, number)
            for place, (count, number) in enumerate(profile.top(profile.universe_size or 0))
            if number
        ]
        if not left:
            return {(): 1.0}
        places, counts, multiplicities = zip(*left, strict=True)
        chances = winning_probabilities(counts, multiplicities, scale, self.noise)
        return {(place,): chance for place, chance in zip(places, chances, strict=True)}


def calibrate(request: Request, *, noise: str, general: bool = False, gaps: bool = False) -> CalibratedMechanism:
    """The mechanism with the largest epsilon per pick that basic or optimal composition allows.

    Raises:
        UsageError: the universe was not declared.
    """
    universe_size = request.require_universe()
    found = calibrate_equal(request.top, epsilon=request.epsilon, delta=request.delta, failing=False)
    # Optimal composition is of equal picks.
    rise = FLAT if general or found.guarantee.composition != "basic" else RISE
    return CalibratedMechanism(
        mechanism=NoisyMaxima(
            top=request.top,
            pick_epsilon=found.epsilon,
            universe_size=universe_size,
            noise=Noise(noise),
            general=general,
            gaps=gaps,
            rise=rise,
            sensitivity=request.sensitivity,
        ),
        guarantee=found.guarantee,
    )
