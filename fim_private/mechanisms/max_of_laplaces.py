"""Max of Laplaces: the itemset with the largest count plus Laplace noise (Bhaskar et al. 2010).

Proof: docs/mathematics.md#noisy-maxima.
"""

from __future__ import annotations

from fim_private.mechanisms.noisy_maxima import calibrate_noisy_maxima
from fim_private.mechanisms.protocol import Calibrated, Request
from fim_private.randomness.noisy_maximum import Noise


def calibrate(request: Request, *, general: bool = False) -> Calibrated:
    """As `calibrate_noisy_maxima`, with Laplace noise."""
    return calibrate_noisy_maxima(request, Noise.LAPLACE, general=general)
