"""The first query above a percentile: Algorithm 3 of PSPC with an exact oracle, Algorithm 4 from samples.

Both search the first query i whose chance p_i = P(Q_i >= tau_i) is above p*, in terms of Phi(p) = p/(1 - p), by the
sparse vector technique on logarithms. These are taken down to whole steps of 1/resolution of what one unit can change
them by, so that the noise is discrete and exact: the change is then at most `resolution` steps, up or down. Proofs:
docs/mathematics.md#noisy-searches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.mechanisms.sparse_vector import search
from fim_private.privacy import PureDP
from fim_private.private_candidates.pool import Score
from fim_private.randomness import Randomness, SecureRandomness
from verification.private_candidates.log_grid import floor_of_log
from verification.private_candidates.search_law import binomial, law_of_search

RESOLUTION = 1024
"""Steps of one unit's change: the rounding is a thousandth of it."""


@dataclass(frozen=True, kw_only=True)
class AboveThreshold:
    """Algorithm 3: the first query above a percentile, from an oracle that knows each query's chance exactly.

    Args:
        loss: eps_1 of each query, pure.
        epsilon: eps_3, what the search costs.
        percentile: p* in (0, 1).
        resolution: steps of one unit's change.

    Privacy (Theorem 4.1 a): eps_3-differentially private, however many queries there are. ln p and ln(1 - p) change by
    at most eps_1, so ln Phi(p) by 2 eps_1, which is the sensitivity; noise of scale 4 eps_1/eps_3 is on the threshold
    and of 8 eps_1/eps_3 on each query. A chance of 0 or 1 is so for all neighbours, and decides by itself.
    Part (d) of the theorem is about not halting: its top should read bottom.
    """

    loss: PureDP
    epsilon: Fraction
    percentile: Fraction
    resolution: int = RESOLUTION

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """Scale of the noise on the threshold and on each query, in steps."""
        return noise_scales(self.resolution, self.epsilon)

    def find(self, chances: Iterable[Fraction], randomness: Randomness | None = None) -> int | None:
        """The place of the first chance above the percentile, both noisy; None where the queries end.

        Args:
            chances: p(tau_i, Q_i), exact, one after the other; read only as far as needed. Each may depend on the
                answers so far, which is that no query before was above.
            randomness: for the noise; the operating system's source by default.
        """
        places: list[int] = []
        certain: list[int] = []

        def excesses() -> Iterator[int]:
            for place, chance in enumerate(chances):
                if chance == 1:
                    certain.append(place)
                    return
                if chance > 0:
                    places.append(place)
                    yield self.excess(chance)

        threshold, query = self.scales
        found = search(
            excesses(), threshold_scale=threshold, query_scale=query, randomness=randomness or SecureRandomness()
        )
        return places[found] if found is not None else certain[0] if certain else None

    def law(self, chances: Sequence[Fraction]) -> NDArray[np.float64]:
        """P(stop at each query), and last P(none), float64, shape (queries + 1,); chances between 0 and 1."""
        return law_of_search([{self.excess(chance): 1.0} for chance in chances], self.scales)

    def excess(self, chance: Fraction) -> int:
        """ln Phi(chance) - ln Phi(p*) in whole steps."""
        step = 2 * self.loss.epsilon / self.resolution
        return floor_of_log(odds(chance), step) - floor_of_log(odds(self.percentile), step)


@dataclass(frozen=True, kw_only=True)
class ExtendedAboveThreshold:
    """Algorithm 4: as Algorithm 3, with each chance estimated from N runs of the query.

    Args:
        loss: eps_1 of each query, pure.
        epsilon: eps_3.
        delta: the probability that some estimate is further from its neighbour's than S = 2(eps_1 + eps_0).
        slack: eps_0 in (0, 1).
        percentile: p* in (0, 1).
        queries: T, the largest number of queries.
        samples: N, runs of each query. Any number is private (Lemma 4.3 holds for all); the paper's, which its
            utility asks for, is large.
        resolution: steps of one unit's change.

    Privacy (Theorem 4.4 a): (eps_3, delta)-differentially private, with Delta = C ln(8T/delta)/(eps_0 (e^(eps_0+eps_1)
    - 1)), C = 2(e^(eps_0+eps_1) + 1 + e^(eps_0/2)), and noise of scale 2S/eps_3 and 4S/eps_3 on
    ln((X + Delta)/(N - X + Delta)), X of N runs at or above the threshold. Delta is rounded up, which only makes the
    event of Lemma 4.3 rarer. (In part (d) top should read bottom, and the step to "moreover" in part (b) takes
    Phi(p*) >= 2p*, which is wrong below a half; both are about utility alone.)
    """

    loss: PureDP
    epsilon: Fraction
    delta: Fraction
    slack: Fraction
    percentile: Fraction
    queries: int
    samples: int
    resolution: int = RESOLUTION

    @property
    def smoothing(self) -> int:
        """Delta, what is added to the numbers of runs above and below."""
        return smoothing(self.loss.epsilon, self.slack, 8 * self.queries / self.delta)

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """Scale of the noise on the threshold and on each query, in steps."""
        return noise_scales(self.resolution, self.epsilon)

    def find(
        self,
        queries: Iterable[tuple[Callable[[Randomness], Score], Score]],
        randomness: Randomness | None = None,
    ) -> int | None:
        """The place of the first query above the percentile, both noisy; None where the queries end, or T of them.

        Args:
            queries: (a procedure whose score is eps_1-private, its threshold), read only as far as needed.
            randomness: for the procedures and the noise; the operating system's source by default.
        """
        source = randomness or SecureRandomness()
        excesses = (
            self.excess(sum(1 for _ in range(self.samples) if procedure(source) >= threshold))
            for procedure, threshold in islice(queries, self.queries)
        )
        threshold_scale, query_scale = self.scales
        return search(excesses, threshold_scale=threshold_scale, query_scale=query_scale, randomness=source)

    def law(self, chances: Sequence[float]) -> NDArray[np.float64]:
        """P(stop at each query), and last P(none), float64, shape (queries + 1,), of each query's p(tau_i, Q_i)."""
        return law_of_search([self._excesses(chance) for chance in chances], self.scales)

    def _excesses(self, chance: float) -> dict[int, float]:
        excesses: dict[int, float] = {}
        for excess, probability in zip(_all_excesses(self), binomial(self.samples, chance).tolist(), strict=True):
            if probability:
                excesses[excess] = excesses.get(excess, 0.0) + probability
        return excesses

    def excess(self, above: int) -> int:
        """ln Phi(above/N) - ln Phi(p*) in whole steps, Phi(x) = (N x + Delta)/(N(1 - x) + Delta)."""
        step = 2 * (self.loss.epsilon + self.slack) / self.resolution
        added, expected = self.smoothing, self.samples * self.percentile
        target = (expected + added) / (self.samples - expected + added)
        return floor_of_log(Fraction(above + added, self.samples - above + added), step) - floor_of_log(target, step)


@cache
def _all_excesses(search: ExtendedAboveThreshold) -> tuple[int, ...]:
    return tuple(search.excess(above) for above in range(search.samples + 1))


def odds(chance: Fraction) -> Fraction:
    """Phi(p) = p/(1 - p)."""
    return chance / (1 - chance)


def smoothing(epsilon_1: Fraction, slack: Fraction, inverse: Fraction) -> int:
    """Delta = C ln(inverse)/(eps_0 (e^(eps_0 + eps_1) - 1)), rounded up (Lemma 4.3)."""
    grown = math.exp(slack + epsilon_1)
    factor = 2 * (grown + 1 + math.exp(slack / 2))
    return math.ceil(factor * math.log(inverse) / (float(slack) * (grown - 1)) * (1 + RELATIVE_ERROR))


def noise_scales(resolution: int, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """2S/eps_3 for the threshold and 4S/eps_3 for each query, S the sensitivity (Dwork and Roth 2014, Theorem 3.23)."""
    return 2 * resolution / epsilon, 4 * resolution / epsilon
