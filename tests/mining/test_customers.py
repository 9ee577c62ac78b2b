"""Customers protected end to end, on Online Retail: what is counted, what one customer changes, and what is said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fim_private import (
    Constraints,
    PrivacyUnit,
    Transactions,
    read_transactions,
    transactions_from_lists,
)
from fim_private.catalogue.entries import path_of
from fim_private.counting import LocalDatabase
from fim_private.mining.mine import bound
from fim_private.plan import Plan
from fim_private.transactions.bounding import merge_units
from fim_private.transactions.compressed_rows import taken
from tests.asking import mined, planned
from tests.cli.command import end_with, fim_private, succeed, words
from tests.mining.test_constraints import Streams
from tests.transactions.reading import as_sets

COLUMNS = {"transaction_column": "InvoiceNo", "item_column": "Description", "unit_column": "CustomerID"}
CUSTOMER = ("--transaction-column", "InvoiceNo", "--item-column", "Description", "--unit-column", "CustomerID")
PROMISE = ("--epsilon", 1, "--delta", "1e-6")
COLUMN = PrivacyUnit(column="CustomerID")

_read: list[Transactions] = []


@pytest.fixture
def invoices(shared_data: Callable[[str], Path]) -> Transactions:
    if not _read:
        _read.append(read_transactions(shared_data("online-retail.csv.gz"), drop_rows_without_unit=True, **COLUMNS))
    return _read[0]


@pytest.mark.slow
def test_merged_invoices_are_the_customers_that_ship(invoices: Transactions) -> None:
    merged = Counter(map(frozenset, as_sets(merge_units(invoices))))
    assert merged == Counter(map(frozenset, as_sets(read_transactions(path_of("online-retail-customers")))))


def with_unit_last(transactions: Transactions, unit: int) -> tuple[Transactions, Transactions]:
    """All transactions, those of one unit last, and those of the other units alone."""
    own = transactions.units == unit
    names = np.where(own, transactions.units.max() + 1, transactions.units)
    _, codes = np.unique(names, return_inverse=True)
    both = []
    for rows in (np.concatenate([np.flatnonzero(~own), np.flatnonzero(own)]), np.flatnonzero(~own)):
        offsets, items = taken(transactions, rows)
        both.append(replace(transactions, offsets=offsets, items=items, units=codes[rows].astype(np.int64)))
    return both[0], both[1]


def bounded(transactions: Transactions, plan: Plan) -> Transactions:
    database = bound(LocalDatabase(transactions), plan, Streams(1))
    return database.transactions


@pytest.mark.parametrize("max_items", [None, 20])
@pytest.mark.parametrize("must", [(), ("REGENCY CAKESTAND 3 TIER",)])
@pytest.mark.parametrize("most", [None, 1, 5, 50])
def test_a_customer_adds_at_most_delta_transactions(
    invoices: Transactions, most: int | None, must: tuple[str, ...], max_items: int | None
) -> None:
    """Take away the customer with the most invoices, and two others. All other counts stay the same."""
    plan = planned(
        size=3,
        top=1,
        unit=replace(COLUMN, max_transactions=most),
        mechanism="stable-max",
        constraints=Constraints(must_contain=must, exclude=["POSTAGE"]),
        max_items=max_items,
        together="unit" if most is None else None,
    )
    assert plan.mechanism.sensitivity == (most or 1)
    assert invoices.units is not None
    added = []
    for unit in (int(np.bincount(invoices.units).argmax()), 0, 1000):
        full, less = (bounded(each, plan) for each in with_unit_last(invoices, unit))
        shared = int(less.offsets[-1])
        assert np.array_equal(full.offsets[: len(less.offsets)], less.offsets)
        assert np.array_equal(full.items[:shared], less.items)
        own = len(full) - len(less)
        assert own <= (most or 1)
        if own:
            assert np.bincount(full.items[shared:]).max() <= (most or 1)
        added.append(own)
    assert added[0] == (most or 1)  # the bound is reached, so no smaller Delta would do


def test_rows_without_a_customer_are_refused(shared_data: Callable[[str], Path]) -> None:
    done = end_with(3, "mine", shared_data("online-retail.csv.gz"), "--size", 2, "--top", 5, *PROMISE, *CUSTOMER)
    assert "--drop-rows-without-unit" in words(done)
    assert len(words(done).splitlines()) == 2
    assert not any(letter.isdigit() for letter in words(done))
    assert done.stdout == b""


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [(), ("--together", "unit"), ("--max-transactions", 3)])
def test_the_command_makes_a_release_from_invoices(
    shared_data: Callable[[str], Path], tmp_path: Path, bounds: tuple[object, ...]
) -> None:
    output = tmp_path / "release.json"
    promise = (*PROMISE, "--explain", *CUSTOMER, "--drop-rows-without-unit", *bounds)
    done = succeed("mine", shared_data("online-retail.csv.gz"), "--size", 2, "--top", 5, *promise, "-o", output)
    release = json.loads(output.read_text(encoding="utf-8"))
    capped = "--max-transactions" in bounds
    assert release["plan"]["sensitivity"] == (3 if capped else 1)
    assert release["plan"]["together"] == (None if capped else "unit" if bounds else "basket")
    assert release["plan"]["unit_column"] == "CustomerID"
    said = " ".join(words(done).split())
    if capped:
        assert "with at most 3 of its transactions kept" in said
    else:
        assert ("with all its transactions merged into one" in said) == bool(bounds)
        assert ("in one transaction (one basket)" in said) == (not bounds)
        assert 1 <= len(release["itemsets"]) <= 5  # one list in sixty is cut short
    assert "not part of the release" in said
    assert "rows without a unit left out (135,080)" in said
    for published in (done.stdout.decode(), output.read_text(encoding="utf-8")):
        assert "135,080" not in published
        assert "without a unit" not in published
        assert "rows_without" not in published


def test_what_was_left_out_while_reading_is_no_part_of_a_release(tmp_path: Path) -> None:
    """With the same noise the release is identical, whatever the rows without a unit hold."""
    rows = "".join(f"{invoice},{item},c{invoice // 2}\n" for invoice in range(4000) for item in ("milk", "bread"))
    clean, mixed = tmp_path / "clean" / "rows.csv", tmp_path / "mixed" / "rows.csv"
    for path, more in ((clean, ""), (mixed, "9001,SECRET-ITEM,\n9001,milk,\n9002,tea, \n")):
        path.parent.mkdir()
        path.write_text(f"invoice,item,customer\n{rows}{more}")
    for bounds in ((), ("--max-transactions", 1)):
        asked = ("--size", 2, "--top", 2, *PROMISE, "--unit-column", "customer", "--drop-rows-without-unit", *bounds)
        done = [fim_private("mine", path, *asked, "--seed", 3, "--json") for path in (clean, mixed)]
        releases = [json.loads(each.stdout) for each in done]
        assert all(release.pop("command") for release in releases)
        assert releases[0] == releases[1]
        assert releases[0]["itemsets"][0]["items"] == ["bread", "milk"]
        assert "rows without a unit left out (3)" in words(done[1])
        assert "rows without a unit" not in words(done[0])
        assert fim_private("mine", mixed, *asked, "--quiet").stderr == b""


def test_customers_can_be_the_unit_in_python() -> None:
    baskets = [["milk", "bread"], ["milk"], ["bread", "tea"]] * 2000
    transactions = transactions_from_lists(baskets, [place // 3 for place in range(len(baskets))])
    asked = {"top": 1, "unit": PrivacyUnit(column="customer")}
    release = mined(transactions, size=3, together="unit", **asked)
    assert [itemset.items for itemset in release.itemsets] == [("bread", "milk", "tea")]
    assert not mined(transactions, size=3, **asked).itemsets  # nobody bought all three at once
    (pair,) = mined(transactions, **asked).itemsets
    assert pair.items in {("bread", "milk"), ("bread", "tea")}
