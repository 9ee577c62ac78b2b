"""How frequent the tokens are before any one of them is looked at: an estimate from all noisy counts together.

The tokens that go on have the largest noisy counts, so noise has lifted most of them. If nearly all others are rare, a
token that is somewhat above them is probably rare too. The prior says how probably. It is the law of supports that
makes the noisy counts likeliest (Kiefer and Wolfowitz 1956), found by the EM algorithm on a grid. Of the tokens that do
not go on, only their number is used. The prior is a function of released numbers, and costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from fim_private.arrays import Floats

_FAR, _STEP = 10.0, 0.25
"""Supports are on a grid with this step, up to this many deviations. Tokens beyond are taken for what they seem."""
_ROUNDS = 200
"""Rounds of EM."""
_TINY = 1e-300
"""No support is impossible."""

_beyond = np.vectorize(NormalDist().cdf, otypes=[float])


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemPrior:
    """The law of the supports of all tokens.

    Args:
        supports: float64, shape (points,), in transactions, from 0 on.
        chances: float64, shape (points,), how likely each support is; together 1.
    """

    supports: Floats
    chances: Floats

    @classmethod
    def of(cls, noisy: Floats, deviation: float, names: int) -> ItemPrior:
        """The prior that makes the noisy counts likeliest.

        Args:
            noisy: shape (tokens,), the noisy counts of the tokens that go on, in transactions, in any order.
            deviation: the deviation of the noise in them.
            names: N, how many tokens there are. Those that do not go on have smaller noisy counts.
        """
        grid: Floats = np.arange(0, _FAR + _STEP, _STEP)
        seen = noisy / deviation
        others, seen = names - len(seen), seen[seen <= _FAR]
        chances = np.full(len(grid), len(seen) / max(1, names) / len(grid))
        chances[0] += 1 - chances.sum()
        if len(seen):
            likely = np.exp(-((seen[:, np.newaxis] - grid) ** 2) / 2) / math.sqrt(2 * math.pi)
            below = _beyond(seen.min() - grid)
            for _ in range(_ROUNDS):
                each = (likely / (likely @ chances)[:, np.newaxis]).sum(axis=0)
                chances = chances * (each + others * below / (below @ chances)) / (len(seen) + others)
        return cls(supports=grid * deviation, chances=chances)

    def reaching(self, noisy: Floats, deviation: float, least: Floats) -> Floats:
        """How likely tokens with these noisy counts are to have at least each of some supports.

        Args:
            noisy: shape (tokens,), in transactions.
            deviation: the deviation of the noise in them, which may be less than that of the counts behind the prior.
            least: shape (supports,), in transactions.

        Returns:
            float64, shape (tokens, supports).
        """
        enough: Floats = _beyond((noisy[:, np.newaxis] - least) / deviation)
        near = noisy <= self.supports.max(initial=-math.inf)
        if near.any():
            logs = np.log(self.chances + _TINY) - (noisy[near, np.newaxis] - self.supports) ** 2 / (2 * deviation**2)
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            enough[near] = weights @ (self.supports[:, np.newaxis] >= least) / weights.sum(axis=1, keepdims=True)
        return enough


FLAT = ItemPrior(supports=np.zeros(0), chances=np.zeros(0))
"""Nothing is known beforehand: tokens are taken for what they seem."""
