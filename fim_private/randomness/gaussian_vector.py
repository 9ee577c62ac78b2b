"""Many discrete Gaussian draws at once: the exact sampler of `discrete_gaussian.py`, compiled, on 64-bit integers.

Every comparison is between integers, so the law is exactly the defined one, as in the slow sampler. Sizes: let
t = isqrt(variance) + 1, and variance be at most `LARGEST_VARIANCE`. All products then stay below 2^63, except for
magnitudes beyond 44 t, which are handled separately.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.randomness.discrete_gaussian import sample_discrete_gaussian
from fim_private.randomness.laplace_vector import Words, decays, draw_many, of_any_size, signed
from fim_private.randomness.source import Randomness

LARGEST_VARIANCE = 2**26
"""The compiled sampler serves up to this variance, and the slow one beyond."""

# Numba compiles a loop once more for each number that a caller writes out, unless the number says its type.
_NONE, _ONE = (cast(int, np.int64(number)) for number in range(2))


def sample_discrete_gaussians(variance: int, number: int, randomness: Randomness) -> NDArray[np.int64]:
    """Independent exact draws, int64, shape (number,), with a variance sigma^2 of at least 1.

    Cost: under a microsecond per draw.
    """
    if variance > LARGEST_VARIANCE:
        return of_any_size(sample_discrete_gaussian(Fraction(variance), randomness) for _ in range(number))
    scale = math.isqrt(variance) + 1
    return draw_many(number, randomness, lambda drawn, done, words: _fill(drawn, done, variance, scale, words))


@compiled
def _fill(drawn: NDArray[np.int64], done: int, variance: int, scale: int, words: Words) -> tuple[int, int]:
    """Draw until the array is full or the words are used up; return how many draws are done, and the words used."""
    used = _NONE
    while done < len(drawn):
        value, at = _one(variance, scale, words, used)
        if at > len(words):
            break
        drawn[done] = value
        done += 1
        used = at
    return done, used


@compiled
def _one(variance: int, scale: int, words: Words, at: int) -> tuple[int, int]:
    """One draw, and the place of the next unused word; the place is beyond the end if there were too few words."""
    while at <= len(words):
        low, high, sign, at = signed(scale, words, at)
        magnitude = low + scale * high
        # Accepted with probability e^{-(|Y| - variance/t)^2 / (2 variance)} (Algorithm 3).
        accepted, at = _accepted(magnitude, high, variance, scale, words, at)
        if accepted:
            return (-magnitude if sign == 1 else magnitude), at
    return 0, at


@compiled
def _accepted(  # noqa: PLR0917 - compiled functions take no keywords
    magnitude: int, high: int, variance: int, scale: int, words: Words, at: int
) -> tuple[bool, int]:
    whole, rest, denominator = 900, 0, 1
    if high <= 44:
        distance = magnitude * scale - variance
        denominator = 2 * variance * scale * scale
        whole, rest = distance * distance // denominator, distance * distance % denominator
    accepted = True
    while accepted and whole > 0:
        accepted, at = decays(_ONE, _ONE, words, at)
        whole -= 1
    if accepted and high > 44 and at <= len(words):
        # The exponent exceeds 900, so one of these trials fails, except with probability 1e-390.
        raise OverflowError("a draw that nobody has ever seen")
    if accepted:
        accepted, at = decays(rest, denominator, words, at)
    return accepted, at
