"""The ledger of one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from fim_private import Budget, Ledger, PrivacyUnit, make_plan
from fim_private.cli.interruption import InterruptedByUser
from fim_private.cli.run_ledger import RunLedger
from fim_private.errors import UsageError
from fim_private.transactions.layout import IN_MEMORY


def plan_for(unit: PrivacyUnit):
    return make_plan(size=2, top=1, budget=Budget("1", "1e-6"), unit=unit)


def test_a_run_that_ends_while_it_charges_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It cannot know whether the charge was written."""
    path = tmp_path / "shop.ledger"
    Ledger.create(path, epsilon="3", delta="1e-5")

    def ended(*_arguments: object, **_options: object) -> str:
        raise InterruptedByUser

    monkeypatch.setattr(Ledger, "charge", ended)
    with pytest.raises(InterruptedByUser), RunLedger(path, plan_for(PrivacyUnit()), "mine") as ledger:
        ledger.charge(IN_MEMORY)
    assert "shows whether it was charged" in capsys.readouterr().err


def test_a_column_s_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="3", delta="1e-5")
    ledger.charge(plan_for(PrivacyUnit(column="c\x1b]0;taken\x07")), layout=IN_MEMORY)
    with pytest.raises(UsageError, match="Give unit_column=") as refused:
        ledger.check(plan_for(PrivacyUnit()))
    assert str(refused.value).isprintable()


def test_a_column_s_name_can_be_typed_as_it_is_advised(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="3", delta="1e-5")
    ledger.charge(plan_for(PrivacyUnit(column="N° client")), layout=IN_MEMORY)
    with pytest.raises(UsageError, match="Give unit_column='N° client', or"):
        ledger.check(plan_for(PrivacyUnit()))
