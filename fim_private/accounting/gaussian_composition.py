"""Gaussian composition: add up what steps cost as Gaussian noise, convert the sum exactly. Valid for adaptive choices.

Steps cost rho together if no more can be learnt from them, whatever follows, than from one number with Gaussian noise
of variance 1/(2 rho) that moves by 1. The cost of Gaussian noise is its rho. A pick of bounded range epsilon costs
little more than epsilon^2/8 where steps that cost more follow, and at most pi epsilon^2/16 where none does.

For Gaussian noise, and for twenty picks and more, it proves less than Renyi composition does: a smaller epsilon.
Proofs: docs/mathematics.md#gaussian-composition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from statistics import NormalDist

from fim_private.accounting.rising import FLAT, staged
from fim_private.accounting.rounding import RELATIVE_ERROR, ROUNDED_DOWN, round_down
from fim_private.accounting.search import crossed, halved
from fim_private.privacy import ROUNDING_VARIANCE, BoundedRange, Chosen, DiscreteGaussian, Gaussian, Loss, PureDP

FACTORS = (
    (0.0, math.pi / 2),
    *(
        (after, 1 + 1 / (24 * after))
        for after in (0.1, 0.15, 0.2, 0.25, 0.3, 0.39, 0.5, 0.62, 0.75, 0.9, 1.1, 1.3, 1.5)
    ),
    *((after, 1.0005 + 1 / (24 * after)) for after in (1.8, 2.2, 2.8, 3.5, 4.5, 6.0)),
)
"""What a pick costs, in epsilon^2/8, if what follows costs at least this much, in epsilon^2/2.

The first number is proved on paper, the others by a program: `tests/accounting/test_gaussian_composition.py`.
"""
_CANCELS = 1e-3
_FAR = 4.0
"""From there on thirty steps of the continued fraction give fifteen digits."""
_CLOSE, _LEAST = 1e-11, 1e-12
_LEAST_DENSITY = 1e-300
"""Floats of less lose digits, and 0 would prove too much, or nothing."""
WIDEST = 1.9
"""For several picks of a larger epsilon nothing is saved. The factor for `_wide` exists up to 1.935."""
_NARROW, _FLOATS = 0.01, 1000.0
"""Between these, floats give what a single pick costs to ten digits."""


def picks_cost(picks: int, after: float = 0.0) -> float:
    """What `picks` picks of bounded range epsilon cost together, in epsilon^2/2, without the factor `_wide`.

    `after` is what the steps that follow cost, in epsilon^2/2, rounded down.

    >>> round(picks_cost(1), 6), round(picks_cost(100), 6), round(picks_cost(1, after=1.0), 6)
    (0.392699, 25.420742, 0.261574)
    """
    cost, place = 0.0, 0
    for done in range(picks):
        while place + 1 < len(FACTORS) and after + cost >= FACTORS[place + 1][0]:
            place += 1
        each = FACTORS[place][1] / 4
        if place + 1 == len(FACTORS):
            cost += (picks - done) * each
            break
        cost += each
    return cost * (1 + RELATIVE_ERROR)


def pick_rho(epsilon: float, picks: int = 1, after: float = 0.0) -> float:
    """What `picks` picks of bounded range epsilon cost together, rounded up, if the steps that follow cost `after`."""
    single = picks * _single(epsilon)
    if epsilon > WIDEST:
        return single
    steps = picks_cost(picks, ROUNDED_DOWN * 2 * after / max(epsilon**2, _LEAST_DENSITY))
    return min(single, _wide(epsilon) * steps * epsilon**2 / 2 * (1 + RELATIVE_ERROR))


@lru_cache(maxsize=256)
def range_costing(rho: float, picks: int = 1, after: float = 0.0, rise: Fraction = FLAT) -> Fraction:
    """The largest epsilon of so many picks of bounded range that cost at most rho > 0 together, rounded down.

    Args:
        rho: what the picks may cost.
        picks: how many picks.
        after: what the steps that follow cost.
        rise: how much more later picks get than earlier ones (`rising.py`). The epsilon is that of the middle ones.
    """
    stages = [(float(factor), times) for factor, times in reversed(staged(picks, rise))]
    # What follows may have been rounded up. The table has steps, and the search ends at one of them now and then.
    least = after * (1 - 3 * RELATIVE_ERROR)

    def fits(epsilon: float) -> bool:
        cost = 0.0
        for factor, alike in stages:
            cost += pick_rho(epsilon * factor, alike, least + cost)
        return cost * (1 + RELATIVE_ERROR) <= rho

    high = math.sqrt(8 * rho / picks)
    while fits(high):
        high *= 2
    low = high / 2
    while not fits(low):
        low /= 2
    fitting, _ = halved(fits, low, high, 40)
    return round_down(fitting)


def _single(epsilon: float) -> float:
    """m^2/2, where the logistic law with a shift of epsilon/2 exceeds 0 as often as the normal law with one of m/2."""
    if epsilon < _NARROW:
        return math.pi * epsilon**2 / 16 * (1 + RELATIVE_ERROR)
    if epsilon > _FLOATS:
        return 2 * epsilon
    half = NormalDist().inv_cdf(1 / (1 + math.exp(epsilon / 2)))
    return 2 * half**2 * (1 + RELATIVE_ERROR)


def _wide(epsilon: float) -> float:
    """A factor of at least e^(b/4), where b = pi epsilon^2/8 times the factor is the most that a pick adds to 2 rho."""
    share, factor = math.pi * epsilon**2 / 32, math.e
    for _ in range(20):
        factor = math.exp(share * factor)
    return factor


def gaussian_rho(losses: Sequence[Loss]) -> float:
    """What all steps cost together, rounded up; infinite if one of them has a delta of its own.

    Args:
        losses: in the order in which the steps are taken, or in any in which no step depends on the answer of one that
            is listed later.
    """
    return _added(losses, 0.0) * (1 + RELATIVE_ERROR)


def _added(losses: Sequence[Loss], total: float) -> float:
    """What these steps and those that follow cost together; `total` is what those that follow cost."""
    for loss, alike in groupby(reversed(losses)):
        times = sum(1 for _ in alike)
        match loss:
            case Gaussian(rho):
                total += times * float(rho)
            case DiscreteGaussian() if loss.variance > ROUNDING_VARIANCE:
                total += times * float(loss.gaussian.rho)
            case BoundedRange(epsilon):
                total += pick_rho(float(epsilon), times, total)
            case PureDP(epsilon):
                total += times * _single(2 * float(epsilon))
            case Chosen(ways):
                for _ in range(times):
                    total = max(_added(way, total) for way in ways)
            case _:
                return math.inf
    return total


def gaussian_delta(losses: Sequence[Loss], epsilon: float) -> float:
    """The least delta that Gaussian composition proves at `epsilon` >= 0, rounded up; 1 if it proves nothing."""
    rho = gaussian_rho(losses)
    return profile(rho, epsilon) if math.isfinite(rho) else 1.0


def gaussian_epsilon(losses: Sequence[Loss], delta: float) -> float:
    """The least epsilon that Gaussian composition proves at `delta` > 0, rounded up; infinite if it proves nothing."""
    rho = gaussian_rho(losses)
    if math.isinf(rho):
        return math.inf
    if profile(rho, 0.0) <= delta:
        return _LEAST

    def beyond(epsilon: float) -> float:
        """Nearly linear in epsilon, and at least 0 where delta is enough."""
        return math.sqrt(-2 * math.log(profile(rho, epsilon))) - math.sqrt(-2 * math.log(delta))

    # Zero-concentrated privacy proves the upper end.
    most = rho + 2 * math.sqrt(-rho * math.log(delta))
    return crossed(beyond, 0.0, most, close=_CLOSE * most)[1]


def profile(rho: float, epsilon: float) -> float:
    """delta at epsilon of one number with Gaussian noise, rounded up.

    With m = sqrt(2 rho) and z = epsilon/m - m/2 it is P(N > z) - e^epsilon P(N > z + m). By the Mills ratio R = P(N >
    z)/density this is density(z) (R(z) - R(z + m)), and -R' = 1 - z R is convex and falls, so that the trapezoid rule
    errs upwards. It serves where m is so small that the difference itself would lose its digits.
    """
    if rho == 0:
        return 0.0
    move = math.sqrt(2 * rho)
    low = epsilon / move - move / 2
    density = math.exp(-low * low / 2) / math.sqrt(2 * math.pi) + _LEAST_DENSITY
    if low < 0:
        tail = math.erfc(low / math.sqrt(2)) / 2
        return min(1.0, (tail - density * _mills(low + move)) * (1 + 1e-9) + 1e-15)
    if move > _CANCELS * (1 + low):
        return min(1.0, density * (_mills(low) - _mills(low + move)) * (1 + 1e-9))
    ends, middle = _falls(low) + _falls(low + move), _falls(low + move / 2)
    return density * (ends / 4 + middle / 2) * move * (1 + 1e-9)


def _mills(at: float) -> float:
    """P(N > at)/density(at)."""
    if at < _FAR:
        return math.sqrt(math.pi / 2) * math.exp(at * at / 2) * math.erfc(at / math.sqrt(2))
    return 1 / (at + _continued(at))


def _falls(at: float) -> float:
    """1 - at R(at), by the continued fraction R = 1/(at + 1/(at + 2/(at + ...))) where digits would be lost."""
    if at < _FAR:
        return 1 - at * _mills(at)
    rest = _continued(at)
    return rest / (at + rest)


def _continued(at: float) -> float:
    """1/(at + 2/(at + 3/(at + ...)))."""
    rest = 0.0
    for number in range(30, 0, -1):
        rest = number / (at + rest)
    return rest
