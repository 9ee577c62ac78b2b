"""Several sizes in one search: the answer, the universe, and the promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fim_private import Budget, PrivacyUnit, Universe, UsageError, transactions_from_lists
from fim_private.audit.laws import NUMERICAL_ERROR, hockey_stick, law_over_itemsets
from fim_private.constraints import Constraints
from fim_private.counting import HiddenCounts, LocalDatabase, largest_counts
from fim_private.mechanisms.choosing import Choosing
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.protocol import Mechanism
from fim_private.mechanisms.registry import REGISTRY
from fim_private.plan import Plan
from fim_private.privacy import NeighbouringRelation
from fim_private.randomness import SeededRandomness
from fim_private.release.door import pass_through
from fim_private.release.files import write_release
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.restriction import restrict_to
from tests.asking import mined, planned
from tests.mechanisms.cases import needs
from tests.sampling import FALSE_ALARM, SEED, p_value

ONE_SEARCH = [name for name, row in REGISTRY.items() if not row.finds_items]


def plan_of(name: str = "limited-domain", **changes: Any) -> Plan:
    options = {"size": (1, 2), "epsilon": "2", "mechanism": name}
    return planned(**{**options, **(needs(name, 100, listed=False) if name in REGISTRY else {}), **changes})


@pytest.mark.parametrize("name", [*sorted(set(ONE_SEARCH) - {"stable-max"}), "auto"])  # which needs a lead
def test_every_mechanism_finds_the_top_of_all_sizes_together(name: str) -> None:
    """Two items and their pair are far ahead; then a third item, and the pairs with it."""
    baskets = [["bread", "milk"]] * 6000 + [["tea"]] * 3000 + [["bread", "tea"]] * 40
    release = mined(
        baskets,
        size=[3, 2, 1],
        epsilon="2",
        mechanism=name,
        seed=3,
        **{**needs(name, 100, listed=False), "max_items": 10} if name in REGISTRY else {},
    )
    assert {itemset.items for itemset in release.itemsets} == {("bread",), ("milk",), ("bread", "milk")}
    assert release.plan["sizes"] == [1, 2, 3]
    assert release.plan["size"] is None


def test_the_universe_is_the_union() -> None:
    declared = plan_of("exponential", size=(1, 2, 3), universe=Universe(items=50, listed=True))
    assert isinstance(declared.mechanism, Exponential)
    assert declared.mechanism.universe_size == 50 + math.comb(50, 2) + math.comb(50, 3)
    unit = PrivacyUnit(column="customer", max_transactions=3)
    capped = plan_of("choosing", size=(1, 3), max_items=7, unit=unit)
    assert isinstance(capped.mechanism, Choosing)
    assert capped.mechanism.most_new == 3 * (7 + math.comb(7, 3))
    assert capped.sizes == (1, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": ()}, "No itemset size"),
        ({"size": (0, 1)}, "size is out of range"),
        ({"size": (2, 21)}, "size is out of range"),
        ({"size": (2, "3")}, "size is out of range"),
        ({"size": 2.5}, "size is out of range"),
        ({"size": (1, 4), "max_items": 3}, "items to keep"),
        ({"name": "exponential", "universe": Universe(items=2), "top": 4}, "fewer itemsets"),
    ],
)
def test_a_question_that_cannot_be_planned_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(**changes)


def test_sizes_are_put_in_order_and_a_single_one_is_a_size() -> None:
    assert plan_of(size=[2, 1, 2]).sizes == (1, 2)
    assert plan_of(size=[2]) == plan_of(size=2)
    assert plan_of(size=2).size == 2
    assert plan_of("exponential", universe=Universe(items=2, listed=True)).mechanism.universe_size == 3
    assert plan_of("auto", size=2, top=400).mechanism_name == "look-first"
    assert plan_of("auto", top=400).mechanism_name == "look-first"


def test_itemsets_that_do_not_occur_are_uniform_over_all_sizes() -> None:
    names = ("a", "b", "c", "d")
    database = LocalDatabase(restrict_to(transactions_from_lists([["a", "b"]]), names))
    plan = plan_of(
        "exponential", size=(1, 2, 3), top=1, budget=Budget("1", "0"), universe=Universe(names=names)
    )  # fmt: skip
    counts = largest_counts(database, plan.sizes, plan.mechanism.depth)
    randomness = SeededRandomness(SEED)
    drawn = [pass_through(database, counts, plan.mechanism, plan, randomness)[0].items for _ in range(4000)]
    all_of_them = [itemset for size in (1, 2, 3) for itemset in combinations(names, size)]
    occurring = {("a",), ("b",), ("a", "b")}
    total = 3 * math.e + len(all_of_them) - 3
    law = {itemset: (math.e if itemset in occurring else 1) / total for itemset in all_of_them}
    assert p_value(drawn, law) > FALSE_ALARM
    # As if each size were as likely as the others.
    skewed = {itemset: 1 / 3 / math.comb(4, len(itemset)) for itemset in all_of_them}
    assert p_value(drawn, skewed) < FALSE_ALARM


# The promise, by exact laws over data sets that differ in one basket.

ITEMS = ("a", "b", "c")
UNIVERSE = [itemset for size in (1, 2) for itemset in combinations(ITEMS, size)]
BASKETS = [list(basket) for size in (1, 2, 3) for basket in combinations(ITEMS, size)]
DATA: list[list[list[str]]] = [
    [],
    [["a"]],
    [["a", "b"]] * 3,
    [["a", "b"]] * 2 + [["c"]] * 2,
    [["a", "b", "c"]] * 4 + [["a"]],
    [["a"]] * 9 + [["a", "b"]] * 8 + [["b", "c"]],
    [["a", "b"]] * 14 + [["c"]] * 3,
]


def vector(hidden: HiddenCounts, transactions: Transactions) -> list[int]:
    """The counts of the universe's itemsets, as the door would rank them."""
    profile = hidden.profile()
    counts = np.repeat(profile.levels, profile.multiplicities).tolist()
    names = transactions.vocabulary.to_list()
    itemsets = hidden.itemsets_at(list(range(len(hidden)))).tolist()
    ranked = [tuple(names[code] for code in row if code >= 0) for row in itemsets]
    counted = dict(zip(ranked, counts, strict=True))
    return [counted.get(itemset, 0) for itemset in UNIVERSE]


def worst(mechanism: Mechanism, epsilon: float, *, declared: bool, most_items: int = 3) -> float:
    found = 0.0
    for lists in DATA:
        kept = [basket for basket in lists if len(basket) <= most_items]
        for basket in BASKETS:
            if len(basket) > most_items:
                continue
            one, other = (law_of(mechanism, side, declared=declared) for side in (kept, [*kept, basket]))
            for here, there in ((one, other), (other, one)):
                found = max(found, float(hockey_stick(here, there, [epsilon])[0]))
    return found


def law_of(mechanism: Mechanism, lists: Sequence[Sequence[str]], *, declared: bool) -> Any:
    transactions = transactions_from_lists([list(items) for items in lists])
    # All counts, as for a mechanism that looks at all of them; what each sees of the vector is up to its law.
    whole = Exponential(top=1, pick_epsilon=Fraction(1), universe_size=len(UNIVERSE))
    counts = vector(largest_counts(LocalDatabase(transactions), (1, 2), whole.depth), transactions)
    return law_over_itemsets(mechanism, counts, declared=declared)


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
@pytest.mark.parametrize("top", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["exponential", "limited-domain", "choosing"])
def test_one_basket_changes_itemsets_of_all_sizes_and_the_claim_holds(
    name: str, top: int, relation: NeighbouringRelation
) -> None:
    budget = Budget("2", "0.05")
    plan = plan_of(
        name, top=top, budget=budget, relation=relation,
        **({"max_items": 2} if name == "choosing" else {}),
        **({"universe": Universe(items=3, listed=True)} if name == "exponential" else {}),
    )  # fmt: skip
    mechanism: Any = plan.mechanism
    if isinstance(mechanism, LimitedDomain):
        mechanism = replace(mechanism, candidates=3)
    epsilon = 1.0 if relation is NeighbouringRelation.REPLACE else 2.0
    most = 2 if name == "choosing" else 3
    delta = 0.05 / (1 + math.e) if relation is NeighbouringRelation.REPLACE else 0.05
    found = worst(mechanism, epsilon, declared=name == "exponential", most_items=most)
    assert found <= delta + NUMERICAL_ERROR


@pytest.mark.slow
def test_the_search_of_data_sets_tells_a_larger_exponent() -> None:
    plan = plan_of("exponential", top=1, budget=Budget("2", "0"), universe=Universe(items=3, listed=True))
    mechanism: Any = plan.mechanism
    assert worst(mechanism, 2.0, declared=True) <= NUMERICAL_ERROR
    twin = replace(mechanism, pick_epsilon=mechanism.pick_epsilon * 3 / 2)
    assert worst(twin, 2.0, declared=True) > 1e-3


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
def test_releases_of_several_sizes_are_written(tmp_path: Path, suffix: str) -> None:
    baskets = [["bread", "milk"]] * 6000 + [["tea"]] * 3000
    release = mined(baskets, size=(1, 2, 3), epsilon="2", mechanism="limited-domain", count_share="0.3", seed=SEED)
    path = tmp_path / f"release{suffix}"
    write_release(release, path)
    if suffix == ".csv":
        table = pl.read_csv(path, infer_schema=False)
        rows = {(row["item_1"], row["item_2"]) for row in table.to_dicts()}
        assert rows == {("bread", None), ("milk", None), ("bread", "milk")}


def test_counts_of_several_sizes_are_consistent() -> None:
    baskets = transactions_from_lists([["a", "b", "c"]] * 4000)
    shown, raw = (
        mined(baskets, size=(1, 2, 3), top=7, mechanism="limited-domain", count_share="0.3", raw_counts=raw, seed=SEED)
        for raw in (False, True)
    )  # fmt: skip
    assert len(shown.itemsets) == 7

    def breaches(release: Any) -> int:
        return sum(
            set(one.items) < set(other.items) and one.count < other.count
            for one in release.itemsets
            for other in release.itemsets
        )

    assert breaches(shown) == 0
    assert breaches(raw) > 0
    assert [line.count_low for line in shown.itemsets] == [line.count_low for line in raw.itemsets]


def test_constraints_leave_a_smaller_union() -> None:
    """With sizes 2 and 3 and one item given, single items and pairs of the other items are searched and counted."""
    milk = Constraints(must_contain=["milk"], exclude=["bag"])
    plan = plan_of("exponential", size=(2, 3), constraints=milk, universe=Universe(items=12, listed=True))
    assert isinstance(plan.mechanism, Exponential)
    assert plan.mechanism.universe_size == 10 + math.comb(10, 2)
    listed = Universe(items=12, listed=True)
    apart = plan_of("exponential", size=(2, 3), constraints=milk, universe=listed, per_size=True)
    assert [search.universe_size for _, search in apart.selections] == [10, 45]
    assert [line.what for line in apart.spending] == [
        f"size {size}, picks, on average (later ones get more)" for size in (2, 3)
    ]
    capped = plan_of("choosing", size=(2, 3), constraints=milk, max_items=4)
    assert capped.mechanism.most_new == 4 + 6
    baskets = [["milk", "bread", "tea", "bag"]] * 5000 + [["bread", "bag"]] * 9000 + [["milk", "bread"]] * 3000
    for per_size, top in ((False, 3), (True, 1)):
        release = mined(
            baskets,
            size=(2, 3),
            top=top,
            epsilon="2",
            mechanism="limited-domain",
            constraints=milk,
            per_size=per_size,
            count_share="0.3",
            seed=SEED,
        )
        counts = {itemset.items: itemset.count for itemset in release.itemsets}
        assert counts["bread", "milk"] == pytest.approx(8000, abs=150)
        assert counts["bread", "milk", "tea"] == pytest.approx(5000, abs=150)
        assert len(counts) == (2 if per_size else 3)
