"""Permute and flip (McKenna and Sheldon 2020; design: section 6).

In random order, each itemset is accepted with probability p_i = e^{eps (c_i - c_(1))/Delta}; the first accepted wins.
Give each itemset a uniform time of arrival instead of a place in the order. The first arrival among the accepted of h
equal counts comes after t with probability (1 - p t)^h, so it comes at (1 - U^{1/h})/p; and minus the logarithm of that
is, but for a constant, (eps c/Delta) - ln(1 - U^{1/h}): the maximum of h counts with exponential noise. The earliest
arrival of all is the largest noisy count of all. So this is report-noisy-max with exponential noise, and drawn as such:
exactly, and for any number of itemsets.
"""

from __future__ import annotations

from fim_private.mechanisms.noisy_maxima import calibrate_noisy_maxima
from fim_private.mechanisms.protocol import Calibrated, Request
from fim_private.randomness.noisy_maximum import Noise


def calibrate(request: Request) -> Calibrated:
    """As `calibrate_noisy_maxima`, with exponential noise."""
    return calibrate_noisy_maxima(request, Noise.EXPONENTIAL, general=False)
