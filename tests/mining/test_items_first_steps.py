from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from fim_private import Budget, PrivacyUnit, mine, transactions_from_lists
from fim_private.counting import LocalDatabase, count_chosen
from fim_private.errors import UsageError
from fim_private.mechanisms.items_first import COUNTS, PEEL, ItemsFirst
from fim_private.mechanisms.measurement import Measurement
from fim_private.mining import items_first_steps
from fim_private.plan import make_plan
from fim_private.privacy import failure_probability
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from fim_private.release import Release
from fim_private.release.door import measure
from fim_private.transactions import Transactions
from tests.sampling import FALSE_ALARM, SEED, p_value

UNIT = PrivacyUnit()
RANDOM = np.random.default_rng(8)
BASKETS = [
    [f"item {item}" for item in np.flatnonzero(RANDOM.random(12) < 0.75 ** np.arange(1, 13)).tolist()] or ["item 0"]
    for _ in range(20_000)
]
WHOLE = transactions_from_lists([*BASKETS, ["only here", "item 0"]])


def truth(size: int) -> Counter[tuple[str, ...]]:
    return Counter(itemset for basket in BASKETS for itemset in combinations(basket, size))


@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_with_much_data_the_list_is_right(select: str, size: int) -> None:
    release = mine(
        WHOLE, size=size, top=6, budget=Budget(20, "1e-6"), unit=UNIT, mechanism="items-first", select=select, seed=SEED
    )
    expected = truth(size)
    named = [itemset.items for itemset in release.itemsets]
    assert len(named) == 6
    least = sorted(expected.values())[-6]
    assert all(expected[itemset] > least - 60 for itemset in named)
    assert expected[named[0]] > max(expected.values()) - 60
    assert (select == COUNTS) == all(itemset.count is not None for itemset in release.itemsets)
    for itemset in release.itemsets:
        if itemset.count is not None and size <= 2:
            assert abs(itemset.count - expected[itemset.items]) < 0.15 * expected[itemset.items]


def test_items_are_found_with_their_counts_and_a_single_one_s_are_not() -> None:
    release = mine(WHOLE, size=2, top=3, budget=Budget(1, "1e-6"), unit=UNIT, mechanism="items-first", seed=SEED)
    assert release.found is not None
    names = [found.item for found in release.found]
    assert names[:3] == ["item 0", "item 1", "item 2"]
    assert "only here" not in names
    counts = [found.count for found in release.found]
    assert counts == sorted(counts, reverse=True)
    assert Release.from_json(release.to_json()) == release


def test_a_least_count_names_what_exceeds_it() -> None:
    release = mine(WHOLE, size=2, min_count=2500, budget=Budget(2, "1e-6"), unit=UNIT, seed=SEED)
    assert release.mechanism == "items-first"
    expected = truth(2)
    named = {itemset.items for itemset in release.itemsets}
    assert {itemset for itemset, count in expected.items() if count > 2700} <= named
    assert named <= {itemset for itemset, count in expected.items() if count > 2300}
    assert all(itemset.count is not None and itemset.count > 2500 for itemset in release.itemsets)
    few = mine(WHOLE, size=2, top=2, min_count=2500, budget=Budget(2, "1e-6"), unit=UNIT, seed=SEED)
    assert len(few.itemsets) == 2
    none = mine(WHOLE, size=2, min_count=10**9, budget=Budget(2, "1e-6"), unit=UNIT, seed=SEED)
    assert none.itemsets == ()


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "lmm", "select": COUNTS},
        {"mechanism": "items-first", "select": PEEL, "min_count": 9},
        {"top": None},
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, object]) -> None:
    asked = {"size": 2, "top": 3, "budget": Budget(1, "1e-6"), "unit": UNIT, **options}
    with pytest.raises(UsageError):
        mine(WHOLE, **asked)  # type: ignore[arg-type]


def planned(unit: PrivacyUnit, **options: object) -> ItemsFirst:
    asked = {"size": 2, "top": 40, "budget": Budget(1, "1e-6"), "unit": unit, "mechanism": "items-first", **options}
    mechanism = make_plan(**asked).mechanism  # type: ignore[arg-type]
    assert isinstance(mechanism, ItemsFirst)
    return mechanism


def test_units_with_several_transactions_cost_noise_where_itemsets_are_counted() -> None:
    one, four = planned(UNIT), planned(PrivacyUnit(column="customer", max_transactions=4))
    assert one.discovery == four.discovery
    assert one.itemsets is not None
    assert four.itemsets is not None
    assert four.itemsets.deviation == pytest.approx(4 * one.itemsets.deviation, rel=0.01)


def test_a_unit_s_items_count_once_however_many_transactions_they_are_in() -> None:
    baskets = [["a"], ["a"], ["a"]] * 400
    units = np.repeat(np.arange(400), 3)
    data = transactions_from_lists(baskets)
    data = Transactions(offsets=data.offsets, items=data.items, vocabulary=data.vocabulary, units=units)
    mechanism = planned(PrivacyUnit(column="customer", max_transactions=3), size=1, top=1, budget=Budget(50, "1e-6"))
    outcome = items_first_steps.run(LocalDatabase(data), mechanism, SeededRandomness(1))
    assert 390 < outcome.found_counts[0] < 410


def test_noise_at_the_door_has_its_law_for_what_does_not_occur_as_well() -> None:
    data = transactions_from_lists([["a", "b"], ["c"]])
    itemsets = np.array([[0, 1], [0, 2]], np.int32)
    measurement = Measurement(full=1, resolution=3, variance=20)
    counts = count_chosen(data, itemsets, measurement.weights)
    randomness = SeededRandomness(SEED)
    drawn = np.array([measure(counts, measurement, randomness) for _ in range(4000)])
    values = np.arange(-60, 61)
    for column, units in ((0, 3), (1, 0)):
        law = dict(zip((values + units).tolist(), discrete_gaussian_mass(values, 20.0).tolist(), strict=True))
        wide = dict(zip((values + units).tolist(), discrete_gaussian_mass(values, 20 * 1.69).tolist(), strict=True))
        narrow = dict(zip((values + units).tolist(), discrete_gaussian_mass(values, 20 * 0.49).tolist(), strict=True))
        assert p_value(drawn[:, column].tolist(), law) > FALSE_ALARM
        assert max(p_value(drawn[:, column].tolist(), other) for other in (wide, narrow)) < FALSE_ALARM


def test_nothing_to_find_is_no_error() -> None:
    for select in (PEEL, COUNTS):
        release = mine(
            transactions_from_lists([["a", "b"]] * 5),
            size=2,
            top=3,
            budget=Budget(1, "1e-6"),
            unit=UNIT,
            mechanism="items-first",
            select=select,
            seed=3,
        )
        assert release.itemsets == ()
        assert release.found == ()


def test_auto_takes_long_lists_items_first_and_single_itemsets_not() -> None:
    def taken(**options: object) -> str:
        asked = {"size": 2, "budget": Budget(1, "1e-6"), "unit": UNIT, "mechanism": "auto", **options}
        return make_plan(**asked).mechanism_name  # type: ignore[arg-type]

    assert taken(top=100) == "items-first"
    assert taken(top=1) == "limited-domain"
    assert taken(top=1, min_count=50) == "items-first"
    assert taken(top=1, select=PEEL) == "items-first"


def test_all_of_the_budget_is_composed() -> None:
    mechanism = planned(UNIT)
    assert failure_probability(mechanism.failures) == Fraction(1, 2 * 10**6)
    assert [what for what, _ in mechanism.measurements] == ["items", "pairs", "itemsets"]
    assert len(mechanism.losses) == len(mechanism.spending) == 3
