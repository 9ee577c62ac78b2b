"""Both ways of look-first, from data to release."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from fim_private.counting import LocalDatabase
from fim_private.errors import InputError
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mining import items_first_steps, stepwise
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan, Universe
from fim_private.randomness import SeededRandomness
from fim_private.transactions.item_codes import transactions_from_lists
from tests import asking

FAR = transactions_from_lists([["a", "b", "c"]] * 900 + [["a", "d"]] * 600 + [["e"]] * 30)
"""The first two pairs are far above the bulk, which is empty."""
NEAR = transactions_from_lists([["a", "b"]] * 100 + [["a", "d"]] * 90 + [["a"]] * 4000)
"""The pairs are not, for a budget of 1, but their items are frequent."""


def planned(epsilon: str = "1", **asked: object) -> Plan:
    return asking.planned(**{"top": 2, **asked}, epsilon=epsilon, mechanism="look-first")


def test_a_clear_list_is_picked_and_no_item_is_counted() -> None:
    plan = planned(top=3)
    assert isinstance(plan.mechanism, LookFirst)
    release = mine_as_planned(FAR, plan, seed=1)
    assert {itemset.items for itemset in release.itemsets} == {("a", "b"), ("a", "c"), ("b", "c")}
    assert release.found is None
    assert {itemset.count for itemset in release.itemsets} == {None}


def test_elsewhere_the_items_are_found_first(monkeypatch: pytest.MonkeyPatch) -> None:
    ran, looked = [], []
    real, look_at = items_first_steps.run, LookFirst.look_at

    def run(*args: object, **options: object) -> object:
        ran.append(args[1])
        return real(*args, **options)

    def look(*args: object) -> int:
        looked.append(look_at(*args))
        return looked[-1]

    monkeypatch.setattr(items_first_steps, "run", run)
    monkeypatch.setattr(LookFirst, "look_at", look)
    plan = planned("0.5")
    release = mine_as_planned(NEAR, plan, seed=3)
    assert isinstance(plan.mechanism, LookFirst)
    (way,) = ran
    assert isinstance(way, ItemsFirst)
    assert replace(way, support=None) == plan.mechanism.items
    # It hears what the look said, not how things are.
    assert way.support == looked[0] > 0
    counts = stepwise.count_first(LocalDatabase(NEAR), plan.mechanism)
    assert way.support != plan.mechanism.support(counts.profile().count)
    assert release.found is not None


@pytest.mark.parametrize("sizes", [(2,), (1, 2, 3)])
def test_the_look_is_at_the_sizes_asked_for(sizes: tuple[int, ...]) -> None:
    """Counted before the charge, or in the run itself: the same list for the same noise."""
    mechanism = planned(size=sizes, top=4).mechanism
    assert isinstance(mechanism, LookFirst)
    database = LocalDatabase(FAR)
    counts = stepwise.count_first(database, mechanism)
    # Sizes 1 to 3: a 1,500; b, c, ab, ac, bc, abc 900; d, ad 600. Pairs: ab, ac, bc 900; ad 600.
    assert mechanism.support(counts.profile().count) == {(2,): 600, (1, 2, 3): 900}[sizes]
    one, other = (stepwise.run(database, mechanism, SeededRandomness(5), counts=given) for given in (counts, None))
    assert one.itemsets.tolist() == other.itemsets.tolist()
    assert one.counts is None


def test_a_public_list_serves_both_ways_and_spares_the_test_of_items() -> None:
    names = ("a", "b", "c", "d", "nobody", "nowhere")
    plan = planned(top=3, size=(1, 2), universe=Universe(names=names))
    assert isinstance(plan.mechanism, LookFirst)
    assert plan.mechanism.public_names == len(names)
    clear = mine_as_planned(FAR, plan, seed=1)
    assert {itemset.items for itemset in clear.itemsets} <= {("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")}
    assert (len(clear.itemsets), clear.found) == (3, None)
    # "e" is not on the list. The data is dense: itemsets that need not occur are left out.
    plan = planned("0.1", top=8, size=(1, 2), universe=Universe(names=names))
    release = mine_as_planned(FAR, plan, seed=3)
    assert release.found is not None
    occurring = {("a",), ("b",), ("c",), ("d",), ("a", "b"), ("a", "c"), ("a", "d"), ("b", "c")}
    assert {("a",), ("b",), ("c",), ("a", "b")} <= {itemset.items for itemset in release.itemsets} <= occurring


def test_pairs_of_a_public_list_are_picked_without_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("a", "b", "c", "d", "nobody", "nowhere")
    plan = planned(top=15, universe=Universe(names=names))
    assert plan.mechanism.failures == ()
    with monkeypatch.context() as forced:
        forced.setattr(LookFirst, "way", lambda mechanism, _support, _lengths: mechanism.ways_to_pick[0])
        release = mine_as_planned(FAR, plan, seed=1)
    # As many are named as the list makes, also those that nobody has. "e" is not on the list.
    assert {itemset.items for itemset in release.itemsets} == set(combinations(names, 2))
    clear = mine_as_planned(FAR, planned(top=3, universe=Universe(names=names)), seed=1)
    assert {itemset.items for itemset in clear.itemsets} == {("a", "b"), ("a", "c"), ("b", "c")}
    assert clear.found is None


def test_more_items_than_declared_are_refused() -> None:
    with pytest.raises(InputError, match="more different items"):
        mine_as_planned(FAR, planned(universe=Universe(items=4)), seed=1)
