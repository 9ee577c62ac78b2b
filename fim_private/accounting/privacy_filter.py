"""Decide whether the next release still fits: a privacy filter, for releases chosen after seeing the earlier answers.

A ledger cannot use composition for a list that is fixed beforehand: the answers so far decide what people ask next,
and whether they ask at all. A filter keeps its promise on every path that such an analyst can take.

Setting. Fix neighbours D, D'. A path is a transcript: what was charged and what was answered, in order. A charge
without an answer is a step without an answer. T and T' are the transcript's laws on D and D'. Each charge states, from
the plan alone, two sets of figures that are proved of the release. They hold in either direction, perhaps with other
R, R':
  (epsilon, delta): the release is (epsilon, delta)-differentially private;
  (renyi, plain, failure): there are runs R, R' such that their Renyi divergence of order alpha = 1 + a is at most r, M
    differs from R with probability at most `plain + failure` (total variation), and on the other side M' >= e^-g (R' -
    F'), outcome by outcome, for a part F' of R' of mass at most `failure`; renyi = r + g, both at least 0.
A path is admitted if its sums pass one of two tests, with delta_B + delta_R = delta:
  B (basic):  sum epsilon <= eps  and  sum delta <= delta_B;
  R (Renyi):  sum renyi <= bound,  where eps = bound + ln(a/(1+a)) - (ln delta_acc + ln(1+a))/a,  and
              sum plain + sum failure <= x phi  and  e^E sum failure <= (1-x) phi,  with phi = delta_R - delta_acc.
              A path with a failure fails R while eps > E.
The shares of delta, x, E and a are fixed before the first answer. (eps, delta) may be changed on the way, for any
reason. A change is refused if the sums do not pass with the new values.

However the releases and the changes are chosen, the whole transcript is (eps, delta)-differentially private, for the
largest eps and the largest delta that are in force at the end of any path. Releases may overlap. The theorem, its proof
and the reasons for x and the shares: docs/mathematics.md#privacy-filter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction

from fim_private.accounting.rounding import RELATIVE_ERROR, exp_up, round_down
from fim_private.privacy import Budget

HALF = Fraction(1, 2)
_ORDERS = [round_down(10 ** (step / 100), digits=6) for step in range(-200, 1001)]
"""The values tried for a. Every order is valid; a coarse search only makes the bound less tight."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What one release costs, or several together, in exact fractions that add up.

    Args:
        epsilon: with `delta`, what is proved of the release by itself.
        delta: see `epsilon`.
        renyi: the Renyi divergence at the filter's order plus the epsilon of the independent failures; rounded up.
        plain: the probability of failures that are paid once.
        failure: the probability of failures that are paid on both sides, on the other side e^E times.
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    renyi: Fraction = Fraction(0)
    plain: Fraction = Fraction(0)
    failure: Fraction = Fraction(0)

    def __add__(self, other: Charge) -> Charge:
        """The cost of both together."""
        return Charge(**{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)})


@dataclass(frozen=True, kw_only=True)
class PrivacyFilter:
    """Decides whether the charges stay within a budget, however the releases are chosen.

    Args:
        budget: (eps, delta) for everything together.
        basic_share: the share of delta, from 0 to 1, that the basic test has. The Renyi test has the rest.
        order: a = alpha - 1 of the Renyi test, > 0; None for no Renyi test.
        failing_epsilon: E. None if no failure may be paid on both sides: failures that are paid once then have the
            whole of phi (x = 1). Otherwise each side has half of phi (x = 1/2).
    """

    budget: Budget
    basic_share: Fraction = Fraction(1)
    order: Fraction | None = None
    failing_epsilon: Fraction | None = None

    @property
    def basic_delta(self) -> Fraction:
        """delta_B."""
        return self.budget.delta * self.basic_share

    @property
    def renyi_delta(self) -> Fraction:
        """delta_R."""
        return self.budget.delta - self.basic_delta

    @property
    def failures_delta(self) -> Fraction:
        """phi: the failures may use half of delta_R. The other half is delta_acc."""
        return self.renyi_delta * HALF

    @property
    def bound(self) -> Fraction | None:
        """The Renyi divergence that is allowed in all, rounded down; None if the Renyi test allows nothing."""
        if self.order is None or self.renyi_delta == 0:
            return None
        return renyi_bound(self.budget.epsilon, self.renyi_delta - self.failures_delta, self.order)

    def pays(self, spent: Charge) -> bool:
        """Whether the Renyi test can pay for failures of these kinds at all."""
        return spent.failure == 0 or (self.failing_epsilon is not None and self.budget.epsilon <= self.failing_epsilon)

    def failures_share(self, spent: Charge) -> Fraction:
        """The share of phi that these failures take, on the side where it is larger; rounded up.

        Raises:
            ValueError: the Renyi test cannot pay for them.
        """
        if not self.pays(spent):
            raise ValueError("this filter cannot pay failures on both sides")
        if self.failing_epsilon is None:
            return spent.plain / self.failures_delta
        each_side = self.failures_delta * HALF
        return max(spent.plain + spent.failure, exp_up(self.failing_epsilon) * spent.failure) / each_side

    def renyi_share(self, spent: Charge) -> Fraction:
        """The share of the Renyi test's allowance that this takes, in divergence or in failures; above 1 it fails.

        Raises:
            ValueError: there is no Renyi test, or it cannot pay for these failures.
        """
        if self.bound is None:
            raise ValueError("this filter has no Renyi test")
        return max(spent.renyi / self.bound, self.failures_share(spent))

    def passes_basic(self, spent: Charge) -> bool:
        """Test B."""
        return spent.epsilon <= self.budget.epsilon and spent.delta <= self.basic_delta

    def passes_renyi(self, spent: Charge) -> bool:
        """Test R."""
        return self.bound is not None and self.pays(spent) and self.renyi_share(spent) <= 1

    def admits(self, spent: Charge) -> bool:
        """Whether all charges together, the new charge included, keep the promise."""
        return self.passes_basic(spent) or self.passes_renyi(spent)


def renyi_bound(epsilon: Fraction, delta_acc: Fraction, order: Fraction) -> Fraction | None:
    """The divergence of order 1 + a that implies (epsilon, delta_acc), rounded down; None if it is not above 0.

    epsilon = bound + ln(a/(1+a)) - (ln delta_acc + ln(1+a))/a (Canonne, Kamath, Steinke 2020, Proposition 12).
    """
    a = float(order)
    shift, conversion = math.log1p(1 / a), (log_of(delta_acc) + math.log1p(a)) / a
    bound = float(epsilon) + shift + conversion
    bound -= RELATIVE_ERROR * (float(epsilon) + shift + abs(conversion))
    return round_down(bound, digits=12) if bound > 0 else None


def best_order(epsilon: Fraction, delta_acc: Fraction) -> Fraction | None:
    """The order a at which the most Gaussian releases (divergence about 1 + a) fit; None if no order allows any."""
    bounds = ((order, renyi_bound(epsilon, delta_acc, order)) for order in _ORDERS)
    fitting = {order: bound / (1 + order) for order, bound in bounds if bound is not None}
    return max(fitting, key=lambda order: fitting[order], default=None)


def log_of(value: Fraction) -> float:
    """ln of a fraction. The fraction may be too small for a float."""
    return math.log(value.numerator) - math.log(value.denominator)
