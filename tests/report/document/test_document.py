from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fim_private.report.document import (
    Bullets,
    Cell,
    Code,
    Dial,
    Document,
    Estimate,
    Figure,
    Marked,
    Paragraph,
    Part,
    Section,
    Table,
    cell_text,
    inline,
    visible,
)
from fim_private.report.document.html import asset, templates, to_html
from fim_private.report.document.markdown import to_markdown
from tests.browser.conftest import BANNER, HOSTILE, MECHANISMS, chart, sample_document

SVG = '<svg viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'

hostile = st.text(st.sampled_from("<>&\"'`|*_[]()#!\\~$-+=.:/\n\r\t\0\x1b\u202e\u2066\ufeff\ud800 019awhé")) | st.text()
wordy = hostile.filter(str.strip)


class Reader(HTMLParser):
    """What a page says: its elements, their attributes, and the text in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[tuple[str, str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), "an attribute is given twice"
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.words.append((self.elements[-1][0] if self.elements else "", data))

    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """Without classes: numbers and long words look different."""
        return [(tag, tuple(key for key in attributes if key != "class")) for tag, attributes in self.elements]

    def values(self, key: str) -> list[str]:
        return [attributes[key] for _, attributes in self.elements if key in attributes]


def page_of(*parts: Part, title: str = "Title", mechanisms: tuple[str, ...] = ()) -> Document:
    return Document(
        title=title,
        banner=f"Public {title} data",
        introduction=(),
        sections=(Section(anchor="there", title=title, parts=parts),),
        mechanisms=mechanisms,
        footer="Footer",
    )


def full(text: str) -> Document:
    """The text in every place that takes plain text."""
    drawing = SVG.format(f'<g id="mechanism:m"><text>{escape(text)}</text></g>')
    return page_of(
        Figure(name="f", svg=drawing, alt=text, caption="c"),
        Table(name="t", head=(text, "n"), rows=((text, 1), (text, None)), caption="c", mechanism_column=0),
        Code(text=text),
        title=text,
        mechanisms=(text,),
    )


@pytest.fixture(scope="module")
def page() -> str:
    return to_html(sample_document())


@given(wordy)
def test_no_text_changes_the_shape_of_the_page(text: str) -> None:
    written = to_html(full(text))
    written.encode()
    read = Reader(written)
    assert read.shape() == Reader(to_html(full("a"))).shape()
    assert f"<td>{visible(text)}</td>" == f"<td>{next(words for tag, words in read.words if tag == 'td')}</td>"
    assert read.values("data-mechanism")[1:] == [visible(text)] * 2
    assert read.values("value")[-1] == visible(text)


@given(hostile)
def test_running_text_makes_nothing_but_its_marks(text: str) -> None:
    before, _, after = to_html(page_of(Paragraph(text="@@@"))).partition("@@@")
    written = to_html(page_of(Paragraph(text=text)))
    assert written.startswith(before)
    assert written.endswith(after)
    for tag, attributes in Reader(written[len(before) : len(written) - len(after)]).elements:
        code = [("code", {}), ("code", {"class": "long"})]
        assert (tag, attributes) in [("strong", {}), *code, ("a", {"href": "#there"})]


@given(wordy)
def test_nothing_that_steers_is_written(text: str) -> None:
    for written in (to_html(full(text)), to_markdown(full(text))):
        assert {letter for letter in set(written) if visible(letter) != letter} <= {"\n"}


def tokens(markdown: str) -> Iterator[tuple[str, ...]]:
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        children = tuple(child.type for child in token.children or () if child.type != "text")
        yield (token.type, token.tag, *children)


@given(wordy)
def test_no_text_changes_the_shape_of_the_markdown(text: str) -> None:
    assert list(tokens(to_markdown(full(text)))) == list(tokens(to_markdown(full("a"))))


@given(wordy)
def test_running_text_is_one_paragraph_of_markdown(text: str) -> None:
    def blocks(words: str) -> list[str]:
        document = page_of(Paragraph(text=words), Bullets(items=(words, "a")))
        return [token[0] for token in tokens(to_markdown(document))]

    assert blocks(text) == blocks("a")


def test_hostile_names_are_read_as_they_are(page: str) -> None:
    assert "<script>alert" not in page
    cells = [words for tag, words in Reader(page).words if tag == "td"]
    assert visible(HOSTILE) in cells
    assert "\\u202eklim" in visible(HOSTILE)
    markdown = to_markdown(sample_document())
    assert "<script>" not in re.sub(r"(?s)```.*?```", "", markdown)
    assert r"\| \` \*\* \\x00\\x1b\[2J" in markdown


def test_ids_are_unique_and_every_reference_is_met(page: str) -> None:
    assert chart().count('id="axes_1"') == 1, "the figures of the sample have ids in common"
    read = Reader(page)
    ids = read.values("id")
    assert [name for name, times in Counter(ids).items() if times > 1] == []
    assert {"lines:axes_1", "bars:axes_1"} <= set(ids)
    references = [href[1:] for href in read.values("href") if href.startswith("#")]
    references += re.findall(r"url\(#([^)]*)\)", page) + read.values("aria-labelledby")
    assert len(references) > 50
    assert set(references) <= set(ids)


def test_drawings_are_part_of_the_page(page: str) -> None:
    read = Reader(page)
    drawings = [attributes for tag, attributes in read.elements if tag == "svg"]
    assert [drawing["role"] for drawing in drawings] == ["img", "img"]
    assert drawings[0]["aria-label"] == visible(f"Two panels {HOSTILE}")
    assert [drawing["style"] for drawing in drawings] == ["max-width: 504pt; --width: 504pt"] * 2
    assert not [drawing for drawing in drawings if {"width", "height"} & set(drawing)]
    assert Counter(value for tag, a in read.elements if tag == "g" for value in [a.get("data-mechanism")] if value) == (
        dict.fromkeys(MECHANISMS, 4)
    )
    assert "mechanism:" not in page.replace(BANNER, "")
    assert "<?xml" not in page
    assert page.count("<!DOCTYPE") == 1


def test_the_page_asks_nobody_for_anything() -> None:
    page = to_html(sample_document(hostile="milk"))
    policy = next(a["content"] for tag, a in Reader(page).elements if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    rest = page.replace(policy, "")
    for word in ("http:", "https:", "//", "@import", "src="):
        assert word not in rest
    assert re.findall(r"url\((?!#)", rest) == []
    assert {href for href in Reader(page).values("href") if not href.startswith("#")} == {"data:,"}


def test_every_heading_can_be_linked_and_is_in_the_contents(page: str) -> None:
    headings = [a["id"] for tag, a in Reader(page).elements if tag in {"h1", "h2", "h3", "h4"}]
    assert headings == ["top", "precision", "speed", "method"]
    contents = Reader(page.partition("<nav")[2].partition("</nav>")[0])
    assert contents.values("href") == [f"#{name}" for name in headings]


@pytest.mark.slow
def test_the_same_document_makes_the_same_files(page: str) -> None:
    assert to_html(sample_document()) == page
    assert to_markdown(sample_document()) == to_markdown(sample_document())


@pytest.mark.parametrize(
    "svg",
    [
        "milk",
        "<svg",
        '<svg xmlns="http://www.w3.org/2000/svg"/>',
        SVG.format("<script>alert(1)</script>"),
        SVG.format("<foreignObject/>"),
        SVG.format('<a xlink:href="#x"/>'),
        SVG.format('<image xlink:href="https://x.example/x.png"/>'),
        SVG.format('<use xlink:href="x.svg#x"/>'),
        SVG.format('<rect style="fill: url(https://x.example/#x)"/>'),
        '<!DOCTYPE svg [<!ENTITY x "y">]>' + SVG.format("<text>&x;</text>"),
    ],
)
def test_what_is_no_drawing_is_refused(svg: str) -> None:
    with pytest.raises(ValueError, match="figure f: "):
        to_html(page_of(Figure(name="f", svg=svg, alt="a", caption="c")))


def test_a_drawing_keeps_what_draws() -> None:
    inside = (
        '<style>*{x: y}</style><metadata>m</metadata><g id="a b" onclick="x()" clip-path="url(#a b)"/><g id="a b"/>'
        '<use xlink:href="#a b"/><image xlink:href="data:image/png;base64,QQ\nQQ"/><text xml:space="preserve">\0</text>'
    )
    written = to_html(page_of(Figure(name="f", svg=SVG.format(inside), alt="a", caption="c")))
    drawn = re.sub(r"\s*/>", "/>", written.partition("<svg")[2].partition("</svg>")[0])
    assert drawn == (
        ' viewBox="0 0 9 9" role="img" aria-label="a"><g id="f:a_b" clip-path="url(#f:a_b)"/><g/>'
        '<use href="#f:a_b"/><image href="data:image/png;base64,QQQQ"/><text>\ufffd</text>'
    )


def test_running_text_is_split_at_its_marks() -> None:
    anchors = frozenset({"there"})
    assert inline("`**a**` **b", anchors) == (Marked("code", ("**a**",)), " **b")
    assert inline("[a `b`](#there)\n[c](#nowhere)", anchors) == (
        Marked("#there", ("a ", Marked("code", ("b",)))),
        " [c](#nowhere)",
    )
    assert inline("[a](../b/index.html), [c](c.html), [d](https://x/e.html)", frozenset({"../b/index.html"})) == (
        Marked("../b/index.html", ("a",)),
        ", [c](c.html), [d](https://x/e.html)",
    )


def test_a_page_that_is_named_can_be_linked_to() -> None:
    document = replace(page_of(Paragraph(text="[a](../b/index.html) and [c](c.html)")), pages=("../b/index.html",))
    assert '<a href="../b/index.html">a</a> and [c](c.html)' in to_html(document)
    assert r"[a](../b/report.md) and \[c\](c.html)" in to_markdown(document)


def test_numbers_that_are_written_as_text_stand_to_the_right() -> None:
    rows = (("lmm", "~0.5", "35 %", "1e-6", "1 in 9", None), ("auto", "> 2", "100 %", "–", "0.1 %", "−3"))
    table = Table(name="t", head=tuple("abcdef"), rows=rows, caption="c")
    assert table.numeric == [False, True, True, True, False, True]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [(-1234, "−1,234"), (-0.5, "−0.500"), (float("nan"), "–"), (-1e-9, "0.000"), (1e-9, "<0.001"), (2.0, "2.000")],
)
def test_a_cell_is_shown_as_its_type_asks(cell: Cell, shown: str) -> None:
    assert cell_text(cell, 3) == shown


def test_names_that_would_clash_are_refused() -> None:
    table = Table(name="t", head=("a",), rows=(), caption="c")
    with pytest.raises(ValueError, match="'table-t' is used twice"):
        page_of(table, table)
    with pytest.raises(ValueError, match="'A b' is no anchor"):
        page_of(Figure(name="A b", svg="", alt="", caption=""))
    with pytest.raises(ValueError, match="'top'"):
        Document(
            title="t",
            banner="b",
            introduction=(),
            sections=(Section(anchor="top", title="t", parts=()),),
            footer="",
        )
    with pytest.raises(ValueError, match="2 cells stand under a head of 1"):
        Table(name="t", head=("a",), rows=(("b", "c"),), caption="c")
    with pytest.raises(ValueError, match="no column 1"):
        Table(name="t", head=("a",), rows=(), caption="c", mechanism_column=1)


def test_the_package_carries_its_styles_and_its_script() -> None:
    for written in (templates().get_template("page.css").render(most=Dial.MOST), asset("page.js")):
        assert written in to_html(page_of())
        assert "</" not in written


def test_every_part_of_a_document_becomes_markdown() -> None:
    document = page_of(
        Paragraph(text="1. not a list, but **bold**, `a|b` and [there](#there)"),
        Bullets(items=("# one", "two!")),
        Code(text="a ``` b"),
        Figure(name="f", svg="", alt="[x]", caption="See **this**."),
        Table(name="t", head=("a|b", "n"), rows=(("<x>", 1.5), ("www.x.example", None)), caption="c"),
        Table(name="u", head=("a",), rows=((1,),), caption="**c** `<d>`", collapsed=True),
        Table(name="v", head=("a",), rows=((Estimate(value=0.5, low=0.4, high=0.7, best=True),),), caption="c"),
    )
    assert to_markdown(document) == MARKDOWN


MARKDOWN = r"""> **Public Title data**

<a id="top"></a>

# Title

<a id="there"></a>

## Title

1\. not a list, but **bold**, `a|b` and [there](#there)

- \# one
- two\!

````
a ``` b
````

<a id="figure-f"></a>
![\[x\]](figures/f.png)

See **this**.

<a id="table-t"></a>
c

| a\|b | n |
| --- | ---: |
| &lt;x&gt; | 1.50 |
| www\.x.example | – |

<a id="table-u"></a>

<details>
<summary><strong>c</strong> <code>&lt;d&gt;</code></summary>

| a |
| ---: |
| 1 |

</details>

<a id="table-v"></a>
c

| a |
| ---: |
| **0.50 ±0.20** |

---

Footer
"""
