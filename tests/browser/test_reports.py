"""The reports of this repository, as a reader opens them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_page import IN_FIGURES, IN_TABLES, find, requests, window
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

AUDIT = ROOT / "reports" / "audit" / "index.html"
THEORY = ROOT / "reports" / "theory" / "index.html"
REPORTS = sorted(path for path in (ROOT / "reports").glob("*/index.html") if path not in (AUDIT, THEORY))


def test_there_are_three_reports() -> None:
    assert [path.parent.name for path in REPORTS] == ["groceries", "online-retail-customers", "retail"]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.parent.name)
def test_a_report_works_in_a_browser(browser: Chrome, path: Path) -> None:
    with window(browser, 1200):
        browser.get_log("browser")
        requests(browser)
        browser.get(path.as_uri())
        assert set(requests(browser)) == {path.as_uri()}
        for box in browser.find_elements("css selector", "#mechanisms details:not([open]) > summary"):
            box.click()
        assert "lmm-paper" in browser.execute_script(IN_FIGURES)
        assert "lmm-paper" in browser.execute_script(IN_TABLES)
        find(browser, "#mechanisms input[value='lmm-paper']").click()
        assert "lmm-paper" not in browser.execute_script(IN_FIGURES)
        assert "lmm-paper" not in browser.execute_script(IN_TABLES)

        table = f"#table-answer-{path.parent.name}"
        head = browser.find_elements("css selector", f"{table} thead th")[-1]
        for _ in range(2):
            browser.execute_script("(arguments[0].querySelector('button') || arguments[0]).click()", head)
            for group in browser.find_elements("css selector", f"{table} tbody"):
                cells = group.find_elements("css selector", "td:last-child")
                values = [float(cell.get_attribute("data-value") or "inf") for cell in cells]
                assert values == sorted(values, reverse=head.get_attribute("aria-sort") == "descending")
        assert browser.get_log("browser") == []
    with window(browser, 360):
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("path", [AUDIT, THEORY], ids=["audit", "theory"])
def test_a_report_of_proofs_fits_a_screen_and_loads_nothing(browser: Chrome, path: Path) -> None:
    for width in (1200, 360):
        with window(browser, width):
            browser.get_log("browser")
            requests(browser)
            browser.get(path.as_uri())
            assert set(requests(browser)) == {path.as_uri()}
            assert browser.find_elements("css selector", "#table-claims tbody tr, #table-mechanisms tbody tr")
            assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
            assert browser.get_log("browser") == []
