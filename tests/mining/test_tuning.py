"""Tuning: what it costs, what a run's score is worth, and the worked example of the guide."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fim_private import Budget, Release, Transactions, Universe, transactions_from_lists
from fim_private.counting import ChosenCounts, TransactionDatabase, as_database
from fim_private.counting.local import work
from fim_private.errors import BudgetError, InputError, UsageError
from fim_private.ledger import Ledger
from fim_private.mining import tuning
from fim_private.mining.mine import mine_as_planned, prepare
from fim_private.mining.tuning import tune
from fim_private.mining.tuning_plan import Configuration, TuningPlan, plan_tuning
from fim_private.plan import Plan
from fim_private.privacy import NeighbouringRelation, PureDP
from fim_private.private_candidates import KnownThreshold, RandomStopping
from fim_private.private_candidates.pool import parts
from fim_private.randomness import Randomness, SecureRandomness, SeededRandomness
from fim_private.randomness.discrete_laplace import discrete_laplace_mass
from fim_private.release.door import noisy_total
from fim_private.transactions.layout import IN_MEMORY, Layout
from fim_private.transactions.reading import read_transactions
from tests.asking import planned
from tests.conftest import ROOT
from tests.sampling import SEED, assert_drawn_from

GOOD = Configuration(name="good", size=2, top=2, mechanism="limited-domain")
POOR = Configuration(name="poor", size=2, top=2, mechanism="stable-max")
BASKETS = transactions_from_lists([["a", "b", "c", "d"]] * 400 + [["a", "b", "e", "f"]] * 300 + [["x", "y"]] * 5)
BUDGET = Budget("6", "1e-6")


def runs_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The mechanisms of the runs that are made from now on."""
    made: list[str] = []
    real = tuning.draw

    def counted(data: object, plan: object, *more: object, **options: object) -> Release:
        made.append(plan.mechanism_name)
        return real(data, plan, *more, **options)

    monkeypatch.setattr(tuning, "draw", counted)
    return made


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
@pytest.mark.parametrize("threshold", [None, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [("3", "1e-6"), ("0.5", "0.01")])
def test_everything_together_stays_within_the_budget(
    epsilon: str, delta: str, threshold: int | None, relation: NeighbouringRelation
) -> None:
    budget = Budget(epsilon, delta)
    plan = plan_tuning([GOOD, POOR], budget=budget, relation=relation, threshold=threshold, runs=30)
    times, stop = (3 if threshold is None else 2), Fraction(1, 30)
    run_epsilon, run_delta = parts(plan.loss)
    assert plan.guarantee.epsilon == times * run_epsilon
    assert plan.guarantee.delta == run_delta / (stop + run_delta - stop * run_delta)
    assert 0.99 * budget.epsilon < plan.guarantee.epsilon <= budget.epsilon
    assert 0.99 * budget.delta < plan.guarantee.delta <= budget.delta
    assert all(one.guarantee.epsilon + plan.score_epsilon <= run_epsilon for one in plan.plans)
    assert all(one.guarantee.delta <= run_delta for one in plan.plans)


@pytest.mark.parametrize("threshold", [None, 1000])
def test_counts_are_paid_for_within_a_run(threshold: int | None) -> None:
    counted = replace(POOR, name="counted", mechanism="limited-domain", count_share="0.4")
    plain = plan_tuning([GOOD, POOR], budget=BUDGET, threshold=threshold, runs=30)
    plan = plan_tuning([GOOD, counted], budget=BUDGET, threshold=threshold, runs=30)
    assert plan.plans[1].counts is not None
    assert plan.plans[1].guarantee.epsilon + plan.score_epsilon <= parts(plan.loss)[0]
    assert plan.guarantee.epsilon <= BUDGET.epsilon
    assert plan.guarantee.delta <= BUDGET.delta
    assert parts(plan.loss)[0] <= parts(plain.loss)[0]
    reordered = plan_tuning([counted, GOOD], budget=BUDGET, threshold=threshold, runs=30)
    assert reordered.cost.record["counts"] is None, "they are among what a run costs"
    assert reordered.cost.guarantee == plan.guarantee
    chosen = tune(BASKETS, plan_tuning([counted, POOR], budget=BUDGET, runs=30), seed=1)
    assert {line.items: line.count is not None for line in chosen.release.itemsets}[("a", "b")]


def test_without_delta_everything_is_pure() -> None:
    universe = Universe(names=tuple("abcdefxy"))
    configurations = [replace(GOOD, mechanism=name, top=1) for name in ("exponential", "permute-and-flip")]
    named = [replace(configuration, name=configuration.mechanism) for configuration in configurations]
    plan = plan_tuning(named, budget=Budget("3", "0"), universe=universe)
    assert plan.loss == PureDP(Fraction(1))
    assert plan.guarantee.delta == 0
    assert plan.selection == RandomStopping(stop=Fraction(1, 20))
    tuned = tune(BASKETS, plan, seed=1)
    assert tuned.release.itemsets[0].items == ("a", "b")


def test_a_score_is_the_total_with_noise_of_scale_top_over_epsilon() -> None:
    counts = as_database(BASKETS).count_chosen(np.array([[0, 1], [0, 2]], np.int32))
    randomness = SeededRandomness(SEED)
    draws = [noisy_total(counts, Fraction(5), randomness) for _ in range(20_000)]

    def law(width: Fraction) -> dict[int, float]:
        values = np.arange(-400, 401)
        mass = discrete_laplace_mass(values, float(5 * width))
        return dict(zip((values + 1100).tolist(), mass.tolist(), strict=True))

    assert_drawn_from(law, draws)


def spent_on(monkeypatch: pytest.MonkeyPatch, data: Transactions, plan: TuningPlan) -> list[tuple[int, Fraction]]:
    """What each run's score was without noise, and the scale of its noise."""
    seen: list[tuple[int, Fraction]] = []

    def recorded(counts: ChosenCounts, scale: Fraction, _: Randomness) -> int:
        total = int(counts.vector().sum())
        seen.append((total, scale))
        return total

    monkeypatch.setattr(tuning, "noisy_total", recorded)
    tune(data, plan, seed=SEED)
    return seen


def test_one_unit_adds_no_more_than_the_noise_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A customer with forty baskets that all hold the pair counts once in the score, whatever a run keeps."""
    baskets = [["a", "b"]] * 300 + [["a", "b"]] * 40
    owners = [str(number) for number in range(300)] + ["big"] * 40
    configurations = [
        Configuration(name="merged", size=2, top=3, mechanism="limited-domain"),
        Configuration(name="five", size=2, top=3, mechanism="limited-domain", max_transactions=5),
    ]
    plan = plan_tuning(configurations, budget=BUDGET, unit_column="customer", runs=12)
    seen = []
    for most in (340, 300):
        data = transactions_from_lists(baskets[:most], units=owners[:most])
        seen.append({total for total, _ in spent_on(monkeypatch, data, plan)})
        assert {scale for _, scale in spent_on(monkeypatch, data, plan)} == {3 / plan.score_epsilon}
    assert max(seen[0]) == 301
    assert max(seen[1]) == 300


def test_the_better_configuration_is_chosen() -> None:
    plan = plan_tuning([POOR, GOOD], budget=BUDGET, runs=20)
    found = [tune(BASKETS, plan, seed=seed) for seed in range(5)]
    # A run of the good one is missing with probability 1 in 21, and happens to be with the second seed.
    assert [tuned.name for tuned in found if tuned] == ["good", "poor", "good", "good", "good"]
    for tuned in found[2:]:
        assert ("a", "b") in {line.items for line in tuned.release.itemsets}
        assert tuned.release.seeded
        assert tuned.release.privacy["epsilon"] == 6
        assert tuned.release.privacy["proved"]["composition"] == "private candidates"
        assert tuned.release.privacy["delta"] == 1e-6
        record = tuned.release.plan["tuning"]
        assert record["chosen"] == "good"
        assert record["run"]["epsilon"] == pytest.approx(1.6)
        assert Release.from_json(tuned.release.to_json()) == tuned.release
        assert "runs" not in record, "how many runs it took is private"


def test_a_threshold_is_cheaper_and_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    made = runs_of(monkeypatch)
    plan = plan_tuning([POOR, GOOD], budget=BUDGET, runs=1000, threshold=900)
    assert plan.selection == KnownThreshold(threshold=900, stop=Fraction(1, 1000))
    assert parts(plan.loss)[0] == pytest.approx(3)
    tuned = tune(BASKETS, plan, seed=1)
    assert tuned.score >= 900
    assert len(made) < 50
    unreachable = plan_tuning([POOR, GOOD], budget=BUDGET, runs=5, threshold=10**6)
    assert tune(BASKETS, unreachable, seed=1) is None


def test_the_charge_is_made_once_and_first(monkeypatch: pytest.MonkeyPatch) -> None:
    made, charges = runs_of(monkeypatch), []
    plan = plan_tuning([POOR, GOOD], budget=BUDGET, runs=5)

    def charge(layout: Layout) -> str:
        assert layout == IN_MEMORY
        charges.append(len(made))
        return "id"

    tuned = tune(BASKETS, plan, charge=charge)
    assert tuned.release.id == "id"
    assert not tuned.release.seeded
    assert charges == [0]
    assert made

    def refuse(layout: Layout) -> str:
        raise BudgetError("no", "no")

    made.clear()
    with pytest.raises(BudgetError):
        tune(BASKETS, plan, charge=refuse)
    assert not made
    with pytest.raises(UsageError, match="seeded"):
        tune(BASKETS, plan, charge=charge, seed=1)


@pytest.mark.parametrize("max_items", [None, 50])
def test_what_is_too_much_to_count_is_refused_before_the_charge(
    monkeypatch: pytest.MonkeyPatch, max_items: int | None
) -> None:
    """Whichever configuration the lot draws: one of these is always possible."""
    monkeypatch.setattr(work, "MOST_STEPS", 10**5)
    long = Configuration(name="long", size=4, top=2, mechanism="limited-domain", max_items=max_items)
    short = Configuration(name="short", size=1, top=2, mechanism="limited-domain")
    charges: list[str] = []

    def charge(_layout: Layout) -> str:
        charges.append("paid")
        return "id"

    data = transactions_from_lists([[f"item {number}" for number in range(60)]] * 9)
    with pytest.raises(InputError, match="too long to count all itemsets of size 4"):
        tune(data, plan_tuning([short, long], budget=BUDGET, runs=30), charge=charge)
    assert charges == []


def test_nothing_is_bounded_or_counted_after_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another random choice could be too much to count, and the budget would be lost."""
    prepared: list[tuple[int | None, int | None]] = []
    kinds: set[type[Randomness]] = set()
    real, real_count = tuning.bound, tuning.count_all
    paid: list[str] = []

    def bounded(database: TransactionDatabase, plan: Plan, randomness: Randomness) -> TransactionDatabase:
        assert not paid
        prepared.append((plan.unit.max_transactions, plan.max_items))
        kinds.add(type(randomness))
        return real(database, plan, randomness)

    def counted(*given: Any) -> Any:
        assert not paid
        return real_count(*given)

    def charge(_layout: Layout) -> str:
        paid.append("paid")
        return "id"

    monkeypatch.setattr(tuning, "bound", bounded)
    monkeypatch.setattr(tuning, "count_all", counted)
    made = runs_of(monkeypatch)
    some = [
        replace(POOR, name="two items", max_items=2),
        replace(POOR, name="three items", max_items=3),
        replace(GOOD, name="three items too", max_items=3),
        replace(GOOD, name="one basket", max_transactions=1),
    ]
    plan = plan_tuning([GOOD, replace(GOOD, name="single", size=1), *some], budget=BUDGET, unit_column="who", runs=60)
    baskets = [["a", "b", "c", "d"]] * 400
    tune(transactions_from_lists(baskets, units=[str(at // 2) for at in range(400)]), plan, charge=charge)
    assert paid
    assert len(made) > 0
    assert prepared == [(None, None), (None, 2), (None, 3), (1, None)], "plans with the same bounds share a choice"
    # A unit's words must be independent of the words of all others.
    assert kinds == {SecureRandomness}


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
@pytest.mark.parametrize("threshold", [None, 1000])
@pytest.mark.parametrize("composition", ["basic", "both"])
def test_a_ledger_is_charged_with_the_whole(
    tmp_path: Path, relation: NeighbouringRelation, threshold: int | None, composition: str
) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="7", delta="1e-5", composition=composition)
    plan = plan_tuning([POOR, GOOD], budget=BUDGET, runs=5, relation=relation, threshold=threshold)
    name = ledger.charge(plan)
    spent = ledger.state().spent
    assert spent.epsilon == plan.guarantee.epsilon
    assert spent.delta == plan.guarantee.delta
    entry = ledger.history()[-1]
    assert (entry.id, entry.mechanism) == (name, "tune")
    delta = str(plan.guarantee.delta)
    assert entry.losses == [{"loss": "ApproxDP", "epsilon": str(plan.guarantee.epsilon), "delta": delta, "times": 1}]
    assert entry.plan["privacy"]["neighbours"] == relation
    assert [each["name"] for each in entry.plan["plan"]["parameters"]["candidates"]] == ["poor", "good"]
    with pytest.raises(BudgetError, match=r"requested epsilon 6.*Ask for a smaller epsilon, or raise the total"):
        ledger.check(plan)


def test_the_record_of_a_tuning_has_every_candidate_as_it_was_planned() -> None:
    configurations = [
        Configuration(name="one", size=1, top=2, mechanism="limited-domain", max_items=3),
        Configuration(name="two", size=2, top=5, mechanism="limited-domain", max_transactions=4),
    ]
    record = plan_tuning(configurations, budget=BUDGET, unit_column="customer").cost.record
    told = {name: record[name] for name in ("size", "sizes", "top", "max_items", "max_transactions", "unit_column")}
    assert told == {
        "size": None,
        "sizes": [1, 2],
        "top": 5,
        "max_items": None,
        "max_transactions": None,
        "unit_column": "customer",
    }
    assert [
        (each["name"], each["size"], each["top"], each["max_items"], each["max_transactions"])
        for each in record["parameters"]["candidates"]
    ] == [("one", 1, 2, 3, None), ("two", 2, 5, None, 4)]
    alike = plan_tuning([GOOD, POOR], budget=BUDGET).cost.record
    assert (alike["size"], alike["sizes"], alike["top"]) == (2, [2], 2)


def test_one_unit_in_place_of_another_changes_a_score_by_at_most_top(monkeypatch: pytest.MonkeyPatch) -> None:
    """The theorems ask for the cost of a run under the relation; the noise of its score has to cover both."""
    randomness = SeededRandomness(SEED)
    top, widest = 3, 0
    named = [("a", "b"), ("a", "c"), ("b", "c")]
    release = mine_as_planned(BASKETS, plan_tuning([GOOD, POOR], budget=BUDGET).plans[0], seed=1)
    lines = tuple(replace(release.itemsets[0], items=items) for items in named)
    monkeypatch.setattr(tuning, "draw", lambda *_, **__: replace(release, itemsets=lines))
    monkeypatch.setattr(tuning, "noisy_total", lambda counts, *_: int(counts.vector().sum()))
    plan = plan_tuning([replace(GOOD, top=top), replace(POOR, top=top)], budget=BUDGET).plans[0]

    def score(rows: list[list[str]]) -> int:
        # The last row keeps all items in the vocabulary.
        database = as_database(transactions_from_lists([*rows, ["a", "b", "c", "d"]]))
        codes = {name: code for code, name in enumerate(database.vocabulary.to_list())}
        counted = prepare(database, plan, randomness)
        data = tuning._Data(database.notes.layout, database, codes)
        return tuning._run(data, plan, counted, Fraction(1), randomness)[0]

    for _ in range(60):
        rows = [[item for item in "abcd" if randomness.bits(1)] or ["d"] for _ in range(4)]
        replaced = [rows[0], rows[1], rows[2], [item for item in "abc" if randomness.bits(1)] or ["d"]]
        widest = max(widest, abs(score(rows) - score(replaced)))
    assert widest == top


def test_parameters_out_of_range_are_refused() -> None:
    def asking(**options: object) -> Callable[[], TuningPlan]:
        return lambda: plan_tuning(**{"configurations": [GOOD, POOR], "budget": BUDGET, **options})

    for wrong in (
        asking(configurations=[GOOD]),
        asking(configurations=[GOOD, GOOD]),
        asking(runs=0),
        asking(score_share=Fraction(1)),
        asking(universe=Universe(items=9)),
    ):
        with pytest.raises(UsageError):
            wrong()
    plan = plan_tuning([GOOD, POOR], budget=BUDGET, unit_column="customer")
    with pytest.raises(UsageError, match="without it"):
        tune(BASKETS, plan, seed=1)


EXAMPLE = [
    Configuration(name="limited-domain", size=2, top=5, mechanism="limited-domain"),
    Configuration(name="items-first", size=2, top=5, mechanism="items-first", select="peel"),
]
SEEDS, TUNINGS = range(6), range(20)


@pytest.mark.slow
def test_tuning_gives_the_figures_of_the_worked_example() -> None:
    """The guide's figures: customers of the web shop, five pairs, epsilon 3 in all, two candidates."""
    data = read_transactions(ROOT / "datasets" / "online-retail-customers.csv.gz")
    names = {name: code for code, name in enumerate(data.vocabulary.to_list())}
    database = as_database(data)

    def found(release: Release) -> int:
        codes = np.array([sorted(names[item] for item in line.items) for line in release.itemsets], np.int32)
        return int(database.count_chosen(codes.reshape(-1, 2)).vector().sum())

    budget = Budget("3", "1e-6")
    plan = plan_tuning(EXAMPLE, budget=budget, runs=20)
    alone, once = {}, {}
    for configuration, run in zip(EXAMPLE, plan.plans, strict=True):
        whole = planned(top=5, budget=budget, mechanism=configuration.mechanism, select=configuration.select)
        for results, chosen in ((alone, whole), (once, run)):
            results[configuration.name] = sum(found(mine_as_planned(data, chosen, seed=seed)) for seed in SEEDS) / len(
                SEEDS
            )
    chosen = [tune(data, plan, seed=seed) for seed in TUNINGS]
    masses = [found(one.release) if one else 0 for one in chosen]
    best = sum(one is not None and one.name == "limited-domain" for one in chosen)
    tuned = sum(masses) / len(masses)
    assert tuned > 0.85 * max(alone.values())
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `([^`]+)` \| ([\d,]+) \| ([\d,]+) \|$", guide, flags=re.MULTILINE)
    shown = {name: (int(first.replace(",", "")), int(second.replace(",", ""))) for name, first, second in lines}
    assert shown == {name: (round(mass), round(once[name])) for name, mass in alone.items()}
    assert f"names pairs held {round(tuned):,} times on average, and in {best} of {len(TUNINGS)} trials" in guide


@pytest.mark.slow
def test_the_promise_of_a_choice_has_the_conditions_of_every_candidate() -> None:
    """Whichever wins: data that one candidate could not count is refused for all."""
    bounded = Configuration(name="bounded", size=2, top=2, mechanism="items-first")
    plan = plan_tuning([Configuration(name="free", size=2, top=2, mechanism="limited-domain"), bounded], budget=BUDGET)
    assert plan.cost.public == {"most_items": 65_536}
    data = transactions_from_lists([["milk", "bread"]] * 3000 + [["tea", "jam"]] * 3000)
    won = [tune(data, plan, seed=seed) for seed in range(6)]
    assert "free" in {result.name for result in won if result}
    assert {result.release.privacy["most_items"] for result in won if result} == {65_536}
