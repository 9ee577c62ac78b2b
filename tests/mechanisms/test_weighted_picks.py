"""One unit moves a pick with public weights by epsilon at most, whatever is lifted, with decoys or without.

`tests/release/test_door.py` compares the sampler with this law.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from fim_private.mechanisms.lifted_exponential import LiftedExponential
from tests.sampling import SEED

Basket = frozenset[int]
TOKENS = range(5)


def law(
    mechanism: LiftedExponential, baskets: Sequence[Basket], weights: Sequence[int], size: int, *, decoys: int
) -> list[float]:
    """The chance of each itemset at the first pick, and then of a decoy if there are some."""
    itemsets = list(combinations(TOKENS, size))
    counts = [sum(basket.issuperset(itemset) for basket in baskets) for itemset in itemsets]
    floor = mechanism.floor(sorted(counts, reverse=True)[mechanism.candidates])
    scores = [
        math.prod(weights[token] for token in itemset) * math.exp(mechanism.rate * max(count, floor))
        for itemset, count in zip(itemsets, counts, strict=True)
    ]
    scores += [decoys * math.exp(mechanism.rate * floor)] if decoys else []
    return [score / sum(scores) for score in scores]


def _supports(baskets: Sequence[Basket]) -> list[int]:
    return [1 + sum(token in basket for basket in baskets) for token in TOKENS]


def largest_range(*, weights_of_supports: bool, cases: int) -> float:
    """The largest range of a pick's log ratio on neighbouring data, in epsilons; it may be 1."""
    draw, found = random.Random(SEED), 0.0
    for _ in range(cases):
        sensitivity = draw.choice([1, 2])
        mechanism = LiftedExponential(
            top=draw.randint(1, 4),
            pick_epsilon=Fraction(draw.choice([1, 2, 4]), 2),
            universe_size=10,
            candidates=draw.randint(0, 4),
            attempts=draw.choice([1, 3, 10, 1000]),
            sensitivity=sensitivity,
        )
        chance = draw.choice([0.3, 0.7, 0.9])
        baskets = [
            frozenset(token for token in TOKENS if draw.random() < chance) for _ in range(draw.randint(sensitivity, 12))
        ]
        weights, size, decoys = [draw.choice([1, 2, 5, 100]) for _ in TOKENS], draw.choice([2, 3]), draw.choice([0, 50])

        before, after = (
            law(mechanism, part, _supports(part) if weights_of_supports else weights, size, decoys=decoys)
            for part in (baskets[sensitivity:], baskets)
        )
        ratios = [math.log(new / old) for old, new in zip(before, after, strict=True)]
        found = max(found, (max(ratios) - min(ratios)) / float(mechanism.pick_epsilon))
    return found


def test_public_weights_do_not_change_the_range_of_a_pick() -> None:
    assert 0.999 < largest_range(weights_of_supports=False, cases=2000) < 1 + 1e-9


def test_weights_that_follow_true_supports_are_caught() -> None:
    assert largest_range(weights_of_supports=True, cases=200) > 1.1
