"""When the next release still fits: a privacy filter for releases that people choose after seeing the earlier ones.

Composition of a list that was fixed beforehand is not enough for a ledger: what is asked next, and whether anything
is, depends on the answers so far. A filter has to keep its promise on every path that such an analyst can take.

Setting. Fix neighbours D, D'. A path is a transcript: what was charged and what was answered, in order (a charge whose
answer never came is a step without an answer). T and T' are its laws on D and D'. Each charge states, from the plan
alone, two sets of figures that were proved of the release, for either direction (with other R, R' perhaps):
  (epsilon, delta): the release is (epsilon, delta)-differentially private;
  (renyi, plain, failure): there are runs R, R' such that their Renyi divergence of order alpha = 1 + a is at most r, M
    differs from R with probability at most `plain + failure` (total variation), and on the other side M' >= e^-g (R' -
    F'), outcome by outcome, for a part F' of R' of mass at most `failure`; renyi = r + g, both at least 0.
A path is admitted if its sums pass one of two tests, with delta_B + delta_R = delta:
  B (basic):  sum epsilon <= eps  and  sum delta <= delta_B;
  R (Renyi):  sum renyi <= bound,  where eps = bound + ln(a/(1+a)) - (ln delta_acc + ln(1+a))/a,  and
              sum plain + sum failure <= x phi  and  e^E sum failure <= (1-x) phi,  with phi = delta_R - delta_acc.
              A path with a failure fails R while eps > E.
The shares of delta, x, E and a are fixed before the first answer. (eps, delta) may be changed on the way, for whatever
reason; a change to what the sums do not pass is refused.

Whoever chooses the releases and the changes, and however: the whole transcript is (eps, delta)-differentially private,
for the largest eps and the largest delta that are in force at the end of any path. Releases may overlap. Theorem, proof
and why x and the shares are needed: docs/mathematics.md#privacy-filter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction

from fim_private.accounting.rounding import RELATIVE_ERROR, exp_up, round_down
from fim_private.privacy import Budget

HALF = Fraction(1, 2)
_ORDERS = [round_down(10 ** (step / 100), digits=6) for step in range(-200, 1001)]
"""Tried for a: every order is valid, a coarse search costs tightness alone."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What a release costs, or several together: sums of exact fractions.

    Args:
        epsilon: with `delta`, what was proved of the release by itself.
        delta: likewise.
        renyi: Renyi divergence at the filter's order, and what the independent failures cost of epsilon; rounded up.
        plain: probability of failures that are paid once.
        failure: probability of failures that are paid on both sides, on the other side e^E times.
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    renyi: Fraction = Fraction(0)
    plain: Fraction = Fraction(0)
    failure: Fraction = Fraction(0)

    def __add__(self, other: Charge) -> Charge:
        """Both, one after the other."""
        return Charge(**{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)})


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Says whether what was charged stays within a budget, whoever chose it and however.

    Args:
        budget: (eps, delta) for everything together.
        basic_share: of delta, what the basic test has, from 0 to 1; the Renyi test has the rest.
        order: a = alpha - 1 of the Renyi test, > 0; None to do without it.
        failing_epsilon: E; None where no failure may be paid on both sides, and the whole of phi is for those that are
            paid once (x = 1). Otherwise each side has half of phi (x = 1/2).
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
        """phi, what of delta_R the failures may use: half; the other half is delta_acc."""
        return self.renyi_delta * HALF

    @property
    def bound(self) -> Fraction | None:
        """How much Renyi divergence is allowed in all, rounded down; None where the Renyi test allows nothing."""
        if self.order is None or self.renyi_delta == 0:
            return None
        return renyi_bound(self.budget.epsilon, self.renyi_delta - self.failures_delta, self.order)

    def pays(self, spent: Charge) -> bool:
        """Whether the Renyi test can count these failures at all, however few."""
        return spent.failure == 0 or (self.failing_epsilon is not None and self.budget.epsilon <= self.failing_epsilon)

    def failures_share(self, spent: Charge) -> Fraction:
        """How much of what the failures may use these take, on the side that takes more of it; rounded up.

        Raises:
            ValueError: the Renyi test cannot count them.
        """
        if not self.pays(spent):
            raise ValueError("this filter cannot pay failures on both sides")
        if self.failing_epsilon is None:
            return spent.plain / self.failures_delta
        each_side = self.failures_delta * HALF
        return max(spent.plain + spent.failure, exp_up(self.failing_epsilon) * spent.failure) / each_side

    def renyi_share(self, spent: Charge) -> Fraction:
        """How much of what the Renyi test allows this takes, in divergence or in failures; above 1 it fails.

        Raises:
            ValueError: there is no Renyi test, or it cannot count these failures.
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
        """Whether everything charged, the new charge included, keeps the promise."""
        return self.passes_basic(spent) or self.passes_renyi(spent)


def renyi_bound(epsilon: Fraction, delta_acc: Fraction, order: Fraction) -> Fraction | None:
    """The divergence of order 1 + a that is (epsilon, delta_acc), rounded down; None if that is not above 0.

    epsilon = bound + ln(a/(1+a)) - (ln delta_acc + ln(1+a))/a (Canonne, Kamath, Steinke 2020, Proposition 12).
    """
    a = float(order)
    shift, conversion = math.log1p(1 / a), (log_of(delta_acc) + math.log1p(a)) / a
    bound = float(epsilon) + shift + conversion
    bound -= RELATIVE_ERROR * (float(epsilon) + shift + abs(conversion))
    return round_down(bound, digits=12) if bound > 0 else None


def best_order(epsilon: Fraction, delta_acc: Fraction) -> Fraction | None:
    """The order a at which most releases of Gaussian kind (a divergence of about 1 + a) fit; None if none does."""
    bounds = ((order, renyi_bound(epsilon, delta_acc, order)) for order in _ORDERS)
    fitting = {order: bound / (1 + order) for order, bound in bounds if bound is not None}
    return max(fitting, key=lambda order: fitting[order], default=None)


def log_of(value: Fraction) -> float:
    """ln of a fraction, which may be too small for a float."""
    return math.log(value.numerator) - math.log(value.denominator)
