"""The language of `--where`: a part of SQL in which the answer for a row depends on that row alone.

    condition = condition AND condition | condition OR condition | NOT condition | ( condition )
              | COLUMN [NOT] LIKE TEXT | COLUMN [NOT] IN ( VALUE, ... ) | COLUMN [NOT] BETWEEN VALUE AND VALUE
              | COLUMN IS [NOT] NULL | COLUMN = VALUE | VALUE < COLUMN | ...

There are no functions, no aggregates, no windows and no subqueries: whatever is not in this grammar is refused.
"""

from __future__ import annotations

import math
import re

import polars as pl

from fim_private.errors import UsageError

LONGEST, DEEPEST = 10_000, 50
"""The most characters of a condition, and the most parentheses inside each other."""

EXACT = 2**53
"""Whole numbers from here on are not exact in floating point."""

TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])
        | (?P<word>[^\W\d]\w*)
        | "(?P<quoted>(?:[^"]|"")+)"
        | '(?P<text>(?:[^']|'')*)'
        | (?P<sign><>|!=|<=|>=|[=<>(),+-])
    )""",
    re.VERBOSE,
)
WORDS = {"AND", "OR", "NOT", "LIKE", "IN", "IS", "NULL", "BETWEEN", "TRUE", "FALSE"}
TURNED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""Comparisons, and what they are with their sides exchanged."""

TRUTHS = ("true", "false")
"""Words that need no quotes, and whose case does not count."""

COMPARE = {"=": pl.Expr.eq, "<>": pl.Expr.ne, "<": pl.Expr.lt, "<=": pl.Expr.le, ">": pl.Expr.gt, ">=": pl.Expr.ge}

DATE = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?)?(?:Z|\+00:00)?"
)

HOW = (
    "Compare columns with numbers or 'text', as in \"Unit price\" > 1.5 AND InvoiceNo NOT LIKE 'C%', with double "
    "quotes around names that are not one word. There are AND, OR, NOT, LIKE, IN, BETWEEN and IS NULL. Functions, "
    "aggregates and SELECT are refused: each row must be decided by itself."
)

QUOTED = "Write dates in quotes, as in '2025-12-31'."
DECIMAL = "Write numbers with a decimal point, as in 1.5, not 1,5."

NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
SPECIAL = set("\\.+*?()|[]{}^$")

Value = float | str


def condition_of(text: str) -> tuple[pl.Expr, list[str]]:
    """The condition that a text says, and the columns that it names, each once.

    The expression is for a frame of texts without blanks around them, null where a cell is blank, whose columns are
    called "0", "1", ... in the order of the names. As in SQL, it is null for a row where a cell is blank, or no number
    or date where one is needed, unless the other cells decide.

    >>> condition_of("Quantity > 0 AND Description IS NOT NULL")[1]
    ['Quantity', 'Description']

    Errors:
        UsageError: the text says no condition of this language.
    """
    if len(text) > LONGEST:
        raise UsageError("--where is too long.", f"Write a condition of at most {LONGEST:,} characters.")
    tokens = _Tokens(text)
    condition = _some(tokens, 0)
    if not tokens.at_end:
        raise tokens.refusal()
    return condition, list(tokens.columns)


class _Tokens:
    """The tokens of a text, one after another."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        self._starts: list[int] = []
        self._next = 0
        self.columns: dict[str, pl.Expr] = {}
        at, end = 0, len(text.rstrip())
        while at < end:
            found = TOKEN.match(text, at)
            if found is None:
                raise UsageError(f"--where cannot be read from character {at + 1} on.", HOW)
            kind = str(found.lastgroup)
            self._tokens.append((kind, found[kind]))
            self._starts.append(at)
            at = found.end()
        self._tokens.append(("end", ""))

    @property
    def at_end(self) -> bool:
        return self._tokens[self._next][0] == "end"

    def take(self, *wanted: str) -> str | None:
        """The next token if it is one of these words or signs, which are in capitals; it is then used up."""
        kind, token = self._tokens[self._next]
        shown = token.upper() if kind == "word" else token
        if kind not in ("word", "sign") or shown not in wanted:
            return None
        self._next += 1
        return shown

    def need(self, *wanted: str) -> str:
        """The next token, which has to be one of these."""
        if (token := self.take(*wanted)) is None:
            raise self.refusal()
        return token

    def take_column(self) -> str | None:
        """The next token if it names a column."""
        kind, token = self._tokens[self._next]
        if kind not in ("word", "quoted") or (kind == "word" and token.upper() in WORDS):
            return None
        self._next += 1
        if kind == "word" and self._is_called(self._next):
            raise _no_functions(token)
        name = token.replace('""', '"') if kind == "quoted" else token
        self.columns.setdefault(name, pl.col(str(len(self.columns))))
        return name

    def value(self) -> Value:
        """The next token, which has to be a number, perhaps with a sign, or a text."""
        sign = self.take("-", "+")
        kind, token = self._tokens[self._next]
        if kind == "number":
            self._next += 1
            number = float(token)
            if number >= EXACT or math.isinf(number):
                raise UsageError("--where holds a number that is too large to be exact.", "Quote it: it is then text.")
            return -number if sign == "-" else number
        if sign is not None or not (kind == "text" or (kind == "word" and token.lower() in TRUTHS)):
            raise self.refusal()
        self._next += 1
        return self._filled(token)

    def pattern(self) -> str:
        """The next token, which has to be a text."""
        kind, token = self._tokens[self._next]
        if kind != "text":
            raise self.refusal()
        self._next += 1
        return self._filled(token)

    def refusal(self) -> UsageError:
        """The error for whatever comes next."""
        if self.at_end:
            return UsageError("--where ends in the middle of a condition.", HOW)
        kind, token = self._tokens[self._next]
        if kind == "word" and token.upper() == "NULL":
            return UsageError("Nothing equals NULL.", "Write COLUMN IS NULL or COLUMN IS NOT NULL in --where.")
        if kind == "word" and self._is_called(self._next + 1):
            raise _no_functions(token)
        shown = f"{token!r}, its character {self._starts[self._next] + 1}"
        behind_number = self._tokens[self._next - 1][0] == "number"
        how = {",": DECIMAL, "-": QUOTED}.get(token, HOW) if behind_number and kind == "sign" else HOW
        return UsageError(f"--where does not go on as a condition at {shown}.", how)

    def _is_called(self, place: int) -> bool:
        return self._tokens[place : place + 1] == [("sign", "(")]

    def _filled(self, token: str) -> str:
        text = token.replace("''", "'").strip()
        if not text:
            raise UsageError(
                "In --where, no cell equals a blank text.",
                "Write COLUMN IS NULL or COLUMN IS NOT NULL for blank cells.",
            )
        return text


def _no_functions(name: str) -> UsageError:
    return UsageError(f"--where calls {name}(...), and functions are not known there.", HOW)


def _some(tokens: _Tokens, depth: int) -> pl.Expr:
    parts = [_all(tokens, depth)]
    while tokens.take("OR"):
        parts.append(_all(tokens, depth))
    return pl.any_horizontal(parts)


def _all(tokens: _Tokens, depth: int) -> pl.Expr:
    parts = [_negation(tokens, depth)]
    while tokens.take("AND"):
        parts.append(_negation(tokens, depth))
    return pl.all_horizontal(parts)


def _negation(tokens: _Tokens, depth: int) -> pl.Expr:
    negated = False
    while tokens.take("NOT"):
        negated = not negated
    condition = _single(tokens, depth)
    return ~condition if negated else condition


def _single(tokens: _Tokens, depth: int) -> pl.Expr:
    if tokens.take("("):
        if depth >= DEEPEST:
            raise UsageError("--where has too many parentheses inside each other.", "Write a simpler condition.")
        condition = _some(tokens, depth + 1)
        tokens.need(")")
        return condition
    column = tokens.take_column()
    if column is None:
        value = tokens.value()
        sign = _sign(tokens.need(*TURNED, "!="))
        if (column := tokens.take_column()) is None:
            raise tokens.refusal()
        return _comparison(tokens, column, TURNED[sign], value)
    cells = tokens.columns[column]
    if tokens.take("IS"):
        negated = tokens.take("NOT") is not None
        tokens.need("NULL")
        return cells.is_not_null() if negated else cells.is_null()
    negated = tokens.take("NOT") is not None
    word = tokens.need("LIKE", "IN", "BETWEEN", *(() if negated else (*TURNED, "!=")))
    if word == "LIKE":
        condition = cells.str.contains(_regex(tokens.pattern()))
    elif word == "IN":
        condition = _listed(tokens, column)
    elif word == "BETWEEN":
        low = _comparison(tokens, column, ">=", tokens.value())
        tokens.need("AND")
        condition = low & _comparison(tokens, column, "<=", tokens.value())
    else:
        condition = _comparison(tokens, column, _sign(word), tokens.value())
    return ~condition if negated else condition


def _listed(tokens: _Tokens, column: str) -> pl.Expr:
    tokens.need("(")
    parts = [_comparison(tokens, column, "=", tokens.value())]
    while tokens.take(","):
        parts.append(_comparison(tokens, column, "=", tokens.value()))
    tokens.need(")")
    return pl.any_horizontal(parts)


def _comparison(tokens: _Tokens, column: str, sign: str, value: Value) -> pl.Expr:
    """A column compared with a value by one of `TURNED`; for an order, a text is a date."""
    cells, compare = tokens.columns[column], COMPARE[sign]
    if isinstance(value, float):
        return compare(_numbers(cells), value)
    if sign in ("=", "<>"):
        if value.lower() in TRUTHS:  # typed columns hold true, and pandas and R write True and TRUE
            return compare(cells.str.to_lowercase(), pl.lit(value.lower()))
        return compare(cells, pl.lit(value))
    if not DATE.fullmatch(value):
        raise UsageError(
            f"--where asks for the order of texts: {column} {sign} {value!r}.",
            "Only numbers and dates written as '2011-12-31' or '2011-12-31 08:30' have an order. LIKE compares texts.",
        )
    return compare(_times(cells), _times(pl.lit(value)))


def _sign(typed: str) -> str:
    return "<>" if typed == "!=" else typed


def _numbers(cells: pl.Expr) -> pl.Expr:
    """The cells that are numbers; null for other texts."""
    return pl.when(cells.str.contains(NUMBER)).then(cells).cast(pl.Float64, strict=False)


def _times(cells: pl.Expr) -> pl.Expr:
    """Dates and times in one form, whose order as text is their order in time; null for other texts."""
    date, minute, second = (cells.str.extract(f"^(?:{DATE.pattern})$", group) for group in (1, 2, 3))
    fraction = second.fill_null("00").str.replace(r"(\.[0-9]*?)0+$", "${1}").str.strip_suffix(".")
    return date + " " + minute.fill_null("00:00") + ":" + fraction


def _regex(pattern: str) -> str:
    """The regular expression of a pattern in which % stands for any text and _ for one character."""
    parts = {"%": ".*", "_": "."}
    escaped = (parts.get(mark) or (f"\\{mark}" if mark in SPECIAL else mark) for mark in pattern)
    return f"(?s)^{''.join(escaped)}$"
