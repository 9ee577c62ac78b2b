"""Analysts of two steps, and how much each gains from a filter: their transcripts' exact laws, without sampling.

The first release has two answers, A and B; the second is chosen after the answer. It has one outcome that counts (its
log ratio carries the path above epsilon) and the rest, and it fails in the two ways that charges know of, at its worst:
  plain: with this probability it reveals everything on D, instead of answering; on D' it never does;
  failure: on D it reveals, taken from the rest; on D' it takes from the outcome that counts.
Both releases keep all that their charges claim, in either direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from fim_private.accounting.privacy_filter import Charge, PrivacyFilter
from fim_private.accounting.rounding import round_down, round_up

KINDS = ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5))
"""How the second release shares out what failures may use: plain, on both sides, or half of each."""
BEYOND = (0.5, 1.0, 2.0)
"""How far beyond epsilon the log ratio of a path goes, in units of ln(1 + 1/a), where the conversion is tight."""
STEPS = 40
"""The number of halvings of a search."""


@dataclass(frozen=True, kw_only=True)
class Analyst:
    """The first release, with the chance of A on D and on D', and what is charged for it."""

    here: float
    there: float
    charge: Charge

    def gain(self, rule: PrivacyFilter) -> float:
        """T(S) - e^eps T'(S) of the best S, with the best second release after each answer."""
        paths = ((self.here, self.there), (1 - self.here, 1 - self.there))
        return sum(_best_gain(rule, self.charge, *path) for path in paths)


def analysts(rule: PrivacyFilter, chances: Sequence[float], shifts: Sequence[float]) -> Iterator[Analyst]:
    """Those whose first release the filter admits: A as likely as this on D, its log odds so much lower on D'."""
    for here, shift in product(chances, shifts):
        there = 1 / (1 + math.exp(shift + math.log((1 - here) / here)))
        charge = Charge(epsilon=Fraction(10**6), renyi=round_up(divergence(rule, here, there) * (1 + 1e-9)))
        if rule.admits(charge):
            yield Analyst(here=here, there=there, charge=charge)


def divergence(rule: PrivacyFilter, here: float, there: float) -> float:
    """The Renyi divergence of two laws with two outcomes, at the filter's order, in the larger direction."""
    a = float(rule.order)
    pair = ((here, there), (1 - here, 1 - there))
    one, other = (sum(p * (p / q) ** a for p, q in laws) for laws in (pair, [(q, p) for p, q in pair]))
    return math.log(max(one, other)) / a


def _best_gain(rule: PrivacyFilter, spent: Charge, here: float, there: float) -> float:
    """Of one path, over second releases that fit to the last digit."""
    needed = float(rule.budget.epsilon) - math.log(here / there)
    best = 0.0
    for plain_share, failing_share in KINDS:
        most = _largest(
            lambda size, plain=plain_share, failing=failing_share: rule.admits(
                spent + _failing(size * plain, size * failing)
            ),
            float(rule.renyi_delta),
        )
        plain, failing = most * plain_share, most * failing_share
        charge = spent + _failing(plain, failing)
        for beyond in BEYOND:
            ratio = needed + beyond * math.log1p(1 / float(rule.order))

            def admitted(chance: float, ratio: float = ratio, charge: Charge = charge) -> bool:
                renyi = divergence(rule, chance, chance * math.exp(-ratio))
                return rule.admits(charge + Charge(renyi=round_up(renyi * (1 + 1e-9))))

            counts = _largest(admitted, 1 - 1e-9, least=1e-30)
            if counts:
                best = max(best, _gain(rule, here, there, counts, ratio, plain, failing))
    return best


def _gain(
    rule: PrivacyFilter, here: float, there: float, counts: float, ratio: float, plain: float, failing: float
) -> float:
    epsilon = float(rule.budget.epsilon)
    kept = max(0.0, counts * math.exp(-ratio) - failing)
    answered = max(0.0, here * (1 - plain) * counts - math.exp(epsilon) * there * kept)
    return answered + here * (plain + (1 - plain) * min(failing, 1 - counts))


def _failing(plain: float, failing: float) -> Charge:
    divergence_of_leak = round_up(-math.log1p(-plain) * (1 + 1e-9)) if plain else Fraction(0)
    figures = (round_down(size) if size else Fraction(0) for size in (plain, failing))
    return Charge(renyi=divergence_of_leak, **dict(zip(("plain", "failure"), figures, strict=True)))


def _largest(admitted, most: float, least: float = 1e-18) -> float:
    """The largest size that is admitted, to a part in a thousand million; 0 if not even `least` is."""
    if not admitted(least):
        return 0.0
    low, high = math.log(least), math.log(most)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if admitted(math.exp(middle)) else (low, middle)
    return math.exp(low)
