"""A realistic report, and a real browser to read it with."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fim_private.report.document import Bullets, Code, Document, Figure, Paragraph, Section, Table
from fim_private.report.document.html import to_html

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

HOSTILE = "<script>alert(1)</script> \"q\" 'a' | ` ** \x00\x1b[2J \u202eklim [x](https://x.example) $x$"
MECHANISMS = ("lmm", "limited-domain", "exponential")
BANNER = "EXACT FIGURES OF PUBLIC DATA: this report shows true counts, protects nobody and must never be made of others"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


def chart(*, hostile: str = "") -> str:
    """Lines, bars with hatches and markers, one group a mechanism: all that gives a matplotlib figure ids."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context({"svg.hashsalt": "report", "svg.fonttype": "none"}):
        canvas = Canvas(figsize=(7, 3.5), layout="constrained")
        lines, bars = canvas.subplots(1, 2)
        for index, name in enumerate(MECHANISMS):
            (line,) = lines.plot([0.1, 0.5, 1, 2], [0.1 * index, 0.4, 0.7, 0.9 + 0.03 * index], marker="os^"[index])
            line.set_gid(f"mechanism:{name}:line")
            (bar,) = bars.bar([index], [1 + index], hatch=["//", "..", ""][index])
            bar.set_gid(f"mechanism:{name}")
        lines.set_xlabel("epsilon")
        lines.set_ylabel("precision at 10")
        bars.set_title(hostile or "seconds")
        file = io.StringIO()
        canvas.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def sample_document(*, hostile: str = HOSTILE) -> Document:
    """A small report with one of everything."""
    rows = (
        ("exponential", 0.5, 12_345, "white mug"),
        ("lmm", 1.25, None, hostile),
        ("limited-domain", None, 7, "tea + mug 10"),
        ("lmm", 1e-6, 7, "tea + mug 9"),
    )
    head = ("mechanism", "precision", "itemsets", "first itemset")
    long = tuple((MECHANISMS[index % 3], f"{hostile} {index}", index, index / 7) for index in range(120))
    sentences = (
        "The large margin mechanism names an itemset only where its lead over the others is large; below that lead it "
        "is **silent**, and says so. How the runs were made is told [below](#method); `--top 10` was asked for. "
    )
    words = Paragraph(text=sentences * 3)
    lines = Figure(name="lines", svg=chart(), alt=f"Two panels {hostile}", caption="All rise with **epsilon**.")
    scores = Table(name="scores", head=head, rows=rows, caption="Scores of `lmm` and others.", mechanism_column=0)
    command = "fim-private compare baskets.csv --size 2 --top 10 " + "--epsilon 1 " * 12 + f"\n{hostile}"
    return Document(
        title="Comparison of mechanisms on retail baskets",
        banner=BANNER,
        introduction=(words, Bullets(items=("**lmm** needs a lead, not a universe", "see [the table](#table-scores)"))),
        sections=(
            Section(
                anchor="precision",
                title=f"Precision of {hostile}",
                parts=(words, lines, scores),
            ),
            Section(
                anchor="speed",
                title="Speed",
                parts=(words, Figure(name="bars", svg=chart(hostile="<b> & x"), alt="Bars", caption="All are quick.")),
            ),
            Section(
                anchor="method",
                title="Method",
                parts=(
                    words,
                    Code(text=command),
                    Table(
                        name="runs",
                        head=("mechanism", "what", "run", "value"),
                        rows=long,
                        caption="Every run.",
                        mechanism_column=0,
                        collapsed=True,
                    ),
                    words,
                ),
            ),
        ),
        mechanisms=MECHANISMS,
        footer="Made by `fim-private compare`.",
    )


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Headless Chromium, or a skip that says what to install."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("no browser here; Debian's packages chromium and chromium-driver bring one")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not here; it is in the extra `test`")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    # A named driver keeps selenium from looking for one to download.
    chrome = webdriver.Chrome(options=options, service=Service(executable_path=driver))
    # The driver now and then leaves a service worker waiting for a debugger, and with it the page that it serves. The
    # desk's framework registers one for files that the desk has not, wherever a browser knows of them.
    source = "delete Navigator.prototype.serviceWorker"
    chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    # Away from the browser's own first page, which asks for things of its own.
    chrome.get("about:blank")
    yield chrome
    chrome.quit()


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample report as a file."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(to_html(sample_document()), encoding="utf-8")
    return path
