"""Audit private selection from private candidates: search for the worst neighbouring laws of the candidates.

A candidate is any private procedure. So neighbours here are pairs of laws of one call that are (eps_1, delta_1) apart.
The laws have three scores: above, at and below the outcome that is looked at. The algorithms tell nothing else apart.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fim_private.audit.laws import hockey_stick
from fim_private.private_candidates.pool import FiniteLaw, chance_at_least

HIGH, MIDDLE, LOW = (2, "high"), (1, "middle"), (0, "low")
OUTCOMES = (HIGH, MIDDLE, LOW)
Pair = tuple[FiniteLaw, FiniteLaw]
Neighbour = TypeVar("Neighbour")
OutcomeLaw = Mapping[Hashable, float]

_RARE = (1e-6, 1e-4, 1e-3, 0.01)
_USUAL = (0.05, 0.1, 0.2, 0.4, 0.5, 0.8, 0.95, 0.999)
_TINY = 1e-12


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The neighbours whose outcomes differ most.

    Args:
        delta: the delta between them, at the epsilon claimed.
        loss: the largest log ratio of any outcome's probabilities.
        tried: how many ordered pairs were compared.
    """

    delta: float
    loss: float
    tried: int


def worst(
    law: Callable[[Neighbour], OutcomeLaw], pairs: Iterator[tuple[Neighbour, Neighbour]], epsilon: float
) -> Worst:
    """Compare the outcomes of all pairs, both ways, by their exact laws.

    Args:
        law: computes the law of the outcome from one side of a pair.
        pairs: the pairs of neighbours.
        epsilon: the epsilon of the claim.
    """
    delta, loss, tried = 0.0, 0.0, 0
    for one, other in pairs:
        left, right = law(one), law(other)
        # An outcome that only one side has is an infinite loss. hockey_stick counts it if the first side has it.
        both = {outcome: (left.get(outcome, 0.0), right.get(outcome, 0.0)) for outcome in {**left, **right}}
        for here, there in both.values():
            if max(here, there) > _TINY:
                loss = max(loss, abs(math.log(here / there)) if min(here, there) > 0 else math.inf)
        for first, second in ((left, right), (right, left)):
            delta = max(delta, float(hockey_stick(dict(first), dict(second), [epsilon])[0]))  # type: ignore[arg-type]
            tried += 1
    return Worst(delta=delta, loss=loss, tried=tried)


def laws_of_candidates(epsilon: float) -> Iterator[Pair]:
    """Structured cases: rare and likely outcomes. Each moves all the way up, all the way down or not at all.

    The laws have this eps_1 and a delta_1 of 0.
    """
    split = 1 / (1 + math.exp(epsilon))
    chances = (*_RARE, *_USUAL, split, 1 - split)
    for high, middle in itertools.product((0.0, *chances), chances):
        for up, along in itertools.product((-1, 0, 1), repeat=2):
            one = (high, middle, 1 - high - middle)
            other_high, other_middle = high * math.exp(up * epsilon), middle * math.exp(along * epsilon)
            other = (other_high, other_middle, 1 - other_high - other_middle)
            if is_close(one[2], other[2], epsilon):
                yield named(one), named(other)


def is_close(one: float, other: float, epsilon: float) -> bool:
    """Whether two probabilities of an outcome are within a factor e^epsilon of each other."""
    if min(one, other) < _TINY:
        return abs(one) < _TINY and abs(other) < _TINY
    return abs(math.log(one / other)) <= epsilon + _TINY


def named(chances: Sequence[float]) -> FiniteLaw:
    """The law with these chances of `OUTCOMES`."""
    return {outcome: max(chance, 0.0) for outcome, chance in zip(OUTCOMES, chances, strict=True)}


def best_of(runs: int, law: FiniteLaw) -> dict[Hashable, float]:
    """The law of the best of a fixed number of runs (PSPC, B.1). It pays a candidate's loss `runs` times."""
    found: dict[Hashable, float] = {}
    for drawn, chance in law.items():
        above = chance_at_least(law, drawn[0]) - chance
        found[drawn] = (1 - above) ** runs - (1 - above - chance) ** runs
    return found
