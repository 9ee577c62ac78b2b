"""Messages in the words of Python. They are written with the options of the command line, and translated here.

>>> in_python("Give a smaller --size, or --format long with --transaction-column InvoiceNo,Date.")
'Give a smaller size=, or format="long" with transaction_column="InvoiceNo,Date".'
>>> in_python("Give --universe-items from public knowledge, or leave --per-size out.")
'Give Universe(items=...) from public knowledge, or leave per_size=True out.'
"""

from __future__ import annotations

import re
import shlex

PHRASES = {
    "--release-counts or --min-count of `fim-private mine`": "count_share= or min_count= of `mine`",
    "with --unit-column": "with PrivacyUnit(column=...)",
    "--unit transaction": "unit=PrivacyUnit()",
    "--engine spark": "Spark",
}
"""What is not translated option by option."""

LEDGER = re.compile(r"""fim-private budget create ((?:[^\s'"\\]|'[^']*'|"'")+) --epsilon 3 --delta 1e-5""")
"""The path of the ledger is quoted as `shlex.quote` does it."""

INSTEAD = {
    "universe-items": "Universe(items=...)",
    "universe-file": "Universe(names=...)",
    "items-file": "Universe(names=...)",
    "must-contain": "Constraints(must_contain=...)",
    "exclude": "Constraints(exclude=...)",
    "max-transactions": "PrivacyUnit(max_transactions=...)",
    "merge": 'together="unit"',
    **{
        name: f"{name.replace('-', '_')}=True"
        for name in ("drop-rows-without-unit", "overwrite", "per-size", "raw-counts", "with-subsets")
    },
}
"""Options that are no argument of their own, or switches."""

NAMES = {"neighbours": "relation", "release-counts": "count_share", "sizes": "size"}
"""Arguments that have other names than their options."""

NUMBER = r"[0-9]+(?:[.,/-][0-9]+)*(?:e-[0-9]+)?"
VALUES = {
    "format": "auto|fimi|basket|long|lists|one-hot",
    "mechanism": "(?!or|and)[a-z][a-z-]*[a-z]",
    "select": "peel|counts",
    "by": "count|leverage",
    "together": "basket|unit",
    "neighbours": "add-remove|replace",
    "encoding": "(?!or|and)[a-z][a-z0-9_-]*[a-z0-9]",
    **dict.fromkeys(
        ("transaction-column", "item-column", "unit-column"),
        r"(?!(?:out|or|and|for|if|in|with|is|does|holds)\b)[\w]+(?:[-,][\w]+)*",
    ),
    **dict.fromkeys(("separator", "item-separator"), r"[,;|](?=[\s.]|$)"),
    "skip-columns": NUMBER,
}
"""The texts that may follow an option as its value. After other options, only numbers, quotes and WORDS are values."""

OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])\b")
TEXT = {name: re.compile(rf" ({pattern})") for name, pattern in VALUES.items()}
QUOTED = re.compile(r" ('[^']*')")
PLAIN = re.compile(rf" ({NUMBER}|[A-Z]+\b)")


def in_python(message: str) -> str:
    """A message that names arguments of Python where it named options."""
    message = LEDGER.sub(lambda found: f"Ledger.create({shlex.split(found[1])[0]!r}, epsilon=3, delta='1e-5')", message)
    for phrase, words in PHRASES.items():
        message = message.replace(phrase, words)
    parts, at = [], 0
    for found in OPTION.finditer(message):
        name, end = found[1], found.end()
        parts.append(message[at : found.start()])
        at = end
        if name in INSTEAD:
            parts.append(INSTEAD[name])
            continue
        parts.append(f"{NAMES.get(name, name).replace('-', '_')}=")
        for pattern, shown in ((QUOTED, "{}"), (TEXT.get(name), '"{}"'), (PLAIN, "{}")):
            value = None if pattern is None else pattern.match(message, end)
            if value is not None:
                parts.append(shown.format(value[1]))
                at = value.end()
                break
    return "".join([*parts, message[at:]])
