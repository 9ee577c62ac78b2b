"""Uniform integers below a bound, exactly."""

from __future__ import annotations

from fim_private.randomness.source import Randomness


def uniform_below(bound: int, randomness: Randomness) -> int:
    """A uniform integer from 0 to bound - 1, by rejection, for a bound of any size; under two tries are expected."""
    length = (bound - 1).bit_length()
    while True:
        candidate = randomness.bits(length)
        if candidate < bound:
            return candidate
