"""Transactions that took no part in choosing any setting: what Python files import, and which functions they call.

    python -m benchmarks.python_files FOLDER ROOT ...

writes two basket files with a line for each Python file below the roots, copies left out. `imports.csv` has the modules
that it imports. `calls.csv` has names of functions that at least three files call, of each file 60 at random.
"""

from __future__ import annotations

import argparse
import ast
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from numpy.random import default_rng  # noqa: TID251 - test data, not noise

LONGEST, RAREST = 60, 3


def modules_of(tree: ast.AST) -> Iterator[str]:
    """The modules that a file imports, without what is below them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name.split(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def calls_of(tree: ast.AST) -> Iterator[str]:
    """The names of the functions and methods that a file calls. Readers ask about items called null, total or cash."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield f"{name}()"


def trees(roots: Iterable[Path]) -> Iterator[ast.AST]:
    """The Python files below the roots that can be parsed, each content once."""
    seen = set()
    for path in (path for root in roots for path in sorted(root.rglob("*.py")) if path.is_file()):
        content = path.read_bytes()
        if content in seen:
            continue
        seen.add(content)
        try:
            yield ast.parse(content)
        except (SyntaxError, ValueError, RecursionError):
            continue


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("roots", type=Path, nargs="+")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    imports, calls = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for tree in trees(asked.roots):
            imports.append(sorted(set(modules_of(tree))))
            calls.append(sorted(set(calls_of(tree))))
    held, chance = Counter(name for names in calls for name in names), default_rng(1)
    frequent = [[name for name in names if held[name] >= RAREST] for names in calls]
    calls = [sorted(chance.permutation(names)[:LONGEST].tolist()) for names in frequent]
    for name, lists in (("imports", imports), ("calls", calls)):
        lines = [",".join(items) + "\n" for items in lists if items]
        (asked.folder / f"{name}.csv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
