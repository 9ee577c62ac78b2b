"""The candidates: differentially private procedures with a score, of which one is drawn uniformly.

Notation of Liu and Talwar (2019), *Private Selection from Private Candidates* (PSPC), section 3: candidates M_1 ...
M_K, each (eps_1, delta_1)-differentially private in its score and output together, and Q, which runs a uniformly drawn
one and is as private as they are. Nothing else is assumed: a score may jump however it likes between neighbouring data.

How an (eps_1, delta_1) loss is dealt with: each call is split into a part that is eps_1-private and a bad call of
probability delta_1 (docs/mathematics.md#domination and docs/mathematics.md#bad-calls).
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
"""The law of one call where it is finite: the probability of each (score, output)."""
Selected = tuple[Score, Hashable] | None
"""An outcome of a selection's law: a (score, output), or None for no answer."""


@dataclass(frozen=True, kw_only=True)
class Selection(Generic[Output]):
    """What was selected. How many calls it took is private, and not in here.

    Args:
        candidate: its place among the candidates, from 0.
        score: the score of this one run.
        output: what this one run put out.
    """

    candidate: int
    score: Score
    output: Output


@dataclass(frozen=True)
class Candidates(Generic[Output]):
    """K private procedures and what one run of any of them costs.

    Args:
        procedures: each maps a source of random bits to (score, output), anew at each call. None may fail, or take its
            time, in a way that tells about the data: neither is hidden.
        loss: what one call costs, score and output together; the largest over the procedures.

    Raises:
        UsageError: there are none.
    """

    procedures: Sequence[Candidate[Output]]
    loss: CandidateLoss

    def __post_init__(self) -> None:
        if not self.procedures:
            raise UsageError("There are no candidates to select from.", "Give at least one.")

    def draw(self, randomness: Randomness) -> Selection[Output]:
        """One call of Q: a uniformly drawn candidate, run once."""
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


def pure_epsilon(loss: CandidateLoss) -> Fraction:
    """eps_1 of candidates that are purely private.

    Raises:
        UsageError: they have a delta.
    """
    epsilon, delta = parts(loss)
    if delta:
        raise UsageError(
            "This theorem is about candidates without a delta.", "Use Algorithm 1 or 2, or give pure candidates."
        )
    return epsilon


def with_delta(epsilon: Fraction, delta: Fraction) -> CandidateLoss:
    """The loss as a value: pure where delta is 0."""
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


def chance_at_least(law: FiniteLaw, threshold: Score) -> float:
    """p(threshold, Q): the probability of a score of at least the threshold."""
    return sum(probability for (score, _), probability in law.items() if score >= threshold)
