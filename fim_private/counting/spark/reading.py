"""Read text and Parquet with Spark, from any path, glob, folder or URL that the cluster can read.

The driver gives the first lines or rows to the local readers, which decide on the format and refuse what they would
refuse in a local run. Then the executors parse everything (`parsing`), and the driver collects the distinct names. This
is made for up to a million names.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import polars as pl
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import coalesce, col, count, count_distinct, lit, lower, trim

from fim_private.counting.spark import parsing
from fim_private.counting.spark.blocks import SCHEMA
from fim_private.counting.spark.database import SparkDatabase
from fim_private.counting.spark.files import files_of, parquet_rows, text_lines
from fim_private.counting.spark.parsing import LONG_SCHEMA, NOTED, READ_SCHEMA, Source
from fim_private.counting.spark.session import Batches, Cluster
from fim_private.errors import FimPrivateError, UsageError
from fim_private.transactions.chosen_layout import LayoutOptions, columnar_layout, layout_of
from fim_private.transactions.columns.column_roles import Columns, find_column, long_columns
from fim_private.transactions.columns.column_table import FrameTable
from fim_private.transactions.columns.text_table import text_table
from fim_private.transactions.dataset import ReadingNotes
from fim_private.transactions.files.source import GIVE_QUERY, GZIP, PARQUET, Content, load
from fim_private.transactions.files.text import Text
from fim_private.transactions.formats.detection import SAMPLE_LINES, SAMPLE_ROWS, like_first
from fim_private.transactions.formats.doubt import refuse
from fim_private.transactions.formats.lists import list_columns
from fim_private.transactions.formats.row_units import repeated_transaction
from fim_private.transactions.item_codes import in_name_order
from fim_private.transactions.layout import LINE_FORMATS
from fim_private.transactions.reading import (
    ask_about_names,
    ask_about_occurrences,
    ask_about_single_items,
    no_item,
    read_columnar,
    read_text,
    refuse_single_items,
    seems_single,
)
from fim_private.transactions.sources.database import SERVERS
from fim_private.transactions.units import LARGE, NOBODY, nobody

NO_DATABASE = "Leave out --engine spark, or export the table."

SPLITTABLE = ("utf-8", "ascii", "latin", "iso-8859", "iso8859", "cp125", "windows-125", "utf8", "koi8")
"""Encodings in which a line feed is always one byte, and this byte is always a line feed."""

Parse = Callable[..., Batches]


def read_with_spark(
    session: SparkSession,
    source: str | Sequence[str],
    *,
    format: str = "auto",  # noqa: A002 - the option is called so everywhere
    separator: str | None = None,
    encoding: str = "utf-8",
    transaction_column: str | None = None,
    item_column: str | None = None,
    unit_column: str | None = None,
    drop_rows_without_unit: bool = False,
    sheet: str | int | None = None,
    where: str | None = None,
    query: str | None = None,
    skip_lines: int | None = None,
    skip_columns: str | None = None,
    item_separator: str | None = None,
) -> SparkDatabase:
    """Read a file, or many of one kind, as `read_transactions` does, with the same options and the same strictness.

    `session` is any Spark session; `open_session` makes one. `source` is a path, a folder, a glob or a URL, as the
    executors see it, or several of them. The options are those of `read_transactions`, with exceptions: `sheet` and
    `query` are refused, because Spark reads neither workbooks nor databases. `skip_lines` must be None or 0, because
    Spark does not count lines; a first line such as `sep=;` is refused. With `where`, the notes do not say how many
    rows were left out.

    It does not read standard input, texts in UTF-16 or UTF-32, gzip files whose names do not end in .gz (Spark goes by
    the ending), folders inside a folder, or Parquet files of different columns.

    Raises:
        InputError: the data cannot be read, or is not what the call says it is.
        UsageError: options do not go together, or Spark cannot read this kind of source.
        FimPrivateError: Spark failed.

    Cost: one pass over the file, and a small task for each Parquet file, or for each file of baskets whose format is
    guessed, one after the other. The executors then keep the data, four bytes per occurrence of an item, on disk if
    memory is short.
    """
    options = LayoutOptions.of(
        format=format,
        separator=separator,
        encoding=encoding,
        transaction=transaction_column,
        item=item_column,
        unit=unit_column,
        drop_rows_without_unit=drop_rows_without_unit,
        where=where,
        skip_lines=skip_lines,
        skip_columns=skip_columns,
        item_separator=item_separator,
    )
    sources = [source] if isinstance(source, str) else list(source)
    # The address of a server may hold a password, so it is refused before anything could show it.
    if query is not None or any(one.startswith(SERVERS) for one in sources):
        raise UsageError("Spark reads files, and asks no database.", NO_DATABASE)
    if "-" in sources:
        raise UsageError("Spark reads files, not standard input.", "Give a path, or leave out --engine spark.")
    if sheet is not None:
        raise UsageError("Spark does not read Excel workbooks.", "Save the sheet as CSV, or leave out --engine spark.")
    cluster = Cluster(session)
    files = files_of(cluster, sources)
    for file in files:  # Spark itself writes empty parts, and the first most often
        if (head := _head(cluster, file)).strip():
            break
    if head.startswith(PARQUET):
        raw, notes = _parquet(cluster, sources, files, options)
    else:
        raw, notes = _text(cluster, sources, files, head, options)
    insisted = notes.layout.format not in LINE_FORMATS or options.separator is not None
    database = _coded(cluster, raw.persist(), notes, options.columns, insisted=insisted)
    ask_about_names(notes.layout, database.vocabulary, refuse)
    return database


def _head(cluster: Cluster, file: str) -> bytes:
    """The first lines of a file."""
    lines = text_lines(cluster, [file]).limit(SAMPLE_LINES).selectExpr("cast(value as binary) value")
    return b"\n".join(cluster.collect(lines).column("value").to_pylist())


def _parquet(
    cluster: Cluster, sources: list[str], files: list[str], options: LayoutOptions
) -> tuple[DataFrame, ReadingNotes]:
    """Blocks in codes of their own, and what was noted of the first rows."""
    columns = options.columns
    if files[0].endswith(".gz"):
        raise UsageError("Spark does not read Parquet inside gzip.", "Unpack it first: Parquet is packed by itself.")
    source = ", ".join(sources)
    frame = parquet_rows(cluster, sources, files)
    sample = pl.from_arrow(cluster.collect(frame.limit(SAMPLE_ROWS)))
    if not isinstance(sample, pl.DataFrame):
        raise AssertionError("a table becomes a frame")
    table = FrameTable(frame=sample, name=source, kind="Parquet")
    notes = read_columnar(table, columnar_layout(table, options), columns).notes
    layout = notes.layout
    header = frame.columns
    selection = columns.selection(header)
    filtering = () if selection is None else selection.positions.values()
    if layout.format == "long":
        found = long_columns(header, columns)
        taken = [_column(header[at]).alias(str(place)) for place, at in enumerate(found.all)]
        taken += [_column(header[at]).alias(f"where {place}") for place, at in enumerate(filtering)]
        said = Source(name=source, layout=layout, columns=columns, long=found)
        rows = _mapped(cluster, frame.select(*taken), parsing.parse_long_rows, said, schema=LONG_SCHEMA)
        return _grouped(cluster, rows, columns), notes
    _refuse_repeated_transactions(cluster, frame, columns)
    transaction, unit = columns.of_rows(header)
    said = Source(name=source, layout=layout, columns=columns, positions=(transaction, unit))
    if layout.format == "one-hot":
        return _mapped(cluster, frame, parsing.parse_one_hot_rows, said, schema=READ_SCHEMA), notes
    lists = list_columns(table.schema())
    item = lists[0] if columns.item is None else header[find_column(header, columns.item, "--item-column")]
    taken = [_column(item).alias("item")]
    taken += [] if unit is None else [_column(header[unit]).alias("unit")]
    taken += [_column(header[at]).alias(f"where {place}") for place, at in enumerate(filtering)]
    return _mapped(cluster, frame.select(*taken), parsing.parse_lists, said, schema=READ_SCHEMA), notes


def _text(
    cluster: Cluster, sources: list[str], files: list[str], head: bytes, options: LayoutOptions
) -> tuple[DataFrame, ReadingNotes]:
    """Blocks in codes of their own, and what was noted of the first rows."""
    columns, encoding = options.columns, options.encoding
    if head.startswith(GZIP):
        raise UsageError(
            "This is packed with gzip, which Spark only knows by the ending .gz.", "Rename it, or unpack it."
        )
    if not encoding.lower().replace("_", "-").startswith(SPLITTABLE):
        raise UsageError(
            f"Spark does not split texts in {encoding} into lines.", "Save it as UTF-8, or leave out --engine spark."
        )
    source = ", ".join(sources)
    data = _loaded(head, source).data

    def text() -> Text:
        return Text(name=source, blocks=[data], encoding=encoding)

    layout = layout_of(text(), options)
    if layout.skip_lines:
        raise UsageError(
            "Spark does not leave out the first lines of a text.",
            "Take them out of the file, or leave out --engine spark.",
        )
    if options.format == "auto" and layout.format in LINE_FORMATS:  # the headers of tables are compared
        for file in files[1:]:
            if (lines := _head(cluster, file)).strip():
                like_first(layout, columns, Text(name=file, blocks=[_loaded(lines, file).data], encoding=encoding))
    notes = read_text(text(), layout, columns).notes
    layout = notes.layout
    if layout.format == "basket" and columns.unit is not None:
        raise UsageError(
            "With Spark, lines of baskets have no unit column.",
            "Save the data as one item per row, or leave out --engine spark.",
        )
    said = Source(name=source, layout=layout, encoding=encoding, columns=columns)
    # As bytes: Spark treats every text as UTF-8, so the readers decode the lines themselves.
    frame, value = text_lines(cluster, sources), "cast(value as binary) value"
    if layout.format in LINE_FORMATS:
        return _mapped(cluster, frame.selectExpr(value), parsing.parse_lines, said, schema=READ_SCHEMA), notes
    frame = frame.selectExpr(value, "_metadata.file_block_start start", "xxhash64(_metadata.file_path) file")
    header = text_table(text(), layout.separator or ",", headerless=layout.headerless).header
    if layout.format == "long":
        said = replace(said, header=tuple(header), long=long_columns(header, columns))
        rows = _mapped(cluster, frame, parsing.parse_long_lines, said, schema=LONG_SCHEMA)
        return _grouped(cluster, rows, columns), notes
    transaction, unit = columns.of_rows(header)
    said = replace(said, header=tuple(header), positions=(transaction, unit))
    if transaction is not None:
        raise UsageError(
            "With Spark, a one-hot text has no transaction column to leave aside.", "Save the table as Parquet."
        )
    return _mapped(cluster, frame, parsing.parse_one_hot_lines, said, schema=READ_SCHEMA), notes


def _loaded(head: bytes, source: str) -> Content:
    """Load the head of a file with `load`, which refuses files of other kinds."""
    try:
        return load(io.BytesIO(head))
    except FimPrivateError as error:
        next_step = NO_DATABASE if error.next_step == GIVE_QUERY else error.next_step
        raise type(error)(error.what.replace("The open file", source), next_step) from None


def _column(name: str) -> Column:
    """The column of exactly this name. Spark gives a meaning to dots and backticks."""
    return col("`" + name.replace("`", "``") + "`")


def _mapped(cluster: Cluster, frame: DataFrame, parse: Parse, said: Source, *, schema: str) -> DataFrame:
    return cluster.map(frame, partial(parse, source=said), schema)


def _grouped(cluster: Cluster, rows: DataFrame, columns: Columns) -> DataFrame:
    """Bring the rows of a long table together by transaction."""
    together = rows.repartition(cluster.partitions_for(rows), "transaction")
    return cluster.map(together, partial(parsing.group_long, columns=columns), READ_SCHEMA)


def _refuse_repeated_transactions(cluster: Cluster, frame: DataFrame, columns: Columns) -> None:
    """Refuse a transaction column with repeated values if each row is a transaction, as local reading does."""
    if columns.transaction is None:
        return
    if columns.where is not None:
        raise UsageError(
            "With Spark, a table of one transaction per row cannot be filtered if its transaction column is named.",
            "Leave --transaction-column or --where out.",
        )
    name = frame.columns[find_column(frame.columns, columns.transaction, "--transaction-column")]
    text = coalesce(trim(_column(name).cast("string")), lit(""))
    found = cluster.collect(frame.agg(count(lit(1)).alias("rows"), count_distinct(text).alias("names")))
    if found.column("names")[0].as_py() < found.column("rows")[0].as_py():
        raise repeated_transaction()


def _coded(cluster: Cluster, raw: DataFrame, head: ReadingNotes, columns: Columns, *, insisted: bool) -> SparkDatabase:
    """The database, in codes of the vocabulary of all blocks together."""
    (note,) = cluster.collect(raw.selectExpr(*(f"coalesce(sum({name}), 0) {name}" for name in NOTED))).to_pylist()
    if not note["transactions"]:
        raise no_item(columns)
    if not insisted:
        refuse_single_items(note["single"], note["transactions"])
    elif columns.unit is None:
        ask_about_single_items(head.layout, note["single"], note["transactions"], refuse)
    names = cluster.collect(raw.selectExpr("explode(names) name").distinct())
    vocabulary = in_name_order(pl.Series(names.column("name").to_pylist(), dtype=pl.String))
    ask_about_occurrences(head.layout, note["occurrences"], note["transactions"], len(vocabulary), refuse)
    sent = cluster.broadcast(vocabulary)
    blocks = cluster.map(raw, partial(parsing.encode, sent=sent), SCHEMA).persist()
    # Compute the blocks now, while `raw` is still held; afterwards it is not needed.
    cluster.collect(blocks.groupBy().count())
    database = SparkDatabase(
        cluster=cluster,
        blocks=blocks,
        vocabulary=vocabulary,
        has_units=columns.unit is not None,
        notes=ReadingNotes(
            layout=head.layout,
            unused_unit=head.unused_unit,
            blanks=note["blanks"],
            duplicates=note["duplicates"],
            empty=note["empty"],
            rows_without_unit=note["rows_without_unit"],
            nobody=_nobody(cluster, raw) if columns.unit is not None else (),
            single_items=columns.unit is not None and seems_single(head.layout, note["single"], note["transactions"]),
        ),
    )
    raw.unpersist()
    return database


def _nobody(cluster: Cluster, raw: DataFrame) -> tuple[tuple[str, int], ...]:
    """Units with very many transactions that stand for nobody, see `units.nobody`."""
    sizes = raw.selectExpr("explode(units) unit").groupBy("unit").agg(count(lit(1)).alias("transactions"))
    (total,) = cluster.collect(sizes.selectExpr("sum(transactions) transactions", "count(*) units")).to_pylist()
    odd = lower(col("unit")).isin(*NOBODY) | (col("transactions") > LARGE * total["transactions"])
    rows = cluster.collect(sizes.where(odd)).to_pylist()
    return nobody([row["unit"] for row in rows], [row["transactions"] for row in rows], **total)
