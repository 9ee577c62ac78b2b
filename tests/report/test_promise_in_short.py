"""The statement below an answer: five lines, whatever was asked, and nothing said that the promise does not say."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from fim_private.constraints import Constraints
from fim_private.plan import Plan, Universe, make_plan
from fim_private.plan.record import plan_record
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.release import Layout, Release
from fim_private.release.terms import privacy_record
from fim_private.report.promise_in_short import statement
from fim_private.report.promise_text import promise, promised
from tests.asking import planned
from tests.rules.releases import released

LONG = Layout(
    format="long", kind="text", separator=";", transaction_column="InvoiceNo", item_column="Description",
    unit_column="CustomerID", guessed=("format", "separator", "transaction_column", "item_column"),
)  # fmt: skip
LINES = Layout(format="basket", kind="text", separator=",", guessed=("format",))


def said(plan: Plan, layout: Layout | None = None, *, seeded: bool = False) -> str:
    release = replace(released({}, seeded=seeded), privacy=privacy_record(plan, layout), plan=plan_record(plan))
    return " ".join(statement(release).split())


UNITS = (PrivacyUnit(), PrivacyUnit(column="CustomerID"), PrivacyUnit(column="x" * 300, max_transactions=1000))


@pytest.mark.parametrize("unit", UNITS, ids=["transaction", "column", "long"])
@pytest.mark.parametrize("relation", NeighbouringRelation)
def test_the_statement_has_five_lines_at_most(unit: PrivacyUnit, relation: NeighbouringRelation) -> None:
    asked = {
        "constraints": Constraints(must_contain=("item 1",)), "count_share": "0.3", "public_transactions": 10**9,
        "budget": Budget("1.00049", "1.00049e-6"), "mechanism": "limited-domain",
    }  # fmt: skip
    plan = make_plan(size=2, top=3, unit=unit, relation=relation, **asked)
    for most_items, layout in itertools.product((None, 65_536, 10**6), (LONG, LINES, None)):
        privacy = privacy_record(plan, layout) | {"most_items": most_items}
        release = replace(released({}), privacy=privacy, plan=plan_record(plan))
        lines = statement(release).splitlines()
        assert len(lines) <= 5, lines
        assert all(len(line) <= 100 for line in lines)


def test_the_statement_speaks_of_customers_and_baskets() -> None:
    asked = {"size": 2, "top": 5, "budget": Budget("1", "1e-6")}
    baskets = said(make_plan(unit=UNITS[0], **asked), LINES)
    assert baskets.startswith("This answer protects every basket (one line): whether it is in the data")
    assert "more baskets of one customer (--unit-column)" in baskets
    assert "public the layout (guessed) and a limit of 65,536 items" in baskets
    customers = said(make_plan(unit=UNITS[1], **asked), LONG)
    assert (
        "every customer (column 'CustomerID'): whether they are in the data (epsilon 1, delta 1e-6), and" in customers
    )
    assert "and what it says about them (epsilon 2, delta 3.719e-6). With it," in customers
    assert "more baskets" not in customers
    assert "at most 73.2 % of cases" in customers
    assert "at most 73.2 % of cases" in " ".join(promise(make_plan(unit=UNITS[1], **asked)).split())
    replaced = make_plan(unit=UNITS[0], relation=NeighbouringRelation.REPLACE, **asked)
    assert "what it holds, not whether it is in the data" in said(replaced)
    seeded = said(replaced, seeded=True)
    assert "NOT private" in seeded
    # Not "With it": that would be the seed, with which every guess is right.
    assert "Then a 50:50 guess which of two contents a basket has would be right in at most 73.2 % of cases." in seeded


def test_a_release_keeps_its_own_words_and_a_missing_promise_is_said() -> None:
    release = released({("milk",): 5})
    bare = Release.from_json(replace(release, privacy={}).to_json())
    assert statement(bare).startswith("This file states no promise.")
    own = replace(release, privacy={**release.privacy, "unit": "one \x1b[2J family"})
    assert "protects one \\x1b[2J family: whether it" in " ".join(statement(own).split())


def test_a_public_list_is_taken_as_public_and_a_number_of_items_is_not_a_list() -> None:
    listed = planned(universe=Universe(names=("a", "b", "c", "d")))
    assert "the list of items" in said(listed, LINES)
    in_full = " ".join(promise(listed).split())
    assert "The list of 4 items is public. Unless --allow-absent-items was given, the answer also tells" in in_full
    for universe in (Universe(), Universe(items=70_000)):
        number = planned(universe=universe)
        assert "list of" not in said(number, LINES) + promise(number)


def test_the_whole_promise_says_that_a_transaction_is_the_basket_of_the_short_one() -> None:
    plan = planned(top=5)
    assert "protects every basket (one line): " in said(plan, LINES)
    release = replace(released({}), privacy=privacy_record(plan, LINES), plan=plan_record(plan))
    assert promised(release)[0].startswith("The promise protects one transaction (a basket, one line): ")


@pytest.mark.parametrize("mechanism", ["limited-domain", "lmm", "exponential"])
def test_a_number_of_items_is_no_list_of_them(mechanism: str) -> None:
    plan = planned(mechanism=mechanism, universe=Universe(items=50))
    release = replace(released({}), privacy=privacy_record(plan, LINES), plan=plan_record(plan))
    assert "list of items" not in said(plan, LINES)
    assert "items is public" not in " ".join(promised(release))
    assert ("a limit of 50 items" in said(plan, LINES)) == (mechanism == "exponential")
    assert "the list of items" in said(planned(mechanism=mechanism, universe=Universe(items=50, listed=True)), LINES)
