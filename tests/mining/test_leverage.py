"""Pairs by leverage: the lemma of docs/mathematics.md#leverage, what picks go by, and what the answer is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private import PrivacyUnit, Release, Universe, transactions_from_lists
from fim_private.constraints import Constraints
from fim_private.counting import ChosenCounts, LocalDatabase, Tokens
from fim_private.errors import UsageError
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.itemset_picks import favour_of
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import BY_LEVERAGE, COUNTS, PEEL
from fim_private.mining import items_first_steps
from fim_private.randomness import SeededRandomness
from fim_private.transactions.dataset import Transactions
from tests.asking import mined, planned
from tests.sampling import SEED

Basket = frozenset[int]


def leverage(units: int, first: int, second: int, both: int) -> Fraction:
    return Fraction(0) if units == 0 else both - Fraction(first * second, units)


def steps_up_to(most: int) -> list[tuple[Fraction, Fraction, tuple[int, int, int]]]:
    """For all counts of up to `most` units and any further unit: how leverage changes, and the lemma's formula."""
    found = []
    for units in range(most + 1):
        for first, second in product(range(units + 1), repeat=2):
            for both in range(max(0, first + second - units), min(first, second) + 1):
                before = leverage(units, first, second, both)
                for x, y, z in ((0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1), (1, 1, 0)):
                    change = leverage(units + 1, first + x, second + y, both + z) - before
                    # p and q are the shares of units that hold each item.
                    p, q = (Fraction(each, units) if units else Fraction(0) for each in (first, second))
                    formula = z - (units * (p * y + q * x - p * q) + x * y) / Fraction(units + 1)
                    found.append((change, formula, (x, y, z)))
                    if z == x * y:
                        assert change == Fraction(units, units + 1) * (x - p) * (y - q)
    return found


def test_one_unit_moves_leverage_by_at_most_one_either_way() -> None:
    """Units of several baskets too: they may hold both items, but not together (x = y = 1, z = 0)."""
    found = steps_up_to(9)
    assert all(change == formula for change, formula, _ in found)
    assert all(-1 <= change < 1 for change, _, _ in found)
    in_one_basket = [change for change, _, (x, y, z) in found if z == x * y]
    assert (min(in_one_basket), max(in_one_basket)) == (Fraction(-9, 10), Fraction(9, 10))
    assert min(change for change, _, _ in found) == -1


RARE, OTHER, COMMON = range(3)
EVERYBODY = [frozenset({COMMON})] * 60
FURTHER: Basket = frozenset({RARE, OTHER})


def range_of_a_pick(rate: float, scores: Sequence[Sequence[Fraction]]) -> float:
    """The bounded range of one pick with this exponent: how far the log ratios of its outcomes are apart."""
    ratios = [rate * float(there - here) for here, there in zip(*scores, strict=True)]
    return max(ratios) - min(ratios)


def exact_leverages(baskets: Sequence[Basket]) -> list[Fraction]:
    counts = [sum(item in basket for basket in baskets) for item in range(3)]
    return [
        leverage(len(baskets), counts[a], counts[b], sum({a, b} <= basket for basket in baskets))
        for a, b in combinations(range(3), 2)
    ]


def test_true_leverage_costs_twice_as_much() -> None:
    """The mistake to avoid: an exact product in the score, with the exponent of counts. Half of it would do."""
    scores = [exact_leverages(baskets) for baskets in (EVERYBODY, [*EVERYBODY, FURTHER])]
    assert range_of_a_pick(1.0, scores) > 1.9
    assert range_of_a_pick(0.5, scores) <= 1


# What the program picks by.


def items_first(**changes: object) -> ItemsFirst:
    mechanism = planned(**{"epsilon": 2, "by": BY_LEVERAGE, **changes}).mechanism
    assert isinstance(mechanism, ItemsFirst)
    return mechanism


def scores_of(baskets: Sequence[Basket], items: int, monkeypatch: pytest.MonkeyPatch) -> NDArray[np.int64]:
    """What picks go by, where all numbers released before are the same whatever the data is."""
    names = [f"item {item}" for item in range(items)]
    data = transactions_from_lists([[names[item] for item in sorted(basket)] for basket in [range(items), *baskets]])
    mechanism = items_first()
    units = np.linspace(90_000, 30_000, items).astype(np.int64)
    seen: list[NDArray[np.int64]] = []

    def discover(database: LocalDatabase, *_: object) -> tuple[Tokens, NDArray[np.int64]]:
        return Tokens(database, database, np.arange(items)), units

    def pick(counts: ChosenCounts, *_: object) -> NDArray[np.int32]:
        seen.append(counts.vector())
        return counts.reveal_to_curator()[0][:3]

    monkeypatch.setattr(items_first_steps, "discover", discover)
    for look in ("look", "look_at_lengths"):
        monkeypatch.setattr(items_first_steps, look, lambda *_: Lengths(np.full(1, 3.0), np.full(1, 2_000.0)))
    monkeypatch.setattr(items_first_steps, "measure", lambda counts, *_: units[: len(counts)])
    monkeypatch.setattr(items_first_steps, "pick", pick)
    items_first_steps.run(LocalDatabase(data), mechanism, SeededRandomness(SEED))
    return seen[0]


def changes(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """By how much one more unit moves the scores of all pairs, over random data."""
    random = np.random.default_rng(SEED)
    found: set[int] = set()
    for _ in range(40):
        baskets = [frozenset(np.flatnonzero(random.random(4) < 0.7).tolist()) or frozenset({0}) for _ in range(30)]
        further = frozenset(np.flatnonzero(random.random(4) < 0.5).tolist()) or frozenset({1})
        less, more = (scores_of(each, 4, monkeypatch) for each in (baskets, [*baskets, further]))
        assert len(less) == math.comb(4, 2)
        found |= set((more - less).tolist())
    return found


def test_one_unit_moves_all_scores_one_way_by_at_most_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given what was released before: the product is of noisy counts, so it does not move."""
    assert changes(monkeypatch) == {0, 1}


def test_a_product_of_true_counts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def true_product(tokens: Tokens, items: NDArray[np.float64], *_: object) -> object:
        singles = np.arange(len(items), dtype=np.int32)[:, np.newaxis]
        counts = tokens.count_chosen(singles).vector().astype(float)
        return lambda pairs: counts[pairs].prod(axis=1) / 31

    monkeypatch.setattr(items_first_steps, "_independent", true_product)
    assert min(changes(monkeypatch)) < 0


def test_frequent_items_are_counted_once_more_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens are in order of noisy counts. The first ones get a new count, in transactions, the others keep theirs."""
    data = transactions_from_lists([["a", "b", "c"]] * 50 + [["a"]] * 30)
    database = LocalDatabase(data)
    recount = Measurement(full=2, resolution=4, variance=1)
    monkeypatch.setattr(items_first_steps, "measure", lambda counts, *_: counts.vector())
    steps = LaterSteps(transactions=80.0, tokens=3, candidates=9)
    independent = items_first_steps._independent(
        Tokens(database, database, np.arange(3)), np.array([70.0, 60.0, 20.0]), steps, recount, SeededRandomness(SEED)
    )
    pairs = np.array([[0, 1], [0, 2], [1, 2]], np.int32)
    assert independent(pairs).tolist() == [80 * 50 / 80, 80 * 20 / 80, 50 * 20 / 80]
    few = items_first_steps._independent(
        Tokens(database, database, np.arange(3)),
        np.array([70.0, 60.0, 20.0]),
        replace(steps, transactions=1.0),
        recount,
        SeededRandomness(SEED),
    )
    assert few(pairs).tolist() == [50, 20, 50 * 20 / 80]  # no item is in more transactions than there are


# The answer.

COMPANIONS = (("apples", "pears"), ("ink", "paper"), ("nails", "screws"))


@cache
def companions() -> tuple[list[list[str]], Transactions]:
    """Baskets in which each pair of companions goes together, and the same as transactions."""
    generator = np.random.default_rng(11)
    baskets = [
        [name for name, share in (("bags", 0.7), ("milk", 0.6), ("bread", 0.5)) if generator.random() < share]
        + [item for pair in COMPANIONS if generator.random() < 0.06 for item in pair]
        + [item for pair in COMPANIONS for item in pair if generator.random() < 0.01]
        + ["water"]
        for _ in range(20_000)
    ]
    baskets = [list(dict.fromkeys(basket)) for basket in baskets]
    return baskets, transactions_from_lists(baskets)


def found(release: Release) -> set[tuple[str, ...]]:
    return {itemset.items for itemset in release.itemsets}


@pytest.mark.parametrize("listed", [False, True])
def test_with_much_data_the_pairs_that_go_together_are_found(*, listed: bool) -> None:
    names = ("bags", "milk", "bread", "water", *(item for pair in COMPANIONS for item in pair))
    asked = {"epsilon": 10, "seed": SEED, "universe": Universe(names=names) if listed else None}
    _, data = companions()
    by_leverage = mined(data, by=BY_LEVERAGE, **asked)
    assert found(by_leverage) == set(COMPANIONS)
    assert by_leverage.mechanism == "items-first"
    assert by_leverage.plan["by"] == BY_LEVERAGE
    by_count = mined(data, **asked)
    assert found(by_count) == {("bags", "water"), ("milk", "water"), ("bread", "water")}
    assert by_count.plan["by"] == "count"


def test_counts_can_be_released_with_it() -> None:
    baskets, data = companions()
    known = {"epsilon": 10, "seed": SEED, "count_share": "0.3", "public_transactions": len(baskets)}
    release, by_count = (mined(data, by=by, **known) for by in (BY_LEVERAGE, "count"))
    assert found(release) == set(COMPANIONS)
    holding = Counter(pair for basket in baskets for pair in combinations(sorted(basket), 2))
    single = Counter(item for basket in baskets for item in basket)
    for itemset in release.itemsets:
        expected = single[itemset.items[0]] * single[itemset.items[1]] / len(baskets)
        assert itemset.expected == pytest.approx(expected, rel=0.1)
        assert itemset.leverage == pytest.approx(holding[itemset.items] - expected, rel=0.1)
        assert itemset.lift == pytest.approx(holding[itemset.items] / expected, rel=0.1)
    assert {item for line in release.subsets for item in line.items} == {item for pair in COMPANIONS for item in pair}
    assert all(line.expected is line.leverage is None for line in by_count.itemsets)
    assert not by_count.subsets
    for lacking in ("count_share", "public_transactions"):
        less = mined(
            data, by=BY_LEVERAGE, **{key: known[key] for key in known.keys() - {lacking, "public_transactions"}}
        )
        assert all(line.expected is line.leverage is None for line in less.itemsets)


@pytest.mark.slow
def test_what_is_expected_of_picked_pairs_is_not_too_little() -> None:
    """Items are alike and independent. Pairs are picked whose items noise made rarer, and that must not be shown."""
    random = np.random.default_rng(SEED)
    held = random.random((2000, 12)) < 0.3
    names = np.array([f"item {at}" for at in range(12)])
    data = transactions_from_lists([names[row].tolist() for row in held])
    single = dict(zip(names, held.sum(axis=0), strict=True))
    known = {"epsilon": 2, "count_share": "0.3", "public_transactions": len(held)}
    shares = [
        pair.expected / (single[pair.items[0]] * single[pair.items[1]] / len(held))
        for seed in range(20)
        for pair in mined(data, by=BY_LEVERAGE, seed=SEED + seed, **known).itemsets
    ]
    assert len(shares) == 60
    # What decided the picks is too little by a tenth, with a deviation of 0.012.
    assert np.mean(shares) == pytest.approx(1, abs=0.02)


def test_units_are_compared_with_units() -> None:
    """Each customer has two baskets, and all counts are of customers."""
    baskets, _ = companions()
    data = transactions_from_lists(baskets, np.arange(len(baskets)) // 2)
    for together in ("basket", "unit"):
        unit = PrivacyUnit(column="customer")
        release = mined(data, epsilon=10, unit=unit, together=together, seed=SEED, by=BY_LEVERAGE)
        assert found(release) == set(COMPANIONS)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"by": "lift"}, "no such way to rank"),
        ({"size": 3}, "compares two items"),
        ({"size": (1, 2)}, "compares two items"),
        ({"size": (1, 2), "per_size": True}, "compares two items"),
        ({"constraints": Constraints(must_contain=["milk"])}, "must_contain"),
        ({"unit": PrivacyUnit(column="customer", max_transactions=3)}, "max_transactions"),
        ({"top": None, "min_count": 10}, "min_count"),
        ({"select": COUNTS}, 'select="counts"'),
        ({"mechanism": "lmm"}, 'by="leverage" goes with mechanism="items-first"'),
    ],
)
def test_what_has_no_meaning_or_no_proof_is_refused(asked: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        planned(**{"top": 5, "by": BY_LEVERAGE, **asked})
    assert message in f"{refused.value}"


def test_it_costs_what_was_allowed_and_no_more() -> None:
    mechanism = items_first()
    assert (mechanism.by, mechanism.select) == (BY_LEVERAGE, PEEL)
    assert sum(line.rho or 0 for line in mechanism.spending) == mechanism.budget
    steps = mechanism.usual
    assert steps.pick_epsilon is not None
    assert steps.recount.loss.rho <= Fraction(5, 100) * mechanism.budget
    assert items_first(by="count", select=PEEL).usual.recount is None
    # Only so many items are counted, so no weight is below 1.
    assert set(steps.recount.weights[: steps.recount.full + 1].tolist()) == {steps.recount.resolution}


def test_the_product_and_the_price_of_likelihood_are_all_that_is_added() -> None:
    mechanism = items_first()
    expected, independent = np.log([900.0, 400.0, 100.0]), np.array([70.0, 2.0, 30.0])
    favour = favour_of(mechanism.asked, Fraction(1, 4), expected, np.full(3, np.inf), independent)
    added = mechanism.tuning.leverage_prior * 4 * expected - independent
    assert favour.tolist() == np.rint(added - added.min()).tolist()
    by_count = favour_of(mechanism.asked, Fraction(1, 4), expected, np.full(3, np.inf))
    assert by_count.tolist() == np.rint(mechanism.tuning.prior * 4 * (expected - expected.min())).tolist()


def test_items_go_on_if_they_are_in_more_transactions_than_a_pick_can_tell_or_if_there_are_few() -> None:
    mechanism = items_first(top=50)
    length = Lengths(np.full(1, 3.0), np.full(1, 1e5))  # so all items count in full
    steps = mechanism.later(np.full(500, 1e6), length, length)
    assert steps.tokens == 500
    enough = 8 / float(steps.pick_epsilon)
    # A test of items of such support costs more, so picks can tell less.
    assert mechanism.later(np.full(500, 1.3 * enough), length, length).tokens == 500
    assert mechanism.later(np.full(500, 0.9 * enough), length, length).tokens == math.ceil(3 * math.sqrt(2 * 50))
    assert mechanism.later(np.full(500, 1.0), length, length).tokens == 0
