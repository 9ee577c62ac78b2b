"""The pages of docs/: every link leads somewhere, every test that is named exists, every number is computed again."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from fim_private.demos.planned import mechanism_of, pairs_plan
from fim_private.demos.registry import DEMOS
from fim_private.mechanisms.items_first import ItemsFirst
from tests.cli.command import fim_private, words
from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
REPORTS = ("retail", "groceries", "online-retail-customers")
EPSILONS = ("0.1", "0.25", "0.5", "1", "2")
TOPS = (1, 5, 10, 20, 100)


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def results(report: str) -> pl.DataFrame:
    return pl.read_parquet(ROOT / "reports" / report / "results.parquet").filter(~pl.col("padded"))


def precision(report: str, mechanism: str, top: int, epsilon: str, size: int = 2) -> str:
    cell = results(report).filter(
        (pl.col("mechanism") == mechanism)
        & (pl.col("top") == top)
        & (pl.col("epsilon") == epsilon)
        & (pl.col("size") == size)
    )
    assert len(cell)
    return f"{cell['precision'].mean():.2f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def decision() -> str:
    cases = [
        ("no list of items", "up to ten or so itemsets", "limited-domain", 10),
        ("no list of items", "the same from little data, with short transactions", "items-first", 10),
        ("no list of items", "many itemsets, or their counts", "items-first", 100),
        ("no list of items", "only what stands clear of the rest", "lmm", 10),
        ("a short public list", "several itemsets", "exponential", 100),
        ("a short public list", "one itemset, or delta 0", "permute-and-flip", 1),
        ("whatever", "not to think about it", "auto", 10),
        ("whatever", "not to think about it", "auto", 100),
        ("a course to teach", "the published constants", "lmm-paper", 10),
    ]
    head = ["you have", "you want", "take", "k"]
    head += [
        f"{name}, epsilon {epsilon}" for epsilon in ("1", "0.25") for name in ("supermarket", "outlet", "web shop")
    ]
    lines = [head, ["---", "---", "---", *["--:"] * 7]]
    for have, want, mechanism, top in cases:
        figures = [precision(report, mechanism, top, epsilon) for epsilon in ("1", "0.25") for report in REPORTS]
        lines.append([have, want, f"`{mechanism}`", str(top), *figures])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def odds() -> str:
    def after(before: float, epsilon: str) -> str:
        factor = math.exp(float(epsilon))
        sure = 100 * before * factor / (1 - before + before * factor)
        return f"{sure:.{3 if sure < 99.9 else 5}g} %"

    epsilons = ("0.1", "0.5", "1", "2", "3", "5", "10")
    rows = [[f"{100 * before:g} %", *(after(before, epsilon) for epsilon in epsilons)] for before in (0.01, 0.1, 0.5)]
    return table(["sure before", *(f"epsilon {epsilon}" for epsilon in epsilons)], rows)


def leads() -> str:
    rows = [
        [f"top {top}", *(f"{pairs_plan('auto', top=top, epsilon=epsilon).lead:,}" for epsilon in EPSILONS)]
        for top in TOPS
    ]
    return table(["", *(f"epsilon {epsilon}" for epsilon in EPSILONS)], rows)


def share() -> str:
    rows = [[f"top {top}", *(precision("retail", "auto", top, epsilon) for epsilon in EPSILONS)] for top in TOPS]
    return table(["", *(f"epsilon {epsilon}" for epsilon in EPSILONS)], rows)


def noise() -> str:
    figures = []
    for epsilon in EPSILONS:
        plan = pairs_plan("items-first", top=100, epsilon=epsilon, select="counts")
        figures.append(f"{mechanism_of(ItemsFirst, plan).measurements[-1][1].deviation:,.0f}")
    return table([f"epsilon {epsilon}" for epsilon in EPSILONS], [figures])


def lessons() -> str:
    rows = [
        [
            str(place),
            f"[{demo.title}](../reports/demos/{demo.name}.html)",
            f"`fim-private demo {demo.name}`",
            f"{demo.minutes}",
            demo.question.text,
        ]
        for place, demo in enumerate(DEMOS, start=1)
    ]
    lines = [["", "lesson", "in the terminal", "minutes", "question"], ["--:", "---", "---", "--:", "---"], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


BLOCKS: dict[tuple[str, str], Callable[[], str]] = {
    ("choosing-a-mechanism", "decision"): decision,
    ("choosing-epsilon", "odds"): odds,
    ("choosing-epsilon", "leads"): leads,
    ("choosing-epsilon", "precision"): share,
    ("choosing-epsilon", "noise"): noise,
    ("teaching", "lessons"): lessons,
}


@pytest.mark.parametrize(("page", "name"), BLOCKS, ids=[f"{page}-{name}" for page, name in BLOCKS])
def test_figures_are_those_of_the_reports_and_the_planner(page: str, name: str) -> None:
    assert f"<!-- {name} -->\n{BLOCKS[page, name]()}\n<!-- end of {name} -->" in text(DOCS / f"{page}.md")


def test_every_marked_figure_is_computed() -> None:
    marked = {(page.stem, name) for page in PAGES for name in re.findall(r"<!-- (?!end of )(\w+) -->", text(page))}
    assert marked == set(BLOCKS)


def anchors(path: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", text(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize(
    "page",
    [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))],
    ids=lambda path: path.name,
)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", text(page))
    for link in links:
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), link
        if anchor:
            assert anchor in anchors(path), link
    assert links


def test_every_page_can_be_found() -> None:
    assert "](docs/README.md)" in text(ROOT / "README.md")
    for page in PAGES:
        assert page.name == "README.md" or f"]({page.name})" in text(DOCS / "README.md")
        assert "](../fim_private/" in text(page) or page.name == "README.md", f"{page.name} leads to no code"


def rows_of_theorems() -> list[list[str]]:
    lines = [line for line in text(DOCS / "theorems.md").splitlines() if line.startswith("| ")]
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if not line.startswith("| source")
    ]


def test_every_theorem_s_tests_and_lesson_exist() -> None:
    names = {demo.name for demo in DEMOS}
    rows = rows_of_theorems()
    for source, _, file, tests, lesson in rows:
        assert re.fullmatch(r"\[`[\w/.]+`\]\(\.\./(fim_private|verification)/[\w/.]+\.py\)", file), source
        named = re.findall(r"\[`(\w+)`\]\(\.\./(tests/[\w/.]+\.py)\)", tests)
        assert named, source
        for test, path in named:
            assert re.search(rf"^def {test}\(", text(ROOT / path), flags=re.MULTILINE), (source, test)
        if lesson != "–":
            assert re.fullmatch(r"\[`([\w-]+)`\]\(\.\./reports/demos/\1\.html\)", lesson), source
            assert lesson.split("`")[1] in names, source
    assert {lesson.split("`")[1] for *_, lesson in rows if lesson != "–"} == names, "a lesson shows no theorem"


def test_the_papers_are_covered() -> None:
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text(DOCS / "theorems.md"), re.MULTILINE | re.DOTALL))
    for title, wanted in PAPERS.items():
        named = re.findall(r"^\| (\w+ [\d.()]+|Theorem C\.1) \|", sections[title], flags=re.MULTILINE)
        assert wanted <= set(named), wanted - set(named)


PAPERS = {
    "The large margin mechanism": {
        *(f"Algorithm {number}" for number in (1, 2, 3, 4)),
        *(f"Theorem {number}" for number in (1, 2)),
        "Condition 1",
        "Proposition 1",
        "Corollary 1",
        "Corollary 2",
        "Theorem 3",
    },
    "Private selection from private candidates": {
        *(f"Algorithm {number}" for number in (1, 2, 3, 4, 5, 6)),
        *(f"Theorem 3.{number}" for number in (1, 2, 3, 4, 5)),
        *("Theorem 4.7", "Theorem 5.2", "Theorem C.1"),
    },
    "Report noisy max": {"Algorithm 1", "Lemma 1.2", "Theorem 1.3"},
}


def test_commands_run() -> None:
    blocks = [block for page in PAGES for block in re.findall(r"```sh\n(.*?)```", text(page), re.DOTALL)]
    commands = "".join(blocks).splitlines()
    assert commands
    for command in commands:
        program, *arguments = command.split()
        assert program == "fim-private"
        done = fim_private(*arguments)
        assert done.returncode == 0, words(done)
