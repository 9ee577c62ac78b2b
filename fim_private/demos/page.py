"""A lesson as a page of its own. The page holds every place of the first two controls, so it needs no program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from fim_private.demos.chart import Chart
from fim_private.demos.demo import Demo, Settings, Shown
from fim_private.demos.drawing import figure_of
from fim_private.errors import InputError
from fim_private.report.document import Bullets, Choice, Dial, Document, Paragraph, Plain, Section, Table
from fim_private.report.document.write import write_page as write_document_page

BANNER = "A LESSON: public or made-up data, exact figures shown, seeded noise. Not a private release."

MOVED = 2
"""The number of controls that can be moved on a page. They are the first ones."""

LESSON = re.compile("`fim-private demo ([a-z-]+)`")
"""How the text of a lesson names another lesson."""


def document_of(demo: Demo, beside: tuple[str, ...]) -> Document:
    """The lesson with its question, and the parts it shows at each place of its first two controls.

    `beside` are the files of other lessons in the same folder. Where the text names one of these, it is a link.
    """
    moved, fixed = demo.controls[:MOVED], demo.controls[MOVED:]
    # The first control changes fastest, as the views of a choice do.
    places = product(*([(control.name, choice) for choice in control.choices] for control in reversed(moved)))
    shown = [
        (settings, tuple(_linked(part, beside) for part in demo.show(settings)))
        for settings in (demo.settings(dict(place)) for place in places)
    ]
    groups = [shown[start : start + len(moved[0].choices)] for start in range(0, len(shown), len(moved[0].choices))]
    shared = [_shared([parts for _, parts in group]) for group in groups]
    views = tuple(
        (_verdict(demo, settings), *_named(parts, f"{place}-{number}", without=charts))
        for place, (group, charts) in enumerate(zip(groups, shared, strict=True))
        for number, (settings, parts) in enumerate(group)
    )
    below = tuple(_named(charts, f"{place}") for place, charts in enumerate(shared))
    more = (
        (
            Paragraph(
                text=f"This page fixes {', '.join(f'{control.name} = {control.start}' for control in fixed)}. The "
                "terminal and the notebook let you change it."
            ),
        )
        if fixed
        else ()
    )
    dials = tuple(
        Dial(
            label=f"{control.name}: {control.what}",
            names=control.choices,
            start=control.choices.index(control.start),
        )
        for control in moved
    )
    control = moved[0]
    return Document(
        title=demo.title,
        banner=BANNER,
        introduction=(
            *_named([_linked(part, beside) for part in demo.introduction], "introduction"),
            Paragraph(text=f"**Your turn.** {demo.question.text}"),
            *more,
        ),
        sections=(
            Section(
                anchor="try",
                title="Move the controls" if len(moved) > 1 else "Move the control",
                parts=(Choice(name="control", dials=dials, views=views, below=below),),
            ),
            Section(
                anchor="again",
                title="The same elsewhere",
                parts=(
                    Bullets(
                        items=(
                            f"in the terminal: `fim-private demo {demo.name} --set {control.name}={control.start}`, "
                            f"and `fim-private demo {demo.name} --answer`",
                            f"as a notebook: `marimo edit notebooks/lesson.py -- --lesson {demo.name}`",
                            f"the computation: `fim_private/demos/{demo.source}`",
                        )
                    ),
                ),
            ),
        ),
        footer=f"Made by `fim-private demo {demo.name} --output FOLDER`.",
        pages=beside,
    )


def _linked(part: Shown, beside: Sequence[str]) -> Shown:
    """The part, where the lessons that a paragraph names are links to their pages, if these are there."""
    if not isinstance(part, Paragraph):
        return part

    def link(named: re.Match[str]) -> str:
        page = f"{named[1]}.html"
        return f"[{named[0]}]({page})" if page in beside else named[0]

    return replace(part, text=LESSON.sub(link, part.text))


def _verdict(demo: Demo, settings: Settings) -> Paragraph:
    here = ", ".join(f"{control.name} = {settings[control.name]}" for control in demo.controls[:MOVED])
    return Paragraph(text=f"**At {here}:** {demo.verdict(settings)}")


def _unplaced(part: Shown) -> Shown:
    """A chart without the mark of the reader's place."""
    return replace(part, here=None) if isinstance(part, Chart) else part


def _shared(views: Sequence[Sequence[Shown]]) -> tuple[Shown, ...]:
    """The charts that all views show. A page holds each of them once, under the views."""
    first, *others = ([_unplaced(part) for part in parts] for parts in views)
    return tuple(part for part in first if isinstance(part, Chart) and all(part in other for other in others))


def _named(parts: Sequence[Shown], place: str, *, without: Sequence[Shown] = ()) -> tuple[Plain, ...]:
    """The parts, with names that differ from place to place, so that all fit on one page."""
    return tuple(_plain(part, place) for part in parts if _unplaced(part) not in without)


def _plain(part: Shown, place: str) -> Plain:
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


def write_page(demo: Demo, folder: Path, *, beside: tuple[str, ...] = (), overwrite: bool = True) -> Path:
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
    return write_document_page(document_of(demo, beside), page_of(demo, folder), overwrite=overwrite)
