"""Private selection from private candidates (Liu and Talwar 2019), one algorithm per file.

    Algorithm 1, Theorem 3.1            known_threshold        2 eps_1 + kappa
    Algorithm 2, Theorems 3.2 to 3.5    random_stopping        3 eps_1

eps_1 is the cost of one run of a candidate. The proofs are in docs/mathematics.md, from #bad-calls on. They differ from
the paper in places: the deltas of 3.1 and 3.4 are smaller, and 3.4 needed another proof. The paper's other algorithms
are in the repository's folder `verification/private_candidates`.

>>> from fractions import Fraction
>>> from fim_private.private_candidates import Candidates, RandomStopping
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

from fim_private.private_candidates.known_threshold import KnownThreshold
from fim_private.private_candidates.pool import Candidates, Selection
from fim_private.private_candidates.random_stopping import RandomStopping

__all__ = [
    "Candidates",
    "KnownThreshold",
    "RandomStopping",
    "Selection",
]
