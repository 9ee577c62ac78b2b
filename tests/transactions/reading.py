"""Reading bytes in tests, and seeing what was read as plain sets of names."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from fim_private.errors import InputError
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.files import source
from fim_private.transactions.reading import read_transactions

if TYPE_CHECKING:
    import pyarrow as pa


def read(data: bytes | str | pl.DataFrame | pa.Table, **options: Any) -> Transactions:
    return read_transactions(io.BytesIO(as_bytes(data)), **options)


def as_bytes(data: bytes | str | pl.DataFrame | pa.Table) -> bytes:
    if isinstance(data, bytes | str):
        return data.encode() if isinstance(data, str) else data
    buffer = io.BytesIO()
    if isinstance(data, pl.DataFrame):
        data.write_parquet(buffer)
    else:
        import pyarrow.parquet  # frames of pandas are also read where it is not installed

        pyarrow.parquet.write_table(data, buffer)
    return buffer.getvalue()


def as_sets(transactions: Transactions) -> list[set[str]]:
    """The transactions as sets of names, after checking the promises of the type."""
    offsets, items = transactions.offsets, transactions.items
    assert offsets.dtype == "int64"
    assert items.dtype == ("uint16" if len(transactions.vocabulary) <= 2**16 else "int32")
    assert offsets[0] == 0
    assert offsets[-1] == len(items)
    assert transactions.vocabulary.name == "item"
    assert transactions.vocabulary.n_unique() == len(transactions.vocabulary)
    names = transactions.vocabulary.to_list()
    sets = []
    for start, end in pairwise(offsets.tolist()):
        codes = items[start:end].tolist()
        assert codes
        assert codes == sorted(set(codes))
        sets.append({names[code] for code in codes})
    if transactions.units is not None:
        assert transactions.units.dtype == "int64"
        assert len(transactions.units) == len(sets)
        assert set(transactions.units.tolist()) == set(range(len(set(transactions.units.tolist()))))
    return sets


def outcome(data: str, **options: Any) -> str | tuple[object, ...]:
    """All that is read, or the words of the refusal, so that two ways of reading can be compared."""
    try:
        transactions = read(data, **options)
    except InputError as error:
        return str(error)
    units = None if transactions.units is None else transactions.units.tolist()
    return as_sets(transactions), transactions.vocabulary.to_list(), units, vars(transactions.notes)


def in_blocks(patch: pytest.MonkeyPatch, size: int) -> None:
    """Read files in blocks of `size` bytes from now on, the first of them too."""
    patch.setattr(source, "BLOCK", size)
    patch.setattr(source, "HEAD", size)


def stripped(name: str) -> str:
    """The name without Unicode white space at its ends, as Unicode defines it (Python strips four controls more)."""
    return re.sub(r"^[^\S\x1c-\x1f]+|[^\S\x1c-\x1f]+$", "", name)


def by_unit(transactions: Transactions) -> set[frozenset[frozenset[str]]]:
    """The sets of each unit, whatever the codes of the units."""
    groups: dict[int, set[frozenset[str]]] = {}
    for unit, names in zip(transactions.units.tolist(), as_sets(transactions), strict=True):
        groups.setdefault(unit, set()).add(frozenset(names))
    return {frozenset(group) for group in groups.values()}
