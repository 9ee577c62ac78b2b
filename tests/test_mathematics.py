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
FILES = [path for folder in ("fim_private", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
CITED = {
    path: cited
    for path in FILES
    if (cited := re.findall(r"docs/mathematics\.md#([\w-]+)", path.read_text(encoding="utf-8")))
}


@pytest.mark.parametrize("path", CITED, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_citation_leads_to_a_section(path: Path) -> None:
    assert set(CITED[path]) <= SECTIONS


def test_the_code_cites_every_section() -> None:
    assert len(SECTIONS) > 40
    by_code = {section for path, cited in CITED.items() if ROOT / "fim_private" in path.parents for section in cited}
    assert by_code == SECTIONS - {"worked-figures"}


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
