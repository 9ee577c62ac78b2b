"""Private selection from private candidates (Liu and Talwar 2019), one algorithm a file.

    Algorithm 1, Theorem 3.1            known_threshold        2 eps_1 + kappa
    Algorithm 2, Theorems 3.2 to 3.5    random_stopping        3 eps_1
    Algorithm 3, Theorem 4.1            above_threshold        eps_3, however many queries
    Algorithm 4, Theorem 4.4            above_threshold        (eps_3, delta), from samples
    Algorithm 5, Theorem 4.6            percentile_threshold   (eps_3, delta)
    Theorem 4.7                         unknown_threshold      (2 eps_1 + kappa + eps_3, delta)
    Theorem 5.2                         noisy_scores           candidates for Algorithm 2
    Theorem C.1                         amplification          eps_1 + max(eps_1, ln(m/(m - 1)))

eps_1 is what one run of a candidate costs. The proofs stand in docs/mathematics.md, from #bad-calls on, also where the
paper's claim or proof had to be changed: C.1 and the deltas of 3.1 and 3.4 are smaller; 3.4 needed another proof; 4.1
(d), 4.4 (b) and (d), 4.6 (c), the eps_3 of 4.7, and in 5.2 the truncation and the shift for smooth sensitivity had a
slip. Algorithm 6, the best of a fixed number of runs and the exact percentile are not private, and stand in
`audit.private_candidates` for the tests to catch.

>>> from fractions import Fraction
>>> from fim_private.candidates import Candidates, RandomStopping
>>> from fim_private.privacy import PureDP
>>> from fim_private.randomness.bernoulli import bernoulli
>>> def survey(randomness):  # randomised response: eps = ln 3
...     answer = bernoulli(Fraction(3, 4), randomness)
...     return (1 if answer else 0), answer
>>> pool = Candidates([survey, survey], PureDP(Fraction(11, 10)))
>>> best = RandomStopping(stop=Fraction(1, 10))
>>> best.cost(pool.loss)
PureDP(epsilon=Fraction(33, 10))
>>> best.select(pool).output in (True, False)
True
"""

from fim_private.candidates.above_threshold import AboveThreshold, ExtendedAboveThreshold
from fim_private.candidates.amplification import Amplification
from fim_private.candidates.known_threshold import KnownThreshold
from fim_private.candidates.percentile_threshold import PercentileThreshold
from fim_private.candidates.pool import Candidates, Selection
from fim_private.candidates.random_stopping import RandomStopping
from fim_private.candidates.unknown_threshold import UnknownThreshold

__all__ = [
    "AboveThreshold",
    "Amplification",
    "Candidates",
    "ExtendedAboveThreshold",
    "KnownThreshold",
    "PercentileThreshold",
    "RandomStopping",
    "Selection",
    "UnknownThreshold",
]
