"""The committed pages: what they say is what the lessons say now, and they work in a browser by themselves."""

from __future__ import annotations

import re
from html import unescape
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fim_private.demos.chart import Chart
from fim_private.demos.course import DEMOS, find_demo
from fim_private.demos.demo import Demo
from fim_private.demos.page import BANNER, write_page
from fim_private.demos.terminal import plain
from fim_private.report.document import Choice, Code, Dial, Document, Paragraph, Section
from fim_private.report.document.html import to_html
from fim_private.report.document.markdown import to_markdown
from tests.browser.conftest import browser
from tests.browser.test_page import find, requests, window
from tests.conftest import ROOT

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

__all__ = ["browser"]

FOLDER = ROOT / "reports" / "demos"
EACH = pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)


def words_of(page: Path) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def test_there_is_a_page_a_lesson() -> None:
    assert {page.stem for page in FOLDER.glob("*.html")} == {demo.name for demo in DEMOS}


def test_links_between_pages_lead_somewhere() -> None:
    """Of lessons to lessons, and of reports to reports."""
    found = 0
    for page in (ROOT / "reports").glob("*/*.html"):
        for address in set(re.findall(r'href="([^"#:]+)"', page.read_text("utf-8"))):
            assert (page.parent / address).is_file(), f"{page.name} links to {address}"
            found += 1
    assert found >= 10


@pytest.mark.slow
def test_a_lesson_links_only_to_pages_that_are_beside_it(tmp_path: Path) -> None:
    lesson = find_demo("universe")
    alone = write_page(lesson, tmp_path / "alone").read_text("utf-8")
    beside = write_page(lesson, tmp_path / "both", beside=("certificate.html",)).read_text("utf-8")
    assert "<code>fim-private demo certificate</code>" in alone
    assert "certificate.html" not in alone
    assert '<a href="certificate.html"><code>fim-private demo certificate</code></a>' in beside


@EACH
def test_a_page_says_what_the_lesson_says(demo: Demo) -> None:
    page = FOLDER / f"{demo.name}.html"
    assert page.stat().st_size < 400_000
    said = words_of(page)
    assert BANNER in said
    assert demo.question.text in said
    assert (ROOT / "fim_private/demos" / demo.source).is_file()
    assert f"fim_private/demos/{demo.source}" in said
    for part in demo.introduction:
        if isinstance(part, Paragraph):
            assert plain(part.text) in said
    first, second = demo.controls[:2]
    for one, other in product(first.choices, second.choices):
        verdict = demo.verdict(demo.settings({first.name: one, second.name: other}))
        assert f"At {first.name} = {one}, {second.name} = {other}: {verdict}" in said
    # Numbers too, at one place: the text that names them.
    for shown in demo.show(demo.settings()):
        if isinstance(shown, Paragraph):
            assert plain(shown.text) in said


@pytest.mark.slow
@EACH
def test_a_page_works_in_a_browser(browser: Chrome, demo: Demo) -> None:
    address = (FOLDER / f"{demo.name}.html").as_uri()
    seen = "return [...document.querySelectorAll('.view')].map(view => view.checkVisibility()).indexOf(true)"
    number = "return [...document.querySelectorAll('.view')].filter(view => view.checkVisibility()).length"
    figures = "return [...document.querySelectorAll('.choice svg')].filter(drawn => drawn.checkVisibility()).length"
    with window(browser, 1200):
        browser.get_log("browser")
        requests(browser)
        browser.get(address)
        assert set(requests(browser)) == {address}
        first, second = demo.controls[:2]
        across, start = len(first.choices), first.choices.index(first.start)
        group = second.choices.index(second.start)
        assert browser.execute_script(seen) == group * across + start
        inputs = browser.find_elements("css selector", ".choice input")
        for place in (0, across - 1):
            inputs[place].click()
            assert browser.execute_script(seen) == group * across + place
        for place in (0, len(second.choices) - 1):
            inputs[across + place].click()
            assert browser.execute_script(seen) == place * across + across - 1
            assert browser.execute_script(number) == 1
            # Nothing of the other groups is seen: one figure at most for each chart of the lesson.
            assert browser.execute_script(figures) <= sum(
                isinstance(part, Chart) for part in demo.show(demo.settings())
            )
        assert find(browser, ".choice legend").text.startswith(first.name)
        assert browser.get_log("browser") == []
    with window(browser, 360):
        browser.get(address)
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def view(words: str) -> tuple[Paragraph, Code]:
    return (Paragraph(text=f"view **{words}**"), Code(text="x"))


def choice(start: int = 1, number: int = 3) -> Choice:
    dial = Dial(label="which & why", names=tuple(f"<{place}>" for place in range(number)), start=start)
    return Choice(name="one", dials=(dial,), views=tuple(view(str(place)) for place in range(number)))


def two() -> Choice:
    dials = (Dial(label="a", names=("1", "2", "3"), start=2), Dial(label="b", names=("x", "y"), start=1))
    views = tuple(view(f"{one.upper()}{other}") for one in "xy" for other in "123")
    return Choice(name="two", dials=dials, views=views, below=(view("below X"), view("below Y")))


def document(part: Choice) -> Document:
    section = Section(anchor="there", title="There", parts=(part,))
    return Document(title="T", banner="B", introduction=(), sections=(section,), mechanisms=(), footer="F")


def test_a_choice_is_written_in_every_format() -> None:
    page = to_html(document(choice()))
    assert page.count('<div class="view">') == 3
    assert page.count(" checked") == 1
    assert '<input type="radio" name="choice-one-1" autocomplete="off" checked> &lt;1&gt;' in page
    assert "<legend>which &amp; why</legend>" in page
    markdown = to_markdown(document(choice()))
    assert "which &amp; why: &lt;1&gt;" in markdown
    assert "view **1**" in markdown
    assert "view **0**" not in markdown


def test_a_choice_may_have_two_dials() -> None:
    page = to_html(document(two()))
    assert page.count('<div class="views">') == 2
    assert page.count('<div class="view">') == 6
    assert page.count(" checked") == 2
    markdown = to_markdown(document(two()))
    assert "a: 3; b: y" in markdown
    shown = [
        words for words in ("X1", "X2", "X3", "Y1", "Y2", "Y3", "below X", "below Y") if f"**{words}**" in markdown
    ]
    assert shown == ["Y3", "below Y"]


@pytest.mark.slow
def test_two_dials_show_one_view_and_what_is_below_its_group(browser: Chrome, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(to_html(document(two())), "utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    shown = "[...document.querySelectorAll('.choice strong')].filter(it => it.checkVisibility())"
    seen = f"return {shown}.map(it => it.textContent)"
    inputs = browser.find_elements("css selector", ".choice input")
    assert browser.execute_script(seen) == ["Y3", "below Y"]
    for group, name in ((3, "X"), (4, "Y")):
        inputs[group].click()
        for place in range(3):
            inputs[place].click()
            assert browser.execute_script(seen) == [f"{name}{place + 1}", f"below {name}"]


def test_a_choice_that_cannot_be_made_is_refused() -> None:
    for start, number in ((3, 3), (0, 0), (0, 13)):
        with pytest.raises(ValueError, match="dial which"):
            choice(start, number)
    dial = Dial(label="a", names=("1", "2"))
    for dials, number in (((), 0), ((dial,), 3), ((dial, dial), 2), ((dial, dial, dial), 8)):
        with pytest.raises(ValueError, match="choice one"):
            Choice(name="one", dials=dials, views=tuple(view("") for _ in range(number)))
    with pytest.raises(ValueError, match="below"):
        Choice(name="one", dials=(dial,), views=(view(""), view("")), below=(view(""), view("")))
