"""What is plain, and that nothing else is: databases know more words and quotes than anybody can list."""

from __future__ import annotations

import pytest

from fim_private.transactions.sources.plain_query import first_odd

PLAIN = [
    "SELECT invoice, item, customer FROM sales",
    "select * from sales;",
    "SELECT s.*, 1 AS one FROM shop.sales s",
    "SELECT invoice, item i FROM sales AS s WHERE price > 0 AND NOT cancelled ORDER BY item DESC, invoice",
    "SELECT invoice, CASE WHEN price > 0 THEN item ELSE 'x' END AS item FROM sales",
    "SELECT CAST(invoice AS varchar(10)) AS i, lower(trim(item)) item FROM sales",
    "SELECT invoice::text, item FROM sales WHERE customer IS NOT DISTINCT FROM 'K1'",
    "SELECT invoice, item FROM sales WHERE day >= DATE '2011-01-01' AND item NOT LIKE 'it''s%'",
    'SELECT invoice, "my limit", item AS "group by" FROM "select" -- that\'s all',
    "SELECT invoice, -price AS item, a*b AS c, (a+b)*2 AS d FROM sales WHERE s.limit > 0 AND x IN (1, 2)",
    "SELECT item||'; -- limit' AS item, invoice FROM sales\r\nWHERE price >= 1e-3 -- group by\n",
]
"""Queries that a shop writes."""
NOT_PLAIN = [
    ("LIMIT", "SELECT a FROM s LIMIT 2"),
    ("LIMIT", "SELECT a FROM s WHERE x > 1 ORDER BY a, b LIMIT 4"),
    ("OFFSET", "SELECT a FROM s ORDER BY a OFFSET 2"),
    ("FETCH", "SELECT a FROM s FETCH FIRST ROW ONLY"),
    ("GROUP", "SELECT a FROM s WHERE x > 1 GROUP\n BY a"),
    ("HAVING", "SELECT a FROM s HAVING a > 1"),
    ("DISTINCT", "SELECT DISTINCT a FROM s"),
    ("rank", "SELECT a, rank () OVER (PARTITION BY b) FROM s"),
    ("QUALIFY", "SELECT a FROM s QUALIFY x"),
    ("UNION", "SELECT a FROM s UNION SELECT 1"),
    ("SELECT", "SELECT a FROM s WHERE x = (SELECT y FROM s)"),
    ("EXISTS", "SELECT a FROM s WHERE EXISTS (FROM sales t WHERE t.customer = 'K9')"),
    ("EXISTS", "SELECT a FROM s WHERE EXISTS (VALUES (1))"),
    ("TABLE", "SELECT a FROM s WHERE customer IN (TABLE vip)"),
    ("IN", "SELECT a FROM s WHERE customer IN vip"),
    ("ANY", "SELECT a FROM s WHERE a = ANY (b)"),
    ("JOIN", "SELECT s.a FROM s JOIN s t ON t.b = s.b"),
    ("NATURAL", "SELECT a FROM s NATURAL JOIN t"),
    (",", "SELECT * FROM s, t"),
    ("(", "SELECT * FROM (PIVOT s ON item)"),
    ("(", "SELECT * FROM query('x')"),
    ("TABLESAMPLE", "SELECT a FROM s TABLESAMPLE BERNOULLI (10)"),
    ("USING", "SELECT a FROM s USING SAMPLE 10%"),
    ("max", "SELECT max(a) FROM s"),
    ("bool_or", "SELECT bool_or(a) FROM s"),
    ("mode", "SELECT mode(COLUMNS(*)) FROM s"),
    ('"count"', 'SELECT "count"(*), 1 x FROM s'),
    ("s.count", "SELECT s.count AS n, 1 AS x FROM s"),
    ('s . "jsonb_agg"', 'SELECT 1 AS x, (s . "jsonb_agg")::text AS n FROM s'),
    ("rowid", "SELECT a FROM s WHERE rowid % 2 = 0"),
    ('s."_rowid_"', 'SELECT a FROM s WHERE s."_rowid_" <= 5'),
    ("ctid", "SELECT ctid AS a, b FROM s"),
    ("s.xmin", "SELECT a, b FROM s WHERE s.xmin::text < '800'"),
    ("CMAX", "SELECT a, CMAX AS b FROM s"),
    ("&", 'SELECT U&"\\0063ount"(*) FROM s'),
    ("(", "SELECT a FROM s ORDER BY count(*)"),
    ("(", "SELECT (a) (b) FROM s"),
    ("TABLE", "WITH a AS (TABLE s) TABLE a"),
    ("no FROM, or several", "SELECT 1 AS a"),
    # Quotes and comments of one database, which hide or show a word in another one.
    ("[", "SELECT a, b AS [shop's] FROM s LIMIT 2 /* that's all */"),
    ("`", "SELECT a, b AS `shop's` FROM s LIMIT 2 -- '"),
    ("E", "SELECT a FROM s WHERE b <> E'shop\\'s' LIMIT 2 -- that's all"),
    ("'", "SELECT a FROM s WHERE b <> 'shop\\'s' LIMIT 2 -- that's all"),
    ("$", "SELECT a AS a$$ FROM s LIMIT 2 -- $$"),
    ("-", "SELECT a FROM s -- x\r LIMIT 2"),
    ("/", "SELECT a FROM s /* /* */ ' */ LIMIT 2 /* /* */ ' */"),
    (";", "SELECT a FROM s; SELECT b FROM s"),
]


@pytest.mark.parametrize("query", PLAIN)
def test_columns_of_one_table_and_conditions_on_the_row_are_plain(query: str) -> None:
    assert first_odd(query) is None


@pytest.mark.parametrize(("odd", "query"), NOT_PLAIN)
def test_what_else_there_is_is_not_plain(odd: str, query: str) -> None:
    assert first_odd(query) == odd
    assert first_odd(query.lower()) is not None
