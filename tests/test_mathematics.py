"""The code cites docs/mathematics.md section by section: every citation leads somewhere, and every section is cited."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
SECTIONS = {
    re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^### (.*)$", PAGE, re.MULTILINE)
}
FILES = sorted(ROOT.glob("[a-z]*/**/*.py"))
CITED = {
    path: cited
    for path in FILES
    if (cited := re.findall(r"docs/mathematics\.md#([\w-]+)", path.read_text(encoding="utf-8")))
}


@pytest.mark.parametrize("path", CITED, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_citation_leads_to_a_section(path: Path) -> None:
    assert set(CITED[path]) <= SECTIONS


def test_every_section_is_cited() -> None:
    assert len(SECTIONS) > 40
    assert {section for cited in CITED.values() for section in cited} == SECTIONS


@pytest.mark.slow
def test_only_docstrings_cite_pages_that_are_not_installed() -> None:
    for path in (path for path in FILES if ROOT / "fim_private" in path.parents):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements
        ]
        assert not any("docs/mathematics" in text for text in texts), path
