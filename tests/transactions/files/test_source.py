from __future__ import annotations

import gzip
import io
import os
import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions.files import source
from fim_private.transactions.files.source import load
from fim_private.transactions.reading import read_transactions
from tests import processes
from tests.transactions.reading import as_sets, in_blocks, read

BASKETS = b"milk,bread\nmilk\n"


def test_path_text_and_open_file_give_the_same(tmp_path):
    path = tmp_path / "baskets.csv"
    path.write_bytes(BASKETS)
    with path.open("rb") as opened:
        read_three = [read_transactions(path), read_transactions(str(path)), read_transactions(opened)]
    assert [as_sets(transactions) for transactions in read_three] == [[{"milk", "bread"}, {"milk"}]] * 3


def test_standard_input_is_read():
    code = "from fim_private import read_transactions as r; print(len(r('-')))"
    done = processes.run([sys.executable, "-c", code], input=BASKETS, check=True)
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
def test_a_gzip_file_cut_short_is_refused(cut):
    with pytest.raises(InputError, match="gzip file that stops before its end"):
        read(gzip.compress(b"milk,bread\n" * 1000)[:cut])


def test_a_damaged_gzip_file_is_refused():
    packed = bytearray(gzip.compress(b"milk,bread\n" * 1000))
    packed[20] ^= 255
    with pytest.raises(InputError, match="gzip file that"):
        read(bytes(packed))
    with pytest.raises(InputError, match="gzip file that is damaged"):
        read(gzip.compress(BASKETS) + b"and more")


def test_gzip_of_nothing_is_empty():
    with pytest.raises(InputError, match="is empty"):
        read(gzip.compress(b""))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, pack):
    path = tmp_path / "baskets.csv"
    path.write_bytes(pack(random.Random(1).randbytes(source.BLOCK).hex().encode()))
    with source.opened(path) as reading:
        os.truncate(path, path.stat().st_size - 20)
        with pytest.raises(InputError, match="changed while it was read"):
            reading.content()


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"There is no file .*nowhere\.csv"):
        read_transactions(tmp_path / "nowhere.csv")


def test_a_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        read_transactions(tmp_path)
    with pytest.raises(InputError, match="name of the file is empty"):
        read_transactions("")


def test_an_unreadable_file_is_an_input_error(tmp_path, monkeypatch):
    path = tmp_path / "locked.csv"

    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(InputError, match="may not be read"):
        read_transactions(path)


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "file/below"])
def test_an_impossible_path_is_an_input_error(path, tmp_path):
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
        (b"PK\x03\x04 mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "an OpenDocument file. Open it"),
        (b"PK\x03\x04 baskets.csv", "a ZIP archive"),
        (b"\xfd7zXZ\x00", "compressed by xz"),
        (b"BZh91AY&SY", "compressed by bzip2"),
        (b"BZh11AY&SY", "compressed by bzip2"),
        (b"\x28\xb5\x2f\xfd", "compressed by Zstandard"),
        (b"basket.csv".ljust(257, b"\0") + b"ustar\x0000", "a tar archive"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
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


class Trickle(io.RawIOBase):
    """A stream that cannot be rewound and gives a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = data
        self._most = most
        self._at = 0

    def read(self, size=-1):
        start = self._at
        self._at += min(self._most, size if size >= 0 else self._most)
        return self._data[start : self._at]


@given(st.lists(st.binary(max_size=40), max_size=4), st.integers(1, 9), st.integers(1, 40), st.booleans())
def test_bytes_come_through_however_they_trickle(parts, most, block, packed):
    parts = [b"milk", *parts]
    data = b"".join(parts)
    # Members of a gzip file may follow each other, and zeros may follow them.
    raw = b"".join(map(gzip.compress, parts)) + bytes(most) if packed else data
    with pytest.MonkeyPatch.context() as patch:
        in_blocks(patch, block)
        assert load(Trickle(raw, most)).data == load(io.BytesIO(raw)).data == data


@given(st.integers(1, 2000), st.integers(1, 64))
def test_a_gzip_file_cut_anywhere_is_refused(cut, block):
    packed = gzip.compress(random.Random(1).randbytes(3000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BLOCK", block)
        with pytest.raises(InputError, match="gzip file that stops before its end"):
            load(io.BytesIO(packed[:-cut]))


def test_no_more_is_read_than_shows_the_fault():
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size=-1):
            self.given += size
            return b"milk,bread\0\n" * (size // 13) + b"\n" * (size % 13)

    endless = Endless()
    with pytest.raises(InputError, match="NUL bytes"):
        read_transactions(endless)
    assert endless.given < 10 * source.BLOCK


@pytest.mark.slow
def test_a_pipe_is_read_in_one_pass_and_not_kept(tmp_path):
    rows = 200_000
    code = (
        "import resource; from fim_private import read_transactions as r\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; t = r('-')\n"
        "print(len(t), len(t.items), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    line = "".join(f" {item:07d}"[1:] + " " for item in range(1_000_000, 1_000_030)).encode() + b"\n"
    done = processes.run([sys.executable, "-c", code], input=line * rows, check=True)
    transactions, occurrences, kibibytes = map(int, done.stdout.split())
    assert (transactions, occurrences) == (rows, 30 * rows)
    # 48 MB of text stay outside; 24 MB of codes twice, and a compiler, do not.
    assert kibibytes < 170_000
