"""Published comparators over a declared universe: their laws against a second computation, and their claims.

Their claims over hard count vectors: test_privacy.py and the audit. Here neighbours are drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

import pytest

from fim_private.accounting.claim import claimed_delta
from fim_private.mechanisms.truncated_frequency import MISS, TruncatedFrequency
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.uniform import uniform_below
from tests.mechanisms.cases import truncated
from tests.sampling import SEED

F = Fraction
Named = dict[tuple[int, ...], float]
"""The probability of each list of itemsets; an itemset is named by its place among the counts."""


def truncated_by_hand(mechanism: TruncatedFrequency, counts: Sequence[int]) -> Named:
    """The law over lists of itemsets, from the definition."""
    place = sorted(counts, reverse=True)[mechanism.top - 1] if mechanism.top <= len(counts) else 0
    rate = float(mechanism.pick_epsilon) / mechanism.sensitivity / (2 if mechanism.general else 1)
    gamma = math.ceil(math.log(mechanism.top * mechanism.universe_size * 100) / rate)
    scores = [max(count, place - gamma) for count in counts]
    law: Named = {}
    for picks in permutations(range(len(counts)), min(mechanism.top, len(counts))):
        chance, left = 1.0, set(range(len(counts)))
        for pick in picks:
            chance *= math.exp(rate * scores[pick]) / sum(math.exp(rate * scores[each]) for each in left)
            left.remove(pick)
        law[picks] = chance
    return law


def law_of(mechanism: TruncatedFrequency, counts: Sequence[int]) -> Named:
    """The mechanism's own law. Every itemset has a level of its own, those that do not occur share theirs."""
    order = sorted((place for place, count in enumerate(counts) if count), key=lambda place: -counts[place])
    absent = [place for place, count in enumerate(counts) if not count]
    profile = CountProfile(
        levels=[counts[place] for place in order], multiplicities=[1] * len(order), zeros=len(absent)
    )
    law: Named = {}
    for levels, chance in mechanism.law(profile).items():
        number = sum(level == len(order) for level in levels)
        fillings = list(permutations(absent, number))
        for filling in fillings:
            rest = iter(filling)
            named = tuple(order[level] if level < len(order) else next(rest) for level in levels)
            law[named] = law.get(named, 0.0) + chance / len(fillings)
    return law


VECTORS = [
    *((140, 138, 12, 0), (130, 130, 130, 1), (170, 140, 128, 27), (145, 0, 0, 0)),
    *((25, 13, 12, 11), (9, 9, 9, 9), (0, 0, 0, 0)),
]


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("top", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("general", [False, True])
def test_truncated_frequencies_have_the_law_of_the_definition(top: int, sensitivity: int, *, general: bool) -> None:
    """With ties, without data, and with more picks than itemsets."""
    mechanism = truncated(top, sensitivity, general=general)
    lifted = 0
    for counts in VECTORS:
        law, expected = law_of(mechanism, counts), truncated_by_hand(mechanism, counts)
        assert law.keys() == expected.keys()
        assert all(law[named] == pytest.approx(expected[named], rel=1e-9) for named in expected)
        lifted += top <= 4 and sorted(counts)[-top] - min(counts) > mechanism.gamma
    assert bool(lifted) == (top < 4)


def neighbours(pairs: int, *, itemsets: int, sensitivity: int, replace: bool) -> Iterator[tuple[list[int], list[int]]]:
    """Random count vectors, with ties and gaps around random leads, and a neighbour of each."""
    randomness = SeededRandomness(SEED + 10 * itemsets + sensitivity)

    def below(bound: int) -> int:
        return uniform_below(bound, randomness)

    for _ in range(pairs):
        lead, floor = below(120), below(3)
        one = [floor + lead * below(2) + below(3) * below(2) for _ in range(itemsets)]
        if replace:
            other = [max(0, count + below(2 * sensitivity + 1) - sensitivity) for count in one]
        else:
            other = [count + (sensitivity if below(3) else below(sensitivity + 1)) * below(2) for count in one]
        yield one, other


def check(by_hand: Sequence[Named], *, epsilon: float, spread: float | None) -> None:
    """The log ratio is at most epsilon either way, and varies by at most `spread`."""
    one, other = by_hand
    ratios = [math.log(one[named] / other[named]) for named in one]
    assert max(map(abs, ratios)) <= epsilon * (1 + 1e-9)
    if spread is not None:
        assert max(ratios) - min(ratios) <= spread * (1 + 1e-9)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("top", [1, 2, 3])
def test_no_small_neighbours_at_random_break_the_claim(top: int, sensitivity: int, *, replace: bool) -> None:
    mechanism = truncated(top, sensitivity, general=replace)
    pick, lifted = float(mechanism.pick_epsilon), 0
    for pair in neighbours(300, itemsets=4, sensitivity=sensitivity, replace=replace):
        laws = [truncated_by_hand(mechanism, counts) for counts in pair]
        check(laws, epsilon=top * pick, spread=pick if top == 1 else None)
        for epsilon in (0.0, 0.4, 0.9):
            delta = sum(max(0.0, p - math.exp(epsilon) * laws[1][named]) for named, p in laws[0].items())
            assert delta <= claimed_delta(mechanism.losses, (), epsilon) + 1e-12
        lifted += sorted(pair[0])[-top] - min(pair[0]) > mechanism.gamma
    assert lifted > 30  # not a matter of chance: the seed is fixed


def test_a_lifted_itemset_is_named_as_rarely_as_published() -> None:
    """By a universe whose itemsets are all lifted but k, so that the bound is nearly reached."""
    for top, epsilon in ((1, F(1, 2)), (3, F(1, 5))):
        mechanism = truncated(top, itemsets=10**6, pick_epsilon=epsilon)
        profile = CountProfile(levels=[5_000], multiplicities=[top], zeros=10**6 - top)
        assert profile.count(top) > mechanism.gamma
        lifted = 1 - mechanism.law(profile)[(0,) * top]
        assert MISS / 4 < lifted <= MISS
