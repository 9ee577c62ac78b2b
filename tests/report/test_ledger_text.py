from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private import Ledger
from fim_private.accounting.privacy_filter import Charge
from fim_private.ledger import State
from fim_private.report.ledger_text import state_text


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    path = tmp_path_factory.mktemp("ledger") / "shop.ledger"
    return Ledger.create(path, epsilon=3, delta="1e-5", composition="basic").state()


def shown(state: State, spent: Charge) -> dict[str, list[Fraction]]:
    """What is shown of epsilon and of delta: spent, left, total."""
    number = r"([\d.e-]+)"
    added_up = state_text(replace(state, spent=spent)).split("added up")[1]
    found = re.search(
        f"epsilon {number}, delta {number} spent; epsilon {number} of {number}, delta {number} of {number} left",
        added_up,
    )
    assert found, added_up
    epsilon, delta, *left = map(Fraction, found.groups())
    return {"epsilon": [epsilon, *left[:2]], "delta": [delta, *left[2:]]}


def test_what_is_spent_and_what_is_left_add_up_to_the_total(state: State) -> None:
    """They were rounded apart: 0.9999 spent, and 2 of 3 left."""
    found = shown(state, Charge(epsilon=Fraction("0.99985"), delta=Fraction("3.33335e-6")))
    assert found == {
        "epsilon": [Fraction("0.9999"), Fraction("2.0001"), 3],
        "delta": [Fraction("3.334e-6"), Fraction("6.666e-6"), Fraction("1e-5")],
    }


@given(st.fractions(min_value=0, max_value=1), st.integers(min_value=0, max_value=30))
def test_what_is_shown_adds_up_and_never_promises_more_than_there_is(state: State, share: Fraction, power: int) -> None:
    spent = Charge(epsilon=3 * share / 10**power, delta=Fraction("1e-5") * share / 10**power)
    for name, (taken, left, total) in shown(state, spent).items():
        assert taken + left == total == {"epsilon": 3, "delta": Fraction("1e-5")}[name]
        assert taken >= getattr(spent, name)
