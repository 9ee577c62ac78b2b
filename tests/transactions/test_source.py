from __future__ import annotations

import gzip
import io
import subprocess
import sys

import pytest

from fim_private.errors import InputError, UsageError
from fim_private.transactions import read_transactions
from fim_private.transactions.source import load
from tests.transactions.reading import as_sets, read

BASKETS = b"milk,bread\nmilk\n"


def test_path_text_and_open_file_give_the_same(tmp_path):
    path = tmp_path / "baskets.csv"
    path.write_bytes(BASKETS)
    with path.open("rb") as opened:
        read_three = [read_transactions(path), read_transactions(str(path)), read_transactions(opened)]
    assert [as_sets(transactions) for transactions in read_three] == [[{"milk", "bread"}, {"milk"}]] * 3


def test_standard_input():
    code = "from fim_private.transactions import read_transactions as r; print(len(r('-')))"
    done = subprocess.run([sys.executable, "-c", code], input=BASKETS, capture_output=True, check=True)
    assert done.stdout.strip() == b"2"


def test_standard_input_without_anything_says_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match="Standard input is empty"):
        load("-")


def test_gzip_is_known_by_its_bytes_not_its_name(tmp_path):
    path = tmp_path / "baskets.csv"
    path.write_bytes(gzip.compress(BASKETS[:11]) + gzip.compress(BASKETS[11:]))
    assert as_sets(read_transactions(path)) == [{"milk", "bread"}, {"milk"}]


def test_a_plain_file_called_gz_is_read(tmp_path):
    path = tmp_path / "baskets.csv.gz"
    path.write_bytes(BASKETS)
    assert len(read_transactions(path)) == 2


@pytest.mark.parametrize("cut", [5, 12, -9, -1])
def test_gzip_cut_short(cut):
    with pytest.raises(InputError, match="gzip file that stops before its end"):
        read(gzip.compress(b"milk,bread\n" * 1000)[:cut])


def test_damaged_gzip():
    packed = bytearray(gzip.compress(b"milk,bread\n" * 1000))
    packed[20] ^= 255
    with pytest.raises(InputError, match="gzip file that"):
        read(bytes(packed))
    with pytest.raises(InputError, match="gzip file that is damaged"):
        read(gzip.compress(BASKETS) + b"and more")


def test_gzip_of_nothing_is_empty():
    with pytest.raises(InputError, match="is empty"):
        read(gzip.compress(b""))


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"There is no file .*nowhere\.csv"):
        read_transactions(tmp_path / "nowhere.csv")


def test_folder(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        read_transactions(tmp_path)


def test_unreadable_file(tmp_path, monkeypatch):
    path = tmp_path / "locked.csv"

    def refuse(_):
        raise PermissionError

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    with pytest.raises(InputError, match="may not be read"):
        read_transactions(path)


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "file/below"])
def test_impossible_paths(path, tmp_path):
    (tmp_path / "file").write_bytes(BASKETS)
    with pytest.raises(InputError, match="cannot be opened"):
        read_transactions(f"{tmp_path}/{path}")


def test_text_mode_is_a_usage_error():
    with pytest.raises(UsageError, match="binary mode"):
        read_transactions(io.StringIO("milk,bread"))


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"PK\x03\x04 [Content_Types].xml xl/workbook.xml", "an Excel workbook"),
        (b"PK\x03\x04 baskets.csv", "a ZIP archive"),
        (b"\xfd7zXZ\x00", "an xz archive"),
        (b"BZh91AY&SY", "a bzip2 archive"),
        (b"BZh11AY&SY", "a bzip2 archive"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
        (b"%PDF-1.7", "a PDF document"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"ARROW1\x00\x00", "an Arrow"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel"),
        (gzip.compress(b"milk", mtime=0), "packed with gzip twice"),
    ],
)
def test_other_kinds_of_file_are_named(start, kind):
    data = gzip.compress(start) if start.startswith(b"\x1f\x8b") else start
    for format_name in ("auto", "basket"):
        with pytest.raises(InputError, match=kind):
            read(data, format=format_name)


def test_a_text_may_start_like_parquet():
    assert as_sets(read("PAR1,PAR2\nPAR1\n")) == [{"PAR1", "PAR2"}, {"PAR1"}]


def test_a_stream_that_fails_is_an_input_error():
    class Failing(io.RawIOBase):
        def read(self, size=-1):
            raise OSError(5, "SECRET-ITEM")

    with pytest.raises(InputError, match="cannot be read to its end") as caught:
        read_transactions(Failing())
    assert "SECRET-ITEM" not in str(caught.value)
    cut = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(b"a,b\n" * 100)[:-9]))
    with pytest.raises(InputError, match="cannot be read to its end"):
        read_transactions(cut)
