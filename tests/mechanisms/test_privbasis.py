from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
import pytest

from fim_private.accounting.gaussian_composition import gaussian_epsilon, pick_rho
from fim_private.audit.laws import law_over_itemsets
from fim_private.counting import count_bins
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.count_noise import GaussianCounts, LaplaceCounts
from fim_private.mechanisms.privbasis import LARGEST_TOP, PrivBasis, calibrate
from fim_private.mechanisms.protocol import Request, Stepwise
from fim_private.mining.bases import bases_of
from fim_private.privacy import BoundedRange, DiscreteGaussian, Gaussian, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from tests.counting.local.test_basis_bins import transactions_of
from tests.sampling import FALSE_ALARM, SEED, p_value

ITEMS = 3
BASKETS = [frozenset(some) for size in (1, 2, 3) for some in combinations(range(ITEMS), size)]
Data = tuple[frozenset[int], ...]


def made(**changes: object) -> PrivBasis:
    usual = PrivBasis(top=2, sizes=(1, 2), items=ITEMS, budget=Fraction(1), gaussian=False)
    return replace(usual, **changes)


def request(**changes: object) -> Request:
    usual = Request(top=20, epsilon=Fraction(1), delta=Fraction(1, 10**6), sizes=(1, 2), universe_size=5050, names=100)
    return replace(usual, **changes)


def neighbours(sensitivity: int = 1) -> Iterator[tuple[Data, Data]]:
    """All data sets of up to three baskets, and what a unit of up to `sensitivity` baskets makes of them."""
    for number in range(4):
        for data in combinations_with_replacement(BASKETS, number):
            for more in range(1, sensitivity + 1):
                for unit in combinations_with_replacement(BASKETS, more):
                    yield data, (*data, *unit)


def profile_of(data: Data) -> CountProfile:
    return CountProfile.of(item_counts(data), zeros=sum(count == 0 for count in item_counts(data)))


def item_counts(data: Data) -> list[int]:
    return [sum(item in basket for basket in data) for item in range(ITEMS)]


def count_of_place(data: Data, mechanism: PrivBasis) -> int:
    counts = [
        sum(set(some) <= basket for basket in data)
        for size in mechanism.sizes
        for some in combinations(range(ITEMS), size)
    ]
    ranked = sorted(counts, reverse=True)
    return ranked[mechanism.depth - 1] if mechanism.depth <= len(ranked) else 0


def law_of_number(mechanism: PrivBasis, data: Data) -> list[float]:
    return mechanism.number_law(profile_of(data), count_of_place(data, mechanism))


def range_of(one: Sequence[float], other: Sequence[float]) -> float:
    ratios = [math.log(first / second) for first, second in zip(one, other, strict=True)]
    return max(ratios) - min(ratios)


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize(("top", "sizes"), [(1, (1, 2)), (2, (1, 2)), (1, (2,)), (4, (1, 2, 3))])
def test_the_number_of_items_has_the_range_it_says(top: int, sizes: tuple[int, ...], sensitivity: int) -> None:
    mechanism = made(top=top, sizes=sizes, sensitivity=sensitivity)
    worst = max(
        range_of(law_of_number(mechanism, one), law_of_number(mechanism, other))
        for one, other in neighbours(sensitivity)
    )
    assert worst <= float(mechanism.number_epsilon) + 1e-12


def hard_range(mechanism: PrivBasis) -> float:
    """The range on a hard case: a frequent and a rare item gain Delta, and the count of the place wanted stays.

    Item a is alone in 50 baskets and b in 10. 30 baskets hold c, d, e and f, which are 4 triples. The unit holds a, b.
    """
    gained = mechanism.sensitivity
    before = CountProfile.of([50, 30, 30, 30, 30, 10], zeros=0)
    after = CountProfile.of([50 + gained, 30, 30, 30, 30, 10 + gained], zeros=0)
    return range_of(mechanism.number_law(before, 30), mechanism.number_law(after, 30))


@pytest.mark.parametrize("sensitivity", [1, 2])
def test_the_range_of_the_number_is_reached(sensitivity: int) -> None:
    mechanism = made(top=1, sizes=(3,), items=6, sensitivity=sensitivity)
    assert mechanism.most_items == 6
    assert hard_range(mechanism) == pytest.approx(float(mechanism.number_epsilon))


class ExponentOfAPick(PrivBasis):
    """The exponent that is right where all scores move in one direction."""

    def number_law(self, items: CountProfile, count: int) -> list[float]:
        return replace(PrivBasis(**vars(self)), budget=2 * self.budget).number_law(items, count)


class SensitivityForgotten(PrivBasis):
    """Units have two baskets, and the score is taken to move by one."""

    def number_law(self, items: CountProfile, count: int) -> list[float]:
        return replace(PrivBasis(**vars(self)), sensitivity=1).number_law(items, count)


@pytest.mark.parametrize("kind", [ExponentOfAPick, SensitivityForgotten])
def test_broken_twins_of_the_number_have_a_larger_range(kind: type[PrivBasis]) -> None:
    twin = kind(**vars(made(top=1, sizes=(3,), items=6, sensitivity=2)))
    assert hard_range(twin) > 1.5 * float(twin.number_epsilon)


def test_the_number_of_items_is_drawn_by_its_law() -> None:
    mechanism = made(top=3, items=9, budget=Fraction(4))
    profile = CountProfile.of([40, 40, 31, 30, 12, 2, 1], zeros=2)
    law = mechanism.number_law(profile, 25)
    assert len(law) == mechanism.most_items == 4
    assert law[3] == max(law)
    randomness = SeededRandomness(SEED)
    drawn = [mechanism.number_of_items(profile, 25, randomness) for _ in range(20_000)]
    assert p_value(drawn, dict(enumerate(law, start=1))) > FALSE_ALARM
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        other = replace(mechanism, budget=mechanism.budget * factor).number_law(profile, 25)
        assert p_value(drawn, dict(enumerate(other, start=1))) < FALSE_ALARM


def test_no_rank_that_can_be_right_is_left_out() -> None:
    """The first itemsets have at most so many items; with single items among them, none that is less frequent."""
    assert made(top=10, sizes=(2, 3), items=1000).most_items == 33
    assert made(top=10, sizes=(1, 3), items=1000).most_items == 11
    assert made(top=10, sizes=(2,), items=15).most_items == 15


@pytest.mark.parametrize(
    ("sizes", "number", "pairs"),
    [
        ((1, 2), 12, 0),
        ((1, 2), 13, 78),
        ((1, 2), 20, 90),
        ((1, 2), 110, 0),
        ((2,), 40, 110),
        ((1, 2, 3), 20, 43),  # the root of 20 times 90, rounded up
        ((1, 2, 3), 60, 50),
        ((2, 3), 200, 110),
    ],
)
def test_as_many_pairs_are_picked_as_the_list_is_likely_to_have(
    sizes: tuple[int, ...], number: int, pairs: int
) -> None:
    mechanism = made(top=100, items=1000, sizes=sizes)
    assert mechanism.depth == 110
    assert mechanism.number_of_pairs(number) == pairs
    assert sum(picks.top for picks in mechanism.picks(number) if picks) == number + pairs


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("number", [1, 12, 13, 20, 90, 300])
def test_on_every_path_the_steps_cost_what_is_planned(number: int, gaussian: bool) -> None:
    mechanism = made(top=100, items=1000, gaussian=gaussian, budget=Fraction(1, 3), sensitivity=2)
    items, pairs = mechanism.picks(number)
    assert items.top == number
    assert (pairs is not None) == (12 < number < mechanism.depth)
    chosen, picks, counts = mechanism.losses
    epsilons = [loss.epsilon for step in (items, pairs) if step for loss in step.losses]
    if gaussian:
        assert isinstance(chosen, Gaussian)
        assert isinstance(picks, Gaussian)
        assert sum(loss.rho for loss in mechanism.losses) == mechanism.budget
        assert pick_rho(float(mechanism.number_epsilon)) <= chosen.rho
        (epsilon,) = set(epsilons)
        assert picks.rho * Fraction(999_999, 10**6) < pick_rho(float(epsilon), len(epsilons)) <= picks.rho
    else:
        assert chosen == BoundedRange(mechanism.number_epsilon)
        assert picks == PureDP(sum(epsilons, Fraction(0)))
        assert sum(loss.epsilon for loss in mechanism.losses) == mechanism.budget
    for bases in (1, 7, 50):
        loss = mechanism.bins(bases).loss
        if isinstance(counts, Gaussian):
            assert isinstance(loss, DiscreteGaussian)
            assert counts.rho * Fraction(9, 10) < loss.gaussian.rho <= counts.rho
        else:
            assert loss == counts


def test_noise_grows_with_the_number_of_bases_and_the_sensitivity() -> None:
    pure, gaussian = made(sensitivity=3), made(sensitivity=3, gaussian=True)
    laplace, noise = pure.bins(5), gaussian.bins(5)
    assert isinstance(laplace, LaplaceCounts)
    assert isinstance(noise, GaussianCounts)
    assert laplace.scale == 5 * 3 / Fraction(1, 2)
    assert noise.variance == 5 * 9 + 3
    assert (pure.variance_power, gaussian.variance_power) == (2, 1)


def largest_loss(mechanism: PrivBasis, one: Data, other: Data, noise: PrivBasis) -> float:
    """The largest log ratio over everything that can be released: the number, the picks, and the bins with noise."""
    numbers = [law_of_number(mechanism, data) for data in (one, other)]
    worst = 0.0
    for number in range(1, len(numbers[0]) + 1):
        items, pairs = mechanism.picks(number)
        by_items = [law_over_itemsets(items, item_counts(data), declared=True) for data in (one, other)]
        for picked in permutations(range(ITEMS), number):
            several = [*combinations(sorted(picked), 2)]
            by_pairs = [{(): 1.0}] * 2
            if pairs is not None:
                counts = [[sum(set(pair) <= basket for basket in data) for pair in several] for data in (one, other)]
                by_pairs = [law_over_itemsets(pairs, each, declared=True) for each in counts]
            for chosen in by_pairs[0]:
                ratio = math.log(numbers[0][number - 1] / numbers[1][number - 1])
                ratio += math.log(by_items[0][picked] / by_items[1][picked])
                ratio += math.log(by_pairs[0][chosen] / by_pairs[1][chosen])
                bases = bases_of(
                    np.array(picked, np.int32),
                    np.array([several[place] for place in chosen], np.int32).reshape(-1, 2),
                    most=mechanism.most,
                    power=mechanism.variance_power,
                )
                moved = np.abs(bins(other, bases) - bins(one, bases)).sum()
                scale = noise.bins(len(bases)).scale
                worst = max(worst, abs(ratio) + float(moved / scale))
    return worst


def bins(data: Data, bases: np.ndarray) -> np.ndarray:
    return count_bins(transactions_of(list(data)), bases).vector()


PAIRS_OF_NEIGHBOURS = [pair for number, pair in enumerate(neighbours()) if number % 17 == 0]


@pytest.mark.slow
def test_the_whole_mechanism_keeps_its_claim_on_all_small_data() -> None:
    # With at most two items in a basis there are several bases and picks of pairs.
    mechanism = made(top=4, most=2)
    assert mechanism.number_of_pairs(3) == 2
    worst = max(largest_loss(mechanism, one, other, mechanism) for one, other in PAIRS_OF_NEIGHBOURS)
    assert 0.75 < worst <= 1 + 1e-12


class NoiseOfOneBasis(PrivBasis):
    """A sensitivity of 1 instead of w."""

    def bins(self, bases: int) -> LaplaceCounts:
        noise = super().bins(1)
        assert isinstance(noise, LaplaceCounts)
        return noise


@pytest.mark.slow
def test_the_noise_of_one_basis_fails_the_same_check() -> None:
    twin = NoiseOfOneBasis(**vars(made(top=4, most=2)))
    assert max(largest_loss(twin, one, other, twin) for one, other in PAIRS_OF_NEIGHBOURS) > 1.1


def test_pairs_that_are_picked_for_nothing_would_exceed_the_budget() -> None:
    """Each pick would spend what it may without the pairs."""
    mechanism = made(top=100, items=1000)
    items, pairs = mechanism.picks(20)
    alone = mechanism.losses[1].epsilon / items.top
    assert (items.top + pairs.top) * alone > 5 * mechanism.losses[1].epsilon


def test_the_budget_is_spent_and_proved() -> None:
    pure = calibrate(request())
    assert (pure.guarantee.epsilon, pure.guarantee.delta) == (1, 0)
    gaussian = calibrate(request(), gaussian=True)
    assert gaussian.guarantee.epsilon <= 1
    assert gaussian.guarantee.delta == Fraction(1, 10**6)
    assert 0.999 < gaussian_epsilon(gaussian.mechanism.losses, 1e-6) <= 1 + 1e-8
    for each in (pure.mechanism, gaussian.mechanism):
        assert isinstance(each, Stepwise)
        assert each.failures == ()
        assert each.margins[0].counts > 0
        assert len(each.spending) == len(each.losses)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"universe_size": None}, "names of all items"),
        ({"anonymous": True}, "names of all items"),
        ({"top": LARGEST_TOP + 1}, "at most 500 itemsets"),
        ({"sizes": (2, 13)}, "at most 12 items"),
    ],
)
def test_what_it_cannot_do_is_refused(changes: dict[str, object], words: str) -> None:
    for gaussian in (False, True):
        with pytest.raises(UsageError, match=words):
            calibrate(request(**changes), gaussian=gaussian)


def test_gaussian_noise_needs_a_delta_and_some_budget() -> None:
    with pytest.raises(BudgetError, match="needs a delta"):
        calibrate(request(delta=Fraction(0)), gaussian=True)


def test_every_way_of_the_steps_is_rehearsed() -> None:
    quick, several = made().loud(7)
    assert (quick.items, quick.most) == (7, 12)
    assert (several.items, several.most) == (7, 2)
    assert quick.budget == several.budget > 1000


def test_a_long_list_is_rehearsed_with_few_of_its_items() -> None:
    """Picks of all items of a long list, and of their pairs, would not end."""
    for rehearsed in made().loud(70_000):
        assert rehearsed.items == 70_000
        assert rehearsed.most_items <= 220
    assert rehearsed.number_of_pairs(20) > 0
