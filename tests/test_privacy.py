from __future__ import annotations

import time
from decimal import Decimal
from fractions import Fraction

import pytest

from fim_private.errors import UsageError
from fim_private.privacy import Budget, PrivacyUnit, exact


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("1", Fraction(1)),
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.25"), Fraction(1, 4)),
        (" 2 ", Fraction(2)),
    ],
)
def test_a_number_is_what_its_text_says(typed: str | float | Decimal, value: Fraction) -> None:
    assert exact(typed, "epsilon") == value


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "abc",
        "1_0",
        "１",
        "nan",
        "inf",
        "-inf",
        "1/0",
        "1/2/3",
        "1e999999999",
        "1e-999999999",
        pytest.param(10**5000, id="5001 digits"),
    ],
)
def test_what_is_no_number_is_refused_at_once(typed: str) -> None:
    began = time.perf_counter()
    with pytest.raises(UsageError, match="epsilon"):
        exact(typed, "epsilon")
    assert time.perf_counter() - began < 1


def test_a_number_of_too_many_digits_is_not_called_no_number() -> None:
    for typed in ("1e-300", "1e300", "0." + "1" * 201):
        with pytest.raises(UsageError, match="delta is too small, too large or too precise"):
            Budget("1", typed)
    with pytest.raises(UsageError, match="from 1e-100 to below 1"):
        Budget("1", "1e-150")


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("0", "1e-6"), ("-1", "1e-6"), ("101", "0"), ("1e-7", "0"), ("1", "1"), ("1", "-0.1")]
)
def test_a_budget_out_of_range_is_refused(epsilon: str, delta: str) -> None:
    with pytest.raises(UsageError, match="out of range"):
        Budget(epsilon, delta)


def test_budgets_are_values() -> None:
    assert Budget("0.5", "0") == Budget(0.5, 0)
    assert hash(Budget("0.5", "0")) == hash(Budget(Fraction(1, 2), Fraction(0)))


def test_unit_says_what_it_is() -> None:
    assert PrivacyUnit().describe() == "one transaction"
    assert PrivacyUnit().sensitivity == PrivacyUnit(column="customer").sensitivity == 1
    assert PrivacyUnit(column="customer").describe().startswith("one customer")
    assert PrivacyUnit(column="CustomerID").describe().startswith("one customer (column 'CustomerID')")
    assert PrivacyUnit(column="USER_NO").describe().startswith("one user (column 'USER_NO')")
    assert PrivacyUnit(column="Spalte 7").describe().startswith("one unit (column 'Spalte 7')")
    assert PrivacyUnit(column="Patient ID").describe().startswith("one patient (column 'Patient ID')")
    assert PrivacyUnit(column="customer", max_transactions=4).sensitivity == 4
    with pytest.raises(UsageError, match="needs a column that names the units"):
        PrivacyUnit(max_transactions=3)
    with pytest.raises(UsageError, match="out of range"):
        PrivacyUnit(column="customer", max_transactions=0)
