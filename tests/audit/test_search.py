from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import pytest

from fim_private.audit.laws import hockey_stick, law_over_itemsets
from fim_private.audit.search import hard_cases, largest_delta, neighbours
from fim_private.mechanisms.exponential import Exponential
from fim_private.privacy import NeighbouringRelation

ADD_REMOVE, REPLACE = NeighbouringRelation


def test_hockey_stick_of_randomised_response() -> None:
    one, other = {(0,): 0.75, (1,): 0.25}, {(0,): 0.25, (1,): 0.75}
    assert math.isclose(hockey_stick(one, other, 0.0), 0.5)
    assert math.isclose(hockey_stick(one, other, math.log(2)), 0.25)
    assert hockey_stick(one, other, math.log(3) + 1e-12) == 0
    assert hockey_stick({(5,): 1.0}, {}, 9.0) == 1.0


def test_neighbours_are_all_there_are() -> None:
    added = set(neighbours((0, 2), sensitivity=1, relation=ADD_REMOVE))
    assert added == {(1, 2), (0, 3), (1, 3)}
    exchanged = set(neighbours((0, 2), sensitivity=1, relation=REPLACE))
    assert exchanged == {(1, 2), (0, 3), (1, 3), (0, 1), (1, 1)}
    assert len(set(neighbours((5, 5, 5), sensitivity=2, relation=ADD_REMOVE))) == 3**3 - 1


def test_hard_cases_hold_the_hard_ones() -> None:
    cases = set(hard_cases([4], itemsets=3))
    assert {(0, 0, 0), (1, 0, 0), (4, 0, 0), (4, 4, 0), (5, 1, 1), (2, 0, 0), (8, 4, 0)} <= cases
    assert all(list(case) == sorted(case, reverse=True) for case in cases)


def test_law_over_itemsets_names_absent_ones_alike() -> None:
    mechanism = Exponential(top=2, pick_epsilon=Fraction(1), universe_size=3)
    law = law_over_itemsets(mechanism, (0, 2, 0), declared=True)
    weights = {0: 1.0, 1: math.exp(2), 2: 1.0}
    assert law.keys() == set(permutations(range(3), 2))
    for first, second in law:
        chance = weights[first] / sum(weights.values())
        chance *= weights[second] / (sum(weights.values()) - weights[first])
        assert math.isclose(law[first, second], chance, rel_tol=1e-12)


def test_the_search_finds_the_known_worst_case() -> None:
    """One exponential pick at exponent 1 among two: the loss is ln of the ratio of the two odds' sums."""
    mechanism = Exponential(top=1, pick_epsilon=Fraction(1), universe_size=2)
    tight = max(
        math.exp(gap + 1) / (1 + math.exp(gap + 1)) - math.exp(0.2) * math.exp(gap) / (1 + math.exp(gap))
        for gap in (0, -1, 1)
    )
    found = largest_delta(mechanism, [(0, 0), (0, 1), (1, 0), (1, 1)], epsilon=0.2, declared=True)
    assert found.delta == pytest.approx(tight, rel=1e-9)
    assert sorted(map(sum, (found.counts, found.neighbour))) in ([0, 1], [1, 2], [2, 3])
