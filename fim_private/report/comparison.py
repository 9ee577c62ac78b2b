"""The comparison report: its sections in order, and the folder they are written to."""

from __future__ import annotations

from pathlib import Path

from fim_private.errors import InputError
from fim_private.report.document import Document
from fim_private.report.drawing import Pictures, style
from fim_private.report.html import to_html
from fim_private.report.markdown import to_markdown
from fim_private.report.material import Material
from fim_private.report.sections import (
    answer,
    composition,
    corollary,
    defaults,
    lower_bounds,
    margins,
    open_universe,
    reproduction,
    timing,
    universe,
    utility,
)

SECTIONS = (
    answer,
    utility,
    open_universe,
    universe,
    margins,
    corollary,
    composition,
    lower_bounds,
    timing,
    defaults,
    reproduction,
)

PUBLIC = "EXACT COUNTS OF PUBLIC DATA, SEEDED NOISE: a comparison, not a private release."
CURATOR = "EXACT COUNTS, NOT PRIVATE: for the curator's eyes only. Do not publish any of this."


def document_of(material: Material, pictures: Pictures) -> Document:
    """The report as a document; its pictures are collected."""
    sections = tuple(module.section(material, pictures) for module in SECTIONS)
    return Document(
        title=material.title,
        banner=PUBLIC if material.public else CURATOR,
        introduction=(),
        sections=sections,
        mechanisms=material.settings.mechanisms,
        footer="Made by `fim-private compare`. " + (PUBLIC if material.public else CURATOR),
    )


def write_report(material: Material, folder: Path) -> None:
    """`index.html`, `report.md` and `figures/` in the folder, replacing what a former run left.

    Raises:
        InputError: the file system refuses.
    """
    pictures = Pictures()
    with style():
        document = document_of(material, pictures)
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
