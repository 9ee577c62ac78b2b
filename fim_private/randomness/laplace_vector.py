"""Many discrete Laplace draws at once: the exact sampler of `discrete_laplace.py`, compiled, on 64-bit integers.

Every comparison is between integers, so the law is exactly the defined one, as in the slow sampler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.randomness.discrete_laplace import sample_discrete_laplace
from fim_private.randomness.source import Randomness

Words = NDArray[np.uint64] | NDArray[np.uint8]
"""Uniform bits, of 64 or of 8 to a word. What is drawn has the same law."""

LARGEST_SCALE = 2**40
"""The compiled sampler serves up to this scale, and the slow one beyond: all products stay below 2^63."""

# Numba compiles a loop once more for each number that a caller writes out, unless the number says its type.
_NONE, _ONE, _TWO = (cast(int, np.int64(number)) for number in range(3))

_WORDS_AT_ONCE = 2**20
_WORDS_A_DRAW = 24  # expected, rounded up
_MANY = 2**20
"""From this many draws on, bits are taken by the byte. Otherwise most of the time is spent on bits that nobody uses.

Fewer draws take 64 bits for each number below a bound, so that a seed gives what it gave in the published reports.
"""


def sample_discrete_laplaces(scale: int, number: int, randomness: Randomness) -> NDArray[np.int64]:
    """Independent exact draws, int64, shape (number,), with a scale of at least 1.

    Cost: under a microsecond per draw.
    """
    if scale > LARGEST_SCALE:
        return of_any_size(sample_discrete_laplace(Fraction(scale), randomness) for _ in range(number))
    return draw_many(number, randomness, lambda drawn, done, words: _fill(drawn, done, scale, words))


def of_any_size(draws: Iterable[int]) -> NDArray[np.int64]:
    """Draws modulo 2^64, int64. With counts they make the exact sums modulo 2^64, which tell no more than the sums.

    Only with delta 0 is noise wide enough to need that, and no name is then tested.
    """
    return np.array([draw % 2**64 for draw in draws], np.uint64).view(np.int64)


def draw_many(
    number: int, randomness: Randomness, fill: Callable[[NDArray[np.int64], int, Words], tuple[int, int]]
) -> NDArray[np.int64]:
    """Independent draws, int64, shape (number,).

    `fill` goes on with the array of draws from a place on until it is full or the words are used up. It returns how
    many draws are done, and the words used.
    """
    drawn = np.empty(number, np.int64)
    done, kind = 0, np.dtype("uint8" if number >= _MANY else "uint64")
    words: Words = np.zeros(0, kind)
    while done < number:
        # The words that are left belong to the draw that needs more.
        more = min(_WORDS_AT_ONCE, _WORDS_A_DRAW * (number - done) + 256)
        words = np.concatenate([words, randomness.words(more).view(kind)])
        done, used = fill(drawn, done, words)
        words = words[used:]
    return drawn


@compiled
def _fill(drawn: NDArray[np.int64], done: int, scale: int, words: Words) -> tuple[int, int]:
    used = _NONE
    while done < len(drawn):
        low, high, sign, at = signed(scale, words, used)
        if at > len(words):
            break
        magnitude = low + scale * high
        drawn[done] = -magnitude if sign == 1 else magnitude
        done += 1
        used = at
    return done, used


@compiled
def signed(scale: int, words: Words, at: int) -> tuple[int, int, int, int]:
    """One draw (Canonne, Kamath, Steinke 2020, Algorithm 2), and the place of the next unused word.

    The draw is its magnitude modulo the scale, its magnitude divided by that, and 1 if it is negative. The place is
    beyond the end if there were too few words.
    """
    while at <= len(words):
        low, at = below(scale, words, at)
        kept, at = decays(low, scale, words, at)
        if not kept:
            continue
        high = -1
        while kept and at <= len(words):
            high += 1
            kept, at = decays(_ONE, _ONE, words, at)
        sign, at = below(_TWO, words, at)
        if sign == 1 and low + scale * high == 0:
            continue
        return low, high, sign, at
    return 0, 0, 0, at


@compiled
def decays(numerator: int, denominator: int, words: Words, at: int) -> tuple[bool, int]:
    """Bernoulli(e^{-numerator/denominator}) for a quotient of at most 1 (Algorithm 1)."""
    length = 1
    while at <= len(words):
        drawn, at = below(denominator * length, words, at)
        if drawn >= numerator:
            return length % 2 == 1, at
        length += 1
    return False, at


@compiled
def below(bound: int, words: Words, at: int) -> tuple[int, int]:
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
