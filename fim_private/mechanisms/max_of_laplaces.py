"""Max of Laplaces: the itemset with the largest count plus Laplace noise (Bhaskar et al. 2010; design: section 6).

Fix all noise but the winner's. If the counts move up, in monotone counts the winner's threshold moves up by at most
Delta and its count does not move down: it wins for a noise larger by Delta at most, whose probability is smaller by a
factor e^{-eps} at most, for P(Z >= z + Delta) >= e^{-eps} P(Z >= z) at scale Delta/eps. Downwards likewise.
"""

from __future__ import annotations

from fim_private.mechanisms.noisy_maxima import calibrate_noisy_maxima
from fim_private.mechanisms.protocol import Calibrated, Request
from fim_private.randomness.noisy_maximum import Noise


def calibrate(request: Request, *, general: bool = False) -> Calibrated:
    """As `calibrate_noisy_maxima`, with Laplace noise."""
    return calibrate_noisy_maxima(request, Noise.LAPLACE, general=general)
