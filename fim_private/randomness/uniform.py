"""Uniform integers below a bound, exactly."""

from __future__ import annotations

from fim_private.randomness.source import Randomness


def uniform_below(bound: int, randomness: Randomness) -> int:
    """A uniform integer from 0 to bound - 1, by rejection; fewer than two tries are expected.

    Args:
        bound: at least 1, of any size.
        randomness: where the bits come from.
    """
    length = (bound - 1).bit_length()
    while True:
        candidate = randomness.bits(length)
        if candidate < bound:
            return candidate
