"""The lessons as a notebook: the cells run, and every lesson can be shown."""

from __future__ import annotations

import os
import sys

import pytest

from fim_private.demos.course import DEMOS
from fim_private.demos.demo import Demo
from tests import processes
from tests.conftest import ROOT

pytest.importorskip("marimo", reason="marimo is not here; it is in the extra `demos`")

PROGRAM = """
import sys
sys.argv = ["lessons.py", "--lesson", "composition"]
from notebooks.lessons import app
outputs, definitions = app.run()
print(*(getattr(output, "text", "") for output in outputs))
print(definitions["controls"].value)
"""


@pytest.fixture(autouse=True)
def _started_from_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """marimo loads what there is of Spark, which ends any process whose main module has no file, as pytest-xdist's."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", __file__, raising=False)


@pytest.mark.slow
@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_every_lesson_can_be_shown(demo: Demo) -> None:
    from fim_private.demos.notebook import controls_of, head_of, result_of

    controls = controls_of(demo)
    assert dict(controls.value) == demo.settings()
    assert demo.title in head_of(demo).text
    shown = result_of(demo, controls.value).text
    assert demo.question.yes in shown or demo.question.no in shown


@pytest.mark.slow
def test_the_notebook_s_cells_run() -> None:
    # In a process of its own: marimo keeps state for the whole process, and reads its arguments.
    done = processes.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True
    )
    assert done.returncode == 0, done.stderr
    *html, settings = done.stdout.splitlines()
    assert "{'k': '20', 'epsilon': '1', 'delta': '1e-6'}" in settings
    assert "<svg" in "".join(html)
