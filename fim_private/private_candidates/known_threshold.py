"""Algorithm 1 of PSPC: the first run that reaches a known threshold. After each other run a coin may end the search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from fim_private.private_candidates.pool import (
    CandidateLoss,
    Candidates,
    FiniteLaw,
    Output,
    Score,
    Selected,
    Selection,
    chance_at_least,
    parts,
    with_delta,
)
from fim_private.private_candidates.stopping import chance_of_a_bad_call, check_stopping, not_stopped, rounded_up
from fim_private.randomness import Randomness, SecureRandomness
from fim_private.randomness.bernoulli import bernoulli


@dataclass(frozen=True, kw_only=True)
class KnownThreshold:
    """Run uniformly drawn candidates until one scores at least the threshold. After each other run, perhaps give up.

    Args:
        threshold: tau; public, or the outcome of a private procedure that is paid for.
        stop: gamma in (0, 1], the probability of giving up after a run that fell short. At most 1/gamma calls are
            expected (Theorem 3.1 d).
        steps: T, the largest number of calls; None for no limit.

    Raises:
        UsageError: gamma or T is out of range.

    Privacy (Theorem 3.1): let p_1 = P(score >= tau) and g = (1 - gamma)^T. For (eps_1, delta_1) candidates the outcome
    is (2 eps_1 + kappa, delta_1/(gamma + delta_1 - gamma delta_1))-differentially private with
        kappa = max(-ln(1 - g), ln(1 + g (1 - 1/T)^(T-1) / (T gamma))), which is 0 without a limit.
    The paper's delta is larger: 3 e^(2 eps_1 + eps_0) delta_1 / gamma (Theorem 3.1 c). At the paper's T, kappa is at
    most eps_0. Proof: docs/mathematics.md#first-above-a-threshold.
    """

    threshold: Score
    stop: Fraction
    steps: int | None = None

    def __post_init__(self) -> None:
        check_stopping(self.stop, self.steps)

    def cost(self, loss: CandidateLoss) -> CandidateLoss:
        """The cost of the whole selection, for candidates with this loss."""
        epsilon, delta = parts(loss)
        return with_delta(2 * epsilon + self._kappa(), chance_of_a_bad_call(self.stop, self.steps, delta))

    def _kappa(self) -> Fraction:
        left = not_stopped(self.stop, self.steps)
        if self.steps is None or not left:
            return Fraction(0)
        if self.steps == 1:
            return rounded_up(-math.log(self.stop))
        peak = math.exp((self.steps - 1) * math.log1p(-1 / self.steps)) / (self.steps * float(self.stop))
        return rounded_up(max(-math.log1p(-left), math.log1p(left * peak)))

    def select(self, candidates: Candidates[Output], randomness: Randomness | None = None) -> Selection[Output] | None:
        """One selection, or None if it gave up. It costs `cost(candidates.loss)`.

        Candidates and coins draw from `randomness`, the operating system's source by default.
        """
        randomness = randomness or SecureRandomness()
        made = 0
        while self.steps is None or made < self.steps:
            drawn = candidates.draw(randomness)
            made += 1
            if drawn.score >= self.threshold:
                return drawn
            if bernoulli(self.stop, randomness):
                return None
        return None

    def law(self, law: FiniteLaw) -> dict[Selected, float]:
        """The exact law, from the law P of one call: P(x, q) (1 - (ab)^T)/(1 - ab), a = 1 - p_1, b = 1 - gamma."""
        on = (1 - chance_at_least(law, self.threshold)) * (1 - float(self.stop))
        runs = self.expected_calls(law)
        found: dict[Selected, float] = {
            drawn: chance * runs for drawn, chance in law.items() if drawn[0] >= self.threshold
        }
        short = 1 - chance_at_least(law, self.threshold)
        found[None] = short * float(self.stop) * runs + (0.0 if self.steps is None else on**self.steps)
        return found

    def expected_calls(self, law: FiniteLaw) -> float:
        """E T~ = (1 - (ab)^T)/(1 - ab). Theorem 3.1 (d) bounds this for no limit."""
        on = (1 - chance_at_least(law, self.threshold)) * (1 - float(self.stop))
        return (1 - (0.0 if self.steps is None else on**self.steps)) / (1 - on)
