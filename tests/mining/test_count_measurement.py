"""Released counts from the data to the release."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binomtest

from fim_private import (
    Constraints,
    PrivacyUnit,
    Release,
    Universe,
    UsageError,
    association_rules,
    transactions_from_lists,
)
from fim_private.mechanisms.count_noise import LaplaceCounts
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan
from fim_private.plan.record import plan_record
from fim_private.release.terms import privacy_record
from tests.asking import mined, planned
from tests.sampling import FALSE_ALARM, SEED

TRUE = {("bread", "milk"): 3000, ("bread", "tea"): 2000, ("milk", "tea"): 1500}
BASKETS = (
    [["bread", "milk"]] * 1500 + [["bread", "milk", "tea"]] * 1500 + [["bread", "tea"]] * 500 + [["rare", "jam"]] * 3
)


def counted(seed: int | None = SEED, **changes: Any) -> Release:
    options = {"epsilon": "2", "mechanism": "limited-domain", "count_share": "0.5", "seed": seed}
    return mined(changes.pop("baskets", BASKETS), **{**options, **changes})


@pytest.mark.parametrize("mechanism", ["limited-domain", "lmm", "items-first", "exponential", "permute-and-flip"])
def test_counts_come_with_their_itemsets(mechanism: str) -> None:
    declared = {"universe": Universe(items=50)} if mechanism in {"exponential", "permute-and-flip"} else {}
    release = counted(mechanism=mechanism, **declared)
    assert {itemset.items for itemset in release.itemsets} == set(TRUE)
    for itemset in release.itemsets:
        # Off by this much once in 1e15 releases.
        assert itemset.count == pytest.approx(TRUE[itemset.items], abs=120)
        assert itemset.count_low < itemset.count < itemset.count_high
        assert itemset.support is None


@pytest.mark.parametrize("select", ["peel", "counts"])
def test_fresh_counts_take_the_place_of_weighted_ones(select: str) -> None:
    """Baskets so long that their itemsets weigh little: the weighted counts would be far too low."""
    baskets = [[f"item{number:02}" for number in range(40)]] * 4000
    release = counted(baskets=baskets, mechanism="items-first", select=select, top=20)
    assert len(release.itemsets) == 20
    assert all(itemset.count == pytest.approx(4000, abs=600) for itemset in release.itemsets)
    assert all(itemset.count_low is not None for itemset in release.itemsets)


@pytest.mark.slow
def test_intervals_hold_the_true_count_as_often_as_they_say() -> None:
    """One planned release is drawn many times. Noise of another width is noticed."""
    plan = planned(epsilon="2", mechanism="limited-domain", count_share="0.5", raw_counts=True)
    transactions = transactions_from_lists(BASKETS)
    held = narrow = total = 0
    for seed in range(400):
        for itemset in mine_as_planned(transactions, plan, seed=seed).itemsets:
            total += 1
            held += itemset.count_low <= TRUE[itemset.items] <= itemset.count_high
            narrow += abs(itemset.count - TRUE[itemset.items]) <= 0.6 * plan.counts.half_width
    assert total == 1200
    # The discrete law holds a little more than 95 in 100.
    assert binomtest(held, total, 0.955).pvalue > FALSE_ALARM
    assert binomtest(narrow, total, 0.955).pvalue < FALSE_ALARM


def test_each_count_has_noise_of_its_own_and_the_interval_is_around_it() -> None:
    release = counted(raw_counts=True)
    reach = release.plan["counts"]["half_width"]
    errors = [itemset.count - TRUE[itemset.items] for itemset in release.itemsets]
    assert len(set(errors)) == 3
    for itemset in release.itemsets:
        assert (itemset.count_low, itemset.count_high) == (itemset.count - reach, itemset.count + reach)
    other = counted(SEED + 1, raw_counts=True)
    assert {itemset.count for itemset in other.itemsets} != {itemset.count for itemset in release.itemsets}


def test_counts_and_intervals_end_at_zero_unless_they_are_raw() -> None:
    """Itemsets that do not occur, chosen from a declared universe: half of the noisy counts are negative."""
    options: dict[str, Any] = {
        "baskets": [["a"]],
        "mechanism": "exponential",
        "universe": Universe(names=[f"item {number}" for number in range(1000)]),
        "top": 60,
    }
    shown, raw = counted(**options), counted(raw_counts=True, **options)
    reach = raw.plan["counts"]["half_width"]
    drawn = [itemset.count for itemset in raw.itemsets]
    assert min(drawn) < 0 < max(drawn)
    assert [itemset.count for itemset in shown.itemsets] == [max(0, count) for count in drawn]
    for release in (shown, raw):
        for itemset, count in zip(release.itemsets, drawn, strict=True):
            assert itemset.count_low == max(0, count - reach)
            assert itemset.count_high == max(0, count + reach)


def test_supports_are_shares_of_what_was_declared() -> None:
    for number in (3503, 7006, 100):
        release = counted(public_transactions=number)
        for itemset in release.itemsets:
            assert itemset.support == min(1.0, itemset.count / number)
    assert release.privacy["public_transactions"] == 100


def test_counts_are_of_the_bounded_data() -> None:
    """A customer's twenty equal baskets count once if merged, and as often as the cap if capped."""
    baskets = [["bread", "milk"] for _ in range(20 * 1000)]
    customers = [customer for customer in range(1000) for _ in range(20)]
    transactions = transactions_from_lists(baskets, customers)
    for kept, expected in ((None, 1000), (3, 3000)):
        unit = PrivacyUnit(column="customer", max_transactions=kept)
        release = mined(
            transactions, top=1, epsilon="4", unit=unit, mechanism="limited-domain", count_share="0.5", seed=SEED
        )
        (itemset,) = release.itemsets
        assert itemset.count == pytest.approx(expected, abs=20)


def test_noise_is_planned_for_all_itemsets_however_few_are_named() -> None:
    """Ten itemsets are asked for and one can be named. Its noise is for ten, and for all transactions of a unit."""
    unit = PrivacyUnit(column="customer", max_transactions=2)
    plan = planned(top=10, epsilon="2", unit=unit, mechanism="stable-max", count_share="0.5")
    assert (plan.counts.top, plan.counts.sensitivity) == (10, 2)
    transactions = transactions_from_lists([["a", "b"]] * 900, list(range(900)))
    release = mine_as_planned(transactions, plan, seed=SEED)
    assert [itemset.items for itemset in release.itemsets] == [("a", "b")]
    reach = release.plan["counts"]["half_width"]
    assert reach == plan.counts.half_width
    assert release.itemsets[0].count_high == release.itemsets[0].count + reach


def test_the_record_says_what_the_counts_are() -> None:
    plan = planned(
        size=1,
        top=1,
        delta="0",
        mechanism="exponential",
        universe=Universe(items=9, listed=True),
        count_share="0.25",
        public_transactions=77,
    )
    assert isinstance(plan.counts, LaplaceCounts)
    record = plan_record(plan)
    assert record["counts"] == {
        "noise": "discrete Laplace",
        "parameters": {"top": 1, "epsilon": str(plan.counts.epsilon), "sensitivity": 1},
        "share": "1/4",
        "deviation": plan.counts.deviation,
        "half_width": plan.counts.half_width,
        "confidence": 0.95,
        "consistent": True,
    }
    assert [line["what"] for line in record["spending"]] == ["picks", "counts, with discrete Laplace noise"]
    assert privacy_record(plan)["public_transactions"] == 77
    assert plan_record(without(plan))["counts"] is None


def without(plan: Plan) -> Plan:
    return planned(
        size=plan.size,
        top=plan.top,
        budget=plan.budget,
        unit=plan.unit,
        universe=plan.universe,
        mechanism=plan.mechanism_name,
    )


def test_a_release_with_counts_round_trips() -> None:
    release = counted(public_transactions=4000)
    assert Release.from_json(release.to_json()) == release
    frame = release.to_polars()
    assert frame["count"].to_list() == [itemset.count for itemset in release.itemsets]
    assert frame["support"].null_count() == 0


def test_every_subset_is_counted_once_with_noise_of_its_own() -> None:
    release = counted(with_subsets=True, raw_counts=True)
    assert [each.items for each in release.itemsets] == [each.items for each in counted().itemsets]
    singles = {("bread",): 3500, ("milk",): 3000, ("tea",): 2000}
    assert {each.items for each in release.subsets} == set(singles)
    assert [each.rank for each in release.subsets] == [1, 2, 3]
    reach = release.plan["counts"]["half_width"]
    for each in release.subsets:
        assert each.count == pytest.approx(singles[each.items], abs=300)
        assert (each.count_low, each.count_high) == (each.count - reach, each.count + reach)
    errors = [each.count - (singles | TRUE)[each.items] for each in (*release.itemsets, *release.subsets)]
    assert len(set(errors)) == 6
    assert reach > counted(raw_counts=True).plan["counts"]["half_width"]


def test_noise_is_planned_for_as_many_subsets_as_there_can_be() -> None:
    """Three pairs of three items have six subsets; three disjoint pairs would have nine."""
    for size, top in ((2, 3), (3, 2), ([1, 3], 4)):
        plan = planned(size=size, top=top, mechanism="limited-domain", with_subsets=True, count_share="0.5")
        assert plan.counts.top == top * (2 ** max(plan.sizes) - 1)
        assert plan_record(plan)["counts"]["with_subsets"] is True


def test_counts_with_subsets_are_consistent_and_kept_in_json() -> None:
    baskets = [["a", "b", "c"]] * 900 + [["a"]] * 30
    release = counted(size=3, top=1, baskets=baskets, with_subsets=True, public_transactions=930)
    (triple,) = release.itemsets
    counts = {frozenset(each.items): each.count for each in (*release.subsets, triple)}
    assert len(counts) == 7
    for items, count in counts.items():
        assert all(count <= other for part, other in counts.items() if part < items)
    again = Release.from_json(release.to_json())
    assert again == release
    assert len(release.to_mlxtend()) == 7
    assert "subsets" not in counted().to_json()
    rules = association_rules(again)
    assert len(rules) == 12
    assert all(rule.measures["confidence"] is not None and rule.tells for rule in rules.rules)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"count_share": None}, "this release has none"),
        ({"size": 7}, "too many subsets"),
        ({"constraints": Constraints(must_contain=("bread",))}, "subsets may lack them"),
    ],
)
def test_subsets_that_cannot_be_counted_are_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        counted(with_subsets=True, **changes)
