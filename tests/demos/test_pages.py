"""The committed pages: what they say is what the lessons say now, and they work in a browser by themselves."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fim_private.demos.course import DEMOS
from fim_private.demos.demo import Demo
from fim_private.demos.page import BANNER
from fim_private.demos.terminal import plain
from fim_private.report.document import Choice, Code, Document, Paragraph, Section
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
    import re

    return unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def test_there_is_a_page_a_lesson() -> None:
    assert {page.stem for page in FOLDER.glob("*.html")} == {demo.name for demo in DEMOS}


@EACH
def test_a_page_says_what_the_lesson_says(demo: Demo) -> None:
    page = FOLDER / f"{demo.name}.html"
    assert page.stat().st_size < 300_000
    said, control = words_of(page), demo.controls[0]
    assert BANNER in said
    assert demo.question.text in said
    assert (ROOT / "fim_private/demos" / demo.source).is_file()
    assert f"fim_private/demos/{demo.source}" in said
    for part in demo.introduction:
        if isinstance(part, Paragraph):
            assert plain(part.text) in said
    for choice in control.choices:
        assert f"At {control.name} = {choice}: {demo.verdict(demo.settings({control.name: choice}))}" in said
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
    with window(browser, 1200):
        browser.get_log("browser")
        requests(browser)
        browser.get(address)
        assert set(requests(browser)) == {address}
        control = demo.controls[0]
        assert browser.execute_script(seen) == control.choices.index(control.start)
        for place in (0, len(control.choices) - 1):
            browser.find_elements("css selector", ".choice input")[place].click()
            assert browser.execute_script(seen) == place
            assert browser.execute_script(number) == 1
        assert find(browser, ".choice legend").text.startswith(control.name)
        assert browser.get_log("browser") == []
    with window(browser, 360):
        browser.get(address)
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def choice(start: int = 1, number: int = 3) -> Choice:
    views = tuple((f"<{place}>", (Paragraph(text=f"view **{place}**"), Code(text="x"))) for place in range(number))
    return Choice(name="one", label="which & why", views=views, start=start)


def document(part: Choice) -> Document:
    section = Section(anchor="there", title="There", parts=(part,))
    return Document(title="T", banner="B", introduction=(), sections=(section,), mechanisms=(), footer="F")


def test_a_choice_is_written_in_every_format() -> None:
    page = to_html(document(choice()))
    assert page.count('<div class="view">') == 3
    assert page.count(" checked") == 1
    assert '<input type="radio" name="choice-one" autocomplete="off" checked> &lt;1&gt;' in page
    assert "<legend>which &amp; why</legend>" in page
    markdown = to_markdown(document(choice()))
    assert "which &amp; why: &lt;1&gt;" in markdown
    assert "view **1**" in markdown
    assert "view **0**" not in markdown


def test_a_choice_that_cannot_be_made_is_refused() -> None:
    for start, number in ((3, 3), (0, 0), (0, 13)):
        with pytest.raises(ValueError, match="choice one"):
            choice(start, number)
