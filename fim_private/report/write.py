"""A report's files in their folder."""

from __future__ import annotations

from pathlib import Path

from fim_private.errors import InputError
from fim_private.report.document import Document
from fim_private.report.drawing import Pictures
from fim_private.report.html import to_html
from fim_private.report.markdown import to_markdown


def write_document(document: Document, pictures: Pictures, folder: Path) -> None:
    """`index.html`, `report.md` and `figures/` in the folder, replacing what a former run left.

    Raises:
        InputError: the file system refuses.
    """
    try:
        figures = folder / "figures"
        figures.mkdir(parents=True, exist_ok=True)
        for old in (*figures.glob("*.svg"), *figures.glob("*.png")):
            old.unlink()
        for name, png in pictures.png.items():
            (figures / f"{name}.png").write_bytes(png)
            (figures / f"{name}.svg").write_text(pictures.svg[name], encoding="utf-8")
        (folder / "report.md").write_text(to_markdown(document), encoding="utf-8")
        # Last, for who finds it may take the rest for finished.
        (folder / "index.html").write_text(to_html(document), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The report could not be written to {folder}: {error.strerror}.", "Give another folder with --output."
        ) from None
