"""Rows from databases: SQLite always, DuckDB and PostgreSQL where they are installed."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.transactions.layout import Layout
from fim_private.transactions.reading import read_transactions
from fim_private.transactions.sources.database import KEPT_TO, without_secrets
from tests.cli.command import PROMISE, end_with, fim_private, succeed, words
from tests.transactions.postgresql import PASSWORD, server
from tests.transactions.reading import as_sets, by_unit

QUERY = "SELECT invoice, item, customer FROM sales"
SALES = [(1, "milk", "ann", 2.0), (1, "bread", "ann", 1.5), (2, "tea", "bob", 1.0), (3, "milk", "ann", -1.0)]
TABLE = "CREATE TABLE sales (invoice INTEGER, item TEXT, customer TEXT, price REAL)"
ANN = frozenset({frozenset({"milk", "bread"}), frozenset({"milk"})})
BOB = frozenset({frozenset({"tea"})})


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(TABLE)
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?)", SALES)
    return path


def test_the_rows_of_a_query_are_read(shop: Path) -> None:
    for source in (shop, str(shop), f"sqlite:///{shop}", [shop]):
        transactions = read_transactions(source, query=QUERY, unit_column="customer")
        assert as_sets(transactions) == [{"milk", "bread"}, {"tea"}, {"milk"}]
        assert by_unit(transactions) == {ANN, BOB}
    layout = transactions.notes.layout
    assert (layout.kind, layout.query, layout.guessed) == (
        "SQLite", QUERY, ("format", "transaction_column", "item_column"),
    )  # fmt: skip
    assert layout.describe() == (
        f"long SQLite (query {QUERY!r}): transaction column 'invoice', item column 'item', unit column 'customer'"
    )
    assert Layout.of_record(layout.record()) == layout
    assert as_sets(read_transactions(shop, **layout.settings())) == as_sets(transactions)
    filtered = read_transactions(shop, query="SELECT * FROM sales;", where="price > 0")
    assert as_sets(filtered) == [{"milk", "bread"}, {"tea"}]


def test_values_have_the_names_of_typed_columns(shop: Path) -> None:
    """SQLite gives each cell a type of its own."""
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("CREATE TABLE t (tid, item)")
        cells = [(1, "milk"), (1.0, 7), ("1", 7.0), (2, "007"), (3, b"tea"), (None, None), (4, None)]
        connection.executemany("INSERT INTO t VALUES (?, ?)", cells)
    transactions = read_transactions(shop, query="SELECT tid, item FROM t", format="long")
    assert as_sets(transactions) == [{"milk", "7"}, {"007"}, {"tea"}]
    with pytest.raises(InputError, match="not text or numbers"):
        read_transactions(shop, query=f"SELECT 1 AS tid, x'ff' AS item {KEPT_TO}", format="long")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "sales",
        "DELETE FROM sales",
        "INSERT INTO sales SELECT * FROM sales",
        "SELECT 1; DELETE FROM sales",
        "SELECT 1 AS tid, 2 AS item; -- ;\n DROP TABLE sales",
        "PRAGMA writable_schema = 1",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "EXPLAIN SELECT 1",
        "SELECTION",
    ],
)
def test_what_is_not_one_select_is_refused(shop: Path, query: str) -> None:
    with pytest.raises(UsageError, match="not one SELECT"):
        read_transactions(shop, query=query)


def test_a_query_that_is_not_plain_has_to_be_answered_for(shop: Path) -> None:
    """Somebody else's row would decide which rows are read, which no noise covers."""
    query = "SELECT invoice, item FROM sales ORDER BY item LIMIT 2"
    with pytest.raises(UsageError, match="it has 'LIMIT'") as refused:
        read_transactions(shop, query=query)
    assert KEPT_TO in refused.value.next_step
    for comment in (f" {KEPT_TO}\n", "\n--One unit per row "):
        assert read_transactions(shop, query=query + comment).notes.layout.query is not None


def test_nothing_is_written(shop: Path) -> None:
    before = shop.read_bytes()
    for query in (
        f"WITH a AS (SELECT 1) INSERT INTO sales SELECT 9, 'x', 'y', 1 {KEPT_TO}",
        f"WITH a AS (SELECT 1) DELETE FROM sales {KEPT_TO}",
    ):
        with pytest.raises(InputError, match="SQLite did not answer the query"):
            read_transactions(shop, query=query)
    assert shop.read_bytes() == before
    assert [path.name for path in shop.parent.iterdir()] == ["shop.db"]
    query = f"SELECT invoice, item || '; -- x' AS item FROM sales /* a; b */ {KEPT_TO}"
    assert {"milk; -- x"} in as_sets(read_transactions(shop, query=query))


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("SELECT nothing FROM sales", "OperationalError"),
        ("SELECT * FROM nowhere", "OperationalError"),
        ("SELECT item, item FROM sales", "two columns of one name"),
        ("SELECT invoice, item FROM sales WHERE 0", "No item was found|without lists"),
        (f"SELECT load_extension('x') AS tid, 1 AS item {KEPT_TO}", "OperationalError"),
        (f"SELECT json(item) AS tid, 1 AS item FROM sales {KEPT_TO}", "OperationalError"),
    ],
)
def test_a_query_that_fails_says_so_without_data(shop: Path, query: str, word: str) -> None:
    with pytest.raises(InputError, match=word) as refused:
        read_transactions(shop, query=query)
    assert "milk" not in str(refused.value)
    assert "nowhere" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


def test_what_is_no_database_is_refused(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("milk,tea\n")
    with pytest.raises(UsageError, match="this is none that is known"):
        read_transactions(tmp_path / "a.csv", query=QUERY)
    with pytest.raises(UsageError, match="this is none that is known"):
        read_transactions("oracle://me:SECRET@host/shop", query=QUERY)
    for missing in (tmp_path / "b.db", f"sqlite:///{tmp_path}/b.db"):
        with pytest.raises(InputError, match="There is no file"):
            read_transactions(missing, query=QUERY)
    for several in ([shop, shop], sys.stdin):
        with pytest.raises(UsageError, match="for one database"):
            read_transactions(several, query=QUERY)
    with pytest.raises(UsageError, match="no sheets"):
        read_transactions(shop, query=QUERY, sheet=1)
    with pytest.raises(InputError, match="is an SQLite database") as refused:
        read_transactions(shop)
    assert "--query" in refused.value.next_step
    with pytest.raises(UsageError, match="Only a database can be read") as unasked:
        read_transactions("postgresql://me:SECRET@host/shop?sslmode=require")
    assert "SECRET" not in str(unasked.value)
    (tmp_path / "duck.csv").write_text("RUBBER, DUCK\nmilk\n")
    assert as_sets(read_transactions(tmp_path / "duck.csv")) == [{"RUBBER", "DUCK"}, {"milk"}]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("postgresql://me:secret@host:5432/shop?password=secret", "postgresql://"),
        ("postgres://me@host/shop", "postgresql://"),
        ("sqlite:////data/shop.db", "shop.db"),
        ("sqlite:///shop.db", "shop.db"),
        ("duckdb:///data/shop%20two.duckdb", "shop two.duckdb"),
        ("/data/shop.db", "shop.db"),
    ],
)
def test_an_address_is_shown_without_secrets(source: str, shown: str) -> None:
    assert without_secrets(source) == shown


@pytest.mark.parametrize("library", ["psycopg", "duckdb"])
def test_without_its_library_the_message_says_how_to_get_it(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    path = tmp_path / "shop.duckdb"
    path.write_bytes(b"checksumDUCK@" + bytes(100))
    source = "postgresql://me:SECRET@host/shop" if library == "psycopg" else path
    with pytest.raises(UsageError, match="is missing") as refused:
        read_transactions(source, query=QUERY)
    assert "pip install 'fim_private[databases]'" in refused.value.next_step
    assert "SECRET" not in str(refused.value)


def test_duckdb_is_read(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLE)
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?)", SALES)
    (tmp_path / "other.csv").write_text("tid,item\n1,SECRET\n")
    for source in (path, f"duckdb:///{path}"):
        assert by_unit(read_transactions(source, query=QUERY, unit_column="customer")) == {ANN, BOB}
    with pytest.raises(InputError, match="is a DuckDB database"):
        read_transactions(path)
    for query in (f"SELECT * FROM '{tmp_path}/other.csv'", "WITH a AS (SELECT 1) DELETE FROM sales"):
        with pytest.raises(InputError, match="DuckDB did not answer the query") as refused:
            read_transactions(path, query=f"{query} {KEPT_TO}")
        assert "SECRET" not in str(refused.value)
    with pytest.raises(InputError, match="DuckDB did not answer the query") as refused:
        read_transactions(path, query="SELECT item::int AS tid, 1 AS item FROM sales")
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None, "DuckDB quotes the value"


def test_the_command_mines_a_query_that_only_a_person_can_ask(shop: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection, connection:
        rows = [(number, item, f"c{number}", 1) for number in range(10, 900) for item in ("jam", "mug")]
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?)", rows)
    output = tmp_path / "release.json"
    asked = ("--size", 2, "--top", 1, *PROMISE)
    done = succeed("mine", "--explain", f"sqlite:///{shop}", *asked, "--query", QUERY, "-o", output)
    assert "jam + mug" in done.stdout.decode()
    said = " ".join(words(done).split())
    assert f"taken as public: long SQLite (query {QUERY!r}): transaction column 'invoice'" in said
    assert "Each of them, and whether it is there, has to depend on one unit alone" in said
    release = json.loads(output.read_text())
    assert release["command"].startswith("fim-private mine shop.db --size 2")
    # Whoever wrote a release may not choose what a database is asked.
    refused = end_with(2, "mine", shop, "--config", output)
    assert "was made by a run that asked a database" in words(refused)
    again = fim_private("mine", shop, "--config", output, "--query", QUERY)
    assert "jam + mug" in again.stdout.decode(), words(again)


@pytest.mark.slow
def test_postgresql_is_read_and_its_password_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as address:
        import psycopg

        full = f"postgresql://shop:{PASSWORD}@{address}"
        with psycopg.connect(full) as connection:
            connection.execute(
                "CREATE TABLE sales (invoice bigint, item text, customer uuid, price numeric(9, 2), day timestamp)"
            )
            connection.execute("CREATE SEQUENCE numbers")
            rows: list[Any] = [(number, item, number // 2, "1.50") for number in range(1600) for item in ("jam", "mug")]
            connection.cursor().executemany(
                "INSERT INTO sales VALUES (%s, %s, lpad(%s::text, 32, '0')::uuid, %s, '2011-01-05')", rows
            )
            connection.commit()
        transactions = read_transactions(full, query=QUERY, unit_column="customer")
        assert as_sets(transactions) == [{"jam", "mug"}] * 1600
        assert int(transactions.units.max()) == 799
        typed = read_transactions(
            full,
            query=f"SELECT day AS tid, price AS item FROM sales LIMIT 9 {KEPT_TO}",
            where="tid >= '2011-01-05'",
            format="long",
        )
        assert as_sets(typed) == [{"1.5"}]
        for query in (
            "SELECT * FROM nowhere",
            "SELECT nothing FROM sales",
            "SELECT item::int AS tid, 1 AS item FROM sales",
            f"WITH gone AS (DELETE FROM sales RETURNING *) SELECT * FROM gone {KEPT_TO}",
            f"SELECT nextval('numbers') AS tid, 2 AS item {KEPT_TO}",
        ):
            with pytest.raises(InputError, match=r"PostgreSQL did not answer the query \(\w+\)"):
                read_transactions(full, query=query)
        assert len(read_transactions(full, query=QUERY)) == 1600
        for wrong in (full.replace(PASSWORD, "SECRET-WRONG"), f"postgresql://shop:{PASSWORD}@127.0.0.1:1/x"):
            with pytest.raises(FimPrivateError) as refused:
                read_transactions(wrong, query=QUERY)
            assert "SECRET" not in str(refused.value)
            assert "127.0.0.1" not in str(refused.value)

        asked = ("--query", QUERY, "--size", 2, "--top", 1, "--epsilon", 1, "--delta", "1e-6")
        asked = (*asked, "--unit-column", "customer")
        ledger, output = tmp_path / "shop.ledger", tmp_path / "release.json"
        succeed("budget", "create", ledger, "--epsilon", 9, "--delta", "1e-4")
        done = succeed("mine", full, *asked, "--ledger", ledger, "-o", output)
        assert "jam + mug" in done.stdout.decode()
        assert json.loads(output.read_text())["command"].startswith("fim-private mine postgresql:// --size 2")
        written = [*ledger.parent.glob("*"), output]
        told = done.stdout + done.stderr + b"".join(path.read_bytes() for path in written if path.is_file())
        for secret in (PASSWORD, address, "shop:"):
            assert secret.encode() not in told
        # What the address leaves out comes from the environment.
        host, port = address.split("/")[0].split(":")
        for name, value in (
            ("HOST", host),
            ("PORT", port),
            ("USER", "shop"),
            ("PASSWORD", PASSWORD),
            ("DATABASE", "postgres"),
        ):
            monkeypatch.setenv(f"PG{name}", value)
        succeed("mine", "postgresql://", "--config", output, *asked[:2], "--ledger", ledger)
