"""Anonymous names: what is named, its law against a second computation, and its claim over databases with names.

Its claim over count vectors: test_privacy.py and the audit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, pairwise, permutations

import pytest

from fim_private.accounting.claim import claimed_delta
from fim_private.audit.laws import NUMERICAL_ERROR, hockey_stick, law_over_groups
from fim_private.errors import BudgetError
from fim_private.mechanisms.anonymous_names import Certified
from fim_private.mechanisms.certificate import Certificate, threshold_for
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.noisy_maxima import NoisyMaxima
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import (
    AnyFailure,
    Budget,
    NeighbouringRelation,
    OneSidedFailure,
    PrivacyUnit,
    failure_probability,
)
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.noisy_maximum import Noise
from fim_private.randomness.uniform import uniform_below
from tests.mechanisms.cases import anonymous_names, certificate, exponential, noisy_maxima
from tests.sampling import FALSE_ALARM, SEED, p_value

F = Fraction
Named = dict[tuple[object, ...], float]


@cache
def tail(threshold: int, variance: int) -> float:
    """P(noise >= threshold), by summing up the mass."""
    mass = {value: math.exp(-value * value / 2 / variance) for value in range(-200, 201)}
    return math.fsum(part for value, part in mass.items() if value >= threshold) / math.fsum(mass.values())


def law_by_hand(mechanism: Certified, counts: Sequence[int], names: Sequence[object | None]) -> Named:
    """The law over lists of names, from the definition; a token without a name has None. The picks are exponential."""
    inner, test = mechanism.inner, mechanism.certificate
    law: Named = {(): 0.0}
    divisor = inner.sensitivity * (2 if test.general else 1)
    for picks in permutations(range(len(counts)), inner.top):
        chance, left = 1.0, set(range(len(counts)))
        for pick in picks:
            weights = {token: math.exp(float(inner.pick_epsilon) * counts[token] / divisor) for token in left}
            chance *= weights[pick] / sum(weights.values())
            left.remove(pick)
        lengths = [inner.top]
        if test.cut_epsilon is not None:
            while lengths[-1] > 1:
                lengths.append(math.floor(0.85 * lengths[-1] + 1e-9))
        smallest = {length: min(counts[pick] for pick in picks[:length]) for length in lengths}
        enough = test.threshold + 34 * math.isqrt(test.variance) // 10
        cut = float(test.cut_epsilon or 0)
        weights = {
            length: math.exp(cut * min(smallest[length], enough) / divisor - (4.5 + place / 2 if place else 0))
            for place, length in enumerate(lengths)
        }
        for length in lengths:
            shown = tuple(names[pick] for pick in picks[:length])
            passed = chance * weights[length] / sum(weights.values())
            named = passed * tail(test.threshold - smallest[length], test.variance)
            if None in shown or smallest[length] == 0:
                named = 0.0
            law[shown] = law.get(shown, 0.0) + named
            law[()] += passed - named
    return {outcome: chance for outcome, chance in law.items() if chance}


@pytest.mark.parametrize("cut", [None, F(1, 3)])
@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("counts", [(9, 7, 0, 0), (12, 11, 10, 1), (8, 8, 8, 8), (1, 0, 0, 0), (0, 0, 0, 0)])
def test_the_law_is_that_of_the_definition(
    counts: tuple[int, ...], sensitivity: int, *, general: bool, cut: Fraction | None
) -> None:
    for top in (1, 2, 3):
        mechanism = anonymous_names(
            replace(exponential(top, sensitivity), general=general), cut_epsilon=cut, general=general
        )
        # Levels of one itemset each, so that a level is a name.
        levels = [count for count in counts if count]
        profile = CountProfile(levels=levels, multiplicities=[1] * len(levels), zeros=counts.count(0))
        law, expected = mechanism.law(profile), law_by_hand(mechanism, counts, range(4))
        assert math.fsum(law.values()) == pytest.approx(1)
        for outcome in {*law, *expected}:
            assert law.get(outcome, 0.0) == pytest.approx(expected.get(outcome, 0.0), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("general", [False, True])
def test_draws_follow_the_law(*, general: bool) -> None:
    for inner in (
        replace(exponential(3, itemsets=6), general=general),
        noisy_maxima(Noise.EXPONENTIAL, 2, itemsets=6, general=general),
        noisy_maxima(Noise.LAPLACE, 1, itemsets=6, general=general, gaps=True),
    ):
        mechanism = anonymous_names(inner, cut_epsilon=F(1, 3) if inner.top == 3 else None, general=general)
        profile = CountProfile(levels=[12, 9, 8, 2], multiplicities=[1, 1, 1, 1], zeros=2)
        randomness = SeededRandomness(SEED)
        drawn = [mechanism.select(profile, randomness) for _ in range(4000)]
        law = mechanism.law(profile)
        assert p_value(drawn, law) > FALSE_ALARM
        wider = replace(mechanism.certificate, variance=40 * mechanism.certificate.variance)
        assert p_value(drawn, replace(mechanism, certificate=wider).law(profile)) < FALSE_ALARM
        if mechanism.certificate.cut_epsilon is not None:
            steeper = replace(mechanism.certificate, cut_epsilon=F(3))
            assert p_value(drawn, replace(mechanism, certificate=steeper).law(profile)) < FALSE_ALARM


def program(mechanism: Certified, units: Sequence[frozenset[str]], size: int, tokens: int) -> Named:
    """The exact law over lists of named itemsets, on the transactions of these units."""
    items = sorted(frozenset[str]().union(*units))
    assert len(items) <= tokens
    names = [*items, *(None for _ in range(tokens - len(items)))]
    chosen = [tuple(itemset) for itemset in combinations(names, size)]
    counts = [0 if None in one else sum(unit.issuperset(one) for unit in units) for one in chosen]
    return law_by_hand(mechanism, counts, [None if None in one else one for one in chosen])


def excess(one: Named, other: Named, epsilon: float) -> float:
    return sum(max(0.0, chance - math.exp(epsilon) * other.get(outcome, 0.0)) for outcome, chance in one.items())


def within_claim(mechanism: Certified, one: Named, other: Named) -> None:
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        claimed = claimed_delta(mechanism.losses, mechanism.failures, epsilon)
        assert max(excess(one, other, epsilon), excess(other, one, epsilon)) <= claimed + NUMERICAL_ERROR


@pytest.mark.slow
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("top", [1, 2])
def test_the_claim_holds_on_databases_whose_items_have_names(top: int, sensitivity: int) -> None:
    """One unit of `sensitivity` equal transactions more, which may hold items that nobody else has."""
    randomness = SeededRandomness(SEED + top)
    subsets = [frozenset(part) for number in range(4) for part in combinations("abc", number)]
    inner = exponential(top, sensitivity, itemsets=3)
    for _ in range(400):
        mechanism = anonymous_names(
            inner,
            variance=1 + uniform_below(4 * sensitivity**2, randomness),
            cut_epsilon=F(1 + uniform_below(20, randomness), 10) if uniform_below(2, randomness) else None,
            delta=F(1 + uniform_below(20, randomness), 100),
        )
        common = [subsets[uniform_below(8, randomness)]] * (1 + uniform_below(12, randomness))
        common += [subsets[uniform_below(8, randomness)] for _ in range(uniform_below(6, randomness))]
        more = [*common, *[subsets[uniform_below(8, randomness)]] * sensitivity]
        size = 1 + uniform_below(2, randomness)
        laws = [program(mechanism, units, size, tokens=3) for units in (common, more)]
        within_claim(mechanism, *laws)


@pytest.mark.parametrize("sensitivity", [1, 2])
def test_exchanged_units_may_bring_more_names_than_there_are_tokens(sensitivity: int) -> None:
    """Either data set holds at most N items; both together hold more."""
    randomness = SeededRandomness(SEED)
    inner = replace(exponential(1, sensitivity, itemsets=2), general=True)
    for tokens, one, other in ((1, "x", "y"), (2, "ax", "ay"), (2, "xz", "ay"), (2, "x", "ya")):
        for _ in range(60):
            mechanism = anonymous_names(
                inner,
                variance=1 + uniform_below(4 * sensitivity**2, randomness),
                delta=F(1 + uniform_below(20, randomness), 100),
                general=True,
            )
            common = [frozenset("a")] * uniform_below(14, randomness) if "a" in one + other and tokens > 1 else []
            if common and "z" in one:
                continue  # three items on one side
            laws = [program(mechanism, [*common, *[frozenset(unit)] * sensitivity], 1, tokens) for unit in (one, other)]
            within_claim(mechanism, *laws)


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("top", [1, 2])
def test_the_failure_is_one_sided_and_no_smaller_than_it_says(top: int, sensitivity: int) -> None:
    """Suppress the names that only the additional unit has: the others' law is the same, and this side's close.

    A threshold that forgets Delta would fail more often than it says.
    """

    def worst(mechanism: Certified) -> float:
        largest = 0.0
        for level in range(0, 40, 3):
            counts = [level + sensitivity, level, sensitivity]
            own = law_by_hand(mechanism, counts, ["a", "b", "x"])
            run = law_by_hand(mechanism, counts, ["a", "b", None])
            missed = sum(chance for outcome, chance in own.items() if "x" in outcome)
            largest = max(largest, missed)
            for outcome, chance in run.items():
                assert own.get(outcome, 0.0) >= (1 - missed_at_most) * chance * (1 - 1e-9)
        return largest

    mechanism = anonymous_names(exponential(top, sensitivity, itemsets=3), delta=F(1, 1000))
    missed_at_most = float(failure_probability(mechanism.failures))
    assert isinstance(mechanism.certificate.failure, OneSidedFailure)
    found = worst(mechanism)
    assert missed_at_most / 20 < found <= missed_at_most
    forgotten = replace(mechanism.certificate, threshold=mechanism.certificate.threshold - sensitivity)
    missed_at_most = 1.0
    assert worst(replace(mechanism, certificate=forgotten)) > found
    alone = CountProfile.of([sensitivity], zeros=0)
    one = replace(mechanism, inner=replace(mechanism.inner, top=1))
    honest = one.law(alone)[0,]
    assert honest <= 1e-3
    assert replace(one, certificate=forgotten).law(alone)[0,] > 1e-3


def planned(name: str = "exponential", **changes: object) -> Plan:
    options = {
        "size": 2, "top": 20, "budget": Budget("1", "1e-6"), "unit": PrivacyUnit(), "universe": Universe(items=1000),
    }  # fmt: skip
    return make_plan(mechanism=name, **{**options, **changes})


@pytest.mark.parametrize("name", ["exponential", "permute-and-flip", "report-noisy-max", "max-of-laplaces"])
@pytest.mark.parametrize("top", [1, 9, 10, 100])
def test_a_plan_shares_out_the_budget(name: str, top: int) -> None:
    mechanism = planned(name, top=top).search
    assert mechanism.top == mechanism.inner.top == top
    test = mechanism.certificate
    assert (test.cut_epsilon is not None) == (top >= 10)
    assert test.lengths(top)[0] == top
    assert test.lengths(top)[-1] == (1 if top >= 10 else top)
    # A quarter of delta pays for the failure, once.
    assert float(failure_probability(mechanism.failures)) == pytest.approx(2.5e-7)
    assert tail(test.threshold - 1, test.variance) <= 2.5e-7 * (1 + 1e-9) < tail(test.threshold - 2, test.variance)
    assert isinstance(mechanism.inner, Exponential | NoisyMaxima)
    listed = planned(name, top=top, universe=Universe(items=1000, listed=True)).search
    assert mechanism.inner == replace(listed, pick_epsilon=mechanism.inner.pick_epsilon)
    # The test of one pick costs it more.
    assert (0.4 if top == 1 else 0.6) < mechanism.inner.pick_epsilon / listed.pick_epsilon < 1
    (margin,) = mechanism.margins
    assert margin.place is None
    assert test.support_needed(1 / 60) > test.threshold
    # One pick, at its own margin, goes wrong one time in 20, and each of k picks one time in 60 k at this one.
    # The first pick has the smallest rate.
    inner = mechanism.inner
    scale = 1 / inner.rates[0] if isinstance(inner, Exponential) else inner.scales[0]
    picked = inner.margins[0].of_one or inner.margins[0].counts
    picked += math.ceil(float(scale) * math.log(3 * top))
    assert margin.counts == max(picked, test.support_needed(1 / 60))


@pytest.mark.parametrize(
    ("name", "items"), [("exponential", 12), ("permute-and-flip", 12), ("exponential-textbook", 40)]
)
def test_a_long_list_is_whole_at_the_stated_lead_also_if_its_last_itemset_alone_has_so_little(
    name: str, items: int
) -> None:
    """A list is cut most readily if what is left has far more support."""
    mechanism = planned(name, size=1, top=10, universe=Universe(items=items)).search
    (margin,) = mechanism.margins
    law = mechanism.law(CountProfile.of([*[10 * margin.counts] * 9, margin.counts], zeros=items - 10))
    assert math.fsum(chance for named, chance in law.items() if sorted(named) == [*[0] * 9, 1]) >= 0.95
    assert margin.compared <= margin.counts


def test_the_test_of_a_long_list_gets_half_the_share_of_a_short_one() -> None:
    short, long = (planned(top=top).search for top in (9, 10))
    assert long.certificate.test.gaussian.rho == pytest.approx(short.certificate.test.gaussian.rho / 2, rel=0.01)


def test_a_list_with_an_itemset_that_does_not_occur_is_not_named_even_if_it_passes() -> None:
    mechanism = anonymous_names(exponential(2, itemsets=3))
    passing = replace(mechanism, certificate=replace(mechanism.certificate, threshold=-(10**6)))
    randomness = SeededRandomness(SEED)
    for _ in range(30):
        assert passing.select(CountProfile(levels=[5], multiplicities=[1], zeros=2), randomness) == ()
        # A pick that could not be made counts as one that does not occur.
        assert passing.select(CountProfile(levels=[5], multiplicities=[1], zeros=0), randomness) == ()
        assert len(passing.select(CountProfile(levels=[5], multiplicities=[3], zeros=0), randomness)) == 2


def test_a_larger_unit_needs_as_much_more_support() -> None:
    one, five = (planned(unit=PrivacyUnit(column="customer", max_transactions=number)).search for number in (1, 5))
    assert five.certificate.sensitivity == five.inner.sensitivity == 5
    assert five.certificate.threshold == pytest.approx(5 * one.certificate.threshold, rel=0.02)
    for other, first in zip(five.losses, one.losses, strict=True):
        assert type(other) is type(first)
    assert float(five.inner.pick_epsilon) == pytest.approx(float(one.inner.pick_epsilon), rel=1e-3)


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
def test_textbook_forms_are_made_for_exchanged_units(relation: NeighbouringRelation) -> None:
    mechanism = planned("exponential-textbook", relation=relation).search
    assert mechanism.certificate.general
    assert isinstance(mechanism.certificate.failure, AnyFailure)
    (failure,) = mechanism.failures
    assert float(failure.probability) == pytest.approx(2.5e-7 / (1 + math.e))
    assert mechanism.certificate.rate == mechanism.certificate.cut_epsilon / 2
    assert planned("exponential-textbook", relation=relation).cost.losses is not None
    assert (planned(relation=relation).cost.losses is None) == (relation is NeighbouringRelation.REPLACE)


def test_without_a_delta_no_name_can_be_tested() -> None:
    for name in ("exponential", "permute-and-flip", "max-of-laplaces-textbook"):
        with pytest.raises(BudgetError, match=r"number of items.*needs a delta.*Universe"):
            planned(name, budget=Budget("1", "0"))
    names = tuple(f"item {number}" for number in range(50))
    assert planned(budget=Budget("1", "0"), universe=Universe(names=names)).guarantee.delta == 0


def test_leads_are_released_with_their_itemsets_only() -> None:
    inner = noisy_maxima(Noise.EXPONENTIAL, 2, itemsets=6, gaps=True, pick_epsilon=F(5))
    mechanism = anonymous_names(inner, variance=4)
    randomness = SeededRandomness(SEED)
    far = CountProfile(levels=[90, 60, 3], multiplicities=[1, 1, 1], zeros=3)
    for _ in range(20):
        ranks, leads = mechanism.select_with_gaps(far, randomness)
        assert ranks == (0, 1)
        assert [20 < (lead or 0) < 70 for lead in leads] == [True, True]
    near = CountProfile(levels=[90, 1], multiplicities=[1, 1], zeros=4)
    assert {mechanism.select_with_gaps(near, randomness) for _ in range(50)} == {((), ())}
    assert mechanism.gaps
    assert not anonymous_names(exponential()).gaps


def test_a_list_is_cut_before_picks_without_support() -> None:
    mechanism = anonymous_names(
        exponential(10, itemsets=1000), variance=9, cut_epsilon=F(1), pick_epsilon=F(2), delta=F(1, 10**6)
    )
    randomness = SeededRandomness(SEED)
    counts = [90, 80, 70, 60, 50, 1, 1, 1, 1, 1]
    profile = CountProfile(levels=counts, multiplicities=[1] * 10, zeros=990)
    found = {mechanism.select(profile, randomness) for _ in range(60)}
    assert {len(ranks) for ranks in found} <= {0, 1, 2, 3, 4, 5}
    assert (0, 1, 2, 3, 4) in found
    clear = CountProfile(levels=[90 - place for place in range(10)], multiplicities=[1] * 10, zeros=990)
    lengths = [len(mechanism.select(clear, randomness)) for _ in range(300)]
    assert lengths.count(10) > 270


@pytest.mark.parametrize("top", [1, 2, 3, 7, 10, 64, 100, 10_000])
def test_each_length_is_three_twentieths_shorter(top: int) -> None:
    lengths = certificate(cut_epsilon=F(1)).lengths(top)
    assert lengths[0] == top
    assert lengths[-1] == 1
    assert all(0.85 * longer - 1 < shorter <= 0.85 * longer for longer, shorter in pairwise(lengths))
    assert certificate().lengths(top) == (top,)


@pytest.mark.parametrize("top", [1, 2, 3, 7, 10, 64, 100, 1000])
def test_lengths_in_between_end_before_a_further_item_may_fail(top: int) -> None:
    randomness = SeededRandomness(SEED)
    for likely in (1, 3, 30):
        falls = [uniform_below(likely, randomness) == 0 for _ in range(top)]
        trust = [0.99 ** sum(falls[:place]) for place in range(top)]
        lengths = certificate(cut_epsilon=F(1)).lengths(top, trust)
        assert (lengths[0], lengths[-1]) == (top, 1)
        for longer, shorter in pairwise(lengths):
            usual = math.floor(F(17, 20) * longer)
            between = [
                length
                for length in range(usual + 1, longer)
                if length <= F(19, 20) * longer and trust[length] < trust[length - 1]
            ]
            assert shorter == max(between, default=usual)
    # Where nothing may fail, or all pass together, no length is worth more than another.
    assert certificate(cut_epsilon=F(1)).lengths(top, [0.5] * top) == certificate(cut_epsilon=F(1)).lengths(top)


@pytest.mark.parametrize("cut", [F(1, 100), F(1), F(9)])
@pytest.mark.parametrize("sensitivity", [1, 4])
@pytest.mark.parametrize("general", [False, True])
def test_the_choice_of_the_length_has_bounded_range(cut: Fraction, sensitivity: int, *, general: bool) -> None:
    """By the laws, over random supports that move one way, or both ways."""
    chosen: Callable[..., Certificate] = partial(certificate, sensitivity, cut_epsilon=cut, general=general)
    cutting = replace(chosen(), threshold=30)
    randomness = SeededRandomness(SEED)
    for _ in range(300):
        supports = [uniform_below(60, randomness) for _ in range(8)]
        lowest = -sensitivity if general else 0
        moved = [support + lowest + uniform_below(sensitivity - lowest + 1, randomness) for support in supports]
        # What was released before is the same on both sides.
        trust = [uniform_below(101, randomness) / 100 for _ in range(8)] if uniform_below(2, randomness) else []
        weights = []
        for each in (supports, moved):
            smallest = [min(each[: at + 1]) for at in range(8)]
            scores = cutting._scores(smallest, cutting.lengths(8, trust), trust)
            exponents = [float(cutting.rate * score) for score in scores]
            weights.append([exponent - math.log(sum(map(math.exp, exponents))) for exponent in exponents])
        ratios = [one - other for one, other in zip(*weights, strict=True)]
        assert max(ratios) - min(ratios) <= float(cut) * (1 + 1e-9) + 1e-9


@pytest.mark.slow
def test_draws_in_the_order_of_noisy_supports_follow_the_law() -> None:
    """The lengths and penalties that released numbers give are those of the law."""
    cutting = replace(certificate(1, cut_epsilon=F(1, 10)), threshold=30, variance=100)
    supports, trust = [60] * 17 + [35] * 2 + [20], [1.0] * 17 + [0.7] * 2 + [0.2]
    law = cutting.law(supports, trust)
    assert {20, 19, 17} < set(law)  # the ends before a further item
    randomness = SeededRandomness(SEED)
    draws = [cutting.certify(supports, randomness, trust) for _ in range(5_000)]
    assert p_value(draws, law) > FALSE_ALARM
    assert p_value(draws, cutting.law(supports)) < FALSE_ALARM
    with pytest.raises(AssertionError, match="every number of picks"):
        cutting.certify(supports, randomness, trust[:5])


def test_the_threshold_counts_delta_in() -> None:
    assert threshold_for(30, sensitivity=5, delta=F(1, 1000)) == 4 + threshold_for(30, sensitivity=1, delta=F(1, 1000))


@pytest.mark.parametrize(
    "pairs", [500, pytest.param(10_000, marks=pytest.mark.slow), pytest.param(40_000, marks=pytest.mark.long)]
)
def test_no_small_neighbours_at_random_break_the_claim(pairs: int) -> None:
    """Over count vectors, both directions, ties either way; the claim is looked up at three epsilons."""
    randomness = SeededRandomness(SEED)
    for _ in range(pairs // 20):
        sensitivity, top = 1 + uniform_below(2, randomness), 1 + uniform_below(3, randomness)
        general = uniform_below(3, randomness) == 0
        mechanism = anonymous_names(
            replace(exponential(top, sensitivity, itemsets=4), general=general),
            variance=1 + uniform_below(9, randomness),
            cut_epsilon=F(1 + uniform_below(20, randomness), 10) if uniform_below(2, randomness) else None,
            pick_epsilon=F(1 + uniform_below(20, randomness), 10),
            delta=F(1 + uniform_below(50, randomness), 1000),
            general=general,
        )
        epsilons = [0.2, 1.0, 2.5]
        claimed = [claimed_delta(mechanism.losses, mechanism.failures, epsilon) for epsilon in epsilons]
        for _ in range(20):
            level = uniform_below(20, randomness)
            lowest = -sensitivity if general else 0
            groups = []
            for _ in range(4):
                here = uniform_below(level + 1, randomness)
                there = here + lowest + uniform_below(sensitivity - lowest + 1, randomness)
                groups.append((here, max(0, there)))
            sides = [[(count, 1) for count in side] for side in zip(*groups, strict=True)]
            one = law_over_groups(mechanism, sides[0], declared=True)
            other = law_over_groups(mechanism, sides[1], declared=True, last_first=True)
            for law, changed in ((one, other), (other, one)):
                for delta, allowed in zip(hockey_stick(law, changed, epsilons), claimed, strict=True):
                    assert delta <= allowed + NUMERICAL_ERROR, (mechanism, groups)


def test_a_list_that_is_not_likely_to_pass_is_cut_more_readily() -> None:
    cutting = replace(certificate(1, cut_epsilon=F(1, 10)), threshold=30)
    lengths, smallest = cutting.lengths(8), [100] * 8  # all have enough support
    sure, unsure = (
        [float(cutting.rate * score) for score in cutting._scores(smallest, lengths, [each] * 8)] for each in (1.0, 0.5)
    )
    unordered = [float(cutting.rate * score) for score in cutting._scores(smallest, lengths)]
    assert unordered[0] - unordered[1] == pytest.approx(5)
    assert sure[0] - sure[1] == pytest.approx(3 + 3)
    # In the order of noisy supports mostly the end of a list lacks support.
    assert unordered[1] - unordered[2] == pytest.approx(0.5)
    assert sure[1] - sure[2] == pytest.approx(3)
    assert unsure[0] - unsure[1] == pytest.approx((3 + 3) / 8)
    assert unsure[1] - unsure[2] == pytest.approx(3 / 8)
    # A length in between gives away less.
    falling = [0.9] * 58 + [0.8] * 6
    assert cutting.lengths(64, falling)[:2] == (64, 58)
    first, second = cutting._scores([100] * 64, (64, 58), falling)
    slight = 3 * math.log(64 / 58) / math.log(1 / 0.85)
    assert float(cutting.rate * (first - second)) == pytest.approx(0.8**3 * (3 + slight), abs=1e-3)
