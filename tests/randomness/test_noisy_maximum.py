from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from fim_private.randomness import SecureRandomness, SeededRandomness
from fim_private.randomness.noisy_maximum import Noise, NoisyMaximum, _Maximum, _Uniform, winning_probabilities
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from, p_value

F = Fraction
COUNTS, MULTIPLICITIES = [9, 6, 5, 0], [1, 3, 1, 40]


def permute_and_flip_law(counts: list[int], multiplicities: list[int], epsilon: float) -> list[float]:
    """P(i) = p_i times the integral over t from 0 to 1 of prod_{j != i} (1 - p_j t) (McKenna and Sheldon 2020)."""
    p = [math.exp(epsilon * (count - counts[0])) for count in counts]

    def others(level: int, t: float) -> float:
        left = [number - (place == level) for place, number in enumerate(multiplicities)]
        return math.prod((1 - chance * t) ** number for chance, number in zip(p, left, strict=True))

    return [
        multiplicities[level] * p[level] * quad(lambda t, level=level: others(level, t), 0, 1, epsabs=1e-13)[0]
        for level in range(len(counts))
    ]


def test_exponential_noise_has_the_law_of_permute_and_flip() -> None:
    law = winning_probabilities(COUNTS, MULTIPLICITIES, F(2), Noise.EXPONENTIAL)
    assert law == pytest.approx(permute_and_flip_law(COUNTS, MULTIPLICITIES, 0.5), abs=1e-12)


def test_two_laplaces_have_the_law_worked_by_hand() -> None:
    """P(c + Z_1 > Z_2) for two Laplace variables of scale 1 is 1 - (2 + c) e^{-c}/4."""
    law = winning_probabilities([3, 0], [1, 1], F(1), Noise.LAPLACE)
    assert law[0] == pytest.approx(1 - 5 * math.exp(-3) / 4, abs=1e-13)


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("bulk", [10, 10**9, 10**18, 10**30])
def test_the_law_of_a_universe_of_any_size_adds_up(noise: Noise, bulk: int) -> None:
    """Against closed forms: permute and flip (1 - (1 - p)^(M + 1))/((M + 1) p) with p = e^{-lead}; and sums to 1."""
    lead = round(math.log(bulk)) + 1
    law = winning_probabilities([lead, 0], [1, bulk], F(1), noise)
    assert sum(law) == pytest.approx(1, abs=1e-12)
    if noise is Noise.EXPONENTIAL:
        p = math.exp(-lead)
        expected = -math.expm1((bulk + 1) * math.log1p(-p)) / ((bulk + 1) * p)
        assert law[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("noise", list(Noise))
def test_sampler_has_its_law_and_no_other(noise: Noise) -> None:
    randomness = SeededRandomness(SEED)
    race = NoisyMaximum(COUNTS, F(2), noise)
    draws = [race.draw(MULTIPLICITIES, randomness) for _ in range(12_000)]
    assert_drawn_from(
        lambda width: dict(enumerate(winning_probabilities(COUNTS, MULTIPLICITIES, 2 * width, noise))), draws
    )


def gap_law(counts: list[int], multiplicities: list[int], scale: Fraction, noise: Noise, upto: int) -> dict:
    """P(level, gap rounded down): an itemset leads by g or more if it still wins with its count lowered by g."""

    def at_least(level: int, gap: int) -> float:
        lowered = counts[level] - gap
        left = dict(zip(counts, multiplicities, strict=True))
        left[counts[level]] -= 1
        left[lowered] = left.get(lowered, 0) + 1
        levels = sorted((count for count in left if left[count]), reverse=True)
        won = winning_probabilities(levels, [left[count] for count in levels], scale, noise)
        return multiplicities[level] * won[levels.index(lowered)] / left[lowered]

    reached = [[at_least(level, gap) for gap in range(upto + 1)] for level in range(len(counts))]
    return {
        (level, gap): reached[level][gap] - reached[level][gap + 1]
        for level in range(len(counts))
        for gap in range(upto)
    }


@pytest.mark.slow
@pytest.mark.parametrize("noise", list(Noise))
def test_the_gap_has_its_law(noise: Noise) -> None:
    randomness = SeededRandomness(SEED)
    counts, multiplicities = [5, 3, 0], [1, 2, 4]
    race = NoisyMaximum(counts, F(2), noise)
    draws = [race.draw_with_gap(multiplicities, randomness) for _ in range(2500)]
    law = gap_law(counts, multiplicities, F(2), noise, 40)
    assert sum(law.values()) == pytest.approx(1, abs=1e-6)
    assert p_value(draws, law) > FALSE_ALARM
    assert p_value([(level, gap + 1) for level, gap in draws], law) < FALSE_ALARM
    assert race.draw_with_gap([1, 0, 0], randomness) == (0, None)


class Chosen:
    """Words as given, then those of a seed: to meet the cases in which the first bits do not decide."""

    seed = None

    def __init__(self, *words: int) -> None:
        self.given = list(words)
        self.rest = SeededRandomness(SEED)

    def bits(self, number: int) -> int:
        return self.given.pop(0) if self.given else self.rest.bits(number)

    def words(self, number: int) -> NDArray[np.uint64]:
        taken, self.given = self.given[:number], self.given[number:]
        return np.array(taken, np.uint64)


@pytest.mark.parametrize("number", [2, 3, 1000])
def test_the_second_of_a_level_is_below_its_largest_as_often_as_there_are_others(number: int) -> None:
    """Of n noises the largest is F^-1(U^(1/n)) and the next F^-1(U^(1/n) V^(1/(n-1))): known from the first words."""
    race = NoisyMaximum([9], F(10**6), Noise.EXPONENTIAL)
    for largest, next_below in ((2**60, 2**63), (2**63, 2**61), (3 * 2**62, 3 * 2**62)):
        v = math.log(2**64 / largest) / number
        w = v + math.log(2**64 / next_below) / (number - 1)
        gap = 10**6 * (math.log(-math.expm1(-w)) - math.log(-math.expm1(-v)))
        assert race.draw_with_gap([number], Chosen(largest, next_below)) == (0, pytest.approx(gap, abs=1))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([1, 0], (2**64 - 2, 2**63)),
        # Of two that may be the second, one is certain and one may still be below it or above.
        ([100_000, 43_300, 0], (2**62, 2**63, 2**64 - 2)),
    ],
)
def test_the_gap_waits_for_whichever_value_is_open(counts: list[int], words: tuple[int, ...]) -> None:
    """A word of 2^64 - 2 leaves a value open by ln 2 scales, one of 2^63 by next to nothing."""
    race = NoisyMaximum(counts, F(1000), Noise.EXPONENTIAL)
    rest = SeededRandomness(SEED)
    gaps = set()
    for _ in range(20):
        bits = Chosen(*words)
        bits.rest = rest
        level, gap = race.draw_with_gap([1] * len(counts), bits)
        assert level == 0
        gaps.add(gap)
    assert len(gaps) > 5


UPTO = 30


@pytest.mark.parametrize("general", [False, True])
def test_the_gap_costs_nothing(general: bool) -> None:
    """(winner, gap) together is eps-differentially private, with and without each combination of a unit's itemsets."""
    epsilon = 0.5
    scale = F(4) if general else F(2)

    @cache
    def law(counts: tuple[int, int, int]) -> dict[tuple[int, int], float]:
        order = sorted(range(3), key=lambda place: -counts[place])
        levels = sorted(set(counts), reverse=True)
        multiplicities = [counts.count(level) for level in levels]
        joint = gap_law(levels, multiplicities, scale, Noise.EXPONENTIAL, UPTO)
        return {
            (place, gap): joint[levels.index(counts[place]), gap] / counts.count(counts[place])
            for place in order
            for gap in range(UPTO)
        }

    worst = 0.0
    for counts in ((2, 2, 2), (12, 11, 11)) if general else ((2, 2, 2), (5, 4, 1), (2, 0, 0), (12, 11, 11)):
        steps = (-1, 1) if general else (0, 1)
        changes = [(a, b, c) for a in steps for b in steps for c in steps if b <= c]
        for change in changes:
            moved = tuple(max(0, count + step) for count, step in zip(counts, change, strict=True))
            one, other = law(counts), law(moved)
            for outcome, chance in one.items():
                if max(chance, other[outcome]) > 1e-9:  # below that the quadrature's own error shows
                    worst = max(worst, abs(math.log(chance / other[outcome])))
    assert 0.9 * epsilon < worst <= epsilon + 1e-4


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("word", [0, 1, 2**62, 2**64 - 1])
def test_what_the_first_bits_leave_open_is_decided_by_more(noise: Noise, word: int) -> None:
    """Two levels a hair apart, first bits alike: the winner varies with the bits that follow, and the gap is 0."""
    rest = SeededRandomness(SEED)
    race = NoisyMaximum([10**9 + 1, 10**9], F(10**45), noise)
    winners, gaps = set(), set()
    for _ in range(25):
        bits = Chosen(word, word)
        bits.rest = rest
        level, gap = race.draw_with_gap([1, 1], bits)
        winners.add(level)
        gaps.add(gap)
    assert winners == {0, 1}
    assert all(gap is not None and gap >= 0 for gap in gaps)


@pytest.mark.slow
def test_with_the_bits_the_digits_grow() -> None:
    """Words alike for longer than the digits that are computed first could tell apart."""
    rest = SeededRandomness(SEED)
    winners = set()
    for _ in range(12):
        bits = Chosen(*[2**62] * 2 * 6)
        bits.rest = rest
        winners.add(NoisyMaximum([1, 0], F(10**200), Noise.EXPONENTIAL).draw([1, 1], bits))
    assert winners == {0, 1}


@pytest.mark.parametrize("noise", list(Noise))
def test_the_gap_to_an_itemset_of_the_same_level_is_known_to_the_last_count(noise: Noise) -> None:
    """Noise so wide that the first bits leave the gap open: both of the level's values are refined."""
    gaps = {NoisyMaximum([7], F(10**30), noise).draw_with_gap([2], SeededRandomness(seed))[1] for seed in range(20)}
    assert len({gap % 1000 for gap in gaps if gap is not None}) > 15


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("words", [(2**64 - 1, 5), (2**63, 0), (2**64 - 1, 0)])
def test_first_bits_that_bound_nothing_are_followed_by_more(noise: Noise, words: tuple[int, int]) -> None:
    """A uniform that may still be 1, or 0, allows noise of any size: the gap waits for more bits."""
    level, gap = NoisyMaximum([3, 3], F(2), noise).draw_with_gap([1, 1], Chosen(*words))
    assert level == 0
    assert 0 < gap < 1000


def test_bounds_hold_the_value_at_any_precision() -> None:
    """Intervals of the two stages and of growing precision are nested, for tiny and huge multiplicities."""
    randomness = SecureRandomness()
    for noise in Noise:
        race = NoisyMaximum([100, 3], F(7, 3), noise)
        for number in (1, 10**3, 10**27):
            word = randomness.bits(64)
            low, high = race._float_bounds(np.array([word], np.uint64), np.array([float(number)]), race._relative[1:])
            maximum = _Maximum(level=1, parts=((_Uniform(word, 64), number),))
            bounds = [race._interval(maximum, 30)]
            maximum.refine(randomness)
            bounds.append(race._interval(maximum, 60))
            assert low[0] <= bounds[0][0] <= bounds[1][0] <= bounds[1][1] <= bounds[0][1] <= high[0]


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("number", [1, 10**300], ids=["1", "10^300"])
def test_as_many_digits_are_carried_as_the_smallest_exponent_takes(noise: Noise, number: int) -> None:
    """The first part may be 1, whatever its multiplicity, and then nothing but the last says how large the value is."""
    race = NoisyMaximum([0], F(1), noise)
    for certain, open_end in (((64, 1), (640, number)), ((640, number), (64, 1)), ((64, number), (640, 1))):
        length, times = certain
        parts = [
            (_Uniform((1 << length) - 2, length), times),
            (_Uniform((1 << open_end[0]) - 1, open_end[0]), open_end[1]),
        ]
        for order in (parts, parts[::-1]):
            _, high = race._interval(_Maximum(level=0, parts=tuple(order)), 30)
            # -ln F is 2^-length/times but for a relative error as small as itself.
            least = length * math.log(2) + math.log(times)
            assert float(high) == pytest.approx(least - (noise is Noise.LAPLACE) * math.log(2), rel=1e-12)


def test_a_multiplicity_of_zero_is_left_out() -> None:
    race = NoisyMaximum([5, 4], F(1), Noise.LAPLACE)
    assert {race.draw([0, 3], SeededRandomness(seed)) for seed in range(20)} == {1}


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("word", [5, 3 * 2**61, 2**63 - 2**60, 2**63 + 2**61, 2**64 - 2**54, 2**64 - 3])
def test_bounds_are_as_wide_as_they_have_to_be(noise: Noise, word: int) -> None:
    """Beyond what the bits leave open: the allowance for rounding errors, relative to all that is added up."""
    for counts, number in (([100, 100], 1), ([100, 3], 1), ([100, 3], 40), ([5, -400], 10**27)):
        race = NoisyMaximum(counts, F(7, 3), noise)
        maximum = _Maximum(level=1, parts=((_Uniform(word, 64), number),))
        exact, rough = race._interval(maximum, 80), race._interval(maximum, 30)
        floats = race._float_bounds(np.array([word], np.uint64), np.array([float(number)]), race._relative[1:])
        relative = (counts[1] - counts[0]) * F(3, 7)
        for allowance, bounds in ((F(1, 10**30), rough), (F(1, 10**9), [float(bound[0]) for bound in floats])):
            for end, value, direction in zip(bounds, exact, (1, -1), strict=True):
                wide = (F(value) - F(end)) * direction
                assert float(wide / allowance) == pytest.approx(
                    float(1 + abs(F(value) - relative) + abs(relative))
                    if allowance > F(1, 10**20)
                    else float(1 + abs(F(value)) + abs(relative)),
                    rel=1e-3,
                )
