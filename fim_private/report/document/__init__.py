"""The vocabulary of a report: paragraphs, figures and tables as values, without a word on how they are drawn.

A writer (`html`, `markdown`) turns a `Document` into a file. Running text, which is paragraphs, bullets, captions and
the footer, may hold three inline marks: `**bold**`, a word between backticks for code, and a link to a place in the
document, `[words](#anchor)`, or to a page that the document names. All else is plain text and shown as it is typed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from fim_private.printable import printable
from fim_private.report.document.text import number

NAME = re.compile(r"[a-z][a-z0-9-]*")
"""What anchors and the names of figures and tables look like, so that they are safe as ids and as file names."""

FEW_DIGITS = 3
"""Tables with so few decimals show shares, of which nobody needs to know how small they are."""

NUMBER = re.compile("[~<>≈≤≥±]? ?[-−]?[0-9][0-9,.]*(e-?[0-9]+)?( %)?|–|∞")
"""A number written as text, such as ~0.5, 1e-6 or 35 %."""

RESERVED = ("top", "contents", "mechanisms")
"""Anchors that the writers use themselves; `#top` is the title."""

MARK = re.compile(
    r"`(?P<code>[^`]+)`|\[(?P<words>[^\[\]]+)\]\((?P<target>#[a-z0-9-]+|[a-z0-9./-]+\.html)\)"
    r"|\*\*(?P<bold>\S(?:.{0,500}?\S)?)\*\*"
)
"""Bold words are some hundred letters at most: where they have no end, nobody looks for it through a whole text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A measured number in a table.

    Attributes:
        value: the estimate.
        low: the lower end of its confidence interval.
        high: the upper end.
        best: it is shown in bold, as one of the best of its column.
    """

    value: float
    low: float
    high: float
    best: bool = False

    def __float__(self) -> float:
        """The estimate alone; tables are sorted by it."""
        return self.value


Cell: TypeAlias = str | int | float | Estimate | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
    """Running text, with inline marks; line breaks in it are blanks."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bullets:
    """A list of short texts, each with inline marks."""

    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A block shown letter by letter, for commands and formulas."""

    text: str

    def lines(self) -> list[str]:
        """The block's lines, without tabs and without empty ones around it."""
        return self.text.expandtabs(4).strip("\n").split("\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A drawing. Its anchor is `figure-NAME`.

    Attributes:
        name: unique among the figures; also the name of its file.
        svg: a complete SVG text, as matplotlib writes it. Groups with the id `mechanism:NAME` or
            `mechanism:NAME:ANYTHING` belong to that mechanism.
        narrow: the same for a narrow window, with its panels below one another; empty if the drawing has none.
        alt: what the figure shows, for those who cannot see it; plain text.
        caption: the sentence that says what to see.
    """

    name: str
    svg: str
    alt: str
    caption: str
    narrow: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Rows under a head. Its anchor is `table-NAME`.

    Attributes:
        name: unique among the tables.
        head: the columns' names.
        rows: one cell for each column; None is a value that is not there.
        caption: the sentence that says what to see.
        mechanism_column: the column whose cell names the mechanism that the row belongs to.
        digits: decimals of floats; integers have none.
        collapsed: the table is folded away until somebody asks for it.
        grouped: the first column is a heading above the rows that have the same words in it.
    """

    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str
    mechanism_column: int | None = None
    digits: int = 2
    collapsed: bool = False
    grouped: bool = False

    def __post_init__(self) -> None:
        """Refuse rows that do not fit the head.

        Raises:
            ValueError: a row is longer or shorter than the head, or there is no such mechanism column.
        """
        for row in self.rows:
            if len(row) != len(self.head):
                raise ValueError(f"table {self.name}: {len(row)} cells stand under a head of {len(self.head)}")
        if self.mechanism_column is not None and not 0 <= self.mechanism_column < len(self.head):
            raise ValueError(f"table {self.name}: there is no column {self.mechanism_column}")

    @property
    def numeric(self) -> list[bool]:
        """For each column whether it holds numbers, also written as text, and nothing else where it holds anything."""
        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.head)
        return [
            {not isinstance(cell, str) or NUMBER.fullmatch(cell) is not None for cell in column if cell is not None}
            == {True}
            for column in columns
        ]


Plain: TypeAlias = Paragraph | Bullets | Code | Figure | Table


@dataclass(frozen=True, kw_only=True, slots=True)
class Dial:
    """One thing that the reader of a choice can set.

    Attributes:
        label: what is set, in words.
        names: the values it can take, in order.
        start: the place of the value that is seen first.
    """

    label: str
    names: tuple[str, ...]
    start: int = 0

    MOST: ClassVar[int] = 12
    """The most values, because the page's style has a line for each."""

    def __post_init__(self) -> None:
        """Refuse what cannot be shown.

        Raises:
            ValueError: there are no values, too many, or not the one to start with.
        """
        if not 0 <= self.start < len(self.names) <= self.MOST:
            raise ValueError(f"dial {self.label}: {len(self.names)} values, of which number {self.start} is to start")


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Several views of one thing, of which the reader sees one at a time. Its anchor is `choice-NAME`.

    Attributes:
        name: unique among the choices.
        dials: one or two; their values together name a view.
        views: one view for each value of the first dial; then the same for the next value of the second, and so on.
        below: for each value of the second dial (or once), what stands under all its views. Empty if nothing does.
    """

    name: str
    dials: tuple[Dial, ...]
    views: tuple[tuple[Plain, ...], ...]
    below: tuple[tuple[Plain, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be shown.

        Raises:
            ValueError: there are no dials or more than two, or the views do not fit the dials.
        """
        groups = math.prod(len(dial.names) for dial in self.dials[1:])
        if len(self.dials) not in {1, 2} or len(self.views) != groups * len(self.dials[0].names):
            raise ValueError(f"choice {self.name}: {len(self.views)} views do not fit {len(self.dials)} dials")
        if len(self.below) not in {0, groups}:
            raise ValueError(f"choice {self.name}: {len(self.below)} parts below do not fit {groups} groups of views")

    @property
    def start(self) -> tuple[Plain, ...]:
        """What is seen first; paper and Markdown show nothing else."""
        group = sum(dial.start for dial in self.dials[1:])
        view = self.views[group * len(self.dials[0].names) + self.dials[0].start]
        return view + (self.below[group] if self.below else ())


Part: TypeAlias = Plain | Choice


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A titled piece of a report; `anchor` is what links to it name. A folded one is opened by a click on its title."""

    anchor: str
    title: str
    parts: tuple[Part, ...]
    folded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A whole report.

    Attributes:
        title: of the whole.
        banner: what nobody may overlook, shown on every page.
        introduction: what stands before the first section.
        sections: in order; each is a line of the contents.
        footer: the small print, with inline marks.
        mechanisms: the names a reader can switch on and off, in the order of the switch.
        alarm: the banner is a warning that has to be seen.
        pages: relative addresses of other pages that links may name. Give only those that are there.
    """

    title: str
    banner: str
    introduction: tuple[Part, ...]
    sections: tuple[Section, ...]
    footer: str
    mechanisms: tuple[str, ...] = ()
    alarm: bool = False
    pages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse anchors that are not unique or not safe.

        Raises:
            ValueError: an anchor is used twice, is reserved, or is not lower-case letters, digits and hyphens.
        """
        names = [*(section.anchor for section in self.sections)]
        names += [part.name for part in self.parts() if isinstance(part, Figure | Table | Choice)]
        for name in names:
            if not NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no anchor: use lower-case letters, digits and hyphens")
        for anchor, times in Counter(self.anchors()).items():
            if times > 1:
                raise ValueError(f"the anchor {anchor!r} is used twice, or is the page's own")

    def parts(self) -> Iterator[Part]:
        """Every part in reading order; a choice, then what its views show."""
        for part in (*self.introduction, *(part for section in self.sections for part in section.parts)):
            yield part
            if isinstance(part, Choice):
                yield from (shown for view in (*part.views, *part.below) for shown in view)

    def anchors(self) -> Iterator[str]:
        """Everything that a link may name."""
        yield from RESERVED
        yield from self.pages
        yield from (section.anchor for section in self.sections)
        yield from (anchor(part) for part in self.parts() if isinstance(part, Figure | Table | Choice))


def anchor(part: Figure | Table | Choice) -> str:
    """The anchor of a figure, a table or a choice."""
    return f"{type(part).__name__.lower()}-{part.name}"


@dataclass(frozen=True, slots=True)
class Marked:
    """Words under one inline mark: `mark` is "bold", "code" or where the link leads."""

    mark: str
    words: tuple[str | Marked, ...]


def inline(text: str, anchors: frozenset[str]) -> tuple[str | Marked, ...]:
    """Running text as plain strings and marked words.

    A link to what is not there stays as it is typed: an author sees it, and an item's name cannot make one.

    >>> inline("see **the `lmm`** [there](#there), not [here](#here)", frozenset({"there"}))
    ('see ', Marked(mark='bold', words=('the ', Marked(mark='code', words=('lmm',)))), ' ', \
Marked(mark='#there', words=('there',)), ', not [here](#here)')
    """
    pieces: list[str | Marked] = []
    done = 0
    if "\n" in text:
        text = " ".join(line.strip() for line in text.split("\n") if line.strip())
    for match in MARK.finditer(text):
        code, words, target, bold = match.group("code", "words", "target", "bold")
        if target is not None and target.removeprefix("#") not in anchors:
            continue
        if match.start() > done:
            pieces.append(visible(text[done : match.start()]))
        if code is not None:
            pieces.append(Marked("code", (visible(code),)))
        elif bold is not None:
            pieces.append(Marked("bold", inline(bold, anchors)))
        else:
            pieces.append(Marked(target, inline(words, anchors)))
        done = match.end()
    if done < len(text):
        pieces.append(visible(text[done:]))
    return tuple(pieces)


def visible(text: str) -> str:
    r"""The text with letters that steer instead of showing (control characters, direction marks) written out.

    >>> visible("milk\x00 \u202eklim")
    'milk\\x00 \\u202eklim'
    """
    return printable(text, spaces=True)


def cell_text(cell: Cell, digits: int) -> str:
    """What a cell shows. A share too small for its decimals is not shown as nought.

    >>> [cell_text(cell, 2) for cell in ("a", 1234, 0.5, -0.0, 1e-6, None, math.inf)]
    ['a', '1,234', '0.50', '0.00', '<0.01', '–', '∞']
    >>> cell_text(Estimate(value=0.83, low=0.8, high=0.87), 2)
    '0.83 ±0.04'
    """
    if isinstance(cell, Estimate):
        half = max(cell.value - cell.low, cell.high - cell.value)
        return f"{cell_text(cell.value, digits)} ±{half:.{digits}f}"
    if isinstance(cell, str):
        return visible(cell)
    if cell is None or math.isnan(cell):
        return "–"
    if isinstance(cell, int):
        return f"{cell:,}".replace("-", "−")
    if math.isinf(cell):
        return "∞" if cell > 0 else "−∞"
    shown = f"{cell:,.{digits}f}"
    if float(shown.replace(",", "")) == 0 and digits <= FEW_DIGITS:
        shown = f"<{10**-digits:.{digits}f}" if cell > 0 else shown.removeprefix("-")
    elif float(shown.replace(",", "")) == 0:
        shown = number(cell) if cell else shown.removeprefix("-")
    return shown.replace("-", "−", 1) if shown.startswith("-") else shown
