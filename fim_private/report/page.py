"""A document as one file; apart from `write.py`, which needs the library of figures."""

from __future__ import annotations

from pathlib import Path

from fim_private.errors import InputError
from fim_private.release.files import write_derived
from fim_private.report.document import Document
from fim_private.report.html import to_html


def write_page(document: Document, path: Path) -> None:
    """The document as one HTML file that needs no other, replacing a file of that name in one step.

    Raises:
        UsageError: a release or a ledger is there.
        InputError: the file system refuses.
    """
    try:
        write_derived(path, lambda part: part.write_text(to_html(document), encoding="utf-8"))
    except OSError as error:
        raise InputError(f"The page could not be written to {path}: {error.strerror}.", "Give another name.") from None
