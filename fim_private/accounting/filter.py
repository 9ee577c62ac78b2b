"""When the next release still fits: a privacy filter for releases that people choose after seeing the earlier ones.

Composition of a list that was fixed beforehand is not enough for a ledger: what is asked next, and whether anything
is, depends on the answers so far. A filter has to keep its promise on every path that such an analyst can take.

Setting. Fix neighbours D, D'. A path is a transcript: what was charged and what was answered, in order (a charge whose
answer never came is a step without an answer). T and T' are its laws on D and D'. Each charge states, from the plan
alone, two sets of figures that were proved of the release, for either direction:
  (epsilon, delta): the release is (epsilon, delta)-differentially private;
  (renyi, plain, failure): there are runs R, R' such that their Renyi divergence of order alpha = 1 + a is at most r, M
    differs from R with probability at most `plain + failure` (total variation), and on the other side M' >= e^-g (R'
    less an event of probability `failure`), outcome by outcome; renyi = r + g.
A path is admitted if its sums pass one of two tests, with delta_B + delta_R = delta fixed before the first answer:
  B (basic):  sum epsilon <= eps  and  sum delta <= delta_B;
  R (Renyi):  sum renyi <= bound  and  delta_acc + sum plain + (1 + e^eps) sum failure <= delta_R,
              where eps = bound + ln(a/(1+a)) - (ln delta_acc + ln(1+a))/a.

Theorem. Whoever chooses the releases, and however: the whole transcript is (eps, delta)-differentially private.

Proof. Let S be a set of transcripts; those in it whose final sums pass B are S_B, the others, which pass R, S_R. All
sums only grow, so all that leads to a transcript of S_B passed B at every step, and it has the same probability when
the analyst is stopped at the first step that would fail B; likewise R. So it is enough that each filter alone is
(eps, delta_B) and (eps, delta_R), for T(S) = T(S_B) + T(S_R).

B alone (Rogers, Roth, Ullman, Vadhan 2016, by induction over the steps left). Let the next release be (e, d), and let p
and q be the probabilities of S after its answer o, on D and D'. By induction p(o) <= min(1, e^(eps-e) q(o)) + delta_B -
d, so T(S) <= delta_B - d + E_M min(1, e^(eps-e) q) <= delta_B - d + e^e E_M' min(1, e^(eps-e) q) + d <= delta_B +
e^eps T'(S), since a function with values in [0, 1] is an average of events.

R alone (Feldman and Zrnic 2021; Lecuyer 2021). Let Q, Q' be the laws of the transcript with R_i for M_i, and L the log
ratio of the two. Under Q, Z = exp(a (L - sum r)) is a supermartingale over the steps, of mean at most 1, and on every
path sum (r + g) <= bound, so with y = L + sum g, E_Q e^{ay} = E_Q [Z e^{a sum (r + g)}] <= e^{a bound}. For every y,
(1 - e^{eps-y})_+ <= e^{a(y-eps)} (a/(1+a))^a/(1+a) (Canonne, Kamath, Steinke 2020, Proposition 12). Hence
    Q(S) - E_Q'[e^{eps - sum g}; S] = E_Q[1 - e^{eps-y}; S] <= delta_acc,
by the choice of the bound. Step by step M' >= e^-g (R' less its failure), so E_Q'[e^{-sum g}; S] <= T'(S) + sum
failure; and T(S) <= Q(S) + sum plain + sum failure by coupling the two until they first differ. Together T(S) <=
e^eps T'(S) + delta_acc + sum plain + (1 + e^eps) sum failure.                                                      []

Releases may overlap: answers that come after the next charge only leave the analyst less to go by when making it.

delta has to be shared between the tests: an analyst may go one way after some answers and the other way after others.
How it is shared may depend on the first plan (nothing has been answered then), and on nothing later.
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
        failure: probability of failures that are paid 1 + e^eps times.
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
    """

    budget: Budget
    basic_share: Fraction = Fraction(1)
    order: Fraction | None = None

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
        """What of delta_R the failures may use: half; the other half is delta_acc."""
        return self.renyi_delta * HALF

    @property
    def bound(self) -> Fraction | None:
        """How much Renyi divergence is allowed in all, rounded down; None where the Renyi test allows nothing."""
        if self.order is None or self.renyi_delta == 0:
            return None
        return renyi_bound(self.budget.epsilon, self.renyi_delta - self.failures_delta, self.order)

    def failures(self, spent: Charge) -> Fraction:
        """What the failures use of delta_R, rounded up."""
        return spent.plain + (1 + exp_up(self.budget.epsilon)) * spent.failure

    def renyi_share(self, spent: Charge) -> Fraction:
        """How much of what the Renyi test allows this takes, in divergence or in failures; above 1 it fails.

        Raises:
            ValueError: there is no Renyi test.
        """
        if self.bound is None:
            raise ValueError("this filter has no Renyi test")
        return max(spent.renyi / self.bound, self.failures(spent) / self.failures_delta)

    def passes_basic(self, spent: Charge) -> bool:
        """Test B."""
        return spent.epsilon <= self.budget.epsilon and spent.delta <= self.basic_delta

    def passes_renyi(self, spent: Charge) -> bool:
        """Test R."""
        return self.bound is not None and self.renyi_share(spent) <= 1

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
