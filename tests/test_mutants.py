from __future__ import annotations

from tests.mutants import ROOT, explained


def test_what_explains_a_fault_is_of_a_line_that_is_there() -> None:
    """A line that moves or changes takes its explanation with it: the run over all faults takes an hour to say so."""
    gone = [
        f"{file}: {line}"
        for file, line, _ in sorted(explained())
        if line not in map(str.strip, (ROOT / file).read_text("utf-8").splitlines())
    ]
    assert gone == []
