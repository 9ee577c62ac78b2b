from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate, product

import pytest

from fim_private.mechanisms.choosing import Choosing
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.gap_thresholds import doubling_grid, reach, thresholds
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.noisy_maxima import NoisyMaxima
from fim_private.mechanisms.peeling import peel
from fim_private.mechanisms.stable_max import StableMax
from fim_private.mechanisms.truncated_frequency import TruncatedFrequency
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_laplace import log_difference_survival
from fim_private.randomness.noisy_maximum import Noise
from tests.mechanisms.cases import CASES, Case, large_margin, published
from tests.sampling import FALSE_ALARM, SEED, p_value

F = Fraction


@pytest.mark.parametrize(
    ("top", "pick", "delta", "expected"),
    [
        (1, F(7, 10), F(1, 10**6), (107, 117, 123, 128, 133, 137, 140, 143, 145, 148, 150)),
        (10, F(1, 10), F(1, 10**7), (123, 221, 240, 255, 267, 278, 288, 297, 307, 316, 325)),
    ],
)
def test_thresholds_reproduce_the_worked_figures(
    top: int, pick: Fraction, delta: Fraction, expected: tuple[int, ...]
) -> None:
    grid = doubling_grid(top, 1024 * top)
    found = thresholds(top=top, grid=grid, search_epsilon=F(3, 10), pick_epsilon=pick, certificate_delta=delta)
    assert found == expected
    assert all(isinstance(threshold, int) for threshold in found)  # compared with counts, exactly


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("pick", [F(1, 50), F(3, 10), F(8)])
@pytest.mark.parametrize("search", [F(1, 20), F(2, 5), F(2)])
@pytest.mark.parametrize(("top", "size"), [(1, 1), (1, 2), (1, 8), (4, 512), (5, 5), (5, 40)])
def test_a_threshold_is_the_least_that_bounds_the_slack(
    top: int, size: int, search: Fraction, pick: Fraction, sensitivity: int
) -> None:
    """Against every gap there is, where picks or the search decide which gap is the worst."""
    (threshold,) = thresholds(
        top=top,
        grid=(size,),
        search_epsilon=search,
        pick_epsilon=pick,
        certificate_delta=F(1, 10**5),
        sensitivity=sensitivity,
    )
    scale, rate = float(2 * sensitivity / search), float(pick) / sensitivity

    def log_slack(gap: int) -> float:
        if gap <= sensitivity:
            return 0.0
        if size == top:
            return -math.inf
        return min(0.0, math.log(top * (size - top)) - rate * (gap - sensitivity))

    def expected_slack(at: int) -> float:
        return max(math.exp(log_difference_survival(at - gap, scale) + log_slack(gap)) for gap in range(at + 200))

    assert expected_slack(threshold) <= 1e-5 < expected_slack(threshold - 1)


def test_large_margin_law_reproduces_the_worked_figure() -> None:
    mechanism = LargeMargin(
        top=1, search_epsilon=F(3, 5), pick_epsilon=F(7, 5), certificate_delta=F(1, 100), grid_limit=8
    )
    law = mechanism.law(CountProfile.of([40, 38, 20, 3]))
    expected = {
        (0,): 0.925130698,
        (1,): 0.0558171458,
        (2,): 5.24743965e-13,
        (3,): 2.41957330e-23,
        (): 0.0190521561,
    }
    assert law.keys() == expected.keys()
    for outcome, probability in expected.items():
        assert math.isclose(law[outcome], probability, rel_tol=2e-9)


def test_published_law_reproduces_the_worked_figure() -> None:
    mechanism = PublishedLargeMargin(top=1, alpha=F(1), selection_delta=F(1, 100), max_candidates=8)
    law = mechanism.law(CountProfile.of([400, 390, 20, 3]))
    assert math.isclose(law[(0,)], 0.841131085, abs_tol=6e-10)
    assert math.isclose(law[(1,)], 0.158868915, abs_tol=6e-10)


def test_published_thresholds_reproduce_the_worked_figures() -> None:
    mechanism = PublishedLargeMargin(top=1, alpha=F(1), selection_delta=F(1, 10**6))
    assert [mechanism.threshold(size) for size in (1, 10, 100)] == [417, 479, 547]
    for size, before_rounding in ((1, 414.92), (10, 476.82), (100, 544.88)):
        delta = 1e-6
        continuous = (
            3 * math.log(3 / (2 * delta))
            + 6 * math.log(3 / delta)
            + 12 * math.log(3 * size * (size + 1) / delta)
            + 6 * (1 + math.log(3 * size / delta))
        )
        assert continuous == pytest.approx(before_rounding, abs=0.005)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_published_thresholds_are_wider_for_larger_units_and_smaller_budgets(size: int) -> None:
    """Every term but the unit's own change is proportional to Delta/alpha; four terms are rounded up each."""
    mechanism = PublishedLargeMargin(top=1, alpha=F(1, 10), selection_delta=F(1, 10**6), sensitivity=3)
    bounds = 3 * 14.2209, 6 * 14.9141, 12 * (14.9141 + math.log(size * (size + 1))), 6 * (14.9141 + math.log(size))
    excess = mechanism.threshold(size) - (6 * 3 + 30 * sum(bounds))
    assert -0.1 < excess < 4.1


def test_the_published_noise_is_three_six_and_twelve_times_delta_over_alpha(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise of the maximum, of the threshold and of the queries. 1500 draws cannot tell 12 from 13."""
    scales: list[Fraction] = []

    def no_noise(scale: Fraction, _randomness: object) -> int:
        scales.append(scale)
        return 0

    for module in ("lmm_paper", "sparse_vector"):
        monkeypatch.setattr(f"fim_private.mechanisms.{module}.sample_discrete_laplace", no_noise)
    mechanism = PublishedLargeMargin(top=1, alpha=F(1, 10), selection_delta=F(1, 100), sensitivity=3, max_candidates=2)
    assert mechanism.select(CountProfile.of([9]), SeededRandomness(SEED)) == ()
    assert scales == [90, 180, 360, 360]


@pytest.mark.parametrize("mechanism", [large_margin(pick_epsilon=F(1, 10**6)), published(alpha=F(1, 10**6))])
def test_after_a_search_all_candidates_are_drawn_from_and_no_others(
    mechanism: LargeMargin | PublishedLargeMargin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that ended at its second size: picks are next to uniform, and in an open universe may name nothing."""
    monkeypatch.setattr(f"{type(mechanism).__module__}.search", lambda *_, **__: 1)
    randomness = SeededRandomness(SEED)
    for counts, zeros, expected in (
        ([9, 9, 9, 9], None, {(0,), (1,)}),
        ([9], None, {(0,), ()}),
        ([9], 5, {(0,), (1,)}),
    ):
        profile = CountProfile.of(counts, zeros=zeros)
        drawn = {mechanism.select(profile, randomness) for _ in range(60)}
        assert drawn == expected, (counts, zeros)


def test_a_stop_symbol_is_drawn_where_it_stands_among_the_counts() -> None:
    """It is as likely as the itemset on its level, however far below the others are."""
    randomness = SeededRandomness(SEED)
    levels = [(100, 1), (1, 5)]
    drawn = [peel(levels, rates=[F(5)], open_universe=True, randomness=randomness, stop=F(100)) for _ in range(60)]
    assert set(drawn) == {(), (0,)}


def test_exponential_law_is_the_softmax() -> None:
    mechanism = Exponential(top=1, pick_epsilon=F(1, 2), universe_size=10)
    law = mechanism.law(CountProfile.of([6, 4, 4], zeros=7))
    weights = {(0,): math.exp(3), (1,): 2 * math.exp(2), (2,): 7.0}
    for outcome, weight in weights.items():
        assert math.isclose(law[outcome], weight / sum(weights.values()), rel_tol=1e-12)


def test_truncated_frequencies_are_the_softmax_of_lifted_counts() -> None:
    """gamma is 26 at k = 2, universe 10 and exponent 0.3: above ln(2 10 / 0.01)/0.3 = 25.3."""
    mechanism = TruncatedFrequency(top=2, pick_epsilon=F(3, 10), universe_size=10)
    assert mechanism.gamma == 26
    law = mechanism.law(CountProfile.of([60, 40, 14, 13], zeros=6))
    weights = {0: math.exp(18), 1: math.exp(12), 2: math.exp(4.2), 3: math.exp(4.2), 4: 6 * math.exp(4.2)}
    whole = sum(weights.values())
    assert math.isclose(law[1, 4], weights[1] / whole * weights[4] / (whole - weights[1]), rel_tol=1e-12)
    assert math.isclose(law[4, 4], weights[4] / whole * weights[4] * 5 / 6 / (whole - weights[4] / 6), rel_tol=1e-12)


@pytest.mark.parametrize(("attempts", "floor"), [(1, 4), (6, 3), (10**4, 0)])
def test_picks_from_a_list_are_the_softmax_of_lifted_counts(attempts: int, floor: int) -> None:
    """The larger rate is 0.55, and ln(6/2)/0.55 = 1.997: the floor is 4 - 1, where 4 is the count of place l + 1."""
    mechanism = LiftedExponential(
        top=2, pick_epsilon=F(1, 2), universe_size=8, candidates=2, attempts=attempts, rise=F(1, 2)
    )
    rates = [float(rate) for rate in mechanism.rates]
    assert rates == pytest.approx([0.45, 0.55])
    profile = CountProfile.of([9, 7, 4, 1], zeros=4)
    assert mechanism.floor(profile.count(mechanism.depth)) == floor
    scores, numbers = [max(count, floor) for count in (9, 7, 4, 1, 0)], [1, 1, 1, 1, 4]
    law, whole = mechanism.law(profile), 0.0
    for one, other in product(range(5), repeat=2):
        left = [number - (level == one) for level, number in enumerate(numbers)]
        expected = 1.0
        for rate, there, picked in ((rates[0], numbers, one), (rates[1], left, other)):
            weights = [number * math.exp(rate * score) for number, score in zip(there, scores, strict=True)]
            expected *= weights[picked] / sum(weights)
        whole += expected
        assert math.isclose(law.get((one, other), 0.0), expected, rel_tol=1e-12, abs_tol=1e-300)
    assert math.isclose(whole, 1.0)


def test_a_law_does_not_vanish_at_a_large_epsilon() -> None:
    mechanism = Exponential(top=2, pick_epsilon=F(50), universe_size=3)
    law = mechanism.law(CountProfile.of([400, 1], zeros=1))
    assert math.isclose(law[0, 1], 1, rel_tol=1e-9)


def test_limited_domain_stops_where_it_says() -> None:
    mechanism = LimitedDomain(top=1, candidates=2, pick_epsilon=F(1), stop_delta=F(1, 50))
    law = mechanism.law(CountProfile.of([9, 7, 3]))
    stop = 3 + 1 + math.log(2 / 0.02)
    weights = {(0,): math.exp(9), (1,): math.exp(7), (): math.exp(stop)}
    assert law.keys() == weights.keys()
    for outcome, weight in weights.items():
        # The stop symbol's score is rounded up, by less than 1e-8.
        assert math.isclose(law[outcome], weight / sum(weights.values()), rel_tol=1e-7)


def levels_of(profile: CountProfile, ranks: tuple[int, ...]) -> tuple[int, ...]:
    """The levels of these ranks. Every itemset that does not occur is on the level after the last."""
    ends = list(accumulate(profile.multiplicities))
    return tuple(bisect_right(ends, rank) for rank in ranks)


PROFILES = [[6, 4, 4, 1], [30, 29, 2], [50], [70, 68, 9, 9, 9], []]


def is_simple(case: Case) -> bool:
    return case.mechanism.top == 1 and "," not in case.name.removeprefix("noisy max, ")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=() if is_simple(case) else pytest.mark.slow) for case in CASES], ids=str
)
def test_sampler_follows_its_law(case: Case) -> None:
    randomness = SeededRandomness(SEED)
    for counts in PROFILES:
        profile = CountProfile.of(counts, zeros=3 if case.declared else None)
        law = case.mechanism.law(profile)
        assert math.isclose(math.fsum(law.values()), 1, rel_tol=1e-9)
        draws = [levels_of(profile, case.mechanism.select(profile, randomness)) for _ in range(1500)]
        assert p_value(draws, law) > FALSE_ALARM


@pytest.mark.slow
def test_that_comparison_has_power() -> None:
    """The same number of draws rejects noise that is 0.7 or 1.3 times as wide, in each of the three parts."""
    randomness = SeededRandomness(SEED)
    profile = CountProfile.of([30, 29, 2])
    search = {
        "search_epsilon": F(3, 5),
        "pick_epsilon": F(7, 5),
        "certificate_delta": F(1, 100),
        "grid_limit": 4,
    }
    honest = LargeMargin(top=1, **search)
    draws = [honest.select(profile, randomness) for _ in range(20_000)]
    assert p_value(draws, honest.law(profile)) > FALSE_ALARM

    for factor in (F(7, 10), F(13, 10)):

        class OtherNoise(LargeMargin):
            scale = honest.scale * factor

        assert p_value(draws, OtherNoise(top=1, **search).law(profile)) < FALSE_ALARM
        pick = Exponential(top=1, pick_epsilon=F(1, 2), universe_size=4)
        wide = Exponential(top=1, pick_epsilon=F(1, 2) / factor, universe_size=4)
        flat = CountProfile.of([6, 4, 4, 1])
        picks = [levels_of(flat, pick.select(flat, randomness)) for _ in range(6000)]
        assert p_value(picks, pick.law(flat)) > FALSE_ALARM
        assert p_value(picks, wide.law(flat)) < FALSE_ALARM


def test_ranks_are_distinct_and_inside() -> None:
    randomness = SeededRandomness(SEED)
    profile = CountProfile.of([9, 9, 9, 8, 8, 1], zeros=4)
    mechanism = Exponential(top=10, pick_epsilon=F(1, 10), universe_size=10)
    for _ in range(50):
        assert sorted(mechanism.select(profile, randomness)) == list(range(10))
    assert len(Exponential(top=12, pick_epsilon=F(1), universe_size=10).select(profile, randomness)) == 10


def test_a_universe_too_large_to_enumerate_costs_nothing() -> None:
    profile = CountProfile.of([30_000 - 7 * place for place in range(4000)], zeros=math.comb(16470, 3))
    mechanism = Exponential(top=20, pick_epsilon=F(1, 10), universe_size=profile.universe_size or 0)
    ranks = mechanism.select(profile, SeededRandomness(SEED))
    assert len(ranks) == 20
    assert max(ranks) < 100


def test_reach_is_the_quantile_it_says() -> None:
    for scale in (0.05, 0.5, 10.0, 2000.0):  # noise of hardly any width needs no lead at all
        s = reach(scale)
        assert math.exp(log_difference_survival(-s, scale)) >= 0.95 > math.exp(log_difference_survival(1 - s, scale))


def discrete_laplace_tail(needed: int, scale: float) -> float:
    """P(DL(scale) >= needed), by adding up the mass."""
    q = math.exp(-1 / scale)
    return math.fsum(
        (1 - q) / (1 + q) * q ** abs(value) for value in range(needed, max(needed, 0) + int(60 * scale) + 60)
    )


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(5, 2)])
@pytest.mark.parametrize("delta", [F(1, 100), F(1, 10**6)])
def test_stable_max_s_threshold_is_the_least(epsilon: Fraction, delta: Fraction, sensitivity: int) -> None:
    mechanism = StableMax(top=1, round_epsilon=epsilon, round_delta=delta, sensitivity=sensitivity)
    scale, threshold = float(sensitivity / epsilon), mechanism.threshold
    assert discrete_laplace_tail(threshold - sensitivity, scale) <= delta
    assert discrete_laplace_tail(threshold - sensitivity - 1, scale) > delta


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("most_new", [1, 45, math.comb(1000, 3)])
@pytest.mark.parametrize(("comparison", "pick"), [(F(1, 2), F(1, 2)), (F(1, 5), F(1)), (F(1), F(1, 5))])
def test_choosing_s_threshold_is_the_least_that_bounds_the_slack(
    comparison: Fraction, pick: Fraction, most_new: int, sensitivity: int
) -> None:
    delta = 1e-5
    mechanism = Choosing(
        top=1,
        comparison_epsilon=comparison,
        pick_epsilon=pick,
        round_delta=F(1, 10**5),
        most_new=most_new * sensitivity,
        sensitivity=sensitivity,
    )
    scale = float(sensitivity / comparison)

    def failure(threshold: int) -> float:
        """The largest probability, over top counts, to pass and then to pick a new itemset."""

        def slack(top: int) -> float:
            exponent = -float(pick) * (top - sensitivity) / sensitivity
            return min(1.0, mechanism.most_new * math.exp(exponent)) if top > sensitivity else 1.0

        return max(discrete_laplace_tail(threshold - top, scale) * slack(top) for top in range(1, 2 * threshold + 60))

    assert failure(mechanism.threshold) <= delta
    assert failure(mechanism.threshold - 1) > delta


@pytest.mark.parametrize("noise", list(Noise))
def test_report_noisy_max_keeps_its_tail_bound(noise: Noise) -> None:
    """P(c_(1) - c_I >= 2 (ln d + t)/eps) <= e^-t in the textbook scale, exponential noise (lecture 7, Theorem 1.3)."""
    epsilon, levels = F(1, 2), list(range(60, -1, -1))
    mechanism = NoisyMaxima(top=1, pick_epsilon=epsilon, universe_size=len(levels), noise=noise, general=True)
    law = mechanism.law(CountProfile.of(levels, zeros=1))
    for t in (0.5, 1.0, 2.0, 4.0):
        short = 2 * (math.log(len(levels)) + t) / float(epsilon)
        missed = math.fsum(chance for (rank,), chance in law.items() if rank >= short)
        allowed = math.exp(-t) if noise is Noise.EXPONENTIAL else 2 * math.exp(-t)
        assert missed <= allowed
