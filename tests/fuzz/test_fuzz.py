"""The short form of `make fuzz`, and that it would notice."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.parts import put_part
from fim_private.errors import InputError
from tests.fuzz import __main__ as program
from tests.fuzz import targets
from tests.fuzz.inputs import CANARY
from tests.fuzz.series import Tally, run_series

INPUTS = {"ledger": 30, "settings": 60, "workbook": 12}
"""The readers whose inputs take a hundredth of a second each, or a third of one."""


def refuse(what: str) -> None:
    raise InputError(what, "Correct it.")


def refuse_because(reason: Exception) -> None:
    try:
        raise reason
    except KeyError:
        refuse("It cannot be read.")


def panic() -> None:
    """Polars' panics are no ordinary exceptions."""
    raise GeneratorExit


@pytest.mark.parametrize("target", targets.TARGETS)
def test_hostile_input_is_read_or_refused(target: str) -> None:
    """The first of the million; the same every time."""
    tally = run_series(target, seed=1, first=0, inputs=INPUTS.get(target, 150))
    assert tally.broken == []
    assert tally.longest < 20
    assert tally.outcomes["read"] >= 3
    assert len(tally.outcomes) >= 2


@pytest.mark.parametrize(
    ("fault", "noticed"),
    [
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: targets.outcome(lambda: refuse(f"Line 3 holds {CANARY}.")), "data is shown"),
        (lambda: targets.outcome(lambda: refuse_because(KeyError(CANARY))), "data is shown"),
        (lambda: os.write(2, b"thread panicked\n"), "printed: thread panicked"),
        (panic, "GeneratorExit"),
    ],
    ids=["an error of another kind", "data in a message", "data behind a message", "words of a library", "a panic"],
)
def test_a_broken_promise_is_noticed(monkeypatch: pytest.MonkeyPatch, fault, noticed: str) -> None:
    def attempt(_: random.Random) -> str:
        fault()
        return "read"

    monkeypatch.setitem(targets.TARGETS, "broken", (attempt, 1))
    (broken,) = run_series("broken", seed=1, first=7, inputs=1).broken
    assert broken.startswith("broken 7: ")
    assert noticed in broken


def test_an_input_that_ends_the_process_or_takes_too_long_is_noted_and_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a program in place of Python that does so at the third place and at the fifth."""
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\n"
        "first=$7 place=$9\n"
        '[ "$first" = 0 ] && { printf "\\2\\0\\0\\0\\0\\0\\0\\0" > "$place"; kill -9 $$; }\n'
        '[ "$first" = 3 ] && { printf "\\4\\0\\0\\0\\0\\0\\0\\0" > "$place"; echo "Timeout (0:00:30)!" >&2; exit 1; }\n'
        """echo '{"target": "fimi", "inputs": 3, "outcomes": {"read": 3}, "broken": [], "longest": 1, "peak": 9}'\n"""
    )
    python.chmod(0o755)
    monkeypatch.setattr(program.sys, "executable", str(python))
    tally = program._in_a_process("fimi", 0, 8, 1)
    assert tally.inputs == 8
    assert tally.outcomes["read"] == 3
    assert tally.broken == ["fimi 2: ended the process (-9)", "fimi 4: took too long"]


def test_a_run_that_was_interrupted_goes_on_and_other_code_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def run(target: str, first: int, inputs: int, seed: int) -> Tally:
        asked.append((target, first, inputs, seed))
        if len(asked) == 4:
            raise KeyboardInterrupt
        return Tally(target, inputs=inputs, outcomes=Counter(read=inputs), seconds=2.0)

    monkeypatch.setattr(program, "KEPT", tmp_path / "kept.jsonl")
    monkeypatch.setattr(program, "_in_a_process", run)
    with pytest.raises(KeyboardInterrupt):
        program._all(1000, 7, 1)
    tallies = program._all(1000, 7, 1)
    assert sum(tally.inputs for tally in tallies) >= 1000
    assert sum(tally.seconds for tally in tallies) == 2.0 * len(targets.TARGETS)
    # The fourth was interrupted and is run again, the others are not.
    assert {piece: asked.count(piece) for piece in asked} == {piece: 1 + (piece == asked[3]) for piece in asked}
    program._all(1000, 8, 1)
    monkeypatch.setattr(program, "_program", lambda: "another")
    program._all(1000, 7, 1)
    assert len(asked) == 3 * len(targets.TARGETS) + 1


def test_the_report_has_a_part_from_each_program(tmp_path: Path) -> None:
    path = tmp_path / "reliability.md"
    put_part(path, "ledger", "## Ledger\n\nold")
    put_part(path, "fuzz", program.report([run_series("fimi", seed=2, first=0, inputs=3)], "the command"))
    put_part(path, "ledger", "## Ledger\n\n\\1 new")
    text = path.read_text("utf-8")
    assert text.startswith("# Reliability\n\n<!-- ledger -->\n## Ledger\n\n\\1 new\n")
    assert "old" not in text
    assert "| fimi | 3 |" in text
    assert text.endswith("Broken promises: none.\n<!-- end of fuzz -->\n")
