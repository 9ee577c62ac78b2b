"""Parts and further steps under one budget: by hand, in fractions where that can be done."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fim_private.accounting.calibration import composed_epsilon
from fim_private.accounting.joint_proof import Part, prove_together
from fim_private.accounting.renyi_composition import renyi_epsilon
from fim_private.accounting.rounding import exp_up
from fim_private.privacy import (
    ZCDP,
    AnyFailure,
    ApproxDP,
    BoundedRange,
    Failure,
    Guarantee,
    Loss,
    OneSidedFailure,
    PureDP,
)

F = Fraction
EPSILON, DELTA = F(1), F(1, 10**6)
SPENT, NOTHING = F(7, 10), F(0)


def part(
    *losses: Loss,
    epsilon: Fraction = SPENT,
    delta: Fraction = NOTHING,
    failures: tuple[Failure, ...] = (),
    composition: str = "basic",
) -> Part:
    guarantee = Guarantee(epsilon=epsilon, delta=delta, composition=composition)
    return Part(losses=losses, failures=failures, guarantee=guarantee)


def test_guarantees_and_pure_steps_add_up_to_the_last_digit() -> None:
    selection = part(ApproxDP(F(7, 10), DELTA), delta=DELTA)
    proved = prove_together([selection], [PureDP(F(3, 10))], epsilon=EPSILON, delta=DELTA)
    assert proved == Guarantee(epsilon=EPSILON, delta=DELTA, composition="basic")
    more = PureDP(F(3, 10) + F(1, 10**18))
    assert prove_together([selection], [more], epsilon=EPSILON, delta=DELTA) is None
    assert prove_together([selection], [PureDP(F(3, 10))], epsilon=EPSILON, delta=DELTA - F(1, 10**18)) is None


def test_parts_add_up() -> None:
    parts = [part(ApproxDP(F(1, 2), F(1, 10**7)), epsilon=F(1, 2), delta=F(1, 10**7), composition="optimal")] * 2
    proved = prove_together(parts, [], epsilon=EPSILON, delta=DELTA)
    assert proved == Guarantee(epsilon=F(1), delta=F(2, 10**7), composition="optimal and basic")
    assert prove_together(parts, [], epsilon=F(999, 1000), delta=DELTA) is None
    assert prove_together([*parts, parts[0]], [], epsilon=EPSILON, delta=DELTA) is None


def test_a_gaussian_step_gets_what_the_guarantee_leaves_of_both() -> None:
    selection = part(ApproxDP(F(7, 10), DELTA / 4), delta=DELTA / 4)
    rho = F(1, 1000)
    alone = renyi_epsilon([ZCDP(rho)], float(DELTA * 3 / 4))
    proved = prove_together([selection], [ZCDP(rho)], epsilon=EPSILON, delta=DELTA)
    assert (proved.delta, proved.composition) == (DELTA, "renyi and basic")
    assert 0 <= float(proved.epsilon) - 0.7 - alone < 1e-9
    assert prove_together([selection], [ZCDP(rho)], epsilon=F(7, 10) + F(alone) * F(999, 1000), delta=DELTA) is None
    greedy = part(ApproxDP(F(7, 10), DELTA), delta=DELTA)
    assert prove_together([greedy], [ZCDP(F(1, 10**9))], epsilon=EPSILON, delta=DELTA) is None


@pytest.mark.parametrize("further", [PureDP(F(1, 5)), ZCDP(F(1, 200))])
def test_losses_compose_with_the_failure_paid_on_both_sides(further: PureDP | ZCDP) -> None:
    losses = (BoundedRange(F(1, 10)),) * 10
    failure = DELTA / 10
    # What was proved of the part alone is of no use here.
    selection = part(*losses, epsilon=F(99, 100), delta=DELTA, failures=(AnyFailure(failure),))
    proved = prove_together([selection], [further], epsilon=EPSILON, delta=DELTA)
    expected, theorem = composed_epsilon([*losses, further], float(DELTA - (1 + exp_up(EPSILON)) * failure))
    # A loss that is only known to be zCDP has no worst pair.
    assert (proved.delta, proved.composition) == (DELTA, theorem)
    assert theorem == ("optimal" if isinstance(further, PureDP) else "renyi")
    assert 0 <= float(proved.epsilon) - expected < 1e-9
    # The failures of all parts are paid, and so are their losses.
    half = part(*losses[:5], epsilon=F(99, 100), delta=DELTA, failures=(AnyFailure(failure / 2),))
    assert prove_together([half, half], [further], epsilon=EPSILON, delta=DELTA) == proved


def test_a_one_sided_failure_is_paid_once() -> None:
    losses = (ZCDP(F(1, 100)),)
    failure = DELTA / 2
    selection = part(*losses, epsilon=F(99, 100), delta=DELTA, failures=(OneSidedFailure(failure),))
    proved = prove_together([selection], [ZCDP(F(1, 300))], epsilon=EPSILON, delta=DELTA)
    expected = renyi_epsilon([ZCDP(F(4, 300))], float(DELTA - failure))
    assert 0 <= float(proved.epsilon) - expected < 1e-9
    dependent = part(*losses, epsilon=F(99, 100), delta=DELTA, failures=(AnyFailure(failure),))
    assert prove_together([dependent], [ZCDP(F(1, 300))], epsilon=EPSILON, delta=DELTA) is None
    assert prove_together([selection, dependent], [], epsilon=EPSILON, delta=DELTA) is None


def test_beside_a_failure_of_another_kind_a_one_sided_one_is_still_paid_once() -> None:
    losses, failure = (ZCDP(F(1, 300)),), DELTA / 8
    parts = [
        part(*losses, epsilon=F(99, 100), delta=DELTA, failures=(one,))
        for one in (OneSidedFailure(failure), AnyFailure(failure))
    ]
    left = float(DELTA - (2 + exp_up(EPSILON)) * failure)
    expected = renyi_epsilon([ZCDP(F(1, 150))], left)
    proved = prove_together(parts, [], epsilon=EPSILON, delta=DELTA)
    assert 0 <= float(proved.epsilon) - expected < 1e-9


def test_a_failure_that_takes_all_of_delta_leaves_nothing_to_compose_with() -> None:
    selection = part(ZCDP(F(1, 10**6)), epsilon=F(2), delta=DELTA, failures=(OneSidedFailure(DELTA),))
    assert prove_together([selection], [ZCDP(F(1, 10**6))], epsilon=EPSILON, delta=DELTA) is None


def test_losses_with_a_delta_of_their_own_have_no_renyi_proof() -> None:
    selection = part(ApproxDP(F(1, 10), F(1, 10**9)), epsilon=F(2), delta=DELTA)
    assert prove_together([selection], [PureDP(F(1, 10))], epsilon=EPSILON, delta=DELTA) is None
