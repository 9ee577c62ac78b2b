"""Units counted together in one basket, from the question to what one unit can change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fim_private import Budget, Constraints, PrivacyUnit, make_plan, read_transactions, transactions_from_lists
from fim_private.counting import LocalDatabase, top_itemsets
from fim_private.errors import UsageError
from fim_private.mining.mine import bound
from fim_private.mining.tuning import tune
from fim_private.mining.tuning_plan import Configuration, plan_tuning
from fim_private.plan import Plan, Universe
from fim_private.privacy import Together
from fim_private.transactions.bounding import count_units, merge_units
from fim_private.transactions.dataset import Transactions
from tests.asking import mined, planned
from tests.mining.test_constraints import BUDGET, ITEMS, Row, Streams, constraints, rows, universes
from tests.mining.test_customers import COLUMNS

CUSTOMER = PrivacyUnit(column="customer")
BASKETS = st.lists(st.frozensets(st.sampled_from(ITEMS), min_size=1), min_size=1, max_size=6)


def counted(given_rows: list[Row], plan: Plan, seed: int) -> Counter[frozenset[str]]:
    """The counts of all itemsets of the remaining size, by the database that the plan asks for."""
    data = transactions_from_lists([sorted(items) for _, items in given_rows], [unit for unit, _ in given_rows])
    database = bound(LocalDatabase(data), plan, Streams(seed))
    found = database.top_itemsets(plan.question.remaining_sizes[0], 10_000)
    itemsets, counts = found.reveal_to_curator()
    names = database.vocabulary
    return Counter(
        {
            frozenset(names[code] for code in itemset): count
            for itemset, count in zip(itemsets.tolist(), counts.tolist(), strict=True)
        }
    )


def brute_force(given_rows: list[Row], asked: Constraints, listed: set[str], size: int) -> Counter[frozenset[str]]:
    must, exclude = set(asked.must_contain), set(asked.exclude)
    held = {
        (unit, frozenset(itemset) - must)
        for unit, items in given_rows
        for itemset in combinations(sorted((items & listed) - exclude), size)
        if must <= set(itemset)
    }
    return Counter(itemset for _, itemset in held)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(rows, constraints, universes, st.integers(3, 4))
def test_counts_are_of_units_that_hold_the_itemset_in_one_basket(
    given_rows: list[Row], asked: Constraints, universe: Universe | None, size: int
) -> None:
    # What is counted does not depend on the mechanism, and `auto` would plan ten.
    asked_for = {"size": size, "top": 1, "mechanism": "stable-max", "constraints": asked, "universe": universe}
    plan = make_plan(budget=BUDGET, unit=CUSTOMER, **asked_for)
    assert plan.question.together is Together.BASKET
    expected = brute_force(given_rows, asked, set(plan.universe.names or ITEMS), size)
    assert counted(given_rows, plan, 0) == expected


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(rows, BASKETS, constraints, universes, st.none() | st.integers(3, 4), st.integers(0, 2**32))
def test_one_unit_changes_every_count_by_at_most_one_and_all_upwards(
    others: list[Row],
    own: list[frozenset[str]],
    asked: Constraints,
    universe: Universe | None,
    max_items: int | None,
    seed: int,
) -> None:
    """For every choice of the items that are kept."""
    asked_for = {"mechanism": "stable-max", "constraints": asked, "universe": universe, "max_items": max_items}
    plan = planned(size=3, top=1, budget=BUDGET, unit=CUSTOMER, **asked_for)
    full = counted([*others, *((99, items) for items in own)], plan, seed)
    less = counted(others, plan, seed)
    change = {itemset: full[itemset] - less[itemset] for itemset in full | less}
    assert set(change.values()) <= {0, 1}
    if max_items is not None:
        # What `choosing` is told.
        assert len(full) - len(less) <= comb(max_items, plan.question.remaining_sizes[0])


def test_the_pairs_of_customers_on_public_data(shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    """The sales of Online Retail: how many of 4,339 customers hold the k-th pair, in one basket and ever."""
    import polars as pl

    raw = pl.read_csv(shared_data("online-retail.csv.gz"), infer_schema_length=0)
    sold = raw.filter((pl.col("Quantity").cast(pl.Int64) > 0) & (pl.col("CustomerID").fill_null("") != ""))
    sold.write_csv(tmp_path / "sales.csv")
    sales = read_transactions(tmp_path / "sales.csv", **COLUMNS)
    places = [0, 9, 19, 49, 99]

    def counts(data: Transactions) -> list[int]:
        found: list[int] = top_itemsets(data, 2, 100).reveal_to_curator()[1][places].tolist()
        return found

    together = count_units(sales)
    of_units = together.first_of_units()
    assert len(of_units) - 1 == 4339
    assert counts(together) == [313, 254, 239, 195, 167]
    assert counts(merge_units(sales)) == [327, 299, 274, 246, 209]


def baskets(units: int) -> Transactions:
    """Half of the units buy milk with bread. All buy tea and, another day, a mug, which are the top pair if merged."""
    lists = [["milk", "bread"], ["tea"], ["mug"]] * units + [["tea"], ["mug"]] * units
    owners = [unit for unit in range(units) for _ in range(3)] + [units + unit for unit in range(units) for _ in "ab"]
    return transactions_from_lists(lists, owners)


@pytest.mark.parametrize("mechanism", ["lmm", "limited-domain", "items-first", "choosing", "certified-domain"])
def test_every_kind_of_mechanism_counts_what_was_asked(mechanism: str) -> None:
    asked = {
        "top": 1,
        "unit": CUSTOMER,
        "mechanism": mechanism,
        "max_items": 4 if mechanism == "choosing" else None,
    }
    for together, found in ((None, ("bread", "milk")), ("basket", ("bread", "milk")), ("unit", ("mug", "tea"))):
        release = mined(baskets(3000), together=together, **asked)
        assert [itemset.items for itemset in release.itemsets] == [found]
        assert release.plan["together"] == (together or "basket")


def test_released_counts_are_of_units() -> None:
    data = transactions_from_lists([["milk", "bread"]] * 20_000, [place // 20 for place in range(20_000)])
    release = mined(data, top=1, epsilon=2, unit=CUSTOMER, count_share="0.5")
    (pair,) = release.itemsets
    assert abs(pair.count - 1000) < 60


@pytest.mark.parametrize(
    ("unit", "together", "what"),
    [
        (PrivacyUnit(), "basket", "each transaction is a unit"),
        (PrivacyUnit(), "unit", "each transaction is a unit"),
        (PrivacyUnit(column="customer", max_transactions=3), "basket", "max_transactions=...\\) keeps some"),
        (CUSTOMER, "ever", "no such place"),
    ],
)
def test_contradictions_are_refused(unit: PrivacyUnit, together: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        planned(top=1, budget=BUDGET, unit=unit, together=together)


def test_the_default_depends_on_the_unit() -> None:
    for unit, together in (
        (PrivacyUnit(), None),
        (PrivacyUnit(column="customer", max_transactions=3), None),
        (CUSTOMER, Together.BASKET),
    ):
        plan = planned(top=1, budget=BUDGET, unit=unit)
        assert plan.question.together is together
        assert plan.cost.together is together


@pytest.mark.parametrize(("together", "found"), [(None, ("bread", "milk")), ("unit", ("mug", "tea"))])
def test_tuning_counts_and_scores_what_was_asked(together: str | None, found: tuple[str, ...]) -> None:
    plan = plan_tuning(
        [
            Configuration(name="one", size=2, top=1, mechanism="limited-domain"),
            Configuration(name="capped", size=2, top=1, mechanism="limited-domain", max_transactions=3),
        ],
        budget=Budget(6, "1e-6"),
        unit_column="customer",
        together=together,
        runs=10,
    )
    assert [each.question.together for each in plan.plans] == [plan.together, None]
    assert plan.cost.record["together"] is None  # the candidates differ
    result = tune(baskets(3000), plan, seed=4)
    assert [itemset.items for itemset in result.release.itemsets] == [found]
    assert abs(result.score - (6000 if together else 3000)) < 200
    with pytest.raises(UsageError, match="how units are counted"):
        plan_tuning(plan._configurations, budget=Budget(6, "1e-6"), together="unit")


def test_rehearsals_do_not_depend_on_the_data() -> None:
    from fim_private.mining.rehearsal import rehearse

    for together in ("basket", "unit"):
        for mechanism in ("items-first", "limited-domain"):
            rehearse(planned(budget=BUDGET, unit=CUSTOMER, together=together, mechanism=mechanism))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["limited-domain", "items-first"])
def test_nothing_is_compiled_after_the_charge_where_codes_need_four_bytes(mechanism: str) -> None:
    from fim_private.compilation import LOOPS
    from fim_private.mining.mine import mine_as_planned
    from fim_private.transactions.dataset import MOST_NARROW

    def compiled() -> list[list[object]]:
        return [list(loop.signatures) for loop in LOOPS]

    def charge(_layout: object) -> str:
        charged.extend(compiled())
        return "id"

    charged: list[list[object]] = []
    items = MOST_NARROW + 3
    data = transactions_from_lists([[f"i{at}", f"i{at + 1}"] for at in range(items)], list(range(items)))
    names = Universe(items=2 * items)
    plan = planned(top=1, budget=BUDGET, unit=CUSTOMER, mechanism=mechanism, universe=names)
    mine_as_planned(data, plan, charge=charge)
    assert compiled() == charged


@pytest.mark.parametrize("per_size", [False, True])
def test_counts_of_several_sizes_are_rehearsed_together(per_size: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted by a loop of their own, which took seconds to compile after the charge."""
    from fim_private.mining import count_measurement
    from fim_private.mining.rehearsal import rehearse

    def measured(database: LocalDatabase, itemsets: list[tuple[int, ...]], *rest: Any) -> NDArray[np.int64]:
        together.add(tuple(map(len, itemsets)))
        return measure(database, itemsets, *rest)

    together: set[tuple[int, ...]] = set()
    measure = count_measurement.measure_chosen
    monkeypatch.setattr(count_measurement, "measure_chosen", measured)
    rehearse(
        planned(size=[1, 2], top=2, budget=BUDGET, count_share="0.3", per_size=per_size, mechanism="limited-domain")
    )
    assert together == {(1,), (2,), (1, 2)}


def test_a_list_just_longer_than_codes_of_two_bytes_is_rehearsed() -> None:
    """Made-up baskets have some items more than that, and then more than there can be."""
    from fim_private.mining.rehearsal import rehearse
    from fim_private.transactions.dataset import MOST_NARROW

    names = Universe(items=MOST_NARROW + 1)
    rehearse(planned(budget=BUDGET, unit=CUSTOMER, mechanism="items-first", universe=names), many_items=True)


def test_units_without_a_full_basket_are_still_neighbours() -> None:
    """A unit whose baskets hold no declared item leaves no gap among the codes of units."""
    data = transactions_from_lists([["a"], ["z"], ["a", "b"], ["b"]], [0, 1, 2, 2])
    database = LocalDatabase(count_units(data)).restrict_to(["a", "b"])
    assert database.transactions.units.tolist() == [0, 1, 1]
    counts = database.count_chosen(np.array([[0], [1]], np.int32)).vector()
    assert counts.tolist() == [2, 1]
