"""`fim-private demo`: the lessons by name, moved by --set; the main job stays what it is without a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from fim_private.demos.course import DEMOS
from tests.cli.command import end_with, fim_private, succeed, words


def test_the_list_names_every_lesson() -> None:
    shown = fim_private("demo", "list").stdout.decode()
    assert [line.split()[0] for line in shown.splitlines()[2:]] == [demo.name for demo in DEMOS]


def test_a_control_is_moved() -> None:
    here, there = (fim_private("demo", "margin", *change) for change in ((), ("--set", "gap=400", "--set", "behind=3")))
    assert here.returncode == there.returncode == 0
    assert "at gap=200 behind=10" in here.stdout.decode()
    assert "at gap=400 behind=3" in there.stdout.decode()
    assert "no, the search is too likely to miss the gap" in here.stdout.decode()
    assert "yes, the search stops in time" in there.stdout.decode()


def test_the_answer_may_be_printed_alone() -> None:
    assert fim_private("demo", "composition", "--answer").stdout.decode() == "k=50\n"
    none = fim_private("demo", "universe", "--set", "k=1", "--answer")
    assert none.stdout.decode() == "no value of items\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["margins"], "Did you mean margin"),
        (["margin", "--set", "gap"], "Write --set as in"),
        (["margin", "--set", "gap=7"], "Choose one of: 0, 80"),
        (["margin", "--set", "game=7"], "Its controls are gap, behind"),
        (["--answer"], "Name a lesson"),
        (["list", "--output", "x"], "Name a lesson"),
        (["list", "--answer"], "Name a lesson"),
        (["all"], "Give --output"),
        (["margin", "--answer", "--output", "x"], "Leave out --set and --answer"),
        (["margin", "--output", "x.html"], "names a folder here"),
    ],
)
def test_a_faulty_call_is_refused_with_its_reason(arguments: list[str], said: str) -> None:
    done = end_with(2, "demo", *arguments)
    assert said in words(done)


@pytest.mark.slow
def test_a_page_is_written(tmp_path: Path) -> None:
    succeed("demo", "differencing", "--output", tmp_path / "pages")
    page = (tmp_path / "pages" / "differencing.html").read_text("utf-8")
    assert page.count('<div class="view">') == 16
    (tmp_path / "file").write_text("")
    assert fim_private("demo", "differencing", "--output", tmp_path / "file" / "folder").returncode == 3
