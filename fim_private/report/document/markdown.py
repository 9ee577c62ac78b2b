"""A report as GitHub-flavoured Markdown, in the order of the page; its figures are files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fim_private.report.document import (
    Bullets,
    Cell,
    Choice,
    Code,
    Document,
    Estimate,
    Figure,
    Marked,
    Paragraph,
    Part,
    Table,
    anchor,
    cell_text,
    inline,
    visible,
)
from fim_private.report.document.html import marked as marked_html

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
"""Written as entities and not with a backslash: a reader of Markdown who knows no escapes must see no tag either."""

SPECIAL = re.compile(r"[\\`*_\[\]|~$]|(?<=[a-z]):(?=//)|(?<=www)\.|[!#]$", re.IGNORECASE)
"""What means something anywhere in a line: marks, links, cells, formulas, addresses that would become links, and what
would make a picture of the link after it or end a heading."""

LEADING = re.compile("^([#+=-]|[0-9]+(?=[.)]))")
"""What means something at the beginning of a line only: headings, lists, rules."""


def to_markdown(document: Document) -> str:
    """The report as Markdown. A figure is the file `NAME.png` in the folder `figures` beside it."""
    anchors = frozenset(document.anchors())
    blocks = [f"> **{escaped(document.banner.strip())}**", f'<a id="top"></a>\n\n# {escaped(document.title)}']
    blocks += [part_markdown(part, anchors) for part in document.introduction]
    for section in document.sections:
        parts = [part_markdown(part, anchors) for part in section.parts]
        if section.folded:
            parts = ["<details>\n<summary>Open</summary>", *parts, "</details>"]
        blocks += [f'<a id="{section.anchor}"></a>\n\n## {escaped(section.title)}', *parts]
    blocks += ["---", running(document.footer, anchors)]
    return "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    r"""Plain text in the middle of a line.

    >>> print(escaped("<b> a|b 5 * 3 https://x"))
    &lt;b&gt; a\|b 5 \* 3 https\://x
    """
    words = SPECIAL.sub(lambda match: f"\\{match[0]}", visible(text))
    return re.sub("[&<>]", lambda match: ENTITIES[match[0]], words)


def running(text: str, anchors: frozenset[str]) -> str:
    """Running text as one line, with its inline marks and without those of a block."""
    return LEADING.sub(lead, marked(inline(text.strip(), anchors)))


def lead(match: re.Match[str]) -> str:
    """The beginning of a line, with its meaning taken: a number's stop is escaped, a mark itself."""
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def marked(words: Iterable[str | Marked]) -> str:
    """Running text with its inline marks."""
    return "".join(escaped(word) if isinstance(word, str) else mark(word) for word in words)


def mark(word: Marked) -> str:
    """One marked word; code is taken letter by letter, so nothing in it is escaped."""
    if word.mark == "code":
        return f"`{''.join(piece for piece in word.words if isinstance(piece, str))}`"
    inside = marked(word.words)
    # Beside the page of a report is the same as Markdown.
    return f"**{inside}**" if word.mark == "bold" else f"[{inside}]({word.mark.replace('index.html', 'report.md')})"


def part_markdown(part: Part, anchors: frozenset[str]) -> str:
    """One part of a section."""
    match part:
        case Paragraph():
            return running(part.text, anchors)
        case Bullets():
            return "\n".join(f"- {running(item, anchors)}" for item in part.items)
        case Code():
            lines = [visible(line) for line in part.lines()]
            longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
            fence = "`" * max(3, longest + 1)
            return "\n".join([fence, *lines, fence])
        case Figure():
            image = f'<a id="{anchor(part)}"></a>\n![{escaped(part.alt)}](figures/{part.name}.png)'
            return f"{image}\n\n{running(part.caption, anchors)}"
        case Table():
            return table_markdown(part, anchors)
        case Choice():
            set_to = "; ".join(f"{escaped(dial.label)}: {escaped(dial.names[dial.start])}" for dial in part.dials)
            label = f'<a id="{anchor(part)}"></a>\n{set_to}'
            return "\n\n".join([label, *(part_markdown(each, anchors) for each in part.start)])


def table_markdown(table: Table, anchors: frozenset[str]) -> str:
    """A pipe table under its caption; a collapsed one is folded, as HTML in Markdown can be."""
    rows = [
        [escaped(name) for name in table.head],
        ["---:" if to_right else "---" for to_right in table.numeric],
        *([_cell(cell, table.digits) for cell in row] for row in _rows(table)),
    ]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    target = f'<a id="{anchor(table)}"></a>'
    if not table.collapsed:
        return f"{target}\n{running(table.caption, anchors)}\n\n{lines}"
    caption = marked_html(inline(table.caption, anchors))
    return f"{target}\n\n<details>\n<summary>{caption}</summary>\n\n{lines}\n\n</details>"


def _rows(table: Table) -> Iterator[tuple[Cell, ...]]:
    """The rows; where the table has groups, only the first row of a group names it."""
    before: Cell = None
    for row in table.rows:
        yield ("", *row[1:]) if table.grouped and row[0] == before else row
        before = row[0]


def _cell(cell: Cell, digits: int) -> str:
    words = escaped(cell_text(cell, digits))
    return f"**{words}**" if isinstance(cell, Estimate) and cell.best else words
