"""Errors name options on the command line, and arguments in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fim_private import Budget, Constraints, FimPrivateError, PrivacyUnit, Universe, mine, read_transactions
from fim_private.python_words import in_python
from tests.cli.command import PROMISE, fim_private, words

BASKETS, LONG = "bread,milk,tea\n" * 30, "id,item,customer\n" + "".join(f"{n},{i},c\n" for n in range(30) for i in "ab")
PAIRS: dict[str, Any] = {"size": 2, "top": 3, "budget": Budget("1", "1e-6"), "unit": PrivacyUnit()}
OF_CUSTOMERS = ("--size", 2, "--epsilon", 1, "--delta", "1e-6", "--unit-column", "customer")

MISTAKES: dict[str, tuple[str, Callable[[Path], object], tuple[object, ...]]] = {
    "nothing says how many": (
        BASKETS,
        lambda file: mine(read_transactions(file), size=2, budget=Budget("1", "1e-6"), unit=PrivacyUnit()),
        ("--size", 2, *PROMISE),
    ),
    "a size above the universe": (
        BASKETS,
        lambda file: mine(
            read_transactions(file), **{**PAIRS, "size": 4}, universe=Universe(items=3), mechanism="exponential"
        ),
        ("--size", 4, "--top", 3, "--universe-items", 3, "--mechanism", "exponential", *PROMISE),
    ),
    "a mechanism without its universe": (
        BASKETS,
        lambda file: mine(read_transactions(file), **PAIRS, mechanism="exponential"),
        ("--size", 2, "--top", 3, "--mechanism", "exponential", *PROMISE),
    ),
    "no delta": (
        BASKETS,
        lambda file: mine(read_transactions(file), **{**PAIRS, "budget": Budget("1", "0")}, mechanism="lmm"),
        ("--size", 2, "--top", 3, "--mechanism", "lmm", "--epsilon", 1, "--delta", 0, "--unit", "transaction"),
    ),
    "subsets without counts": (
        BASKETS,
        lambda file: mine(read_transactions(file), **PAIRS, with_subsets=True),
        ("--size", 2, "--top", 3, "--with-subsets", *PROMISE),
    ),
    "more fixed items than fit": (
        BASKETS,
        lambda file: mine(
            read_transactions(file), **{**PAIRS, "size": 1}, constraints=Constraints(must_contain=("bread", "milk"))
        ),
        ("--size", 1, "--top", 3, "--must-contain", "bread", "--must-contain", "milk", *PROMISE),
    ),
    "baskets counted for units": (
        LONG,
        lambda file: mine(
            read_transactions(file, unit_column="customer"),
            **{**PAIRS, "unit": PrivacyUnit(column="customer", max_transactions=2)},
            together="unit",
        ),
        (*OF_CUSTOMERS, "--top", 3, "--max-transactions", 2, "--together", "unit"),
    ),
    "counting with a mechanism that picks": (
        BASKETS,
        lambda file: mine(read_transactions(file), **PAIRS, mechanism="lmm", select="counts"),
        ("--size", 2, "--top", 3, "--mechanism", "lmm", "--select", "counts", *PROMISE),
    ),
    "leverage of triples": (
        BASKETS,
        lambda file: mine(read_transactions(file), **{**PAIRS, "size": 3}, by="leverage"),
        ("--size", 3, "--top", 3, "--by", "leverage", *PROMISE),
    ),
    "no such column": (
        LONG,
        lambda file: read_transactions(file, unit_column="kunde"),
        ("--top", 3, *OF_CUSTOMERS[:-1], "kunde"),
    ),
    "columns of lines": (
        BASKETS,
        lambda file: read_transactions(file, format="basket", transaction_column="id"),
        ("--size", 2, "--top", 3, "--format", "basket", "--transaction-column", "id", *PROMISE),
    ),
    "a separator that separates nothing": (
        LONG,
        lambda file: read_transactions(file, format="long", separator=";"),
        ("--size", 2, "--top", 3, "--format", "long", "--separator", ";", *PROMISE),
    ),
    "a sheet of a text": (
        BASKETS,
        lambda file: read_transactions(file, sheet=1),
        ("--size", 2, "--top", 3, "--sheet", 1, *PROMISE),
    ),
    "a condition that ends": (
        LONG,
        lambda file: read_transactions(file, where="id >"),
        ("--size", 2, "--top", 3, "--where", "id >", *PROMISE),
    ),
    "a query of a text": (
        BASKETS,
        lambda file: read_transactions(file, query="SELECT 1"),
        ("--size", 2, "--top", 3, "--query", "SELECT 1", *PROMISE),
    ),
    "rows without a unit": (
        LONG + "99,a,\n",
        lambda file: read_transactions(file, unit_column="customer"),
        ("--top", 3, *OF_CUSTOMERS),
    ),
    "text of another encoding": (
        "Käse,Brot\n" * 30,
        lambda file: read_transactions(file, encoding="utf-8"),
        ("--size", 2, "--top", 3, *PROMISE),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_errors_name_what_was_given(tmp_path: Path, mistake: str) -> None:
    text, in_code, typed = MISTAKES[mistake]
    file = tmp_path / "data.csv"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(FimPrivateError) as refused:
        in_code(file)
    assert "--" not in str(refused.value)
    assert str(refused.value) == in_python(f"{refused.value.what} {refused.value.next_step}")
    done = fim_private("mine", file, *typed)
    assert done.returncode in {2, 3, 4}
    assert "--" in words(done)


@pytest.mark.parametrize(
    ("option", "argument"),
    [
        ("Give --sheet 1, or --sheet NAME.", "Give sheet=1, or sheet=NAME."),
        ("Write --skip-columns as in 1 or 1,3.", "Write skip_columns= as in 1 or 1,3."),
        ("Leave --query out; it began --query 'SELECT 1'.", "Leave query= out; it began query='SELECT 1'."),
        (
            "Type --format basket --separator , --encoding utf-8.",
            'Type format="basket" separator="," encoding="utf-8".',
        ),
        ("name it with --unit-column", "name it with PrivacyUnit(column=...)"),
        ("--transaction-column or --unit-column", "transaction_column= or unit_column="),
        ("Give --neighbours replace.", 'Give relation="replace".'),
        ("Leave out --engine spark, or --merge.", 'Leave out Spark, or together="unit".'),
        ("a name--such as this", "a name--such as this"),
        (
            """Make one: fim-private budget create 'Ann'"'"'s shop.ledger' --epsilon 3 --delta 1e-5.""",
            """Make one: Ledger.create("Ann's shop.ledger", epsilon=3, delta='1e-5').""",
        ),
    ],
)
def test_values_go_with_their_arguments(option: str, argument: str) -> None:
    assert in_python(option) == argument
