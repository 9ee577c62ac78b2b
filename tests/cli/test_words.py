"""A command as its words: what is composed is understood as it was meant, by the real command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fim_private.cli.question_options import Question
from fim_private.cli.words import Run, group_of, help_of, understood, words_of
from fim_private.errors import UsageError
from fim_private.plan import plan_for
from tests.cli.command import succeed

ASKED = {"size": 2, "top": 5, "epsilon": "0.5", "delta": "1e-6", "unit_column": "customer", "release_counts": True}


@pytest.mark.slow
def test_what_is_composed_is_understood_as_it_was_meant() -> None:
    chosen = {**ASKED, "exclude": ["$x", "-y"], "where": "Quantity > 0", "min_count": "", "mechanism": "auto"}
    mine, plan = words_of("mine", {"file": ["-a b.csv"]}, chosen), words_of("plan", chosen)
    given = understood(mine)
    assert given["file"] == ["./-a b.csv"]
    assert {name: given[name] for name in ("exclude", "where", "min_count")} == {
        "exclude": ["$x", "-y"], "where": "Quantity > 0", "min_count": None,
    }  # fmt: skip
    plans = [plan_for(group_of(Question, understood(words)).asked()) for words in (mine, plan)]
    assert plans[0] == plans[1]
    assert (plans[0].unit.column, plans[0].top) == ("customer", 5)


def test_an_option_that_a_command_does_not_have_is_left_out() -> None:
    unit = {"unit_column": "customer", "max_transactions": 5}
    assert words_of("inspect", unit) == ["fim-private", "inspect", "--unit-column", "customer"]
    assert words_of("budget create", {"file": ["x"], "ledger": "y"}) == ["fim-private", "budget", "create", "x"]


def test_a_value_that_no_option_takes_is_refused() -> None:
    with pytest.raises(UsageError, match="top"):
        understood(words_of("plan", {**ASKED, "top": "many"}))


def test_help_says_what_options_are_for() -> None:
    section = help_of("inspect", section="How to read the file")
    assert {"sheet", "where", "query"} <= section.keys()
    assert "drop_rows_without_unit" not in section, "a flag takes no text"
    assert help_of("mine", ("exclude",))["exclude"].startswith("--exclude: Leave this item out.")


@pytest.mark.slow
def test_a_command_is_run_as_a_terminal_runs_it(tmp_path: Path) -> None:
    ledger = tmp_path / "x.ledger"
    run = Run(words_of("budget create", {"file": [str(ledger)], "epsilon": 1, "delta": 0}))
    assert run.process.wait() == 0
    assert run.told() == ""
    succeed("budget", "show", ledger)
    run = Run(words_of("budget show", {"file": [str(tmp_path / "none")]}))
    assert run.process.wait() == 3
    assert run.told().startswith("Error: There is no ledger")
