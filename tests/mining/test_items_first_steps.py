from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private import Budget, PrivacyUnit, Universe, mine, transactions_from_lists
from fim_private.constraints import Constraints
from fim_private.counting import LocalDatabase, Tokens, count_chosen
from fim_private.errors import InputError, UsageError
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.items_first_tuning import Tuning
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import COUNTS, PEEL
from fim_private.mining import items_first_steps, stepwise
from fim_private.mining.mine import mine_as_planned
from fim_private.privacy import Gaussian, OneSidedFailure, failure_probability
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from fim_private.release import Release
from fim_private.release.door import certify, discover, measure, pick_listed, pick_of_tokens
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING
from tests.asking import mined, planned
from tests.sampling import FALSE_ALARM, SEED, p_value

UNIT = PrivacyUnit()
HELD = np.random.default_rng(8).random((20_000, 12)) < 0.75 ** np.arange(1, 13)
NAMES = np.array([f"item {item}" for item in range(12)], dtype=object)
BASKETS = [NAMES[held].tolist() or ["item 0"] for held in HELD]
WHOLE = transactions_from_lists([*BASKETS, ["only here", "item 0"]])


def truth(size: int) -> Counter[tuple[str, ...]]:
    return Counter(itemset for basket in BASKETS for itemset in combinations(basket, size))


@pytest.mark.slow
def test_rough_picks_of_pairs_go_by_what_their_items_let_expect() -> None:
    """Items are independent here, so their counts tell more of a pair than a pick at this epsilon."""
    held = np.random.default_rng(5).random((8_000, 200)) < 0.25 / np.sqrt(np.arange(1, 201))
    names = np.array([f"item {item}" for item in range(200)], dtype=object)
    baskets = [names[items].tolist() or ["item 0"] for items in held]
    counts = Counter(tuple(sorted(pair)) for basket in baskets for pair in combinations(basket, 2))
    least = sorted(counts.values())[-20]
    data, right = transactions_from_lists(baskets), 0
    for seed in range(12):
        release = mined(data, size=2, top=20, epsilon=0.25, mechanism="items-first", seed=SEED + seed)
        right += sum(counts[tuple(sorted(itemset.items))] >= least for itemset in release.itemsets)
    # By picks that know less of the items it is 0.45, with two lists of noise, which are empty.
    assert right / (12 * 20) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "top", "epsilon", "delta"),
    [((1, 2, 3, 4), 60, 0.1, 1e-6), ((3,), 60, 0.1, 1e-6), ((3,), 100, 0.25, 0), ((1, 2), 60, 0.1, 0)],
)
def test_items_tell_their_itemsets_in_dense_data(
    sizes: tuple[int, ...], top: int, epsilon: float, delta: float
) -> None:
    held = np.random.default_rng(6).random((4_000, 40)) < np.linspace(0.97, 0.4, 40)
    names = np.array([f"item {item}" for item in range(40)], dtype=object)
    data, right = transactions_from_lists([names[items].tolist() for items in held]), 0
    place = {name: at for at, name in enumerate(names)}
    likely = [itemset for size in sizes for itemset in combinations(range(16), size)]
    least = sorted(held[:, itemset].all(axis=1).sum() for itemset in likely)[-top]
    asked = {"size": sizes, "top": top, "epsilon": epsilon, "delta": delta, "mechanism": "items-first"}
    universe = None if delta else Universe(names=tuple(names))
    for seed in range(8):
        release = mined(data, **asked, universe=universe, seed=SEED + seed)
        named = [[place[item] for item in itemset.items] for itemset in release.itemsets]
        right += sum(held[:, itemset].all(axis=1).sum() >= least for itemset in named)
    # Noisy counts of all items, and picks of itemsets, name .56 of them, or .17 of 100 triples without a delta.
    assert right / (8 * top) > 0.7


def test_there_is_a_transaction_even_if_noise_says_that_less_than_nobody_lacks_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One unit, a look that saw no length, and low noise: a number of units below 0 has no logarithm."""
    monkeypatch.setattr(items_first_steps, "measure", lambda counts, *_: np.full(len(counts), -(10**6), dtype=np.int64))
    names = ("a", "b", "c")
    plan = planned(size=(1, 2, 3), top=6, epsilon=0.5, delta=0, mechanism="items-first", universe=Universe(names=names))
    assert isinstance(plan.mechanism, ItemsFirst)
    data = LocalDatabase(transactions_from_lists([["a", "b", "c"]]))
    unseen = Lengths(np.array([10.0]), np.ones(1), linear=True)
    way = plan.mechanism.in_dense_data(1.0)
    outcome = items_first_steps.run(data, way, SeededRandomness(SEED), looked=(data.merge_units(), unseen))
    assert len(outcome.itemsets) == 6
    assert all(count == 1.0 for count in outcome.found.counts)


@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_with_much_data_the_list_is_right(select: str, size: int) -> None:
    release = mined(WHOLE, size=size, top=6, epsilon=20, mechanism="items-first", select=select, seed=SEED)
    expected = truth(size)
    named = [itemset.items for itemset in release.itemsets]
    assert len(named) == 6
    least = sorted(expected.values())[-6]
    assert all(expected[itemset] > least - 60 for itemset in named)
    assert expected[named[0]] > max(expected.values()) - 60
    assert (select == COUNTS) == all(itemset.count is not None for itemset in release.itemsets)
    for itemset in release.itemsets:
        if itemset.count is not None and size <= 2:
            assert abs(itemset.count - expected[itemset.items]) < 0.15 * expected[itemset.items]


def test_what_picks_favour_comes_from_noisy_counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that turns the order of the items round turns their weights round, and leaves none of the tokens out."""
    seen: list[list[int]] = []

    def turned(*given: object) -> tuple[Tokens, NDArray[np.int64]]:
        tokens, noisy = discover(*given)  # type: ignore[arg-type]
        return tokens.ordered(np.arange(len(tokens))[::-1]), noisy

    def spy(tokens: Tokens, weights: list[int], *given: object, **more: object) -> NDArray[np.int32]:
        seen.append(weights)
        assert weights == sorted(weights, reverse=True)
        supports = tokens.supports(np.arange(len(weights), dtype=np.int32)[:, np.newaxis])
        assert supports == sorted(supports)
        return pick_of_tokens(tokens, weights, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(items_first_steps, "discover", turned)
    monkeypatch.setattr(items_first_steps, "pick_of_tokens", spy)
    names = (*(f"item {item}" for item in range(12)), "nobody has it")
    universe = Universe(names=names)
    mined(WHOLE, size=3, top=6, epsilon=20, mechanism="items-first", select=PEEL, seed=SEED, universe=universe)
    assert len(seen[0]) > 6


def test_noisy_counts_serve_where_picks_are_too_much_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many itemsets of long baskets have different counts. The refusal of picks says what to do instead."""
    monkeypatch.setattr("fim_private.counting.local.work.MOST_STEPS", 10**6)
    long = [
        [f"item {item}" for item in np.flatnonzero(basket).tolist()]
        for basket in np.random.default_rng(SEED).random((300, 60)) < 0.7
    ]

    def of(select: str) -> Release:
        return mined(
            transactions_from_lists(long), size=5, top=6, epsilon=20, mechanism="items-first", select=select, seed=SEED
        )

    with pytest.raises(InputError, match='select="counts"'):
        of(PEEL)
    assert len(of(COUNTS).itemsets) == 6


@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("sizes", [(1, 2), (2, 4), (1, 2, 3, 4)])
def test_sizes_are_ranked_together(sizes: tuple[int, ...], select: str) -> None:
    release = mined(WHOLE, size=sizes, top=20, epsilon=20, mechanism="items-first", select=select, seed=SEED)
    expected: Counter[tuple[str, ...]] = sum((truth(size) for size in sizes), Counter())
    named = [itemset.items for itemset in release.itemsets]
    assert len(named) == len(set(named)) == 20
    assert {len(itemset) for itemset in named} <= set(sizes)
    least = sorted(expected.values())[-20]
    assert all(expected[itemset] > 0.8 * least for itemset in named)
    assert sum(expected[itemset] >= least for itemset in named) >= 16
    assert expected[named[0]] > 0.9 * max(expected.values())


def test_counts_of_long_transactions_are_not_too_low() -> None:
    """All hold all 15 items, so each counts little in each of the many itemsets. The look says how little."""
    data = transactions_from_lists([[f"item {item:02}" for item in range(15)]] * 5000)
    release = mined(data, size=[1, 2], top=100, epsilon=2, mechanism="items-first", select=COUNTS, seed=SEED)
    assert len(release.itemsets) >= 50
    assert all(itemset.count == pytest.approx(5000, rel=0.15) for itemset in release.itemsets)
    assert len(release.found) > 5
    assert all(found.count == pytest.approx(5000, rel=0.15) for found in release.found)


def test_counts_of_several_sizes_do_not_contradict_each_other_or_the_order() -> None:
    """Half of the transactions hold all six items, so most true counts are equal and noise alone puts them in order."""
    items = [f"item {item}" for item in range(6)]
    data = transactions_from_lists([items, items[:2]] * 1000)
    release = mined(data, size=[1, 2, 3], top=30, epsilon=1, mechanism="items-first", select=COUNTS, seed=SEED)
    counts = {frozenset(itemset.items): itemset.count for itemset in release.itemsets}
    assert len(counts) > 20
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    contained = [(one, other) for one in counts for other in counts if one < other]
    assert all(counts[one] >= counts[other] for one, other in contained)
    named = list(counts)
    assert all(named.index(one) < named.index(other) for one, other in contained)


def test_items_that_were_counted_twice_stand_in_the_order_of_the_counts_that_are_shown(monkeypatch) -> None:
    # Long transactions: with a small epsilon the likeliest items are counted once more.
    draw = np.random.default_rng(3)
    data = transactions_from_lists(
        [[f"item {item}" for item in np.flatnonzero(draw.random(300) < 0.2).tolist()] for _ in range(1500)]
    )
    plan = planned(top=10, epsilon="0.5", mechanism="items-first")
    usual, twice = items_first_steps._average, []
    monkeypatch.setattr(items_first_steps, "_average", lambda *given: (twice.append(given), usual(*given))[1])
    for seed in range(5):
        counts = [each.count for each in mine_as_planned(data, plan, seed=SEED + seed).found or ()]
        assert counts == sorted(counts, reverse=True)
    assert twice


def test_the_items_of_named_itemsets_come_with_their_counts_and_no_others() -> None:
    release = mined(WHOLE, mechanism="items-first", seed=SEED)
    names = [found.item for found in release.found]
    assert set(names) == {item for itemset in release.itemsets for item in itemset.items}
    assert names[:2] == ["item 0", "item 1"]
    counts = [found.count for found in release.found]
    assert counts == sorted(counts, reverse=True)
    assert Release.from_json(release.to_json()) == release


def test_a_least_count_names_what_exceeds_it() -> None:
    release = mine(WHOLE, size=2, min_count=2500, budget=Budget(2, "1e-6"), unit=UNIT, seed=SEED)
    assert release.mechanism == "items-first"
    expected = truth(2)
    named = {itemset.items for itemset in release.itemsets}
    assert {itemset for itemset, count in expected.items() if count > 2700} <= named
    assert named <= {itemset for itemset, count in expected.items() if count > 2300}
    assert all(itemset.count is not None and itemset.count > 2500 for itemset in release.itemsets)
    few = mined(WHOLE, top=2, min_count=2500, epsilon=2, seed=SEED)
    assert len(few.itemsets) == 2
    none = mine(WHOLE, size=2, min_count=10**9, budget=Budget(2, "1e-6"), unit=UNIT, seed=SEED)
    assert none.itemsets == ()


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "lmm", "select": COUNTS},
        {"mechanism": "items-first", "select": PEEL, "min_count": 9},
        {"top": None},
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        mined(WHOLE, **options)


def items_first(unit: PrivacyUnit, **options: object) -> ItemsFirst:
    mechanism = planned(**{"top": 40, "unit": unit, "mechanism": "items-first", **options}).mechanism
    assert isinstance(mechanism, ItemsFirst)
    return mechanism


def test_units_with_several_transactions_cost_noise_where_itemsets_are_counted() -> None:
    units = UNIT, PrivacyUnit(column="customer", max_transactions=4)
    # With so much support the shares of what is counted are the same for both.
    one, four = (replace(items_first(unit, select=COUNTS), tuning=Tuning(clear=math.inf)) for unit in units)
    assert one.items == four.items
    assert one.usual.certificate == four.usual.certificate
    counted = one.usual.itemsets, four.usual.itemsets
    assert counted[0] is not None
    assert counted[1] is not None
    assert counted[1].deviation == pytest.approx(4 * counted[0].deviation, rel=0.01)


def test_a_unit_s_items_count_once_however_many_transactions_they_are_in() -> None:
    baskets = [["a"], ["a"], ["a"]] * 400
    units = np.repeat(np.arange(400), 3)
    data = transactions_from_lists(baskets)
    data = Transactions(offsets=data.offsets, items=data.items, vocabulary=data.vocabulary, units=units)
    mechanism = items_first(
        PrivacyUnit(column="customer", max_transactions=3), size=1, top=1, budget=Budget(50, "1e-6")
    )
    outcome = items_first_steps.run(LocalDatabase(data), mechanism, SeededRandomness(1))
    assert 390 < outcome.found.counts[0] < 410


def test_noise_at_the_door_has_its_law_for_what_does_not_occur_as_well() -> None:
    data = transactions_from_lists([["a", "b"], ["c"]])
    itemsets = np.array([[0, 1], [0, 2]], np.int32)
    measurement = Measurement(full=1, resolution=3, variance=20)
    counts = count_chosen(data, itemsets, measurement.weights)
    randomness = SeededRandomness(SEED)
    drawn = np.array([measure(counts, measurement, randomness) for _ in range(4000)])
    values = np.arange(-60, 61)
    for column, units in ((0, 3), (1, 0)):
        law = dict(zip((values + units).tolist(), discrete_gaussian_mass(values, 20.0).tolist(), strict=True))
        wide = dict(zip((values + units).tolist(), discrete_gaussian_mass(values, 20 * 1.69).tolist(), strict=True))
        narrow = dict(zip((values + units).tolist(), discrete_gaussian_mass(values, 20 * 0.49).tolist(), strict=True))
        assert p_value(drawn[:, column].tolist(), law) > FALSE_ALARM
        assert max(p_value(drawn[:, column].tolist(), other) for other in (wide, narrow)) < FALSE_ALARM


@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("listed", [False, True])
def test_a_list_that_would_be_mostly_noise_is_cut_short(select: str, *, listed: bool) -> None:
    """Each pair of two hundred items is in about one basket in two. A few pairs are in many."""
    random = np.random.default_rng(SEED)
    pairs = [random.choice(200, 2, replace=False).astype(str).tolist() for _ in range(10_000)]
    names = Universe(names=tuple(str(item) for item in range(200))) if listed else None

    def named(data: Transactions, seed: int) -> int:
        asked = {"top": 20, "epsilon": "0.5", "mechanism": "items-first", "select": select, "universe": names}
        return len(mined(data, seed=seed, **asked).itemsets)

    rare = transactions_from_lists(pairs)
    assert np.mean([named(rare, SEED + run) for run in range(8)]) < 12
    frequent = transactions_from_lists(pairs + [[str(item), str(item + 100)] for item in range(20)] * 500)
    assert all(named(frequent, SEED + run) == 20 for run in range(2))


@pytest.mark.parametrize(("sizes", "top", "clear"), [(2, 10, 3), ((1, 2, 3, 4), 20, 7)])
def test_clear_itemsets_are_named_if_more_are_asked_for(sizes: int | tuple[int, ...], top: int, clear: int) -> None:
    """Tokens that nobody has follow on the list. The test of the whole list would fail, and nothing be named."""
    data = transactions_from_lists([["milk", "bread", "egg"]] * 5_000)
    named = [len(mined(data, size=sizes, top=top, epsilon=1, seed=run).itemsets) for run in range(16)]
    assert named.count(clear) >= 14


@pytest.mark.slow
def test_clear_itemsets_are_named_beside_many_rare_items_at_a_large_epsilon() -> None:
    """Of 5,000 items of which 8 baskets each hold, noise lifts some as high as the test asks for."""
    drawn = np.random.default_rng(SEED)
    rare = drawn.integers(0, 5_000, (20_000, 2))
    baskets = [
        [*("abc" if number % 2 else ""), *{str(item) for item in items}] for number, items in enumerate(rare.tolist())
    ]
    data = transactions_from_lists(baskets)
    named = [len(mined(data, top=20, epsilon=5, seed=SEED + run).itemsets) for run in range(12)]
    assert sum(number >= 3 for number in named) >= 6


@pytest.mark.slow
def test_no_pairs_are_made_up_where_hardly_any_unit_holds_two_items() -> None:
    """The look at the lengths says so. Noise alone lifts the likeliest pairs together in three runs of ten."""
    data = transactions_from_lists([[f"item {number % 40}"] for number in range(20_000)])
    runs = [
        mined(data, top=top, epsilon=1, mechanism="items-first", select=select, seed=SEED + run).itemsets
        for run in range(12)
        for top, select in ((50, COUNTS), (10, None))
    ]
    assert sum(map(len, runs)) <= 3


def test_picks_end_where_half_of_them_are_noise_by_the_decoys_among_them() -> None:
    def kept(picks: str, per_decoy: int = 1) -> str:
        """D is a decoy."""
        rows = [[PADDING, PADDING] if pick == "D" else [ord(pick), 1] for pick in picks]
        return "".join(
            map(chr, items_first_steps._without_decoys(np.array(rows, np.int32).reshape(-1, 2), per_decoy)[:, 0])
        )

    expected = {
        "abcd": "abcd", "abcD": "abc", "abDc": "abc", "abD": "ab", "Dabc": "abc", "Dab": "", "DDDD": "", "": "",
        "abcDefgD": "abcefg", "abcDDefg": "abcefg", "abcDDef": "abc", "abcdeDDf": "abcdef", "abcdeDD": "abcde",
    }  # fmt: skip
    assert {picks: kept(picks) for picks in expected} == expected
    assert kept("abcdDefgh", 4) == "abcd"
    assert kept("abcdDefghi", 4) == "abcdefghi"


def test_nothing_to_find_is_no_error() -> None:
    for select in (PEEL, COUNTS):
        release = mined([["a", "b"]] * 5, mechanism="items-first", select=select, seed=3)
        assert release.itemsets == ()
        assert release.found == ()


def test_auto_looks_first_unless_only_items_first_can_do_what_is_asked() -> None:
    def taken(**options: object) -> str:
        return planned(**{"top": None, "mechanism": "auto", **options}).mechanism_name

    assert taken(top=100) == "look-first"
    assert taken(top=100, by="leverage") == "items-first"
    assert taken(top=1) == "limited-domain"
    assert taken(top=1, min_count=50) == "items-first"
    assert taken(top=1, select=PEEL) == "items-first"


def test_all_of_the_budget_is_composed() -> None:
    mechanism = items_first(UNIT)
    assert failure_probability(mechanism.failures) == mechanism.test_delta
    assert mechanism.losses == (Gaussian(mechanism.budget),)
    assert sum(line.rho or 0 for line in mechanism.spending) == mechanism.budget


# Names.


def tokens_of(codes: list[int]) -> Tokens:
    database = LocalDatabase(transactions_from_lists([["a", "b", "c"]] * 40 + [["d", "e"]]))
    return Tokens(database, database, np.array(codes))


def test_tokens_are_counted_by_unit_and_strangers_are_in_none() -> None:
    whole = np.ones(4, np.int64)
    tokens = tokens_of([2, -1, 3, 0])
    assert tokens.count_units(3, whole).vector().tolist() == [40, 0, 1]
    assert tokens.ordered(np.array([2, 0, 1])).count_units(9, whole).vector().tolist() == [1, 40, 0]
    # By weight: of these tokens, a unit holds at most two.
    assert tokens.count_units(4, np.array([4, 4, 3, 0])).vector().tolist() == [120, 0, 4, 120]


def lengths(length: float) -> Lengths:
    return Lengths(np.full(1, float(length)), np.ones(1))


def test_items_are_counted_again_if_long_units_hide_them() -> None:
    mechanism, rare = items_first(UNIT), np.ones(500)
    again = mechanism.again(rare, lengths(64), lengths(2))
    assert again.sensitivity == 1
    assert 0.149 * mechanism.budget < again.loss.rho <= Fraction(15, 100) * mechanism.budget
    assert mechanism.again(rare, lengths(4), lengths(4)) is None  # no more exact than the first count
    assert mechanism.again(np.full(500, 1e6), lengths(64), lengths(2)) is None  # no doubt is left
    assert mechanism.again(rare[:0], lengths(64), lengths(2)) is None
    listed = items_first(UNIT, universe=Universe(items=500, listed=True))
    assert listed.again(rare, lengths(64), lengths(2)) is None  # there are no strangers


@pytest.mark.slow
def test_a_second_count_finds_items_that_long_units_hide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Customers hold sixty of 4,000 items, and some of fifteen frequent ones."""
    shopper = np.random.default_rng(3)
    baskets = [
        [f"usual {item}" for item in np.flatnonzero(shopper.random(15) < 0.13).tolist()]
        + [f"other {item}" for item in shopper.integers(0, 4000, 60).tolist()]
        for _ in range(3000)
    ]
    data = LocalDatabase(transactions_from_lists(baskets))
    names = data.vocabulary.to_list()
    mechanism = items_first(UNIT, size=1, top=15, budget=Budget("0.5", "1e-6"))

    def right() -> int:
        found = [items_first_steps.run(data, mechanism, SeededRandomness(seed)).itemsets.ravel() for seed in range(8)]
        return sum(names[code].startswith("usual") for codes in found for code in codes.tolist())

    with_second = right()
    monkeypatch.setattr(ItemsFirst, "again", lambda *_: None)
    assert with_second > 1.3 * right()


SURE = Certificate(variance=1, threshold=8, failure=OneSidedFailure(Fraction(1, 10**9)))


def test_names_are_revealed_only_if_the_test_passes() -> None:
    tokens = tokens_of([2, 0, 1, 3])
    pairs = np.array([[0, 1], [1, 2]], np.int32)
    assert certify(tokens, pairs, SURE, SeededRandomness(SEED)).tolist() == [[2, 0], [0, 1]]
    rare = np.array([[0, 1], [1, 3]], np.int32)  # d is in one transaction
    assert certify(tokens, rare, SURE, SeededRandomness(SEED)).tolist() == []
    assert certify(tokens, rare, None, SeededRandomness(SEED)).tolist() == [[2, 0], [0, 3]]
    assert certify(tokens, pairs[:0], SURE, SeededRandomness(SEED)).tolist() == []


def test_nothing_is_named_if_a_certified_itemset_has_an_item_that_nobody_has() -> None:
    """Not even the itemsets before it: that they pass must not tell that the item does not occur."""
    tokens = tokens_of([0, 1, -1])
    passes = Certificate(variance=1, threshold=-50, failure=OneSidedFailure(Fraction(1, 10**9)))
    strange = np.array([[0, 1], [0, 2]], np.int32)
    assert certify(tokens, strange, passes, SeededRandomness(SEED)).tolist() == []
    assert certify(tokens, strange[:1], passes, SeededRandomness(SEED)).tolist() == [[0, 1]]


def test_a_long_list_is_cut_before_what_has_no_support() -> None:
    tokens = tokens_of([0, 1, 2, 3, 4, -1])
    cuts = replace(SURE, cut_epsilon=Fraction(5))
    listed = np.array([[0], [1], [3], [5]], np.int32)
    assert certify(tokens, listed, cuts, SeededRandomness(SEED)).tolist() == [[0], [1]]


def test_a_public_list_has_to_be_the_vocabulary() -> None:
    data = transactions_from_lists([["a", "b"]] * 400)
    universe = Universe(names=("a", "b", "c", "d"))
    listed = items_first(UNIT, universe=universe, top=3, size=1)
    with pytest.raises(AssertionError, match="public list"):
        stepwise.run(LocalDatabase(data), listed, SeededRandomness(SEED))


def test_listed_names_that_nobody_has_are_named_like_any_other() -> None:
    universe = Universe(names=("a", "b", "c", "d", "not here"))
    asked = {"size": 1, "top": 5, "mechanism": "items-first", "select": PEEL, "universe": universe}
    named = Counter(
        itemset.items
        for seed in range(60)
        for itemset in mined([["a"], ["b"]], epsilon="0.1", seed=seed, **asked).itemsets
    )
    assert named["not here",] > 0
    assert named["not here",] == pytest.approx(named["c",], abs=6 * named["c",] ** 0.5 + 6)


@pytest.mark.parametrize(("epsilon", "picked"), [("1", True), ("0.02", False)])
def test_clear_pairs_are_picked_from_the_list_and_others_are_not(
    epsilon: str, picked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a delta: pick from the list if the 16th pair stands out of all pairs of the list."""
    names = (*(f"item {item}" for item in range(12)), "only here")
    plan = planned(size=2, top=16, epsilon=epsilon, delta=0, universe=Universe(names=names), mechanism="items-first")
    picks: list[LiftedExponential] = []

    def listed(
        database: object, counts: object, sizes: object, mechanism: LiftedExponential, randomness: object
    ) -> NDArray[np.int32]:
        picks.append(mechanism)
        return pick_listed(database, counts, sizes, mechanism, randomness)  # type: ignore[arg-type]

    monkeypatch.setattr(stepwise, "pick_listed", listed)
    release = mine_as_planned(WHOLE, plan, seed=SEED)
    assert bool(picks) == picked
    if picked:
        expected = truth(2)
        least = sorted(expected.values())[-16]
        assert len(release.itemsets) == 16
        assert all(expected[itemset.items] > least - 200 for itemset in release.itemsets)
        (mechanism,) = picks
        assert mechanism.universe_size == math.comb(13, 2)
        spent = sum(loss.epsilon for loss in mechanism.losses)
        assert spent + plan.search.look.cost + Fraction(3, 100) == 1


def test_constraints_leave_a_public_list_its_names() -> None:
    universe = Universe(names=("a", "b", "c", "d", "e"))
    release = mined(
        [["a", "b", "c", "x"]] * 3000,
        top=2,
        epsilon=5,
        mechanism="items-first",
        universe=universe,
        constraints=Constraints(must_contain=["a"], exclude=["c"]),
        seed=SEED,
    )
    assert release.itemsets[0].items == ("a", "b")


@pytest.mark.parametrize(("mechanism", "select"), [("items-first", PEEL), ("items-first", None), ("look-first", None)])
def test_too_much_to_count_is_refused_before_anything_is_charged(
    monkeypatch: pytest.MonkeyPatch, mechanism: str, select: str | None
) -> None:
    """Picks count itemsets after the charge, so what these are is counted before it too."""
    monkeypatch.setattr("fim_private.counting.local.work.MOST_STEPS", 10**5)
    # Each basket holds 20,000 itemsets of four items, which few others hold.
    rare = np.random.default_rng(SEED).permuted(np.tile(np.arange(4, 60), (200, 1)), axis=1)[:, :25]
    data = transactions_from_lists([[f"i{item}" for item in (*range(4), *basket)] for basket in rare.tolist()])
    charged: list[object] = []

    def charge(layout: object) -> str:
        charged.append(layout)
        return "paid"

    with pytest.raises(InputError, match="too long to count"):
        mine_as_planned(data, planned(size=4, mechanism=mechanism, select=select, epsilon=50), charge=charge)
    assert charged == []
    mine_as_planned(data, planned(size=4, mechanism="items-first", select=COUNTS, epsilon=50), charge=charge)
    assert len(charged) == 1


def test_more_items_than_can_be_are_refused_before_anything_is_charged() -> None:
    data = transactions_from_lists([[f"item {item}" for item in range(12)]])
    charged: list[object] = []

    def charge(layout: object) -> str:
        charged.append(layout)
        return "paid"

    for universe, refused in ((Universe(items=11), True), (Universe(items=12), False), (None, False)):
        plan = planned(mechanism="items-first", universe=universe)
        assert plan.most_items == (65_536 if universe is None else universe.items)
        if refused:
            with pytest.raises(InputError, match="more different items"):
                mine_as_planned(data, plan, charge=charge)
            assert charged == []
        else:
            mine_as_planned(data, plan, charge=charge)
    assert len(charged) == 2


def test_a_better_guess_of_the_number_of_items_helps() -> None:
    """With few names fewer of nobody's tokens stand out, so rarer items go on."""
    few, many = (items_first(UNIT, universe=Universe(items=items)) for items in (100, 10**6))
    assert (few.items.names, many.items.names) == (100, 10**6)
    with pytest.raises(UsageError, match="10,000,000"):
        items_first(UNIT, universe=Universe(items=10**7 + 1))
    assert planned(mechanism="auto", universe=Universe(items=10**8), top=100).mechanism_name != "items-first"
