"""Nothing is compiled or loaded between a charge and the release."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from fim_private import transactions_from_lists
from fim_private.constraints import Constraints
from fim_private.mining.mine import mine_as_planned
from tests import processes
from tests.asking import planned
from tests.conftest import ROOT

PROGRAM = """
import random, sys
from fim_private import Budget, PrivacyUnit, Universe, compilation, make_plan, transactions_from_lists
from fim_private.mining.mine import mine_as_planned

draw = random.Random(1)
baskets = [[f"i{draw.randrange(40)}" for _ in range(draw.randrange(1, 9))] + ["a", "b", "c"] for _ in range(3000)]
mechanism, size, share, select = sys.argv[1:]
plan = make_plan(
    size=int(size), top=5, budget=Budget("5", "1e-6"), unit=PrivacyUnit(), mechanism=mechanism,
    count_share=share or None, select=select or None, max_items=8,
)
before = {}

def charge(layout):
    before.update({id(loop): len(loop.signatures) for loop in compilation.LOOPS}, modules=set(sys.modules))
    return "paid"

release = mine_as_planned(transactions_from_lists(baskets), plan, charge=charge)
assert release.itemsets
print([loop.py_func.__name__ for loop in compilation.LOOPS if len(loop.signatures) > before.get(id(loop), 0)])
print(sorted(set(sys.modules) - before["modules"]))
"""

PLANS = [
    ("items-first", "3", "", "counts"),
    ("items-first", "3", "0.3", "peel"),
    ("items-first", "1", "", "counts"),
    ("items-first", "2", "", "peel"),
    ("limited-domain", "2", "0.3", ""),
    ("lmm", "3", "0.3", ""),
    ("choosing", "1", "0.3", ""),
]


@pytest.mark.parametrize("plan", [PLANS[0], *(pytest.param(plan, marks=pytest.mark.slow) for plan in PLANS[1:])])
def test_nothing_is_compiled_or_loaded_after_the_charge(plan: tuple[str, ...]) -> None:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = processes.run([sys.executable, "-c", PROGRAM, *plan], env={**os.environ, "PYTHONPATH": path}, text=True)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"], done.stdout + done.stderr


def test_what_fails_in_the_rehearsal_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("fim_private.mining.rehearsal.with_counts", fail)
    charged: list[str] = []
    plan = planned(size=1, top=1, count_share="0.3")

    def charge(_layout: object) -> str:
        charged.append("paid")
        return "paid"

    with pytest.raises(MemoryError):
        mine_as_planned(transactions_from_lists([["a", "b"]] * 9), plan, charge=charge)
    assert charged == []


@pytest.mark.parametrize(
    "changes",
    [
        {"by": "leverage", "public_transactions": 900},
        {"size": (1, 2), "per_size": True, "with_subsets": True},
        {"size": (1, 3), "raw_counts": True, "public_transactions": 900},
        {"size": 3, "constraints": Constraints(must_contain=["a"])},
    ],
    ids=["leverage", "per size", "sizes", "must contain"],
)
def test_whatever_follows_from_counts_is_rehearsed_without_a_fault(changes: dict[str, Any]) -> None:
    plan = planned(epsilon="100", delta="0.1", count_share="0.3", **{"top": 1, **changes})
    release = mine_as_planned(transactions_from_lists([["a", "b", "c"]] * 900), plan, charge=lambda _layout: "paid")
    assert release.itemsets
    assert all(itemset.count is not None for itemset in release.itemsets)
