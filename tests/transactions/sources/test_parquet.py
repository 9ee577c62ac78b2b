"""Parquet files that are made to fill the memory or to take for ever, and honest ones that look like them."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fim_private.errors import InputError
from fim_private.transactions.reading import read_transactions
from fim_private.transactions.sources import parquet
from fim_private.transactions.sources.parquet_footer import extent
from fim_private.transactions.sources.parquet_trial import Limits, Verdict, tried
from tests import processes
from tests.transactions.reading import as_sets, read

BOMB = (
    "UEFSMRUEFRAVIkwVAhUAEgAAKLUv/SAIQQAABAAAAG1pbGsVABU6FUwsFYCI3r4BFRAVBhUGHAAAACi1L/0gHekAAAgAAAAD/vCH3r4BAQYAAACA"
    "iN6+AQMBgIjevgEAFQQZTDUAGAZzY2hlbWEVAgA1AhgFaXRlbXMVAhUGTDwAAAA1BBgEbGlzdBUCABUMJQIYB2VsZW1lbnQlAEwcAAAAFgIZHBkc"
    "JgAcFQwZNQAGEBk4BWl0ZW1zBGxpc3QHZWxlbWVudBUMFoCI3r4BFpQBFrgBJkYmCCksFQQVABUCABUAFRAVAgA8FoCg+PoFGSYC/ofevgEZRgAA"
    "AICI3r4BAAAAFpQBFgImCBa4AQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAA2AAAAFBBUjE="
)
"""`list_bomb(200_000_000)`, which takes gigabytes to make."""

REFUSED = """
import sys, time
from pathlib import Path
from fim_private.errors import InputError
from fim_private import read_transactions
begin = time.process_time()
try:
    read_transactions(sys.argv[1])
except InputError as error:
    print(error.what)
status = Path("/proc/self/status").read_text() if sys.platform == "linux" else "VmHWM: 0"
print(next(line for line in status.splitlines() if line.startswith("VmHWM")))
print(time.process_time() - begin)
"""

ROOMY = Limits(values=1 << 24, text=1 << 28, columns=256, memory=4 << 30, seconds=60)


def written(table: pa.Table, **options: object) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **{"compression": "zstd", "write_statistics": False, "store_schema": False} | options)
    return buffer.getvalue()


def equal_strings(number: int, text: str = "milk") -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(number, np.int32)), pa.array([text]))


def list_bomb(number: int, text: str = "milk") -> bytes:
    """One row: a list of so many equal strings, in a few hundred bytes."""
    items = pa.ListArray.from_arrays(pa.array([0, number], pa.int32()), equal_strings(number, text))
    return written(pa.table({"items": items}), data_page_size=1 << 30)


def lying(data: bytes, number: int) -> bytes:
    """The file with a footer that says 2 values instead of so many, in as many bytes."""
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - size : -8]
    said = varint(2 * number)
    assert said in footer
    small = bytes([0x84, *[0x80] * (len(said) - 2), 0])
    return data[: -8 - size] + footer.replace(said, small) + data[-8:]


def varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files may be a thousandth of what they may be otherwise."""
    monkeypatch.setattr(parquet, "VALUES_FREELY", 1 << 14)
    monkeypatch.setattr(parquet, "CELLS_FREELY", 1 << 16)
    monkeypatch.setattr(parquet, "MOST_CELLS", 10)
    monkeypatch.setattr(parquet, "UNPACKED_FREELY", 1 << 18)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    "bomb",
    [
        pytest.param(lambda: list_bomb(1 << 20), id="a list of equal strings"),
        pytest.param(lambda: lying(list_bomb(1 << 20), 1 << 20), id="the same with a footer that lies"),
        pytest.param(lambda: written(pa.table({"item": equal_strings(1 << 20)})), id="rows"),
        pytest.param(
            lambda: written(pa.table({f"i{at}": np.zeros(1 << 13, np.int32) for at in range(200)})), id="columns"
        ),
        pytest.param(lambda: written(pa.table({"item": ["x" * (1 << 21)]})), id="one long string"),
        pytest.param(
            lambda: written(pa.table({"item": pa.array([bytes(1 << 20)] * 8)}), use_dictionary=False), id="pages"
        ),
        pytest.param(
            lambda: written(pa.table({"item": equal_strings(1 << 21)}), row_group_size=1 << 15), id="groups of rows"
        ),
    ],
)  # fmt: skip
def test_a_bomb_is_refused_before_any_of_it_is_unpacked(
    bomb: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "tried", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(InputError, match="more than a Parquet file of its size should"):
        read(bomb())


def test_lists_inside_lists_without_end_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "tried", lambda *_: pytest.fail("it was unpacked"))
    nested = pa.array([1])
    for _ in range(40):
        nested = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), nested)
    with pytest.raises(InputError, match="lists inside lists"):
        read(written(pa.table({"items": nested})))


@pytest.mark.parametrize(
    ("limits", "data"),
    [
        (Limits(values=1000, text=1 << 28, columns=9, memory=4 << 30, seconds=60), list_bomb(1001)),
        (Limits(values=1000, text=50_000, columns=9, memory=4 << 30, seconds=60), list_bomb(1000, "x" * 51)),
        (Limits(values=1 << 24, text=1 << 28, columns=9, memory=4 << 30, seconds=0), list_bomb(10)),
    ],
    ids=["values", "text", "time"],
)
def test_the_trial_finds_what_no_header_says(limits: Limits, data: bytes) -> None:
    assert tried(data, limits) is Verdict.TOO_MUCH
    assert tried(data, ROOMY) is Verdict.GOOD


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody limits a process's memory")
def test_the_trial_ends_where_its_memory_does() -> None:
    data = list_bomb(1 << 23)
    assert tried(data, ROOMY) is Verdict.GOOD
    tight = Limits(values=1 << 24, text=1 << 28, columns=9, memory=200 << 20, seconds=60)
    assert tried(data, tight) is not Verdict.GOOD


def test_what_a_file_holds_is_told_from_its_headers() -> None:
    frame = pl.DataFrame({"items": [["a", "b"], [], None, ["c"]], "unit": [1, 2, 3, 4]})
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    held = extent(buffer.getvalue())
    assert (held.rows, held.depth) == (4, 4)
    assert 5 <= held.values <= 9  # with the places of empty lists, and the entries of dictionaries
    assert held.values <= held.cells <= 18
    assert held.unpacked >= 35


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + bytes(8) + b"PAR1", b"PAR1\x19\xfc" + b"\xff" * 9]
)
def test_what_has_no_footer_has_no_extent(data: bytes) -> None:
    with pytest.raises(ValueError, match="footer"):
        extent(data)


def test_spoilt_footers_are_refused_without_another_error() -> None:
    whole = list_bomb(50)
    for at in range(len(whole)):
        for value in (0, 12, 255):
            try:
                extent(whole[:at] + bytes([value]) + whole[at + 1 :])
            except ValueError:
                continue


@pytest.mark.slow
@pytest.mark.usefixtures("tried_elsewhere")
def test_honest_files_are_read_as_before() -> None:
    one_hot = pl.DataFrame({"^a.*$": [True, False], "*": [True, True], "tea": [False, True]})
    buffer = io.BytesIO()
    one_hot.write_parquet(buffer)
    assert as_sets(read(buffer.getvalue())) == as_sets(read_transactions(one_hot)) == [{"^a.*$", "*"}, {"*", "tea"}]
    assert as_sets(read(list_bomb(1000))) == [{"milk"}]
    fixed = pl.DataFrame({"items": [["a", "b"], ["c", "d"]]}, schema={"items": pl.Array(pl.Categorical, 2)})
    buffer = io.BytesIO()
    fixed.write_parquet(buffer)
    assert as_sets(read(buffer.getvalue())) == [{"a", "b"}, {"c", "d"}]


def test_the_bomb_of_200_million_items_is_refused_in_little_memory_and_time(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    path.write_bytes(base64.b64decode(BOMB))
    assert path.stat().st_size < 400
    done = processes.run([sys.executable, "-c", REFUSED, path], text=True, check=True)
    what, kibibytes, seconds = done.stdout.splitlines()
    assert "more than a Parquet file of its size should" in what
    assert int(kibibytes.split()[1]) < 400 << 10
    assert float(seconds) < 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody limits a process's memory")
def test_the_trial_of_that_bomb_ends_in_its_limits() -> None:
    """The trial is the second defence: if headers could hide how much a file holds, it would take 10 GB."""
    limits = Limits(values=1 << 24, text=1 << 28, columns=1, memory=1 << 30, seconds=60)
    assert tried(base64.b64decode(BOMB), limits) is not Verdict.GOOD


def test_decimal_numbers_of_more_digits_than_can_be_read_are_refused_by_name() -> None:
    for digits in (38, 39, 76):
        kind = pa.decimal128(digits) if digits <= 38 else pa.decimal256(digits)
        table = pa.table({"tid": pa.array([1, 1, 2]), "item": pa.array([7, 8, 7]).cast(kind)})
        if digits == 38:
            assert as_sets(read(table, format="long")) == [{"7", "8"}, {"7"}]
            continue
        with pytest.raises(InputError, match=f"of up to {digits} digits; at most 38 can be read") as refused:
            read(table, format="long")
        assert "as text" in refused.value.next_step
