"""Theorem 4.7 of PSPC: find a threshold with Algorithm 5, then a run that reaches it with Algorithm 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from fim_private.privacy import ApproxDP, PureDP
from fim_private.private_candidates.known_threshold import KnownThreshold
from fim_private.private_candidates.pool import Candidates, FiniteLaw, Output, Selected, Selection
from fim_private.randomness import Randomness, SecureRandomness
from verification.private_candidates.above_threshold import RESOLUTION
from verification.private_candidates.last_step import steps_for
from verification.private_candidates.percentile_threshold import PercentileThreshold


@dataclass(frozen=True, kw_only=True)
class UnknownThreshold:
    """A run that scores nearly as well as the best candidate's median, at little more than twice its loss.

    Args:
        search: Algorithm 5, at (eps_3, delta).
        stop: gamma of Algorithm 1.
        steps: T of Algorithm 1; None for no limit.

    Privacy (Theorem 4.7 a): the two compose to (2 eps_1 + kappa + eps_3, delta), kappa that of Algorithm 1. The paper
    sets eps_3 = eps_0 for a total of 2 eps_1 + eps_0, which leaves nothing for kappa <= eps_0; its exponent
    6 + 12 eps_1/eps_0 is that of eps_3 = eps_0/2, which is right, with another eps_0/2 for Algorithm 1: `planned`.
    """

    search: PercentileThreshold
    stop: Fraction
    steps: int | None = None

    @classmethod
    def planned(
        cls,
        loss: PureDP,
        *,
        candidates: int,
        epsilon: Fraction,
        delta: Fraction,
        failing: Fraction,
        thresholds: int,
        samples: int,
        resolution: int = RESOLUTION,
    ) -> UnknownThreshold:
        """The paper's parameters: p* = 1/(2K), gamma = beta p_1, p_1 = (beta^2/(R+1))^(6 + 12 eps_1/eps_0)/(12K).

        Args:
            loss: eps_1 of each candidate, pure.
            candidates: K.
            epsilon: eps_0, what is paid on top of 2 eps_1: half for the threshold, half for the last step.
            delta: of the search.
            failing: beta.
            thresholds: R.
            samples: N; the paper's is out of reach unless eps_1/eps_0 is small.
            resolution: as in Algorithm 5.
        """
        half, percentile = epsilon / 2, Fraction(1, 2 * candidates)
        exponent = float(6 + 12 * loss.epsilon / epsilon)
        reached = (float(failing) ** 2 / (thresholds + 1)) ** exponent / (12 * candidates)
        stop = Fraction(reached) * failing
        return cls(
            search=PercentileThreshold(
                loss=loss,
                epsilon=half,
                delta=delta,
                slack=half,
                percentile=percentile,
                failing=failing,
                thresholds=thresholds,
                samples=samples,
                resolution=resolution,
            ),
            stop=stop,
            steps=steps_for(stop, half),
        )

    @property
    def cost(self) -> ApproxDP:
        """What both together cost."""
        spent = self._reach(Fraction(0)).cost(self.search.loss)
        return ApproxDP(spent.epsilon + self.search.epsilon, self.search.delta)

    def law(self, law: FiniteLaw) -> dict[Selected, float]:
        """The exact law, of the law of one call of Q: Algorithm 1's at each threshold that Algorithm 5 may find."""
        *chances, none = self.search.law(law).tolist()
        found: dict[Selected, float] = {None: none}
        for place, chance in enumerate(chances):
            for outcome, probability in self._reach(self.search.threshold(place)).law(law).items():
                found[outcome] = found.get(outcome, 0.0) + chance * probability
        return found

    def expected_calls(self, law: FiniteLaw) -> float:
        """N for the threshold, and then what Algorithm 1 takes."""
        *chances, _ = self.search.law(law).tolist()
        reaching = [self._reach(self.search.threshold(place)) for place in range(len(chances))]
        return self.search.samples + math.fsum(
            chance * reach.expected_calls(law) for chance, reach in zip(chances, reaching, strict=True)
        )

    def _reach(self, threshold: Fraction) -> KnownThreshold:
        return KnownThreshold(threshold=threshold, stop=self.stop, steps=self.steps)

    def select(self, candidates: Candidates[Output], randomness: Randomness | None = None) -> Selection[Output] | None:
        """One selection, or None where no threshold was found or no run reached it.

        Args:
            candidates: with scores in [0, 1].
            randomness: for candidates, coins and noise; the operating system's source by default.
        """
        randomness = randomness or SecureRandomness()
        threshold = self.search.find(candidates, randomness)
        return None if threshold is None else self._reach(threshold).select(candidates, randomness)
