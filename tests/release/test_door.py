from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private.constraints import Constraints
from fim_private.counting import LocalDatabase, Tokens, count_histogram, count_itemsets
from fim_private.counting.several_sizes import largest_counts
from fim_private.errors import InputError, UsageError
from fim_private.mechanisms.count_noise import CountNoise
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.protocol import Mechanism
from fim_private.plan import Plan, Universe
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness, SeededRandomness
from fim_private.release.door import PassedItemset, measure_chosen, pass_through, pick_listed, pick_of_tokens
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING, transactions_from_lists
from fim_private.transactions.restriction import restrict_to
from tests.asking import planned
from tests.sampling import FALSE_ALARM, SEED, p_value

BASKETS = [["a", "b"]] * 6 + [["a", "c"]] * 4 + [["a", "b", "c"]]


def exponential(universe: Universe, *, top: int = 1, epsilon: str = "1", size: int = 2) -> Plan:
    return planned(size=size, top=top, epsilon=epsilon, delta="0", mechanism="exponential", universe=universe)


def draws(transactions: Transactions, plan: Plan, number: int) -> list[tuple[tuple[str, ...], ...]]:
    counts = count_histogram(transactions, plan.size)
    randomness = SeededRandomness(SEED)
    return [
        tuple(
            passed.items
            for passed in pass_through(LocalDatabase(transactions), counts, plan.mechanism, plan, randomness)
        )
        for _ in range(number)
    ]


def itemset_counts(baskets: Sequence[Sequence[str]], size: int) -> Counter[tuple[str, ...]]:
    return Counter(itemset for basket in baskets for itemset in combinations(sorted(basket), size))


@pytest.mark.slow
def test_a_declared_list_gets_the_law_over_all_its_itemsets() -> None:
    names = ("a", "b", "c", "d", "e")
    transactions = restrict_to(transactions_from_lists(BASKETS), names)
    plan = exponential(Universe(names=names))
    exact = itemset_counts(BASKETS, 2)
    weights = {itemset: math.exp(exact[itemset]) for itemset in combinations(names, 2)}
    law = {(itemset,): weight / sum(weights.values()) for itemset, weight in weights.items()}
    drawn = draws(transactions, plan, 3000)
    assert p_value(drawn, law) > FALSE_ALARM
    assert p_value(drawn, dict.fromkeys(law, 1 / len(law))) < FALSE_ALARM


def test_absent_itemsets_are_drawn_uniformly_and_once() -> None:
    names = ("a", "b", "c", "d", "e")
    transactions = restrict_to(transactions_from_lists([["a", "b"]]), names)
    plan = exponential(Universe(names=names), top=10, epsilon="0.001")
    for chosen in draws(transactions, plan, 50):
        assert sorted(chosen) == list(combinations(names, 2))
    first = [chosen[0] for chosen in draws(transactions, exponential(Universe(names=names)), 3000)]
    total = math.e + 9
    law = {itemset: (math.e if itemset == ("a", "b") else 1) / total for itemset in combinations(names, 2)}
    assert p_value(first, law) > FALSE_ALARM


def test_picks_of_absent_itemsets_do_not_make_a_long_list_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("a", "b", "c", "d", "e")
    plan = planned(
        size=2, top=6, mechanism="exponential", universe=Universe(names=names), constraints=Constraints(exclude=["e"])
    )
    monkeypatch.setattr(Universe, "without", None)
    transactions = restrict_to(transactions_from_lists([["a", "b"]]), names[:4])
    assert sorted(draws(transactions, plan, 1)[0]) == list(combinations(names[:4], 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "attempts", "floor"), [((2,), 30_000, 0), ((2,), 6, 1), ((2,), 1, 2), ((1, 2), 30_000, 0), ((1, 2), 6, 4)]
)
def test_picks_from_a_list_go_by_counts_also_where_few_are_held(
    sizes: tuple[int, ...], attempts: int, floor: int
) -> None:
    """The others are drawn and counted, whether they occur or not. No itemset comes twice."""
    names = ("a", "b", "c", "d", "e")[: 6 - len(sizes)]
    counts = {("a", "b"): 3, ("a", "c"): 2, ("b", "c"): 1, ("b", "d"): 1}
    baskets = [itemset for itemset, count in counts.items() for _ in range(count)]
    database = LocalDatabase(restrict_to(transactions_from_lists(baskets), names))
    every = [itemset for size in sizes for itemset in combinations(names, size)]
    mechanism = LiftedExponential(top=2, pick_epsilon=Fraction(1), universe_size=10, candidates=1, attempts=attempts)
    held, randomness = largest_counts(database, sizes, mechanism.depth), SeededRandomness(SEED)
    assert len(held) == 2
    assert mechanism.floor(held.profile().count(mechanism.depth)) == floor

    def draw() -> tuple[tuple[str, ...], ...]:
        picked = pick_listed(database, held, sizes, mechanism, randomness).tolist()
        return tuple(tuple(names[code] for code in sorted(set(itemset) - {PADDING})) for itemset in picked)

    holding = {itemset: sum(set(itemset) <= set(basket) for basket in baskets) for itemset in every}
    score = {itemset: math.exp(max(count, floor)) for itemset, count in holding.items()}
    total = sum(score.values())
    law = {
        (one, other): score[one] / total * score[other] / (total - score[one]) for one, other in permutations(score, 2)
    }
    drawn = [draw() for _ in range(1000)]
    assert p_value(drawn, law) > FALSE_ALARM
    assert p_value(drawn, dict.fromkeys(law, 1 / len(law))) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidates", "attempts", "per_decoy", "floor"),
    [(1, 30_000, 2, 0), (1, 4, 1, 3), (50, 30_000, None, 0)],
)
def test_picks_of_tokens_go_by_counts_and_weights(
    candidates: int, attempts: int, per_decoy: int | None, floor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where few are held, where a token is nobody's, and beside decoys, which may come twice."""
    baskets = ["abcd"] * 3 + ["abe"] * 2 + ["bcd"]
    database = LocalDatabase(transactions_from_lists(map(list, baskets)))
    codes, weights = [3, 0, -1, 1, 2, 4], [5, 3, 4, 2, 1]  # the last token does not go on
    tokens, size, randomness = Tokens(database, database, np.array(codes)), 3, SeededRandomness(SEED)
    mechanism = LiftedExponential(
        top=2, pick_epsilon=Fraction(1), universe_size=10, rise=Fraction(1, 2), candidates=candidates, attempts=attempts
    )
    names = ["abcde"[code] if code >= 0 else "nobody's" for code in codes]
    itemsets = list(combinations(range(5), size))
    counts = [sum(all(names[token] in basket for token in itemset) for basket in baskets) for itemset in itemsets]
    assert mechanism.floor([*sorted(counts, reverse=True), *[0] * 50][candidates]) == floor
    products = [math.prod(weights[token] for token in itemset) for itemset in itemsets]

    def pick(products: list[int], rate: Fraction, taken: tuple[int, ...] = ()) -> dict[tuple[int, ...], float]:
        decoys = sum(products) // per_decoy if per_decoy else 0
        score = {
            itemset: product * math.exp(rate * max(count, floor))
            for itemset, product, count in zip(itemsets, products, counts, strict=True)
            if itemset != taken
        }
        score |= {(-1, -1, -1): decoys * math.exp(rate * floor)} if decoys else {}
        return {itemset: each / sum(score.values()) for itemset, each in score.items()}

    def law(products: list[int]) -> dict[tuple[tuple[int, ...], ...], float]:
        first, second = mechanism.rates
        return {
            (one, other): chance * after
            for one, chance in pick(products, first).items()
            for other, after in pick(products, second, one).items()
        }

    # The same counts come back for each list.
    monkeypatch.setattr(Tokens, "top_itemsets", cache(Tokens.top_itemsets))
    drawn = [
        tuple(map(tuple, pick_of_tokens(tokens, weights, mechanism, size, randomness, per_decoy=per_decoy).tolist()))
        for _ in range(700)
    ]
    assert p_value(drawn, law(products)) > FALSE_ALARM
    assert p_value(drawn, law([1] * len(products))) < FALSE_ALARM


@pytest.mark.parametrize("codes", [[], [0, 1], [-1, -1, -1, 0]])
def test_picks_of_tokens_take_all_there_are(codes: list[int]) -> None:
    """Too few tokens have no itemsets. Those of tokens that nobody has are itemsets of count 0."""
    database = LocalDatabase(transactions_from_lists([["a", "b"]]))
    mechanism = LiftedExponential(top=9, pick_epsilon=Fraction(1), universe_size=4, candidates=5)
    tokens = Tokens(database, database, np.array(codes, np.int64))
    picked = pick_of_tokens(tokens, [1] * len(codes), mechanism, 3, SeededRandomness(SEED)).tolist()
    assert sorted(map(tuple, picked)) == list(combinations(range(len(codes)), 3))


def test_picks_of_tokens_do_not_walk_through_all_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal baskets of 60 items have 10^15 itemsets of 15 items. None of them has to be held."""
    monkeypatch.setattr("fim_private.counting.local.work.MOST_STEPS", 10**8)
    database = LocalDatabase(transactions_from_lists([[f"i{item:02}" for item in range(60)]] * 2))
    mechanism = LiftedExponential(top=4, pick_epsilon=Fraction(1), universe_size=math.comb(60, 15), candidates=100)
    tokens = Tokens(database, database, np.arange(60))
    picked = pick_of_tokens(tokens, [1] * 60, mechanism, 15, SeededRandomness(SEED)).tolist()
    assert len(set(map(tuple, picked))) == 4


def test_an_itemset_that_outweighs_all_others_is_not_drawn_again_without_end() -> None:
    """The first pick takes all the weight but three parts in 10^12. The next is drawn at once all the same."""
    database = LocalDatabase(transactions_from_lists([["a", "b", "c", "d", "e"]]))
    tokens = Tokens(database, database, np.array([0, 1, 2, 3, -1]))
    mechanism = LiftedExponential(top=10, pick_epsilon=Fraction(1), universe_size=10, candidates=0)
    picked = pick_of_tokens(tokens, [10**20] * 3 + [10**8, 1], mechanism, 3, SeededRandomness(SEED)).tolist()
    assert sorted(map(tuple, picked)) == list(combinations(range(5), 3))
    assert picked[0] == [0, 1, 2]


def anonymous(items: int, *, top: int = 1, size: int = 2, epsilon: str = "1") -> Plan:
    return planned(size=size, top=top, epsilon=epsilon, mechanism="exponential", universe=Universe(items=items))


def test_without_a_list_only_itemsets_with_support_are_named() -> None:
    few = transactions_from_lists(BASKETS)
    assert set(draws(few, anonymous(10**6), 200)) == {()}
    many = transactions_from_lists([["a", "b"]] * 900 + [["c", "d"]] * 15 + [["e"]])
    assert set(draws(many, anonymous(1000), 50)) == {(("a", "b"),)}
    assert set(draws(many, anonymous(1000, top=2), 50)) == {()}  # all or nothing


def test_more_items_than_can_exist_are_refused_without_saying_how_many() -> None:
    transactions = transactions_from_lists(BASKETS)
    plan, counts = anonymous(2), count_itemsets(transactions, 2)
    with pytest.raises(InputError, match=r"more different items.*Universe.*Nothing was spent") as caught:
        pass_through(LocalDatabase(transactions), counts, plan.search, plan, SeededRandomness(SEED))
    said = str(caught.value).replace("more different items than 2, the most", "")
    assert not any(character.isdigit() for character in said)


def test_a_number_of_items_means_nothing_to_a_mechanism_without_a_universe() -> None:
    transactions = transactions_from_lists([["a", "b"]] * 900 + [["c", "d"]])
    plan = planned(top=1, mechanism="limited-domain", universe=Universe(items=2))
    assert set(draws(transactions, plan, 20)) == {(("a", "b"),)}


def test_a_list_that_is_not_given_names_nothing() -> None:
    plan = exponential(Universe(items=50, listed=True))
    with pytest.raises(UsageError, match="does not have the names"):
        draws(transactions_from_lists(BASKETS), plan, 1)


def test_open_universe_names_only_what_occurs() -> None:
    transactions = transactions_from_lists([["a", "b"]] * 400 + [["c", "d"]])
    plan = planned(top=5, mechanism="limited-domain")
    for chosen in draws(transactions, plan, 20):
        assert chosen in {(), (("a", "b"),)}


@dataclass
class Scripted:
    """Picks these ranks whatever the counts, and keeps the profile it was shown."""

    ranks: tuple[int, ...]
    leads: tuple[int | None, ...] = ()
    gaps: bool = False
    seen: list[CountProfile] = field(default_factory=list)

    def select(self, profile: CountProfile, _randomness: Randomness) -> tuple[int, ...]:
        self.seen.append(profile)
        return self.ranks

    def select_with_gaps(
        self, profile: CountProfile, randomness: Randomness
    ) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
        return self.select(profile, randomness), self.leads


def passed(mechanism: Scripted, universe: Universe) -> tuple[PassedItemset, ...]:
    transactions = transactions_from_lists(BASKETS)
    plan = anonymous(universe.items or 0)
    counts = count_histogram(transactions, plan.size)
    return pass_through(LocalDatabase(transactions), counts, cast(Mechanism, mechanism), plan, SeededRandomness(SEED))


def test_a_mechanism_sees_as_many_itemsets_as_were_declared_and_no_names() -> None:
    for items in (3, 5, 10**6):
        shown = Scripted(())
        assert passed(shown, Universe(items=items)) == ()
        (profile,) = shown.seen
        assert (list(profile.levels), list(profile.multiplicities)) == ([7, 5, 1], [1, 1, 1])
        assert profile.zeros == math.comb(items, 2) - 3


def test_leads_go_with_their_itemsets() -> None:
    found = passed(Scripted((1, 0), leads=(4, None), gaps=True), Universe(items=5))
    assert found == (
        PassedItemset(items=("a", "c"), codes=(0, 2), lead=4),
        PassedItemset(items=("a", "b"), codes=(0, 1), lead=None),
    )
    assert passed(Scripted((1, 0), leads=(4, None)), Universe(items=5)) == tuple(
        PassedItemset(items=each.items, codes=each.codes) for each in found
    )


@dataclass
class Loud:
    """No noise at all, so that what passes is what was counted; keeps what it was handed."""

    top: int
    seen: list[list[int]] = field(default_factory=list)

    def add_noise(self, counts: NDArray[np.int64], _randomness: Randomness) -> NDArray[np.int64]:
        self.seen.append(counts.tolist())
        return counts + 1000


def test_chosen_itemsets_of_any_size_are_counted_together_and_get_noise() -> None:
    baskets = LocalDatabase(transactions_from_lists(BASKETS))
    loud = Loud(top=5)
    itemsets = [(0, 2), (1,), (0, 1, 2), (0, 10**15), (1, 2)]
    measured = measure_chosen(baskets, itemsets, cast(CountNoise, loud), SeededRandomness(SEED))
    assert loud.seen == [[5, 7, 1, 0, 1]]
    assert measured.tolist() == [1005, 1007, 1001, 1000, 1001]
    assert measure_chosen(baskets, [], cast(CountNoise, loud), SeededRandomness(SEED)).tolist() == []


def test_the_last_item_of_the_data_is_counted_and_the_next_is_not() -> None:
    baskets, loud = LocalDatabase(transactions_from_lists(BASKETS)), Loud(top=2)
    measure_chosen(baskets, [(0, 2), (0, 3)], cast(CountNoise, loud), SeededRandomness(SEED))
    assert loud.seen == [[5, 0]]


def test_no_more_itemsets_are_counted_than_the_noise_was_planned_for() -> None:
    baskets, loud = LocalDatabase(transactions_from_lists(BASKETS)), Loud(top=1)
    with pytest.raises(AssertionError, match="more itemsets"):
        measure_chosen(baskets, [(0,), (1,)], cast(CountNoise, loud), SeededRandomness(SEED))
    assert loud.seen == []
