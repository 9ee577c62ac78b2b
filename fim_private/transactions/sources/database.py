"""Rows that one query gives, from PostgreSQL, SQLite or DuckDB, as a table of columns of text. Nothing is written.

Privacy: the query is public, like the rest of the layout. The database may compute anything over all its rows, and the
promise covers only what happens to the rows that the query gives. So each of them, and whether it is in the answer, has
to depend on one unit alone. A query that is not plain (`plain_query.py`) has to say that they do.

Messages name neither the database nor its user, because addresses hold passwords, and quote nothing that it says.
"""

from __future__ import annotations

import importlib.util
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import UUID

import polars as pl

from fim_private.errors import InputError, UsageError
from fim_private.transactions.columns.column_table import FrameTable, as_text
from fim_private.transactions.files.source import DUCKDB, HEAD, is_address, shown
from fim_private.transactions.sources.plain_query import first_odd

SERVERS = ("postgresql://", "postgres://")
FILES = {"sqlite": "SQLite", "duckdb": "DuckDB"}
"""The schemes of addresses of files, and the kinds of database."""

SQLITE = b"SQLite format 3\0"
ROWS_AT_ONCE = 1 << 16

NAME = "The database"
INSTALL = "Run pip install 'fim_private[databases]', or save the table as CSV or Parquet."
ONE_SELECT = (
    "Write one query that begins with SELECT or WITH, as in --query 'SELECT invoice, item, customer FROM sales'."
)

ASIDE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$", re.DOTALL)
"""Texts, quoted names and comments, in which a semicolon ends nothing."""

KEPT_TO = "/* one unit per row */"
"""The comment at the end of a query that is not plain, with which its writer answers for it."""
ANSWERED_FOR = re.compile(r"(/\*\s*one unit per row\s*\*/|\s--\s*one unit per row)\s*$", re.IGNORECASE)


def without_secrets(source: str) -> str:
    """An address as it may be shown: a server without its name and user, a file by its name alone.

    >>> without_secrets("postgresql://me:secret@host/shop"), without_secrets("sqlite:////data/shop.db")
    ('postgresql://', 'shop.db')
    """
    if source.startswith(SERVERS):
        return SERVERS[0]
    return Path(unquote(source)).name


def query_table(source: str, query: str) -> FrameTable:
    """The rows that a query gives, with the columns that it names. Values are named as in `values.name_of`.

    Args:
        source: the address of a server (`postgresql://...`) or of a file (`sqlite:///shop.db`), or a file's path. What
            an address of a server leaves out, such as the password, is taken from libpq's environment (PGPASSWORD and
            others) and files.
        query: one SELECT.

    Errors:
        InputError: there is no such database, or it refuses the user or the query; the query gives no column, two of
            one name, or a value that has no name.
        UsageError: the query is not one SELECT, the address is of no known kind, or a library is missing.

    Cost: the whole answer in memory, as text.
    """
    _refuse_others(query)
    kind, open_connection = _database(source)
    names: list[str] = []
    parts: list[list[pl.Series]] = []
    refused: InputError | None = None
    try:
        with closing(open_connection()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(query.rstrip().rstrip(";"))
            names = [str(column[0]) for column in cursor.description or ()]
            parts.extend(_texts(cursor, len(names)))
    except (InputError, UsageError, MemoryError):
        raise
    except Exception as error:
        refused = _refused(kind, error)
    if refused is not None:
        # Raised outside of the except block, it does not keep the library's error, which may quote the data.
        raise refused
    if not names or len(set(names)) < len(names):
        raise InputError("The query gives two columns of one name, or none.", "Name its columns: SELECT a AS b.")
    first = [pl.Series([], dtype=pl.String) for _ in names]
    columns = [pl.concat(column) for column in zip(*[first, *parts], strict=True)]
    frame = pl.DataFrame([column.alias(name) for name, column in zip(names, columns, strict=True)])
    return FrameTable(frame=frame, name=NAME, kind=kind)


def _texts(cursor: Any, width: int) -> Iterator[list[pl.Series]]:
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        values = [[_plain(row[at]) for row in rows] for at in range(width)]
        yield [as_text(pl.Series(column, dtype=pl.Object), "--query") for column in values]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value


def _refuse_others(query: str) -> None:
    """Refuse what is not one SELECT, and one in which other people's rows may decide about a row.

    Connections are read-only all the same.
    """
    bare = ASIDE.sub(" ", query).strip().rstrip(";")
    if not re.match(r"(SELECT|WITH)\b", bare, re.IGNORECASE) or ";" in bare:
        raise UsageError("--query is not one SELECT.", ONE_SELECT)
    odd = first_odd(query)
    if odd is not None and not ANSWERED_FOR.search(query):
        raise UsageError(
            f"--query is more than columns of one table and conditions on the row itself: it has {odd!r}. Then other "
            "people's rows may decide what is in a row, or whether it is there. The promise does not cover that.",
            f"If each row, and whether it is there, depends on one unit alone, end the query with: {KEPT_TO}",
        )


def _database(source: str) -> tuple[str, Callable[[], Any]]:
    """The kind of database, and a function that connects to it without leave to write."""
    if source.startswith(SERVERS):
        _need("psycopg", "PostgreSQL")
        return "PostgreSQL", lambda: _postgresql(source)
    scheme, mark, path = source.partition(":///")
    if mark:
        path = unquote(path)
        kind = FILES.get(scheme.lower())
    elif is_address(source):
        kind = None
    else:
        path = source
        kind = _kind_of_file(path)
    if kind is None:
        raise UsageError(
            "--query is for databases, and this is none that is known.",
            "Give postgresql://..., or the path of an SQLite or DuckDB file, or leave --query out.",
        )
    if not Path(path).is_file():
        raise InputError(f"There is no file {shown(path)}.", "Check the path.")
    if kind == "DuckDB":
        _need("duckdb", kind)
        return kind, lambda: _duckdb(path)
    return kind, lambda: _sqlite(path)


def _kind_of_file(path: str) -> str | None:
    try:
        with Path(path).open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        raise InputError(f"There is no file {shown(path)}.", "Check the path.") from None
    except (OSError, ValueError):
        raise InputError(f"{shown(path)} cannot be opened.", "Check the path and its permissions.") from None
    if head.startswith(SQLITE):
        return "SQLite"
    return "DuckDB" if DUCKDB.match(head) else None


def _need(library: str, kind: str) -> None:
    if importlib.util.find_spec(library) is None:
        raise UsageError(f"The library that reads {kind} is missing.", INSTALL)


def _sqlite(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _duckdb(path: str) -> Any:
    import duckdb  # noqa: PLC0415 - an extra

    # The query reads this database and no other file.
    return duckdb.connect(path, read_only=True, config={"enable_external_access": "false"})


def _postgresql(address: str) -> Any:
    import psycopg  # noqa: PLC0415 - an extra

    try:
        connection = psycopg.connect(address, application_name="fim-private")
    except psycopg.OperationalError:
        raise InputError(
            "PostgreSQL could not be reached, or it refused the user or the password.",
            "Check that the server runs, the address, and PGUSER and PGPASSWORD or ~/.pgpass.",
        ) from None
    connection.read_only = True
    return _Streamed(connection)


class _Streamed:
    """A connection to PostgreSQL whose cursors stay at the server, so that rows come a few at a time."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def cursor(self) -> Any:
        return self._connection.cursor("fim_private")

    def close(self) -> None:
        self._connection.close()


def _refused(kind: str, error: Exception) -> InputError:
    """The error for what a library said, of which only the kind of error is shown: UndefinedTable, InvalidPassword."""
    return InputError(
        f"{kind} did not answer the query ({type(error).__name__}).",
        "Check the names and types in the query, the address and the user's rights. The database's program says more.",
    )
