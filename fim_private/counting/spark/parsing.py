"""Parse lines and rows of a file on an executor: strip names and turn them into codes, as the local readers do.

The local readers themselves parse lines, some ten thousand at a time. Tables that may have units are read column by
column here, because the local readers do not keep the names of units. An executor does not know the number of a line in
the file, so messages do not give it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from fim_private.counting.spark.blocks import SCHEMA, Block, identities_in_order, identities_of, pack, unpack
from fim_private.counting.spark.session import Batches
from fim_private.errors import FimPrivateError, InputError
from fim_private.transactions.columns.column_roles import Columns, LongColumns
from fim_private.transactions.columns.column_table import as_text
from fim_private.transactions.columns.row_filter import OPTION
from fim_private.transactions.columns.text_table import TextTable, text_table
from fim_private.transactions.compressed_rows import compressed
from fim_private.transactions.files.text import Text
from fim_private.transactions.formats.basket import skipped_by
from fim_private.transactions.formats.cells import not_a_cell
from fim_private.transactions.formats.long import options_of, parts_of_rows, rows_of_items
from fim_private.transactions.formats.one_hot import cells_of
from fim_private.transactions.item_codes import in_name_order
from fim_private.transactions.layout import Layout
from fim_private.transactions.reading import read_text
from fim_private.transactions.strings import group_codes, identities, not_blank, positions_in
from fim_private.transactions.units import rows_with_unit, unit_of_each

NOTED = ("transactions", "single", "occurrences", "blanks", "duplicates", "empty", "rows_without_unit")
"""What the reader notices of a block, as numbers that add up."""
READ_SCHEMA = f"{SCHEMA}, names array<string>, {', '.join(f'{name} long' for name in NOTED)}"
"""A block in codes of its own names, which are in name order, and what the reader noticed."""

LONG_SCHEMA = "transaction string, item string, unit string, rows_without_unit long"


@dataclass(frozen=True, kw_only=True)
class Source:
    """What the executors must know about a file.

    Args:
        name: the name for messages.
        layout: format and separator.
        encoding: the encoding of a text.
        columns: what the user said about columns.
        header: the column names of a text table, from its first line.
        positions: in one-hot tables, those of the transaction and unit columns in the header; None for no column.
        long: the same in long tables.
    """

    name: str
    layout: Layout
    encoding: str = "utf-8"
    columns: Columns = field(default_factory=Columns)
    header: tuple[str, ...] = ()
    positions: tuple[int | None, int | None] = (None, None)
    long: LongColumns = field(default_factory=lambda: LongColumns(transaction=(0,), item=1, unit=None))


def parse_lines(batches: Batches, source: Source) -> Batches:
    """Parse FIMI or basket lines, from `value binary` to `READ_SCHEMA`."""
    passed = 0
    for batch in batches:
        data = b"\n".join(batch.column("value").to_pylist())
        if data.isspace() or not data:
            yield _nothing(empty=batch.num_rows)
            continue
        with _without_line_numbers():
            read = read_text(_text(data, source), source.layout, source.columns)
        yield _read_block(
            Block(
                lengths=read.lengths().astype(np.int32),
                items=read.items.astype(np.int32),
                identities=identities_in_order(passed, len(read)),
                units=None,
            ),
            read.vocabulary,
            blanks=read.notes.blanks,
            duplicates=read.notes.duplicates,
            empty=batch.num_rows - len(read),
        )
        passed += len(read)


def parse_one_hot_lines(batches: Batches, source: Source) -> Batches:
    """Parse lines of a one-hot table with headers, from `value binary, start long, file long` to `READ_SCHEMA`."""
    width = len(source.header)
    passed = 0
    for table in _tables(batches, source):
        for fields, _ in table.blocks():
            at_column = [fields.gather_every(width, offset=at) for at in range(width)]
            yield (block := _one_hot(at_column, list(source.header), source, passed))
            passed += block.column("transactions")[0].as_py()


def parse_one_hot_rows(batches: Batches, source: Source) -> Batches:
    """Parse rows of a one-hot Parquet table into `READ_SCHEMA`."""
    passed = 0
    for batch in batches:
        selection = source.columns.selection(batch.schema.names)
        columns = _series(batch)
        if selection is not None:
            cells = {at: as_text(columns[at], OPTION) for at in selection.positions.values()}
            kept = selection.kept(cells.__getitem__)
            columns = [column.filter(kept) for column in columns]
        yield (block := _one_hot(columns, batch.schema.names, source, passed))
        passed += block.column("transactions")[0].as_py()


def parse_lists(batches: Batches, source: Source) -> Batches:
    """Parse rows with a column `item` of lists, perhaps a column `unit` and those of a filter, into `READ_SCHEMA`."""
    passed = 0
    for batch in batches:
        frame = _kept(dict(zip(batch.schema.names, _series(batch), strict=True)), source.columns)
        lists = frame["item"]
        kept, units = _units(frame.get("unit"), len(lists), source.columns)
        lists = lists.filter(pl.Series(kept))
        lengths = lists.list.len().fill_null(0)
        names = as_text(lists.filter(lengths > 0).explode(), "--item-column")
        rows = np.repeat(np.arange(len(lists), dtype=np.int64), lengths.to_numpy())
        block = _coded(names, rows, len(lists), units, dropped=int((~kept).sum()), first=passed)
        yield block
        passed += block.column("transactions")[0].as_py()


def parse_long_lines(batches: Batches, source: Source) -> Batches:
    """Parse lines of a long table with headers, from `value binary, start long, file long` to `LONG_SCHEMA`."""
    for table in _tables(batches, source):
        with _without_line_numbers():
            for fields, _ in table.blocks():
                taken = [fields.gather_every(len(table.header), offset=at) for at in source.long.all]
                yield from _long_rows(taken, source)


def parse_long_rows(batches: Batches, source: Source) -> Batches:
    """Parse rows of a long Parquet table into `LONG_SCHEMA`.

    Its columns are in the order transaction, item, unit, and then those of a filter.
    """
    options = options_of(source.long)
    for batch in batches:
        frame = _kept(dict(zip(batch.schema.names, _series(batch), strict=True)), source.columns)
        columns = [as_text(column, option) for column, option in zip(frame.values(), options, strict=True)]
        yield from _long_rows(columns, source)


def group_long(batches: Batches, columns: Columns) -> Batches:
    """Build transactions from a partition with all rows of each of them, from `LONG_SCHEMA` to `READ_SCHEMA`."""
    parts = list(batches)
    if not parts:
        return
    table = pa.Table.from_batches(parts)
    transaction, item, unit, dropped = (pl.Series(values=table.column(name)) for name in table.schema.names)
    is_row = transaction.is_not_null()
    transaction, item, unit = (column.filter(is_row) for column in (transaction, item, unit))
    rows, names = group_codes(transaction)
    row_count = len(names)
    units = None
    if columns.unit is not None:
        codes, unit_names = group_codes(unit)
        units = unit_names.gather(unit_of_each(rows, codes, row_count))
    yield _coded(
        item,
        rows,
        row_count,
        units,
        dropped=int(dropped.sum() or 0),
        identities=lambda filled: identities_of(names.gather(filled)),
    )


def encode(batches: Batches, sent: Any) -> Batches:
    """Turn blocks into codes of the whole vocabulary, which was sent, from `READ_SCHEMA` to `SCHEMA`."""
    for batch in batches:
        blocks = unpack(iter([batch.select(Block._fields)]))
        for block, names in zip(blocks, batch.column("names").to_pylist(), strict=True):
            if len(block.lengths):
                new_code = positions_in(sent.value, pl.Series(names, dtype=pl.String)).astype(np.int32)
                yield pack(block._replace(items=new_code[block.items]))


def _kept(frame: dict[str, pl.Series], columns: Columns) -> dict[str, pl.Series]:
    """The columns of a batch without those of a filter, and without the rows that it leaves out."""
    if columns.where is None:
        return frame
    filtering = {name: as_text(frame.pop(f"where {place}"), OPTION) for place, name in enumerate(columns.where.columns)}
    kept = columns.where.holds(filtering.__getitem__).fill_null(value=False)
    return {name: column.filter(kept) for name, column in frame.items()}


def _text(data: bytes, source: Source) -> Text:
    return Text(name=source.name, blocks=[data], encoding=source.encoding)


def _tables(batches: Batches, source: Source) -> Iterator[TextTable]:
    """The lines below the headers. Every file begins with a header, where `start` is 0."""
    separator = source.layout.separator
    if separator is None:
        raise AssertionError("a table has a separator")
    under_way: int | None = None
    headless = False
    for batch in batches:
        lines = batch.column("value").to_pylist()
        files = batch.column("file").to_numpy()
        starts = batch.column("start").to_numpy()
        cuts = np.flatnonzero(np.diff(files)) + 1
        kept: list[bytes] = []
        for first, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(lines)], strict=True):
            run = lines[first:end]
            if first < end and files[first] != under_way:
                under_way, headless = int(files[first]), starts[first] == 0 and not source.layout.headerless
            if headless:
                texts = (line.decode(source.encoding, "replace") for line in run)
                header = next((place for place, text in enumerate(texts) if text.strip()), None)
                if header is None:
                    continue
                headless = False
                _check_header(run[header], source)
                run = run[header + 1 :]
            kept += run
        data = b"\n".join(kept)
        if data.strip():
            with _without_line_numbers():
                chunks = list(_text(data, source).chunks())
            yield TextTable(
                name=source.name,
                below=iter(chunks),
                separator=separator,
                header=list(source.header),
                selection=source.columns.selection(source.header),
            )


def _check_header(line: bytes, source: Source) -> None:
    with _without_line_numbers():
        header = text_table(_text(line, source), source.layout.separator or ",").header
    if tuple(header) != source.header:
        raise InputError(
            "The files do not have the same header.", "Give files of the same columns in the same order, or one file."
        )


def _long_rows(values: list[pl.Series], source: Source) -> Batches:
    """Rows that belong to a transaction. Refuse what local reading refuses."""
    transaction, item, *unit = parts_of_rows(values, len(source.long.transaction))
    parts = [identities(transaction), item, *map(identities, unit)]
    (transaction, item, *unit, _), dropped = rows_of_items(parts, source.columns)
    units = unit[0] if unit else pl.repeat(None, len(item), dtype=pl.String, eager=True)
    # One more row, without a transaction, reports how many rows were dropped.
    arrays = [pa.array([*column.to_list(), None], pa.string()) for column in (transaction, item, units)]
    told = pa.array([0] * len(item) + [dropped], pa.int64())
    yield pa.RecordBatch.from_arrays([*arrays, told], names=["transaction", "item", "unit", "rows_without_unit"])


def _one_hot(columns: list[pl.Series], header: list[str], source: Source, first: int) -> pa.RecordBatch:
    transaction, unit = source.positions
    selection = source.columns.selection(header)
    filtering = () if selection is None else selection.positions.values()
    others = {transaction, unit, *filtering, *skipped_by(source.layout)}
    items = [at for at in range(len(header)) if at not in others]
    kept, units = _units(None if unit is None else columns[unit], len(columns[0]), source.columns)
    names = pl.Series([header[at].strip() for at in items], dtype=pl.String)
    rows: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    codes: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for code, at in enumerate(items):
        present, bad = cells_of(columns[at])
        if bad is not None:
            cell = str(as_text(columns[at], "an item")[bad])
            raise not_a_cell(f"Column {at + 1}", cell, at + 1, source.layout)
        where = np.flatnonzero(present[kept]).astype(np.int64)
        rows.append(where)
        codes.append(np.full(len(where), code, np.int64))
    return _coded(
        names.gather(np.concatenate(codes)),
        np.concatenate(rows),
        int(kept.sum()),
        units,
        dropped=int((~kept).sum()),
        first=first,
    )


def _units(unit: pl.Series | None, rows: int, columns: Columns) -> tuple[NDArray[np.bool_], pl.Series | None]:
    """Which rows are kept, and the units of these rows."""
    if unit is None:
        return np.ones(rows, bool), None
    names = identities(as_text(unit, "--unit-column"))
    kept = rows_with_unit(names, drop=columns.drop_rows_without_unit)
    return kept, names.filter(pl.Series(kept))


def _coded(
    names: pl.Series,
    rows: NDArray[np.int64],
    row_count: int,
    units: pl.Series | None,
    *,
    dropped: int,
    first: int = 0,
    identities: Callable[[NDArray[np.int64]], NDArray[np.uint64]] | None = None,
) -> pa.RecordBatch:
    """A block from names and the rows they belong to, without blanks, repetitions and empty rows."""
    stripped = names.str.strip_chars()
    filled = not_blank(stripped)
    stripped, rows = stripped.filter(filled), rows[filled.to_numpy()]
    vocabulary = in_name_order(stripped.unique())
    offsets, items, left = compressed(rows * len(vocabulary) + positions_in(vocabulary, stripped), len(vocabulary))
    return _read_block(
        Block(
            lengths=np.diff(offsets).astype(np.int32),
            items=items,
            identities=identities_in_order(first, len(left)) if identities is None else identities(left),
            units=None if units is None else units.gather(left),
        ),
        vocabulary,
        blanks=len(names) - len(stripped),
        duplicates=len(stripped) - len(items),
        empty=row_count - len(left),
        rows_without_unit=dropped,
    )


def _read_block(
    block: Block, vocabulary: pl.Series, *, blanks: int, duplicates: int, empty: int, rows_without_unit: int = 0
) -> pa.RecordBatch:
    packed = pack(block)
    notes = {
        "transactions": len(block.lengths),
        "single": int((block.lengths == 1).sum()),
        "occurrences": len(block.items),
        "blanks": blanks,
        "duplicates": duplicates,
        "empty": empty,
        "rows_without_unit": rows_without_unit,
    }
    names = pa.array([vocabulary.to_list()], pa.list_(pa.string()))
    return pa.RecordBatch.from_arrays(
        [*packed.columns, names, *(pa.array([number], pa.int64()) for number in notes.values())],
        names=[*packed.schema.names, "names", *notes],
    )


def _nothing(*, empty: int) -> pa.RecordBatch:
    block = Block(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint64), None)
    return _read_block(block, pl.Series([], dtype=pl.String), blanks=0, duplicates=0, empty=empty)


def _series(batch: pa.RecordBatch) -> list[pl.Series]:
    frame = pl.from_arrow(batch)
    return frame.get_columns() if isinstance(frame, pl.DataFrame) else [frame]


@contextmanager
def _without_line_numbers() -> Iterator[None]:
    """Remove the number of the line from our errors, because here it does not count from the start of the file."""
    try:
        yield
    except FimPrivateError as error:
        what = re.sub(r"\bsee line \d+", "somewhere", re.sub(r"^Line \d+\b", "A line", error.what))
        raise type(error)(what, error.next_step) from None
