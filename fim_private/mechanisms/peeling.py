"""Peeling: the exponential mechanism picks from the first levels, one itemset after the other, without replacement.

Under add-remove each pick is bounded-range with epsilon = rate x sensitivity, because all counts move in one direction.
A stop symbol may be among the levels; drawing it ends the list. Proof: docs/mathematics.md#peeling.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fim_private.accounting.rising import FLAT, rising, staged
from fim_private.arrays import Floats
from fim_private.mechanisms.protocol import Law, Spending
from fim_private.mechanisms.remaining_levels import RemainingLevels
from fim_private.privacy import BoundedRange, Loss, PureDP
from fim_private.randomness import Randomness
from fim_private.randomness.weighted_choice import WeightedChoice

Level = tuple[int, int]


def peeling_losses(
    picks: int,
    pick_epsilon: Fraction,
    rise: Fraction = FLAT,
    kind: type[BoundedRange] | type[PureDP] = BoundedRange,
) -> tuple[Loss, ...]:
    """The cost of `peel` at rates epsilon / sensitivity: one bounded-range loss per pick.

    Args:
        picks: how many picks.
        pick_epsilon: the epsilon of those in the middle.
        rise: how much more later picks get than earlier ones (`accounting/rising.py`).
        kind: what is proved of one pick, if it is picked in another way.
    """
    # Losses that are one object are counted fast.
    stages = [(kind(pick_epsilon * factor), times) for factor, times in staged(picks, rise)]
    return tuple(loss for loss, times in stages for _ in range(times))


def picks_spending(picks: int, pick_epsilon: Fraction, rise: Fraction, *, left_out: int = 0) -> tuple[Spending, ...]:
    """The same in words; the last of the picks leave some out again."""
    epsilons = [pick_epsilon * factor for factor in rising(picks, rise)]
    rises = ", on average (later ones get more)" if epsilons[0] < epsilons[-1] else ""
    parts = (
        (f"picks{rises}", epsilons[: picks - left_out]),
        ("picks of those to leave out", epsilons[picks - left_out :]),
    )
    return tuple(
        Spending(what=what, epsilon=sum(each, FLAT) / len(each), times=len(each)) for what, each in parts if each
    )


def missed_by_picks(rates: Floats, log_others: float, lead: int) -> float:
    """How often not all itemsets that lead all others are picked, if there are as many as picks; a bound.

    Proof: docs/mathematics.md#peeling.

    Args:
        rates: shape (picks,): the exponent of each pick is its rate times the count.
        log_others: the logarithm of what all others together weigh in a pick, relative to one of these itemsets without
            its lead.
        lead: the least lead of these itemsets, in counts.
    """
    left = np.arange(len(rates), 0, -1)
    return -math.expm1(-float(np.logaddexp(0.0, log_others - rates * lead - np.log(left)).sum()))


def peel(
    levels: Sequence[Level],
    *,
    rates: Sequence[Fraction],
    open_universe: bool,
    randomness: Randomness,
    stop: Fraction | None = None,
) -> tuple[int, ...]:
    """Ranks, in the order picked.

    Args:
        levels: (count, multiplicity) in decreasing order of counts, as `CountProfile.top` gives them.
        rates: for each pick, its exponent is rate x count.
        open_universe: whether drawing an itemset of count 0 means "no itemset" and ends the list.
        randomness: where the bits come from.
        stop: the score of the stop symbol, on the scale of counts; None for no stop symbol.
    """
    scores: list[int | Fraction] = [count for count, _ in levels]
    remaining = RemainingLevels([multiplicity for _, multiplicity in levels])
    symbol = None
    if stop is not None:
        symbol = bisect_left([-count for count in scores], -stop)
        scores.insert(symbol, stop)
    choices = {rate: WeightedChoice(scores, rate) for rate in rates}
    ranks: list[int] = []
    for rate in rates:
        left = remaining.left if symbol is None else [*remaining.left[:symbol], 1, *remaining.left[symbol:]]
        if not any(left):
            break
        level = choices[rate].draw(left, randomness)
        if level == symbol or (open_universe and scores[level] == 0):
            break
        ranks.append(remaining.take(level - (symbol is not None and level > symbol), randomness))
    return tuple(ranks)


def peel_law(
    levels: Sequence[Level],
    *,
    rates: Sequence[Fraction],
    open_universe: bool,
    stop: Fraction | None = None,
) -> Law:
    """The exact law of `peel` over lists of places in `levels`, with a relative error of about 1e-13.

    Cost: proportional to the number of lists.
    """
    if not rates:
        return {(): 1.0}
    law: Law = {}
    scores = np.array([float(count) for count, _ in levels])
    symbol = -math.inf if stop is None else float(stop)
    picked: list[tuple[int, ...]] = [()]
    chance = np.ones(1)
    left = np.array([[float(multiplicity) for _, multiplicity in levels]])
    for rate in map(float, rates):
        # Weights are relative to the best that is left, so that not all of them can vanish.
        there = left > 0
        best = np.maximum(np.where(there, scores, -math.inf).max(axis=1, initial=-math.inf), symbol)
        going = best > -math.inf
        best[~going] = 0.0
        _put(law, picked, np.where(going, 0.0, chance))
        distance = best[:, np.newaxis] - scores
        weights = left * np.exp(-rate * np.where(there, distance, 0.0))
        ending = np.where(going, np.exp(-rate * (best - symbol)), 0.0)
        total = np.where(going, weights.sum(axis=1) + ending, 1.0)
        if open_universe:
            absent = scores == 0
            ending += weights[:, absent].sum(axis=1)
            weights[:, absent] = 0.0
        _put(law, picked, chance * ending / total)
        lists, places = np.nonzero(weights)
        picked = [(*picked[of], place) for of, place in zip(lists.tolist(), places.tolist(), strict=True)]
        chance = chance[lists] * weights[lists, places] / total[lists]
        left = left[lists]
        left[np.arange(len(lists)), places] -= 1
    _put(law, picked, chance)
    return law


def _put(law: Law, lists: Sequence[tuple[int, ...]], chances: Floats) -> None:
    for picked, chance in zip(lists, chances.tolist(), strict=True):
        if chance:
            law[picked] = law.get(picked, 0.0) + chance


def mix(*parts: tuple[float, Law]) -> Law:
    """The mixture of laws with these weights."""
    mixture: Law = {}
    for weight, law in parts:
        for ranks, probability in law.items():
            mixture[ranks] = mixture.get(ranks, 0.0) + weight * probability
    return mixture
