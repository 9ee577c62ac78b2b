from __future__ import annotations

import re
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.constraints import Constraints
from fim_private.plan import Universe, make_plan
from fim_private.plan.record import plan_record
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.release import Release, ReleasedItemset
from fim_private.release.terms import Terms, privacy_record
from fim_private.report.document import Paragraph
from fim_private.report.document.text import number, table, times_as_likely
from fim_private.report.pages.plan import cost_parts
from fim_private.report.plan_text import plan_text
from fim_private.report.promise_text import promise
from fim_private.report.remarks import rules_note, shortfall
from fim_private.report.tables import groups, release_table
from tests.asking import planned

PLAN = planned()


def release(named: int, *, seeded: bool = False) -> Release:
    itemsets = tuple(ReleasedItemset(rank=rank, items=("a", f"b{rank}")) for rank in range(1, named + 1))
    return Release(itemsets=itemsets, mechanism="lmm", privacy={}, plan={}, seeded=seeded, version="0")


def test_a_full_list_needs_no_excuse() -> None:
    assert shortfall(PLAN, release(3)) is None
    assert "Only 2 of 3" in (shortfall(PLAN, release(2)) or "")
    none = " ".join((shortfall(PLAN, release(0)) or "").split())
    assert "no itemset was clear enough to name" in none
    assert f"about {PLAN.mechanism.margins[0].counts:,} transactions" in none


def test_a_short_list_names_the_bound_that_multiplies_its_noise() -> None:
    for bound, told in ((5, True), (1, False), (None, False)):
        unit = PrivacyUnit(column="customer", max_transactions=bound)
        plan = planned(unit=unit)
        assert (
            "a smaller --max-transactions, or none" in " ".join((shortfall(plan, release(0)) or "").split())
        ) is told


@pytest.mark.parametrize(
    ("size", "top", "helps"),
    [
        (1, 3, "a larger --epsilon, fewer itemsets (--top), a larger --delta"),
        (2, 1, "a larger --epsilon, a smaller --size, a larger --delta"),
        ((1, 2), 3, "a larger --epsilon, fewer itemsets (--top), smaller --sizes, a larger --delta"),
    ],
)
def test_what_cannot_be_made_smaller_is_not_advised(size: int | tuple[int, ...], top: int, helps: str) -> None:
    plan = planned(size=size, top=top)
    assert helps in " ".join((shortfall(plan, release(0)) or "").split())


def test_no_smaller_size_than_one_is_advised_with_a_count() -> None:
    for size, must, told in ((1, (), False), (2, (), True), (2, ("tea",), False), (3, ("tea",), True)):
        plan = make_plan(
            size=size,
            min_count=50,
            budget=Budget("1", "1e-6"),
            unit=PrivacyUnit(),
            constraints=Constraints(must_contain=must),
        )
        assert ("a smaller --size" in (shortfall(plan, release(0)) or "")) is told


def test_no_smaller_count_is_advised_than_items_need_to_be_named() -> None:
    for least, told in ((3, False), (5000, True)):
        said = " ".join((shortfall(planned(top=None, min_count=least), release(0)) or "").split())
        assert ("a smaller --min-count" in said) is told
        assert ("An item must be in about" in said) is not told
    share = planned(top=None, min_count=5000, public_transactions=10_000)
    assert "a smaller --min-count or --min-support," in " ".join((shortfall(share, release(0)) or "").split())


def test_items_need_units_where_several_transactions_of_a_unit_are_kept() -> None:
    kept = PrivacyUnit(column="customer", max_transactions=40)
    for unit, counted in ((kept, "units"), (PrivacyUnit(column="customer"), "units"), (PrivacyUnit(), "transactions")):
        plan = planned(unit=unit, top=None, min_count=3, mechanism="items-first")
        for said in (plan_text(plan), shortfall(plan, release(0)) or ""):
            assert re.search(rf"n item must be in about \d+ {counted} to be named", " ".join(said.split()))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, None),
        ({"count_share": "0.3"}, "add --release-counts --with-subsets."),
        ({"count_share": "0.3", "with_subsets": True}, None),
        ({"top": None, "min_count": 50}, "add --top K --release-counts --with-subsets."),
        ({"by": "leverage"}, "add --release-counts --public-transactions N."),
        ({"by": "leverage", "count_share": "0.3"}, "of transactions: add --public-transactions N."),
        ({"by": "leverage", "count_share": "0.3", "public_transactions": 900}, None),
    ],
)
def test_what_rules_and_leverage_lack_is_said(asked: dict[str, object], told: str | None) -> None:
    note = rules_note(planned(**asked), release(1), left_out=False)
    if told is None:
        assert note is None
    else:
        assert " ".join((note or "").split()).endswith(told)


def test_a_plan_says_that_a_number_of_items_changes_nothing() -> None:
    for mechanism, told in (("limited-domain", True), ("items-first", False)):
        plan = planned(universe=Universe(items=100), mechanism=mechanism)
        assert ("--universe-items changes nothing" in plan_text(plan)) is told


def test_a_full_list_above_a_count_may_not_be_all() -> None:
    plan = planned(min_count=50)
    assert "The list ends at 3 itemsets. More may exceed 50" in (shortfall(plan, release(3)) or "")
    assert shortfall(plan, release(2)) is None


def test_the_promise_follows_the_plan() -> None:
    text = promise(PLAN)
    assert "2.72 times" in text
    assert "73.2 %" in text
    replaced = planned(relation=NeighbouringRelation.REPLACE)
    assert "that it is in the data is not hidden" in " ".join(promise(replaced).split())
    declared = planned(
        delta="0",
        unit=PrivacyUnit(column="customer"),
        mechanism="exponential",
        universe=Universe(names=("milk", "bread", "tea")),
    )
    words = " ".join(promise(declared).split())
    assert "at most 7.39 times. Someone" in words
    assert "one customer" in words
    assert "Declared" not in words
    number = planned(mechanism="exponential", universe=Universe(items=5000))
    words = " ".join(promise(number).split())
    assert "no more than 5,000 different items occur" in words
    assert "Taken as public" not in words
    older = Terms.of({**privacy_record(number), "taken_as_public": "the names"}, plan_record(number))
    assert older.privacy.names_are_public


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [
        ("0.001", "0", "epsilon 0.001, delta 0. One such unit makes any set of answers at most 1.00101 times"),
        ("0.25", "0", "at most 1.285 times as likely. For what a unit holds (another unit in its place) it is at most "
         "1.649 times."),
        ("1.00049", "1.00049e-6", "epsilon 1.00049, delta 1.00049e-6. One such unit"),
        ("1", "1e-6", "at most 2.72 times as likely, plus 1e-6. For what a unit holds (another unit in its place) it "
         "is at most 7.39 times, plus 3.719e-6."),
        ("1/3", "1e-6", "epsilon 0.3334, delta 1e-6."),
    ],
)  # fmt: skip
def test_no_bound_is_stated_below_the_truth(epsilon: str, delta: str, said: str) -> None:
    plan = planned(epsilon=epsilon, delta=delta, universe=Universe(items=50, listed=True), mechanism="exponential")
    assert said in " ".join(promise(plan).split())
    together = " ".join(plan_text(plan).split())
    assert said.startswith("at most") or said.removesuffix(" One such unit").rstrip(".").split(". ")[0] in together


@given(epsilon=st.floats(1e-6, 100))
def test_the_stated_factor_is_just_above_e_to_epsilon(epsilon: float) -> None:
    with localcontext(prec=80):
        true = (Decimal(repr(epsilon))).exp()
        shown = Decimal(times_as_likely(epsilon))
        assert true <= shown
        assert shown - 1 <= (true - 1) * Decimal("1.012")


def test_an_exchange_is_not_said_twice() -> None:
    plan = planned(relation=NeighbouringRelation.REPLACE)
    assert "in its place" not in promise(plan)


def test_parts_that_make_half_of_the_total_are_explained() -> None:
    """Their own proofs are for units that come or go, except those of the mechanisms as published."""
    twice = "the total counts these parts twice"
    for relation, mechanism, explained in (
        (NeighbouringRelation.REPLACE, "lmm", True),
        (NeighbouringRelation.REPLACE, "lmm-paper", False),
        (NeighbouringRelation.ADD_REMOVE, "lmm", False),
    ):
        plan = planned(relation=relation, mechanism=mechanism)
        assert (twice in plan_text(plan)) is explained
        texts = [part.text for part in cost_parts(plan) if isinstance(part, Paragraph)]
        assert any(text.startswith(twice.capitalize()) for text in texts) is explained


def test_plans_in_words_fit_a_terminal() -> None:
    for line in plan_text(PLAN).splitlines():
        assert len(line) <= 100


def test_tables_are_aligned_and_marked() -> None:
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


def test_the_columns_of_a_long_list_are_worked_out_once() -> None:
    long = release(4_000)
    (group,) = groups(long)
    assert group.columns is group.columns
    assert len(release_table(long).splitlines()) == 4_002


def test_numbers_read_well() -> None:
    assert [number(value) for value in (1, 0.1, 1e-6, 0.120880304, 1e-10)] == ["1", "0.1", "1e-6", "0.1209", "1e-10"]
