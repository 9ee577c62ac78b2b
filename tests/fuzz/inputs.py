"""Hostile input: whole files of every kind, spoilt at random. The same place of the same series is the same input."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from functools import cache

import polars as pl

from tests.asking import mined
from tests.transactions.workbook import Cell, workbook

CANARY = "zwieback"
"""Planted in all data, never in options or column names: no message may show it."""

TOKENS = tuple(
    token.encode() if isinstance(token, str) else token
    for token in (
        *(CANARY, f"{CANARY} 2", f'"{CANARY}, {CANARY}"', f'"{CANARY}\n{CANARY}"', f'{CANARY}"', f'"{CANARY}'),
        *(",", ";", "\t", "|", " ", '"', '""', '"""', "\n", "\n\n", "\r\n", "\r", "\0", "::", "'", "\\"),
        *("0", "1", "yes", "no", "?", "-1", "007", "1e999", "nan", "9" * 30, "2147483648", "1/0", "1.5", "true"),
        *("tid,item\n", "invoice;item;customer\n", "item", "{", "[", "<html>", "[" * 200, "{" * 200, "=", "#", "null"),
        *("PAR1", "\ufeff", "\u2028", "\u0085", "\xa0", "\U0001f35e", "e\u0301", "\x1b[31m", "\x7f", "a" * 3000),
        *("," * 2000, "1 " * 1500, "\n" * 1000, '"' * 501),
        *(b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\xf4\x90\x80\x80", b"\x1f\x8b", b"PK\x03\x04"),
    )
)

FIMI = tuple(
    text.encode()
    for text in (
        "1 2 3\n2 3\n\n3 4 5 1\n7\n" * 4,
        f"milk {CANARY} bread\n{CANARY} jam\n" * 8,
        "1\t2\t3\n4\t5\n",
        "12 7 9223372036854775807 999999999999999999 0012\n" * 3,
    )
)
BASKETS = tuple(
    text.encode()
    for text in (
        f"milk,bread\n{CANARY},milk,jam\n\nbread\n" * 6,
        f'"5"" nail";{CANARY};"a;b"\nmilk;bread\n' * 5,
        f"a|b|{CANARY}\r\nb|c\r\n" * 4,
        "milk\tbread\nmilk\ttea\tjam\n" * 4,
    )
)
LONG = tuple(
    text.encode()
    for text in (
        "invoice,item,customer\n" + "".join(f"{row // 3},{CANARY} {row % 5},{row % 4}\n" for row in range(30)),
        f'tid;product;price\n1;"{CANARY}; large";3,5\n1;milk;2\n2;milk;1\n',
        f"order_id\tdescription\tmember\n7\t{CANARY}\t\n7\tmilk\tx\n\tmilk\tx\n8\tmilk\ty\n",
    )
)
ONE_HOT = tuple(
    text.encode()
    for text in (
        f"milk,bread,{CANARY}\n1,0,1\n0,0,0\n1,1,?\n" * 1 + "1,0,0\n" * 20,
        f"id;milk;{CANARY}\na;true;false\nb;yes;n\n",
        "1,2,3,4,5\n0,1,1,0,0\n1,0,0,0,1\n",
    )
)
NAMES = tuple(text.encode() for text in (f"milk\nbread\n{CANARY}\n\n tea \n", "1\n2\n3\n", f"{CANARY}\r\nmilk"))
SETTINGS = tuple(
    text.encode()
    for text in (
        f'file = "{CANARY}.csv"\nsize = 2\ntop = 10\nepsilon = 0.5\ndelta = 1e-6\nunit = "transaction"\njson = true\n',
        f"size = 2\nunit-column = '{CANARY}'\nmax_transactions = 3\noutput = \"{CANARY}.json\"\n",
    )
)


@cache
def parquet_files() -> tuple[bytes, ...]:
    """Tables of every layout and type, compressed and not."""
    days = [datetime.date(2024, 1, day) for day in (1, 2, 2, 3)]
    frames = (
        pl.DataFrame({"invoice": [1, 1, 2, 2], "item": ["milk", CANARY, "milk", "jam"], "customer": [7, 7, 8, None]}),
        pl.DataFrame({"order": days, "product": [1.5, float("nan"), 2.0, None], "user": ["a", "a", "b", "b"]}),
        pl.DataFrame({"basket": [["milk", CANARY], [], None, ["jam", None]], "member": ["a", "b", "b", None]}),
        pl.DataFrame({"basket": [[1, 2], [3]], "tid": [1, 2]}),
        pl.DataFrame({"basket": [[["milk"], [CANARY]]], "other": [["x"]]}),
        pl.DataFrame({"milk": [True, False, None], "bread": [True, True, False], "tea": [False, True, True]}),
        pl.DataFrame({"milk": [1, 0, 2], "bread": ["yes", "?", CANARY], "raw": [b"\xff", b"", None]}),
        pl.DataFrame({"item": pl.Series([CANARY, "milk"] * 20, dtype=pl.Categorical), "tid": list(range(40))}),
        pl.DataFrame({"tid": [1, 2], "item": [{"a": CANARY}, {"a": "b"}]}),
        pl.DataFrame({"tid": [], "item": []}, schema={"tid": pl.Int64, "item": pl.String}),
        pl.DataFrame(),
    )
    files = []
    for frame in frames:
        for compression in ("uncompressed", "zstd", "snappy"):
            buffer = io.BytesIO()
            frame.write_parquet(buffer, compression=compression)
            files.append(buffer.getvalue())
    return tuple(files)


@cache
def releases() -> tuple[bytes, ...]:
    """Releases as JSON, with and without counts and found items."""
    from fim_private.transactions.item_codes import transactions_from_lists

    baskets = transactions_from_lists([["milk", CANARY]] * 900 + [["tea", "jam", "milk"]] * 500)
    made = [
        mined(baskets, epsilon="2", delta="1e-3", mechanism=name, seed=1) for name in ("limited-domain", "items-first")
    ]
    return tuple(release.to_json().encode() for release in made)


def spoilt(randomness: random.Random, seeds: Sequence[bytes], tokens: Sequence[bytes] = TOKENS) -> bytes:
    """One of the files with up to eight faults, most often one; some are left whole."""
    data = bytearray(randomness.choice(seeds))
    for _ in range(randomness.choice(range(9)) if randomness.random() < 0.1 else randomness.choice((0, 1, 1, 1, 2, 3))):
        at = randomness.randrange(len(data) + 1)
        end = min(len(data), at + randomness.choice((1, 2, 8, 40, 300)))
        match randomness.randrange(8):
            case 0 if data:
                data[at - 1] ^= 1 << randomness.randrange(8)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = data[at:end] * randomness.choice((1, 2, 30))
            case 3 | 4:
                data[at:at] = randomness.choice(tokens)
            case 5:
                data[at:end] = randomness.choice(tokens)
            case 6:
                del data[slice(at, None) if randomness.random() < 0.5 else slice(at)]
            case _:
                other = randomness.choice(seeds)
                data[at:at] = other[: randomness.randrange(len(other) + 1)]
    return bytes(data)


def spoilt_parquet(randomness: random.Random) -> bytes:
    """A Parquet file with a few bytes changed, half of the time where the schema stands; now and then as any file."""
    files = parquet_files()
    if randomness.random() < 0.1:
        return spoilt(randomness, files)
    data = bytearray(randomness.choice(files))
    footer = int.from_bytes(data[-8:-4], "little") + 8
    for _ in range(randomness.choice((0, 0, 0, 1, 1, 1, 2, 3, 8))):
        first = max(0, len(data) - footer) if randomness.random() < 0.5 else 0
        data[randomness.randrange(first, len(data))] = randomness.choice(
            (0, 1, 127, 128, 255, randomness.randrange(256))
        )
    return bytes(data)


@cache
def workbooks() -> tuple[bytes, ...]:
    """Workbooks of one and of several sheets, with cells of every kind."""
    days = [datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4, 5)]
    sales: list[list[Cell]] = [["invoice", "item", "customer"], *([row // 2, f"i{row % 4}", 7.5] for row in range(12))]
    return (
        workbook({"sales": [*sales, [8, CANARY, None]]}),
        workbook({"sales": [["invoice", "item", "day"], *([row, CANARY, days[row % 2]] for row in range(9))]}),
        workbook({"one": sales, "two": [["milk", CANARY], [True, False], [1, 0]]}),
        workbook({"nothing": []}),
    )


def spoilt_workbook(randomness: random.Random) -> bytes:
    """A workbook spoilt as any file, or with one of its parts spoilt before it is packed, or left whole."""
    whole = randomness.choice(workbooks())
    if randomness.random() < 0.4:
        return whole
    if randomness.random() < 0.2:
        return b"PK\x03\x04" + spoilt(randomness, [whole[4:]])
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive, zipfile.ZipFile(buffer, "w") as again:
        parts = archive.namelist()
        chosen = randomness.choice(parts)
        for part in parts:
            data = archive.read(part)
            if part != chosen:
                again.writestr(part, data)
            elif randomness.random() < 0.95:
                again.writestr(part, spoilt(randomness, [data], (*TOKENS, *XML)))
    return buffer.getvalue()


XML = tuple(
    part.encode()
    for part in (
        *("<v>", "</v>", "<c>", '<c r="ZZZZ9999999"><v>1</v></c>', '<c r="A1048577"><v>1</v></c>', "</row>", "&lt;"),
        *("&unknown;", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "<v>1e309</v>", "<v>-99999999</v>", 't="s"', 't="e"', 's="9"'),
    )
)
"""What a spoilt part of a workbook may hold."""

CONDITION = (
    *(
        "invoice",
        "item",
        "customer",
        '"item"',
        '"no such"',
        "nowhere",
        '"',
        "'",
        "'milk'",
        "'2024-01-02'",
        "'%i_'",
        "''",
    ),
    *("=", "<>", "!=", "<", "<=", ">", ">=", "AND", "OR", "NOT", "IN", "(", ")", ",", "LIKE", "BETWEEN", "IS", "NULL"),
    *("0", "1", "-1", "3.5", "1e309", "9" * 40, "0x1", ".", "-", "+", "*", "/", ";", "--", "/*", "\0", "\n", "\ud800"),
    *("AVG", "SELECT", "CASE", "NOT NOT", "\u2028", "é", "漢", "(" * 300, "NOT " * 300, "invoice > 0 AND " * 100),
)
CONDITIONS = (
    "invoice > 1 AND item <> 'milk'",
    "item LIKE 'm%' OR NOT (customer IS NULL)",
    "invoice BETWEEN 1 AND 5",
    "customer IN (1, 2, 3) AND item IN ('milk', 'jam')",
    "invoice >= '2024-01-02'",
)


def spoilt_condition(randomness: random.Random) -> str:
    """A condition with other words in a few places, or words in any order."""
    if randomness.random() < 0.4:
        return " ".join(randomness.choices(CONDITION, k=randomness.randrange(1, 9)))
    words = randomness.choice(CONDITIONS).split(" ")
    for _ in range(randomness.choice((0, 1, 1, 2))):
        at = randomness.randrange(len(words) + 1)
        words[at : at + randomness.randrange(2)] = [randomness.choice(CONDITION)]
    return randomness.choice((" ", " ", " ", "", "\t")).join(words)


def spoilt_gzip(randomness: random.Random) -> bytes:
    """Packed text or Parquet, spoilt before packing, after it, or not at all; or two such files end to end."""
    text = spoilt(randomness, (*FIMI, *BASKETS, *LONG)) if randomness.random() < 0.8 else spoilt_parquet(randomness)
    packed = gzip.compress(text, compresslevel=1, mtime=0)
    match randomness.randrange(6):
        case 0:
            return packed + gzip.compress(randomness.choice(FIMI), mtime=0)
        case 1:
            return gzip.compress(packed, mtime=0)
        case 2 | 3:
            return packed
        case _:
            return packed[:2] + spoilt(randomness, [packed[2:]])


def spoilt_release(randomness: random.Random) -> bytes:
    """A release with a value replaced, or spoilt as any text."""
    if randomness.random() < 0.4:
        return spoilt(randomness, releases())
    fields = json.loads(randomness.choice(releases()))
    for _ in range(randomness.choice((0, 1, 1, 2))):
        _replace_somewhere(randomness, fields)
    return json.dumps(fields).encode()


def _replace_somewhere(randomness: random.Random, value: object) -> None:
    """Put something of another type in a random place of nested lists and dictionaries."""
    keys: list = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not keys:
        return
    key = randomness.choice(keys)
    if isinstance(value[key], dict | list) and value[key] and randomness.random() < 0.6:
        _replace_somewhere(randomness, value[key])
    elif randomness.random() < 0.2:
        del value[key]
    else:
        odd = (None, True, -1, 10**30, 1.5, float("inf"), "", CANARY, "\x1b[31m", [], [[]], {}, {"a": 1}, [CANARY, 1])
        value[key] = randomness.choice(odd)


TEXTS: dict[str, tuple[Callable[[random.Random], bytes], dict[str, Sequence[str | None]]]] = {
    "fimi": (lambda source: spoilt(source, FIMI), {"format": ["fimi"]}),
    "basket": (
        lambda source: spoilt(source, BASKETS),
        {"format": ["basket"], "separator": [None, None, ",", ";", "::"]},
    ),
    "long": (
        lambda source: spoilt(source, LONG),
        {
            "format": ["long"],
            "transaction_column": [*[None] * 9, "invoice", "1"],
            "item_column": [*[None] * 9, "item", "iten", ""],
            "unit_column": [*[None] * 9, "customer", "member", "item"],
        },
    ),
    "one-hot": (
        lambda source: spoilt(source, ONE_HOT),
        {"format": ["one-hot"], "transaction_column": [*[None] * 3, "id", ""]},
    ),
    "auto": (
        lambda source: spoilt(source, (*FIMI, *BASKETS, *LONG, *ONE_HOT)),
        {
            "format": ["auto"],
            "separator": [None, None, None, ",", " "],
            "encoding": ["utf-8", "utf-8", "utf-8", "latin-1", "ascii", "utf-16-le", "utf-7", "idna", "cp037"],
            "unit_column": [None, None, None, "customer"],
        },
    ),
    "gzip": (spoilt_gzip, {"format": ["auto", "auto", "fimi", "basket", "long"]}),
    "Parquet": (
        spoilt_parquet,
        {
            "format": ["auto", "auto", "long", "lists", "one-hot"],
            "item_column": [*[None] * 9, "item", "basket", "product"],
            "unit_column": [*[None] * 6, "customer", "member", "user"],
        },
    ),
    "workbook": (
        spoilt_workbook,
        {
            "format": [*["auto"] * 6, "long", "one-hot", "lists"],
            "sheet": [*[None] * 12, *["1"] * 6, "two", "3", "a\0b", "\ud800", "long" * 50_000],
            "unit_column": [*[None] * 6, "customer"],
        },
    ),
}
"""What `read_transactions` is given: the file, and the options to choose from."""
