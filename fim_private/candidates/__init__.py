"""Private selection from private candidates (Liu and Talwar 2019), one algorithm a file.

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
