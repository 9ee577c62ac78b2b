"""Files that are made to fill the memory or to take for ever, and large ones that are meant."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import polars as pl
import pytest

from fim_private.errors import InputError
from fim_private.transactions.files import source
from tests import processes
from tests.cli.command import PROMISE, end_with, succeed, words
from tests.transactions.reading import as_sets, read


def test_a_gzip_file_that_unpacks_to_too_much_is_refused_after_little_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "UNPACKED_FREELY", 4 << 20)
    bomb = gzip.compress(b"milk,bread\n" * (8 << 20), compresslevel=9)
    assert len(bomb) * source.MOST_TIMES < 80 << 20
    with pytest.raises(InputError, match="more than 200 times its size") as refused:
        read(bomb)
    assert "unpack it first" in refused.value.next_step
    assert len(read(gzip.compress(b"milk,bread\n" * 1000))) == 1000  # small ones may be as regular as they like


def test_a_small_gzip_bomb_is_refused_before_a_line_of_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacking it takes a second. Reading what it unpacks to would take half a minute."""
    monkeypatch.setattr(source, "UNPACKED_FREELY", 4 << 20)
    bomb = gzip.compress(b"a,b\n" * (2 << 20), compresslevel=9)
    with pytest.raises(InputError, match="more than 200 times its size"), source.opened(io.BytesIO(bomb)):
        raise AssertionError("it is being read")
    with source.opened(io.BytesIO(gzip.compress(b"a,b\n" * (1 << 20)))) as reading:
        assert len(reading.content().data) == 4 << 20


def test_what_is_packed_as_baskets_are_is_read_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "UNPACKED_FREELY", 1 << 10)
    lines = b"".join(b"%d %d\n" % (number % 997, number * number % 1009) for number in range(20_000))
    assert len(read(gzip.compress(lines), format="fimi")) == 20_000


def read_apart(path: Path, reading: str, *, before: str = "") -> list[str]:
    """The lines that this prints in a process of its own, and the MiB by which its memory grows meanwhile."""
    code = (
        f"import resource, sys; from fim_private import read_transactions\n{before}\n"
        f"before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n{reading}\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)"
    )
    return processes.run([sys.executable, "-c", code, path], text=True, check=True).stdout.splitlines()


@pytest.mark.slow
def test_a_bomb_ends_in_bounded_memory(tmp_path: Path) -> None:
    """A quarter of a gibibyte of line ends from as many kibibytes, of which a fifth is looked at."""
    path = tmp_path / "bomb.csv.gz"
    member = gzip.compress(b"\n" * (4 << 20), compresslevel=9)
    path.write_bytes(gzip.compress(b"milk,bread\n") + member * 64)
    what, mebibytes = read_apart(
        path,
        "try: read_transactions(sys.argv[1])\nexcept InputError as error: print(error.what)",
        before="from fim_private.errors import InputError\n"
        "from fim_private.transactions.files import source\n"
        "source.UNPACKED_FREELY >>= 3",
    )
    assert "gzip file that unpacks to more than" in what
    assert int(mebibytes) < 400


@pytest.mark.usefixtures("tried_elsewhere")
def test_a_parquet_file_that_ends_polars_is_refused() -> None:
    """The headers of its pages say that they hold -4 values, for which Polars asks for 2^61 bytes and aborts."""
    whole = pl.DataFrame({"tid": [1, 2, 3, 4], "item": ["milk", None, "egg", "egg"]})
    buffer = io.BytesIO()
    whole.write_parquet(buffer, compression="uncompressed", statistics=False)
    assert as_sets(read(buffer.getvalue())) == [{"milk"}, {"egg"}, {"egg"}]
    spoilt = buffer.getvalue().replace(b"\x2c\x15\x08", b"\x2c\x15\x07")
    assert spoilt != buffer.getvalue()
    with pytest.raises(InputError, match="starts as a Parquet file but cannot be read as one"):
        read(spoilt)


@pytest.mark.slow
def test_a_long_file_takes_memory_for_its_items_and_not_for_its_text(tmp_path: Path) -> None:
    """A small case of a file of 2 GB: 96 MB of text, under a memory limit that does not hold them twice."""
    path = tmp_path / "long.csv"
    name = "a name of an item that is rather long, number %05d;"
    basket = "".join(name % item for item in range(12)).strip(";") + "\n"
    with path.open("w") as file:
        for _ in range(150):
            file.write(basket * 1000)
    assert path.stat().st_size > 90_000_000
    transactions, mebibytes = map(int, read_apart(path, "print(len(read_transactions(sys.argv[1])))"))
    assert transactions == 150_000
    assert mebibytes < 80


@pytest.mark.slow
def test_blank_lines_take_hardly_more_memory_than_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    path.write_bytes(b"milk,bread\n" + b"\n" * (32 << 20) + b"milk,tea\n")
    reading = "t = read_transactions(sys.argv[1], format='basket'); print(len(t)); print(t.notes.empty)"
    transactions, empty, mebibytes = map(int, read_apart(path, reading))
    assert (transactions, empty) == (2, 32 << 20)
    assert mebibytes < 400


@pytest.mark.slow
def test_a_basket_of_a_million_items_is_refused_or_capped_with_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("--size", 2, "--top", 1, *PROMISE)
    line = tmp_path / "line.csv"
    line.write_text("milk,bread\n" * 2000 + ",".join(f"i{item}" for item in range(1_000_000)) + "\n")
    done = end_with(3, "mine", line, *asked)
    assert words(done) == (
        f"Error: Line 2001 of {line} is longer than a mebibyte, too long for a basket.\n"
        "Write one transaction per line. If this line is one, write it as a long table, with a row per item.\n"
    )
    rows = tmp_path / "rows.csv"
    rows.write_text(
        "invoice,item\n"
        + "".join(f"0,i{item}\n" for item in range(200_000))
        + "".join(f"{number},milk\n{number},bread\n" for number in range(1, 2000))
    )
    # Long lines are read in other formats. The limit is some minutes of work; here the first second of it.
    monkeypatch.setattr("fim_private.counting.local.work.MOST_STEPS", 10**8)
    done = end_with(3, "mine", rows, *asked)
    assert "Some transactions are too long to count" in words(done)
    assert "--max-items" in words(done)
    done = succeed("mine", rows, *asked, "--max-items", 10)
    assert "bread + milk" in done.stdout.decode()


@pytest.mark.skipif(os.name != "posix", reason="descriptors")
def test_a_library_that_panics_on_a_file_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Polars' own words may quote the file."""
    buffer = io.BytesIO()
    pl.DataFrame({"tid": [1, 2], "item": ["zwieback", "milk"]}).write_parquet(buffer, compression="uncompressed")
    data = buffer.getvalue()
    refused = []
    for at in range(len(data) - 400, len(data), 3):
        for value in (0, 255):
            try:
                read(data[:at] + bytes([value]) + data[at + 1 :])
            except InputError as error:
                refused.append(str(error))
    assert len(refused) > 50
    assert "zwieback" not in "".join(refused)
    assert capfd.readouterr().err == ""
    os.write(2, b"heard again")
    assert capfd.readouterr().err == "heard again"
