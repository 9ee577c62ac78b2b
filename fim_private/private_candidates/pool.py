"""The candidates: differentially private procedures, each with a score. Each call draws one of them uniformly.

The notation follows Liu and Talwar (2019), *Private Selection from Private Candidates* (PSPC), section 3. Each of the
candidates M_1 ... M_K is (eps_1, delta_1)-differentially private in its score and output together. Q runs a uniformly
drawn candidate and is as private as the candidates. Nothing else is assumed: the score may differ by any amount between
neighbouring data sets.

The proofs treat an (eps_1, delta_1) loss as follows: each call is eps_1-private, except for a bad call of probability
delta_1 (docs/mathematics.md#domination and docs/mathematics.md#bad-calls).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from fim_private.errors import UsageError
from fim_private.privacy import ApproxDP, PureDP
from fim_private.randomness import Randomness
from fim_private.randomness.uniform import uniform_below

Output = TypeVar("Output")
Score = int | float | Fraction
Candidate = Callable[[Randomness], tuple[Score, Output]]
CandidateLoss = PureDP | ApproxDP
FiniteLaw = Mapping[tuple[Score, Hashable], float]
"""The law of one call, if it is finite: the probability of each (score, output)."""
Selected = tuple[Score, Hashable] | None
"""An outcome of a selection's law: a (score, output), or None for no answer."""


@dataclass(frozen=True, kw_only=True)
class Selection(Generic[Output]):
    """What was selected. The number of calls is private, so it is not stored here.

    Args:
        candidate: the selected candidate's place, from 0.
        score: the score of the selected run.
        output: the output of the selected run.
    """

    candidate: int
    score: Score
    output: Output


@dataclass(frozen=True)
class Candidates(Generic[Output]):
    """K private procedures, and the cost of one run.

    Args:
        procedures: each maps a source of random bits to (score, output), with fresh noise at each call. Failures and
            running times are not protected, so neither may depend on the data in a telling way.
        loss: the cost of one call, score and output together; the largest over the procedures.

    Raises:
        UsageError: there are no procedures.
    """

    procedures: Sequence[Candidate[Output]]
    loss: CandidateLoss

    def __post_init__(self) -> None:
        if not self.procedures:
            raise UsageError("There are no candidates to select from.", "Give at least one.")

    def draw(self, randomness: Randomness) -> Selection[Output]:
        """One call of Q: draw a candidate uniformly and run it once."""
        return self.run(uniform_below(len(self.procedures), randomness), randomness)

    def run(self, candidate: int, randomness: Randomness) -> Selection[Output]:
        """One call of a given candidate."""
        score, output = self.procedures[candidate](randomness)
        if score != score:  # noqa: PLR0124 - only what is not a number differs from itself
            raise UsageError("A candidate's score is not a number.", "Give such runs the lowest score there is.")
        return Selection(candidate=candidate, score=score, output=output)


def parts(loss: CandidateLoss) -> tuple[Fraction, Fraction]:
    """(eps_1, delta_1) of a loss."""
    return loss.epsilon, loss.delta if isinstance(loss, ApproxDP) else Fraction(0)


def with_delta(epsilon: Fraction, delta: Fraction) -> CandidateLoss:
    """The loss with these figures: `PureDP` if delta is 0."""
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


def chance_at_least(law: FiniteLaw, threshold: Score) -> float:
    """p(threshold, Q): the probability of a score of at least the threshold."""
    return sum(probability for (score, _), probability in law.items() if score >= threshold)
