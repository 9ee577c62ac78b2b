"""Mistakes in the mechanisms that pick from all candidates, and in those that name what stands above a threshold."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.joint_exponential import JointExponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.peeling import peel_law
from fim_private.mechanisms.protocol import Law
from fim_private.mechanisms.truncated_frequency import TruncatedFrequency
from fim_private.mechanisms.twins.twin import (
    AGAIN,
    SENSITIVITY,
    TRUE_ORDER,
    Twin,
    several,
    with_calculated,
    with_law,
    with_parameters,
)
from fim_private.privacy import NeighbouringRelation
from fim_private.profile import CountProfile


def _what_occurs(mechanism: Any, profile: CountProfile) -> Law:
    law: Law = mechanism.law(replace(profile, zeros=0))
    return law


def _stop_taken_from_the_data(mechanism: LimitedDomain, profile: CountProfile) -> Law:
    seen = replace(mechanism, candidates=max(mechanism.top, profile.occurring))
    return seen.law(profile)


def _same_uniform(mechanism: Exponential, profile: CountProfile) -> Law:
    """The law if one uniform number decides all picks: each list corresponds to an interval."""
    levels = profile.top(mechanism.universe_size)
    law: Law = {}

    def pick(picked: tuple[int, ...], left: list[int], low: float, high: float) -> None:
        if len(picked) == mechanism.top or not any(left):
            law[picked] = law.get(picked, 0.0) + high - low
            return
        best = max(count for (count, _), number in zip(levels, left, strict=True) if number)
        weights = [
            number * math.exp(-float(mechanism.rates[len(picked)]) * (best - count)) if number else 0.0
            for (count, _), number in zip(levels, left, strict=True)
        ]
        end = 0.0
        for place, weight in enumerate(weights):
            begin, end = end, end + weight / sum(weights)
            if weight and max(low, begin) < min(high, end):
                fewer = [number - (at == place) for at, number in enumerate(left)]
                pick((*picked, place), fewer, max(low, begin), min(high, end))

    pick((), [number for _, number in levels], 0.0, 1.0)
    return law


def _lifted(mechanism: TruncatedFrequency, profile: CountProfile, *, gamma: int, share: float, kept: int) -> Law:
    """The law with another gamma; lifted itemsets weigh `share` of what they should, and `kept` (0 or 1) are there."""
    floor = profile.count(mechanism.top) - gamma
    less = math.log(share) / float(mechanism.rate)
    levels = [
        (max(count, floor) + (less if count < floor else 0.0), number * (kept if count < floor else 1))
        for count, number in profile.top(mechanism.universe_size)
    ]
    return peel_law(levels, rates=(mechanism.rate,) * mechanism.top, open_universe=False)  # type: ignore[arg-type]


def _gamma_from_the_data(mechanism: TruncatedFrequency, profile: CountProfile) -> Law:
    seen = replace(mechanism, universe_size=max(1, profile.occurring)).gamma
    return _lifted(mechanism, profile, gamma=seen, share=1.0, kept=1)


def _lifted_ones_left_out(mechanism: TruncatedFrequency, profile: CountProfile) -> Law:
    return _lifted(mechanism, profile, gamma=mechanism.gamma, share=1.0, kept=0)


def _lifted_ones_counted_once(mechanism: TruncatedFrequency, profile: CountProfile) -> Law:
    floor = profile.count(mechanism.top) - mechanism.gamma
    lifted = sum(number for count, number in profile.top(mechanism.universe_size) if count < floor)
    return _lifted(mechanism, profile, gamma=mechanism.gamma, share=1 / max(1, lifted), kept=1)


def _losses(mechanism: JointExponential, profile: CountProfile, picked: tuple[int, ...]) -> list[int]:
    """What a list of levels loses at each place."""
    counts = [count for count, _ in profile.top(mechanism.universe_size)]
    return [profile.count(place) - counts[level] for place, level in enumerate(picked, start=1)]


def _losses_added_up(mechanism: JointExponential, profile: CountProfile) -> Law:
    law = {}
    for picked, chance in mechanism.law(profile).items():
        losses = _losses(mechanism, profile, picked)
        law[picked] = chance * math.exp(-float(mechanism.rate) * (sum(losses) - max(losses)))
    total = math.fsum(law.values())
    return {picked: chance / total for picked, chance in law.items()}


def _smaller_losses_too(mechanism: JointExponential, profile: CountProfile) -> Law:
    """The law if the loss is drawn rightly, but the list is then any of those with at most this loss."""
    law = mechanism.law(profile)
    loss = {picked: max(_losses(mechanism, profile, picked)) for picked in law}
    number = {picked: chance * math.exp(float(mechanism.rate) * loss[picked]) for picked, chance in law.items()}
    by_loss = {
        most: math.fsum(law[picked] for picked in law if loss[picked] == most)
        / math.fsum(number[picked] for picked in law if loss[picked] <= most)
        for most in set(loss.values())
    }
    return {
        picked: number[picked] * math.fsum(chance for most, chance in by_loss.items() if most >= loss[picked])
        for picked in law
    }


_FROM_THE_DATA = Twin(
    name="universe taken from the data",
    mistake="the declared universe is replaced by the itemsets that occur",
    broken=with_law(_what_occurs),
)
_DOUBLED = Twin(
    name="exponent doubled",
    mistake="picks by e^(2 eps c)",
    broken=with_parameters(pick_epsilon=lambda mechanism: 2 * mechanism.pick_epsilon),
    needs=lambda mechanism: not getattr(mechanism, "general", False),
)
_BY_AN_EXPONENT = (_FROM_THE_DATA, _DOUBLED, SENSITIVITY, TRUE_ORDER)
"""Mistakes in every choice by an exponent over a declared universe."""
_AS_THE_LAST = Twin(
    name="every pick like the last",
    mistake="all picks get the epsilon of the last one, which was the largest",
    broken=with_calculated(rates=lambda mechanism: mechanism.rates[-1:] * mechanism.top),
    needs=lambda mechanism: mechanism.rates[0] < mechanism.rates[-1],
)
LIMITED_DOMAIN = (
    Twin(
        name="stop symbol half as far",
        mistake="the stop symbol's lead is halved",
        broken=with_calculated(stop_lead=lambda mechanism: mechanism.stop_lead / 2),
    ),
    Twin(
        name="cap taken from the data",
        mistake="kbar is the number of itemsets that occur instead of a public number",
        broken=with_law(_stop_taken_from_the_data),
    ),
    _DOUBLED,
    SENSITIVITY,
    AGAIN,
    TRUE_ORDER,
)
_MONOTONE = Twin(
    name="monotone exponent under replace",
    mistake="the exponent of counts that all move one way, where units are exchanged",
    broken=with_parameters(general=lambda _mechanism: False),
    needs=lambda mechanism: mechanism.general,
    relation=NeighbouringRelation.REPLACE,
)
TRUNCATED_FREQUENCY = (
    Twin(
        name="gamma from the data",
        mistake="gamma uses the number of itemsets that occur instead of the size of the universe",
        broken=with_law(_gamma_from_the_data),
    ),
    Twin(
        name="rare itemsets left out",
        mistake="itemsets below the floor are never picked, instead of being lifted to it",
        broken=with_law(_lifted_ones_left_out),
    ),
    Twin(
        name="rare itemsets drawn as one",
        mistake="all lifted itemsets together weigh as much as one of them should",
        broken=with_law(_lifted_ones_counted_once),
    ),
    _MONOTONE,
    *_BY_AN_EXPONENT,
)
JOINT_EXPONENTIAL = (
    Twin(
        name="losses added up",
        mistake="a list loses the sum over its places instead of the largest of them",
        broken=with_law(_losses_added_up),
        # Sums all move one way, by at most k Delta: for k = 2 the exponent would pay for that.
        needs=lambda mechanism: mechanism.top > 2,
    ),
    Twin(
        name="smaller losses drawn too",
        mistake="the largest loss is drawn first, and then a list with at most this loss instead of exactly this one",
        broken=with_law(_smaller_losses_too),
    ),
    *_BY_AN_EXPONENT,
)
EXPONENTIAL = (
    _MONOTONE,
    _AS_THE_LAST,
    Twin(
        name="noise used again in the next pick",
        mistake="one uniform number for all picks instead of a fresh one for each",
        broken=with_law(_same_uniform),
        needs=several,
    ),
    *_BY_AN_EXPONENT,
)
NOISY_MAXIMA = (
    replace(_DOUBLED, name="half the noise", mistake="noise of scale Delta/(2 eps)"),
    replace(
        _MONOTONE,
        name="monotone noise under replace",
        mistake="the noise of counts that all move one way, where units are exchanged",
    ),
    _FROM_THE_DATA,
    SENSITIVITY,
    TRUE_ORDER,
)
STABLE_MAX = (
    Twin(
        name="gap to the third",
        mistake="c_(1) - c_(3) is compared, so that the first two may stand level",
        broken=with_calculated(_gap=lambda _mechanism: lambda profile: profile.count(1) - profile.count(3)),
    ),
    SENSITIVITY,
    AGAIN,
)
"""The mistake of `TRUE_ORDER` is none here: the list is in the order of the true counts in any case."""
CHOOSING = (
    Twin(
        name="one new itemset",
        mistake="the threshold is calculated as if a unit could add one itemset only",
        broken=with_parameters(most_new=lambda _mechanism: 1),
    ),
    Twin(
        name="threshold of 1",
        mistake="one occurrence is taken for enough",
        broken=with_calculated(threshold=lambda _mechanism: 1),
    ),
    AGAIN,
    TRUE_ORDER,
)
