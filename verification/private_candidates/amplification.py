"""Theorem C.1 of PSPC: run every candidate once, and choose among the runs and dummies by the exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from fim_private.private_candidates.pool import (
    CandidateLoss,
    Candidates,
    FiniteLaw,
    Output,
    Score,
    Selection,
    parts,
    with_delta,
)
from fim_private.private_candidates.stopping import rounded_up
from fim_private.randomness import Randomness, SecureRandomness
from fim_private.randomness.uniform import uniform_below
from fim_private.randomness.weighted_choice import WeightedChoice


@dataclass(frozen=True, kw_only=True)
class Amplification:
    """Private amplification (Gupta et al. 2010) in the paper's analysis.

    Args:
        threshold: tau; scores above count as tau, and so do the dummies'.
        exponent: eps_2 > 0 of the exponential mechanism, weights e^(eps_2 score); None for infinite, which chooses
            uniformly among dummies and the runs that reach tau. Privacy does not depend on it.
        dummies: 1 + 1/gamma of the theorem, at least 2. Choosing one is to answer nothing.

    Privacy: of N candidates at (eps_1, delta_1), with m dummies, (eps_1 + max(eps_1, ln(m/(m - 1))), N delta_1)-
    differentially private. The paper claims 2 eps_1 + 8 gamma = 2 eps_1 + 8/(m - 1), pure.
    Proof: docs/mathematics.md#amplification.
    """

    threshold: Score
    exponent: Fraction | None
    dummies: int

    def cost(self, loss: CandidateLoss, number: int) -> CandidateLoss:
        """What the choice costs in all, of `number` candidates with this loss."""
        epsilon, delta = parts(loss)
        least = rounded_up(math.log(self.dummies / (self.dummies - 1)))
        return with_delta(epsilon + max(epsilon, least), min(Fraction(1), number * delta))

    def select(self, candidates: Candidates[Output], randomness: Randomness | None = None) -> Selection[Output] | None:
        """One of the runs, or None for a dummy.

        Args:
            candidates: each is run once.
            randomness: for candidates and choice; the operating system's source by default.
        """
        randomness = randomness or SecureRandomness()
        runs = [candidates.run(place, randomness) for place in range(len(candidates.procedures))]
        # A score of minus infinity weighs nothing.
        scores = [None if run.score == -math.inf else Fraction(min(run.score, self.threshold)) for run in runs]
        chosen = self._choose(scores, randomness)
        return None if chosen is None else runs[chosen]

    def _choose(self, scores: Sequence[Fraction | None], randomness: Randomness) -> int | None:
        """The place of a run, or None for a dummy; exactly distributed."""
        top = Fraction(self.threshold)
        levels = [top, *sorted({score for score in scores if score is not None and score < top}, reverse=True)]
        at_level = [[place for place, score in enumerate(scores) if score == level] for level in levels]
        if self.exponent is None:
            levels, at_level = levels[:1], at_level[:1]
        numbers = [len(places) for places in at_level]
        numbers[0] += self.dummies
        level = WeightedChoice(levels, self.exponent or Fraction(1)).draw(numbers, randomness)
        place = uniform_below(numbers[level], randomness)
        return at_level[level][place] if place < len(at_level[level]) else None

    def law(self, laws: Sequence[FiniteLaw]) -> dict[tuple[int, Score, Hashable] | None, float]:
        """The exact law over (candidate, score, output), None for a dummy, of the law of each candidate's run.

        Cost: the product of the laws' sizes.
        """
        found: dict[tuple[int, Score, Hashable] | None, float] = {None: 0.0}
        for runs in product(*(law.items() for law in laws)):
            chance = math.prod(probability for _, probability in runs)
            weights = [self._weight(drawn[0]) for drawn, _ in runs]
            total = self.dummies + math.fsum(weights)
            found[None] += chance * self.dummies / total
            for place, ((drawn, _), weight) in enumerate(zip(runs, weights, strict=True)):
                named = (place, *drawn)
                found[named] = found.get(named, 0.0) + chance * weight / total
        return found

    def _weight(self, score: Score) -> float:
        if self.exponent is None:
            return 1.0 if score >= self.threshold else 0.0
        return math.exp(self.exponent * float(min(score, self.threshold) - self.threshold))
