"""The import law, the door, and what may be loaded when: the architecture as tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "fim_private"
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if "datasets" not in path.relative_to(PACKAGE).parts[:-1])

MAY_IMPORT = {
    layer: set(others.split())
    for layer, others in {
        "python_words": "",
        "arrays": "",
        "errors": "python_words",
        "version": "",
        "printable": "",
        "notebook_table": "printable",
        "profile": "",
        "privacy": "errors",
        "constraints": "errors",
        "compilation": "errors",
        "writing": "errors",
        "randomness": "arrays errors compilation",
        "accounting": "arrays errors privacy compilation",
        "mechanisms": "arrays errors privacy profile randomness accounting",
        # Knows nothing of itemsets: anything with a score and a stated loss can be a candidate.
        "private_candidates": "errors privacy randomness accounting mechanisms",
        "plan": "arrays errors notebook_table privacy constraints accounting mechanisms",
        "transactions": "errors compilation",
        "counting": "arrays errors compilation profile transactions",
        "release": "errors notebook_table printable writing privacy profile randomness accounting mechanisms plan "
        "transactions counting",
        "rules": "errors notebook_table release",
        # Right of `release`, whose records it keeps; not in `accounting`, which knows no files.
        "ledger": "errors writing privacy randomness accounting plan release",
        "mining": "arrays errors version privacy constraints ledger randomness accounting compilation mechanisms "
        "private_candidates plan transactions counting release",
        "audit": "arrays errors privacy profile randomness accounting mechanisms plan private_candidates",
        "comparison": "errors writing privacy profile randomness accounting mechanisms plan transactions counting "
        "mining",
        "report": "arrays ledger printable constraints errors version privacy accounting profile mechanisms plan "
        "release rules audit comparison",
        "catalogue": "errors",
        "demos": "arrays errors privacy profile randomness accounting mechanisms private_candidates plan "
        "transactions counting mining audit comparison rules report catalogue",
    }.items()
}
"""Layer by layer, from left to right; `cli` and the package itself may import all of them."""


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_layer_imports_only_what_stands_to_its_left(path: Path) -> None:
    here = layer(path)
    if here in {"cli", "__init__", "__main__"}:
        return
    for module in imports(path):
        parts = module.split(".")
        assert parts[0] not in {"benchmarks", "tests", "verification"}, "not in the wheel"
        if parts[0] == "fim_private" and len(parts) > 1:
            assert parts[1] == here or parts[1] in MAY_IMPORT[here], f"{here} must not import {module}"


def test_the_law_has_no_circles() -> None:
    done: set[str] = set()
    for name, allowed in MAY_IMPORT.items():
        assert allowed <= done, f"{name} imports from its right"
        done.add(name)


def test_mechanisms_and_accounting_see_no_frames() -> None:
    for path in SOURCES:
        if layer(path) in {"mechanisms", "accounting", "randomness", "plan", "profile", "privacy"}:
            assert not {"polars", "sqlite3", "pandas"} & {module.split(".")[0] for module in imports(path)}


def calls(path: Path, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in nodes(path))


def test_exact_counts_leave_through_the_door_only() -> None:
    outside = [path for path in SOURCES if layer(path) != "counting"]
    assert [path.name for path in outside if calls(path, "profile")] == ["door.py"]
    assert [path.name for path in outside if calls(path, "itemsets_at")] == ["door.py"]
    assert [path.name for path in outside if calls(path, "vector")] == ["door.py"]
    revealing = {path.relative_to(PACKAGE).as_posix() for path in outside if calls(path, "reveal_to_curator")}
    assert revealing == {
        "cli/commands/inspect.py",
        "cli/commands/demo.py",
        "comparison/exact_counts.py",
        "demos/shop.py",
        "demos/lessons/unit.py",
    }


def test_the_public_names_are_these() -> None:
    import fim_private

    assert len(fim_private.__all__) <= 20
    for name in fim_private.__all__:
        assert getattr(fim_private, name) is not None
    with pytest.raises(AttributeError):
        fim_private.no_such_name  # noqa: B018


FOLDERS = {"files": 0, "columns": 1, "sources": 2, "formats": 3}
"""Inside `transactions`, a folder imports only folders before it."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_of_transactions_imports_only_those_before_it(folder: str) -> None:
    for path in (PACKAGE / "transactions" / folder).glob("*.py"):
        for module in imports(path):
            parts = module.split(".")
            if parts[:2] == ["fim_private", "transactions"] and len(parts) > 3:
                assert FOLDERS[parts[2]] <= FOLDERS[folder], f"{path.name} must not import {module}"
