from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest import mock

import pytest

from fim_private.audit.standard_plans import standard_plans
from fim_private.audit.verdict import Verdict, audit
from fim_private.privacy import Budget
from fim_private.randomness import SeededRandomness
from fim_private.report.document import Section
from tests.cli.command import succeed
from tests.sampling import SEED
from verification import __main__ as verification


def verdicts(*_budget: Budget, **_how: object) -> tuple[Verdict, ...]:
    """The verdicts on one pick and on three, of the mechanism with the fastest law."""
    plans = [plan for plan in standard_plans(Budget("1", "1e-6")) if plan.mechanism_name == "stable-max"][:2]
    return tuple(audit(plan, randomness=SeededRandomness(SEED), steps=5, cases=200) for plan in plans)


@pytest.fixture(autouse=True)
def two_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fim_private.report.audit.report.audit_all", verdicts)


@pytest.mark.slow
def test_the_command_writes_what_the_package_can_show(tmp_path: Path) -> None:
    succeed("audit", "all", "--output", tmp_path, "--quiet")
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "fim-private audit all --epsilon 1 --delta 1e-6 --seed 1" in report
    assert "tests/" not in report
    assert "Made by `fim-private audit all`." in report
    first = report[: report.index("<details>")]
    assert "| stable-max | 2 of 2 | k = 1 |" in first, "what is closest is seen before anything is unfolded"
    assert [record["top"] for record in json.loads((tmp_path / "verdicts.json").read_text("utf-8"))] == [1, 3]


@pytest.mark.parametrize("sound", [True, False])
def test_the_whole_report_has_what_only_checks_the_program(
    sound: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def section(anchor: str) -> Section:
        return Section(anchor=anchor, title=anchor, parts=())

    monkeypatch.setattr(verification, "candidates_section", lambda _progress: (section("candidates"), True))
    monkeypatch.setattr(verification, "sampled_sections", lambda _progress: ((section("end-to-end"),), sound))
    with mock.patch.object(sys, "argv", ["verification", "--output", str(tmp_path)]):
        assert verification.main() == (0 if sound else 1)
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "python -m verification --epsilon 1 --delta 1e-6 --seed 1" in report
    order = [report.index(f'<a id="{anchor}">') for anchor in ("twins", "named-tests", "candidates", "end-to-end")]
    assert order == sorted(order)
