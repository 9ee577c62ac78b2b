"""Algorithm 2 of PSPC: the best of a random number of runs, and its variants with a largest number of runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from fim_private.errors import UsageError
from fim_private.privacy import PureDP
from fim_private.private_candidates.pool import (
    CandidateLoss,
    Candidates,
    FiniteLaw,
    Output,
    Selected,
    Selection,
    parts,
    with_delta,
)
from fim_private.private_candidates.stopping import check_stopping, not_stopped, rounded_up
from fim_private.randomness import Randomness, SecureRandomness
from fim_private.randomness.bernoulli import bernoulli


@dataclass(frozen=True, kw_only=True)
class RandomStopping:
    """Run uniformly drawn candidates, stop after each with probability gamma, and return the best run.

    Of runs with equal scores the first wins. Let p, p_0 and p_1 be the probabilities that a run gives this score and
    output, a larger score, and at least this score. The outcome has the probability
    gamma p/((p_0(1 - gamma) + gamma)(p_1(1 - gamma) + gamma)) (Theorem 3.2).

    Args:
        stop: gamma in (0, 1]; 1/gamma calls are expected. The score is below the best p-quantile of Q with probability
            at most gamma/p (Theorem 3.3). So with gamma = beta/K the best of K candidates is run, except with
            probability beta.
        steps: T, the largest number of calls; None for no limit.

    Raises:
        UsageError: gamma or T is out of range.

    Privacy: let g = (1 - gamma)^T, or 0 without a limit. For (eps_1, delta_1) candidates the outcome is
    (3 eps_1, (delta_1 + gamma g)/(gamma + delta_1 - gamma delta_1))-differentially private. That is pure 3 eps_1 if
    delta_1 = g = 0 (Theorem 3.2), and (3 eps_1, g) if delta_1 = 0. docs/mathematics.md#best-of-a-random-number has the
    proof, and says what is wrong with the paper's proof of Theorem 3.4.

    Pure privacy with a limit (Theorem 3.5): at least 2/gamma - 1 steps cost 3 eps_1 + ln(1 + rho) with
    rho = T gamma g/(1 - (1 + T gamma) g): docs/mathematics.md#last-step-without-a-delta. At the paper's T this is far
    below the paper's 3 eps_1 + 3 eps_0.
    """

    stop: Fraction
    steps: int | None = None

    def __post_init__(self) -> None:
        check_stopping(self.stop, self.steps)

    def cost(self, loss: CandidateLoss) -> CandidateLoss:
        """The cost of the whole selection, for candidates with this loss."""
        epsilon, delta = parts(loss)
        left = rounded_up(not_stopped(self.stop, self.steps))
        failing = (delta + self.stop * left) / (self.stop + delta - self.stop * delta)
        return with_delta(3 * epsilon, min(failing, Fraction(1)))

    def pure_cost(self, loss: PureDP) -> PureDP:
        """The cost without a delta, for pure candidates.

        Raises:
            UsageError: the limit is below 2/gamma - 1 steps, for which nothing is proved.
        """
        if self.steps is None:
            return PureDP(3 * loss.epsilon)
        if self.steps < 2 / self.stop - 1:
            raise UsageError(
                "So few calls are not proved to be private without a delta.",
                "Allow at least 2/gamma - 1 of them, or pay a delta.",
            )
        left, wait = not_stopped(self.stop, self.steps), self.steps * float(self.stop)
        return PureDP(3 * loss.epsilon + rounded_up(math.log1p(wait * left / (1 - (1 + wait) * left))))

    def select(self, candidates: Candidates[Output], randomness: Randomness | None = None) -> Selection[Output]:
        """The best of a random number of runs. It costs `cost(candidates.loss)`.

        Candidates and coins draw from `randomness`, the operating system's source by default.
        """
        randomness = randomness or SecureRandomness()
        best = candidates.draw(randomness)
        made = 1
        while not bernoulli(self.stop, randomness) and (self.steps is None or made < self.steps):
            drawn = candidates.draw(randomness)
            made += 1
            if drawn.score > best.score:
                best = drawn
        return best

    def law(self, law: FiniteLaw) -> dict[Selected, float]:
        """The exact law, from the law of one call: a finite sum in closed form (equation 2 of the paper)."""
        found: dict[Selected, float] = {}
        above = 0.0
        for _, tied in groupby(sorted(law.items(), key=lambda item: -item[0][0]), key=lambda item: item[0][0]):
            outcomes = list(tied)
            here = sum(chance for _, chance in outcomes)
            wins = self._at_most(1 - above) - self._at_most(1 - above - here)
            found.update({drawn: wins * chance / here for drawn, chance in outcomes if here})
            above += here
        return found

    def _at_most(self, chance: float) -> float:
        """E chance^J, where J is the number of runs."""
        gamma = float(self.stop)
        on = (1 - gamma) * chance
        whole = gamma * chance / (1 - on)
        return whole if self.steps is None else whole * (1 - on**self.steps) + on**self.steps

    @property
    def expected_calls(self) -> float:
        """E T~ = (1 - (1 - gamma)^T)/gamma: 1/gamma without a last step, whatever the candidates do."""
        return (1 - not_stopped(self.stop, self.steps)) / float(self.stop)
