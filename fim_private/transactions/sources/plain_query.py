"""Whether a query is plain: columns of one table, and conditions on the row itself.

Then nobody else's rows decide what is in a row of the answer, or whether it is there. Databases know many more words,
functions and ways to quote than can be listed. So this knows only what is plain, and everything else is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<skipped> (?:[ \t\n]|\r\n)+ | --[^\r\n]*(?=\r?\n|\Z) )
  | (?P<literal> '(?:[^'\\]|'')*' | \d+(?:\.\d+)?(?:[eE][+-]?\d+)? | (?:DATE|TIME|TIMESTAMP|INTERVAL)[ ]+'[^'\\]*' )
  | (?P<operator> IS\s+(?:NOT\s+)?DISTINCT\s+FROM\b | ::\s*[^\W\d]\w* | \|\| | [<>=!]+ | [-+*/%](?![-*]) )
  | (?P<mark> [(),] )
  | (?P<name> (?:[^\W\d]\w*|"[^"]*") (?:\s*\.\s*(?:[^\W\d]\w*|"[^"]*"))* (?:\s*\.\s*\*)? (?!['"]) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPERATORS = re.compile("AND|OR|NOT|IS|IN|LIKE|ILIKE|GLOB|BETWEEN|ESCAPE|AS|CASE|WHEN|THEN|ELSE|END")
_FUNCTIONS = re.compile(
    "ABS|CAST|COALESCE|CONCAT|DATE|DATETIME|DATE_TRUNC|IFNULL|LENGTH|LOWER|LTRIM|NULLIF|REPLACE|ROUND|RTRIM|STRFTIME"
    "|SUBSTR|SUBSTRING|TIME|TO_CHAR|TRIM|UPPER|CHAR|DECIMAL|NUMERIC|VARCHAR"
)
"""Functions, and types with a length, that see one row alone."""
_RESERVED = re.compile(
    "ALL|ANY|DISTINCT|EXCEPT|EXISTS|FETCH|FILTER|FROM|GROUP|HAVING|INTERSECT|JOIN|LIMIT|NATURAL|OFFSET|OVER|PIVOT|QUALIFY"
    "|SAMPLE|SELECT|SOME|SUMMARIZE|TABLE|TABLESAMPLE|UNION|UNPIVOT|USING|VALUES|WINDOW|WITH|WITHIN"
)
"""No names of columns or tables, unless they are quoted or stand behind a full stop."""
_OF_ALL_ROWS = re.compile(r'.*\.\s*"?(COUNT|MIN|MAX|ANY_VALUE|XMLAGG|\w+_AGG)"?')
"""PostgreSQL takes s.count for count(s) if s has no such column."""
_PLACE = re.compile(r'(?:.*\.\s*)?"?(?:ROWID|_ROWID_|OID|CTID|[XC]M(?:IN|AX))"?')
"""Where a row is stored, and in PostgreSQL by which of all changes of the database it was written, which depends on the
rows before it: `rowid <= 5` is another `LIMIT 5`."""


class _Token(NamedTuple):
    kind: str
    text: str
    word: str
    """The text in capitals, with single blanks."""


def first_odd(query: str) -> str | None:
    """The first piece with which a query is not plain; None if it is.

    >>> first_odd("SELECT invoice, lower(item) AS item FROM sales WHERE price > 0 AND customer IN ('a', 'b')")
    >>> first_odd("SELECT invoice, item FROM sales LIMIT 5")
    'LIMIT'
    """
    try:
        tokens = list(_tokens(query))
    except ValueError as error:
        return str(error)
    words = [token.word for token in tokens]
    if words[:1] != ["SELECT"] or words.count("FROM") != 1:
        return next((word for word in words[1:] if word != "FROM" and _RESERVED.fullmatch(word)), "no FROM, or several")
    start = words.index("FROM")
    end = next((at for at in range(start, len(words)) if words[at] in ("WHERE", "ORDER")), len(words))
    order = next((at for at in range(end, len(words)) if words[at] == "ORDER"), len(words))
    return (
        _odd_expression(tokens[1:start], aliases=True)
        or _odd_table(tokens[start + 1 : end])
        or _odd_expression(tokens[end + 1 : order], aliases=False)
        or _odd_order(tokens[order:])
    )


def _tokens(query: str) -> Iterator[_Token]:
    at, text = 0, query.rstrip().removesuffix(";")
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(text[at : at + 1])
        at = found.end()
        if found.lastgroup != "skipped":
            yield _Token(str(found.lastgroup), found[0], " ".join(found[0].upper().split()))


def _odd_table(tokens: list[_Token]) -> str | None:
    """What is odd beside one table, perhaps with another name."""
    names = [token for token in tokens if token.word != "AS"]
    for token in names:
        if token.kind != "name" or _RESERVED.fullmatch(token.word):
            return token.text
    return names[2].text if len(names) > 2 else None if names else "FROM"


def _odd_order(tokens: list[_Token]) -> str | None:
    """What is odd in ORDER BY and a list of columns."""
    if tokens and [token.word for token in tokens[1:2]] != ["BY"]:
        return tokens[0].text
    plain = [token for token in tokens[2:] if token.word not in ("ASC", "DESC")]
    for place, token in enumerate(plain):
        if (place % 2 == 1 and token.text != ",") or _RESERVED.fullmatch(token.word) or token.kind == "operator":
            return token.text
    return None


def _odd_expression(tokens: list[_Token], *, aliases: bool) -> str | None:
    """What is odd in expressions between commas, each perhaps with another name if there may be `aliases`."""
    value = False  # whether the last token ends a value
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else _Token("mark", ",", ",")
        if token.text == "(":
            if value:
                return token.text
        elif token.text == ")":
            value = True
        elif token.text == "," or token.kind == "operator":
            value = token.text == "*" and not value  # a star may stand for all columns
        elif token.kind == "name" and _OPERATORS.fullmatch(token.word):
            if token.word == "IN" and after.text != "(":
                return token.text
            value = token.word == "END"
        elif any(odd.fullmatch(token.word) for odd in (_RESERVED, _OF_ALL_ROWS, _PLACE)):
            return token.text
        elif after.text == "(" and token.kind == "name":
            if not _FUNCTIONS.fullmatch(token.word) or value:
                return token.text
        elif value and not (aliases and token.kind == "name" and after.text == ","):
            return token.text
        else:
            value = True
    return None
