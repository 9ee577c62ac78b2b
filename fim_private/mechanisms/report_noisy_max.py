r"""Report noisy max with exponential noise, and the noisy gap to the runner-up for free (design: section 6).

The winner i and the gap g between its noisy count and r, the largest of the others, cost no more than i alone (Ding et
al. 2021). For monotone counts, in units of the noise's scale Delta/eps and with a = c_i - g, the density of (i, g) is
e^a J(a), J(a) the integral of e^{-r} over the law of r from a on. Let counts rise (to those with a prime): c_i by s,
the others each by 0 or 1 and so r by 0 to 1 (couple the noises). The density p of r obeys p'(r) <= e p(r) and p'(r + 1)
>= p(r)/e, since each itemset's density falls off no faster than e^{-r} and its distribution function grows. Then
    s = 0:  J'(a) <= e J(a) by p',   J(a) <= e J'(a) by the coupling;
    s = 1:  J'(a + 1) <= J(a) by the coupling,   J(a) <= e^2 J'(a + 1) by p',
so e^a J(a) and e^{a+s} J'(a + s) differ by a factor e at most, either way: by e^{eps} for one transaction, Delta = 1.
Delta transactions are as many steps of eps/Delta. Rounding the gap is post-processing.
"""

from __future__ import annotations

from fim_private.mechanisms.noisy_maxima import calibrate_noisy_maxima
from fim_private.mechanisms.protocol import Calibrated, Request
from fim_private.randomness.noisy_maximum import Noise


def calibrate(request: Request, *, general: bool = False) -> Calibrated:
    """As `calibrate_noisy_maxima`, with exponential noise."""
    return calibrate_noisy_maxima(request, Noise.EXPONENTIAL, general=general, gaps=True)
