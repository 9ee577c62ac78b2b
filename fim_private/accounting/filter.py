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

Theorem. Whoever chooses the releases and the changes, and however: the whole transcript is (eps, delta)-differentially
private, for the largest eps and the largest delta that are in force at the end of any path.

Proof. Let S be a set of transcripts; those in it whose final sums pass B are S_B, the others, which pass R, S_R. It is
enough that S_B alone is (eps, delta_B) and S_R alone (eps, delta_R), for T(S) = T(S_B) + T(S_R). After an answer that M
never gives, which R may give, let the analyst stop.

B. All sums only grow, so all that leads to a transcript of S_B passes B at every step with the largest totals, and it
has the same probability when the analyst is stopped at the first step that would not. For that analyst (Rogers, Roth,
Ullman, Vadhan 2016, by induction over the steps left): let the next release be (e, d), and let p and q be the
probabilities of S_B after its answer o, on D and D'. By induction p(o) <= min(1, e^(eps-e) q(o)) + delta_B - d, so
T(S_B) <= delta_B - d + E_M min(1, e^(eps-e) q) <= delta_B - d + e^e E_M' min(1, e^(eps-e) q) + d <= delta_B + e^eps
T'(S_B), since a function with values in [0, 1] is an average of events.

R (its first part: Feldman and Zrnic 2021; Lecuyer 2021). Let Q, Q' be the laws of the transcript with R_i for M_i, and
L the log ratio of the two. For a transcript, eps, bound and delta_acc are those in force at its end; delta* is the
largest delta_acc, phi* the largest phi.
(1) Under Q, Z = exp(a (L - sum r)) is a supermartingale over the steps, of mean at most 1. On S_R sum (r + g) <= bound,
so with y = L + sum g, e^{ay} = Z e^{a sum (r + g)} <= Z e^{a bound} there. For every y, (1 - e^{eps-y})_+ is at most
e^{a(y-eps)} (a/(1+a))^a/(1+a) (Canonne, Kamath, Steinke 2020, Proposition 12), which is at most Z delta_acc by the
choice of the bound. Hence  Q(S_R) - E_Q'[e^{eps - sum g}; S_R] <= E_Q[1 - e^{eps-y}; S_R] <= E_Q[Z delta*] <= delta*.
(2) Replace R_i by M_i from the last step to the first. Step i changes the probability of S_R by at most E_Q[plain_i +
failure_i] over those histories from which S_R can still be reached. These are beginnings of transcripts of S_R, along
which the sum is at most x phi, so T(S_R) <= Q(S_R) + x phi*.
(3) Let V(h) be E_Q'[e^{eps - sum g}; S_R] and V'(h) be E_T'[e^eps; S_R], each given history h, with g summed from h on.
Let W(h) be e^E times the largest sum of `failure` from h on, over the transcripts of S_R that h can lead to (0 if there
are none). Then V(h) <= V'(h) + W(h), by induction from the end: V(h) = e^-g E_R'[V(ho)] <= E_M'[V(ho)] + failure max V,
where the maximum is over what F' can still lead to. If failure > 0, then eps <= E on all transcripts of S_R after it,
so max V <= e^E, and failure e^E + W(ho) <= W(h). At the start W <= (1-x) phi*.
Together T(S_R) <= Q(S_R) + x phi* <= E_Q'[e^{eps - sum g}; S_R] + delta* + x phi* <= E_T'[e^eps; S_R] + delta* + phi*,
which is at most e^eps T'(S_R) + delta_R for the largest eps and delta.                                             []

Why x: the failures of (2) are counted under the law on D, those of (3) under the law on D'. A cap on the weighted sum
of both along each path bounds neither sum of expectations: after an answer that is likelier on D an analyst can spend
all of it on failures of the one kind, and after an answer that is likelier on D' all of it on the other.

Releases may overlap: answers that come after the next charge only leave the analyst less to go by when making it.

delta has to be shared between the tests for the same reason: an analyst may go one way after some answers and the other
way after others. The shares, x and E may depend on the first plan (nothing has been answered then), and on nothing
later.
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
