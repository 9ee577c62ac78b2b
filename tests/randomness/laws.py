"""Laws of the noises as outcomes with their probabilities."""

from __future__ import annotations

import math

import numpy as np

from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from fim_private.randomness.discrete_laplace import discrete_laplace_mass


def laplace_law(scale: float) -> dict[int, float]:
    values = np.arange(-int(40 * scale) - 2, int(40 * scale) + 3)
    return dict(zip(values.tolist(), discrete_laplace_mass(values, scale).tolist(), strict=True))


def gaussian_law(variance: float) -> dict[int, float]:
    reach = int(12 * math.sqrt(variance)) + 3
    values = np.arange(-reach, reach + 1)
    return dict(zip(values.tolist(), discrete_gaussian_mass(values, variance).tolist(), strict=True))
