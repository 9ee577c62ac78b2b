"""Report noisy max with exponential noise, and the noisy gap to the runner-up for free (Ding et al. 2021).

Proofs: docs/mathematics.md#noisy-maxima and docs/mathematics.md#free-gap.
"""

from __future__ import annotations

from fim_private.mechanisms.noisy_maxima import calibrate_noisy_maxima
from fim_private.mechanisms.protocol import Calibrated, Request
from fim_private.randomness.noisy_maximum import Noise


def calibrate(request: Request, *, general: bool = False) -> Calibrated:
    """As `calibrate_noisy_maxima`, with exponential noise."""
    return calibrate_noisy_maxima(request, Noise.EXPONENTIAL, general=general, gaps=True)
