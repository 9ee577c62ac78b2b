"""What a ledger takes for granted of failures, by exact laws, between neighbours that fail as much as can be."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.registry import REGISTRY
from fim_private.privacy import AnyFailure
from tests.plan.test_plan import plan_of

ListLaw = dict[tuple[int, ...], float]


def law(mechanism: LimitedDomain, counts: tuple[int, ...], without: frozenset[int] = frozenset()) -> ListLaw:
    """The law over ordered lists of itemsets, of the run in which these cannot be picked; the end is -1."""
    ranked = sorted(range(len(counts)), key=lambda itemset: (-counts[itemset], itemset))
    cut = counts[ranked[mechanism.candidates]] if len(ranked) > mechanism.candidates else 0
    scores = {itemset: float(counts[itemset]) for itemset in ranked[: mechanism.candidates] if counts[itemset]}
    scores = {itemset: score for itemset, score in scores.items() if itemset not in without}
    scores[-1] = cut + float(mechanism.stop_lead)
    rate = float(mechanism.rate)
    found: ListLaw = {}

    def extend(chosen: tuple[int, ...], chance: float) -> None:
        if len(chosen) == mechanism.top or (chosen and chosen[-1] == -1):
            found[chosen] = chance
            return
        left = {itemset: score for itemset, score in scores.items() if itemset not in chosen}
        highest = max(left.values())
        weights = {itemset: math.exp(rate * (score - highest)) for itemset, score in left.items()}
        for itemset, weight in weights.items():
            extend((*chosen, itemset), chance * weight / sum(weights.values()))

    extend((), 1.0)
    return found


def ranked(counts: tuple[int, ...], number: int) -> frozenset[int]:
    order = sorted(range(len(counts)), key=lambda itemset: (-counts[itemset], itemset))
    return frozenset(itemset for itemset in order[:number] if counts[itemset])


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("top", [1, 2, 3])
def test_the_limited_domain_fails_as_rarely_in_each_step_as_in_the_whole_list(top: int, sensitivity: int) -> None:
    mechanism = LimitedDomain(
        top=top, candidates=3, pick_epsilon=Fraction(7, 10), stop_delta=Fraction(1, 20), sensitivity=sensitivity
    )
    (failure,) = mechanism.failures
    least = (1 - float(failure.probability)) ** failure.steps
    worst_missed, worst_kept = 0.0, 1.0
    for counts in product((0, 1, 9), repeat=5):
        for moves in ((1, 1, 1, 1, 1), (0, 0, 0, 1, 1), (1, 0, 1, 0, 1), (0, 1, 0, 1, 0), (1, 1, 0, 0, 0)):
            other = tuple(count + sensitivity * move for count, move in zip(counts, moves, strict=True))
            for here, there in ((counts, other), (other, counts)):
                own = ranked(here, 3) - ranked(there, 3)
                run, covered = law(mechanism, here), law(mechanism, here, own)
                kept = min(run[answer] / chance for answer, chance in covered.items())
                missed = sum(max(0.0, chance - covered.get(answer, 0.0)) for answer, chance in run.items())
                worst_kept, worst_missed = min(worst_kept, kept), max(worst_missed, missed)
    assert worst_kept >= least * (1 - 1e-9)
    assert worst_missed <= float(failure.probability) * (1 + 1e-9)
    # The search comes near what is claimed, so a claim of half would be caught.
    assert worst_missed > float(failure.probability) / 2
    assert worst_kept < 1 - float(failure.probability) / 2


SHOWN = {
    "items-first": "tests/audit/test_verdict.py",
    "limited-domain": "the test above",
    "look-first": "tests/accounting/test_failure_price.py",
    "weighted-gaussian": "tests/mechanisms/test_weighted_gaussian.py",
}
"""Mechanisms whose failures are cheaper than `AnyFailure`, and what shows that they are what they say."""


@pytest.mark.parametrize("name", REGISTRY)
def test_a_cheaper_kind_of_failure_is_shown_to_be_one(name: str) -> None:
    kinds = {type(failure) for failure in plan_of(name).mechanism.failures}
    assert kinds <= {AnyFailure} or name in SHOWN
