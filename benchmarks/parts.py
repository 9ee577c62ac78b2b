"""A report of several parts, each written by a program of its own that leaves the others as they are."""

from __future__ import annotations

import re
from pathlib import Path

TITLE = "# Reliability\n"


def put_part(path: Path, name: str, text: str) -> None:
    """Put a part into a report in place of the one of that name, or at its end.

    Args:
        path: of the report; it is begun where it is missing.
        name: of the part.
        text: Markdown, from a heading of the second level on.
    """
    report = path.read_text(encoding="utf-8") if path.exists() else TITLE
    part = f"<!-- {name} -->\n{text.strip()}\n<!-- end of {name} -->\n"
    pattern = rf"<!-- {re.escape(name)} -->\n.*?<!-- end of {re.escape(name)} -->\n"
    if re.search(pattern, report, flags=re.DOTALL):
        report = re.sub(pattern, lambda _: part, report, flags=re.DOTALL)
    else:
        report = f"{report.rstrip()}\n\n{part}"
    path.write_text(report, encoding="utf-8")
