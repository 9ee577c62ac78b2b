"""Every number that a request becomes: losses, noise, exponents, thresholds, and how deep a mechanism looks."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private.accounting.calibration import composed_epsilon
from fim_private.accounting.gaussian_composition import pick_rho
from fim_private.accounting.optimal_composition import optimal_delta
from fim_private.accounting.rounding import exp_up
from fim_private.mechanisms.asked_itemsets import MOST_CANDIDATES
from fim_private.mechanisms.choosing import Choosing
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.gap_thresholds import doubling_grid, thresholds
from fim_private.mechanisms.item_prior import ItemPrior
from fim_private.mechanisms.items_first import ItemsFirst, calibrate
from fim_private.mechanisms.items_first_tuning import Tuning
from fim_private.mechanisms.itemset_picks import (
    are_blind,
    candidates_per_decoy,
    deviation_of_pairs,
    favour_of,
    weights_of,
    with_decoys,
)
from fim_private.mechanisms.joint_exponential import JointExponential
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.lmm_repeat import RepeatedLargeMargin
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.noisy_maxima import NoisyMaxima
from fim_private.mechanisms.protocol import COUNTS, PEEL, Costed, Request
from fim_private.mechanisms.registry import REGISTRY
from fim_private.mechanisms.sparse_vector import search
from fim_private.mechanisms.stable_max import StableMax
from fim_private.mechanisms.truncated_frequency import TruncatedFrequency
from fim_private.privacy import ApproxDP, BoundedRange, PureDP, failure_probability
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_laplace import log_difference_survival, log_survival
from fim_private.randomness.noisy_maximum import Noise
from tests.mechanisms.test_registry import MARKED
from tests.sampling import SEED

F = Fraction
REQUEST = Request(top=3, epsilon=F(1), delta=F(1, 10**6), universe_size=10_000, most_new=45, sizes=(2,))
HALF_A_BILLIONTH = F(1, 2 * 10**9)
"""Half of what thresholds are held to beyond their bounds: with it to spare they must still not be lowered."""


def asked(name: str, **changes: object) -> Costed:
    return REGISTRY[name].calibrate(replace(REQUEST, **changes)).mechanism


def test_noise_and_exponents_are_those_of_the_unit() -> None:
    """Delta = 4: noise four times as wide, exponents a quarter of what is paid for, in each part of a mechanism."""
    lmm = asked("lmm", sensitivity=4)
    assert lmm.scale == 8 / lmm.search_epsilon == 8 * 5
    assert lmm.rate == lmm.pick_epsilon / 4 == lmm.fallback.rate
    assert lmm.tests == tuple(
        zip(
            doubling_grid(3, 3072),
            thresholds(
                top=3,
                grid=doubling_grid(3, 3072),
                search_epsilon=lmm.search_epsilon,
                pick_epsilon=lmm.pick_epsilon,
                certificate_delta=lmm.certificate_delta,
                sensitivity=4,
            ),
            strict=True,
        )
    )
    repeated = asked("lmm-repeat", sensitivity=4)
    assert (repeated.round.top, repeated.round.scale) == (1, 8 / repeated.search_epsilon)
    assert repeated.round.rate == repeated.pick_epsilon / 4
    paper = asked("lmm-paper", sensitivity=4)
    assert paper.rate == paper.alpha / 24
    domain = asked("limited-domain", sensitivity=4)
    assert domain.rate == domain.pick_epsilon / 4
    stable = asked("stable-max", sensitivity=4)
    assert stable.scale == 4 / stable.round_epsilon
    choosing = asked("choosing", sensitivity=4)
    assert (choosing.scale, choosing.rate) == (4 / choosing.comparison_epsilon, choosing.pick_epsilon / 4)
    first = asked("items-first", sensitivity=4, select=PEEL)
    pick = first.usual.pick_epsilon
    assert first.picks(pick, 9).rate == pick / 4
    assert (first.picks(pick, 9).top, first.picks(pick, 9).universe_size) == (3, 9)
    counted = asked("items-first", sensitivity=4, select=COUNTS, universe_size=None)
    # A unit's transactions are one set where items are counted and certified, and four sets in between.
    steps = counted.usual
    assert (counted.items.measurement.sensitivity, steps.certificate.sensitivity) == (1, 1)
    assert (steps.pairs.sensitivity, steps.itemsets.sensitivity) == (4, 4)


WIDE = ("-textbook", "-paper", "joint-exponential")
"""Forms whose proof needs the textbook's exponent or noise."""


@pytest.mark.parametrize("name", [name for name in MARKED if "needs_universe" in MARKED[name]])
def test_only_these_forms_have_the_textbook_s_exponent_and_noise(name: str) -> None:
    mechanism = asked(name, sensitivity=4)
    assert isinstance(mechanism, Exponential | NoisyMaxima | TruncatedFrequency | JointExponential)
    assert mechanism.scale == (8 if name.endswith(WIDE) else 4) / mechanism.pick_epsilon
    if isinstance(mechanism, NoisyMaxima):
        assert mechanism.gaps == name.startswith("report-noisy-max")
    else:
        assert mechanism.rate == 1 / mechanism.scale
    assert failure_probability(mechanism.failures) == 0


@pytest.mark.parametrize("name", ["permute-and-flip", "report-noisy-max", "max-of-laplaces"])
def test_later_noisy_maxima_get_more_where_epsilons_are_added_up(name: str) -> None:
    """Optimal composition, which many picks need, is of equal ones. The textbook's are equal too."""
    few, many = asked(name, top=5), asked(name, top=60)
    assert [loss.epsilon for loss in few.losses] == [F(share, 50) * F(1) for share in (8, 9, 10, 11, 12)]
    assert sum(loss.epsilon for loss in few.losses) == 1
    assert len({loss.epsilon for loss in many.losses}) == 1
    assert sum(loss.epsilon for loss in many.losses) > 1
    if f"{name}-textbook" in REGISTRY:
        assert len({loss.epsilon for loss in asked(f"{name}-textbook", top=5).losses}) == 1


def test_published_truncated_frequencies_add_up_their_epsilons() -> None:
    """Whatever delta is. One pick of a list costs the same in both."""
    published, best = asked("truncated-frequency-paper", top=50), asked("truncated-frequency", top=50)
    assert published.losses == (BoundedRange(F(1, 50)),) * 50
    assert best.pick_epsilon > 3 * published.pick_epsilon
    # (4 k / epsilon) (ln(k/rho) + ln U), where the paper's epsilon is twice that of the picks.
    assert published.gamma == math.ceil(4 * 50 / 2 * (math.log(50 / 0.01) + math.log(10_000)))
    assert published.tipping_leads == (published.gamma,)


def test_noise_is_never_left_out() -> None:
    """Noise is drawn even where the budget is huge."""
    measurement = Measurement.costing(1e30, full=1, sensitivity=1)
    assert measurement.variance == 4
    assert measurement.loss.gaussian.rho < 1e30


@pytest.mark.parametrize(("full", "resolution"), [(1, 1), (3, 4), (12, 64), (24, 64), (4095, 8), (4096, 16)])
def test_weights_are_rounded_down_exactly_also_in_large_tables(full: int, resolution: int) -> None:
    square = resolution**2 * full
    weights = Measurement(full=full, resolution=resolution, variance=5).weights
    assert len(weights) == square + 2
    held = np.unique(
        np.append(np.arange(1, 3_000), [square // root**2 + more for root in range(1, 65) for more in (0, 1)])
    )
    for number in held[(held > 0) & (held < len(weights))].tolist():
        assert weights[number] == min(resolution, math.isqrt(square // number))
    assert (weights[0], weights[-1]) == (resolution, 0)


def test_weights_are_shared_and_cannot_be_changed() -> None:
    weights = Measurement(full=3, resolution=4, variance=5).weights
    assert weights is Measurement(full=3, resolution=4, variance=9).weights
    with pytest.raises(ValueError, match="read-only"):
        weights[0] = 1


def test_losses_are_counted_once_for_each_step() -> None:
    lmm, repeated = asked("lmm"), asked("lmm-repeat")
    assert lmm.losses == (PureDP(lmm.search_epsilon), *[BoundedRange(lmm.pick_epsilon)] * 3)
    assert [line.times for line in lmm.spending] == [1, 3]
    assert repeated.losses == (PureDP(repeated.search_epsilon), BoundedRange(repeated.pick_epsilon)) * 3
    assert repeated.search_epsilon == repeated.pick_epsilon
    choosing = asked("choosing")
    assert choosing.comparison_epsilon == choosing.pick_epsilon  # half of a round's epsilon each
    assert choosing.losses == (ApproxDP(2 * choosing.pick_epsilon, choosing.round_delta),) * 3
    for name in ("choosing", "lmm-paper", "stable-max"):
        assert len(asked(name).losses) == 3
        assert asked(name).failures == ()


@pytest.mark.parametrize("name", ["lmm", "lmm-no-fallback", "lmm-repeat", "limited-domain"])
def test_half_of_delta_pays_for_the_event_that_the_losses_do_not_cover(name: str) -> None:
    mechanism = asked(name, top=40)
    share = F(1, 2 * 10**6) / (1 + exp_up(F(1)))
    assert float(failure_probability(mechanism.failures)) == pytest.approx(float(share), rel=1e-8)
    epsilon, theorem = composed_epsilon(mechanism.losses, 5e-7)
    assert epsilon <= 1
    # Optimal composition takes long, and is not searched for to the last digit.
    assert epsilon == pytest.approx(1, rel=2e-3 if theorem == "optimal" else 1e-6)
    match mechanism:
        case LargeMargin(fallback=None):
            assert mechanism.certificate_delta == failure_probability(mechanism.failures)
        case LargeMargin(fallback=LimitedDomain(stop_delta=half)):
            assert mechanism.certificate_delta == half == failure_probability(mechanism.failures) / 2
        case RepeatedLargeMargin():
            assert mechanism.certificate_delta == failure_probability(mechanism.failures) / 40


def test_without_such_an_event_all_of_delta_pays_for_the_composition() -> None:
    """50 picks at (1, 5e-7), of docs/mathematics.md#worked-figures; of pure losses, by optimal composition."""
    exponential = asked("exponential", top=50, delta=F(5, 10**7))
    # Picks that rise by a half cost 2 % more than equal ones. Optimal composition of fifty gains a hundredth.
    assert 1.01 < float(exponential.pick_epsilon) / (0.0639 / math.sqrt(1.02)) < 1.02
    truncated = asked("truncated-frequency", top=50, delta=F(5, 10**7))
    assert 1.01 < float(truncated.pick_epsilon) / 0.0639 < 1.02
    noisy = asked("report-noisy-max", top=50, delta=F(5, 10**7))
    assert optimal_delta(1.0, float(noisy.pick_epsilon), 0.0, 50) == pytest.approx(5e-7, rel=1e-6)


@pytest.mark.parametrize("name", ["choosing", "stable-max", "lmm-paper"])
def test_half_of_delta_is_shared_out_between_rounds(name: str) -> None:
    (loss,) = set(asked(name, top=50).losses)
    assert isinstance(loss, ApproxDP)
    assert loss.delta == F(1, 10**8)
    assert optimal_delta(1.0, float(loss.epsilon), 1e-8, 50) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("lmm", 2 * 1024 + 1),
        ("lmm-no-fallback", 2 * 1024 + 1),
        ("lmm-repeat", 1024 + 1 + 2),
        ("lmm-paper", 10_000 + 1 + 2),
        ("limited-domain", 2 * 1000 + 1),
        ("stable-max", 2 + 1),
    ],
)
def test_a_mechanism_sees_as_far_down_as_it_looks(name: str, depth: int) -> None:
    """What lies deeper is not counted, and a profile that is cut off complains if it is looked at further down."""
    mechanism = asked(name, top=2)
    assert mechanism.depth == depth
    for levels, multiplicities in (([9], [depth]), ([10**6, 10**5, 9], [1, 1, depth - 2])):
        cut = CountProfile(levels=levels, multiplicities=multiplicities, complete=False)
        assert len(mechanism.select(cut, SeededRandomness(SEED))) <= 2


def test_a_round_looks_at_the_itemsets_that_are_left() -> None:
    """A declared universe of two itemsets: the third round of three finds nothing, whoever searches."""
    profile = CountProfile.of([900, 800], zeros=0)
    for name in ("lmm-paper", "lmm-repeat", "stable-max"):
        ranks = asked(name, epsilon=F(50)).select(profile, SeededRandomness(SEED))
        assert sorted(ranks) == [0, 1]


def test_what_meets_a_threshold_exactly_passes_it() -> None:
    """With noise of hardly any width; as published, the threshold has to be exceeded."""
    randomness = SeededRandomness(SEED)
    narrow = F(1, 1000)
    for excesses, expected in (([0], 0), ([-1], None), ([-1, 0], 1)):
        found = search(excesses, threshold_scale=narrow, query_scale=narrow, randomness=randomness)
        assert found == expected

    stable = StableMax(top=1, round_epsilon=F(1000), round_delta=F(1, 100))
    choosing = Choosing(top=1, comparison_epsilon=F(1000), pick_epsilon=F(1), round_delta=F(1, 100), most_new=9)
    margin = LargeMargin(top=1, search_epsilon=F(2000), pick_epsilon=F(9), certificate_delta=F(1, 100), grid_limit=2)
    paper = PublishedLargeMargin(top=1, alpha=F(50_000), selection_delta=F(1, 100), max_candidates=1)
    for mechanism, least in (
        (stable, stable.threshold),
        (choosing, choosing.threshold),
        (margin, margin.tests[0][1]),
        (paper, paper.threshold(1) + 1),
    ):
        for count in (least, least - 1):
            profile = CountProfile.of([count])
            assert mechanism.select(profile, randomness) == ((0,) if count == least else ())


def test_as_published_a_search_ends_with_the_universe_or_at_its_cap() -> None:
    """The whole of a small declared universe needs no certificate; a larger one, and an open one, do."""
    paper = PublishedLargeMargin(top=1, alpha=F(1), selection_delta=F(1, 100), max_candidates=4)
    for zeros, tested, whole in ((0, 2, 3), (1, 3, 4), (2, 4, None), (10**9, 4, None), (None, 4, None)):
        profile = CountProfile.of([9, 8, 7], zeros=zeros)
        assert len(list(paper._excesses(profile))) == tested
        assert paper._stop(None, profile) == whole
    assert list(paper._excesses(CountProfile.of([9], zeros=0))) == []
    assert list(paper._excesses(CountProfile.of([], zeros=0))) == []
    # An itemset that does not occur is named where the universe is declared, and ends the list where it is open.
    flat = replace(paper, alpha=F(10**6), max_candidates=1)
    assert flat.select(CountProfile.of([], zeros=1), SeededRandomness(SEED)) == (0,)
    assert flat.select(CountProfile.of([]), SeededRandomness(SEED)) == ()


def test_a_limited_domain_names_what_does_not_occur_in_a_declared_universe_alone() -> None:
    """With a stop symbol that is as likely as all the candidates together."""
    domain = LimitedDomain(top=1, candidates=10, pick_epsilon=F(1, 100), stop_delta=F(1))
    randomness = SeededRandomness(SEED)
    for zeros, lists in ((10, {0, 1}), (None, {0})):
        profile = CountProfile.of([], zeros=zeros)
        assert {len(domain.select(profile, randomness)) for _ in range(100)} == lists


def test_what_is_not_asked_for_is_not_there() -> None:
    repeated = RepeatedLargeMargin(top=2, search_epsilon=F(1), pick_epsilon=F(1), certificate_delta=F(1, 100))
    assert (repeated.round.sensitivity, repeated.round.grid_limit) == (1, 1024)
    assert Request(top=1, epsilon=F(1), delta=F(0)).sizes == (1,)
    search_epsilon = asked("lmm", epsilon=F(2)).search_epsilon
    assert search_epsilon == F(2, 5)
    race = NoisyMaxima(top=2, pick_epsilon=F(1), universe_size=3, noise=Noise.EXPONENTIAL)
    assert not race.gaps
    ranks, leads = race.select_with_gaps(CountProfile.of([900, 500, 100], zeros=0), SeededRandomness(SEED))
    assert ranks == (0, 1)
    assert [round(lead or 0, -2) for lead in leads] == [400, 400]


# Thresholds are held to a billionth less than they may use, so that no rounding error can lower them.


def just_met(probability: Callable[[int], float], threshold: int) -> tuple[Fraction, Fraction]:
    """Deltas that this threshold meets: by a hair, so that the next must be taken; and with enough to spare."""
    met = F(probability(threshold))
    return met * (1 + HALF_A_BILLIONTH), met * (1 + 3 * HALF_A_BILLIONTH)


def test_margins_are_rounded_away_from_danger() -> None:
    def chosen(delta: Fraction) -> int:
        (threshold,) = thresholds(
            top=1, grid=[1], search_epsilon=F(1, 5), pick_epsilon=F(1, 2), certificate_delta=delta, sensitivity=3
        )
        return threshold

    hair, enough = just_met(lambda threshold: math.exp(log_difference_survival(threshold - 3, 30.0)), 250)
    assert (chosen(hair), chosen(enough)) == (251, 250)


def test_choosing_s_threshold_is_rounded_away_from_danger() -> None:
    def chosen(delta: Fraction) -> int:
        return Choosing(top=1, comparison_epsilon=F(1, 8), pick_epsilon=F(9), round_delta=delta, most_new=1).threshold

    hair, enough = just_met(lambda threshold: math.exp(log_survival(threshold - 1, 8.0)), 60)
    assert (chosen(hair), chosen(enough)) == (61, 60)


def test_stable_max_s_threshold_is_rounded_away_from_danger() -> None:
    def chosen(spare: float) -> int:
        delta = F(math.exp(-20 * (1 - spare) / 2) / (1 + math.exp(-1 / 2)))  # P(DL(2) >= 20 (1 - spare))
        return StableMax(top=1, round_epsilon=F(1, 2), round_delta=delta).threshold

    assert (chosen(0.5e-9), chosen(1.5e-9)) == (22, 21)


def test_published_thresholds_are_rounded_away_from_danger() -> None:
    """Its first term alone is nearly a whole number."""

    def chosen(spare: float) -> int:
        delta = 1.5 * math.exp(-40 * (1 - spare) / 3)
        others = (6 * math.log(3 / delta), 12 * math.log(6 / delta), 6 * (1 + math.log(3 / delta)))
        threshold = PublishedLargeMargin(top=1, alpha=F(1), selection_delta=F(delta)).threshold(1)
        return threshold - sum(math.ceil(term) for term in others)

    assert (chosen(0.5e-9), chosen(1.5e-9)) == (41, 40)


def test_the_stop_symbol_is_rounded_upwards() -> None:
    domain = LimitedDomain(top=1, candidates=700, pick_epsilon=F(1, 3), stop_delta=F(1, 10**7), sensitivity=5)
    log = F(Decimal(7 * 10**9).ln(Context(prec=40)))
    assert 5 + 15 * log < domain.stop_lead < 5 + 15 * log * (1 + F(1, 10**12))


# Items first: what the defaults and the tuning become.


def first_of(tuning: Tuning | None = None, **changes: object) -> ItemsFirst:
    request = replace(REQUEST, **{"universe_size": None, **changes})
    mechanism = calibrate(request, tuning or Tuning()).mechanism
    assert isinstance(mechanism, ItemsFirst)
    return mechanism


def held(length: float) -> Lengths:
    return Lengths(np.full(1, float(length)), np.ones(1))


def steps_of(mechanism: ItemsFirst, length: float) -> LaterSteps:
    return mechanism.later(np.full(500, 1000.0), held(length), held(length))


def test_picks_are_made_where_they_are_few_or_units_hold_many_tokens() -> None:
    tuning = Tuning(always_peels=25, peels=0.5)
    assert steps_of(first_of(tuning, top=25), 2).pick_epsilon is not None
    assert steps_of(first_of(tuning, top=26), 2).itemsets is not None
    assert steps_of(first_of(tuning, top=26), 60).pick_epsilon is not None
    assert steps_of(first_of(tuning, top=26, select=PEEL), 2).pick_epsilon is not None
    assert steps_of(first_of(tuning, top=1, select=COUNTS), 60).itemsets is not None
    # With a large epsilon picks are exact enough for longer lists.
    assert steps_of(first_of(tuning, top=100, epsilon=F(4)), 2).pick_epsilon is not None
    assert steps_of(first_of(tuning, top=101, epsilon=F(4)), 2).itemsets is not None
    # Triples have a limit of their own. Larger itemsets have none.
    few = replace(tuning, always_peels_triples=10)
    for sizes, top, picked in [((3,), 10, True), ((3,), 11, False), ((4,), 10, False)]:
        steps = first_of(few, top=top, sizes=sizes).later(np.full(500, 50.0), held(2), held(2))
        assert (steps.pick_epsilon is not None) == picked, (sizes, top)
    # With a small one units must hold more for picks to be as exact as counts.
    small, usual = (first_of(tuning, top=26, epsilon=epsilon) for epsilon in (F(1, 8), F(1, 2)))
    assert [steps_of(small, length).itemsets is None for length in (9, 10)] == [False, True]
    assert [steps_of(usual, length).itemsets is None for length in (7, 8)] == [False, True]


def test_so_many_tokens_go_on_that_there_are_enough_itemsets_to_pick() -> None:
    mechanism = first_of(top=20)
    for supports in (200 / np.arange(1, 501) ** 0.5, np.linspace(250, 0.5, 500)):
        steps = mechanism.later(supports, held(4), held(4))
        assert steps.pick_epsilon is not None
        assert steps.certificate is not None
        assert math.comb(steps.tokens, 2) >= 30
        # Of a small shop few items are so frequent that picks tell them from nothing. Of a large one many are.
        few = np.count_nonzero(supports >= 8 / float(steps.pick_epsilon)) < 9
        assert few == (supports[100] < 50)
        if few:
            assert steps.tokens < 20
            assert steps.certificate.support_needed(0.05) < 1.1 * supports[8]


def least_picked(tuning: Tuning, **changes: object) -> int:
    """From which support of all tokens on itemsets are picked; every pair of tokens is then expected as often."""
    mechanism = first_of(tuning, **changes)
    assert mechanism.later(np.zeros(0), held(5), held(5)).itemsets is not None  # no tokens, so nothing to pick

    def picks(support: int) -> bool:
        return mechanism.later(np.full(500, float(support)), held(5), held(5)).pick_epsilon is not None

    found = bisect_left(range(8000), True, key=picks)
    assert [picks(found + more) for more in (-found // 2, -1, 0, found)] == [False, False, True, True]
    return found


@pytest.mark.parametrize("sizes", [(1, 2), (3,)])
def test_itemsets_are_picked_if_picks_can_tell_them_or_their_items_from_nothing(sizes: tuple[int, ...]) -> None:
    def least(top: int, epsilon: Fraction = Fraction(1)) -> int:
        tuning = Tuning(always_peels=1, always_peels_triples=1, peels_kth=0.5, peels_larger=0.5)
        return least_picked(tuning, sizes=sizes, top=top, epsilon=epsilon)

    assert 1.5 < least(40) / least(10) < 2.2  # about as the noise of a pick, that is as the square root of k
    assert 3 < least(10, epsilon=F(1, 4)) / least(10) < 5


def test_the_larger_itemsets_are_the_more_frequent_their_items_must_be_for_picks() -> None:
    tuning = Tuning(always_peels_triples=1, peels_larger=0.5)
    triples, fours = (least_picked(tuning, sizes=(size,), top=10) for size in (3, 4))
    assert fours == pytest.approx(2 * triples, rel=0.15)  # the rarer, the dearer is the test


def known_picked(
    support: float, items: float = 1000.0, length: float = 5, *, size: int, listed: bool = False, top: int = 40
) -> bool:
    """Whether itemsets are picked if the k-th is known to have this support, and all tokens have that of `items`."""
    universe = math.comb(500, size) if listed else None
    mechanism = replace(first_of(sizes=(size,), top=top, names=500, universe_size=universe), support=support)
    return mechanism.later(np.full(500, items), held(length), held(length)).pick_epsilon is not None


def least_known(*tokens: float, **changes: Any) -> int:
    """From which support of the k-th on itemsets are picked."""
    return bisect_left(range(5000), True, key=lambda support: known_picked(support, *tokens, **changes))


def test_where_the_support_of_the_kth_is_known_it_decides_whether_larger_itemsets_are_picked() -> None:
    usual = least_known(size=3)
    # With the same items, a rarer itemset has more rivals, and a longer list has weaker picks.
    assert 1.2 < least_known(4000.0, size=3) / usual < 1.7 < least_known(size=3, top=160) / usual < 2.0
    # A list leaves more for each pick. Without one, less is enough where long transactions weaken noisy counts.
    assert 0.9 < least_known(size=3, listed=True) / usual < 1
    assert 1.4 < usual / least_known(1000.0, 60, size=3) < 2
    assert least_known(size=3, listed=True) == least_known(1000.0, 60, size=3, listed=True)
    # However frequent the itemset, picks must also find its items.
    assert [known_picked(1e9, items, size=3) for items in (100.0, 200.0)] == [False, True]


def test_where_the_support_of_the_kth_is_known_it_decides_whether_pairs_are_picked() -> None:
    # Four times as many picks are half as exact, and four times as many have to be as exact as the counts.
    enough = least_known(size=2)
    assert least_known(size=2, top=160) / enough == pytest.approx(8, rel=0.1)

    def least_items(support: float) -> int:
        return bisect_left(range(1000), True, key=lambda items: known_picked(support, float(items), size=2))

    # However frequent the pair, picks must also find its items.
    assert 100 < least_items(1e9) < 200
    assert least_items(1.1 * enough) == least_items(1e9)


def test_the_support_of_the_last_itemset_that_is_asked_for_follows_from_the_items() -> None:
    """Four items in 60, 50, 40 and 10 of 100 transactions."""
    supports = np.array([60.0, 50.0, 40.0, 10.0])

    def last(sizes: tuple[int, ...], top: int) -> float:
        return first_of(sizes=sizes, top=top).asked.kth(supports, 100.0)

    assert [last((2,), top) for top in (1, 2, 3, 6, 7)] == pytest.approx([30, 24, 20, 4, 0])
    assert [last((1, 2), top) for top in (1, 3, 4, 10, 11)] == pytest.approx([60, 40, 30, 4, 0])
    assert last((1, 2, 3), 4) == pytest.approx(30)  # larger itemsets are made of pairs


def test_larger_itemsets_of_one_size_are_picked_without_counts_of_pairs() -> None:
    pairs, triples, both = (first_of(Tuning(), sizes=sizes, select=PEEL) for sizes in ((2,), (3,), (3, 4)))
    assert [mechanism.usual.pairs is None for mechanism in (pairs, triples, both)] == [True, True, False]
    assert [mechanism.usual.candidates for mechanism in (pairs, triples, both)] == [50_000, 1_000_000, 100_000]
    assert [mechanism.asked.picked_from_all for mechanism in (pairs, triples, both)] == [False, True, False]
    # A token that noise brought near 0 still has a weight.
    assert weights_of(np.array([60.4, 1.2, 0.001])) == [60, 1, 1]


def test_picks_from_all_itemsets_of_tokens_cost_what_picks_from_candidates_cost() -> None:
    """Units of three transactions move a count by three."""
    mechanism = replace(first_of(Tuning(), sizes=(3,), select=PEEL), sensitivity=3)
    from_all, usual = mechanism.picks_from_all(F(1, 50), 20), mechanism.picks(F(1, 50), math.comb(20, 3))
    assert (from_all.losses, from_all.rates) == (usual.losses, usual.rates)
    assert max(from_all.rates) < F(1, 50)


def test_the_larger_itemsets_are_the_larger_is_the_lead_of_picks_from_all() -> None:
    """A hundred likely tokens make 10^6 triples, and 10^10 itemsets of five."""

    def lead(size: int) -> int:
        universe = math.comb(5000, size)
        listed = first_of(sizes=(size,), top=10, select=PEEL, epsilon=F(5), names=5000, universe_size=universe)
        return listed.margins[0].counts

    assert lead(3) < lead(5) < lead(10)


def test_likely_pairs_are_picked_more_often() -> None:
    mechanism, expected = first_of(Tuning(prior=0.5), sizes=(2,), select=PEEL), np.array([6.0, 4.0, 2.0])
    assert favour_of(mechanism.asked, F(1, 50), expected, np.full(3, math.inf)).tolist() == [100, 50, 0]


def deviations(**changes: object) -> list[float]:
    """Three pairs of which 400, 100 and 1 are expected, if two are asked for."""
    asked = replace(first_of(Tuning(), sizes=(2,), top=2, select=PEEL).asked, **changes)
    found: list[float] = deviation_of_pairs(asked, np.log([400.0, 100.0, 1.0])).tolist()
    return found


def test_pairs_are_expected_to_be_as_dependent_as_the_support_of_the_kth_says() -> None:
    assert deviations() == pytest.approx([200, 50, 50])
    assert deviations(support=10.0) == pytest.approx([100, 25, 25])
    assert deviations(support=200.0) == pytest.approx([280, 70, 70])
    assert deviations(support=1000.0) == pytest.approx([400, 100, 100])
    assert deviations(by="leverage") == deviations(top=26) == [math.inf] * 3
    assert deviations(top=30, epsilon=2.0) == pytest.approx([200, 50, 0.5])
    assert len(deviation_of_pairs(first_of(sizes=(2,)).asked, np.zeros(0))) == 0


@pytest.mark.parametrize("size", [3, 4])
def test_picks_of_larger_itemsets_hold_the_most_frequent(size: int) -> None:
    mechanism = first_of(Tuning(rise=F(1, 4)), sizes=(size,), select=PEEL)
    picks = mechanism.picks_from_all(F(1, 50), 20)
    assert picks.universe_size == {3: 1_140, 4: 4_845}[size]
    assert picks.candidates == {3: 1_000_000, 4: 100_000}[size]
    assert (picks.top, picks.pick_epsilon, picks.rise) == (mechanism.top, F(1, 50), F(1, 4))


@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("sizes", [(1,), (2,), (3,), (2, 3)])
def test_what_is_left_is_measured_with_its_shares(sizes: tuple[int, ...], select: str) -> None:
    tuning = Tuning(
        pairs_share=0.25, picks_pairs_share=0.5, full_items=3, full_pairs=7, clear=0.0, rise=F(0), most_test=0.2
    )
    mechanism = first_of(tuning, sizes=sizes, select=select, epsilon=F(1, 2))
    steps = mechanism.usual
    assert mechanism.items.measurement.full == 3
    assert (steps.pairs is not None) == (sizes != (1,) if select == COUNTS else len(sizes) > 1)
    if steps.pairs is None:
        return
    assert steps.pairs.full == 7
    if steps.itemsets is not None:
        shares = steps.pairs.loss.gaussian.rho / steps.itemsets.loss.gaussian.rho
        assert float(shares) == pytest.approx(1 / 3, rel=1e-3)
    if steps.pick_epsilon is not None:
        after = float(steps.certificate.rho) if steps.certificate else 0.0
        picks = pick_rho(float(steps.pick_epsilon), mechanism.top, after)
        assert float(steps.pairs.loss.gaussian.rho) == pytest.approx(picks, rel=1e-3)


def test_the_items_share_is_larger_for_a_small_epsilon() -> None:
    tuning = Tuning(items_share=0.3)
    for epsilon, share in ((F(1, 100), 0.45), (F(1, 4), 0.3 * 2**0.3), (F(1), 0.3 * 0.5**0.3), (F(8), 0.2)):
        mechanism = first_of(tuning, epsilon=epsilon)
        assert float(mechanism.items.measurement.loss.rho / mechanism.budget) == pytest.approx(share, rel=1e-3)


def test_how_many_itemsets_are_looked_at() -> None:
    tuning = Tuning(joined=30, counted=6, few=90, pairs_stand_out=math.inf)
    looked_at = {
        (top, select): (mechanism.asked.joined, mechanism.usual.candidates)
        for top in (10, 200, 5000)
        for select in (PEEL, COUNTS)
        for mechanism in [first_of(tuning, top=top, select=select)]
    }
    assert looked_at == {
        (10, PEEL): (1000, 50_000),
        (200, PEEL): (6000, 80_000),
        (5000, PEEL): (100_000, 80_000),
        (10, COUNTS): (1000, 100),
        (200, COUNTS): (6000, 1200),
        (5000, COUNTS): (100_000, 30_000),
    }
    assert first_of(Tuning(counted=30), top=5000, select=COUNTS).usual.candidates == 100_000
    assert (few(first_of(tuning, top=10)), few(first_of(tuning, top=800))) == (90, 360)
    assert few(first_of(tuning, top=800, min_count=50, select=COUNTS)) == 120


def test_the_test_is_as_sharp_as_the_items_need_within_limits() -> None:
    """Items of large support pass a cheap test. The threshold is as small as the failure allows."""
    tuning = Tuning(least_share=0.05, most_test=0.4, cut_share=0.5)
    mechanism = first_of(tuning)
    first = 2 * mechanism.look.loss.gaussian.rho + mechanism.items.measurement.loss.gaussian.rho
    for supports, share in ((1e6, 0.05), (2.0, 0.4 * float(1 - first / mechanism.budget))):
        certificate = mechanism.later(np.full(500, supports), held(2), held(2)).certificate
        test = certificate.test.gaussian.rho
        assert certificate.losses == (BoundedRange(certificate.cut_epsilon or F(0)), certificate.test)
        assert float(test / mechanism.budget) == pytest.approx(share, rel=0.02)
        assert float((certificate.rho - test) / test) == pytest.approx(0.5, rel=0.02)
        assert certificate.passes(1) <= mechanism.test_delta < certificate.passes(2) * 1.5


@pytest.mark.parametrize(
    ("top", "sizes", "least_count", "wanted"),
    [
        (2, (1,), None, 50_000),
        (1, (2,), None, 50_000),
        (2, (2,), None, 30_000),
        (2, (3,), None, 30_000),
        (5, (1, 2), None, 25_000),
        (5, (1, 2), 40_000, 40_000),
    ],
)
def test_the_test_is_made_for_the_rarest_item_of_the_likeliest_itemsets(
    top: int, sizes: tuple[int, ...], least_count: int | None, wanted: float
) -> None:
    """Of 100,000 baskets 60,000 hold one item, 50,000 another: were items independent, 30,000 would hold both."""
    supports = np.array([60_000.0, 50_000.0, 30_000.0, 25_000.0, *[400.0] * 6])
    mechanism = first_of(Tuning(sure=0.5, least_share=0.0), sizes=sizes, top=top, min_count=least_count)
    baskets = Lengths(np.full(1, 3.0), np.full(1, 100_000.0))
    certificate = mechanism.later(supports, baskets, baskets).certificate
    assert certificate.support_needed(0.05) == pytest.approx(wanted / 2, rel=0.02)


def test_the_test_is_no_sharper_than_what_picks_reach() -> None:
    """Itemsets of items that picks cannot tell from nothing are no candidates, so only the others have to pass."""
    supports = np.full(500, 100.0)
    picked, counted = (
        first_of(Tuning(least_share=0.0), top=20, select=select).later(supports, held(5), held(5))
        for select in (PEEL, COUNTS)
    )
    assert picked.certificate.support_needed(0.05) > 1.5 * counted.certificate.support_needed(0.05)
    # Later picks get the largest share of what the test leaves, so what is reached falls short of this by little.
    reached = 8 / float(picked.pick_epsilon or 0)
    assert 0.7 * reached < picked.certificate.support_needed(0.05) < reached


def test_the_failure_costs_a_share_of_delta() -> None:
    assert first_of().test_delta == F(1, 4 * 10**6)


@pytest.mark.parametrize(("least", "sensitivity"), [(4000, 1), (4000, 2), (100, 1), (10**7, 1)])
def test_with_a_least_count_the_noise_is_a_twentieth_of_it(least: int, sensitivity: int) -> None:
    """Then transactions count in full for as many itemsets as that allows, between the usual number and 4,096."""
    itemsets = first_of(top=1000, select=COUNTS, min_count=least, sensitivity=sensitivity).usual.itemsets
    usual = first_of(top=1000, select=COUNTS, sensitivity=sensitivity).usual.itemsets
    assert usual is not None
    full = itemsets.full
    if least == 4000:
        assert usual.full < full < 4096
        assert itemsets.deviation == pytest.approx(least / 20, rel=0.5 / full + 1e-3)
    else:
        assert full == (usual.full if least == 100 else 4096)


@pytest.mark.parametrize("rho", [2e-9, 1e-5, 0.01, 3.0])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_the_finest_unit_for_which_noise_is_drawn_fast_but_none_that_is_too_coarse(
    rho: float, sensitivity: int
) -> None:
    measurement = Measurement.costing(rho, full=12, sensitivity=sensitivity)
    assert measurement.deviation == pytest.approx(sensitivity * math.sqrt(12 / (2 * rho)), rel=0.01)
    finer = measurement.variance * 4
    assert measurement.resolution == 64 or finer > 2**26
    # In units coarser than that, long transactions would count for nothing.
    assert measurement.resolution == 16 or measurement.variance <= 2**26
    assert math.log2(measurement.resolution).is_integer()


def test_trust_is_the_chance_to_pass_by_the_noisy_counts_of_the_items() -> None:
    steps = steps_of(first_of(top=5, select=PEEL), 2.0)
    needed = steps.certificate.threshold

    def trust(supports: np.ndarray) -> list[float]:
        return steps.certificate.trust(supports, steps.item_deviation)

    width = math.hypot(math.sqrt(steps.certificate.variance), steps.item_deviation)
    for beyond, chance in ((10, 1.0), (1, 0.8413), (0, 0.5), (-1, 0.1587)):
        assert trust(np.array([needed + beyond * width])) == pytest.approx([chance], abs=0.01)
    # Itemsets with one rarest item pass together, and others fail each by its own noise, but by one test.
    first, again, other = trust(np.array([needed + width, needed + width, needed]))
    assert first == again > other
    assert first * 0.5 < other < 0.5
    assert trust(np.zeros(0)) == []


def test_trust_is_at_most_what_the_prior_makes_of_the_counts_as_they_were_seen() -> None:
    steps = steps_of(first_of(top=5, select=PEEL), 2.0)
    width, deviation = math.hypot(math.sqrt(steps.certificate.variance), steps.item_deviation), steps.item_deviation
    expected = np.full(1, steps.certificate.threshold)
    seen = expected + 6 * width
    frequent = ItemPrior(supports=np.array([0.0, seen[0]]), chances=np.array([0.5, 0.5]))
    assert steps.certificate.trust(expected, deviation, frequent, seen) == pytest.approx([0.5], abs=0.01)
    assert steps.certificate.trust(seen, deviation, frequent, seen) == pytest.approx([1.0], abs=0.01)
    hardly = ItemPrior(supports=np.array([0.0, seen[0]]), chances=np.array([1.0, 0.0]))
    assert steps.certificate.trust(expected, deviation, hardly, seen) == pytest.approx([0.0], abs=0.01)


def test_long_lists_take_more_tokens_where_noise_is_small() -> None:
    usual = Tuning(pairs_stand_out=math.inf)
    assert few(first_of(usual, top=400, epsilon=F(1), select=COUNTS)) == 180
    assert few(first_of(usual, top=400, epsilon=F(1, 4), select=COUNTS)) == 90
    assert few(first_of(usual, top=100, epsilon=F(1), select=COUNTS)) == 90
    assert few(first_of(usual, top=400, epsilon=F(1), select=COUNTS, min_count=50)) == 90


def test_decoys_stand_beside_picks_by_items_alone() -> None:
    mechanism, favour = first_of(Tuning(), top=20, select=PEEL), np.arange(200) // 20
    assert with_decoys(mechanism.asked, favour).tolist() == [*favour, *favour]
    # Where few are to choose from, a random pick is often right.
    assert with_decoys(mechanism.asked, favour[:199]).tolist() == favour[:199].tolist()
    # Counts of items and pairs, or what independent items would have, are in the favour.
    for changes in ({"sizes": (1,)}, {"sizes": (1, 2)}, {"sizes": (2, 3)}, {"by": "leverage"}):
        assert with_decoys(replace(mechanism, **changes).asked, favour).tolist() == favour.tolist()
    # Among many picks, few decoys tell as much.
    apart = {top: candidates_per_decoy(top) for top in (1, 49, 50, 75, 100, 1_000)}
    assert apart == {1: 1, 49: 1, 50: 2, 75: 3, 100: 4, 1_000: 4}
    many = np.arange(1_000)
    assert with_decoys(replace(mechanism, top=100).asked, many).tolist() == [*many, *many[::4]]
    # Few that were named by their counts may be some of many, and picks that see none of them are random.
    named = mechanism.naming(Lengths(np.array([4.0]), np.array([1_000.0])))
    for blind, asked in product((False, True), (mechanism.asked, named.asked)):
        beside = asked is named.asked and blind
        assert with_decoys(asked, favour[:45], blind=blind).tolist() == [*favour[:45], *favour[: 45 * beside]]
    scale = named.later(np.full(20, 500.0), mechanism.usual_lengths, mechanism.usual_lengths).pick_epsilon
    logs = np.log(np.linspace(40, 0.2 / float(scale), 20))
    assert not are_blind(named.asked, scale, logs)
    assert are_blind(named.asked, scale, logs - 1)
    assert not are_blind(named.asked, scale, np.empty(0))


@pytest.mark.parametrize("top", [20, 100])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_stated_lead_is_over_candidates_and_decoys(size: int, top: int) -> None:
    mechanism = first_of(Tuning(least_share=0.4, most_test=0.4), sizes=(size,), top=top, select=PEEL).usual_way
    steps, most = mechanism.usual, MOST_CANDIDATES
    if size == 2:
        assert steps.candidates == {20: most // 2, 100: most * 4 // 5}[top]
        assert len(with_decoys(mechanism.asked, np.zeros(steps.candidates, np.int64))) == most
    else:
        most = steps.candidates * {20: 2, 100: 5}[top] // {20: 1, 100: 4}[top]
    (lead,) = mechanism.picks(steps.pick_epsilon, most).margins
    assert mechanism.margins[0].counts >= lead.counts


def test_more_tokens_go_on_as_long_as_counts_of_pairs_stay_clear() -> None:
    mechanism = replace(first_of(Tuning(pairs_stand_out=4.0, rarest=0.8), top=100, select=COUNTS), support=1_000.0)
    left = mechanism.budget - 2 * mechanism.look.loss.gaussian.rho - mechanism.items.measurement.loss.gaussian.rho
    full = round(mechanism.tuning.full_pairs * mechanism.asked.boldness)
    noise = Measurement.costing(float(left) * mechanism.tuning.pairs_share, full=full, sensitivity=1).deviation
    falling, many = np.arange(2_000, 0, -1.0), Lengths(np.array([8.0]), np.array([500_000.0]))

    def going_on(support: float) -> int:
        return replace(mechanism, support=support).few(falling, many)

    # Units hold 8 items, few of them among the tokens: counts are not weighted, and all that are frequent enough go on.
    assert [going_on(support) for support in (1_000.0, 1_500.0, 2_400.0)] == [1_000, 801, 90]
    assert going_on(3.9 * noise) == going_on(0.0) == 90
    # The more of the tokens units hold, the less these count.
    held = [
        replace(mechanism, support=4.5 * noise).few(falling, Lengths(many.lengths, many.units / n)) for n in (5, 9, 19)
    ]
    assert 1_000 > held[0] > held[1] > held[2] > 90


def test_pairs_of_independent_items_tell_how_many_tokens_go_on_where_nothing_was_released_before() -> None:
    units = Lengths(np.array([4.0]), np.array([100_000.0]))
    supports = np.repeat([80_000.0, 20_000.0, 12_000.0], [1, 100, 300])
    # The hundredth pair is expected in 16,000.
    assert first_of(top=100, epsilon=F(1), select=COUNTS).few(supports, units) == 101
    assert first_of(top=101, epsilon=F(1), select=COUNTS).few(supports, units) == 401
    # Nothing tells how much rarer larger itemsets are.
    assert first_of(top=101, epsilon=F(1), select=COUNTS, sizes=(3,)).few(supports, units) == 90


def test_single_items_go_on_until_noise_cannot_bring_them_into_the_answer() -> None:
    """Down to two deviations below the k-th, or below the count that is asked for; never more than 2 k."""
    mechanism = first_of(sizes=(1, 2), top=100, select=COUNTS)
    noise = mechanism.item_deviation(held(4))
    falling = 1e6 - noise * np.arange(500) / 10  # ten tokens to a deviation
    assert few(mechanism, falling) == 120
    assert few(mechanism, 1e6 - np.arange(500) * 9 * noise) == 100
    assert few(mechanism, ALIKE) == 200
    assert few(mechanism, falling[:40]) == 90
    assert few(mechanism, falling[:0]) == 90
    least = first_of(sizes=(1, 2), top=400, select=COUNTS, min_count=999_500)
    above = int(np.count_nonzero(falling >= 999_500 - 2 * least.item_deviation(held(4))))
    assert 200 < few(least, falling) == above < 500
    assert few(first_of(sizes=(2, 3), top=100, select=COUNTS)) == 90


ALIKE = np.full(500, 1e6)


def few(mechanism: ItemsFirst, supports: NDArray[np.float64] = ALIKE) -> int:
    """How many tokens go on."""
    return mechanism.few(supports, held(4))
