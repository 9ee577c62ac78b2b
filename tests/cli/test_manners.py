"""Help that is quick and can be copied, words that are nearly right, and the Tab key."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import processes
from tests.cli.command import PROMISE, end_with, fim_private, succeed, words

ASKED = ("--size", 2, "--top", 1, *PROMISE)
PROGRAM = "import sys; sys.argv[0] = 'fim-private'; from fim_private.cli.app import run; run()"


def commands() -> dict[tuple[str, ...], Any]:
    """All commands that do something, by the words they are called with."""
    import typer

    from fim_private.cli.app import app

    found: dict[tuple[str, ...], Any] = {}

    def walk(command: Any, called: tuple[str, ...]) -> None:
        below = getattr(command, "commands", None)
        if below is None:
            found[called] = command
        for name in below or {}:
            walk(below[name], (*called, name))

    walk(typer.main.get_command(app), ())
    return found


@pytest.mark.parametrize("asked", [[], ["mine"]])
def test_help_loads_nothing_that_takes_long(asked: list[str]) -> None:
    program = (
        "import atexit, sys\n"
        "heavy = ('polars', 'numba', 'numpy', 'matplotlib', 'mlxtend', 'pandas', 'rich', 'pyspark', 'jinja2',"
        " 'sqlite3', 'multiprocessing')\n"
        "atexit.register(lambda: print(*[name for name in heavy if name in sys.modules], file=sys.stderr))\n"
        f"sys.argv = ['fim-private', *{asked}, '--help']\n"
        "from fim_private.cli.app import run; run()\n"
    )
    done = processes.run([sys.executable, "-c", program], text=True, check=True)
    assert done.stderr.strip() == ""


@pytest.mark.parametrize("called", commands(), ids=" ".join)
def test_help_of_a_command_is_whole(called: tuple[str, ...]) -> None:
    shown = fim_private(*called, "--help").stdout.decode()
    assert shown.isascii()
    command = commands()[called]
    for param in command.params:
        for option in param.opts:
            assert not option.startswith("-") or f"{option} " in f"{shown} ".replace("\n", " ").replace(",", " ")
    overlong = [line for line in shown.splitlines() if len(line) > 100]
    assert all(line.startswith("  fim-private ") for line in overlong)


def test_help_shows_the_sections_and_the_example_on_a_line() -> None:
    lines = fim_private("mine", "--help").stdout.decode().splitlines()
    for section in ("Example:", "Arguments:", "What to find:", "The promise:", "How to read the file:", "Output:"):
        assert section in lines
    assert "  fim-private mine baskets.csv --size 2 --top 10 --epsilon 1 --delta 1e-6 --unit transaction" in lines
    assert "Usage: fim-private mine [OPTIONS] FILE...\n" in fim_private("mine", "--help").stdout.decode()
    assert "list[str]" not in fim_private("mine", "--help").stdout.decode()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("mien", "x.csv"), "mine"),
        (("budget", "histroy", "x"), "history"),
        (("mine", "x.csv", "--toop", 3), "--top"),
        (("mine", "x.csv", *ASKED, "--mechanism", "limited-domian"), "limited-domain"),
        (("mine", "x.csv", *ASKED, "--mechanism", "LMM"), "lmm"),
        (("plan", *ASKED, "--mechanism", "expnential"), "exponential"),
        (("law", "stabel-max", "--counts", "3,2", "--epsilon", 1, "--delta", "1e-3"), "stable-max"),
        (("mine", "x.csv", *ASKED, "--engine", "sparc"), "spark"),
        (("datasets", "path", "retial"), "retail"),
    ],
)
def test_what_was_meant_is_asked(typed: tuple[object, ...], meant: str) -> None:
    done = end_with(2, *typed)
    assert "Did you mean" in words(done) or "Possible options" in words(done)
    assert meant in words(done)


def test_the_format_that_was_meant_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n")
    done = fim_private("inspect", tmp_path / "x.csv", "--format", "one_hot")
    assert "Did you mean one-hot?" in words(done)


def test_the_name_of_a_data_set_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = end_with(3, "mine", "retail", *ASKED)
    assert 'Give "$(fim-private datasets path retail)".' in words(done)
    (tmp_path / "retail").write_text("milk,bread\n" * 900)
    succeed("inspect", "retail")
    assert "There is no file retial" in words(fim_private("inspect", "retial"))


def test_names_of_columns_are_suggested_only_where_everybody_has_them(tmp_path: Path) -> None:
    """A first line may be a basket, so what stands in it is data; a well-known name is not."""
    path = tmp_path / "x.csv"
    path.write_text("invoice,item,customer\n1,milk,2\n")
    near = fim_private("mine", path, *ASKED[:-2], "--unit-column", "custmer")
    assert "There are 'customer', 'invoice', 'item'." in words(near)
    mixed = fim_private("mine", path, *ASKED, "--transaction-column", "1", "--item-column", "item")
    assert "Give names for all columns, or numbers for all." in " ".join(words(mixed).split())
    path.write_text("zwieback,item,invoice\n1,milk,2\n")
    far = end_with(3, "mine", path, *ASKED[:-2], "--unit-column", "zwiebak")
    assert "zwieback" not in words(far)


def offered(*typed: str) -> list[str]:
    """What the Tab key offers for the last of these words."""
    line = ["fim-private", *typed]
    asked = {"_FIM_PRIVATE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(line), "COMP_CWORD": str(len(line) - 1)}
    done = processes.run([sys.executable, "-c", PROGRAM], env={**os.environ, **asked}, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (("mi",), ["mine"]),
        (("mine", "--mechanism", "items"), ["items-first"]),
        (("mine", "--format", "l"), ["long", "lists"]),
        (("mine", "--neighbours", "r"), ["replace"]),
        (("audit", "al"), ["all"]),
        (("budget", "create", "--composition", "b"), ["basic", "both"]),
        (("datasets", "path", "reta"), ["retail"]),
        (("compare", "groc"), ["groceries"]),
        (("mine", "--unit-c"), ["--unit-column"]),
        (("mine", "--where", "a", "--where", "b", "--top", "1.000", "--unit-c"), ["--unit-column"]),
    ],
    ids=" ".join,
)
def test_the_tab_key_completes(typed: tuple[str, ...], expected: list[str]) -> None:
    assert offered(*typed) == expected


def test_what_completes_is_what_there_is() -> None:
    from fim_private.mechanisms.registry import AUTO, COMPARATORS, REGISTRY

    assert offered("mine", "--mechanism", "") == [AUTO, *REGISTRY, *COMPARATORS]
    assert offered("audit", "") == ["all", *REGISTRY]


def test_completion_is_installed_for_the_shell(tmp_path: Path) -> None:
    """As somebody would who types it in bash, in a home folder of their own."""
    (tmp_path / "fim-private").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fim_private "$@"\n')
    (tmp_path / "fim-private").chmod(0o755)
    done = processes.run(
        ["bash", "--norc", "-c", "fim-private --install-completion; true"],
        env={**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash", "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        text=True,
    )
    assert "completion installed in" in done.stdout, done.stderr
    installed = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "_FIM_PRIVATE_COMPLETE=complete_bash" in installed
    assert "complete -o default -F _fim_private_completion fim-private" in installed


LONG = "name" * 100


@pytest.mark.parametrize(
    "command",
    [
        ("mine", LONG, *ASKED),
        ("mine", "baskets.csv", *ASKED, "-o", f"{LONG}.json"),
        ("mine", "baskets.csv", *ASKED, "-o", f"{LONG}/release.json"),
        ("mine", "baskets.csv", *ASKED, "--ledger", LONG),
        ("mine", "baskets.csv", *ASKED, "--config", LONG),
        ("plan", *ASKED, "--html", LONG),
        ("plan", *ASKED, "--items-file", LONG),
        ("show", LONG),
        ("rules", "release.json", "-o", f"{LONG}.csv"),
        ("budget", "create", LONG, "--epsilon", 1, "--delta", 0),
        ("budget", "create", f"{LONG}/ledger", "--epsilon", 1, "--delta", 0),
        ("budget", "show", LONG),
        ("compare", LONG, "-o", "report", "--curator"),
        ("tune", LONG, "--candidates", LONG, *PROMISE),
    ],
)
def test_a_name_that_no_file_can_have_is_no_fault(
    command: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fim_private(*command)
    assert done.returncode in {2, 3}, words(done)
    assert "fault" not in words(done)


def test_the_name_of_a_file_cannot_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "b\x1b[32mY.csv").write_text("")
    (tmp_path / "c.csv").write_text("milk,tea\n" * 50)
    for pattern in (tmp_path / "*.csv", tmp_path / "b\x1b[32mY.csv"):
        done = end_with(3, "mine", pattern, *ASKED, "--separator", ",")
        assert "b\\x1b[32mY.csv" in words(done)
        assert b"\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("plan", "--about", "x"), "'--about': Give a whole number."),
        (("plan", "--size", "1.5"), "'--size': Give a whole number."),
        (("plan", "--size", "2", "--top", "1.000", *PROMISE), "'--top': Give a whole number."),
        (("rules", "release.json", "--min-lift", "high"), "'--min-lift': Give a number."),
        (("plan", "--about", "0"), "'--about': Give 1 or more."),
        (("inspect", "b.csv", "--sizes", "9"), "Itemsets of 1 to 5 items are shown."),
        (("inspect", "b.csv", "--sizes", "0-2"), "Itemsets of 1 to 5 items are shown."),
    ],
)
def test_no_number_and_a_number_out_of_range_are_refused_in_plain_words(command: tuple[str, ...], said: str) -> None:
    assert said in words(end_with(2, *command))


def test_a_command_that_reads_no_file_says_so() -> None:
    said = words(end_with(2, "plan", "baskets.csv", "--size", "2", *PROMISE))
    assert "plan reads no file, and takes options only." in said
    assert "Leave out 'baskets.csv'." in said


def test_a_value_that_is_no_choice_is_refused_in_plain_words() -> None:
    said = words(end_with(2, "plan", "--neighbours", "substitute"))
    assert "'--neighbours': 'substitute' is not one of 'add-remove', 'replace'." in said
