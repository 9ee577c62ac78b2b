"""Step 5, the answer: a paid run in a process of its own, which writes the release; and the releases that are there."""

import time
from itertools import takewhile
from pathlib import Path
from typing import Any

import marimo as mo

from fim_private.cli.desk.command import ALONE, folded, note
from fim_private.cli.words import Run
from fim_private.demos.notebook import element
from fim_private.release import Release
from fim_private.report.document import Code
from fim_private.report.document.html import to_html
from fim_private.report.pages.release import release_document

started: dict[str, Any] = {"files": [], "folder": Path("releases")}
"""What the desk was started with: the files that were named, and the folder for releases."""
OLDER = "The answer to show (an older one may be to another question, of other data)"
runs: dict[Path, Run] = {}
"""The runs of all tabs, by the file that each writes."""


def confirmation(name: str) -> Any:
    """The box to tick before the budget is spent, and its button. A press tells the name: an old one is void."""
    box = mo.md(f"{{{name}}}").batch(**{name: mo.ui.checkbox(label="I have read this, and want to spend it")})
    return box.form(
        submit_button_label="Spend it", bordered=False, validate=lambda to: None if to == {name: True} else "Tick this."
    )


def choice() -> tuple[Any, list[mo.Html]]:
    """Which release to show, the newest or an earlier one; what runs told that failed since. Runs are waited for."""
    goes_on = "You may close this tab: the run goes on, and the answer is found here again."
    for output, run in list(runs.items()):
        if run.process.poll() is None:
            with mo.status.spinner(title=f"Computing {output.name} ...", subtitle=goes_on) as spinner:
                while run.process.poll() is None:
                    time.sleep(0.2)
                    spinner.update(subtitle=" ".join([*run.told().splitlines()[-1:], goes_on]))
    options = {path.name: path for path in sorted(started["folder"].glob("answer-*.json"), reverse=True)}
    # What failed before the newest answer was settled by it.
    since = takewhile(lambda of: of[1].process.poll(), reversed(runs.items()))
    failed = [note(f"{output.name}: {run.told()}", "danger") for output, run in since]
    return mo.ui.dropdown(options, value=next(iter(options), None), label=OLDER, full_width=True), failed


def view(release: Release, path: Path) -> mo.Html:
    """The release as the page that would be published, what it was made of, and what its run told the curator."""
    made = note(f"Made by {release.command}")
    told = [folded(f"{ALONE}what the run told", element(Code(text=runs[path].told())))] if path in runs else []
    return mo.vstack([made, mo.iframe(to_html(release_document(release)), height="900px"), *told])
