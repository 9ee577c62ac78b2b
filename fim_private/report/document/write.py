"""A document as one page, or as the files of a report in their folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fim_private.errors import InputError
from fim_private.release.files import write_derived
from fim_private.report.document import Document
from fim_private.report.document.html import to_html
from fim_private.report.document.markdown import to_markdown

if TYPE_CHECKING:
    from fim_private.report.drawing import Pictures  # which loads the library of figures

FILES = ("index.html", "report.md")
"""The files of a report, besides its figures."""


def write_page(document: Document, path: Path, *, overwrite: bool = True) -> Path:
    """The document as one HTML file that needs no other, written in one step.

    Returns:
        where the file is.

    Raises:
        UsageError: what is there may not be replaced.
        InputError: the file system refuses.
    """
    try:
        return write_derived(
            path, lambda part: part.write_text(to_html(document), encoding="utf-8"), overwrite=overwrite
        )
    except OSError as error:
        raise InputError(f"The page could not be written to {path}: {error.strerror}.", "Give another name.") from None


def write_document(document: Document, pictures: Pictures, folder: Path, *, owner_only: bool = False) -> None:
    """`index.html`, `report.md` and `figures/` in the folder, replacing what a former run left.

    Raises:
        UsageError: a release or a ledger has one of these names.
        InputError: the file system refuses.
    """

    def keep(path: Path, content: bytes) -> None:
        write_derived(path, lambda part: part.write_bytes(content), owner_only=owner_only)

    try:
        figures = folder / "figures"
        if figures.is_symlink():
            figures.unlink()  # pictures elsewhere are not ours to delete
        figures.mkdir(parents=True, exist_ok=True)
        for old in (*figures.glob("*.svg"), *figures.glob("*.png")):
            old.unlink()
        for name, png in pictures.png.items():
            keep(figures / f"{name}.png", png)
            keep(figures / f"{name}.svg", pictures.svg[name].encode())
        keep(folder / "report.md", to_markdown(document).encode())
        # Last, for who finds it may take the rest for finished.
        keep(folder / "index.html", to_html(document).encode())
    except OSError as error:
        raise InputError(
            f"The report could not be written to {folder}: {error.strerror}.", "Give another folder with --output."
        ) from None
