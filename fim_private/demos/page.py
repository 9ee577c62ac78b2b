"""A lesson as a page of its own. The page holds every place of the first control, so it works without a program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fim_private.demos.chart import Chart
from fim_private.demos.demo import Demo, Settings, Shown
from fim_private.demos.drawing import figure_of
from fim_private.errors import InputError
from fim_private.report.document import Bullets, Choice, Document, Paragraph, Plain, Section, Table
from fim_private.report.document.write import write_page as write_document_page

BANNER = "A LESSON: public or made-up data, exact figures shown, seeded noise. Not a private release."


def document_of(demo: Demo) -> Document:
    """The lesson with its question, and the parts it shows at each place of the first control."""
    control, *others = demo.controls
    views = tuple(
        (choice, parts_at(demo, demo.settings({control.name: choice}), place))
        for place, choice in enumerate(control.choices)
    )
    fixed = ", ".join(f"{other.name} = {other.start}" for other in others)
    more = (
        (Paragraph(text=f"This page fixes {fixed}. The terminal and the notebook let you change it."),)
        if others
        else ()
    )
    label = f"{control.name}: {control.what}"
    return Document(
        title=demo.title,
        banner=BANNER,
        introduction=(*demo.introduction, Paragraph(text=f"**Your turn.** {demo.question.text}"), *more),
        sections=(
            Section(
                anchor="try",
                title="Move the control",
                parts=(Choice(name="control", label=label, views=views, start=control.choices.index(control.start)),),
            ),
            Section(
                anchor="again",
                title="The same elsewhere",
                parts=(
                    Bullets(
                        items=(
                            f"in the terminal: `fim-private demo {demo.name} --set {control.name}={control.start}`, "
                            f"and `fim-private demo {demo.name} --answer`",
                            "as a notebook: `make notebooks`",
                            f"the computation: `fim_private/demos/{demo.source}`",
                        )
                    ),
                ),
            ),
        ),
        mechanisms=(),
        footer=f"Made by `fim-private demo {demo.name} --output FOLDER`.",
    )  # fmt: skip


def parts_at(demo: Demo, settings: Settings, place: int) -> tuple[Plain, ...]:
    """The parts at these settings. Their names differ from place to place, so that all fit on one page."""
    verdict = Paragraph(
        text=f"**At {demo.controls[0].name} = {settings[demo.controls[0].name]}:** {demo.verdict(settings)}"
    )
    return (verdict, *(plain(part, place) for part in demo.show(settings)))


def plain(part: Shown, place: int) -> Plain:
    """Convert a part of a lesson to a part of a document."""
    match part:
        case Chart():
            return figure_of(part, f"{part.name}-{place}")
        case Table():
            return replace(part, name=f"{part.name}-{place}")
        case _:
            return part


def page_of(demo: Demo, folder: Path) -> Path:
    """The file of a lesson in a folder."""
    return folder / f"{demo.name}.html"


def write_page(demo: Demo, folder: Path, *, overwrite: bool = True) -> Path:
    """Write the lesson as `NAME.html` to the folder.

    Raises:
        UsageError: what is there may not be replaced.
        InputError: the folder or the file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be used: {error.strerror}.", "Give another folder with --output."
        ) from None
    return write_document_page(document_of(demo), page_of(demo, folder), overwrite=overwrite)
