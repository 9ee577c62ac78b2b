"""What is drawn follows the exact laws; and as many calls are made as the theorems say."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import pytest

from fim_private.errors import UsageError
from fim_private.privacy import PureDP
from fim_private.private_candidates import Candidates, KnownThreshold, RandomStopping, Selection
from fim_private.randomness import Randomness, SeededRandomness
from tests.private_candidates.cases import LAWS, STRONG, WEAK, mixed, pool, procedure
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from, p_value
from verification.private_candidates.amplification import Amplification

DRAWS = 20_000
Q = mixed(LAWS)


def outcome(selection: Selection[str] | None) -> tuple[object, object] | None:
    return None if selection is None else (selection.score, selection.output)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [None, 4])
@pytest.mark.parametrize(
    ("selection", "stop"),
    [(partial(KnownThreshold, threshold=2), Fraction(1, 5)), (RandomStopping, Fraction(2, 5))],
    ids=["a known threshold", "random stopping"],
)
def test_a_selection_is_drawn_by_its_law(
    selection: Callable[..., KnownThreshold | RandomStopping], stop: Fraction, steps: int | None
) -> None:
    def law(stop: Fraction) -> dict[object, float]:
        return dict(selection(stop=stop, steps=steps).law(Q))

    drawn, randomness = selection(stop=stop, steps=steps), SeededRandomness(SEED)
    draws = [outcome(drawn.select(pool(LAWS), randomness)) for _ in range(DRAWS)]
    assert sum(law(stop).values()) == pytest.approx(1)
    assert_drawn_from(lambda width: law(stop * width), draws)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [None, Fraction(3, 2)])
def test_amplification_is_drawn_by_its_law(exponent: Fraction | None) -> None:
    laws = [{drawn: float(chance) for drawn, chance in law.items()} for law in LAWS]

    def law(dummies: int) -> dict[object, float]:
        found = Amplification(threshold=2, exponent=exponent, dummies=dummies).law(laws)
        return dict(found)

    selection, randomness = Amplification(threshold=2, exponent=exponent, dummies=3), SeededRandomness(SEED)
    draws = []
    for _ in range(DRAWS):
        chosen = selection.select(pool(LAWS), randomness)
        draws.append(None if chosen is None else (chosen.candidate, chosen.score, chosen.output))
    assert sum(law(3).values()) == pytest.approx(1)
    assert_drawn_from(lambda width: law(int(3 * width)), draws, [Fraction(2, 3), Fraction(4, 3)])


def test_candidates_are_drawn_uniformly_and_named() -> None:
    randomness = SeededRandomness(SEED)
    candidates = Candidates([lambda _: (0, "x"), lambda _: (0, "y"), lambda _: (0, "x")], PureDP(Fraction(1)))
    draws = [candidates.draw(randomness) for _ in range(DRAWS)]
    assert p_value([drawn.candidate for drawn in draws], dict.fromkeys(range(3), 1 / 3)) > FALSE_ALARM
    assert all(drawn.output == "xyx"[drawn.candidate] for drawn in draws)


def test_of_equal_scores_the_first_is_taken() -> None:
    numbers = iter(range(1000))
    candidates = Candidates([lambda _: (1, next(numbers))], PureDP(Fraction(1)))
    selection = RandomStopping(stop=Fraction(1, 10), steps=20)
    assert selection.select(candidates, SeededRandomness(1)).output == 0
    assert next(numbers) > 2, "others were run"


def test_the_secure_source_is_the_default() -> None:
    sources: list[Randomness] = []

    def candidate(randomness: Randomness) -> tuple[int, str]:
        sources.append(randomness)
        return 1, "x"

    candidates = Candidates([candidate], PureDP(Fraction(1)))
    KnownThreshold(threshold=1, stop=Fraction(1, 2)).select(candidates)
    RandomStopping(stop=Fraction(1, 2)).select(candidates)
    Amplification(threshold=1, exponent=None, dummies=2).select(candidates)
    assert len(sources) >= 3
    assert all(source.seed is None for source in sources)


def test_scores_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(UsageError, match="not a number"):
        Candidates([lambda _: (math.nan, "x")], PureDP(Fraction(1))).draw(SeededRandomness(1))
    with pytest.raises(UsageError, match="no candidates"):
        Candidates([], PureDP(Fraction(1)))


def test_minus_infinity_is_a_score() -> None:
    candidates = Candidates([lambda _: (-math.inf, "nothing")], PureDP(Fraction(1)))
    assert KnownThreshold(threshold=0, stop=Fraction(1, 2)).select(candidates) is None
    assert RandomStopping(stop=Fraction(1, 2)).select(candidates).output == "nothing"
    for exponent in (None, Fraction(1)):
        assert Amplification(threshold=0, exponent=exponent, dummies=2).select(candidates) is None


def calls(select: Callable[[Candidates[str], Randomness], object], laws: tuple[object, ...]) -> list[int]:
    """How many calls each of many selections made."""
    made = [0]

    def counted(law: object) -> Callable[[Randomness], tuple[int, str]]:
        run = procedure(law)

        def candidate(randomness: Randomness) -> tuple[int, str]:
            made[0] += 1
            return run(randomness)

        return candidate

    candidates, randomness, numbers = Candidates([counted(law) for law in laws], PureDP(Fraction(1))), [], []
    randomness = SeededRandomness(SEED)
    for _ in range(5_000):
        made[0] = 0
        select(candidates, randomness)
        numbers.append(made[0])
    return numbers


def deviations(numbers: list[int], expected: float) -> float:
    """How many standard errors the mean lies from what was expected; six would be one false alarm in 5e8."""
    mean = sum(numbers) / len(numbers)
    variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
    return abs(mean - expected) / math.sqrt(variance / len(numbers))


@pytest.mark.slow
@pytest.mark.parametrize("steps", [None, 6])
@pytest.mark.parametrize("threshold", [2, 4])
def test_algorithm_1_makes_as_many_calls_as_expected(threshold: int, steps: int | None) -> None:
    """E T~ <= 1/(p_1 (1 - gamma) + gamma) <= min(1/p_1, 1/gamma) (Theorem 3.1 d)."""
    selection = KnownThreshold(threshold=threshold, stop=Fraction(1, 10), steps=steps)
    expected = selection.expected_calls(Q)
    reached = 0.3 if threshold == 2 else 0.0
    bound = 1 / (reached * 0.9 + 0.1)
    assert expected == pytest.approx(bound) if steps is None else expected < bound
    numbers = calls(selection.select, LAWS)
    assert deviations(numbers, expected) < 6
    assert deviations(numbers, 0.8 * expected) > 6
    assert deviations(numbers, 1.2 * expected) > 6
    assert steps is None or max(numbers) == steps


@pytest.mark.slow
@pytest.mark.parametrize("steps", [None, 6])
def test_algorithm_2_makes_as_many_calls_as_expected(steps: int | None) -> None:
    """1/gamma (Theorem 1.3 b), whatever the candidates do."""
    selection = RandomStopping(stop=Fraction(1, 10), steps=steps)
    expected = selection.expected_calls
    assert expected == pytest.approx(10) if steps is None else expected < 6
    for laws in (LAWS, (WEAK,), (STRONG,)):
        numbers = calls(selection.select, laws)
        assert deviations(numbers, expected) < 6
        assert deviations(numbers, 0.8 * expected) > 6
        assert deviations(numbers, 1.2 * expected) > 6


def test_nothing_and_little_come_out_as_rarely_as_theorems_3_1_e_and_3_3_say() -> None:
    """Nothing comes out with probability (1 - p_1)(1 + eps_0/2) gamma/p_1; less than a quantile with gamma/p."""
    for stop in (Fraction(1, 3), Fraction(1, 50)):
        nothing = KnownThreshold(threshold=2, stop=stop).law(Q)[None]
        assert 0.5 * (0.7 / 0.3) * stop < nothing <= (0.7 / 0.3) * stop
        low = sum(chance for drawn, chance in RandomStopping(stop=stop).law(Q).items() if drawn and drawn[0] < 2)
        assert 0.35 * stop / 0.3 < low <= stop / 0.3
