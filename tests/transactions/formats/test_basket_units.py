"""Basket CSV with a field for the unit."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions.reading import read_transactions
from tests.cli.command import succeed
from tests.transactions.reading import as_sets, by_unit, in_blocks, read, stripped

BASKETS = 'ann,milk,bread\n\nbob,"tea, green"\n ann ,jam\nbob\n'
ANN = frozenset({frozenset({"milk", "bread"}), frozenset({"jam"})})
BOB = frozenset({frozenset({"tea, green"})})


def test_the_unit_stands_at_a_place() -> None:
    transactions = read(BASKETS, unit_column="1")
    assert as_sets(transactions) == [{"milk", "bread"}, {"tea, green"}, {"jam"}]
    assert by_unit(transactions) == {ANN, BOB}
    layout = transactions.notes.layout
    assert (layout.format, layout.unit_column, layout.guessed) == ("basket", "1", ("format", "separator"))
    assert layout.describe() == "basket CSV, separated by commas: unit column '1'"
    assert transactions.notes.empty == 1
    last = read("milk;ann\nbread;bob\n", unit_column="2", format="basket", separator=";")
    assert as_sets(last) == [{"milk"}, {"bread"}]


@pytest.mark.parametrize("first", [{"unit_column": "1"}, {"skip_columns": "1"}])
def test_lines_may_hold_nothing_else(first: dict[str, str]) -> None:
    named = [f"K{row},a{row % 3},b{row % 4}" for row in range(20)]
    for lines in ([*named[:9], "K7", *named[9:]], [*named, "K7"]):
        found = read("".join(f"{line}\n" for line in lines), **first)
        assert len(found) == sum("," in line for line in lines)
    with pytest.raises(InputError):
        read("K1\n", **first)


def test_the_unit_is_named_in_the_first_line(tmp_path: Path) -> None:
    header = "Customer,items\n"
    transactions = read(header + BASKETS, format="basket", unit_column="customer")
    assert by_unit(transactions) == {ANN, BOB}
    assert transactions.notes.layout.unit_column == "Customer"
    for name in ("a", "b"):
        (tmp_path / name).write_text(header + BASKETS)
    twice = read_transactions([tmp_path / "a", tmp_path / "b"], format="basket", unit_column="customer")
    assert as_sets(twice) == as_sets(transactions) * 2
    assert by_unit(twice) == {ANN, BOB}
    (tmp_path / "b").write_text(BASKETS)
    with pytest.raises(InputError, match="does not have the same columns"):
        read_transactions([tmp_path / "a", tmp_path / "b"], format="basket", unit_column="customer")
    with pytest.raises(InputError, match="no column 'client'"):
        read(header + BASKETS, format="basket", unit_column="client")


def test_lines_without_a_unit_are_refused_or_left_out() -> None:
    for data in ("ann,milk\n ,bread\n", "ann,milk\nbread\n"):
        place = "1" if " ,bread" in data else "2"
        with pytest.raises(InputError, match="no unit in the unit column"):
            read(data, format="basket", unit_column=place)
        kept = read(data, format="basket", unit_column=place, drop_rows_without_unit=True)
        assert len(kept) == 1
        assert kept.notes.rows_without_unit == 1


@pytest.mark.parametrize("given", [{}, {"format": "basket", "separator": ","}], ids=["guessed", "typed"])
def test_other_fields_are_left_out_and_lists_are_split(given: dict[str, str]) -> None:
    lines = "".join(f"i{row},ann,2026,milk,bread\ni{row}b,bob,2026,jam\ni{row}c,cid,2026\n" for row in range(9))
    found = read(lines, unit_column="2", skip_columns="1,3", **given)
    assert as_sets(found) == [{"milk", "bread"}, {"jam"}] * 9
    assert set(found.vocabulary) == {"milk", "bread", "jam"}
    assert by_unit(found) == {frozenset({frozenset({"milk", "bread"})}), frozenset({frozenset({"jam"})})}
    options = found.notes.layout.settings()
    assert as_sets(read(lines, unit_column="2", **options)) == as_sets(found), "as a replay reads it"
    lists = lines.replace("milk,bread", "milk|bread")
    assert as_sets(read(lists, unit_column="2", skip_columns="1,3", item_separator="|", **given)) == as_sets(found)
    headed = read(f"invoice,who,year,items\n{lines}", format="basket", unit_column="who", skip_columns="1,3")
    assert as_sets(headed) == as_sets(found)
    missing = lines.replace("bob", "")
    kept = read(missing, unit_column="2", skip_columns="1,3", drop_rows_without_unit=True, **given)
    assert as_sets(kept) == [{"milk", "bread"}] * 9


def test_a_unit_that_is_left_out_is_refused() -> None:
    for data, unit in (("i1,ann,milk\n", "2"), ("invoice,who,items\ni1,ann,milk\n", "who")):
        with pytest.raises(UsageError, match=r"names the unit is left out.*skip_columns="):
            read(data, format="basket", unit_column=unit, skip_columns="1,2")


@pytest.mark.parametrize("place", ["0", "-1", "10001", "1.0", "²"])
def test_what_is_no_place_is_a_name(place: str) -> None:
    with pytest.raises(InputError, match="There is no column"):
        read(BASKETS, format="basket", unit_column=place)


def test_other_columns_are_refused_for_baskets() -> None:
    for option in ("transaction_column", "item_column", "where"):
        with pytest.raises(UsageError, match="no columns to choose from"):
            read(BASKETS, format="basket", unit_column="1", **{option: "a = 1" if option == "where" else "1"})
    with pytest.raises(UsageError, match="no columns to choose from"):
        read("1 2\n", format="fimi", unit_column="1")


NAME = st.text(st.sampled_from('ab ,"é'), max_size=4)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from("pqr"), st.lists(NAME, max_size=4)), min_size=1, max_size=8),
    st.sampled_from([8, 1 << 20]),
)
def test_units_and_baskets_are_those_of_the_lines(rows: list[tuple[str, list[str]]], block: int) -> None:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([unit, *names] for unit, names in rows)
    expected: dict[str, set[frozenset[str]]] = {}
    for unit, names in rows:
        if held := frozenset(stripped(name) for name in names) - {""}:
            expected.setdefault(unit, set()).add(held)
    if not expected:
        return
    with pytest.MonkeyPatch.context() as patch:
        in_blocks(patch, block)
        found = read(buffer.getvalue(), format="basket", unit_column="1")
    assert by_unit(found) == {frozenset(baskets) for baskets in expected.values()}


def test_the_command_protects_the_customer(tmp_path: Path) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text("".join(f"c{number // 2},milk,bread\n" for number in range(1600)))
    asked = ("--size", 2, "--top", 1, "--epsilon", 1, "--delta", "1e-6", "--unit-column", "1")
    done = succeed("mine", path, *asked, "--json")
    release = json.loads(done.stdout)
    assert release["itemsets"][0]["items"] == ["bread", "milk"]
    assert release["privacy"]["layout"]["unit_column"] == "1"
