"""Step 5, the answer: a paid run in a process of its own, which writes the release; and the releases that are there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import marimo as mo

from fim_private.cli.desk.command import Run, as_html, note, shown
from fim_private.errors import UsageError
from fim_private.release import Release
from fim_private.report.document import Code
from fim_private.report.document.html import to_html
from fim_private.report.pages.release import release_document

started: dict[str, Any] = {"files": [], "folder": Path("releases")}
"""What the desk was started with: the files that were named, and the folder for releases."""
runs: dict[Path, Run] = {}
"""The runs of all tabs, by the file that each writes."""
_one_at_a_time = Lock()


def answers() -> list[Path]:
    """The releases in the desk's folder, the newest first."""
    return sorted(started["folder"].glob("answer-*.json"), key=_number, reverse=True)


def next_answer() -> Path:
    """The file for the next release."""
    folder: Path = started["folder"]
    return folder / f"answer-{1 + max(map(_number, [*answers(), *runs]), default=0)}.json"


def _number(path: Path) -> int:
    digits = path.stem.partition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def confirmation(cost: str, output: Path, agreed: Any, words: Sequence[str]) -> mo.Html:
    """What is spent, and the box to tick before."""
    sure = f"It is spent even if the answer is short or empty. The answer is written to {output} before it is shown."
    return mo.vstack([mo.md("## 5. The answer"), note(f"{cost} {sure}", "warn"), shown(words), agreed])


def ask(words: Sequence[str], output: Path) -> None:
    """Run a command that spends budget, once for each confirmation."""
    with _one_at_a_time:
        if output in runs or output.exists():
            raise UsageError(
                f"{output.name} was asked for in another tab in the meantime. Nothing was spent here.",
                "Load this page again to see the answer, or to ask once more.",
            )
        runs[output] = Run(words)


def wait() -> None:
    """Wait for the runs of all tabs, and show how far they are."""
    goes_on = "You may close this tab: the run goes on, and the answer is found here again."
    for output, run in list(runs.items()):
        if run.process.poll() is None:
            with mo.status.spinner(title=f"Computing {output.name} ...", subtitle=goes_on) as spinner:
                while run.process.poll() is None:
                    time.sleep(0.2)
                    spinner.update(subtitle=" ".join([*run.told().splitlines()[-1:], goes_on]))


def choice() -> Any:
    """Which release to show: the newest, or an earlier one. Runs of all tabs are waited for."""
    wait()
    options = {path.name: path for path in answers()}
    return mo.ui.dropdown(options, value=next(iter(options), None), label="The answer to show")


def failures() -> list[mo.Html]:
    """What the runs told that ended without an answer."""
    ended = [(output, run) for output, run in runs.items() if run.process.poll() not in (None, 0)]
    return [note(f"{output.name}: {run.told()}", "danger") for output, run in ended]


def view(release: Release, path: Path) -> mo.Html:
    """The release as the page that would be published, and what its run told the curator."""
    page = mo.iframe(to_html(release_document(release)), height="900px")
    told = (
        [mo.accordion({"For the curator alone: what the run told": as_html(Code(text=runs[path].told()))})]
        if path in runs
        else []
    )
    return mo.vstack([page, *told])
