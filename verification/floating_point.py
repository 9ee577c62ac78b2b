"""Mironov's attack: noise made of floating-point numbers gives a count away for certain, whatever epsilon is.

The textbook's Laplace sampler has few images, and rounding puts each at a place of its own: the numbers that a count of
c plus such a noise can be, and those that c + 1 can, are mostly different ones where counts are small (Mironov 2012,
"On significance of the least significant bits for differential privacy"). So one number tells whether anybody has an
itemset. Beside a large count the sum's rounding hides which noise it was, which nobody has proved to be enough.

Nothing in the package draws noise like this; the sampler stands here to be broken, and the one in use beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fim_private.randomness import Randomness, SecureRandomness
from fim_private.randomness.discrete_laplace import discrete_laplace_mass, sample_discrete_laplace

BITS = 53
"""A uniform number is one of 2^53, the usual way to make a double between 0 and 1."""
_LOOKED_AT = 24
"""Roundings of the sum, the product and the logarithm move the uniform number by less than this many steps."""
_WORK = 200_000
"""More uniform numbers than this are not looked at: a noise that this many can have made counts as possible."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """What became of the attack on one sampler.

    Args:
        sampler: whose noise.
        epsilon: of the release of one count.
        runs: releases, half of them of either count.
        decided: of how many only one of the two counts was possible.
        wrong: of how many that was not the true one; always 0 where the attack is right.
    """

    sampler: str
    epsilon: float
    runs: int
    decided: int
    wrong: int

    @property
    def share(self) -> float:
        """Of the releases, those that give the count away for certain."""
        return self.decided / self.runs


def float_laplace(scale: float, randomness: Randomness) -> float:
    """The textbook's sampler, which is not private: a sign times -scale ln(U), in double precision.

    Args:
        scale: of the noise.
        randomness: where the bits come from.
    """
    uniform = (randomness.bits(BITS) + 1) / 2**BITS
    noise = -scale * math.log(uniform)
    return -noise if randomness.bits(1) else noise


def can_be(released: float, count: int, scale: float) -> bool:
    """Whether `count` plus a noise of `float_laplace` can be the number released, exactly.

    The exponential is inverted, and all uniform numbers around are tried that the roundings allow for.
    """
    magnitude = abs(released - count)
    middle = round(2**BITS * math.exp(-magnitude / scale))
    # The sum is rounded to the last place of the largest of its terms, which is many steps where the noise is steep.
    blurred = (math.ulp(released) + math.ulp(magnitude)) / scale * middle
    around = math.ceil(2 * blurred + 4 * abs(math.log(max(middle, 1) / 2**BITS)) * middle * 2**-BITS) + _LOOKED_AT
    if 2 * around > _WORK:
        return True
    for step in range(max(1, middle - around), min(2**BITS, middle + around) + 1):
        noise = -scale * math.log(step / 2**BITS)
        if released in {count + noise, count - noise}:
            return True
    return False


def demonstrate(
    runs: int, randomness: Randomness | None = None, *, epsilon: Fraction = Fraction(1)
) -> tuple[Attack, Attack]:
    """The attack on the float sampler, and the same question put to the exact one.

    Args:
        runs: releases of each sampler, alternately of the counts 0 and 1, which are neighbours. The attack decides most
            where counts are this small.
        randomness: where the bits come from; None for the operating system's source.
        epsilon: the scale of the noise is 1/epsilon.
    """
    randomness = randomness or SecureRandomness()
    scale = 1 / epsilon
    attacks = []
    for sampler, noise, possible in (
        ("floating-point Laplace", lambda: float_laplace(float(scale), randomness), can_be),
        ("discrete Laplace", lambda: sample_discrete_laplace(scale, randomness), _can_be_exactly),
    ):
        decided = wrong = 0
        for run in range(runs):
            true = run % 2
            released = true + noise()
            guesses = [count for count in (0, 1) if possible(released, count, float(scale))]
            decided += len(guesses) == 1
            wrong += true not in guesses
        attacks.append(Attack(sampler=sampler, epsilon=float(epsilon), runs=runs, decided=decided, wrong=wrong))
    return attacks[0], attacks[1]


def _can_be_exactly(released: float, count: int, scale: float) -> bool:
    """The same for the exact sampler, whose noise can be any integer: no count can be ruled out."""
    return bool(discrete_laplace_mass(np.array([round(released) - count]), scale)[0] > 0)
