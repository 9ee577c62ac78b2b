"""Private learning: shells by brute force, Theorem 3 by exact laws, measured errors below the bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from fim_private.demos import shop
from fim_private.demos.lessons.pac_learning import lesson, promises
from fim_private.demos.lessons.pac_learning.bounds import (
    DELTA_0,
    ETA,
    corollary_2,
    equation_2,
    margin_needed,
    shell,
    shortfall,
    t_star,
)
from fim_private.demos.lessons.pac_learning.classes import (
    BEST,
    PLACES,
    HypothesisClass,
    Sample,
    draw,
    stumps,
    thresholds,
)
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.protocol import Mechanism
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from tests.sampling import FALSE_ALARM, SEED

SAMPLES, LEAST_KEPT = 70, 0.6
"""A mean of so many chances whose expectation is 0.9 at least is below 0.6 less often than FALSE_ALARM (Chernoff)."""


def toy(errors: Sequence[float], hypotheses: Sequence[int]) -> HypothesisClass:
    def correct(n: int, _randomness: object) -> np.ndarray:
        return np.array([round(n * (1 - error)) for error in errors])

    return HypothesisClass(
        name="toy",
        errors=np.array(errors),
        hypotheses=tuple(hypotheses),
        radius=lambda n, delta: math.sqrt(math.log(2 * len(errors) / delta) / (2 * n)),
        correct=correct,
    )


def published(alpha: int = 1, cap: int = 256) -> PublishedLargeMargin:
    return PublishedLargeMargin(
        top=1, alpha=Fraction(alpha), selection_delta=Fraction(1, 10**6), max_candidates=cap
    )  # fmt: skip


def brute_stumps(customers: Sequence[int]) -> dict[tuple[int, bool], int]:
    """Correct answers on these customers of some stumps, straight from the baskets."""
    data = shop.baskets()
    median = np.median(data.lengths())
    correct: dict[tuple[int, bool], int] = {}
    for customer in customers:
        has = set(data.items[data.offsets[customer] : data.offsets[customer + 1]].tolist())
        many = len(has) > median
        for item in range(0, shop.ITEMS, 100):
            for sign in (False, True):
                right = (item in has) == many if sign else (item in has) != many
                correct[item, sign] = correct.get((item, sign), 0) + right
    return correct


def test_true_errors_of_stumps_are_those_of_brute_force() -> None:
    hypotheses = stumps(10**14)
    correct = brute_stumps(range(shop.CUSTOMERS))
    for (item, sign), right in correct.items():
        place = item if sign else shop.ITEMS + 1 + item
        assert hypotheses.errors[place] == pytest.approx(1 - right / shop.CUSTOMERS)
    assert hypotheses.size == 2 * 10**14
    # Who has an item that nobody has? A constant answer, and its opposite.
    assert hypotheses.errors[shop.ITEMS] + hypotheses.errors[-1] == pytest.approx(1)
    with pytest.raises(ValueError, match="declare more"):
        stumps(shop.ITEMS)


def test_counts_of_a_sample_are_those_of_brute_force() -> None:
    drawn = (SeededRandomness(SEED).words(200) % shop.CUSTOMERS).tolist()
    correct = stumps(10**14).correct(200, SeededRandomness(SEED))
    for (item, sign), right in brute_stumps(drawn).items():
        assert correct[item if sign else shop.ITEMS + 1 + item] == right


def test_thresholds_are_those_of_brute_force() -> None:
    hypotheses = thresholds()
    words = SeededRandomness(SEED).words(500)
    examples = [(int(word) % PLACES, (int(word) >> 12) / 2**52 < 0.1) for word in words]
    correct = hypotheses.correct(500, SeededRandomness(SEED))
    for place in range(0, PLACES + 1, 64):
        right = sum((x >= place) == ((x >= BEST) != flipped) for x, flipped in examples)
        assert correct[place] == right
        wrong = sum(0.9 if (x >= place) != (x >= BEST) else 0.1 for x in range(PLACES)) / PLACES
        assert hypotheses.errors[place] == pytest.approx(wrong)


@pytest.mark.parametrize("name", lesson.CLASSES)
@pytest.mark.parametrize("n", [1000, 30_000])
def test_shells_are_those_of_brute_force(name: str, n: int) -> None:
    hypotheses = lesson.class_of(name)
    radius, errors = hypotheses.radius(n, DELTA_0), hypotheses.errors.tolist()
    best = min(errors)
    for t in (1, 2, 3, 5):
        slow = 0
        for error, many in zip(errors, hypotheses.hypotheses, strict=True):
            if error <= best + t * radius:
                slow += many
        assert shell(hypotheses, t, n) == slow
    assert shell(hypotheses, 10**6, n) == hypotheses.size


@pytest.mark.parametrize("name", lesson.CLASSES)
def test_t_star_is_the_least(name: str) -> None:
    hypotheses, mechanism = lesson.class_of(name), published()
    found = set()
    for n in (1000, 30_000, 100_000, 1_000_000):
        radius = hypotheses.radius(n, DELTA_0)

        def suffices(t: int, n: int = n, radius: float = radius) -> bool:
            size = shell(hypotheses, t + 1, n)
            return size <= 256 and (t - 1) * radius * n >= margin_needed(mechanism, size)

        t = t_star(hypotheses, mechanism, n)
        assert t == next((t for t in range(1, 100) if suffices(t)), None)
        found.add(t)
    assert None in found
    assert len(found) > 1


@pytest.mark.parametrize("near", [1, 5, 60])
@pytest.mark.parametrize("alpha", [1, 4])
def test_theorem_3_holds_of_the_exact_law(near: int, alpha: int) -> None:
    """With a margin of gamma* behind place l, the draw loses at most 6 ln(2l/eta)/alpha, except with chance eta."""
    mechanism = published(alpha)
    margin = margin_needed(mechanism, near) + 1
    top = 3000
    # The near-best are spread, so that the exponential mechanism has something to get wrong.
    close = [top - place for place in range(near)]
    profile = CountProfile(
        levels=[*close, top - margin], multiplicities=[1] * near + [10_000], zeros=10**30
    )  # fmt: skip
    law = mechanism.law(profile)
    good = sum(
        chance
        for picked, chance in law.items()
        if picked and picked[0] < near and top - close[picked[0]] <= shortfall(mechanism, near)
    )
    assert good >= 1 - ETA
    # With half the margin the promise is not kept, so this can fail.
    narrow = CountProfile(levels=[*close, top - margin // 2], multiplicities=[1] * near + [10_000], zeros=10**30)
    assert sum(chance for picked, chance in mechanism.law(narrow).items() if picked and picked[0] < near) < 1 - ETA


@pytest.mark.parametrize("zeros", [None, 0, 10**6, 10**200], ids=["open", "none", "1e6", "1e200"])
def test_corollary_1_holds_whatever_the_universe(zeros: int | None) -> None:
    """Behind the L itemsets that occur lies a margin as large as the largest count: Theorem 3 with l = L."""
    mechanism, occurring = published(), 40
    top = margin_needed(mechanism, occurring) + 1
    counts = [max(1, top - 40 * place) for place in range(occurring)]
    law = mechanism.law(CountProfile.of(counts, zeros=zeros))
    levels = sorted(set(counts), reverse=True)
    near = [
        chance
        for picked, chance in law.items()
        if picked and picked[0] < len(levels) and top - levels[picked[0]] <= shortfall(mechanism, occurring)
    ]
    assert sum(near) >= 1 - ETA
    # The exponential mechanism at the same alpha, over the last of these universes, names what nobody has.
    exponential = Exponential(top=1, pick_epsilon=Fraction(1), universe_size=10**200, general=True)
    lost = exponential.law(CountProfile.of(counts, zeros=10**200))
    assert lost[(len(levels),)] > 0.99


def kept(mechanism: Mechanism, sample: Sample, hypotheses: HypothesisClass, bound: float) -> float:
    """The exact chance that the true error is within the bound."""
    return sum(chance for error, chance in lesson.outcomes(mechanism, sample) if error <= hypotheses.least + bound)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["thresholds", "stumps", "barcodes"])
def test_errors_stay_below_their_bounds(name: str) -> None:
    """Equation (2) and Corollary 2 hold nine times in ten, over samples and noise."""
    hypotheses = lesson.class_of(name)
    n = 300_000 if name == "thresholds" else 30_000
    mechanism = published()
    t = t_star(hypotheses, mechanism, n)
    size = shell(hypotheses, t + 1, n)
    exponential = Exponential(top=1, pick_epsilon=Fraction(1), universe_size=hypotheses.size, general=True)
    bounds: list[tuple[Mechanism, float]] = [
        (mechanism, corollary_2(hypotheses, mechanism, n, size)),
        (exponential, equation_2(hypotheses, 1, n)),
    ]
    samples = [draw(hypotheses, n, SeededRandomness(SEED + place)) for place in range(SAMPLES)]
    for chosen, bound in bounds:
        assert np.mean([kept(chosen, sample, hypotheses, bound) for sample in samples]) >= LEAST_KEPT
    # Who hardly looks at the examples does not pass.
    careless = Exponential(top=1, pick_epsilon=Fraction(1, 10**6), universe_size=hypotheses.size, general=True)
    assert np.mean([kept(careless, sample, hypotheses, bounds[1][1]) for sample in samples[:5]]) < LEAST_KEPT


def test_the_odds_of_a_false_alarm_are_those_that_are_stated() -> None:
    entropy = LEAST_KEPT * math.log(LEAST_KEPT / 0.9) + (1 - LEAST_KEPT) * math.log((1 - LEAST_KEPT) / 0.1)
    assert math.exp(-SAMPLES * entropy) <= FALSE_ALARM


def test_sample_errors_stay_within_the_radius() -> None:
    for hypotheses in (thresholds(), stumps(10**14)):
        for place in range(20):
            correct = hypotheses.correct(2000, SeededRandomness(SEED + place))
            furthest = np.max(np.abs(1 - correct / 2000 - hypotheses.errors))
            assert furthest <= hypotheses.radius(2000, DELTA_0)
            assert furthest >= hypotheses.radius(2000, DELTA_0) / 10


def test_a_sample_holds_every_hypothesis_once() -> None:
    hypotheses = toy([0.1, 0.3, 0.3, 0.5, 1.0], [1, 2, 10**30, 4, 7])
    sample = draw(hypotheses, 100, SeededRandomness(SEED))
    assert list(sample.counts.levels) == [90, 70, 50]
    assert list(sample.counts.multiplicities) == [1, 10**30 + 2, 4]
    assert sample.counts.zeros == 7
    for errors, shares in zip(sample.errors, sample.shares, strict=True):
        assert len(errors) == len(shares)
        assert sum(shares) == pytest.approx(1)


@pytest.mark.slow
def test_the_lesson_s_claims_hold() -> None:
    """What its last paragraph says of the four classes."""
    for n in lesson.EXAMPLES:
        for name in ("thresholds", "stumps"):
            assert lesson.measured("exponential", name, "1", n) <= lesson.measured("lmm", name, "1", n)
        assert lesson.measured("lmm", "texts", "1", n) <= lesson.measured("exponential", "texts", "1", n)
    for name, n in (("barcodes", "300"), ("texts", "1000")):
        assert lesson.measured("lmm", name, "1", n) < lesson.measured("exponential", name, "1", n) / 1.5
    first = {name: lesson.first_within("lmm", name, "1") for name in lesson.CLASSES}
    assert int(first["texts"] or 0) < int(lesson.first_within("exponential", "texts", "1") or 0)
    assert int(first["thresholds"] or 0) == int(lesson.first_within("exponential", "thresholds", "1") or 0)
    for name in lesson.CLASSES:
        for n in lesson.EXAMPLES:
            for mechanism in (lesson.PUBLISHED, lesson.TEXTBOOK):
                bound = promises.promised(mechanism, name, "1", n)
                assert bound is None or lesson.measured(mechanism, name, "1", n) < bound / 2


def test_the_verdict_on_corollary_2_is_that_of_its_numbers() -> None:
    for name in lesson.CLASSES:
        start = promises.first_promise(name)
        assert promises.DEMO.answer({"class": name}) == start
        corollary, equation = (
            promises.promised(mechanism, name, "1", start) or 1 for mechanism in (lesson.PUBLISHED, lesson.TEXTBOOK)
        )
        assert (corollary < equation) == (name in {"barcodes", "texts"})
        assert ("the better promise" in promises.verdict(name)) == (corollary < equation)
        # "As measured, the mechanism is within ... from": the promise comes later than the success.
        assert int(lesson.first_within(lesson.PUBLISHED, name, "1") or 10**9) < int(start)
