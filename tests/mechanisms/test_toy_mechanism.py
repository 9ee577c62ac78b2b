"""A mechanism is added by its file, its row and its twins. Nothing else has to know it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fim_private.audit.standard_plans import standard_plans
from fim_private.audit.verdict import audit
from fim_private.cli.completion import mechanism_names
from fim_private.mechanisms.registry import AUTO, REGISTRY
from fim_private.privacy import Budget
from fim_private.randomness import SeededRandomness
from fim_private.report.audit.report import document_of
from fim_private.report.document.markdown import to_markdown
from fim_private.report.drawing import Pictures, look
from tests.cli.command import succeed
from tests.comparison.test_run import InThisProcess
from tests.mechanisms.toy import ROW
from tests.sampling import SEED
from verification.end_to_end import cases
from verification.pipeline import sample

ASKED = ("--size", 2, "--top", 1, "--epsilon", 4, "--delta", 0, "--unit", "transaction")
NUMBER = ("--universe-items", 60, "--delta", "1e-6")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, ROW.name, ROW)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.csv"
    path.write_text("milk,bread,tea\n" * 300 + "tea,jam\n" * 40)
    (tmp_path / "items.txt").write_text("milk\nbread\ntea\njam\n")
    return path


def printed(*arguments: object) -> str:
    done = succeed(*arguments)
    return str(done.stdout.decode())


def test_it_is_planned_beside_the_others() -> None:
    listed = printed("plan", *ASKED, *NUMBER)
    assert f"{ROW.name}: {ROW.summary}" in printed("plan", *ASKED, *NUMBER, "--mechanism", ROW.name)
    assert f"\n{ROW.name} " in listed


def test_it_mines_and_is_charged(shop: Path) -> None:
    ledger = shop.with_name("ledger")
    printed("budget", "create", ledger, "--epsilon", 10, "--delta", "1e-6")
    asked = (*ASKED, "--mechanism", ROW.name, "--universe-file", shop.with_name("items.txt"), "--format", "basket")
    released = json.loads(printed("mine", shop, *asked, "--ledger", ledger, "--json", "--quiet"))
    assert released["mechanism"] == ROW.name
    assert len(released["itemsets"]) <= 1
    assert printed("budget", "history", ledger).endswith(f" {ROW.name}\n")


def test_its_law_is_printed() -> None:
    asked = ("--counts", "9,5", "--epsilon", 1, "--delta", 0, "--json", "--quiet")
    law = json.loads(printed("law", ROW.name, *asked))
    assert law["none"] == 0.5
    assert sum(law["law"]) == pytest.approx(0.5)


def test_it_is_audited_and_its_twins_are_caught() -> None:
    verdict = json.loads(printed("audit", ROW.name, "--json", "--quiet"))
    assert verdict["holds"]
    assert [twin["caught"] for twin in verdict["twins"]] == [True]


def test_it_names_items_of_which_only_the_number_is_public(shop: Path) -> None:
    asked = (*ASKED, *NUMBER, "--mechanism", ROW.name, "--format", "basket", "--json", "--quiet")
    found = [json.loads(printed("mine", shop, *asked, "--seed", seed))["itemsets"] for seed in range(8)]
    assert {len(itemsets) for itemsets in found} == {0, 1}  # it is shy
    verdict = json.loads(printed("audit", ROW.name, "--universe-items", 20, "--json", "--quiet"))
    assert verdict["holds"]
    assert all(twin["caught"] for twin in verdict["twins"])


@pytest.mark.slow
def test_the_audit_report_has_it() -> None:
    budget = Budget("1", "1e-6")
    plans = [plan for plan in standard_plans(budget) if plan.mechanism_name == ROW.name]
    verdicts = [audit(plan, randomness=SeededRandomness(SEED), steps=1, cases=60) for plan in plans]
    assert [plan.top for plan in plans] == [1, 3, 1, 1, 1, 2]
    document = document_of(verdicts, (), Pictures(), budget=budget, command="x", sound=True)
    assert f"| {ROW.source} |" in to_markdown(document)


def test_the_whole_program_is_sampled_with_it() -> None:
    (case,) = (case for case in cases() if case.plan.mechanism_name == ROW.name)
    result = sample(case, 200)
    assert result.exact > 0.5
    assert result.holds


def test_it_is_drawn_like_no_other() -> None:
    looks = [tuple(look(name).items()) for name in (AUTO, *REGISTRY, "none of these")]
    assert len(set(looks)) == len(looks)


@pytest.mark.slow
def test_it_is_compared(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Processes of their own would not have the row.
    monkeypatch.setattr("fim_private.comparison.run.ProcessPoolExecutor", InThisProcess)
    grid = ("--sizes", 2, "--tops", 1, "--epsilons", 4, "--trials", 2, "--mechanisms", f"{ROW.name},limited-domain")
    folder = shop.with_name("report")
    printed("compare", shop, *grid, "--curator", "--format", "basket", "-o", folder)
    report = (folder / "report.md").read_text("utf-8")
    assert (
        f"| Told which items occur: names are not protected; the best case, and no private release | {ROW.name} |"
        in report
    )


def test_the_tab_key_completes_it() -> None:
    assert mechanism_names("auto")("sh") == [ROW.name]
