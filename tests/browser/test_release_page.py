"""The page of a release in a real browser: nothing runs, nothing is fetched, and it fits any window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fim_private.report.document.html import to_html
from fim_private.report.pages.release import release_document
from tests.browser.conftest import HOSTILE
from tests.rules.releases import released

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

COUNTS = {
    (HOSTILE,): 900,
    (HOSTILE, "milk"): 400,
    ("bread", "milk"): 300,
    ("tea " * 40, "milk"): 90,
    ("牛奶", "tea"): 5,
}


@pytest.mark.parametrize("seeded", [False, True])
def test_the_page_shows_names_and_runs_none(browser: Chrome, tmp_path: Path, seeded: bool) -> None:
    path = tmp_path / "page.html"
    path.write_text(to_html(release_document(released(COUNTS, total=1000, half=30, seeded=seeded))), encoding="utf-8")
    browser.get_log("browser")
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    cells = [cell.text for cell in browser.find_elements("css selector", "figure[id^=table-itemsets] td:nth-child(2)")]
    assert len(cells) == len(COUNTS)
    assert cells[0].startswith("<script>alert(1)</script>")
    assert len(browser.find_elements("css selector", "[id^=figure-counts] rect")) == len(COUNTS)
    assert len(browser.find_elements("css selector", "#figure-items circle")) == 6
    assert len(browser.find_elements("css selector", "script")) == 1
    color = browser.find_element("css selector", "header").value_of_css_property("background-color")
    assert color.startswith("rgba(163, 0, 0" if seeded else "rgba(26, 26, 26")
    for width in (360, 1200):
        browser.set_window_size(width, 900)
        inner, page = browser.execute_script("return [innerWidth, document.documentElement.scrollWidth]")
        assert page <= inner
    browser.set_window_size(1200, 900)
