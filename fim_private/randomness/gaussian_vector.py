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
from fim_private.randomness.source import Randomness

Words = NDArray[np.uint64] | NDArray[np.uint8]
"""Uniform bits, of 64 or of 8 to a word. What is drawn has the same law."""

LARGEST_VARIANCE = 2**26
"""The compiled sampler serves up to this variance, and the slow one beyond."""

# Numba compiles a loop once more for each number that a caller writes out, unless the number says its type.
_NONE, _ONE, _TWO = (cast(int, np.int64(number)) for number in range(3))

_WORDS_AT_ONCE = 2**20
_WORDS_A_DRAW = 24  # expected, rounded up
_MANY = 2**20
"""So many draws take their bits by the byte. Otherwise most of the time is spent on bits that nobody uses.

Fewer take 64 bits for each number below a bound, so that a seed gives what it gave in the published reports.
"""


def sample_discrete_gaussians(variance: int, number: int, randomness: Randomness) -> NDArray[np.int64]:
    """Independent exact draws, int64, shape (number,).

    Args:
        variance: sigma^2, a whole number, at least 1.
        number: how many.
        randomness: where the bits come from.

    Cost: under a microsecond per draw.
    """
    if variance > LARGEST_VARIANCE:
        return np.array([sample_discrete_gaussian(Fraction(variance), randomness) for _ in range(number)], np.int64)
    drawn = np.empty(number, np.int64)
    scale = math.isqrt(variance) + 1
    done, kind = 0, np.dtype("uint8" if number >= _MANY else "uint64")
    words: Words = np.zeros(0, kind)
    while done < number:
        # The words that are left belong to the draw that needs more.
        more = min(_WORDS_AT_ONCE, _WORDS_A_DRAW * (number - done) + 256)
        words = np.concatenate([words, randomness.words(more).view(kind)])
        done, used = _fill(drawn, done, variance, scale, words)
        words = words[used:]
    return drawn


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
        # Discrete Laplace of this scale (Canonne, Kamath, Steinke 2020, Algorithm 2).
        low, at = _below(scale, words, at)
        kept, at = _decays(low, scale, words, at)
        if not kept:
            continue
        high = -1
        while kept and at <= len(words):
            high += 1
            kept, at = _decays(_ONE, _ONE, words, at)
        sign, at = _below(_TWO, words, at)
        magnitude = low + scale * high
        if sign == 1 and magnitude == 0:
            continue
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
        accepted, at = _decays(_ONE, _ONE, words, at)
        whole -= 1
    if accepted and high > 44 and at <= len(words):
        # The exponent exceeds 900, so one of these trials fails, except with probability 1e-390.
        raise OverflowError("a draw that nobody has ever seen")
    if accepted:
        accepted, at = _decays(rest, denominator, words, at)
    return accepted, at


@compiled
def _decays(numerator: int, denominator: int, words: Words, at: int) -> tuple[bool, int]:
    """Bernoulli(e^{-numerator/denominator}) for a quotient of at most 1 (Algorithm 1)."""
    length = 1
    while at <= len(words):
        drawn, at = _below(denominator * length, words, at)
        if drawn >= numerator:
            return length % 2 == 1, at
        length += 1
    return False, at


@compiled
def _below(bound: int, words: Words, at: int) -> tuple[int, int]:
    """A uniform integer below the bound, by rejection, with fresh words for each try; 0 if the words are used up."""
    mask, byte, half = np.uint64(1), np.uint64(8), np.uint64(4 * words.itemsize)
    while mask < np.uint64(bound - 1):
        mask = (mask << np.uint64(1)) | np.uint64(1)
    while True:
        bits, missing = np.uint64(0), mask
        while missing > 0:
            if at >= len(words):
                return 0, len(words) + 1
            bits = (bits << byte) | np.uint64(words[at])
            missing = missing >> half >> half  # in two steps: a shift by all 64 bits is not defined
            at += 1
        candidate = int(np.int64(bits & mask))  # unsigned it would be compared with the bound in floating point
        if candidate < bound:
            return candidate, at
