"""Peeling: picks one after the other, without replacement, by the exponential mechanism over a head of levels.

Each pick is bounded-range with epsilon = rate x sensitivity under add-remove, for all counts move in one direction
(design: section 3). A stop symbol may stand among the levels; drawing it ends the list.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction

from fim_private.mechanisms.protocol import Law
from fim_private.mechanisms.remaining import Remaining
from fim_private.privacy import BoundedRange, Loss
from fim_private.randomness import Randomness
from fim_private.randomness.weighted_choice import WeightedChoice

Level = tuple[int, int]


def peeling_losses(picks: int, pick_epsilon: Fraction) -> tuple[Loss, ...]:
    """What `peel` costs at rate pick_epsilon / sensitivity: so many bounded-range picks."""
    return (BoundedRange(pick_epsilon),) * picks


def peel(
    levels: Sequence[Level],
    *,
    picks: int,
    rate: Fraction,
    open_universe: bool,
    randomness: Randomness,
    stop: Fraction | None = None,
) -> tuple[int, ...]:
    """Ranks, in the order picked.

    Args:
        levels: (count, multiplicity) in decreasing order of counts, as `CountProfile.top` gives them.
        picks: how many at most.
        rate: the exponent is rate x count.
        open_universe: whether drawing an itemset of count 0 is "no itemset", which ends the list.
        randomness: where the bits come from.
        stop: the score of the stop symbol, on the scale of counts; None for no such symbol.
    """
    symbol = None if stop is None else bisect_left([-count for count, _ in levels], -stop)
    scores: list[int | Fraction] = [count for count, _ in levels]
    remaining = Remaining([multiplicity for _, multiplicity in levels])
    if symbol is not None and stop is not None:
        scores.insert(symbol, stop)
    choice = WeightedChoice(scores, rate)
    ranks: list[int] = []
    while len(ranks) < picks:
        left = remaining.left if symbol is None else [*remaining.left[:symbol], 1, *remaining.left[symbol:]]
        if not any(left):
            break
        level = choice.draw(left, randomness)
        if level == symbol or (open_universe and scores[level] == 0):
            break
        ranks.append(remaining.take(level - (symbol is not None and level > symbol), randomness))
    return tuple(ranks)


def peel_law(
    levels: Sequence[Level],
    *,
    picks: int,
    rate: Fraction,
    open_universe: bool,
    stop: Fraction | None = None,
) -> Law:
    """The exact law of `peel`, relative error about 1e-13; the cost is the number of lists."""
    occurring = sum(multiplicity for count, multiplicity in levels if count > 0)
    zeros = sum(multiplicity for count, multiplicity in levels if count == 0)
    counts = [count for count, multiplicity in levels if count > 0 for _ in range(multiplicity)]
    law: Law = {}

    def extend(ranks: tuple[int, ...], probability: float, zeros_left: int) -> None:
        free = [rank for rank in range(occurring) if rank not in ranks]
        if len(ranks) == picks or not (free or zeros_left or stop is not None):
            law[ranks] = law.get(ranks, 0.0) + probability
            return
        # Relative to the best that is left, so that not all weights can vanish.
        scores: list[int | Fraction] = [
            *(counts[rank] for rank in free),
            *([0] if zeros_left else []),
            *([] if stop is None else [stop]),
        ]
        best = max(scores)
        weights = {rank: math.exp(-rate * (best - counts[rank])) for rank in free}
        zero_weight = zeros_left * math.exp(-rate * best) if zeros_left else 0.0
        stop_weight = 0.0 if stop is None else math.exp(-rate * (best - stop))
        total = math.fsum([*weights.values(), zero_weight, stop_weight])
        ending = stop_weight + (zero_weight if open_universe else 0.0)
        if ending:
            law[ranks] = law.get(ranks, 0.0) + probability * ending / total
        for rank, weight in weights.items():
            extend((*ranks, rank), probability * weight / total, zeros_left)
        if zeros_left and not open_universe:
            extend((*ranks, occurring), probability * zero_weight / total, zeros_left - 1)

    extend((), 1.0, zeros)
    return law


def mix(*parts: tuple[float, Law]) -> Law:
    """The mixture of laws with these weights."""
    mixture: Law = {}
    for weight, law in parts:
        for ranks, probability in law.items():
            mixture[ranks] = mixture.get(ranks, 0.0) + weight * probability
    return mixture
