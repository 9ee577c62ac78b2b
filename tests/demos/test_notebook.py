"""The lessons as notebooks: there is one for each, its cells run, and every lesson can be shown."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fim_private.demos.course import DEMOS
from fim_private.demos.demo import Demo
from tests import processes
from tests.conftest import ROOT

pytest.importorskip("marimo", reason="marimo is not here; it is in the extra `demos`")

NOTEBOOK = '''"""The lesson {name}: `marimo edit notebooks/{name}.py`. The package holds words and computation."""

import marimo

app = marimo.App(width="medium", app_title="{title}")


@app.cell
def _():
    from {package} import {module}
    from fim_private.demos.notebook import code_of, controls_of, head_of, result_of

    lesson = {module}.DEMO
    head_of(lesson)
    return code_of, controls_of, lesson, result_of


@app.cell
def _(controls_of, lesson):
    controls = controls_of(lesson)
    controls.vstack()
    return (controls,)


@app.cell
def _(controls, lesson, result_of):
    result_of(lesson, controls.value)


@app.cell
def _(code_of, lesson):
    code_of(lesson)


if __name__ == "__main__":
    app.run()
'''
"""What the notebook of a lesson holds: small enough to hand out, and the same for each."""

PROGRAM = """
import runpy, sys
app = runpy.run_path(sys.argv[1])["app"]
outputs, definitions = app.run()
print(*(getattr(output, "text", "") for output in outputs))
print(definitions["controls"].value)
"""


def notebook_of(demo: Demo) -> Path:
    """The notebook of a lesson."""
    return ROOT / "notebooks" / f"{demo.name}.py"


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_every_lesson_has_its_notebook(demo: Demo) -> None:
    package, _, module = demo.show.__module__.rpartition(".")
    text = NOTEBOOK.format(name=demo.name, title=demo.title, package=package, module=module)
    assert notebook_of(demo).read_text("utf-8") == text


def test_there_is_no_notebook_without_a_lesson() -> None:
    assert {path.stem for path in (ROOT / "notebooks").glob("*.py")} == {demo.name for demo in DEMOS}


@pytest.mark.slow
@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_a_notebook_s_cells_run(demo: Demo) -> None:
    # In a process of its own, because marimo keeps state for the whole process.
    done = processes.run(
        [sys.executable, "-c", PROGRAM, str(notebook_of(demo))],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *html, settings = done.stdout.splitlines()
    assert settings == str(demo.settings())
    assert demo.title in "".join(html)
    assert demo.verdict(demo.settings()) in "".join(html)
    assert "<svg" in "".join(html)
    assert "The code of this lesson" in "".join(html)
