"""The ledger: what it admits, what it refuses in which words, and what it remembers."""

from __future__ import annotations

import fcntl
import time
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from fim_private import Budget, BudgetError, InputError, Ledger, PrivacyUnit, Universe, UsageError, mine
from fim_private.ledger import store
from fim_private.plan import Plan
from fim_private.privacy import NeighbouringRelation
from fim_private.release import Layout
from fim_private.transactions.item_codes import transactions_from_lists
from tests.ledger.charging import charged_until_refused, plan_for


def test_what_was_charged_is_there(ledger: Ledger, tenth: Plan) -> None:
    name = ledger.charge(tenth, command="fim-private mine baskets.csv")
    assert ledger.state().undelivered == 1
    ledger.deliver(name)
    total, entry = Ledger(ledger.path).history()
    assert (total.what, total.epsilon, total.delta) == ("total", 1, 0)
    assert (entry.id, entry.state, entry.epsilon, entry.delta) == (name, "delivered", Fraction(1, 10), 0)
    assert entry.mechanism == "exponential"
    assert entry.command == "fim-private mine baskets.csv"
    assert entry.losses == [{"loss": "BoundedRange", "epsilon": "1/10", "times": 1}]
    assert entry.plan["privacy"]["neighbours"] == "add-remove"
    assert entry.time.endswith("+00:00")
    state = ledger.state()
    assert (state.dataset, state.releases, state.undelivered, state.spent.epsilon) == (
        "shop 2026",
        1,
        0,
        Fraction(1, 10),
    )
    for other in (name, "no-id"):
        with pytest.raises(InputError, match=f"no release {other}, or it was delivered before. Look at its history"):
            ledger.deliver(other)
    assert sorted(path.name for path in ledger.path.parent.iterdir()) == ["shop.ledger"]


@pytest.mark.parametrize("path", [None, 1, b"shop.ledger", ["shop.ledger"]])
def test_a_path_of_another_type_is_refused_in_words(path: Any) -> None:
    with pytest.raises(UsageError, match="path is not a text"):
        Ledger(path)
    with pytest.raises(UsageError, match="path is not a text"):
        Ledger.create(path, epsilon=1, delta=0)


def test_a_composition_of_another_type_is_refused_in_words(tmp_path: Path) -> None:
    wrong: Any = ["basic"]
    with pytest.raises(UsageError, match="no such composition"):
        Ledger.create(tmp_path / "shop.ledger", epsilon=1, delta=0, composition=wrong)


def test_ten_tenths_are_one_and_an_eleventh_is_refused(ledger: Ledger, tenth: Plan) -> None:
    for _ in range(10):
        ledger.charge(tenth)
    assert ledger.state().spent.epsilon == 1
    with pytest.raises(BudgetError) as refused:
        ledger.charge(tenth)
    assert "requested epsilon 0.1, delta 0; remaining epsilon 0, delta 0; too much by epsilon 0.1" in str(refused.value)
    assert ledger.state().releases == 10


def test_an_epsilon_that_nobody_may_ask_for_does_not_remain(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon=1, delta=0)
    ledger.charge(plan_for("0.9999991"))
    with pytest.raises(BudgetError, match=r"remaining epsilon 0, delta 0; too much by epsilon 0\.1"):
        ledger.check(plan_for("0.1"))


def test_whatever_knows_its_cost_is_charged(ledger: Ledger, tenth: Plan) -> None:
    asked = SimpleNamespace(cost=replace(tenth.cost, mechanism="survey", record={"question": "which"}))
    ledger.charge(asked)
    entry = ledger.history()[-1]
    assert (entry.mechanism, entry.epsilon) == ("survey", Fraction(1, 10))
    assert entry.plan["plan"] == {"question": "which"}
    dear = SimpleNamespace(cost=plan_for("2").cost)
    with pytest.raises(BudgetError, match=r"requested epsilon 2.*Ask for a smaller epsilon, or raise the total"):
        ledger.check(dear)


def test_a_refusal_says_what_would_fit(ledger: Ledger) -> None:
    ledger.charge(plan_for("0.7"))
    began = time.monotonic()
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("0.5"))
    assert time.monotonic() - began < 10  # two seconds on a machine that is not busy
    assert refused.value.exit_code == 4
    assert "requested epsilon 0.5, delta 0; remaining epsilon 0.3, delta 0; too much by epsilon 0.2." in str(
        refused.value
    )
    assert "--epsilon 0.3, the largest at this delta" in refused.value.next_step
    ledger.charge(plan_for("0.3"))


@pytest.mark.slow
def test_what_would_fit_by_renyi_composition_fits(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="2", delta="1e-5")
    asked = {"delta": "1e-7", "top": 50}
    for _ in range(3):
        ledger.charge(plan_for("0.8", **asked))
    assert ledger.state().spent.epsilon > 2  # by adding up it would not fit
    with pytest.raises(BudgetError) as refused:
        ledger.charge(plan_for("1.9", **asked))
    assert "adding costs up leaves epsilon 0," in refused.value.what
    epsilon = refused.value.next_step.split("--epsilon ")[1].split(",")[0]
    assert 0.4 < float(epsilon) < 1.9
    ledger.check(plan_for(epsilon, **asked))
    with pytest.raises(BudgetError):
        ledger.check(plan_for(str(float(epsilon) * 1.03), **asked))


@pytest.mark.parametrize(
    ("composition", "spent"),
    [("renyi", {"delta": "1e-7", "mechanism": "limited-domain"}), ("both", {"delta": "5e-6", "top": 50})],
)
def test_what_only_renyi_composition_allows_is_told_too(tmp_path: Path, composition: str, spent: dict) -> None:
    """Where guarantees leave room in epsilon and none in delta."""
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="4", delta="1e-5", composition=composition)
    ledger.charge(plan_for("1.5", **spent))
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("3.9", "1e-6", top=50))
    assert "for this question (adding costs up leaves epsilon 2.5, delta 0); too much by epsilon" in str(refused.value)
    epsilon = refused.value.next_step.split("--epsilon ")[1].split(",")[0]
    ledger.check(plan_for(epsilon, "1e-6", top=50))


@pytest.mark.slow
def test_a_smaller_top_and_a_smaller_delta_are_told_where_they_help(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="4", delta="1e-6", composition="basic")
    ledger.charge(plan_for("1", "9e-7", top=50))
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("1", "2e-7", top=50))
    assert "remaining epsilon 3, delta 1e-7; too much by delta 1e-7." in refused.value.what
    assert refused.value.next_step == (
        "What would fit: --delta 1e-7, at this epsilon and --top; or --top 2, the largest at this epsilon and delta."
    )
    ledger.check(plan_for("1", "1e-7", top=50))
    ledger.check(plan_for("1", "2e-7", top=2))  # needs no delta
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("1", "2e-7", top=50, mechanism="limited-domain", universe=None))
    assert refused.value.next_step == "What would fit: --delta 1e-7, at this epsilon and --top."
    ledger.check(plan_for("1", "1e-7", top=50, mechanism="limited-domain", universe=None))
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("4", "2e-7", top=50, mechanism="limited-domain", universe=None))
    assert refused.value.next_step == "What would fit: --epsilon 3 --delta 1e-7, at this --top."
    ledger.check(plan_for("3", "1e-7", top=50, mechanism="limited-domain", universe=None))


@pytest.mark.slow
def test_where_no_delta_is_left_a_public_list_is_told_and_not_a_smaller_delta(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="3", delta="1e-6", composition="basic")
    asked = {"top": 50, "mechanism": "look-first", "universe": None}
    ledger.charge(plan_for("1", "1e-6", **asked))
    with pytest.raises(BudgetError, match=r"delta: give delta=0 with a public list of items \(Universe\(names"):
        ledger.check(plan_for("1", "1e-7", **asked))
    ledger.check(plan_for("1", "0", top=50))
    ledger.charge(plan_for("2", "0", top=50))
    with pytest.raises(BudgetError, match="at this delta: raise the total"):
        ledger.check(plan_for("1", "1e-7", **asked))


@pytest.mark.slow
def test_a_smaller_delta_is_told_where_renyi_composition_has_no_delta_left_for_failures(tmp_path: Path) -> None:
    """Then no epsilon fits, and raising the total is not the only way."""
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="2", delta="1e-5")
    asked = {"top": 5, "mechanism": "look-first", "universe": None}
    for _ in range(2):
        ledger.charge(plan_for("1", "1e-6", **asked))
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("1", "1e-6", **asked))
    assert refused.value.what.endswith(
        "requested epsilon 1, delta 1e-6; adding costs up leaves epsilon 0, delta 3e-6. Counted together, its costs "
        "would fit with a smaller delta."
    )
    assert refused.value.next_step == "What would fit: --delta 5e-7, at this epsilon and --top."
    ledger.check(plan_for("1", "5e-7", **asked))


@pytest.mark.slow
def test_a_smaller_delta_is_told_where_hardly_any_epsilon_fits(tmp_path: Path) -> None:
    """What rounding left of epsilon fits by adding up, and with a smaller delta half of what was asked for fits."""
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="2", delta="1e-5")
    asked = {"mechanism": "look-first", "universe": None}
    for epsilon in ("1", "0.9999"):
        ledger.charge(plan_for(epsilon, "1e-6", top=20, **asked))
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("0.5", "1e-6", top=5, **asked))
    first, second, *_ = refused.value.next_step.split("; or ")
    assert first == "What would fit: --delta 2e-7, at this epsilon and --top"
    assert float(second.split()[1].rstrip(",")) < 0.001
    ledger.check(plan_for("0.5", "2e-7", top=5, **asked))


def test_the_budget_can_be_divided_evenly(tmp_path: Path) -> None:
    """Releases that divide epsilon and delta alike get all of it: the first one settles how delta is shared."""
    for parts, epsilon, delta in ((1, "1", "1e-6"), (2, "0.5", "5e-7"), (4, "0.25", "2.5e-7")):
        ledger = Ledger.create(tmp_path / f"{parts}.ledger", epsilon="1", delta="1e-6")
        plan = plan_for(epsilon, delta, mechanism="limited-domain", universe=None)
        for _ in range(parts):
            ledger.charge(plan)
        with pytest.raises(BudgetError):
            ledger.charge(plan)


def test_many_small_releases_cost_less_than_their_sum(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="1", delta="1e-5")
    basic = Ledger.create(tmp_path / "basic.ledger", epsilon="1", delta="1e-5", composition="basic")
    plan = plan_for("0.2", "1e-8", top=20)
    assert charged_until_refused(basic, plan) == 5
    assert charged_until_refused(ledger, plan) > 15


def test_releases_of_another_kind_are_refused(ledger: Ledger, tenth: Plan) -> None:
    ledger.charge(tenth)
    with pytest.raises(UsageError, match="different promises"):
        ledger.charge(plan_for("0.1", unit=PrivacyUnit(column="customer")))
    with pytest.raises(UsageError, match="add-remove neighbours"):
        ledger.charge(plan_for("0.1", relation=NeighbouringRelation.REPLACE))
    assert ledger.state().releases == 1


def test_the_total_can_be_raised_and_not_set_below_what_was_spent(ledger: Ledger) -> None:
    ledger.charge(plan_for("0.7"))
    with pytest.raises(BudgetError, match=r"More was spent already: epsilon 0\.7"):
        ledger.set_total(epsilon="0.69")
    assert ledger.set_total(epsilon="0.7").budget.epsilon == Fraction(7, 10)
    with pytest.raises(BudgetError):
        ledger.charge(plan_for("0.1"))
    ledger.set_total(epsilon="2", delta="1e-6")
    ledger.charge(plan_for("1.3"))
    totals = [(entry.epsilon, entry.delta) for entry in ledger.history() if entry.what == "total"]
    assert totals == [(1, 0), (Fraction(7, 10), 0), (2, Fraction(1, 10**6))]


def test_the_first_charge_decides_how_delta_is_shared_and_no_later_one(tmp_path: Path) -> None:
    """If a later charge decided, earlier answers could influence the decision."""
    for first, later, share in ((("1", "1e-6"), ("0.1", "1e-6"), "1"), (("1", "1e-7"), ("0.1", "5e-7"), "1/2")):
        ledger = Ledger.create(tmp_path / f"{share[0]}{share[-1]}.ledger", epsilon="2", delta="2e-6")
        assert ledger.state().basic_share is None
        with pytest.raises(BudgetError):
            ledger.charge(plan_for("3", "1e-7"))
        assert ledger.state().basic_share is None
        for epsilon, delta in (first, later):
            ledger.charge(plan_for(epsilon, delta, mechanism="limited-domain", universe=None))
            assert ledger.state().basic_share == Fraction(share)


def shared_by(tmp_path: Path, mechanism: str, delta: str) -> Ledger:
    ledger = Ledger.create(tmp_path / f"{mechanism}{delta}.ledger", epsilon="3", delta="0.01")
    ledger.charge(plan_for("0.3", delta, top=10, mechanism=mechanism, universe=None))
    return ledger


@pytest.mark.parametrize(
    ("mechanism", "delta", "settled"),
    [("lmm", "1e-6", True), ("limited-domain", "1e-6", True), ("limited-domain", "2e-3", False)],
)
def test_the_first_charge_settles_whether_failures_are_paid_on_both_sides(
    tmp_path: Path, mechanism: str, delta: str, *, settled: bool
) -> None:
    """They may be, unless half of the delta for failures is too little for more releases like the first."""
    ledger = shared_by(tmp_path, mechanism, delta)
    assert ledger.state().failing_epsilon == (3 if settled else None)
    ledger.charge(plan_for("0.3", "1e-6", top=10, mechanism="lmm", universe=None))
    assert (ledger.state().spent.failure > 0) is settled
    assert Ledger(ledger.path).state().failing_epsilon == ledger.state().failing_epsilon


def test_epsilon_is_not_raised_above_what_failures_on_both_sides_were_counted_for(tmp_path: Path) -> None:
    ledger = shared_by(tmp_path, "lmm", "1e-6")
    ledger.set_total(epsilon="5")  # adding up still admits what was spent
    ledger.charge(plan_for("0.3", "1e-6", top=10, mechanism="lmm", universe=None))
    ledger.set_total(epsilon="3")
    while ledger.state().spent.epsilon <= 5:
        ledger.charge(plan_for("0.3", "1e-6", top=10, mechanism="lmm", universe=None))
    with pytest.raises(BudgetError, match="no epsilon above 3, the total at the first release"):
        ledger.set_total(epsilon="5")
    assert ledger.set_total(delta="0.02").budget.delta == Fraction(1, 50)


def test_a_ledger_that_cannot_be_made_leaves_nothing(tmp_path: Path, ledger: Ledger) -> None:
    before = ledger.path.read_bytes()
    with pytest.raises(UsageError, match="a file at"):
        Ledger.create(ledger.path, epsilon="3", delta="0")
    assert ledger.path.read_bytes() == before
    with pytest.raises(UsageError, match="folder"):
        Ledger.create(tmp_path / "absent" / "shop.ledger", epsilon="3", delta="0")
    for choice in (
        *({"epsilon": "0"}, {"delta": "1"}, {"composition": "best"}, {"composition": "renyi", "delta": "0"}),
        {"dataset": 2026},
    ):
        with pytest.raises(UsageError):
            Ledger.create(tmp_path / "other.ledger", **{"epsilon": "1", "delta": "1e-6", **choice})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shop.ledger"]


def test_mining_in_python_is_charged_delivered_and_refused(ledger: Ledger) -> None:
    baskets = transactions_from_lists([["milk", "bread"]] * 3000)
    listed = Universe(names=("milk", "bread", "a", "b", "c", "d"))
    asked = {"size": 2, "top": 1, "budget": Budget("0.6", "0"), "unit": PrivacyUnit(), "universe": listed}
    release = mine(baskets, ledger=ledger, **asked)
    assert release.id == ledger.history()[-1].id
    assert ledger.history()[-1].state == "delivered"
    assert type(release).from_json(release.to_json()) == release
    with pytest.raises(BudgetError):
        mine(baskets, ledger=ledger, **asked)
    with pytest.raises(UsageError, match="seeded"):
        mine(baskets, ledger=ledger, seed=1, **asked)
    other = Ledger.create(ledger.path.with_name("other.ledger"), epsilon="1", delta="1e-6")
    with pytest.raises(InputError, match="more different items"):
        mine(
            transactions_from_lists([["milk", "bread", "tea"]] * 9),
            ledger=other,
            **{**asked, "universe": Universe(items=2), "budget": Budget("0.1", "1e-9"), "mechanism": "exponential"},
        )
    assert (ledger.state().releases, other.state().releases) == (1, 0)


def laid_out(separator: str, *guessed: str) -> Layout:
    return Layout(format="basket", separator=separator, encoding="utf-8", guessed=guessed)


class Lost(Ledger):
    """A ledger that cannot be written to once it was charged: it is moved away, or others hold it."""

    moved: bool
    holder: IO[bytes]

    def charge(self, *plan: Any, **options: Any) -> str:
        name = super().charge(*plan, **options)
        if self.moved:
            self.path.rename(self.path.with_name("elsewhere.ledger"))
        else:
            fcntl.flock(self.holder, fcntl.LOCK_SH)
        return name


@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize("as_errors", [True, False])
def test_a_release_that_was_paid_for_is_returned_though_its_delivery_cannot_be_noted(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, *, moved: bool, as_errors: bool
) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    lost = Lost(ledger.path)
    lost.moved = moved
    data = transactions_from_lists([["a", "b"]] * 3000)
    listed = Universe(names=("milk", "bread", "a", "b", "c", "d"))
    asked = {"size": 2, "top": 1, "budget": Budget("0.6", "0"), "unit": PrivacyUnit(), "universe": listed}
    with warnings.catch_warnings(record=True) as told, ledger.path.open("rb") as lost.holder:
        warnings.simplefilter("error" if as_errors else "always")
        release = mine(data, ledger=lost, **asked)
    assert [itemset.items for itemset in release.itemsets] == [("a", "b")]
    said = [] if as_errors else [f"{release.id} was charged and handed over, but not noted as delivered"]
    assert [part in str(warning.message) for part, warning in zip(said, told, strict=True)] == [True] * len(said)
    assert {warning.filename for warning in told} <= {__file__}
    where = ledger.path.with_name("elsewhere.ledger") if moved else ledger.path
    assert Ledger(where).history()[-1].state == "charged"


def test_a_layout_that_was_guessed_has_to_be_the_first_release_s(ledger: Ledger, tenth: Plan) -> None:
    """Otherwise one transaction could decide which of two layouts is guessed, and with it what the items are."""
    ledger.charge(tenth)
    assert ledger.state().layout is None, "nobody said it"
    ledger.charge(tenth, layout=laid_out(",", "format", "separator"))
    ledger.charge(tenth, layout=laid_out(",", "separator"))
    with pytest.raises(
        UsageError, match=r"guessed.*semicolons.*first.*commas\. Type .* format=.basket. separator=.,. encoding=.utf-8."
    ) as refused:
        ledger.charge(tenth, layout=laid_out(";", "separator"))
    assert refused.value.exit_code == 2
    assert ledger.state().releases == 3
    ledger.charge(tenth, layout=laid_out(";", "format"))
    ledger.charge(tenth)
    assert ledger.state().layout == laid_out(",", "format", "separator"), "the first is remembered"
    layouts = [entry.layout for entry in ledger.history() if entry.what == "release"]
    assert [layout and layout.separator for layout in layouts] == [None, ",", ",", ";", None]


def by(column: str | None) -> Layout:
    return Layout(format="basket" if column is None else "long", separator=",", transaction_column=column)


@pytest.mark.parametrize(("first", "other"), [("basket", "day"), ("basket", None), (None, "day")])
def test_transactions_of_another_column_are_another_unit(
    ledger: Ledger, tenth: Plan, first: str | None, other: str | None
) -> None:
    """All of a day's baskets are not one basket: what one day changes is not what one basket changes."""
    ledger.charge(tenth, layout=by(first))
    with pytest.raises(UsageError, match="different promises") as refused:
        ledger.charge(tenth, layout=by(other))
    assert ('transaction_column="basket"' in str(refused.value)) is (first == "basket")
    ledger.charge(tenth, layout=by(first))
    assert ledger.state().releases == 2


def test_customers_stay_the_unit_however_their_transactions_are_told(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="1", delta="0")
    plan = plan_for("0.1", unit=PrivacyUnit(column="customer"))
    ledger.charge(plan, layout=by("basket"))
    ledger.charge(plan, layout=by("day"))


def test_the_history_is_in_the_order_of_events_whatever_the_clock_says(
    ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [ledger.charge(tenth)]
    monkeypatch.setattr("fim_private.ledger.ledger._now", lambda: "1999-12-31T23:59:59+00:00")
    names.append(ledger.charge(tenth))
    ledger.set_total(epsilon="2")
    ledger.deliver(names[0])
    monkeypatch.undo()
    names.append(ledger.charge(tenth))
    assert [entry.id for entry in ledger.history()] == [None, *names[:2], None, names[2]]
    assert ledger.state().budget.epsilon == 2
    assert ledger.history()[1].delivered == "1999-12-31T23:59:59+00:00"
    assert (ledger.state().releases, ledger.state().undelivered) == (3, 2)
