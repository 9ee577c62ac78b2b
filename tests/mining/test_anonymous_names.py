"""Releases where only the number of items is public: what is named, counted, charged and said."""

from __future__ import annotations

from typing import Any

import pytest

from fim_private import (
    Budget,
    Constraints,
    InputError,
    Ledger,
    NeighbouringRelation,
    Universe,
    UsageError,
    transactions_from_lists,
)
from fim_private.release import Release
from fim_private.transactions.dataset import Transactions
from tests.asking import mined
from tests.sampling import SEED

BASKETS = [["bread", "milk"]] * 900 + [["bread", "tea"]] * 700 + [["milk", "salt"]] * 600 + [["SECRET", "bread"]] * 2


def found(baskets: Transactions | None = None, **changes: Any) -> Release:
    options = {"mechanism": "exponential", "universe": Universe(items=1000), "seed": SEED}
    return mined(BASKETS if baskets is None else baskets, **{**options, **changes})


TRUE = {("bread", "milk"): 900, ("bread", "tea"): 700, ("milk", "salt"): 600}


def test_frequent_itemsets_are_named_and_rare_ones_are_not() -> None:
    release = found()
    assert {itemset.items for itemset in release.itemsets} == set(TRUE)
    assert release.privacy["most_items"] == 1000
    assert "taken_as_public" not in release.privacy
    assert release.plan["universe_items"] == 1000
    assert release.plan["parameters"]["certificate"]["threshold"] > 50
    # The fourth has no support, so of four picks none is named.
    assert found(top=4).itemsets == ()


def test_long_lists_end_where_the_support_does() -> None:
    lists = [[f"a{pair:02}", f"b{pair:02}"] for pair in range(10) for _ in range(1500 + pair)]
    named = [len(found(transactions_from_lists(lists), top=20, seed=seed).itemsets) for seed in range(12)]
    # The length below 10 is 8, and 11 would name an itemset without support.
    assert max(named) < 11
    assert sum(number >= 8 for number in named) > 6


def test_counts_are_released_for_what_is_named() -> None:
    release = found(count_share="0.3")
    for itemset in release.itemsets:
        assert itemset.count == pytest.approx(TRUE[itemset.items], abs=150)
    assert found(count_share="0.3", top=4).itemsets == ()


def test_leads_are_released_for_what_is_named() -> None:
    release = found(mechanism="report-noisy-max", top=2, budget=Budget("4", "1e-6"))
    assert [itemset.items for itemset in release.itemsets] == [("bread", "milk"), ("bread", "tea")]
    assert all(itemset.lead is not None and itemset.lead > 20 for itemset in release.itemsets)


@pytest.mark.parametrize("name", ["exponential", "max-of-laplaces", "exponential-textbook"])
@pytest.mark.parametrize("relation", list(NeighbouringRelation))
def test_sizes_together_and_by_themselves(name: str, relation: NeighbouringRelation) -> None:
    asked = {"size": (1, 2), "budget": Budget("8", "1e-6"), "relation": relation, "mechanism": name}
    together = found(top=2, **asked)
    assert {itemset.items for itemset in together.itemsets} == {("bread",), ("milk",)}
    apart = found(top=1, per_size=True, **asked)
    assert [itemset.items for itemset in apart.itemsets] == [("bread",), ("bread", "milk")]


def test_constraints_leave_the_declared_number_of_other_items() -> None:
    """Nobody knows whether the named items are among those that occur, so all N items may be others."""
    constraints = Constraints(must_contain=["bread"], exclude=["salt"])
    release = found(constraints=constraints, top=1)
    assert [itemset.items for itemset in release.itemsets] == [("bread", "milk")]
    assert release.plan["parameters"]["inner"]["universe_size"] == 1000


@pytest.mark.parametrize(
    "constraints",
    [Constraints(exclude=["zzz"]), Constraints(exclude=["zzz", "salt"]), Constraints(must_contain=["bread"])],
)
def test_data_with_as_many_items_as_declared_is_not_refused_for_a_constraint(constraints: Constraints) -> None:
    assert found(universe=Universe(items=5), constraints=constraints, top=1).itemsets


def test_a_required_item_that_does_not_occur_is_no_reason_to_refuse() -> None:
    assert not found(universe=Universe(items=5), constraints=Constraints(must_contain=["zzz"]), top=1).itemsets


def test_more_items_than_declared_beside_the_named_ones_are_refused() -> None:
    with pytest.raises(InputError, match="Universe"):
        found(universe=Universe(items=4), constraints=Constraints(exclude=["zzz"]), top=1)


def test_more_items_than_declared_are_refused_before_anything_is_charged(tmp_path: Any) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="1", delta="1e-5")
    with pytest.raises(InputError, match="Universe"):
        found(universe=Universe(items=4), seed=None, ledger=ledger)
    assert ledger.state().releases == 0
    assert found(universe=Universe(items=5), seed=None, ledger=ledger).itemsets
    assert ledger.history()[-1].mechanism == "exponential"
    assert ledger.state().releases == 1


def test_a_mechanism_without_a_universe_does_not_ask_for_the_number() -> None:
    release = found(mechanism="limited-domain", universe=Universe(items=4), budget=Budget("2", "1e-6"), top=1)
    assert [itemset.items for itemset in release.itemsets] == [("bread", "milk")]
    assert "most_items" not in release.privacy


def test_a_plan_for_a_list_that_is_not_given_takes_no_data() -> None:
    with pytest.raises(UsageError, match="does not have the names"):
        found(universe=Universe(items=1000, listed=True))
