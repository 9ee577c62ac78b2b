"""The filter against the strongest analyst there is: all that can be asked next, after every answer, by brute force."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fim_private.accounting.privacy_filter import Charge, PrivacyFilter, best_order, log_of, renyi_bound
from fim_private.accounting.renyi_composition import renyi_curve, renyi_epsilon
from fim_private.accounting.rounding import RELATIVE_ERROR, exp_up, round_up
from fim_private.privacy import ZCDP, Budget, PureDP
from tests.accounting.analysts import analysts

Step = tuple[tuple[tuple[float, float], ...], Charge]
"""Outcomes, each with its probability on D and its log ratio (infinite: only D has it); and what is charged."""

TENTH = 0.1
"""Except for failures, log ratios are whole multiples of this, so that paths meet and the tree stays small."""


def response(tenths: int, order: Fraction, *, leak: str = "0", failing: str = "0") -> Step:
    """Randomised response with log odds of so many tenths, at its worst.

    Args:
        tenths: of the log odds.
        order: a, for its charge.
        leak: with this probability it reveals everything instead: the worst (epsilon, delta) there is.
        failing: a failure on either side that the loss does not cover, in the worst place: on D it reveals, on D' it
            takes from what is likely on D.
    """
    epsilon, delta, lost = Fraction(tenths, 10), Fraction(leak), Fraction(failing)
    high = 1 / (1 + math.exp(-tenths * TENTH))
    low, leaks, f = 1 - high, float(delta), float(lost)
    renyi = float(renyi_curve([PureDP(epsilon)], np.array([float(order)]))[0]) - math.log1p(-leaks)
    outcomes = [
        ((1 - leaks) * high, math.log(high / (low - f))),
        ((1 - leaks) * (low - f), math.log((low - f) / high)),
        ((1 - leaks) * f + leaks, math.inf),
    ]
    charge = Charge(
        epsilon=epsilon if not lost else Fraction(1000),  # the basic test knows nothing of the failing one
        delta=delta,
        renyi=round_up(renyi * (1 + 1e-9)),
        plain=delta,
        failure=lost,
    )
    return tuple(outcome for outcome in outcomes if outcome[0]), charge


def worst_delta(rule: PrivacyFilter, steps: list[Step]) -> float:
    """The largest T(S) - e^eps T'(S) over all adaptive choices of the steps that the rule admits.

    Dynamic programming over (how often each was used, log ratio). What only D has is in S for good.
    """
    epsilon = float(rule.budget.epsilon)

    @cache
    def open_to(used: tuple[int, ...]) -> list[bool]:
        spent = sum((charge_times(charge, n) for (_, charge), n in zip(steps, used, strict=True)), Charge())
        return [rule.admits(spent + charge) for _, charge in steps]

    @cache
    def gain(used: tuple[int, ...], log_ratio: float) -> float:
        """max sum (p - e^eps p')_+ from here on, for p = 1 and p' = e^-log_ratio."""
        if log_ratio == math.inf:
            return 1.0
        best = max(0.0, -math.expm1(epsilon - log_ratio))
        for (place, (outcomes, _)), admitted in zip(enumerate(steps), open_to(used), strict=True):
            if admitted:
                after = (*used[:place], used[place] + 1, *used[place + 1 :])
                best = max(best, sum(p * gain(after, round(log_ratio + ratio, 9)) for p, ratio in outcomes))
        return best

    return gain((0,) * len(steps), 0.0)


def charge_times(charge: Charge, times: int) -> Charge:
    return Charge(**{name: value * times for name, value in vars(charge).items()})


def rule_for(epsilon: str, delta: str, share: str, *, failing: bool = True) -> PrivacyFilter:
    budget = Budget(epsilon, delta)
    rule = PrivacyFilter(
        budget=budget, basic_share=Fraction(share), failing_epsilon=budget.epsilon if failing else None
    )
    order = best_order(budget.epsilon, rule.renyi_delta - rule.failures_delta) if rule.renyi_delta else None
    return replace(rule, order=order)


KINDS = {
    "small": [{"tenths": 1}],
    "small and large": [{"tenths": 1}, {"tenths": 5}],
    "leaking": [{"tenths": 2, "leak": "1/1000"}, {"tenths": 1, "leak": "1/200"}, {"tenths": 4}],
    "failing": [{"tenths": 2, "failing": "1/500"}, {"tenths": 1}],
    "leaking or failing": [{"tenths": 1, "leak": "1/100"}, {"tenths": 1, "failing": "1/400"}, {"tenths": 2}],
}


@pytest.mark.parametrize("failing", [True, False])
@pytest.mark.parametrize("share", ["0", "1/2", "1"])
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.05"), ("1.5", "0.1"), ("0.5", "0.02")])
def test_no_analyst_gets_more_than_the_budget(
    kinds: str, share: str, epsilon: str, delta: str, *, failing: bool
) -> None:
    rule = rule_for(epsilon, delta, share, failing=failing)
    steps = [response(order=rule.order or Fraction(1), **kind) for kind in KINDS[kinds]]
    assert worst_delta(rule, steps) <= float(rule.budget.delta) * (1 + 1e-9)


@pytest.mark.parametrize(("share", "tenths"), [("0", 1), ("1", 10)])
def test_a_filter_that_charges_too_little_is_caught(share: str, tenths: int) -> None:
    rule = rule_for("1", "0.05", share)
    outcomes, charge = response(tenths, rule.order or Fraction(1))
    assert worst_delta(rule, [(outcomes, charge)]) <= 0.05
    assert worst_delta(rule, [(outcomes, replace(charge, renyi=charge.renyi / 3, epsilon=charge.epsilon / 2))]) > 0.05


def test_failures_that_are_not_charged_are_caught() -> None:
    rule = rule_for("1", "0.05", "0")
    assert rule.order is not None
    outcomes, charge = response(2, rule.order, failing="1/50")
    assert worst_delta(rule, [(outcomes, charge)]) <= 0.05
    assert worst_delta(rule, [(outcomes, replace(charge, failure=Fraction(0)))]) > 0.05


def test_two_tests_with_the_whole_of_delta_each_would_promise_too_much() -> None:
    """Why delta is shared out: what is gained one way after some answers adds to what is gained the other way."""

    class Both(PrivacyFilter):
        @property
        def renyi_delta(self) -> Fraction:
            return self.budget.delta

    whole = Both(budget=Budget("0.5", "0.02"), basic_share=Fraction(1))
    whole = replace(whole, order=best_order(whole.budget.epsilon, whole.failures_delta))
    assert whole.order is not None
    # A leak of all of delta at once, or many small steps.
    steps = [response(1, whole.order), response(0, whole.order, leak="1/50")]
    assert whole.passes_basic(steps[1][1])
    assert worst_delta(whole, steps) > 0.02


def test_the_renyi_test_is_the_conversion_for_releases_fixed_beforehand() -> None:
    """With its order fixed beforehand the filter loses next to nothing against the best order found afterwards."""
    budget = Budget("3", "1e-5")
    rule = rule_for("3", "1e-5", "0")
    delta_acc = float(rule.renyi_delta - rule.failures_delta)
    rho = 0.0005
    n = 1
    while rule.passes_renyi(Charge(renyi=round_up(n * rho * (1 + float(rule.order))))):
        n += 1
    fits = n - 1
    assert renyi_epsilon([ZCDP(Fraction(1, 2000))] * fits, delta_acc) <= float(budget.epsilon)
    assert renyi_epsilon([ZCDP(Fraction(1, 2000))] * round(fits * 1.01 + 1), delta_acc) > float(budget.epsilon)


@settings(max_examples=40)
@given(
    epsilon=st.fractions(Fraction(1, 1000), 20),
    delta=st.fractions(Fraction(1, 10**9), Fraction(1, 10)),
    share=st.fractions(0, 1),
    failing=st.booleans(),
    charges=st.lists(
        st.builds(
            Charge,
            epsilon=st.fractions(0, 5),
            delta=st.fractions(0, Fraction(1, 100)),
            renyi=st.fractions(0, 2),
            plain=st.fractions(0, Fraction(1, 100)),
            failure=st.fractions(0, Fraction(1, 1000)),
        ),
        max_size=8,
    ),
)
def test_what_is_admitted_never_exceeds(
    epsilon: Fraction, delta: Fraction, share: Fraction, charges: list[Charge], *, failing: bool
) -> None:
    rule = PrivacyFilter(
        budget=Budget(epsilon, delta),
        basic_share=share,
        order=Fraction(7, 2),
        failing_epsilon=epsilon if failing else None,
    )
    spent = Charge()
    for charge in charges:
        if rule.admits(spent + charge):
            spent += charge
    basic = spent.epsilon <= epsilon and spent.delta <= delta * share
    rest = delta * (1 - share)
    renyi = False
    if rest and (failing or not spent.failure):
        a = 3.5
        once, other = (Fraction(1, 4), Fraction(1, 4)) if failing else (Fraction(1, 2), Fraction(0))
        paid = spent.plain + spent.failure <= once * rest
        paid_there = math.exp(epsilon) * float(spent.failure) <= float(other * rest)
        proved = float(spent.renyi) + math.log(a / (1 + a)) - (math.log(float(rest) / 2) + math.log1p(a)) / a
        renyi = paid and paid_there and proved <= float(epsilon) * (1 + 1e-12)
    assert basic or renyi
    assert (spent + Charge(epsilon=Fraction(1, 3))).epsilon - spent.epsilon == Fraction(1, 3)  # exact


def test_the_bound_is_rounded_against_the_user() -> None:
    epsilon, delta, order = Fraction(2), Fraction(1, 10**6), Fraction(9)
    bound = renyi_bound(epsilon, delta, order)
    exactly = 2 + math.log(10 / 9) + (math.log(1e-6) + math.log(10)) / 9
    assert exactly - 1e-7 < float(bound) < exactly
    assert renyi_bound(Fraction(1, 10), Fraction(1, 10**9), Fraction(1)) is None
    assert best_order(Fraction(1, 10**6), Fraction(1, 10**90)) is not None
    assert log_of(Fraction(1, 10**400)) == pytest.approx(-400 * math.log(10))


@pytest.mark.parametrize(("epsilon", "delta_acc", "order"), [("0.001", "0.99", "0.01"), ("100", "1e-52", "2")])
def test_the_bound_has_a_margin_for_every_term(epsilon: str, delta_acc: str, order: str) -> None:
    """Terms that cancel leave their rounding errors behind."""
    bound = renyi_bound(Fraction(epsilon), Fraction(delta_acc), Fraction(order))
    a = float(order)
    terms = float(epsilon), math.log(1 + 1 / a), (math.log(float(delta_acc)) + math.log(1 + a)) / a
    assert sum(terms) - float(bound) == pytest.approx(RELATIVE_ERROR * sum(map(abs, terms)), rel=0.01)


def test_without_more_being_said_the_filter_is_basic_composition() -> None:
    rule = PrivacyFilter(budget=Budget("1", "0.1"))
    whole = Charge(epsilon=Fraction(1), delta=Fraction(1, 10))
    assert rule.admits(whole)
    assert not rule.admits(whole + Charge(epsilon=Fraction(1, 10**9)))
    assert not rule.admits(whole + Charge(delta=Fraction(1, 10**9)))


def test_without_an_order_or_without_delta_there_is_no_renyi_test() -> None:
    budget = Budget("1", "0.1")
    for rule in (
        PrivacyFilter(budget=budget, basic_share=Fraction(0)),
        PrivacyFilter(budget=budget, order=Fraction(7, 2)),
    ):
        assert rule.bound is None
        assert not rule.passes_renyi(Charge())
        with pytest.raises(ValueError, match="no Renyi test"):
            rule.renyi_share(Charge())


def test_the_renyi_test_can_be_used_up_to_the_last() -> None:
    rule = rule_for("1", "0.1", "0")
    assert rule.bound is not None
    whole = Charge(renyi=rule.bound)
    assert rule.renyi_share(whole) == 1
    assert rule.passes_renyi(whole)
    assert not rule.passes_renyi(whole + Charge(renyi=Fraction(1, 10**12)))


def test_each_side_has_half_of_what_failures_may_use() -> None:
    rule = rule_for("1", "0.1", "0")
    hundredth, side = Fraction(1, 100), Fraction(1, 40)
    assert rule.failures_share(Charge(plain=hundredth)) == hundredth / side
    assert rule.failures_share(Charge(failure=hundredth)) == exp_up(Fraction(1)) * hundredth / side
    assert rule.failures_share(Charge(plain=2 * hundredth, failure=hundredth)) == 3 * hundredth / side
    assert rule_for("1", "0.1", "0", failing=False).failures_share(Charge(plain=hundredth)) == hundredth / (2 * side)


def test_failures_on_both_sides_are_paid_only_where_that_was_settled_and_up_to_its_epsilon() -> None:
    settled, failing = rule_for("1", "0.1", "0"), Charge(failure=Fraction(1, 10**9))
    raised = replace(settled, budget=Budget("1.01", "0.1"))
    lowered = replace(settled, budget=Budget("0.99", "0.1"))
    assert settled.passes_renyi(failing)
    assert lowered.passes_renyi(failing)
    for rule in (raised, rule_for("1", "0.1", "0", failing=False)):
        assert not rule.passes_renyi(failing)
        assert rule.passes_renyi(Charge())
        with pytest.raises(ValueError, match="both sides"):
            rule.renyi_share(failing)


class CappedAlongThePath(PrivacyFilter):
    """The mistake: a cap on the weighted sum of both kinds of failures, whichever law they are counted under."""

    def failures_share(self, spent: Charge) -> Fraction:
        return (spent.plain + (1 + exp_up(self.budget.epsilon)) * spent.failure) / self.failures_delta


def capped(rule: PrivacyFilter) -> PrivacyFilter:
    return CappedAlongThePath(**vars(rule))


def worst_of_two_steps(rule: PrivacyFilter, chances: Sequence[float], shifts: Sequence[float]) -> float:
    """The largest delta that an analyst of two steps reaches, over what is claimed."""
    return max(analyst.gain(rule) for analyst in analysts(rule, chances, shifts)) / float(rule.budget.delta)


@pytest.mark.parametrize(("epsilon", "shift"), [("1", 0.2), ("3", 0.35), ("8", 0.5)])
def test_an_analyst_who_chooses_between_two_kinds_of_failures_gets_no_more_than_the_budget(
    epsilon: str, shift: float
) -> None:
    """After an answer that is likelier on D all goes to plain failures, after the other to those on both sides."""
    rule = rule_for(epsilon, "1e-5", "0")
    found = worst_of_two_steps(rule, [0.5], [shift])
    assert 0.7 < found <= 1
    assert worst_of_two_steps(capped(rule), [0.5], [shift]) > 1.01


@pytest.mark.long
@pytest.mark.parametrize("failing", [True, False])
@pytest.mark.parametrize("delta", ["1e-9", "1e-5", "0.01"])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "3", "8"])
def test_no_analyst_of_two_steps_gets_more_than_the_budget(epsilon: str, delta: str, *, failing: bool) -> None:
    rule = rule_for(epsilon, delta, "0", failing=failing)
    chances, shifts = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99], [0.02, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.2]
    assert worst_of_two_steps(rule, chances, shifts) <= 1
    if failing and delta == "1e-5" and epsilon in {"3", "8"}:
        assert worst_of_two_steps(capped(rule), chances, shifts) > 1.01


def test_totals_that_are_raised_on_the_way_keep_the_promise_of_the_last() -> None:
    """Which totals there are may depend on the answers: what a smaller total admitted, a larger one admits too."""
    smaller, larger = (rule_for("1", delta, "1/2", failing=False) for delta in ("0.01", "0.02"))
    larger = replace(larger, order=smaller.order, budget=Budget("1.5", "0.02"))
    for renyi, plain, epsilon in product(range(8), range(4), range(4)):
        spent = Charge(
            renyi=Fraction(renyi, 8), plain=Fraction(plain, 1000), epsilon=Fraction(epsilon, 3), delta=Fraction(1, 200)
        )
        assert larger.admits(spent) or not smaller.admits(spent)
