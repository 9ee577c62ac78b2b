"""Every sampler on long runs with fresh seeds: its own law accepted, one only three hundredths wider or narrower not.

The ordinary tests draw with fixed seeds, so they say the same every time; these say something new with every run. A
failure prints the seed that repeats it. How many draws it takes to tell two laws apart is computed from the laws:
so many that the chi-square test misses the other law less than once in a hundred million runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

from fim_private.randomness import SecureRandomness, SeededRandomness
from fim_private.randomness.bernoulli import bernoulli_exp
from fim_private.randomness.discrete_gaussian import sample_discrete_gaussian
from fim_private.randomness.discrete_laplace import sample_discrete_laplace
from fim_private.randomness.gaussian_vector import sample_discrete_gaussians
from fim_private.randomness.noisy_maximum import Noise, NoisyMaximum, winning_probabilities
from fim_private.randomness.uniform import uniform_below
from fim_private.randomness.weighted_choice import WeightedChoice
from tests.randomness.laws import gaussian_law, laplace_law
from tests.randomness.test_noisy_maximum import gap_law
from tests.sampling import FALSE_ALARM, p_value

pytestmark = pytest.mark.long
F = Fraction
Law = Mapping[Hashable, float]
WIDE = (F(7, 10), F(13, 10))
SUBTLE = (F(97, 100), F(103, 100))


def draws_to_tell(law: Law, other: Law) -> int:
    """The number of draws of the first with which the chi-square test rejects the second, except once in 1e8 times."""
    # What is rarer than 1e-4 is left out: the test takes it together, so it tells less.
    chances = [(chance, other.get(outcome, 0.0)) for outcome, chance in law.items()]
    chances = [(chance, there) for chance, there in chances if min(chance, there) > 1e-4]
    each = math.fsum((chance - there) ** 2 / there for chance, there in chances)
    threshold, freedom = chi2.isf(FALSE_ALARM, len(chances) - 1), len(chances) - 1
    needed = 50.0
    while ncx2.cdf(threshold, freedom, needed) > 1e-8:
        needed *= 1.1
    return max(1_500, math.ceil(1.1 * needed / each))


def assert_told_apart(
    draw: Callable[[int, SeededRandomness], list[Hashable]],
    law_of: Callable[[Fraction], Law],
    *,
    most: int,
    widths: tuple[Fraction, ...] = WIDE + SUBTLE,
) -> None:
    """The draws have the law of width 1 and none of the others; `most` draws have to suffice for that."""
    law, others = law_of(F(1)), {width: law_of(width) for width in widths}
    number = max(draws_to_tell(law, other) for other in others.values())
    assert number <= most, f"{number} draws would be needed: take another case"
    seed = SecureRandomness().bits(64)
    draws = draw(number, SeededRandomness(seed))
    assert p_value(draws, law) > FALSE_ALARM, f"seed {seed}, {number} draws"
    for width, other in others.items():
        assert p_value(draws, other) < FALSE_ALARM, f"seed {seed}, {number} draws, {width} times as wide"


def coarse(law: Law, step: int) -> Law:
    """The law of |x| in bins of so many: fewer of them tell a width apart with fewer draws."""
    bins: dict[Hashable, float] = {}
    for value, chance in law.items():
        place = abs(value) // step
        bins[place] = bins.get(place, 0.0) + chance
    return bins


@pytest.mark.parametrize("exponent", [F(2, 3), F(1), F(1_000_003, 377_777)], ids=str)
def test_bernoulli_exp_has_its_law_and_no_other(exponent: Fraction) -> None:
    def law_of(width: Fraction) -> Law:
        return {True: math.exp(-exponent * width), False: -math.expm1(-exponent * width)}

    assert_told_apart(
        lambda number, randomness: [bernoulli_exp(exponent, randomness) for _ in range(number)], law_of, most=1_000_000
    )


@pytest.mark.parametrize("bound", [2, 7, 64, 129])
def test_uniform_below_has_its_law_and_no_other(bound: int) -> None:
    """Told from a law that favours the lower half by so much."""

    def law_of(width: Fraction) -> Law:
        half = bound // 2
        weights = [float(width)] * half + [1.0] * (bound - half)
        return {value: weight / sum(weights) for value, weight in enumerate(weights)}

    assert_told_apart(
        lambda number, randomness: [uniform_below(bound, randomness) for _ in range(number)], law_of, most=2_500_000
    )


def test_uniform_below_a_bound_of_many_words_has_its_law_and_no_other() -> None:
    """Its top and its bottom alike, by equal parts."""
    bound, parts = 10**40 + 267, 37

    def law_of(width: Fraction) -> Law:
        return {part: float(1 + (width - 1) * (2 * F(part, parts - 1) - 1)) / parts for part in range(parts)}

    assert_told_apart(
        lambda number, randomness: [uniform_below(bound, randomness) * parts // bound for _ in range(number)],
        law_of,
        most=1_500_000,
    )


@pytest.mark.parametrize(("scale", "step"), [(F(3, 4), 1), (F(7, 3), 2), (F(10**9, 43_124_163), 16)], ids=str)
def test_discrete_laplace_has_its_law_and_no_other(scale: Fraction, step: int) -> None:
    def draw(number: int, randomness: SeededRandomness) -> list[Hashable]:
        return [abs(sample_discrete_laplace(scale, randomness)) // step for _ in range(number)]

    assert_told_apart(draw, lambda width: coarse(laplace_law(float(scale * width)), step), most=400_000)


@pytest.mark.parametrize(("variance", "step"), [(F(5, 9), 1), (F(10**9, 4_312_417), 12)], ids=str)
def test_discrete_gaussian_has_its_law_and_no_other(variance: Fraction, step: int) -> None:
    def draw(number: int, randomness: SeededRandomness) -> list[Hashable]:
        return [abs(sample_discrete_gaussian(variance, randomness)) // step for _ in range(number)]

    assert_told_apart(draw, lambda width: coarse(gaussian_law(float(variance * width**2)), step), most=200_000)


@pytest.mark.parametrize("draw_one", [sample_discrete_laplace, sample_discrete_gaussian])
def test_both_signs_are_as_likely(draw_one: Callable[[Fraction, SeededRandomness], int]) -> None:
    """The widths above are told by magnitudes; here every value counts, from the lowest to the highest."""
    size = F(7, 3)
    law = laplace_law(float(size)) if draw_one is sample_discrete_laplace else gaussian_law(float(size))
    seed = SecureRandomness().bits(64)
    randomness = SeededRandomness(seed)
    draws = [draw_one(size, randomness) for _ in range(30_000)]
    assert p_value(draws, law) > FALSE_ALARM, f"seed {seed}"
    assert p_value([value if value != -1 or place % 4 else 1 for place, value in enumerate(draws)], law) < FALSE_ALARM


@pytest.mark.parametrize("variance", [1, 3, 100, 12_345, 2**26])
def test_vectors_of_discrete_gaussians_have_their_law_and_no_other(variance: int) -> None:
    """With their signs, in bins of a fifth of a deviation; and told from noise a fiftieth wider or narrower."""
    step = max(1, math.isqrt(variance) // 5)

    def law_of(width: Fraction) -> Law:
        bins: dict[Hashable, float] = {}
        for value, chance in gaussian_law(float(variance * width**2)).items():
            bins[value // step] = bins.get(value // step, 0.0) + chance
        return bins

    def draw(number: int, randomness: SeededRandomness) -> list[Hashable]:
        drawn: list[Hashable] = np.floor_divide(sample_discrete_gaussians(variance, number, randomness), step).tolist()
        return drawn

    assert_told_apart(draw, law_of, most=1_500_000, widths=(*WIDE, *SUBTLE, F(49, 50), F(51, 50)))


@pytest.mark.parametrize(
    ("counts", "multiplicities", "rate"),
    [
        ([60, 38, 20, 3, 0], [1, 2, 30, 1, 10**4], F(1, 5)),
        ([9, 7, 0], [5, 1, 10**6], F(12_345, 7_777)),
        ([414, 0], [1, 10**18], F(1, 10)),
        ([40, F(77, 2), 31, 0], [1, 1, 10, 10**5], F(3, 10)),
    ],
    ids=str,
)
def test_weighted_choice_has_its_law_and_no_other(
    counts: list[int | Fraction], multiplicities: list[int], rate: Fraction
) -> None:
    """The last has a stop symbol's score among the counts, which is not whole."""
    choice = WeightedChoice(counts, rate)

    def law_of(width: Fraction) -> Law:
        weights = [
            number * math.exp(rate * (count - counts[0]) / width)
            for count, number in zip(counts, multiplicities, strict=True)
        ]
        return {level: weight / sum(weights) for level, weight in enumerate(weights)}

    assert_told_apart(
        lambda number, randomness: [choice.draw(multiplicities, randomness) for _ in range(number)],
        law_of,
        most=200_000,
    )


RACES = [
    ([90, 85, 0], [1, 3, 10**18], F(2)),
    ([600, 500, 0], [1, 10**3, 10**20], F(1001, 77)),
    ([27, 0], [1, 10**12], F(10**6, 999_983)),
]


@pytest.mark.parametrize(("counts", "multiplicities", "scale"), RACES, ids=str)
@pytest.mark.parametrize("noise", list(Noise))
def test_noisy_maximum_has_its_law_and_no_other(
    noise: Noise, counts: list[int], multiplicities: list[int], scale: Fraction
) -> None:
    race = NoisyMaximum(counts, scale, noise)

    def law_of(width: Fraction) -> Law:
        return dict(enumerate(winning_probabilities(counts, multiplicities, scale * width, noise)))

    assert_told_apart(
        lambda number, randomness: [race.draw(multiplicities, randomness) for _ in range(number)], law_of, most=60_000
    )


def test_the_gap_has_its_law_and_no_other() -> None:
    """A gap takes milliseconds, so it is told from noise 0.7 and 1.3 times as wide only, in bins of three.

    Exponential noise alone: no mechanism releases the gap of another.
    """
    counts, multiplicities, scale = [7, 4, 0], [1, 2, 4], F(7, 3)
    race = NoisyMaximum(counts, scale, Noise.EXPONENTIAL)

    def law_of(width: Fraction) -> Law:
        bins: dict[Hashable, float] = {}
        for (level, gap), chance in gap_law(counts, multiplicities, scale * width, Noise.EXPONENTIAL, 60).items():
            bins[level, gap // 3] = bins.get((level, gap // 3), 0.0) + chance
        return bins

    def draw(number: int, randomness: SeededRandomness) -> list[Hashable]:
        drawn = [race.draw_with_gap(multiplicities, randomness) for _ in range(number)]
        return [(level, gap // 3) for level, gap in drawn if gap is not None]

    assert_told_apart(draw, law_of, most=4_000, widths=WIDE)
