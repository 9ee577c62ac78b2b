"""Released counts: their noise, and that selection and counts together keep what was claimed, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from fim_private.accounting.joint_proof import Part, prove_together
from fim_private.accounting.rounding import exp_up
from fim_private.audit.laws import NUMERICAL_ERROR, law_over_groups
from fim_private.audit.neighbours import Group
from fim_private.errors import BudgetError
from fim_private.mechanisms import exponential, items_first, limited_domain, lmm, stable_max
from fim_private.mechanisms.count_noise import (
    CountNoise,
    GaussianCounts,
    LaplaceCounts,
    calibrate_with_counts,
    least_noise,
)
from fim_private.mechanisms.protocol import CalibratedMechanism, Mechanism, Request
from fim_private.privacy import DiscreteGaussian, Guarantee, PureDP, are_one_sided, failure_probability
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass, log_discrete_gaussian_survival
from fim_private.randomness.discrete_laplace import discrete_laplace_mass
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from

F = Fraction
EPSILON, PURE, SHARE = F(1), F(0), F(3, 10)
Floats = NDArray[np.float64]

NOISES: list[CountNoise] = [
    LaplaceCounts(top=1, epsilon=F(3)),
    LaplaceCounts(top=4, epsilon=F(3, 10), sensitivity=2),
    GaussianCounts(top=3, variance=1),
    GaussianCounts(top=7, variance=130, sensitivity=3),
]


def mass(noise: CountNoise, values: NDArray[np.int64]) -> Floats:
    if isinstance(noise, LaplaceCounts):
        return discrete_laplace_mass(values, float(noise.scale))
    assert isinstance(noise, GaussianCounts)
    return discrete_gaussian_mass(values, noise.variance)


def law(noise: CountNoise, stretch: float = 1.0) -> dict[int, float]:
    reach = math.ceil(40 * noise.deviation * stretch) + 2
    values = np.arange(-reach, reach + 1)
    if isinstance(noise, LaplaceCounts):
        return dict(zip(values.tolist(), discrete_laplace_mass(values, stretch * float(noise.scale)), strict=True))
    assert isinstance(noise, GaussianCounts)
    return dict(zip(values.tolist(), discrete_gaussian_mass(values, stretch**2 * noise.variance), strict=True))


def test_what_the_noise_costs() -> None:
    assert LaplaceCounts(top=4, epsilon=F(3, 10), sensitivity=2).loss == PureDP(F(3, 10))
    assert LaplaceCounts(top=4, epsilon=F(3, 10), sensitivity=2).scale == F(80, 3)
    assert GaussianCounts(top=7, variance=130, sensitivity=3).loss == DiscreteGaussian(F(63, 260), 130)
    assert LaplaceCounts(top=4, epsilon=F(2)).scale == 2
    assert GaussianCounts(top=7, variance=130).loss == DiscreteGaussian(F(7, 260), 130)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_sampler_has_its_law_and_no_other(noise: CountNoise) -> None:
    counts = np.full(15_000, 50, np.int64)
    draws = (noise.add_noise(counts, SeededRandomness(SEED)) - 50).tolist()
    assert_drawn_from(lambda width: law(noise, float(width)), draws)


def test_noise_is_drawn_for_each_count_and_put_on_it() -> None:
    counts = np.array([10**9, 0, 10**6])
    for noise in NOISES:
        noisy = noise.add_noise(counts, SeededRandomness(SEED))
        assert np.abs(noisy - counts).max() < 60 * noise.deviation
        several = noise.add_noise(np.zeros(200, np.int64), SeededRandomness(SEED))
        assert len(set(several.tolist())) > 2
        assert noise.add_noise(np.zeros(0, np.int64), SeededRandomness(SEED)).tolist() == []


@pytest.mark.parametrize(
    "noise",
    [
        *NOISES,
        LaplaceCounts(top=1, epsilon=F(100)),
        LaplaceCounts(top=1, epsilon=F(1)),
        *(GaussianCounts(top=1, variance=variance) for variance in (2, 3, 999, 10**6)),
    ],
    ids=str,
)
def test_the_interval_is_the_smallest_that_holds_ninety_five_in_a_hundred(noise: CountNoise) -> None:
    probabilities = law(noise)

    def held(reach: int) -> float:
        return math.fsum(chance for value, chance in probabilities.items() if abs(value) <= reach)

    assert held(noise.half_width) >= 0.95 - 1e-12
    assert noise.half_width == 0 or held(noise.half_width - 1) < 0.95
    variance = math.fsum(chance * value**2 for value, chance in probabilities.items())
    assert noise.deviation == pytest.approx(math.sqrt(variance), rel=1e-6)


def test_hardly_any_noise_has_a_law_too() -> None:
    noise = LaplaceCounts(top=1, epsilon=F(5000))
    assert (noise.half_width, noise.deviation) == (0, 0.0)


def test_the_widest_intervals_follow_the_midpoint_rule() -> None:
    """The two ways of working it out meet where the one takes over."""
    summed, ruled = GaussianCounts(top=1, variance=10**10), GaussianCounts(top=1, variance=10**10 + 1)
    assert 0 <= ruled.half_width - summed.half_width <= 1
    for variance in range(10**10 + 1, 10**10 + 10**6, 250_000):
        reach = GaussianCounts(top=1, variance=variance).half_width
        beyond, further = (log_discrete_gaussian_survival(reach + step, float(variance)) for step in (0, 1))
        assert further <= math.log(0.025) < beyond
    assert GaussianCounts(top=1, variance=10**20).half_width == pytest.approx(1.959963984540054e10, rel=1e-8)
    assert GaussianCounts(top=1, variance=10**20).half_width >= 1.959963984540054e10 - 0.5


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_intervals_cover(noise: CountNoise) -> None:
    """Intervals cover as often as the law says. A half width that is too small by one is noticed."""
    drawn = np.abs(noise.add_noise(np.zeros(40_000, np.int64), SeededRandomness(SEED + 1)))
    exact = math.fsum(chance for value, chance in law(noise).items() if abs(value) <= noise.half_width)
    covered = int(np.sum(drawn <= noise.half_width))
    assert binomtest(covered, len(drawn), exact).pvalue > FALSE_ALARM
    narrower = int(np.sum(drawn <= noise.half_width * 0.7))
    assert binomtest(narrower, len(drawn), exact).pvalue < FALSE_ALARM


# Selection and counts together, exactly.


def shifted(noise: CountNoise, steps: Sequence[int]) -> tuple[Floats, Floats]:
    """The laws of the noisy counts on either side where these move by so much, outcomes of one ratio together."""
    reach = math.ceil(12 * noise.deviation) + 60 * isinstance(noise, LaplaceCounts) + 3
    one, other = np.ones(1), np.ones(1)
    for step in steps:
        values = np.arange(-reach, reach + 1)
        here, there = mass(noise, values), mass(noise, values - step)
        one, other = np.outer(one, here).ravel(), np.outer(other, there).ravel()
        ratio, place = np.unique(np.round(np.log(one) - np.log(other), 9), return_inverse=True)
        one, other = (np.bincount(place, side, len(ratio)) for side in (one, other))
    return one, other


def joint_delta(
    mechanism: Mechanism, noise: CountNoise, groups: Sequence[Group], epsilon: float, *, each: int = 1
) -> float:
    """The least delta at epsilon, of either direction, for all there is: the list picked, and its noisy counts.

    Each picked itemset has this many counts: with its subsets, all of which the unit holds if it holds the itemset.
    """
    here, there = (
        law_over_groups(mechanism, [(side, group.number) for side, group in zip(counts, groups, strict=True)],
                        declared=True)
        for counts in zip(*((group.here, group.there) for group in groups), strict=True)
    )  # fmt: skip
    forth = back = 0.0
    for picked in here.keys() | there.keys():
        steps = [groups[place].there - groups[place].here for place in picked]
        one, other = shifted(noise, [step for step in steps if step] * each)
        p, q = here.get(picked, 0.0) * one, there.get(picked, 0.0) * other
        forth += float(np.sum(np.maximum(0, p - math.exp(epsilon) * q)))
        back += float(np.sum(np.maximum(0, q - math.exp(epsilon) * p)))
    return max(forth, back)


def hard_pairs(sensitivity: int, *, replaced: bool) -> list[list[Group]]:
    """One unit is in all, some or none of the itemsets at the top, with level ones and many that do not occur."""
    d = sensitivity
    pairs = [
        [Group(60, 60 + d), Group(60, 60 + d), Group(60, 60 + d), Group(0, 0, 400)],
        [Group(12, 12 + d), Group(12, 12 + d), Group(12, 12), Group(0, 0, 30)],
        [Group(9, 9 + d), Group(9, 9), Group(8, 8), Group(0, 0, 4)],
        [Group(0, d), Group(0, d), Group(0, 0, 40)],
        [Group(0, d, 3), Group(0, 0, 2)],
    ]
    if replaced:
        pairs += [
            [Group(12, 12 + d), Group(12 + d, 12), Group(12, 12), Group(0, 0, 30)],
            [Group(d, 0), Group(0, d), Group(d, 0), Group(0, 0, 40)],
        ]
    return pairs


def worst(
    mechanism: Mechanism, noise: CountNoise, epsilon: Fraction, *, replaced: bool = False, each: int = 1
) -> float:
    pairs = hard_pairs(noise.sensitivity, replaced=replaced)
    return max(joint_delta(mechanism, noise, pair, float(epsilon), each=each) for pair in pairs)


def calibrated(
    calibrate: Callable[[Request], CalibratedMechanism] = exponential.calibrate,
    *,
    top: int = 2,
    epsilon: Fraction = EPSILON,
    delta: Fraction = PURE,
    sensitivity: int = 1,
    share: Fraction = SHARE,
    size: int = 1,
    each: int = 1,
) -> tuple[CalibratedMechanism, CountNoise]:
    request = Request(
        top=top, epsilon=epsilon, delta=delta, sensitivity=sensitivity, universe_size=403, most_new=2, sizes=(size,)
    )
    return calibrate_with_counts(calibrate, request, share=share, each=each)


def small(mechanism: Mechanism) -> Mechanism:
    """The mechanism with public caps so low that its law over few itemsets can be computed."""
    if isinstance(mechanism, lmm.LargeMargin):
        fallback = replace(mechanism.fallback, candidates=3) if mechanism.fallback else None
        return replace(mechanism, grid_limit=4, fallback=fallback)
    if isinstance(mechanism, limited_domain.LimitedDomain):
        return replace(mechanism, candidates=3)
    return mechanism


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize(
    ("calibrate", "top", "delta"),
    [
        (exponential.calibrate, 2, F(0)),
        (exponential.calibrate, 3, F(1, 50)),
        (lmm.calibrate, 2, F(1, 100)),
        (limited_domain.calibrate, 2, F(1, 20)),
        (stable_max.calibrate, 2, F(1, 20)),
    ],
    ids=["exponential, pure", "exponential", "lmm", "limited domain", "stable max"],
)
def test_selection_and_counts_keep_the_claim_together(
    calibrate: Callable[[Request], CalibratedMechanism], top: int, delta: Fraction, sensitivity: int
) -> None:
    planned, noise = calibrated(calibrate, top=top, delta=delta, sensitivity=sensitivity)
    claim = planned.guarantee
    assert (claim.epsilon <= 1, claim.delta <= delta) == (True, True)
    assert noise.top == top
    mechanism = small(planned.mechanism)
    assert worst(mechanism, noise, claim.epsilon) <= float(claim.delta) + NUMERICAL_ERROR


def test_noise_for_one_itemset_instead_of_all_breaks_the_claim() -> None:
    planned, noise = calibrated()
    twin = replace(noise, top=1)
    mechanism = planned.mechanism
    assert worst(mechanism, noise, planned.guarantee.epsilon) <= NUMERICAL_ERROR
    assert worst(mechanism, twin, planned.guarantee.epsilon) > 1e-4


def test_gaussian_noise_for_one_itemset_instead_of_all_breaks_the_claim() -> None:
    def counts_alone(request: Request) -> CalibratedMechanism:
        """Nearly all of the budget is the counts'."""
        return exponential.calibrate(request)

    planned, noise = calibrated(counts_alone, top=3, delta=F(1, 100), share=F(9, 10))
    assert isinstance(noise, GaussianCounts)
    mechanism = planned.mechanism
    assert worst(mechanism, noise, planned.guarantee.epsilon) <= 0.01
    # A third of the variance is what one itemset would need.
    twin = replace(noise, variance=max(1, noise.variance // 3))
    assert worst(mechanism, twin, planned.guarantee.epsilon) > 0.01


@pytest.mark.parametrize(
    ("top", "delta", "each", "sensitivity"),
    [(2, F(0), 3, 1), (1, F(0), 7, 2), (1, F(1, 50), 3, 1), (2, F(1, 50), 3, 2)],
)
def test_counts_of_all_subsets_keep_the_claim_and_noise_for_the_itemsets_alone_breaks_it(
    top: int, delta: Fraction, each: int, sensitivity: int
) -> None:
    """A pair has three subsets that are not empty, a triple seven. A unit that holds it is in all their counts."""
    planned, noise = calibrated(top=top, delta=delta, each=each, share=F(9, 10), sensitivity=sensitivity)
    claim = planned.guarantee
    assert noise.top == each * top
    mechanism = planned.mechanism
    assert worst(mechanism, noise, claim.epsilon, each=each) <= float(claim.delta) + NUMERICAL_ERROR
    _, twin = calibrated(top=top, delta=delta, share=F(9, 10), sensitivity=sensitivity)
    assert worst(mechanism, twin, claim.epsilon, each=each) > float(claim.delta) + 1e-4


def test_a_unit_of_several_transactions_needs_its_own_noise() -> None:
    planned, noise = calibrated(sensitivity=2)
    forgotten = LaplaceCounts(top=noise.top, epsilon=noise.loss.epsilon)
    pairs = hard_pairs(2, replaced=False)
    mechanism, epsilon = planned.mechanism, float(planned.guarantee.epsilon)
    assert max(joint_delta(mechanism, forgotten, pair, epsilon) for pair in pairs) > 1e-4


def test_counts_hold_for_replace_as_they_stand() -> None:
    """With a selection that holds for it too; one that does not is halved in the plan, and the counts with it."""
    planned, noise = calibrated(lambda request: exponential.calibrate(request, general=True))
    mechanism = planned.mechanism
    assert worst(mechanism, noise, planned.guarantee.epsilon, replaced=True) <= NUMERICAL_ERROR


# The least noise that fits.


def proved(planned: CalibratedMechanism, noise: CountNoise, *, delta: Fraction) -> Guarantee | None:
    """What fits beside the selection, however much of delta that was granted."""
    mechanism = planned.mechanism
    alone = Guarantee(epsilon=F(2), delta=F(1), composition="basic")
    part = Part(losses=mechanism.losses, failures=mechanism.failures, guarantee=alone)
    return prove_together([part], [noise.loss], epsilon=F(1), delta=delta)


def items_first_openly(request: Request) -> CalibratedMechanism:
    """Without a public list of items, so that a name may be revealed wrongly."""
    return items_first.calibrate(replace(request, universe_size=None))


@pytest.mark.parametrize(
    ("calibrate", "top", "law"),
    [
        (exponential.calibrate, 20, GaussianCounts),
        (limited_domain.calibrate, 5, GaussianCounts),
        (lmm.calibrate, 30, GaussianCounts),
        (items_first_openly, 10, GaussianCounts),
        (items_first_openly, 1, LaplaceCounts),
        (limited_domain.calibrate, 1, LaplaceCounts),
    ],
)
def test_no_less_noise_fits(calibrate: Callable[[Request], CalibratedMechanism], top: int, law: type) -> None:
    delta = F(1, 10**6)
    planned, noise = calibrated(calibrate, top=top, delta=delta, size=2)
    assert isinstance(noise, law)
    assert noise.sensitivity == 1
    if isinstance(noise, GaussianCounts):
        assert proved(planned, noise, delta=delta) == planned.guarantee
        # Optimal composition takes long, and is not searched for to the last digit.
        step = noise.variance // 50 if planned.guarantee.composition == "optimal" else 1
        less = replace(noise, variance=noise.variance - step)
        assert proved(planned, less, delta=delta) is None
    elif not are_one_sided(planned.mechanism.failures):
        assert float(noise.epsilon) == pytest.approx(0.3, rel=1e-7)
        assert planned.guarantee.epsilon <= 1


@pytest.mark.parametrize(("epsilon", "share", "top"), [(F(3), F(7, 10), 10), (F(1), F(3, 10), 30)])
def test_a_selection_leaves_the_counts_some_of_delta(epsilon: Fraction, share: Fraction, top: int) -> None:
    """Its failure event takes half of delta, or half of that over its own 1 + e^eps_1: where counts gain by it."""
    delta = F(1, 10**6)
    planned, noise = calibrated(limited_domain.calibrate, top=top, epsilon=epsilon, delta=delta, share=share, size=2)
    assert isinstance(noise, GaussianCounts)
    taken = float(failure_probability(planned.mechanism.failures) * (1 + exp_up(epsilon)) / delta)
    alone = 1 + math.exp(epsilon * (1 - share))
    assert taken == pytest.approx(1 / 2 if epsilon == 3 else 1 / 4 / alone, rel=1e-7)


@pytest.mark.parametrize("half_width", [0, 1, 2, 30, 10**6, 10**12])
def test_slightly_wider_laplace_noise_is_known_without_a_search(half_width: int) -> None:
    for top, sensitivity in ((1, 1), (30, 1), (7, 3)):
        epsilon = LaplaceCounts.epsilon_beyond(half_width, top * sensitivity)
        wider = LaplaceCounts(top=top, epsilon=epsilon, sensitivity=sensitivity)
        assert half_width < wider.half_width <= half_width * (1 + 1e-8) + 2


def test_the_smaller_error_is_taken() -> None:
    for top in (1, 2, 3, 5, 8, 30):
        planned, noise = calibrated(stable_max.calibrate, top=top, delta=F(1, 10**6))
        # Laplace gets 0.3 of epsilon; Gaussian the same with half or more of delta.
        laplace = LaplaceCounts(top=top, epsilon=F(3, 10))
        assert noise.half_width <= laplace.half_width
        assert isinstance(noise, LaplaceCounts) == (top < 8)
        if isinstance(noise, GaussianCounts):
            assert planned.guarantee.composition.endswith("basic")


def test_counts_may_spend_their_share_of_epsilon() -> None:
    for share in (F(1, 10), F(1, 2), F(9, 10)):
        planned, noise = calibrated(share=share)
        assert isinstance(noise, LaplaceCounts)
        assert noise.epsilon <= share
        assert float(noise.epsilon) == pytest.approx(float(share), rel=1e-8)
        assert sum(loss.epsilon for loss in planned.mechanism.losses) == 1 - share
        assert planned.guarantee.epsilon <= 1
        assert planned.guarantee.delta == 0


def test_what_the_selection_leaves_unspent_is_the_counts() -> None:
    alone = Guarantee(epsilon=F(1, 5), delta=F(0), composition="basic")
    part = Part(losses=(PureDP(F(1, 5)),), failures=(), guarantee=alone)
    noise, guarantee = least_noise([part], epsilon=F(1), delta=F(0), top=2, sensitivity=3)
    assert isinstance(noise, LaplaceCounts)
    assert float(noise.epsilon) == pytest.approx(0.8, rel=1e-8)
    assert (noise.top, noise.sensitivity) == (2, 3)
    assert guarantee.epsilon <= 1


def test_wide_noise_is_still_the_smaller_one() -> None:
    """Its half width is some millions; a variance that large is not yet of no use."""
    nothing = Guarantee(epsilon=F(0), delta=F(0), composition="basic")
    part = Part(losses=(), failures=(), guarantee=nothing)
    noise, _ = least_noise([part], epsilon=F(1, 10**5), delta=F(1, 10**6), top=1000, sensitivity=1)
    assert isinstance(noise, GaussianCounts)
    assert noise.variance > 4 * 10**12


def test_counts_that_would_say_nothing_are_refused() -> None:
    with pytest.raises(BudgetError, match="nothing but noise"):
        calibrated(top=400, epsilon=F(1, 10**6), sensitivity=10**6)
    with pytest.raises(BudgetError, match="nothing but noise"):
        calibrated(top=400, epsilon=F(1, 10**6), delta=F(1, 10**6), sensitivity=10**6)
    spent = Guarantee(epsilon=F(1), delta=F(0), composition="basic")
    part = Part(losses=(PureDP(F(1)),), failures=(), guarantee=spent)
    with pytest.raises(BudgetError, match="nothing but noise"):
        least_noise([part], epsilon=F(1), delta=F(0), top=1, sensitivity=1)
