"""What counting tells of a privacy loss: exact confidence bounds on two probabilities, and on epsilon from these.

Nothing is assumed of what is sampled but that runs are independent. Bounds: Clopper and Pearson (1934).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

CONFIDENCE_FAILURE = 1e-6
"""A lower bound on epsilon is too large with at most this probability; each of its two one-sided bounds takes half."""


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """How often an event was seen on two neighbouring data sets, and what follows.

    Args:
        name: what was released from, a mechanism with its setting or a mistake.
        claim: (epsilon, delta) as proved, or, of a broken twin, as it would be claimed.
        runs: releases of each of the two data sets.
        hits: in how many the event of the case was seen, where it is the likelier one.
        other_hits: in how many on the other side.
        exact: ln((P - delta) / P') of the event from the exact laws; None where these are not known, or nothing is
            left of P.
        same_by_command: how many runs of the command line, seeded, printed the very release of the call that was
            sampled; None where it was not tried.
        mistake: of a broken twin, what was done wrong.
    """

    name: str
    claim: tuple[float, float]
    runs: int
    hits: int
    other_hits: int
    exact: float | None = None
    same_by_command: int | None = None
    mistake: str | None = None

    @property
    def epsilon_low(self) -> float:
        """The lower bound on epsilon, at the claim's delta."""
        return epsilon_low(self.hits, self.other_hits, self.runs, delta=self.claim[1])

    @property
    def holds(self) -> bool:
        """Whether the claim was not refuted; of a broken twin it should be."""
        return self.epsilon_low <= self.claim[0]


def epsilon_low(hits: int, other_hits: int, runs: int, *, delta: float) -> float:
    """The largest epsilon that is refuted: ln((p_low - delta) / p'_high), at least 0.

    Whoever claims less is wrong, with confidence 1 - `CONFIDENCE_FAILURE`.

    Args:
        hits: of an event that was fixed before.
        other_hits: on the neighbouring data set.
        runs: of each.
        delta: of the claim.
    """
    least = probability_low(hits, runs, CONFIDENCE_FAILURE / 2) - delta
    most = probability_high(other_hits, runs, CONFIDENCE_FAILURE / 2)
    return max(0.0, math.log(least / most)) if least > 0 else 0.0


def probability_low(hits: int, runs: int, failure: float) -> float:
    """A bound that exceeds the probability with chance `failure` at most: the p with P(hits or more) = failure."""
    return float(beta.ppf(failure, hits, runs - hits + 1)) if hits else 0.0


def probability_high(hits: int, runs: int, failure: float) -> float:
    """A bound that falls short of the probability with chance `failure` at most."""
    return 1 - probability_low(runs - hits, runs, failure)


@dataclass(frozen=True, kw_only=True)
class Event:
    """A set of outcomes with its probability on either side, the likelier side first.

    Args:
        outcomes: the set.
        chance: P.
        other: P'.
        swapped: whether the likelier side is the second.
    """

    outcomes: frozenset[tuple[int, ...]]
    chance: float
    other: float
    swapped: bool

    def exact(self, delta: float) -> float | None:
        """ln((P - delta) / P'); None where nothing is left of P."""
        if self.chance <= delta:
            return None
        return math.inf if self.other <= 0 else math.log((self.chance - delta) / self.other)

    def expected(self, runs: int, delta: float) -> float:
        """The lower bound on epsilon that this many runs give, if they hit as often as is expected."""
        return epsilon_low(round(self.chance * runs), round(self.other * runs), runs, delta=delta)


def telling_event(
    one: Mapping[tuple[int, ...], float], other: Mapping[tuple[int, ...], float], *, runs: int, delta: float
) -> Event:
    """Of the events P(o) > e^t P'(o), for all t and both directions, the one that this many runs tell most by.

    These are the events that privacy has to hold for (Neyman and Pearson); which t is best is up to how many runs there
    are. It is chosen by the exact laws alone, so no bound is spoilt by looking for it.

    Args:
        one: the law on one data set.
        other: on its neighbour.
        runs: of each.
        delta: of the claim.
    """
    best = Event(outcomes=frozenset(), chance=0.0, other=0.0, swapped=False)
    promise = 0.0
    for swapped, (law, neighbour) in enumerate(((one, other), (other, one))):
        ranked = sorted(law, key=lambda outcome: (neighbour.get(outcome, 0.0) / law[outcome], outcome))
        chances = np.cumsum([law[outcome] for outcome in ranked])
        others = np.cumsum([neighbour.get(outcome, 0.0) for outcome in ranked])
        for end, (chance, less) in enumerate(zip(chances.tolist(), others.tolist(), strict=True), start=1):
            event = Event(
                outcomes=frozenset(ranked[:end]), chance=min(1.0, chance), other=min(1.0, less), swapped=bool(swapped)
            )
            if not best.outcomes or event.expected(runs, delta) > promise:
                best, promise = event, event.expected(runs, delta)
    return best
