"""Where random bits come from: the operating system for a release, a seed for tests and demonstrations."""

from __future__ import annotations

import operator
import random
import secrets
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fim_private.errors import UsageError


class Randomness(Protocol):
    """A source of independent uniform bits. Every function that draws takes it as an argument."""

    @property
    def seed(self) -> int | None:
        """The seed; None for the operating system's cryptographic source. Seeded output is not private."""

    def bits(self, number: int) -> int:
        """A uniform integer of `number` bits, 0 <= x < 2^number."""

    def words(self, number: int) -> NDArray[np.uint64]:
        """`number` uniform 64-bit words, uint64, shape (number,)."""


class SecureRandomness:
    """The operating system's cryptographic source. It keeps no buffer, so a forked process repeats nothing."""

    seed = None

    def bits(self, number: int) -> int:
        """A uniform integer of `number` bits."""
        return secrets.randbits(number)

    def words(self, number: int) -> NDArray[np.uint64]:
        """`number` uniform 64-bit words."""
        return np.frombuffer(secrets.token_bytes(8 * number), dtype=np.uint64)


class SeededRandomness:
    """A repeatable source (Mersenne twister): for tests, demonstrations and reports, never for a private release."""

    def __init__(self, seed: int) -> None:
        try:
            self.seed: int | None = operator.index(seed)
        except TypeError:
            raise UsageError("A seed is a whole number.", "Write seed=1, or leave it out.") from None
        self._generator = random.Random(self.seed)  # noqa: S311 - repeatable on purpose, and marked wherever it goes

    def bits(self, number: int) -> int:
        """A uniform integer of `number` bits."""
        return self._generator.getrandbits(number) if number else 0

    def words(self, number: int) -> NDArray[np.uint64]:
        """`number` uniform 64-bit words."""
        return np.frombuffer(self._generator.randbytes(8 * number), dtype=np.uint64)
