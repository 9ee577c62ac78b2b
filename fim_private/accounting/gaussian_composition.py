"""Gaussian composition: add up what steps cost as Gaussian noise, convert the sum exactly. Valid for adaptive choices.

A step costs rho if no more can be learnt from it, whatever follows, than from one number with Gaussian noise of
variance 1/(2 rho) that moves by 1. The cost of Gaussian noise is its rho. A pick of bounded range epsilon costs little
more than epsilon^2/8 where more steps of its kind follow, and pi epsilon^2/16 where none does.

For twenty picks and more it proves a smaller delta than Renyi composition does.
Proofs: docs/mathematics.md#gaussian-composition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.privacy import BoundedRange, Gaussian, Loss, tally

FACTORS = (
    (0.0, math.pi / 2),
    *(
        (after, 1 + 1 / (24 * after))
        for after in (0.1, 0.15, 0.2, 0.25, 0.3, 0.39, 0.5, 0.62, 0.75, 0.9, 1.1, 1.3, 1.5)
    ),
    *((after, 1.0005 + 1 / (24 * after)) for after in (1.8, 2.2, 2.8, 3.5, 4.5, 6.0)),
)
"""What a pick costs, in epsilon^2/8, if what follows costs at least so much, in epsilon^2/2.

The first number is proved on paper, the others by a program: `tests/accounting/test_gaussian_composition.py`.
"""
_PANELS = 16
_FAR = 4.0
WIDEST = 1.9
"""For picks of a larger epsilon another bound takes over. The factor for `_wide` exists up to 1.936."""


@cache
def picks_cost(picks: int) -> float:
    """What so many picks of bounded range epsilon cost together, in epsilon^2/2, without the factor `_wide`.

    >>> round(picks_cost(1), 6), round(picks_cost(100), 6)
    (0.392699, 25.420742)
    """
    cost, place = 0.0, 0
    for _ in range(picks):
        while place + 1 < len(FACTORS) and cost >= FACTORS[place + 1][0]:
            place += 1
        cost += FACTORS[place][1] / 4
    return cost * (1 + RELATIVE_ERROR)


def pick_rho(epsilon: float, picks: int = 1) -> float:
    """What so many picks of bounded range epsilon cost together, rounded up.

    A pick of a wide range is taken for any step with this epsilon, which costs 4 epsilon at most.
    """
    if epsilon > WIDEST:
        return 4 * epsilon * picks
    return _wide(epsilon) * picks_cost(picks) * epsilon**2 / 2 * (1 + RELATIVE_ERROR)


def _wide(epsilon: float) -> float:
    """A factor of at least e^(b/4), where b = pi epsilon^2/8 times the factor is the most that a pick adds to 2 rho."""
    share, factor = math.pi * epsilon**2 / 32, math.e
    for _ in range(20):
        factor = math.exp(share * factor)
    return factor


def gaussian_rho(losses: Sequence[Loss]) -> float:
    """What all steps cost together, rounded up; infinite if one of them is neither Gaussian noise nor a pick."""
    total = 0.0
    for loss, times in tally(losses).items():
        match loss:
            case Gaussian(rho):
                total += times * float(rho)
            case BoundedRange(epsilon):
                total += pick_rho(float(epsilon), times)
            case _:
                return math.inf
    return total * (1 + RELATIVE_ERROR)


def gaussian_delta(losses: Sequence[Loss], epsilon: float) -> float:
    """The least delta that Gaussian composition proves at `epsilon` >= 0, rounded up; 1 if it proves nothing."""
    rho = gaussian_rho(losses)
    return profile(rho, epsilon) if math.isfinite(rho) else 1.0


def profile(rho: float, epsilon: float) -> float:
    """delta at epsilon of one number with Gaussian noise, rounded up.

    With m = sqrt(2 rho) and z = epsilon/m - m/2 it is P(N > z) - e^epsilon P(N > z + m). By the Mills ratio R = P(N >
    z)/density this is density(z) (R(z) - R(z + m)), and -R' = 1 - z R is convex and falls, so that the trapezoid rule
    errs upwards. The difference itself would lose its digits.
    """
    if rho == 0:
        return 0.0
    move = math.sqrt(2 * rho)
    low = epsilon / move - move / 2
    density = math.exp(-low * low / 2) / math.sqrt(2 * math.pi)
    if low < 0:
        tail = math.erfc(low / math.sqrt(2)) / 2
        return min(1.0, (tail - density * _mills(low + move)) * (1 + 1e-9) + 1e-15)
    panels = np.linspace(low, low + move, _PANELS + 1)
    falls = np.array([_falls(at) for at in panels.tolist()])
    area = float(falls.sum() - (falls[0] + falls[-1]) / 2) * move / _PANELS
    return min(1.0, density * area * (1 + 1e-9))


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
    for number in range(80, 0, -1):
        rest = number / (at + rest)
    return rest
