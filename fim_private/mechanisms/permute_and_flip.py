"""Permute and flip (McKenna and Sheldon 2020).

The itemsets come in random order, and each is accepted with probability e^{eps (c_i - c_(1))/Delta}. The first accepted
itemset wins. This has the law of report noisy max with exponential noise (docs/mathematics.md#permute-and-flip), and is
drawn in that way: exactly, for any number of itemsets.
"""

from __future__ import annotations

from fim_private.mechanisms.noisy_maxima import calibrate_noisy_maxima
from fim_private.mechanisms.protocol import Calibrated, Request
from fim_private.randomness.noisy_maximum import Noise


def calibrate(request: Request) -> Calibrated:
    """As `calibrate_noisy_maxima`, with exponential noise."""
    return calibrate_noisy_maxima(request, Noise.EXPONENTIAL, general=False)
