"""Published comparators over a declared universe: their laws against a second computation, and their claims.

Their claims over hard count vectors: test_privacy.py and the audit. Here neighbours are drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations

import pytest

from fim_private.accounting.basic_composition import basic_epsilon
from fim_private.accounting.claim import claimed_delta
from fim_private.audit.laws import NUMERICAL_ERROR, hockey_stick, law_over_groups
from fim_private.mechanisms.joint_exponential import JointExponential
from fim_private.mechanisms.protocol import Mechanism
from fim_private.mechanisms.registry import REGISTRY
from fim_private.mechanisms.truncated_frequency import MISS, TruncatedFrequency
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.uniform import uniform_below
from tests.mechanisms.cases import joint, truncated
from tests.sampling import FALSE_ALARM, SEED, p_value

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


def joint_by_hand(mechanism: JointExponential, counts: Sequence[int]) -> Named:
    """The law over lists of itemsets, from the definition."""
    best = sorted(counts, reverse=True)
    rate = float(mechanism.pick_epsilon) / mechanism.sensitivity / (1 if mechanism.top == 1 else 2)
    weights = {
        picks: math.exp(-rate * max(best[place] - counts[pick] for place, pick in enumerate(picks)))
        for picks in permutations(range(len(counts)), min(mechanism.top, len(counts)))
    }
    total = math.fsum(weights.values())
    return {picks: weight / total for picks, weight in weights.items()}


def law_of(mechanism: Mechanism, counts: Sequence[int]) -> Named:
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


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("top", [1, 2, 3, 4, 6])
def test_the_joint_mechanism_has_the_law_of_the_definition(top: int, sensitivity: int) -> None:
    mechanism = joint(top, sensitivity)
    for counts in VECTORS:
        law, expected = law_of(mechanism, counts), joint_by_hand(mechanism, counts)
        assert law.keys() == expected.keys()
        assert all(law[named] == pytest.approx(expected[named], rel=1e-9) for named in expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "top", "epsilon"),
    [
        ((6, 4, 4, 1), 2, F(2)),
        ((6, 4, 4, 1), 1, F(1, 2)),
        ((9, 9, 9, 9), 3, F(1)),
        ((20, 19, 9, 2, 0), 3, F(1)),
        ((40, 39, 38, 3), 2, F(1, 10)),  # steps of 20, so that the coin decides
        ((300, 200, 150, 1), 2, F(1, 50)),
        ((25, 0), 1, F(1, 10)),  # one list in twelve is in the last part, which is no step
        ((36, 0, 0), 2, F(1, 5)),
        ((5, 3, 0), 5, F(1, 3)),
        ((0, 0, 0), 2, F(1)),
        ((8, 7, 7, 2, 2), 2, F(6)),  # steps of one
    ],
)
def test_the_joint_sampler_is_exact_for_every_single_list(counts: tuple[int, ...], top: int, epsilon: Fraction) -> None:
    """Not only for lists of levels: here a rank names an itemset."""
    mechanism = joint(top, itemsets=len(counts), pick_epsilon=epsilon)
    profile, randomness = CountProfile.of(counts, zeros=counts.count(0)), SeededRandomness(SEED)
    drawn = [mechanism.select(profile, randomness) for _ in range(6000)]
    assert p_value(drawn, joint_by_hand(mechanism, counts)) > FALSE_ALARM
    if len(set(counts)) > 1 and top < len(counts):
        steeper = replace(mechanism, pick_epsilon=epsilon * 2)
        assert p_value(drawn, joint_by_hand(steeper, counts)) < FALSE_ALARM


def test_the_joint_sampler_draws_long_lists_from_huge_universes() -> None:
    profile = CountProfile.of([30_000 - 7 * place for place in range(4000)], zeros=math.comb(16_470, 3))
    mechanism = JointExponential(top=60, pick_epsilon=F(3), universe_size=profile.universe_size or 0)
    ranks = mechanism.select(profile, SeededRandomness(SEED))
    assert len(set(ranks)) == 60
    assert max(ranks) < 200
    assert mechanism.margins[0].counts == pytest.approx(60 * math.log(profile.universe_size or 0) / 1.5, rel=0.01)


def test_the_joint_exponent_cannot_be_larger() -> None:
    """The mathematics' example: an itemset of count 60, many of count 0, of which one gains a transaction."""
    mechanism = joint(2, itemsets=10_001)
    before, after = (law_over_groups(mechanism, [(60, 1), (count, 1), (0, 9_999)], declared=True) for count in (0, 1))
    assert 0.999 < math.log(after[1, 0] / before[1, 0]) <= mechanism.pick_epsilon
    single = joint(1, itemsets=10_001)
    assert single.rate == single.pick_epsilon == 2 * mechanism.rate


def neighbours(pairs: int, *, sensitivity: int, exchanged: bool) -> Iterator[tuple[list[int], list[int]]]:
    """Random count vectors, with ties and gaps around random leads, and a neighbour of each."""
    randomness = SeededRandomness(SEED + sensitivity)

    def below(bound: int) -> int:
        return uniform_below(bound, randomness)

    for _ in range(pairs):
        lead, floor = below(120), below(3)
        one = [floor + lead * below(2) + below(3) * below(2) for _ in range(4)]
        if exchanged:
            other = [max(0, count + below(2 * sensitivity + 1) - sensitivity) for count in one]
        else:
            other = [count + (sensitivity if below(3) else below(sensitivity + 1)) * below(2) for count in one]
        yield one, other


Claimed = tuple[TruncatedFrequency | JointExponential, Callable[[Sequence[int]], Named]]
"""A mechanism, and its law by hand."""


def claimed(name: str, top: int, sensitivity: int) -> Claimed:
    if name == "joint-exponential":
        whole = joint(top, sensitivity)
        return whole, partial(joint_by_hand, whole)
    lifted = truncated(top, sensitivity, general=name == "truncated-frequency-paper")
    return lifted, partial(truncated_by_hand, lifted)


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("top", [1, 2, 3])
@pytest.mark.parametrize("name", ["truncated-frequency", "truncated-frequency-paper", "joint-exponential"])
def test_no_small_neighbours_at_random_break_the_claim(name: str, top: int, sensitivity: int) -> None:
    """Each step has its bounded range, all together are as private as they compose to, for both ways to compose."""
    mechanism, law = claimed(name, top, sensitivity)
    pure = float(basic_epsilon(mechanism.losses))
    epsilons = [0.0, 0.4, 0.9]
    allowed = [claimed_delta(mechanism.losses, mechanism.failures, each) + NUMERICAL_ERROR for each in epsilons]
    exchanged, lifted = REGISTRY[name].both_relations, 0
    for pair in neighbours(300, sensitivity=sensitivity, exchanged=exchanged):
        one, other = map(law, pair)
        ratios = [math.log(one[named] / other[named]) for named in one]
        assert max(map(abs, ratios)) <= pure * (1 + 1e-9)
        assert len(mechanism.losses) > 1 or max(ratios) - min(ratios) <= pure * (1 + 1e-9)
        assert (hockey_stick(one, other, epsilons) <= allowed).all()
        assert (hockey_stick(other, one, epsilons) <= allowed).all()
        lifted += sorted(pair[0])[-top] - min(pair[0]) > getattr(mechanism, "gamma", 0)
    assert lifted > 30  # not a matter of chance: the seed is fixed


def test_the_true_list_is_named_at_its_lead() -> None:
    """Of itemsets that all have this lead over the bulk. The k itemsets in any order are k! lists."""
    for top, universe in ((1, 10_000), (2, 10_000), (3, 500), (3, 3)):
        mechanism = joint(top, itemsets=universe, pick_epsilon=F(1, 100))
        rate = 0.01 if top == 1 else 0.005
        lists = math.perm(universe, top)
        (margin,) = mechanism.margins
        assert margin.counts == math.ceil((math.log(lists) + math.log(19)) / rate)
        for lead in (margin.counts, margin.counts - 1):
            profile = CountProfile(levels=[lead], multiplicities=[top], zeros=universe - top)
            right = math.factorial(top)
            expected = right / (right + (lists - right) * math.exp(-rate * lead))
            named = mechanism.law(profile)[(0,) * top]
            assert named == pytest.approx(expected)
            assert named >= 0.95 or (lead < margin.counts and top == 1)
    assert joint(9, itemsets=3).margins == joint(3, itemsets=3).margins


def test_a_lifted_itemset_is_named_as_rarely_as_published() -> None:
    """By a universe whose itemsets are all lifted but k, so that the bound is nearly reached."""
    for top, epsilon in ((1, F(1, 2)), (3, F(1, 5))):
        mechanism = truncated(top, itemsets=10**6, pick_epsilon=epsilon)
        profile = CountProfile(levels=[5_000], multiplicities=[top], zeros=10**6 - top)
        assert profile.count(top) > mechanism.gamma
        lifted = 1 - mechanism.law(profile)[(0,) * top]
        assert MISS / 4 < lifted <= MISS
