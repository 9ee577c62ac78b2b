"""The page in a real browser: what its script does, and that it asks nobody for anything."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fim_private.report.document.html import to_html
from tests import processes
from tests.browser.conftest import BANNER, MECHANISMS, sample_document

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

SEEN = (
    "return [...document.querySelectorAll('[data-mechanism]')]"
    # The first knows of folded tables, the second of groups in drawings.
    ".filter(e => e.checkVisibility() && e.getClientRects().length)"
)

pytestmark = pytest.mark.slow
IN_FIGURES = SEEN + ".filter(e => e.closest('svg')).map(e => e.dataset.mechanism)"
IN_TABLES = SEEN + ".filter(e => e.closest('table')).map(e => e.dataset.mechanism)"


@contextmanager
def window(browser: Chrome, width: int, height: int = 800) -> Iterator[None]:
    """The page's window has this size, smaller than a desktop's windows can be."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.fixture
def opened(browser: Chrome, page: Path) -> Iterator[Chrome]:
    with window(browser, 1200):
        browser.get(page.as_uri())
        yield browser


def find(browser: Chrome, selector: str) -> WebElement:
    return browser.find_element("css selector", selector)


def requests(browser: Chrome) -> list[str]:
    """The addresses asked for since the last time; those that the page's policy stopped begin with "stopped"."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    events = [(message["method"], message["params"]) for message in messages]
    asked = {
        event["requestId"]: event["request"]["url"] for kind, event in events if kind == "Network.requestWillBeSent"
    }
    for kind, event in events:
        if kind == "Network.loadingFailed" and event.get("blockedReason") == "csp":
            asked[event["requestId"]] = "stopped " + asked[event["requestId"]]
    return list(asked.values())


def test_nothing_is_asked_for_and_nothing_goes_wrong(browser: Chrome, page: Path) -> None:
    requests(browser)
    browser.get_log("browser")
    browser.get(page.as_uri())
    assert requests(browser) == [page.as_uri()]
    assert browser.get_log("browser") == []


def test_no_other_script_runs_and_no_address_is_asked(browser: Chrome, page: Path) -> None:
    """The last line of defence, should a text ever get through."""
    harm = '<script>window.harm = 1</script><img src="https://x.example/x.png" onerror="window.harm = 2">'
    harmed = page.with_name("harmed.html")
    harmed.write_text(page.read_text("utf-8").replace("<main>", f"<main>{harm}"), encoding="utf-8")
    requests(browser)
    browser.get(harmed.as_uri())
    assert browser.execute_script("return [window.harm, document.images.length]") == [None, 1]
    assert [entry for entry in browser.get_log("browser") if "Content Security Policy" not in entry["message"]] == []
    assert sorted(requests(browser)) == [harmed.as_uri(), "stopped https://x.example/x.png"]


def test_the_switch_hides_and_shows_in_figures_and_tables(opened: Chrome) -> None:
    find(opened, "#table-runs summary").click()
    everything = [opened.execute_script(script) for script in (IN_FIGURES, IN_TABLES)]
    assert set(everything[0]) == set(everything[1]) == set(MECHANISMS)
    assert [len(names) for names in everything] == [12, 124]

    box = find(opened, "#mechanisms input[value=lmm]")
    box.click()
    for before, script in zip(everything, (IN_FIGURES, IN_TABLES), strict=True):
        assert opened.execute_script(script) == [name for name in before if name != "lmm"]
    box.send_keys(" ")
    assert [opened.execute_script(script) for script in (IN_FIGURES, IN_TABLES)] == everything

    find(opened, "#mechanisms button[value=none]").click()
    assert opened.execute_script(SEEN) == []
    assert opened.execute_script("return document.querySelectorAll('#mechanisms :checked').length") == 0
    find(opened, "#mechanisms button[value=all]").click()
    assert [opened.execute_script(script) for script in (IN_FIGURES, IN_TABLES)] == everything

    box.click()
    assert opened.current_url.endswith("?hide=lmm")
    opened.refresh()
    assert opened.execute_script(IN_FIGURES) == [name for name in everything[0] if name != "lmm"], "the address tells"
    find(opened, "#mechanisms button[value=all]").click()
    assert "hide" not in opened.current_url
    opened.refresh()
    assert opened.execute_script(IN_FIGURES) == everything[0]


def test_tables_are_sorted(opened: Chrome) -> None:
    column = "return [...document.querySelectorAll('#table-scores tbody tr')].map(r => r.cells[arguments[0]].innerText)"
    state = "return [...document.querySelectorAll('#table-scores th')].map(h => h.getAttribute('aria-sort'))"
    heads = opened.find_elements("css selector", "#table-scores th button")
    assert [head.accessible_name for head in heads] == ["mechanism", "precision", "itemsets", "first itemset"]

    heads[1].click()
    assert opened.execute_script(column, 1) == ["<0.01", "0.50", "1.25", "–"]
    assert opened.execute_script(state) == [None, "ascending", None, None]
    heads[1].send_keys("\n")
    assert opened.execute_script(column, 1) == ["1.25", "0.50", "<0.01", "–"]
    assert opened.execute_script(state) == [None, "descending", None, None]

    heads[0].click()
    assert opened.execute_script(column, 0) == ["exponential", "limited-domain", "lmm", "lmm"]
    assert opened.execute_script(column, 1) == ["0.50", "–", "1.25", "<0.01"], "ties keep the order they had"
    assert opened.execute_script(state) == ["ascending", None, None, None]
    heads[0].click()
    assert opened.execute_script(column, 1) == ["1.25", "<0.01", "–", "0.50"], "ties keep the order they had"

    heads[2].click()
    assert opened.execute_script(column, 2) == ["7", "7", "12,345", "–"]
    heads[2].click()
    assert opened.execute_script(column, 2) == ["12,345", "7", "7", "–"]
    heads[3].click()
    assert [text[:12] for text in opened.execute_script(column, 3)][1:] == ["tea + mug 9", "tea + mug 10", "white mug"]


def test_the_contents_lead_to_the_headings(opened: Chrome) -> None:
    for width in (1200, 360):
        with window(opened, width):
            for link in opened.find_elements("css selector", "nav a"):
                anchor = link.get_dom_attribute("href")
                opened.execute_script("arguments[0].click()", link)
                assert opened.execute_script("return location.hash") == anchor
                # The heading is what is seen at its place, not the banner or the switch above it.
                assert opened.execute_script(
                    "const heading = document.getElementById(location.hash.slice(1));"
                    "const box = heading.getBoundingClientRect();"
                    "return heading.contains(document.elementFromPoint(box.left + 20, box.top + 5 + parseFloat("
                    "getComputedStyle(heading).paddingTop)))"
                ), f"{anchor} at a width of {width}"


def test_a_link_to_a_folded_table_unfolds_it(opened: Chrome) -> None:
    assert not find(opened, "#table-runs table").is_displayed()
    opened.execute_script("location.hash = 'table-runs'")
    opened.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 0))")
    assert find(opened, "#table-runs table").is_displayed()


@pytest.mark.parametrize("width", [320, 360, 800, 1200])
def test_the_page_scrolls_one_way_only(opened: Chrome, width: int) -> None:
    with window(opened, width):
        for details in opened.find_elements("css selector", "details:not([open]) > summary"):
            details.click()
        inner, page = opened.execute_script("return [innerWidth, document.documentElement.scrollWidth]")
        assert inner == width
        assert page <= inner
        drawings = opened.execute_script("return [...document.querySelectorAll('svg')].map(s => s.clientWidth)")
        boxes = opened.execute_script("return [...document.querySelectorAll('figure')].map(s => s.clientWidth)")
        assert all(box <= width for box in boxes)
        # Never so small that nobody could read them: on a phone they scroll in their boxes.
        assert all(drawing > 400 for drawing in drawings)
        if width == 360:
            scrolled = "return [...document.querySelectorAll('.scroll')].every(s => s.scrollWidth > s.clientWidth)"
            assert opened.execute_script(scrolled), "the tables of the sample are wider than a phone"


def test_a_row_that_is_scrolled_on_a_phone_keeps_its_name(opened: Chrome) -> None:
    with window(opened, 360):
        box, cell = find(opened, "#table-scores .scroll"), find(opened, "#table-scores td")
        opened.execute_script("arguments[0].scrollLeft = 99", box)
        assert opened.execute_script("return arguments[0].scrollLeft", box) > 50
        assert cell.rect["x"] == box.rect["x"]


def test_words_have_room_and_numbers_do_not_break(browser: Chrome, tmp_path: Path) -> None:
    from fim_private.report.document import Document, Table

    rows = (("a mug with a white handle + " * 6, *["1,327\u00a0→\u00a01,328"] * 4),)
    table = Table(name="wide", head=("itemset", *"abcd"), rows=rows, caption="c")
    path = tmp_path / "wide.html"
    document = Document(title="t", banner="b", introduction=(table,), sections=(), footer="f")
    path.write_text(to_html(document), encoding="utf-8")
    with window(browser, 360):
        browser.get(path.as_uri())
        assert find(browser, "td").rect["width"] > 120, "not one word per line"
    with window(browser, 640):  # about as wide as paper
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        try:
            cells = browser.find_elements("css selector", "td")
            lines = "const range = document.createRange(); range.selectNodeContents(arguments[0]); "
            lines += "return range.getClientRects().length"
            assert [browser.execute_script(lines, cell) for cell in cells[1:]] == [1] * 4
        finally:
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_banner_is_always_seen(opened: Chrome) -> None:
    for width in (360, 1200):
        with window(opened, width):
            opened.execute_script("scrollTo(0, document.documentElement.scrollHeight)")
            top = opened.execute_script("return document.querySelector('header').getBoundingClientRect().top")
            assert top == 0
            assert opened.execute_script("return scrollY") > 500
            assert find(opened, "header").text == BANNER


def test_the_page_is_whole_without_its_script(browser: Chrome, page: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(page.as_uri())
        assert find(browser, "header").text == BANNER
        assert not find(browser, "#mechanisms").is_displayed()
        assert browser.find_elements("css selector", "th button") == []
        assert find(browser, "#lines\\:axes_1").is_displayed()
        assert find(browser, "#table-scores td").text == "exponential"
        find(browser, "nav a[href='#method']").click()
        assert browser.current_url.endswith("#method")
        find(browser, "#table-runs summary").click()
        assert find(browser, "#table-runs td").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("script", [True, False])
def test_every_printed_page_has_the_banner(browser: Chrome, page: Path, tmp_path: Path, script: bool) -> None:
    reader = shutil.which("pdftotext")
    if not reader:
        pytest.skip("no reader of PDF files here; Debian's package poppler-utils brings one")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
    try:
        browser.get(page.as_uri())
        pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"]
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    path = tmp_path / "report.pdf"
    path.write_bytes(base64.b64decode(pdf))
    shown = processes.run([reader, "-layout", path, "-"], text=True, check=True).stdout
    pages = [" ".join(words.split()) for words in shown.split("\f")[:-1]]
    assert [number for number, words in enumerate(pages, 1) if not words.startswith(BANNER)] == []
    assert "119 17.00" not in shown, "what is folded stays folded on paper"
    assert "Show mechanisms" not in shown


def test_a_report_without_mechanisms_has_no_switch(browser: Chrome, tmp_path: Path) -> None:
    import dataclasses

    path = tmp_path / "report.html"
    path.write_text(to_html(dataclasses.replace(sample_document(), mechanisms=())), encoding="utf-8")
    browser.get_log("browser")
    browser.get(path.as_uri())
    assert browser.find_elements("css selector", "#mechanisms") == []
    assert browser.get_log("browser") == []


@pytest.fixture
def sheet(browser: Chrome, tmp_path: Path) -> Iterator[Chrome]:
    """A page with what the sample does not have: a folded section, groups, estimates, numbers as text, two layouts."""
    from fim_private.report.document import Document, Estimate, Figure, Section, Table

    rows = (
        ("open", "lmm", Estimate(value=0.83, low=0.8, high=0.9, best=True), "3.3e-8"),
        ("open", "auto", Estimate(value=0.9, low=0.8, high=1.0), "1.17"),
        ("told", "lmm", None, "~1.2"),
        ("told", "auto", 0.001, "nothing found"),
    )
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="600" viewBox="0 0 600 100"><rect width="9" height="9"/></svg>'
    table = Table(
        name="grouped", head=("list", "mechanism", "precision", "delta"), rows=rows, caption="c", grouped=True
    )
    sections = (
        Section(anchor="first", title="First", parts=(Figure(name="f", svg=svg, narrow=svg, alt="a", caption="c"),)),
        Section(anchor="rest", title="Rest", parts=(table,), folded=True),
    )
    path = tmp_path / "sheet.html"
    document = Document(title="t", banner="b", introduction=(), sections=sections, footer="f")
    path.write_text(to_html(document), encoding="utf-8")
    with window(browser, 1200):
        browser.get(path.as_uri())
        yield browser


def test_a_link_opens_a_folded_section(sheet: Chrome) -> None:
    assert not find(sheet, "#table-grouped").is_displayed()
    sheet.execute_script("location.hash = 'rest'")
    sheet.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 0))")
    assert find(sheet, "#table-grouped").is_displayed()


def test_groups_stay_together_and_text_sorts_as_numbers(sheet: Chrome) -> None:
    sheet.execute_script("document.querySelector('main details').open = true")
    column = "return [...document.querySelectorAll('#table-grouped tbody tr')].map(r => r.lastElementChild.innerText)"
    heads = sheet.find_elements("css selector", "#table-grouped thead button")
    assert [head.text for head in heads] == ["mechanism", "precision", "delta"]
    heads[2].click()
    assert sheet.execute_script(column) == ["open", "3.3e-8", "1.17", "told", "~1.2", "nothing found"]
    heads[2].click()
    assert sheet.execute_script(column) == ["open", "1.17", "3.3e-8", "told", "nothing found", "~1.2"]
    assert [cell.text for cell in sheet.find_elements("css selector", "#table-grouped strong")] == ["0.83 ±0.07"]
    assert "<0.01" in find(sheet, "#table-grouped").text


def test_panels_stack_on_a_phone(sheet: Chrome) -> None:
    assert [svg.is_displayed() for svg in sheet.find_elements("css selector", "figure svg")] == [True, False]
    with window(sheet, 390):
        assert [svg.is_displayed() for svg in sheet.find_elements("css selector", "figure svg")] == [False, True]
        assert find(sheet, "svg.narrow").rect["width"] <= 390


def test_the_warning_is_legible_on_paper_also_with_backgrounds(sheet: Chrome) -> None:
    sheet.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        style = "return [getComputedStyle(arguments[0]).color, getComputedStyle(arguments[1]).backgroundColor]"
        found = sheet.execute_script(style, find(sheet, "header p"), find(sheet, "header"))
        assert found == ["rgb(0, 0, 0)", "rgba(0, 0, 0, 0)"]
    finally:
        sheet.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
