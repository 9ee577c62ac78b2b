from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions.files.text import LONGEST_LINE, Text
from tests.transactions.reading import as_sets, in_blocks, read

SECRET = "zwieback"


@pytest.mark.parametrize("data", ["", " ", "\n\n\n", " \t \r\n \n", "\ufeff", "\ufeff\n", "\u00a0\n\u2003"])
@pytest.mark.parametrize("format_name", ["auto", "fimi", "basket", "long", "one-hot"])
def test_a_text_of_nothing_but_blanks_is_refused(data, format_name):
    with pytest.raises(InputError, match=r"is empty|nothing but blanks|No item was found"):
        read(data, format=format_name)


@pytest.mark.parametrize("blank", ["", " ", "\u00a0", "\u3000\n\n\u2003"])
def test_a_blank_line_is_no_first_line_whatever_it_is_made_of(blank):
    above = f"{blank}\n"
    assert as_sets(read(above + "sep=;\ntea;milk\nmilk\n")) == [{"tea", "milk"}, {"milk"}]
    assert as_sets(read(above + "title\ntea,milk\n", format="basket", skip_lines=1)) == [{"tea", "milk"}]
    assert as_sets(read(above + "tid,item\n1,tea\n1,milk\n")) == [{"tea", "milk"}]
    with pytest.raises(InputError, match=f"Line {2 * above.count(chr(10)) + 5} of"):
        read(above + f"title\n{above}tid,item\n1,tea\n\n1\n", format="long", skip_lines=1)


@pytest.mark.parametrize("data", [",,,\n", " ,\t\n", '"",""\n'])
def test_only_separators_hold_no_item(data):
    with pytest.raises(InputError, match="No item was found"):
        read(data, format="basket")


@pytest.mark.parametrize(
    "text", ["\ufefftea,milk\n\ufefftea\n", "tea\n\ufefftea,milk\n", "\ufeff\ufefftea\ntea,\ufeffmilk"]
)
@pytest.mark.parametrize("block", [1, 5, 1 << 20])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_mark_at_the_start_of_any_line_is_no_part_of_a_name(monkeypatch, text, block, encoding):
    """Or the name of an item would depend on whether its transaction stands first. Elsewhere it is a character."""
    in_blocks(monkeypatch, block)
    for format_name in ("basket", "fimi"):
        lines = text if format_name == "basket" else text.replace(",", " ")
        found = read(lines.encode(encoding), encoding=encoding, format=format_name)
        rows = [{"\ufeffmilk", "tea"} if ",\ufeff" in text else {"milk", "tea"}, {"tea"}]
        assert sorted(as_sets(found), key=len, reverse=True) == rows


def test_byte_order_mark_is_no_part_of_a_name():
    assert as_sets(read(b"\xef\xbb\xbfmilk,bread\n")) == [{"milk", "bread"}]
    assert as_sets(read(b"\xef\xbb\xbf1 2\n")) == [{"1", "2"}]


WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_wide_encodings_are_read_when_named(monkeypatch, encoding, mark, block):
    in_blocks(monkeypatch, block)
    data = f"{mark}milk,brød\nmilk\n".encode(encoding)
    assert as_sets(read(data, encoding=encoding)) == [{"milk", "brød"}, {"milk"}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "UTF16", "U32"])
@pytest.mark.parametrize("first", ["", "\ufeff", "\ufffe"])
def test_an_encoding_whose_byte_order_the_first_line_decides_is_refused(encoding, first):
    """Or one transaction, put first, would turn all the others around."""
    data = f"{first}milk,bread\nmilk\n".encode("utf-16-le")
    with pytest.raises(UsageError, match=r"first bytes.*-le.*-be"):
        read(data, encoding=encoding)


@pytest.mark.parametrize("encoding", WIDE)
def test_a_wide_encoding_that_is_not_named_is_refused_by_name(encoding):
    with pytest.raises(InputError, match=f"begins like .* encoding=.{encoding}"):
        read("\ufeffmilk,bread\n".encode(encoding))


@pytest.mark.parametrize(("named", "found"), [(one, other) for one in WIDE for other in WIDE if one != other])
def test_a_mark_of_another_byte_order_than_the_named_one_is_refused(named, found):
    with pytest.raises(InputError, match=f"begins like .* encoding=.{found}"):
        read("\ufeffmilk,bread\n".encode(found), encoding=named)


def test_a_wide_encoding_without_a_mark_is_suggested():
    with pytest.raises(InputError, match=r"NUL bytes.*encoding=.utf-16-le."):
        read("milk,bread\n".encode("utf-16-le"))


def test_other_encodings_are_suggested_and_read_when_named():
    data = b"milk\n" * 6 + "jalapeño,crème\n".encode("latin-1")
    with pytest.raises(InputError, match=r"not a text in utf-8: see line 7.*with encoding=, such as cp1252 "):
        read(data)
    assert as_sets(read(data, encoding="latin-1"))[6] == {"jalapeño", "crème"}


@pytest.mark.parametrize(
    "encoding", ["hz", "unicode_escape", "iso2022_jp", "csiso2022kr", "iso2022_jp_2004", "utf-7", "idna"]
)
def test_an_encoding_in_which_a_line_may_change_the_next_is_refused(encoding):
    """Two transactions would be one, or an escape in one would give all later ones other names."""
    with pytest.raises(UsageError, match=r"each line can be read by itself.*utf-8"):
        read("milk,~\\\nbread\n", encoding=encoding)


@pytest.mark.parametrize("encoding", ["klingon", "base64", "rot13", "a\0b", ""])
def test_an_unknown_encoding_is_refused(encoding):
    with pytest.raises(UsageError, match="encoding"):
        read("milk,bread\n", encoding=encoding)


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x00\x00", b"milk,bread\nmi\0lk\n"])
def test_a_binary_file_is_refused(data):
    with pytest.raises(InputError, match="NUL bytes"):
        read(data)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_all_three_line_ends_are_read(end, last):
    data = end.join(["milk,bread", "milk", "1,2"]) + end * last
    assert as_sets(read(data)) == [{"milk", "bread"}, {"milk"}, {"1", "2"}]


def test_other_separators_of_unicode_lines_are_no_line_ends():
    data = "milk\x0bskimmed,bread\x0cwhite,a\u2028b,c\x85d,e\x1ef\n"
    expected = {"milk\x0bskimmed", "bread\x0cwhite", "a\u2028b", "c\x85d", "e\x1ef"}
    assert as_sets(read(data)) == [expected]


def test_a_line_over_a_mebibyte_is_refused_without_its_text():
    line = f"{SECRET}," * (1 << 17)
    with pytest.raises(InputError, match=r"Line 3 of .* is longer than a mebibyte") as caught:
        read(f"milk\nbread,milk\n{line}\nmilk\n")
    assert SECRET not in str(caught.value)
    with pytest.raises(InputError, match="heads a one-hot table, write one item per row"):
        read(f"{line}\n1,0\n")


@pytest.mark.slow
def test_a_line_and_a_field_of_nearly_a_mebibyte_are_read():
    name = "x" * 200_000
    long = ",".join(str(number) for number in range(150_000))
    data = f'{long}\n{name},milk\n"{name}, too",bread\n'
    sets = as_sets(read(data))
    assert len(sets[0]) == 150_000
    assert sets[1:] == [{name, "milk"}, {name + ", too", "bread"}]


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(
    st.lists(st.sampled_from(["\n", "\r", "\r\n", "a", "é ", "\u2028", "漢,", "\ufeff"]), min_size=1).map("".join),
    st.sampled_from(["utf-8", "latin-1", "utf-16-le", "utf-16-be", "euc_jp", "gb18030"]),
    st.integers(1, 12),
)
def test_lines_do_not_depend_on_where_the_blocks_are_cut(data, encoding, size):
    raw = data.encode(encoding, "replace")
    lines = re.sub("\r\n?", "\n", raw.decode(encoding)).removesuffix("\n").split("\n")
    expected = [line.lstrip("\ufeff") for line in lines]
    if not "".join(expected).encode().strip():
        return
    text = Text(name="a", blocks=cut(raw, size), encoding=encoding)
    head = text.head(3, 100) if "".join(expected).strip() else []
    chunks = list(text.chunks())
    assert [line for _, chunk in chunks for line in chunk.decode().split("\n")] == expected
    assert all(chunk.decode().split("\n")[0] == expected[first] for first, chunk in chunks)
    assert head == [line for line in expected if line.strip()][: len(head)]


@given(
    st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b" ", b"\xc3", b"\xa9", b"\xff", b"\0"])).map(b"".join),
    st.integers(1, 9),
)
def test_faults_are_found_wherever_the_blocks_are_cut(data, size):
    def outcome(blocks):
        try:
            return b"\n".join(chunk for _, chunk in Text(name="a", blocks=blocks).chunks())
        except InputError as error:
            # Of two faults the one in the earlier block is told.
            return None if b"\0" in data else str(error)

    assert outcome(cut(data, size)) == outcome([data])


def test_the_line_of_a_wrong_byte_is_told_in_any_encoding():
    for encoding, wrong in (("utf-8", b"\xff"), ("ascii", b"\xff"), ("utf-16-le", b"\x00\xdc"), ("gb18030", b"\xff")):
        data = "milk\n".encode(encoding) * 60 + wrong + "\n".encode(encoding)
        for size in (7, 64, 1000):
            text = Text(name="a", blocks=cut(data, size), encoding=encoding)
            with pytest.raises(InputError, match=f"not a text in {encoding}: see line 61"):
                list(text.chunks())


@pytest.mark.parametrize("size", [1 << 10, 1 << 16, 1 << 21])
@pytest.mark.parametrize(("length", "refused"), [(LONGEST_LINE, False), (LONGEST_LINE + 1, True)])
@pytest.mark.parametrize("last", [True, False])
def test_a_line_is_refused_from_the_first_byte_beyond_a_mebibyte(size, length, refused, last):
    data = b"milk\n\n" + b"x" * length + (b"" if last else b"\nmilk\n")
    chunks = Text(name="a", blocks=cut(data, size)).chunks()
    if refused:
        with pytest.raises(InputError, match="Line 3 of a is longer than a mebibyte"):
            list(chunks)
    else:
        assert b"\n".join(chunk for _, chunk in chunks) == data.removesuffix(b"\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_more_than_one_chunk_reads_like_one(monkeypatch, end):
    data = end.join(",".join(f"item {(row * at) % 97}" for at in range(row % 5 + 1)) for row in range(150))
    whole = as_sets(read(data))
    for block in (1, 64, 1000):
        in_blocks(monkeypatch, block)
        assert as_sets(read(data)) == whole
        assert as_sets(read(f"a title{end}{end}and another{end}{data}", skip_lines=2)) == whole
