"""The corollaries of Theorem 5.2: candidates are as private as they say, and the best is found as often."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from fim_private.errors import UsageError
from fim_private.privacy import ApproxDP, PureDP
from fim_private.private_candidates import Candidates, RandomStopping
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_laplace import discrete_laplace_mass
from tests.sampling import FALSE_ALARM, SEED, p_value
from verification.private_candidates.noisy_scores import (
    TruncatedLaplace,
    exponential,
    generalised_exponential,
    margin_based,
    smooth_sensitivity,
    smoothness,
)

ONE = Fraction(1)
WINDOW = np.arange(-4000, 4001)


def chances(scale: float, centre: int, reach: int | None = None) -> np.ndarray:
    mass = discrete_laplace_mass(WINDOW - centre, scale)
    if reach is not None:
        mass = np.where(np.abs(WINDOW - centre) <= reach, mass, 0.0)
    return mass / mass.sum()


def excess(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("delta", ["0.24", "0.01", "1e-6"])
@pytest.mark.parametrize("epsilon", ["0.1", "0.99", "3"])
def test_truncated_noise_is_as_private_as_it_says_and_no_wider(epsilon: str, delta: str, sensitivity: int) -> None:
    noise = TruncatedLaplace(epsilon=Fraction(epsilon), delta=Fraction(delta), sensitivity=sensitivity)
    for move in range(1, sensitivity + 1):
        one, other = (chances(float(noise.scale), centre, noise.reach) for centre in (0, move))
        assert excess(one, other, float(epsilon)) <= float(delta) + 1e-12
    assert excess(one, other, float(epsilon)) == pytest.approx(noise.beyond(noise.reach), abs=1e-12)
    if noise.reach:
        one, other = (chances(float(noise.scale), centre, noise.reach - 1) for centre in (0, sensitivity))
        assert excess(one, other, float(epsilon)) > float(delta), "one less would not do"


def test_paper_s_truncation_is_too_tight_in_its_corner() -> None:
    """Cut at s ln(1/delta)/eps, eps = 0.99, delta = 0.24 loses more than delta, on a grid as fine as one likes."""
    sensitivity, epsilon, delta = 400, 0.99, 0.24
    scale = sensitivity / epsilon
    one, other = (chances(scale, centre, math.floor(scale * math.log(1 / delta))) for centre in (0, sensitivity))
    assert excess(one, other, epsilon) > 1.05 * delta


def test_the_truncated_noise_drawn_has_its_law() -> None:
    noise, randomness = TruncatedLaplace(epsilon=Fraction(1, 2), delta=Fraction(1, 20)), SeededRandomness(SEED)
    draws = [noise(randomness) for _ in range(20_000)]

    def law(factor: float) -> dict[int, float]:
        return dict(zip(WINDOW.tolist(), chances(factor * float(noise.scale), 0, noise.reach).tolist(), strict=True))

    assert max(map(abs, draws)) == noise.reach
    assert p_value(draws, law(1)) > FALSE_ALARM
    assert p_value(draws, law(0.7)) < FALSE_ALARM
    assert p_value(draws, law(1.3)) < FALSE_ALARM


def best(candidates: Candidates[int], failing: Fraction, times: int = 300) -> list[int]:
    selection, randomness = RandomStopping(stop=failing / len(candidates.procedures)), SeededRandomness(SEED)
    return [selection.select(candidates, randomness).output for _ in range(times)]


def scale_of(candidates: Candidates[int], place: int) -> tuple[float, float]:
    """The mean of a candidate's score, and the mean distance from it."""
    randomness = SeededRandomness(SEED)
    scores = [candidates.procedures[place](randomness)[0] for _ in range(4_000)]
    mean = sum(scores) / len(scores)
    return float(mean), float(sum(abs(score - mean) for score in scores) / len(scores))


def test_exponential_noise_has_its_scale_and_finds_the_best() -> None:
    scores = [100, 300, 299, 120]
    candidates = exponential(scores, epsilon=Fraction(1, 5), sensitivity=2)
    assert candidates.loss == PureDP(Fraction(1, 5))
    mean, distance = scale_of(candidates, 1)
    assert mean == pytest.approx(300, abs=1.5)
    assert distance == pytest.approx(10, rel=0.1), "2/eps"
    assert RandomStopping(stop=Fraction(1, 40)).cost(candidates.loss) == PureDP(Fraction(3, 5))
    found = best(candidates, Fraction(1, 10))
    assert sum(scores[place] < 299 for place in found) < 300 * 0.1, "but for beta; less, for the runner-up is as good"


def test_generalised_exponential_keeps_wild_candidates_down() -> None:
    scores, sensitivities = [1000, 900, 900, 0], [1, 1, 1, 500]
    wild = exponential(scores, epsilon=ONE, sensitivity=500)
    assert sum(place != 0 for place in best(wild, Fraction(1, 10))) > 100
    candidates = generalised_exponential(scores, sensitivities, epsilon=ONE, failing=Fraction(1, 10))
    assert candidates.loss == PureDP(ONE)
    assert sum(place != 0 for place in best(candidates, Fraction(1, 10))) < 30
    far = 2 * math.log(4 / 0.1)
    assert scale_of(candidates, 0)[0] == pytest.approx(1000 - math.ceil(far), abs=0.2)
    mean, distance = scale_of(candidates, 3)
    assert mean == pytest.approx(-math.ceil(500 * far), abs=60)
    assert distance == pytest.approx(500, rel=0.1)


def test_margin_decides_for_certain() -> None:
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**6)
    lead = 2 * TruncatedLaplace(epsilon=epsilon, delta=delta).reach + 1
    candidates = margin_based([50, 50 + lead, 50], epsilon=epsilon, delta=delta)
    assert candidates.loss == ApproxDP(epsilon, delta)
    found = best(candidates, Fraction(1, 10))
    assert sum(place != 1 for place in found) < 300 * 0.1
    cost = RandomStopping(stop=Fraction(1, 30)).cost(candidates.loss)
    assert cost.epsilon == 3 * epsilon
    assert isinstance(cost, ApproxDP)
    assert cost.delta == pytest.approx(30 * delta, rel=1e-3), "delta K/beta: the margin grows with ln K"


def smooth_parts(score: int, smooth: Fraction, number: int) -> tuple[int, float]:
    """Centre and scale of one candidate's score, read off the candidates themselves."""
    epsilon = ONE
    far = Fraction(8 * math.log(number / Fraction(1, 2)) / float(epsilon))
    return score - math.ceil(far * smooth), float((2 * smooth + 1) / (epsilon / 2))


@pytest.mark.parametrize("smooth", [Fraction(1, 3), Fraction(2), Fraction(25)])
def test_smooth_sensitivity_is_as_private_as_it_says(smooth: Fraction) -> None:
    epsilon, delta = ONE, Fraction(1, 100)
    candidates = smooth_sensitivity([0, 0], [smooth, smooth], epsilon=epsilon, delta=delta, failing=Fraction(1, 2))
    claimed = candidates.loss
    assert isinstance(claimed, ApproxDP)
    assert claimed.epsilon < epsilon
    assert claimed.delta == delta
    eta = smoothness(epsilon, delta)
    for factor in (1, Fraction(math.exp(eta)), 1 / Fraction(math.exp(eta))):
        other_smooth = smooth * factor
        for move in {-math.floor(min(smooth, other_smooth)), 0, math.floor(min(smooth, other_smooth))}:
            one, other = (
                chances(scale, centre)
                for centre, scale in (smooth_parts(0, smooth, 2), smooth_parts(move, other_smooth, 2))
            )
            for first, second in ((one, other), (other, one)):
                assert excess(first, second, float(claimed.epsilon)) <= delta
    mean, distance = scale_of(candidates, 0)
    centre, scale = smooth_parts(0, smooth, 2)
    assert mean == pytest.approx(centre, abs=0.1 * scale)
    assert distance == pytest.approx(scale, rel=0.15)


def test_smooth_noise_that_is_too_small_is_caught() -> None:
    """A unit can move the score and its shift together: noise for the score alone is not enough."""
    smooth = Fraction(25)
    one, other = chances(float(smooth), 0), chances(float(smooth), 50)
    assert excess(one, other, 1.0) > 0.1


@pytest.mark.parametrize("values", [[1, 1, 400], [3, 200, 7]])
def test_smooth_candidates_find_the_steady_best(values: Sequence[int]) -> None:
    smooth = [Fraction(value) for value in values]
    steady = min(range(3), key=values.__getitem__)
    scores = [0, 0, 0]
    scores[steady] = 400
    candidates = smooth_sensitivity(scores, smooth, epsilon=ONE, delta=Fraction(1, 10**6), failing=Fraction(1, 5))
    found = best(candidates, Fraction(1, 5))
    assert sum(place != steady for place in found) < 300 * 0.2


def test_reach_grows_as_delta_falls() -> None:
    reaches = [TruncatedLaplace(epsilon=ONE, delta=Fraction(1, 10**power)).reach for power in range(1, 12)]
    assert all(later - earlier in (2, 3) for earlier, later in pairwise(reaches[1:])), "ln 10 a power of ten"


def test_parameters_out_of_range_are_refused() -> None:
    for epsilon, sensitivity in ((Fraction(0), 1), (ONE, 0)):
        with pytest.raises(UsageError):
            exponential([1], epsilon=epsilon, sensitivity=sensitivity)
    with pytest.raises(UsageError):
        margin_based([1], epsilon=ONE, delta=Fraction(0))
    with pytest.raises(UsageError):
        smooth_sensitivity([1], [ONE], epsilon=ONE, delta=ONE, failing=ONE / 2)
    with pytest.raises(UsageError, match="would not be smooth"):
        smooth_sensitivity([1] * 9, [ONE] * 9, epsilon=ONE, delta=Fraction(1, 2), failing=Fraction(1, 10**6))
