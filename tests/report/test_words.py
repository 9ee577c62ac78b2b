from __future__ import annotations

from fim_private.plan import Universe, make_plan
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.release import Release, ReleasedItemset
from fim_private.report.document.text import number, table
from fim_private.report.statement import plan_text, promise, shortfall
from fim_private.report.tables import release_table

PLAN = make_plan(size=2, top=3, budget=Budget("1", "1e-6"), unit=PrivacyUnit())


def release(named: int, *, seeded: bool = False) -> Release:
    itemsets = tuple(ReleasedItemset(rank=rank, items=("a", f"b{rank}")) for rank in range(1, named + 1))
    return Release(itemsets=itemsets, mechanism="lmm", privacy={}, plan={}, seeded=seeded, version="0")


def test_a_full_list_needs_no_excuse() -> None:
    assert shortfall(PLAN, release(3)) is None
    assert "Only 2 of 3" in (shortfall(PLAN, release(2)) or "")
    none = " ".join((shortfall(PLAN, release(0)) or "").split())
    assert "No itemset was named" in none
    assert f"about {PLAN.mechanism.margins[0].counts:,} transactions" in none


def test_the_promise_follows_the_plan() -> None:
    text = promise(PLAN, seeded=False)
    assert "2.72 times" in text
    assert "73.2 %" in text
    replaced = make_plan(
        size=2, top=3, budget=Budget("1", "1e-6"), unit=PrivacyUnit(), relation=NeighbouringRelation.REPLACE
    )
    assert "that it is in the data is not hidden" in " ".join(promise(replaced, seeded=False).split())
    assert "NOT private" in promise(PLAN, seeded=True)
    declared = make_plan(
        size=2,
        top=3,
        budget=Budget("1", "0"),
        unit=PrivacyUnit(column="customer"),
        mechanism="exponential",
        universe=Universe(items=50),
    )
    words = " ".join(promise(declared, seeded=False).split())
    assert "times as likely. Someone" in words
    assert "one customer" in words
    assert "Taken as public" in words


def test_plans_in_words_fit_a_terminal() -> None:
    for line in plan_text(PLAN).splitlines():
        assert len(line) <= 100


def test_tables() -> None:
    assert table(["n", "name"], [["1", "a"], ["10", "bb"]], right=[True, False]) == (
        " n  name\n--  ----\n 1  a\n10  bb"
    )
    assert release_table(release(0)) == "No itemset could be named."
    assert release_table(release(1, seeded=True)).startswith("*** seeded, not private")
    counted = Release(
        itemsets=(ReleasedItemset(rank=1, items=("a",), count=1234),),
        mechanism="lmm",
        privacy={},
        plan={},
        seeded=False,
        version="0",
    )
    assert release_table(counted).splitlines()[-1] == "   1  a        1,234"


def test_numbers_read_well() -> None:
    assert [number(value) for value in (1, 0.1, 1e-6, 0.120880304, 1e-10)] == ["1", "0.1", "1e-6", "0.1209", "1e-10"]
