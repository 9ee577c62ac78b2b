"""What the reports say of margins is what their figures show."""

from __future__ import annotations

import re

import pytest

from fim_private.report.comparison.sections.margins import _verdict
from tests.conftest import ROOT


def test_circles_that_are_not_drawn_are_not_spoken_of() -> None:
    assert _verdict(10, certified=True, inside=True) == "At k = 10 the curve runs below a circle: `lmm` finds its gap."
    above = "At k = 10 the curve stays above all circles: `lmm` finds no gap."
    assert _verdict(10, certified=False, inside=True) == above
    assert _verdict(10, certified=False, inside=False) == "At k = 10 `lmm` finds no gap."


@pytest.mark.parametrize(("data", "long"), [("groceries", False), ("retail", True), ("online-retail-customers", True)])
def test_a_caption_says_of_each_panel_only_what_it_shows(data: str, long: bool) -> None:
    text = (ROOT / "reports" / data / "report.md").read_text(encoding="utf-8")
    (caption,) = re.findall(r"^\*\*[\w-]+, size 2\.\*\* At k = .*", text, re.MULTILINE)
    panels = re.split(r"(?=At k = )", caption)[1:]
    assert len(panels) == 2
    for panel in panels:
        assert ("circle" in panel.partition("The thresholds")[0]) == ("`lmm` is not in the picture" not in panel)
    assert ("The curve is drawn to place 1,000,000." in caption) == long
