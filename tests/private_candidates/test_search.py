"""Algorithms 3, 4 and 5 and Theorem 4.7: exact losses, samplers against laws, and what breaks them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from fim_private.audit.private_candidates import worst
from fim_private.privacy import ApproxDP, PureDP
from fim_private.private_candidates import Candidates
from fim_private.private_candidates.pool import FiniteLaw
from fim_private.randomness import Randomness, SeededRandomness
from fim_private.randomness.bernoulli import bernoulli
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from, p_value
from verification.private_candidates import percentile_threshold
from verification.private_candidates.above_threshold import AboveThreshold
from verification.private_candidates.cases import (
    COMBINED,
    NESTED,
    ORACLE,
    SAMPLED,
    law_by_place,
    law_of_oracle,
    scored_from_0_to_1,
)
from verification.private_candidates.log_grid import floor_of_log
from verification.private_candidates.percentile_threshold import PercentileThreshold
from verification.private_candidates.relatives import chances_of_queries
from verification.private_candidates.unknown_threshold import UnknownThreshold

HALF = Fraction(1, 2)
LOSS = PureDP(HALF)


@pytest.mark.parametrize(
    "ratio", [Fraction(3), Fraction(1, 3), Fraction(10**30 + 1, 10**30), Fraction(1), Fraction(10**400)]
)
@pytest.mark.parametrize("step", [Fraction(1, 7), Fraction(3), Fraction(1, 10**6)])
def test_floor_of_log_is_off_by_at_most_one(ratio: Fraction, step: Fraction) -> None:
    found = floor_of_log(ratio, step)
    size = math.log(ratio.numerator) - math.log(ratio.denominator)
    assert abs(found - size / step) <= 1 + abs(size / step) * 1e-12
    if ratio == Fraction(10**30 + 1, 10**30):
        assert found == 0
        assert floor_of_log(1 / ratio, step) == -1
    if size:
        assert floor_of_log(1 / ratio, step) == -found - 1, "a logarithm of a fraction is on no grid"


def test_floor_of_log_keeps_distances() -> None:
    """Ratios within e^(m step) are at most m steps apart, and not always fewer."""
    step = Fraction(1, 12)
    apart = set()
    for number in range(1, 400):
        ratio = Fraction(number, 97)
        nearby = ratio * Fraction(math.exp(6 * step)) * Fraction(10**12 - 1, 10**12)
        apart.add(floor_of_log(nearby, step) - floor_of_log(ratio, step))
    assert apart == {5, 6}


@pytest.mark.parametrize("before", [0, 1, *(pytest.param(many, marks=pytest.mark.slow) for many in (4, 40))])
def test_oracle_search_keeps_its_claim(before: int) -> None:
    pairs = itertools.islice(chances_of_queries(0.5, before), 0, None, 1 + before // 8)
    found = worst(partial(law_of_oracle, ORACLE), pairs, 0.8)
    assert found.delta <= 1e-9
    assert found.loss <= 0.8 + 1e-9
    assert before < 40 or found.loss > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("broken", [replace(ORACLE, loss=PureDP(HALF / 2)), replace(ORACLE, epsilon=Fraction(8, 5))])
def test_oracle_search_with_half_the_noise_is_caught(broken: AboveThreshold) -> None:
    found = worst(partial(law_of_oracle, broken), itertools.islice(chances_of_queries(0.5, 10), 0, None, 2), 0.8)
    assert found.loss > 0.9
    assert found.delta > 1e-3


def two_queries() -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    return itertools.islice(chances_of_queries(0.5, 1), 0, None, 3)


@pytest.mark.parametrize("samples", [3, *(pytest.param(many, marks=pytest.mark.slow) for many in (600, 3000))])
def test_search_from_samples_keeps_its_claim(samples: int) -> None:
    search = replace(SAMPLED, samples=samples)
    found = worst(partial(law_by_place, search), two_queries(), float(search.epsilon))
    assert found.delta <= search.delta


def test_excess_is_the_logarithm_over_the_target() -> None:
    step = 2 * (0.5 + 0.5) / SAMPLED.resolution
    for above in (0, 240, 400, 600):
        ratio = (above + SAMPLED.smoothing) / (600 - above + SAMPLED.smoothing)
        target = (240 + SAMPLED.smoothing) / (360 + SAMPLED.smoothing)
        assert abs(SAMPLED.excess(above) - math.log(ratio / target) / step) <= 1
    assert SAMPLED.excess(240) == 0
    for above in (0, 24, 60):
        lowered = 0.25 + 6 * 1 / 0.8 * math.log(2)
        ratio = (above + NESTED.smoothing) / (24 + NESTED.smoothing)
        assert abs(NESTED.excess(above) - (math.log(ratio) + lowered) * NESTED.resolution) <= 1


@pytest.mark.slow
def test_exact_percentile_from_samples_is_caught() -> None:
    """Without noise the sample decides, and that of neighbours may lie on either side of the percentile."""
    broken = replace(SAMPLED, epsilon=Fraction(100), percentile=HALF)
    found = worst(partial(law_by_place, broken), two_queries(), float(SAMPLED.epsilon))
    assert found.delta > 0.5


@pytest.mark.slow
def test_percentile_threshold_keeps_its_claim() -> None:
    found = worst(partial(law_by_place, NESTED), scored_from_0_to_1(), 0.8)
    assert found.delta <= NESTED.delta


@pytest.mark.slow
def test_percentile_threshold_with_too_little_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(percentile_threshold, "smoothing", lambda *_: 1)
    broken = replace(NESTED, loss=PureDP(Fraction(1, 100)), slack=Fraction(1, 100), failing=Fraction(99, 100))
    assert worst(partial(law_by_place, broken), scored_from_0_to_1(), 0.8).delta > 5 * NESTED.delta


@pytest.mark.slow
def test_the_oracle_search_is_drawn_by_its_law() -> None:
    chances, randomness = [Fraction(1, 20), Fraction(1, 9), Fraction(9, 10)], SeededRandomness(SEED)
    draws = [ORACLE.find(chances, randomness) for _ in range(12_000)]

    def law(epsilon: Fraction) -> dict[int | None, float]:
        *stops, none = replace(ORACLE, epsilon=epsilon).law(chances).tolist()
        return {**dict(enumerate(stops)), None: none}

    assert sum(law(ORACLE.epsilon).values()) == pytest.approx(1)
    assert_drawn_from(lambda width: law(ORACLE.epsilon * width), draws)


def test_certain_chances_decide_by_themselves() -> None:
    randomness = SeededRandomness(SEED)
    for _ in range(200):
        assert ORACLE.find([Fraction(0)] * 5, randomness) is None
        assert ORACLE.find([Fraction(0), Fraction(0), Fraction(1), Fraction(1, 2)], randomness) == 2
    found = {ORACLE.find([Fraction(0), Fraction(1, 2), Fraction(1)], randomness) for _ in range(200)}
    assert found == {1, 2}


def test_queries_are_read_only_as_far_as_needed() -> None:
    def chances() -> Iterator[Fraction]:
        yield Fraction(1)
        raise AssertionError("read on after the stop")

    assert ORACLE.find(chances()) == 0


def coin(chance: Fraction, made: list[int]) -> object:
    def score(randomness: Randomness) -> int:
        made[0] += 1
        return int(bernoulli(chance, randomness))

    return score


@pytest.mark.slow
def test_the_search_from_samples_is_drawn_by_its_law_and_makes_its_calls() -> None:
    chances, randomness, made = [Fraction(1, 10), Fraction(2, 5)], SeededRandomness(SEED), [0]
    search = replace(SAMPLED, samples=12, delta=Fraction(9, 10), epsilon=Fraction(3, 2))
    draws, numbers = [], []
    for _ in range(6_000):
        made[0] = 0
        draws.append(search.find(((coin(chance, made), 1) for chance in chances * 2), randomness))
        numbers.append(made[0])

    def law(epsilon: Fraction) -> dict[int | None, float]:
        *stops, none = replace(search, epsilon=epsilon).law([float(chance) for chance in chances]).tolist()
        return {**dict(enumerate(stops)), None: none}

    assert p_value(draws, law(search.epsilon)) > FALSE_ALARM
    # Where the noise hides the sample, the law hardly depends on its width: half and twice instead of 0.7 and 1.3.
    assert p_value([draw if draw != 1 else 0 for draw in draws], law(search.epsilon)) < FALSE_ALARM
    assert set(numbers) == {12, 24}, "N calls a query, and at most T queries"
    assert all((number == 12) == (draw == 0) for number, draw in zip(numbers, draws, strict=True))


SCORES: FiniteLaw = {(0.0, "a"): 0.5, (0.5, "b"): 0.3, (0.9, "c"): 0.2}


def from_scores(loss: PureDP = LOSS) -> Candidates[str]:
    def run(randomness: Randomness) -> tuple[float, str]:
        if bernoulli(HALF, randomness):
            return 0.0, "a"
        return (0.5, "b") if bernoulli(Fraction(3, 5), randomness) else (0.9, "c")

    return Candidates([run], loss)


@pytest.mark.slow
def test_the_percentile_threshold_is_drawn_by_its_law() -> None:
    search, randomness = (
        replace(NESTED, samples=15, epsilon=Fraction(6), thresholds=4, delta=HALF),
        SeededRandomness(SEED),
    )
    search = replace(search, failing=Fraction(9, 10))
    draws = [search.find(from_scores(), randomness) for _ in range(8_000)]
    made = [0]
    counted = Candidates([lambda source: (made.append(1), from_scores().procedures[0](source))[1]], LOSS)
    search.find(counted, randomness)
    assert sum(made) == search.samples, "N calls, however many thresholds"

    def law(epsilon: Fraction) -> dict[Fraction | None, float]:
        *stops, none = replace(search, epsilon=epsilon).law(SCORES).tolist()
        return {**{search.threshold(place): chance for place, chance in enumerate(stops)}, None: none}

    assert sum(law(search.epsilon).values()) == pytest.approx(1)
    assert_drawn_from(lambda width: law(search.epsilon * width), draws, [HALF, Fraction(2)])


def test_paper_s_thresholds_are_further_apart_than_it_says() -> None:
    """With R = 2 and tau* = 0.9, no threshold lies in (tau* - 1/R, tau*], whatever the noise does."""
    search = replace(NESTED, thresholds=2)
    assert [search.threshold(place) for place in range(2)] == [1, 0]


@pytest.mark.slow
def test_percentile_threshold_is_about_where_it_should_be() -> None:
    """In a mild case: neither early nor late, with the probabilities of Theorem 4.6."""
    loss, beta, delta = PureDP(Fraction(1, 100)), Fraction(1, 4), Fraction(1, 100)
    common = {"epsilon": Fraction(4), "delta": delta, "slack": Fraction(9, 10), "percentile": Fraction(2, 5)}
    search = PercentileThreshold(loss=loss, failing=beta, thresholds=11, samples=3_000, resolution=64, **common)
    randomness = SeededRandomness(SEED)
    found = [search.find(from_scores(loss), randomness) for _ in range(60)]
    assert sum(tau is None or tau <= Fraction(1, 2) - Fraction(1, 10) for tau in found) <= 60 * (2 * beta + delta)


def test_the_parts_of_unknown_threshold_cost_what_the_theorem_says() -> None:
    """The parts cost what the theorem says, which the paper's eps_3 = eps_0 would not."""
    loss, epsilon_0 = PureDP(Fraction(1, 20)), Fraction(9, 10)
    planned = UnknownThreshold.planned(
        loss, candidates=2, epsilon=epsilon_0, delta=Fraction(1, 100), failing=HALF, thresholds=3, samples=400
    )
    assert isinstance(planned.cost, ApproxDP)
    assert 2 * loss.epsilon + planned.search.epsilon < planned.cost.epsilon <= 2 * loss.epsilon + epsilon_0
    assert planned.cost.delta == Fraction(1, 100)
    assert planned.search.epsilon == planned.search.slack == epsilon_0 / 2
    assert planned.search.percentile == Fraction(1, 4)
    exponent = 6 + 12 * (1 / 20) / 0.9
    assert float(planned.stop) == pytest.approx((0.25 / 4) ** exponent / 24 * 0.5)
    mild = replace(planned.search, epsilon=Fraction(20), samples=2_000, resolution=64)
    selection, randomness = UnknownThreshold(search=mild, stop=Fraction(1, 100)), SeededRandomness(SEED)
    found = [selection.select(from_scores(loss), randomness) for _ in range(30)]
    assert sum(chosen is not None and chosen.score >= 0.5 for chosen in found) > 25
    assert {chosen.score for chosen in found if chosen} <= {0.0, 0.5, 0.9}


@pytest.mark.slow
def test_unknown_threshold_keeps_its_claim() -> None:
    cost = COMBINED.cost
    found = worst(COMBINED.law, scored_from_0_to_1(), float(cost.epsilon))
    assert found.delta <= cost.delta
    assert LOSS.epsilon < found.loss <= cost.epsilon, "one loss of a candidate alone would be too little"


@pytest.mark.slow
def test_unknown_threshold_is_drawn_by_its_law_and_makes_its_calls() -> None:
    made = [0]
    within_reach: FiniteLaw = {(0.0, "a"): 0.5, (0.5, "b"): 0.3, (1.0, "c"): 0.2}

    def run(randomness: Randomness) -> tuple[float, str]:
        made[0] += 1
        score, output = from_scores().procedures[0](randomness)
        return (1.0 if score == 0.9 else float(score)), output

    candidates, randomness, numbers, draws = Candidates([run], LOSS), SeededRandomness(SEED), [], []
    search = replace(NESTED, samples=15, epsilon=Fraction(6), delta=HALF, failing=Fraction(1, 3))
    selection = replace(COMBINED, search=search, stop=Fraction(1, 5))
    for _ in range(4_000):
        made[0] = 0
        chosen = selection.select(candidates, randomness)
        numbers.append(made[0])
        draws.append(None if chosen is None else (chosen.score, chosen.output))
    assert p_value(draws, selection.law(within_reach)) > FALSE_ALARM
    assert p_value(draws, replace(selection, stop=Fraction(1, 2)).law(within_reach)) < FALSE_ALARM
    assert p_value(draws, replace(selection, stop=Fraction(1, 20)).law(within_reach)) < FALSE_ALARM
    assert min(numbers) >= search.samples
    error = np.std(numbers) / math.sqrt(len(numbers))
    expected = selection.expected_calls(within_reach)
    assert abs(np.mean(numbers) - expected) < 6 * error < 0.1 * (expected - search.samples) + 1
