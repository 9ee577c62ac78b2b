"""Theorem 5.2 of PSPC: generalisations of the exponential mechanism, as candidates that put noise on a score.

Scores are whole numbers, such as counts, one a candidate; the output is the candidate's place. Each function gives
candidates for `RandomStopping`, whose cost is three times theirs: `stop` = beta/K finds the best but for beta. Noise is
discrete Laplace, exact; "log" in the paper's statements hides the constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.errors import UsageError
from fim_private.privacy import ApproxDP, PureDP
from fim_private.private_candidates.pool import Candidate, Candidates
from fim_private.private_candidates.stopping import rounded_up
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_laplace import sample_discrete_laplace

Noise = Callable[[Randomness], int]


def _candidate(place: int, score: int, noise: Noise, randomness: Randomness) -> tuple[int, int]:
    return score + noise(randomness), place


def _with_noise(scores: Sequence[int], noises: Sequence[Noise]) -> list[Candidate[int]]:
    return [
        partial(_candidate, place, score, noise)
        for place, (score, noise) in enumerate(zip(scores, noises, strict=True))
    ]


def _laplace(scale: Fraction) -> Noise:
    return partial(sample_discrete_laplace, scale)


def exponential(scores: Sequence[int], *, epsilon: Fraction, sensitivity: int = 1) -> Candidates[int]:
    """Exponential mechanism: M_i = (q_i + DL(s/eps), i), eps-private each.

    Args:
        scores: q_i.
        epsilon: what one run costs; the selection costs three times that.
        sensitivity: s, by how much one unit changes any score at most.
    """
    _check(epsilon, [sensitivity])
    noise = _laplace(sensitivity / epsilon)
    return Candidates(_with_noise(scores, [noise] * len(scores)), PureDP(epsilon))


def generalised_exponential(
    scores: Sequence[int], sensitivities: Sequence[int], *, epsilon: Fraction, failing: Fraction
) -> Candidates[int]:
    """Generalised exponential mechanism (Raskhodnikova and Smith 2016): M_i = (q_i - shift_i + DL(s_i/eps), i).

    shift_i = 2 s_i ln(K/beta)/eps, rounded up, keeps a wild candidate's noise from winning: but for beta no run
    scores above its q_i, and the best is not far below. The paper's delta is not needed, for Algorithm 2 is pure.

    Args:
        scores: q_i.
        sensitivities: s_i, public.
        epsilon: what one run costs.
        failing: beta.
    """
    _check(epsilon, sensitivities)
    far = 2 * math.log(len(scores) / failing) / float(epsilon)
    shifted = [score - math.ceil(far * s) for score, s in zip(scores, sensitivities, strict=True)]
    return Candidates(_with_noise(shifted, [_laplace(s / epsilon) for s in sensitivities]), PureDP(epsilon))


@dataclass(frozen=True, kw_only=True)
class TruncatedLaplace:
    """Discrete Laplace noise of scale s/eps given that it is at most `reach` in size, (eps, delta)-private.

    Args:
        epsilon: eps.
        delta: delta; of an outcome that only one of two neighbours can have.
        sensitivity: s.

    Shifted by s, the two laws are within e^eps where both are positive, and the mass beyond is
    q^(reach - s + 1) (1 - q^s)/(1 + q - 2 q^(reach + 1)), q = e^(-eps/s): `reach` is the least that brings it to
    delta.
    The paper cuts at s ln(1/delta)/eps, where (in the continuum) that mass is delta (e^eps - 1)/(2(1 - delta)): more
    than delta for eps near 1 and delta near 1/4, which it allows; and it needs eps < 1, which this does not.
    """

    epsilon: Fraction
    delta: Fraction
    sensitivity: int = 1

    @property
    def scale(self) -> Fraction:
        """s/eps."""
        return self.sensitivity / self.epsilon

    @property
    def reach(self) -> int:
        """The largest size of the noise."""
        q = math.exp(-1 / self.scale)
        solved = float(self.scale) * math.log1p((math.expm1(self.epsilon) / float(self.delta) + 1 - q) / (1 + q))
        least = math.floor(solved) - 2 if solved > self.sensitivity + 3 else 0
        while self.beyond(least) * (1 + RELATIVE_ERROR) > self.delta:
            least += 1
        return least

    def beyond(self, reach: int) -> float:
        """The mass that a shift by s takes out of reach; all of it where the reach is less than s."""
        q = math.exp(-1 / self.scale)
        if 2 * reach < self.sensitivity:
            return 1.0
        whole = 1 + q - 2 * q ** (reach + 1)
        if reach >= self.sensitivity:
            return q ** (reach - self.sensitivity + 1) * -math.expm1(-float(self.epsilon)) / whole
        # The window passes zero: one minus what is left of it on the other side.
        inner = self.sensitivity - reach
        return 1 - (q**inner - q ** (reach + 1)) / whole

    def __call__(self, randomness: Randomness) -> int:
        """One exact draw, by rejection."""
        reach = self.reach
        while abs(drawn := sample_discrete_laplace(self.scale, randomness)) > reach:
            pass
        return drawn


def margin_based(scores: Sequence[int], *, epsilon: Fraction, delta: Fraction, sensitivity: int = 1) -> Candidates[int]:
    """Margin-based mechanism: noise of bounded size, so that a lead of more than twice the size decides for certain.

    `RandomStopping` at gamma = beta/K then names a candidate that leads by 2 reach + 1 but for beta, and costs
    (3 eps, about delta K/beta) by its proof. So for a total delta the lead is of order s ln(K/(beta delta))/eps; the
    paper's statement has no K in it, which its proof by Theorem 3.4 does not give either.

    Args:
        scores: q_i.
        epsilon: of one run.
        delta: of one run.
        sensitivity: s.
    """
    _check(epsilon, [sensitivity])
    if not 0 < delta < 1:
        raise UsageError("delta is out of range.", "Noise of bounded size needs one between 0 and 1.")
    noise = TruncatedLaplace(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    return Candidates(_with_noise(scores, [noise] * len(scores)), ApproxDP(epsilon, delta))


def smooth_sensitivity(
    scores: Sequence[int], smooth: Sequence[Fraction], *, epsilon: Fraction, delta: Fraction, failing: Fraction
) -> Candidates[int]:
    """Smooth sensitivity: noise in proportion to how far each score can change near this very data.

    M_i = (q_i - ceil(k s_i) + DL(2(2 s_i + 1)/eps), i), k = 8 ln(K/beta)/eps: twice the noise's scale times ln(K/beta),
    but for what is the same for all. The paper's k is a quarter of it, less than its noise asks for.

    Args:
        scores: q_i.
        smooth: s_i > 0, eta-smooth upper bounds: at least the change of q_i to any neighbour, and within a factor
            e^eta of the neighbour's own bound (Nissim, Raskhodnikova, Smith 2007), eta = `smoothness(epsilon, delta)`.
        epsilon: about what one run costs: the loss of the candidates returned says exactly what, and may be more where
            delta is large (smaller than epsilon for delta up to 0.1 and epsilon up to 1).
        delta: of one run.
        failing: beta.

    Raises:
        UsageError: k (e^eta - 1) > 1: delta is not as small as about 2(beta/K)^2, for the shift to be smooth too.

    Proof: docs/mathematics.md#noisy-scores.
    """
    _check(epsilon, smooth)
    if not 0 < delta < 1:
        raise UsageError("delta is out of range.", "Smooth sensitivity needs one between 0 and 1.")
    eta = smoothness(epsilon, delta)
    far = 8 * math.log(len(scores) / failing) / float(epsilon)
    if far * math.expm1(eta) > 1:
        raise UsageError(
            "The shift that keeps wild candidates down would not be smooth.", "Take a smaller delta, or a larger beta."
        )
    shifted = [score - math.ceil(Fraction(far) * s) for score, s in zip(scores, smooth, strict=True)]
    loss = epsilon / 2 + rounded_up(float(eta) + math.expm1(eta) * math.log(2 / delta))
    noises = [_laplace((2 * s + 1) / (epsilon / 2)) for s in smooth]
    return Candidates(_with_noise(shifted, noises), ApproxDP(loss, delta))


def smoothness(epsilon: Fraction, delta: Fraction) -> Fraction:
    """eta = eps/(4 ln(2/delta)), rounded down: how smooth the bounds have to be."""
    return Fraction(math.floor(float(epsilon) / (4 * math.log(2 / delta)) * 10**12), 10**12)


def _check(epsilon: Fraction, sensitivities: Sequence[int] | Sequence[Fraction]) -> None:
    if not 0 < epsilon <= 100:
        raise UsageError("epsilon is out of range.", "Choose it above 0 and up to 100.")
    if any(sensitivity <= 0 for sensitivity in sensitivities):
        raise UsageError("A sensitivity is not positive.", "It is the most that one unit changes a score.")
