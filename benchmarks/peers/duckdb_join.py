"""DuckDB: a self-join of a table of two columns for each further member, grouped; it reads the file itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from benchmarks.peers.polars_join import refuses_joins
from benchmarks.peers.protocol import Itemsets, Peer
from benchmarks.peers.reading import separator_of


def _load(path: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute("SET enable_progress_bar = false")
    connection.execute(
        "CREATE TABLE lines AS SELECT row_number() OVER () AS transaction, line "
        "FROM read_csv($path, columns = {'line': 'VARCHAR'}, header = false, delim = '\x01', quote = '', escape = '')",
        {"path": str(path)},
    )
    split = "SELECT transaction, unnest(string_split(line, $separator)) AS item FROM lines"
    connection.execute(f"CREATE TABLE words AS {split}", {"separator": separator_of(path)})
    # Codes rather than words: whole numbers as they are, names by an enumeration.
    numbers = connection.execute("SELECT count(*) = count(try_cast(item AS INTEGER)) FROM words").fetchone()
    kind = "INTEGER"
    if numbers is None or not numbers[0]:
        connection.execute("CREATE TYPE name AS ENUM (SELECT DISTINCT item FROM words ORDER BY item)")
        kind = "name"
    connection.execute(
        f"CREATE TABLE baskets AS SELECT CAST(transaction AS INTEGER) AS transaction, CAST(item AS {kind}) AS item "
        "FROM words"
    )
    connection.execute("DROP TABLE words")
    connection.execute("DROP TABLE lines")
    return connection


def _count(connection: duckdb.DuckDBPyConnection, size: int, floor: int) -> Any:
    members = [f"b{member}.item" for member in range(1, size + 1)]
    joins = "".join(
        f" JOIN kept b{member} ON b{member}.transaction = b1.transaction AND b{member - 1}.item < b{member}.item"
        for member in range(2, size + 1)
    )
    frequent = f" WHERE item IN (SELECT item FROM baskets GROUP BY item HAVING count(*) >= {floor})"
    columns = ", ".join(f"{member} AS item_{place}" for place, member in enumerate(members, 1))
    query = (
        f"WITH kept AS (FROM baskets{frequent if floor > 1 else ''}) "
        f"SELECT {columns}, count(*) AS count FROM kept b1{joins} GROUP BY {', '.join(members)}"
        f" HAVING count(*) >= {floor}"
    )
    return connection.sql(query).to_arrow_table()


def _itemsets(_connection: Any, found: Any) -> Itemsets:
    *members, counts = (column.to_pylist() for column in found.columns)
    rows = zip(*members, strict=True)
    return {tuple(sorted(map(str, row))): count for row, count in zip(rows, counts, strict=True)}


JOIN = Peer(
    delivers="an Arrow table of items and counts",
    load=_load,
    count=_count,
    number=lambda found: int(found.num_rows),
    itemsets=_itemsets,
    refuses=refuses_joins,
    close=lambda connection: connection.close(),
)
