"""What a mechanism does next follows from its answers so far and from nothing else, and each step costs what is paid.

A run on some data is repeated on data with one unit less, whose steps get the answers of the first run. If a step asks
for anything else then, exact data decided on it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private import Budget, PrivacyUnit, UsageError, transactions_from_lists
from fim_private.accounting.basic_composition import basic_epsilon
from fim_private.accounting.gaussian_composition import gaussian_rho
from fim_private.counting import ChosenCounts, LocalDatabase, Tokens, TransactionDatabase
from fim_private.counting.hidden_counts import Hidden
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.laplace_measurement import LaplaceMeasurement
from fim_private.mechanisms.lengths import BINS, Lengths
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import Stepwise
from fim_private.mining import items_first_steps, privbasis_steps, stepwise
from fim_private.mining.mine import bound
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import BoundedRange, Loss
from fim_private.randomness import Randomness, SeededRandomness
from fim_private.release import door

STEPS = [
    *("look_at_lengths", "discover", "look", "look_at", "measure", "pick", "pick_of_tokens", "certify"),
    *("keep_supported", "find_itemsets", "look_at_support", "look_at_count", "pick_listed", "pick_number"),
    "measure_bins",
]


def plain(value: object) -> object:
    """What can be compared. Of what holds data, only what is public: which itemsets are counted, or how many tokens."""
    if isinstance(value, ChosenCounts):
        return plain(value._itemsets)
    if isinstance(value, Tokens):
        return len(value)
    if isinstance(value, Hidden | SeededRandomness):
        return type(value).__name__
    if isinstance(value, np.ndarray):
        return value.shape, value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), [plain(getattr(value, each.name)) for each in fields(value)]
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def losses_of(asked: Sequence[Any]) -> tuple[Loss, ...]:
    """What a step with these arguments costs."""
    for each in asked:
        if isinstance(each, LookFirst):
            return (each.look,)
        if hasattr(each, "rates") and not hasattr(each, "losses"):  # each of those that are left out is a pick
            return tuple(map(BoundedRange, each.rates))
        for found in (each, *(getattr(each, name, None) for name in ("measurement", "noise"))):
            if hasattr(found, "loss"):
                return (found.loss,)
        if hasattr(each, "losses"):
            return tuple(each.losses)
    return ()


def hidden_of(name: str, asked: Sequence[Any]) -> NDArray[np.int64] | None:
    """The exact numbers that a step adds noise to, or picks by; None if another test has them."""
    if name in {"measure", "pick"} and isinstance(asked[0], ChosenCounts):
        return asked[0].vector()
    if name == "discover":
        units, items = asked[1:3]
        return units.count_chosen(np.arange(len(units.vocabulary))[:, np.newaxis], items.measurement.weights).vector()
    if name in {"certify", "keep_supported"} and len(asked[1]):
        return np.array(asked[0].supports(asked[1]))
    return None


def check_moved(moved: NDArray[np.int64], asked: Sequence[Any]) -> None:
    """One unit moves these numbers by no more than is paid for."""
    kinds = (each.measurement if hasattr(each, "measurement") else each for each in asked)
    measurement = next((each for each in kinds if isinstance(each, Measurement)), None)
    if measurement is None:
        most = max(getattr(each, "sensitivity", 1) for each in asked)
        assert 0 <= moved.min(initial=0) <= moved.max(initial=0) <= most
    elif isinstance(measurement, LaplaceMeasurement):
        assert np.abs(moved).sum() <= measurement.sensitivity * measurement.resolution * measurement.full
    else:
        assert (moved**2).sum() <= (measurement.sensitivity * measurement.resolution) ** 2 * measurement.full


@dataclass
class Transcript:
    """The steps of a run: the name of each, what it asked, the exact numbers behind it, and its answer."""

    steps: list[tuple[str, object, NDArray[np.int64] | None, Any]] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    place: int | None = None
    """Which step comes next in the second run; None in the first."""

    def step(self, name: str) -> Callable[..., Any]:
        """This step of the door, with this transcript."""
        function = getattr(door, name)

        def asked(*arguments: Any, **options: Any) -> Any:
            every = [*arguments, *options.values()]
            public, exact = plain(every), hidden_of(name, every)
            if self.place is None:
                answer = function(*arguments, **options)
                self.losses += losses_of(every)
                if name == "discover":
                    tokens, noisy = answer
                    self.steps.append((name, public, exact, (tokens._codes, noisy)))
                else:
                    self.steps.append((name, public, exact, answer))
                return answer
            known, before, more, answer = self.steps[self.place]
            self.place += 1
            assert (name, public) == (known, before)
            if exact is not None and more is not None:
                check_moved(more - exact, every)
            return (Tokens(arguments[0], arguments[1], answer[0]), answer[1]) if name == "discover" else answer

        return asked


def without(database: LocalDatabase, unit: int) -> LocalDatabase:
    """The database less one unit, or one transaction, over the same vocabulary."""
    all_of = database.transactions
    owners = np.arange(len(all_of)) if all_of.units is None else all_of.units
    kept = np.flatnonzero(owners != unit)
    rows = [all_of.items[all_of.offsets[row] : all_of.offsets[row + 1]] for row in kept]
    return LocalDatabase(
        replace(
            all_of,
            offsets=np.append(0, np.cumsum([len(row) for row in rows], dtype=np.int64)),
            items=np.concatenate([all_of.items[:0], *rows]),
            units=None if all_of.units is None else np.unique(owners[kept], return_inverse=True)[1],
        )
    )


def data(draw: random.Random, plan: Plan) -> LocalDatabase:
    """Short, long or dense transactions, few or many, in which some items are far more frequent than others."""
    number, items = draw.choice([1, 5, 40, 300, 1500]), draw.choice([1, 2, 5, 12, 60, 400])
    longest = draw.choice([1, 3, 20, 100])
    rows = [
        [
            f"i{min(items - 1, int(draw.paretovariate(0.6)) - 1 if draw.random() < 0.8 else draw.randrange(items)):03d}"
            for _ in range(draw.randint(1, longest))
        ]
        for _ in range(number)
    ]
    units = [draw.randrange(1 + number // 3) for _ in rows] if plan.unit.column else None
    database = bound(LocalDatabase(transactions_from_lists(rows, units)), plan, SeededRandomness(draw.randrange(10**9)))
    assert isinstance(database, LocalDatabase)
    return database


def question(draw: random.Random) -> Plan:
    """Any question that these mechanisms answer."""
    name = draw.choice(["items-first", "items-first", "look-first", "look-first", "privbasis", "weighted-gaussian"])
    listed = name == "privbasis" or draw.random() < 0.5
    names = tuple(f"i{number:03d}" for number in range(draw.choice([12, 100, 450])))
    unit = PrivacyUnit()
    if draw.random() < 0.5:
        unit = PrivacyUnit(column="customer", max_transactions=draw.choice([None, 1, 2, 5]))
    options: dict[str, Any] = {}
    if name == "items-first":
        options = draw.choice([{}, {}, {"select": "counts"}, {"select": "peel"}, {"min_count": 5}, {"by": "leverage"}])
    return make_plan(
        size=draw.choice([1, 2, 3, [1, 2], [1, 2, 3], [2, 3], 4]),
        top=draw.choice([1, 2, 5, 10, 20, 30, 100]),
        budget=Budget(
            draw.choice(["0.05", "0.3", "1", "3", "10", "50"]),
            "0" if listed and name == "items-first" and draw.random() < 0.5 else draw.choice(["1e-6", "1e-2"]),
        ),
        unit=unit,
        universe=Universe(names=names) if listed else None,
        together=draw.choice(["basket", "unit"]) if unit.column and unit.max_transactions is None else None,
        max_items=draw.choice([None, None, 5]),
        mechanism=name,
        **options,
    )


def check_cost(search: Stepwise, losses: Sequence[Loss]) -> None:
    """All steps together cost no more than is paid for. Ways that may spend more in other theorems have other tests."""
    match search:
        case ItemsFirst() if search.noise.look.linear:
            assert basic_epsilon(losses) <= search.budget
        case ItemsFirst():
            assert gaussian_rho(losses) <= float(search.budget) * (1 + 1e-6)
        case LookFirst() if search.gain is None:
            assert gaussian_rho(losses) <= float(search.rho) * (1 + 1e-6)


def repeat_with_a_unit_less(seed: int) -> None:
    """Run what a seed asks, on data that it makes, and again without one unit, with the answers of the first run."""
    draw = random.Random(seed)
    try:
        plan = question(draw)
    except UsageError:
        return  # there is no such question
    search = plan.search
    assert isinstance(search, Stepwise)
    whole = data(draw, plan)
    transcript = Transcript()
    with pytest.MonkeyPatch.context() as patched:
        for module in (items_first_steps, privbasis_steps, stepwise):
            for name in STEPS:
                if hasattr(module, name):
                    patched.setattr(module, name, transcript.step(name))
        found = stepwise.run(whole, search, SeededRandomness(seed))
        check_cost(search, transcript.losses)
        owners = whole.transactions.units if whole.has_units else np.arange(len(whole.transactions))
        assert owners is not None
        longest = owners[np.argsort(-whole.transactions.lengths(), kind="stable")][:1]
        for unit in {*longest.tolist(), *draw.choices(owners.tolist() or [0], k=2)}:
            transcript.place = 0
            again = stepwise.run(without(whole, unit), search, SeededRandomness(seed + 1))
            assert transcript.place == len(transcript.steps)
            assert plain(again) == plain(found)


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(more, marks=pytest.mark.slow) for more in range(12, 100))])
def test_the_answers_so_far_decide_on_every_step(seed: int) -> None:
    repeat_with_a_unit_less(seed)


def exact_lengths(
    database: TransactionDatabase, mechanism: ItemsFirst, randomness: Randomness
) -> tuple[TransactionDatabase, Lengths]:
    """A broken first step: it does not go through the door."""
    units = database.merge_units()
    return units, mechanism.look.add_noise(1000 * units.count_lengths(BINS), randomness)


def test_a_decision_by_exact_data_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items_first_steps, "look_first", exact_lengths)
    caught = 0
    for seed in range(12):
        try:
            repeat_with_a_unit_less(seed)
        except AssertionError:
            caught += 1
    assert caught
