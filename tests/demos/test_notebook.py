"""The lessons as a notebook: its cells run, and every lesson can be shown."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import pytest

from fim_private.demos.course import DEMOS
from fim_private.demos.demo import Demo
from tests import processes
from tests.conftest import ROOT

if find_spec("marimo") is None:
    pytest.skip("marimo is not here; it is in the extra `demos`", allow_module_level=True)

NOTEBOOK = ROOT / "notebooks" / "lesson.py"
PROGRAM = """
import runpy, sys
app = runpy.run_path(sys.argv[1])["app"]
outputs, definitions = app.run()
print(*(getattr(output, "text", "") for output in outputs))
print(definitions["controls"].value)
"""


@pytest.mark.slow
@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_the_notebook_s_cells_run(demo: Demo) -> None:
    # In a process of its own, because marimo keeps state for the whole process.
    done = processes.run(
        [sys.executable, "-c", PROGRAM, str(NOTEBOOK), "--lesson", demo.name],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *html, settings = done.stdout.splitlines()
    assert settings == str(demo.settings())
    assert demo.title in "".join(html)
    assert demo.verdict(demo.settings()) in "".join(html)
    assert "<svg" in "".join(html)
    assert "The code of this lesson" in "".join(html)
