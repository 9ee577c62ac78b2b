from __future__ import annotations

import math

import pytest

from fim_private.audit.one_unit_more import Unit
from fim_private.audit.verdict import LargestDelta, Verdict
from fim_private.report.audit.report import _loose
from fim_private.report.audit.verdicts import conclusion, unit_sentence
from fim_private.report.document import Paragraph, Table
from tests.asking import planned


def verdict(found: float, name: str = "lmm-paper") -> Verdict:
    return Verdict(
        plan=planned(top=1, mechanism=name),
        epsilons=(1.0,),
        claimed=(1e-6,),
        found=(LargestDelta(delta=found, neighbours=None),),
        compared=10,
        twins=(),
        changed=None,
    )


def test_what_is_below_the_error_of_the_arithmetic_was_not_found() -> None:
    noise = verdict(8.3e-16)
    assert noise.slack == math.inf
    assert "Nothing was found at the claimed epsilon." in conclusion(noise)


@pytest.mark.parametrize(
    ("found", "shown", "closest"),
    [(1e-6, None, "claim and finding agree"), (1e-9, "1,000", "1,000 times the delta found")],
)
def test_how_loose_claims_are_is_said_in_plain_numbers(found: float, shown: str | None, closest: str) -> None:
    paragraph, table = _loose([verdict(found), verdict(1e-16)]).parts
    assert isinstance(paragraph, Paragraph)
    assert isinstance(table, Table)
    assert f"`lmm-paper`, k = 1: {closest}." in paragraph.text
    assert [row[2] for row in table.rows] == [*([shown] if shown else []), "nothing found"]


def test_one_itemset_is_not_called_itemsets() -> None:
    assert unit_sentence(Unit(common=1, own=4095, of="itemsets")) == (
        "one unit more, which holds 1 itemset that everybody has and 4,095 that nobody else has"
    )
    assert unit_sentence(Unit(common=0, own=2)).endswith("holds 2 items that nobody else has")
