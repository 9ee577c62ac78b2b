"""What the certified domain names, and what it is calibrated to. Its law and claim: test_laws.py, test_privacy.py."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import pytest

from fim_private.errors import BudgetError
from fim_private.mechanisms.certificate import Certificate, threshold_for
from fim_private.mechanisms.certified_domain import CertifiedDomain, calibrate
from fim_private.mechanisms.protocol import Request
from fim_private.privacy import AnyFailure, BoundedRange
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import log_discrete_gaussian_survival
from tests.mechanisms.cases import certified_domain
from tests.sampling import FALSE_ALARM, SEED, p_value

F = Fraction


def survival(threshold: int, variance: int) -> float:
    return math.exp(log_discrete_gaussian_survival(threshold, float(variance)))


@pytest.mark.parametrize(
    ("request_", "pick", "variance", "threshold", "lead"),
    [
        (Request(top=20, epsilon=F(1), delta=F(1, 10**6), sizes=(2,)), F(840005437, 10000000000), 150, 67, 175),
        (
            Request(top=20, epsilon=F(1, 2), delta=F(1, 10**5), sensitivity=3, sizes=(2,)),
            F(499115193, 10000000000),
            3700,
            294,
            881,
        ),
    ],
)
def test_a_plan_s_parameters_follow_from_the_budget(
    request_: Request, pick: Fraction, variance: int, threshold: int, lead: int
) -> None:
    mechanism = calibrate(request_).mechanism
    assert (mechanism.pick_epsilon, mechanism.variance, mechanism.threshold) == (pick, variance, threshold)
    assert mechanism.candidates == 1000 * request_.top
    # A quarter of delta pays for the failure, on both sides.
    granted = float(request_.delta) / 4 / (1 + math.exp(request_.epsilon))
    assert float(mechanism.test_delta) == pytest.approx(granted, rel=1e-6)
    beyond = threshold - request_.sensitivity
    assert survival(beyond, variance) <= float(mechanism.test_delta) < survival(beyond - 1, variance)
    (margin,) = mechanism.margins
    assert mechanism.spare == 3
    stages = [pick * factor for factor in (F(8, 10), F(9, 10), F(1), F(11, 10), F(12, 10))]
    assert mechanism.losses[:-2] == tuple(BoundedRange(stages[5 * (2 * place + 1) // 52]) for place in range(26))
    assert [rate * request_.sensitivity for rate in (*mechanism.rates, *mechanism.rates_out)] == [
        loss.epsilon for loss in mechanism.losses[:-2]
    ]
    # More than three picks are on the bulk with this probability, if each is with its own.
    fourth = (math.factorial(4) / 19) ** (1 / 4)
    falls = [
        mechanism.candidates * sum(math.exp(-float(rate) * each) for rate in mechanism.rates)
        for each in (lead - 1, lead)
    ]
    assert falls[1] <= fourth < falls[0]
    assert margin.of_one == lead > threshold + 1.645 * math.sqrt(variance)
    assert margin.place == mechanism.depth == mechanism.candidates + 1
    assert mechanism.tipping_leads == (threshold,)


def test_the_fewer_picks_there_are_the_more_their_test_gets() -> None:
    """A list of one gets half of rho, and one of 16 or more an eighth."""
    requests = [Request(top=top, epsilon=F(1, 10), delta=F(1, 10**6), sizes=(2,)) for top in (1, 2, 4, 9, 16, 17, 400)]
    mechanisms = [cast(CertifiedDomain, calibrate(request).mechanism) for request in requests]
    variances = [mechanism.variance / mechanisms[0].variance for mechanism in mechanisms]
    assert variances == pytest.approx([1, math.sqrt(2), 2, 3, 4, 4, 4], rel=1e-3)
    leads = [mechanism.margins[0].counts for mechanism in mechanisms]
    assert leads == sorted(leads)


def test_single_items_are_picked_from_fewer_candidates() -> None:
    for sizes, top, candidates in (((1,), 20, 2_000), ((1,), 300, 3_000), ((1, 2), 20, 20_000), ((3,), 3_000, 30_000)):
        mechanism = calibrate(Request(top=top, epsilon=F(1), delta=F(1, 10**6), sizes=sizes)).mechanism
        assert mechanism.depth == candidates + 1


def test_the_larger_of_two_leads_is_asked_for() -> None:
    mechanism = calibrate(Request(top=1, epsilon=F(1), delta=F(1, 10**6))).mechanism
    passing = mechanism.threshold + 1.645 * math.sqrt(mechanism.variance)
    assert mechanism.margins[0].of_one == math.ceil(passing) > math.log(19_000) / float(mechanism.rate)


@pytest.mark.parametrize("variance", [1, 30, 4000])
@pytest.mark.parametrize("sensitivity", [1, 5])
def test_the_threshold_is_the_least_that_keeps_the_failure_rare(variance: int, sensitivity: int) -> None:
    threshold = threshold_for(variance, sensitivity=sensitivity, delta=F(1, 10**7))
    assert survival(threshold - sensitivity, variance) <= 1e-7 < survival(threshold - sensitivity - 1, variance)


def test_it_names_all_or_nothing() -> None:
    mechanism = certified_domain(2, candidates=3, pick_epsilon=F(20), variance=1, threshold=8)
    randomness = SeededRandomness(SEED)
    far = CountProfile.of([90, 60, 3, 1])
    assert {mechanism.select(far, randomness) for _ in range(50)} == {(0, 1)}
    near = CountProfile.of([90, 4, 3, 1])  # the support of the second is 3
    assert {mechanism.select(near, randomness) for _ in range(50)} == {()}


def test_spare_picks_leave_out_what_would_fail_the_test() -> None:
    mechanism = certified_domain(1, candidates=2, pick_epsilon=F(1, 2), variance=1, threshold=8, spare=1)
    near = CountProfile.of([13, 11, 3])
    # Both are picked. The one with a support of 8 stays with probability 1/(1 + e).
    stays = 1 / (1 + math.e)
    assert mechanism.law(near)[1,] == pytest.approx(stays * survival(0, 1))
    assert mechanism.law(near)[0,] == pytest.approx((1 - stays) * survival(-2, 1))
    randomness = SeededRandomness(SEED)
    draws = [mechanism.select(near, randomness) for _ in range(5_000)]
    assert p_value(draws, mechanism.law(near)) > FALSE_ALARM
    assert p_value(draws, certified_domain(1, candidates=2, variance=1, threshold=8).law(near)) < FALSE_ALARM


@pytest.mark.parametrize("sensitivity", [1, 3])
def test_what_only_one_unit_may_have_is_left_out_as_often_as_the_like(sensitivity: int) -> None:
    """Supports of at most Delta look alike: a neighbour may have another itemset in that place."""
    mechanism = certified_domain(
        1, candidates=2, pick_epsilon=F(20), variance=1, threshold=-9, spare=1, sensitivity=sensitivity
    )
    law = mechanism.law(CountProfile.of([30 + sensitivity, 30, 30]))
    assert law[0,] == pytest.approx(law[1,]) == pytest.approx(0.5)
    clear = mechanism.law(CountProfile.of([31 + sensitivity, 30, 30]))
    assert clear[0,] > 0.9


def test_picks_go_on_after_an_itemset_that_does_not_occur() -> None:
    """Where one unit alone has it, they go on as well. It is left out on both sides, or fails both tests."""
    mechanism = certified_domain(1, candidates=2, pick_epsilon=F(1, 100), variance=8, threshold=10, spare=1)
    alone, gone = (mechanism.law(CountProfile.of(counts)) for counts in ([20, 1], [20]))
    assert gone[0,] == pytest.approx(alone[0,], rel=0.01)
    assert gone[0,] > 0.5


def test_missing_picks_are_the_first_to_be_left_out() -> None:
    mechanism = certified_domain(2, candidates=4, pick_epsilon=F(20), variance=1, threshold=8, spare=2)
    assert mechanism.select(CountProfile.of([90, 60]), SeededRandomness(SEED)) == (0, 1)
    assert mechanism.law(CountProfile.of([90, 60]))[0, 1] == pytest.approx(1.0)
    assert mechanism.select(CountProfile.of([90]), SeededRandomness(SEED)) == ()


def test_the_support_is_counted_from_the_place_after_the_candidates() -> None:
    mechanism = certified_domain(1, candidates=2, pick_epsilon=F(20), variance=1, threshold=8)
    randomness = SeededRandomness(SEED)
    # Incomplete profiles refuse to be looked at further down than what they hold.
    clear = CountProfile(levels=[90, 60, 50], multiplicities=[1, 1, 1], complete=False)
    assert {mechanism.select(clear, randomness) for _ in range(20)} == {(0,)}
    level = CountProfile(levels=[90, 88, 88], multiplicities=[1, 1, 1], complete=False)
    assert {mechanism.select(level, randomness) for _ in range(20)} == {()}


def test_an_itemset_that_does_not_occur_is_never_named_in_an_open_universe() -> None:
    mechanism = certified_domain(2, candidates=3, pick_epsilon=F(20), variance=1, threshold=-50)
    assert mechanism.select(CountProfile.of([90]), SeededRandomness(SEED)) == ()
    assert mechanism.law(CountProfile.of([90])) == {(): pytest.approx(1.0)}
    declared = CountProfile.of([90], zeros=1)
    assert mechanism.select(declared, SeededRandomness(SEED)) == (0, 1)
    assert mechanism.law(declared)[0, 1] == pytest.approx(1.0)


def test_a_test_passes_as_often_with_noise_up_as_down() -> None:
    """At the tipping lead, and more often above it."""
    mechanism = certified_domain(1, candidates=1, pick_epsilon=F(20), variance=4, threshold=10)
    law = mechanism.law(CountProfile.of([12]))
    assert law[(0,)] == pytest.approx(survival(-2, 4))
    randomness = SeededRandomness(SEED)
    named = sum(mechanism.select(CountProfile.of([12]), randomness) == (0,) for _ in range(2000)) / 2000
    assert abs(named - survival(-2, 4)) < 0.05  # five standard deviations


def test_without_a_delta_there_is_no_test() -> None:
    with pytest.raises(BudgetError, match="delta = 0"):
        calibrate(Request(top=1, epsilon=F(1), delta=F(0)))


def test_no_probability_of_a_certificate_is_below_0() -> None:
    """Rounding may make one so. At epsilon 20 an audit would then see a delta of 1e-7 that is not there."""
    certificate = Certificate(variance=1, threshold=3, failure=AnyFailure(F(1, 1000)), cut_epsilon=F(2))
    assert all(min(certificate.law([support] * 4).values()) >= 0 for support in range(30))
