from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import pytest

from fim_private.audit.laws import hockey_stick, law_over_groups, law_over_itemsets
from fim_private.audit.neighbours import Group, Limits, Neighbours
from fim_private.audit.search import hardest
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.privacy import NeighbouringRelation
from fim_private.randomness import SeededRandomness
from tests.audit.short_vectors import all_neighbours, hard_vectors, largest_delta
from tests.sampling import SEED

REPLACE = NeighbouringRelation.REPLACE


def test_hockey_stick_of_randomised_response() -> None:
    one, other = {(0,): 0.75, (1,): 0.25}, {(0,): 0.25, (1,): 0.75}
    assert hockey_stick(one, other, [0.0, math.log(2), math.log(3) + 1e-12]) == pytest.approx([0.5, 0.25, 0])
    assert hockey_stick({(5,): 1.0}, {}, [9.0]) == [1.0]


def vectors(counts: tuple[int, ...], limits: Limits) -> set[tuple[int, ...]]:
    return {tuple(group.there for group in pair.groups) for pair in all_neighbours(counts, limits)}


def test_neighbours_are_all_there_are() -> None:
    assert vectors((0, 2), Limits()) == {(1, 2), (0, 3), (1, 3)}
    assert vectors((0, 2), Limits(relation=REPLACE)) == {(1, 2), (0, 3), (1, 3), (0, 1), (1, 1)}
    assert len(vectors((5, 5, 5), Limits(sensitivity=2))) == 3**3 - 1
    assert vectors((0, 0), Limits(most_new=1)) == {(1, 0), (0, 1)}


def test_what_neighbours_are_not() -> None:
    def pair(*groups: tuple[int, int, int]) -> Neighbours:
        return Neighbours(groups=tuple(Group(*group) for group in groups))

    limits = Limits(sensitivity=2)
    assert limits.allow(pair((0, 2, 5), (3, 3, 1)))
    assert not limits.allow(pair((0, 3, 1)))
    assert not limits.allow(pair((3, 3, 1)))
    assert not limits.allow(pair((1, 2, 1), (1, 0, 1)))
    assert Limits(sensitivity=2, relation=REPLACE).allow(pair((1, 2, 1), (1, 0, 1)))
    assert not limits.allow(pair((0, -1, 1)))
    assert not Limits(universe_size=4).allow(pair((0, 1, 5)))
    assert Limits(universe_size=7).completed(pair((0, 1, 5))).groups[-1] == Group(0, 0, 2)


def test_hard_vectors_hold_the_hard_ones() -> None:
    cases = set(hard_vectors([4], itemsets=3))
    assert {(0, 0, 0), (1, 0, 0), (4, 0, 0), (4, 4, 0), (5, 1, 1), (2, 0, 0), (8, 4, 0)} <= cases
    assert all(list(case) == sorted(case, reverse=True) for case in cases)


def test_groups_are_itemsets_taken_together() -> None:
    """A law over groups is the sum of that over itemsets, at levels that are cut and in universes that are declared."""
    mechanisms = (
        (LimitedDomain(top=2, candidates=3, pick_epsilon=Fraction(1), stop_delta=Fraction(1, 9)), False),
        (Exponential(top=3, pick_epsilon=Fraction(1), universe_size=6), True),
        (
            LargeMargin(
                top=2,
                search_epsilon=Fraction(1),
                pick_epsilon=Fraction(1),
                certificate_delta=Fraction(1, 3),
                grid_limit=4,
            ),
            False,
        ),
    )
    groups = [(6, 2), (4, 3), (0, 1)]
    members = [(6, 0), (6, 0), (4, 1), (4, 1), (4, 1), (0, 2)]
    for mechanism, declared in mechanisms:
        together: dict[tuple[int, ...], float] = {}
        for named, chance in law_over_itemsets(mechanism, [count for count, _ in members], declared=declared).items():
            of_groups = tuple(members[place][1] for place in named)
            together[of_groups] = together.get(of_groups, 0.0) + chance
        found = law_over_groups(mechanism, groups, declared=declared)
        assert found.keys() == together.keys()
        assert all(math.isclose(found[key], together[key], rel_tol=1e-12) for key in found)


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
    found = largest_delta(mechanism, [(0, 0), (0, 1), (1, 0), (1, 1)], epsilon=0.2, declared=True, limits=Limits())
    assert found.delta == pytest.approx(tight, rel=1e-9)
    assert any(group.here != group.there for group in found.pair.groups)
    climbed = hardest(mechanism, [0.2], Limits(universe_size=2), steps=50, starts=2, randomness=SeededRandomness(SEED))
    assert climbed.worst[0].delta >= tight * (1 - 1e-9)
