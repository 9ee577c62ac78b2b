"""The look that decides between the certified domain and items first: its cost, its sensitivity, and where it leads."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from fim_private.accounting.calibration import calibrate_gaussian, composed_need, granted
from fim_private.accounting.claim import claimed_delta
from fim_private.accounting.gaussian_composition import gaussian_rho
from fim_private.audit.laws import law_over_groups
from fim_private.errors import BudgetError
from fim_private.mechanisms import look_first
from fim_private.mechanisms.certified_domain import CertifiedDomain
from fim_private.mechanisms.items_first import USUAL_LENGTHS, ItemsFirst
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.look_first import (
    _LOOKS_SHARE,
    LEAST_GAIN,
    LOOK_SHARE,
    LookFirst,
    Picks,
    _paid_as_noise,
    calibrate,
)
from fim_private.mechanisms.protocol import ITEMS, Law, Request
from fim_private.privacy import AnyFailure, Chosen, ChosenFailure, DiscreteGaussian, Gaussian, Guarantee
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass, log_discrete_gaussian_survival
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from, p_value

F = Fraction
ASKED = Request(top=3, epsilon=F(1), delta=F(1, 10**6), sizes=(2,))
LIST = {"universe_size": 499_500, "names": 1000}
"""What a request has if the names of 1,000 items are a public list."""


@cache
def planned(request: Request = ASKED) -> LookFirst:
    mechanism = calibrate(request).mechanism
    assert isinstance(mechanism, LookFirst)
    return mechanism


@pytest.mark.slow
@given(
    st.integers(1, 300),
    st.fractions(F(1, 20), F(10)),
    st.sampled_from([F(1, 10**4), F(1, 10**6), F(1, 10**10)]),
    st.integers(1, 5),
    st.sampled_from([(1,), (2,), (3,), (4,), (1, 2, 3)]),
    st.booleans(),
)
def test_neither_way_costs_more_than_the_look_leaves(
    top: int, epsilon: Fraction, delta: Fraction, sensitivity: int, sizes: tuple[int, ...], listed: bool
) -> None:
    request = replace(ASKED, top=top, epsilon=epsilon, delta=delta, sensitivity=sensitivity, sizes=sizes)
    # The names of a public list need no test, so items first cannot fail, nor can picks from all its pairs or triples.
    request, tested = (replace(request, **LIST), F(0)) if listed else (request, delta / 4)
    calibrated = calibrate(request)
    mechanism = calibrated.mechanism
    from_list = listed and sizes in {(1,), (2,), (3,)}
    assert (mechanism.test_delta is None) == from_list
    assert all(isinstance(way, LiftedExponential) == from_list for way in mechanism.ways_to_pick)
    assert mechanism.look == DiscreteGaussian(F(sensitivity**2, 2 * mechanism.variance), mechanism.variance)
    left = mechanism.rho - mechanism.look.gaussian.rho
    for way in (*mechanism.ways_to_pick, mechanism.items):
        if isinstance(way, ItemsFirst):
            assert way.budget == left
            assert way.test_delta == (tested or None)
            assert way.public_names == mechanism.public_names == (LIST["names"] if listed else None)
            assert way.losses == (Gaussian(left),)
        else:
            looked = float(mechanism.items.look.loss.gaussian.rho)
            if mechanism.gain is None:
                assert gaussian_rho(way.losses) <= (float(left) - looked) * (1 + 3e-9)
            if from_list:
                assert len(way.losses) == top
                assert way.universe_size == math.comb(LIST["names"], sizes[0])
                assert way.depth == mechanism.depth
            else:
                assert len(way.losses) == top + 2 * way.spare + len(way.certificate.losses)
                assert way.certificate.failure == AnyFailure(mechanism.test_delta)
                assert way.test_delta == mechanism.test_delta
                assert (way.cut_epsilon is None) == (top == 1 or way.rise == 1)
        assert (way.top, way.sensitivity) == (top, sensitivity)
    if mechanism.gain is None:
        assert mechanism.losses == (Gaussian(mechanism.rho),)
    else:
        assert mechanism.gain > LEAST_GAIN
        assert mechanism.losses[:2] == (mechanism.items.look.loss, mechanism.look)
        rest = Gaussian(left - mechanism.items.look.loss.gaussian.rho)
        assert mechanism.losses[2] == Chosen((*(way.losses for way in mechanism.ways_to_pick), (rest,)))
    looks = mechanism.look.gaussian.rho + mechanism.items.look.loss.gaussian.rho
    failing = (ChosenFailure(mechanism.items.test_delta or F(0), mechanism.test_delta or F(0), looks),)
    assert mechanism.failures == (() if from_list else failing)
    edges = tuple(max(1, least) for _, least in mechanism._served(USUAL_LENGTHS))
    assert mechanism.tipping_leads == (edges if from_list else (mechanism.ways_to_pick[0].threshold, *edges))
    # Each further domain serves from a larger support on, and leaves more for its picks.
    for (former, lower), (latter, higher) in pairwise(mechanism._served(USUAL_LENGTHS)):
        assert lower < higher
        assert former.rates[-1] < latter.rates[-1]
    # What was proved is for the dearest looks that there may be.
    most = calibrate_gaussian((), epsilon=epsilon, delta=delta)
    dearest = [] if from_list else [ChosenFailure(tested, mechanism.test_delta, _LOOKS_SHARE * most[0])]
    assert looks <= _LOOKS_SHARE * most[0]
    if mechanism.gain is None:
        proved = composed_need(mechanism.losses, dearest, epsilon=epsilon, delta=delta)
        assert granted(proved, epsilon=epsilon, delta=delta) == calibrated.guarantee
    else:
        proved = composed_need(mechanism.losses, mechanism.failures, epsilon=epsilon, delta=delta)
        assert granted(proved, epsilon=epsilon, delta=delta) is not None
        assert calibrated.guarantee == Guarantee(epsilon=epsilon, delta=delta, composition="optimal")


@pytest.mark.parametrize(("top", "gain"), [(1, 1.3), (5, 1.08), (10, 1.03), (20, 1.012), (30, 1.01)])
def test_short_lists_get_what_optimal_composition_gains(top: int, gain: float) -> None:
    """And items first loses hardly anything by it."""
    found = calibrate(replace(ASKED, top=top, epsilon=F(1), delta=F(1, 10**6)))
    mechanism = found.mechanism
    assert found.guarantee.composition == "optimal"
    as_noise, _ = _paid_as_noise(replace(ASKED, top=top, epsilon=F(1), delta=F(1, 10**6)), F(1, 10**6))
    for ours, theirs in zip(mechanism.ways_to_pick, as_noise.ways_to_pick, strict=True):
        assert ours.pick_epsilon > gain * theirs.pick_epsilon
    assert 0.996 < mechanism.rho / as_noise.rho < 1
    # More would not be proved.
    more = replace(mechanism, gain=mechanism.gain * F(104, 100) if mechanism.gain else None)
    assert composed_need(more.losses, more.failures, epsilon=F(1), delta=F(1, 10**6))[0] > 1


def test_long_lists_are_paid_as_noise() -> None:
    mechanism = calibrate(replace(ASKED, top=100, epsilon=F(1), delta=F(1, 10**6))).mechanism
    assert mechanism.gain is None
    assert mechanism.losses == (Gaussian(mechanism.rho),)


@given(
    st.lists(st.integers(1, 40), max_size=12), st.lists(st.integers(0, 3), min_size=14, max_size=14),
    st.integers(1, 4), st.integers(1, 3),
)  # fmt: skip
def test_one_unit_moves_the_support_by_at_most_delta(
    counts: list[int], added: list[int], top: int, sensitivity: int
) -> None:
    """Also where the unit brings new itemsets, and the order changes."""
    mechanism = _Short(**{**vars_of(planned()), "top": top, "sensitivity": sensitivity})
    more = [count + min(further, sensitivity) for count, further in zip([*counts, 0, 0], added, strict=False)]
    before, after = (
        mechanism.support(CountProfile.of(sorted(filter(None, each), reverse=True)).count) for each in (counts, more)
    )
    assert abs(after - before) <= sensitivity


class _Short(LookFirst):
    """The same with few candidates, so that short lists of counts reach beyond place l."""

    @property
    def depth(self) -> int:
        return 2 * self.top + 1


def vars_of(mechanism: LookFirst) -> dict[str, object]:
    return {name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__}


def test_the_support_is_counted_from_the_place_after_the_candidates() -> None:
    mechanism = planned()
    assert mechanism.depth == 20_001
    profile = CountProfile(levels=[90, 80, 70, 7], multiplicities=[1, 1, 2, 20_000], zeros=None, complete=False)
    assert mechanism.support(profile.count) == 70 - 7
    assert mechanism.support(CountProfile.of([90, 80]).count) == 0


def test_the_look_has_the_noise_that_is_paid_for() -> None:
    mechanism = planned()
    assert float(mechanism.look.rho / mechanism.rho) == pytest.approx(float(LOOK_SHARE), rel=0.01)
    profile = CountProfile.of([500, 400, 300])
    randomness = SeededRandomness(SEED)
    looks = Counter(mechanism.look_at(profile, randomness) - 300 for _ in range(20_000))

    def law(width: Fraction) -> dict[int, float]:
        variance = float(width**2 * mechanism.variance)
        above = [math.exp(log_discrete_gaussian_survival(at, variance)) for at in range(-400, 402)]
        return {at: above[at + 400] - above[at + 401] for at in range(-400, 401)}

    assert_drawn_from(law, looks.elements())


def test_large_supports_lead_to_picks_and_larger_ones_to_cheaper_tests() -> None:
    mechanism = planned(replace(ASKED, top=6))
    assert mechanism.way(0) == replace(mechanism.items, support=0.0)
    least = least_of(mechanism)
    first, last = mechanism.way(least), mechanism.way(10**6)
    assert last.variance > first.variance
    assert last.rates[-1] > first.rates[-1]
    assert (first.cut_epsilon is None, last.cut_epsilon is None) == (False, True)
    # Picks need their own lead, and so much that the look finds it 19 times in 20.
    (picked,) = first.margins
    found, other = mechanism.margins
    chosen = least + 1.645 * math.sqrt(mechanism.variance)
    assert found.place == picked.place
    assert found.of_one == max(picked.of_one, math.ceil(chosen))
    assert replace(other, words="", otherwise=False) == replace(mechanism.items.margins[0], words="")
    assert other.otherwise
    # Not both go wrong one time in 20.
    assert picked.counts <= found.counts
    # With a lead in between, the look may choose picks, which then need more.
    longer = planned(replace(ASKED, top=20))
    behind = math.floor(least_of(longer) - 2.3263 * math.sqrt(longer.variance))
    assert longer.margins[1].words.endswith(f", unless the first of these leads is above {behind}")
    # Where the smallest support may lead to picks, it does not help that items first would find the items.
    for short in ({"top": 1, "sizes": (1,)}, {"top": 5}):
        (margin,) = planned(replace(ASKED, **short)).margins
        assert margin.place == (2_001 if "sizes" in short else 20_001)


@pytest.mark.parametrize(("top", "size", "eased"), [(2, 2, True), (5, 2, True), (6, 2, False), (5, 3, False)])
def test_short_lists_of_pairs_are_picked_with_less_support(
    monkeypatch: pytest.MonkeyPatch, top: int, size: int, eased: bool
) -> None:
    mechanism = planned(replace(ASKED, top=top, sizes=(size,)))
    least = least_of(mechanism)
    monkeypatch.setattr(look_first, "_SHORT", 0)
    assert least_of(mechanism) - least == pytest.approx(eased * math.sqrt(mechanism.variance), abs=1)


@pytest.mark.parametrize("epsilon", [F(1, 4), F(1), F(4)])
def test_picks_choose_the_sooner_the_more_support_items_need(epsilon: Fraction) -> None:
    """In long transactions items are hard to find, and single items are rarer than those of larger itemsets."""

    def edges(sizes: tuple[int, ...]) -> list[int]:
        mechanism = planned(replace(ASKED, top=20, epsilon=epsilon, sizes=sizes))
        lead, deviation = mechanism.ways_to_pick[0].margins[0].of_one, math.sqrt(mechanism.variance)
        leasts = [
            least_of(mechanism, units_of(length)) for length in (0.01, 0.1, 1, 2, 5, 10, 14, 20, 30, 60, 200, 5000)
        ]
        assert leasts == sorted(leasts, reverse=True)
        short = math.ceil(0.5 * lead + 2.5 * deviation)
        assert leasts[0] == short if sizes[0] > 1 else leasts[0] <= short
        assert leasts[-1] == 0
        assert len(set(leasts)) > 3
        return leasts

    pairs, triples, with_items = edges((2,)), edges((3,)), edges((1, 2))
    assert pairs == triples
    assert all(one <= other for one, other in zip(with_items, pairs, strict=True))
    assert with_items != pairs


@pytest.mark.parametrize(("top", "least"), [(40, 0.0), (41, 0.3)])
def test_a_long_list_is_never_picked_with_little_support(top: int, least: float) -> None:
    """However hard items are to find: in short lists a few picks may be right nevertheless."""
    mechanism = planned(replace(ASKED, top=top, sizes=(1,)))
    edge = mechanism._served(units_of(5000))[0][1]
    lead, deviation = mechanism.ways_to_pick[0].margins[0].of_one, math.sqrt(mechanism.variance)
    assert (edge == math.ceil(least * lead + 2.5 * deviation)) == (least > 0)
    assert edge < 0 or least > 0


def units_of(length: float) -> Lengths:
    """So many units that no support is a large share of them."""
    return Lengths(np.full(1, float(length)), np.full(1, 1e9))


def least_of(mechanism: LookFirst, lengths: Lengths = USUAL_LENGTHS) -> int:
    """The least noisy support with which picks choose."""
    return bisect_left(range(100_000), 1, key=lambda each: not isinstance(mechanism.way(each, lengths), ItemsFirst))


def test_items_first_goes_on_in_dense_data_if_picks_are_rough() -> None:
    mechanism = planned(replace(ASKED, top=100, epsilon=F(1, 10), sizes=(1, 2, 3)))

    def picks(support: int, transactions: float) -> bool:
        lengths = Lengths(np.array([40.0]), np.array([transactions]))
        return not isinstance(mechanism.way(support, lengths), ItemsFirst)

    # Half of all transactions, and of so many that picks are exact.
    assert [picks(2_000, 4_000), picks(20_000, 40_000)] == [False, True]
    # A small part of them, and what noise alone makes more than all.
    assert [picks(2_000, 40_000), picks(2_000, 900)] == [True, True]
    # Single items have no itemsets to tell of.
    items = planned(replace(ASKED, top=100, epsilon=F(1, 10), sizes=(1,)))
    assert not isinstance(items.way(2_000, Lengths(np.array([40.0]), np.array([4_000.0]))), ItemsFirst)


@pytest.mark.parametrize("sizes", [(2,), (1, 2), (1,)])
def test_the_lead_is_stated_for_data_that_is_not_dense(sizes: tuple[int, ...]) -> None:
    mechanism = planned(replace(ASKED, top=20, sizes=sizes))
    dense = ", and the lead is less than a fifth of the data"
    assert mechanism.margins[0].words.endswith(dense) == (max(sizes) > 1)


@pytest.mark.parametrize(
    ("listed", "sizes", "any_length"),
    [(False, (1,), False), (False, (2,), False), (False, (1, 2), False), (True, (1,), True), (True, (2,), True)],
)
def test_the_lead_of_short_units_is_stated_if_they_need_more(
    listed: bool, sizes: tuple[int, ...], any_length: bool
) -> None:
    """In short units items are easily found, so the look chooses picks only with more support."""
    universe = math.comb(300, sizes[0]) if listed else None
    mechanism = planned(replace(ASKED, top=1, sizes=sizes, universe_size=universe, names=300 if listed else 65_536))
    margin = mechanism.margins[0]
    in_short = re.search(r"\(about ([\d,]+) for units with fewer than 10 different items\)", margin.words)
    assert (in_short is None) == any_length
    reach = 10 * math.isqrt(mechanism.variance)
    noise = np.arange(-reach, reach + 1)
    masses = discrete_gaussian_mass(noise, float(mechanism.variance)).tolist()

    def whole(length: float, lead: int = margin.counts) -> float:
        """How often the itemset is picked. What items first answers does not count."""
        profile = CountProfile.of([lead], zeros=None if universe is None else universe - 1)
        looks = dict(zip((mechanism.support(profile.count) + noise).tolist(), masses, strict=True))
        ways = {support: mechanism.way(support, units_of(length)) for support in looks}
        laws = {way: way.law(profile) for way in set(ways.values()) if not isinstance(way, ItemsFirst)}
        return math.fsum(
            chance * laws[way].get((0,), 0.0)
            for support, chance in looks.items()
            if not isinstance(way := ways[support], ItemsFirst)
        )

    assert all(whole(length) >= 0.95 for length in (10, 12, 20, 100, 5000))
    assert (whole(sizes[0]) >= 0.95) == any_length
    if in_short:
        assert all(whole(length, int(in_short[1].replace(",", ""))) >= 0.95 for length in (sizes[0], 9, 100))


def test_noise_is_not_taken_for_dense_data() -> None:
    mechanism = planned(replace(ASKED, top=100, epsilon=F(1, 10), sizes=(1, 2, 3)))

    def tell(support: float, transactions: float) -> bool:
        way = mechanism.way(round(support), Lengths(np.array([4.0]), np.array([transactions])))
        return isinstance(way, ItemsFirst) and way.select == ITEMS

    # Of the support, and of the number of units.
    of_support, of_units = math.sqrt(mechanism.variance), math.sqrt(mechanism.items.look.variance)
    assert [tell(share * of_support, 3.1 * of_units) for share in (2.9, 3.1)] == [False, True]
    assert [tell(3.1 * of_support, share * of_units) for share in (2.9, 3.1)] == [False, True]


@pytest.mark.parametrize("sizes", [(2,), (3,)])
def test_items_tell_in_dense_data_with_a_list_too(sizes: tuple[int, ...]) -> None:
    listed = planned(replace(ASKED, top=100, epsilon=F(1, 10), sizes=sizes, universe_size=10**9))
    ways = [listed.way(support, Lengths(np.array([40.0]), np.array([4_000.0]))) for support in (500, 3_000)]
    assert [getattr(way, "select", None) for way in ways] == [None, ITEMS]


@pytest.mark.parametrize("sizes", [(1, 2, 3), (2,), (3,), (2, 3)])
def test_in_dense_data_the_first_counts_of_items_leave_much_for_the_next(sizes: tuple[int, ...]) -> None:
    mechanism = planned(replace(ASKED, top=100, epsilon=F(1, 10), sizes=sizes))
    way = mechanism.way(2_000, Lengths(np.array([40.0]), np.array([3_200.0])))
    assert isinstance(way, ItemsFirst)
    share = way.items.measurement.cost / mechanism.items.budget
    assert F(29, 100) < share <= F(30, 100) < mechanism.items.items.measurement.cost / mechanism.items.budget
    assert way == replace(mechanism.items, support=2_000.0, items=way.items, select=ITEMS)


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("sizes", [(1, 2), (2,)])
@pytest.mark.parametrize("share", [0.22, 0.6])
def test_picks_are_not_too_rough_for_dense_data_if_their_noise_is_a_small_part_of_those_who_lack_the_itemset(
    share: float, sizes: tuple[int, ...], sensitivity: int
) -> None:
    mechanism = planned(replace(ASKED, top=100, epsilon=F(1, 10), sizes=sizes, sensitivity=sensitivity))
    rate = float(mechanism.ways_to_pick[0].rate)  # of the Gumbel noise: its deviation is pi / sqrt(6) / rate

    def picks(part: float) -> bool:
        transactions = math.pi / math.sqrt(6) / rate / part / (1 - share)
        lengths = Lengths(np.array([40.0]), np.array([transactions / sensitivity]))
        way = mechanism.way(round(share * transactions), lengths)
        return not (isinstance(way, ItemsFirst) and way.select == ITEMS)

    assert [picks(0.076), picks(0.084)] == [True, False]


def test_items_first_hears_of_the_noisy_support() -> None:
    mechanism = planned(replace(ASKED, top=20, sizes=(1,)))
    for noisy in (-5, 0, 10, least_of(mechanism) - 1):
        assert mechanism.way(noisy) == replace(mechanism.items, support=float(max(0, noisy)))


@pytest.mark.parametrize(("sizes", "deviations"), [((1, 2), 5), ((2,), 4), ((2, 3), 4), ((3,), 3.2), ((5,), 3.2)])
@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("length", [4, 40])
def test_items_are_counted_as_exactly_as_the_support_asks_for(
    sizes: tuple[int, ...], deviations: float, sensitivity: int, length: float
) -> None:
    """A unit of Delta transactions counts once for an item, and up to Delta times for an itemset."""
    items = planned(replace(ASKED, top=100, sizes=sizes, sensitivity=sensitivity)).items
    lengths, exact = units_of(length), items.items.measurement
    told_by = deviations * sensitivity * items.item_deviation(lengths)  # what the planned counts tell
    for support in (0.0, 1.0, 0.99 * told_by + 30):
        assert items.given_support(support, 30.0, lengths) == replace(items, support=support)
    for less in (1.2 * told_by, 1.6 * told_by):
        told = items.given_support(less + 30, 30.0, lengths)
        assert told.item_deviation(lengths) == pytest.approx(less / deviations / sensitivity, rel=1e-3)
        saved = exact.loss.gaussian.rho - told.items.measurement.loss.gaussian.rho
        assert told._after_items == items._after_items + saved
        assert told == replace(items, support=less + 30, items=told.items)
    least = items.given_support(1000 * told_by, 30.0, lengths).items.measurement
    assert least.loss.gaussian.rho <= items.budget / 20
    assert float(least.loss.gaussian.rho) == pytest.approx(float(items.budget) / 20, rel=1e-3)
    assert (least.full, least.sensitivity) == (exact.full, 1)


def test_the_chance_of_a_domain_is_that_of_the_noisy_supports_for_which_it_serves() -> None:
    mechanism = planned()
    domains = mechanism.ways_to_pick
    reach = 12 * math.isqrt(mechanism.variance)
    for _, support in mechanism._served(USUAL_LENGTHS):
        looks = np.arange(support - reach, support + reach + 1)
        mass = discrete_gaussian_mass(looks - support, mechanism.variance)
        ways = [mechanism.way(int(look)) for look in looks]
        chances = dict(mechanism._chances(CountProfile.of([support] * mechanism.top)))
        for domain in domains:
            expected = float(mass[[way == domain for way in ways]].sum())
            assert chances.get(domain, 0.0) == pytest.approx(expected, abs=1e-12)


def test_the_exact_law_is_that_of_the_ways_weighted_by_the_look() -> None:
    """What items first would answer counts as the empty list."""
    mechanism = planned()
    least = mechanism.ways_to_pick[0].margins[0].counts
    profile = CountProfile.of([least + 300, least + 40, least])
    law = mechanism.law(profile)
    assert math.fsum(law.values()) == pytest.approx(1)
    randomness = SeededRandomness(SEED)

    way_of = cache(mechanism.way)

    def draw() -> tuple[int, ...]:
        way = way_of(mechanism.look_at(profile, randomness))
        return () if isinstance(way, ItemsFirst) else way.select(profile, randomness)

    draws = [draw() for _ in range(5_000)]
    assert p_value(draws, law) > FALSE_ALARM
    wider = replace(mechanism, variance=2 * mechanism.variance)
    assert p_value(draws, wider.law(profile)) < FALSE_ALARM


def test_it_is_refused_where_nothing_can_be_tested() -> None:
    with pytest.raises(BudgetError, match="delta = 0"):
        calibrate(Request(top=3, epsilon=F(1), delta=F(0), sizes=(2,)))


def exact_delta(
    mechanism: LookFirst,
    groups: list[tuple[int, int, int]],
    epsilon: float,
    way_of: Callable[[int], Picks | ItemsFirst],
    *,
    look: float = 1.0,
    items: float = 1.0,
) -> float:
    """delta*(epsilon) if the noisy look is shown too, the larger of both directions.

    The certified domain has its exact law. For items first stands a pair of Gaussians that costs exactly its rho, and
    an outcome of probability f that the other side lacks.

    Args:
        mechanism: the mechanism.
        groups: count on either side, and how many itemsets have it.
        epsilon: epsilon.
        way_of: the way of each look, by what was released of the lengths before.
        look: the look's noise has this times the variance that is paid for.
        items: items first costs this times what is left for it.
    """
    variance = look * mechanism.variance
    sides = [[(group[side], group[2]) for group in groups] for side in (0, 1)]
    supports = [mechanism.support(profile_of(side).count) for side in sides]
    reach = int(12 * math.sqrt(variance)) + 1
    looks = np.arange(min(supports) - reach, max(supports) + reach + 1)
    chances = [discrete_gaussian_mass(looks - support, variance) for support in supports]
    ways = [way_of(int(look)) for look in looks]
    failure, apart = float(mechanism.items.test_delta or 0), math.sqrt(2 * items * float(mechanism.items.budget))
    found = []
    for here, there in ((0, 1), (1, 0)):
        total = 0.0
        for way in (*mechanism.ways_to_pick, mechanism.items):
            # What items first knows of the support changes nothing in what it costs.
            taken = np.array(
                [each is way or (isinstance(each, ItemsFirst) and way is mechanism.items) for each in ways]
            )
            p, q = chances[here][taken], chances[there][taken]
            if isinstance(way, ItemsFirst):
                p, q = p[(p > 0) & (q > 0)], q[(p > 0) & (q > 0)]
                tipped = epsilon + np.log(q / p)
                apart_here = p * ndtr(apart / 2 - tipped / apart)
                total += float((apart_here - math.exp(epsilon) * q * ndtr(-apart / 2 - tipped / apart)).clip(0).sum())
                total += failure * float(p.sum())
                continue
            law, other = (law_of_picks(way, tuple(with_others(way, sides[side]))) for side in (here, there))
            for outcome, chance in law.items():
                total += float((chance * p - math.exp(epsilon) * other.get(outcome, 0.0) * q).clip(0).sum())
        found.append(total)
    return max(found)


@cache
def law_of_picks(way: Picks, groups: tuple[tuple[int, int], ...]) -> Law:
    """The same domains and counts come back at each epsilon and for each mistake."""
    return law_over_groups(way, groups, declared=isinstance(way, LiftedExponential))


def with_others(way: Picks, groups: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The groups, with all other itemsets if picks are from a list: nobody has these."""
    others = way.universe_size - sum(number for _, number in groups) if isinstance(way, LiftedExponential) else 0
    return [*groups, (0, others)] if others else groups


def profile_of(groups: list[tuple[int, int]]) -> CountProfile:
    return CountProfile.of(sorted((count for count, number in groups for _ in range(number) if count), reverse=True))


def neighbours_of(mechanism: LookFirst, lengths: Lengths) -> list[list[tuple[int, int, int]]]:
    """Around the supports at which the look and the tests tip, with ties, new itemsets and order that changes."""
    thresholds = [way.threshold for way in mechanism.ways_to_pick if isinstance(way, CertifiedDomain)]
    leads = {lead + near for lead in (least_of(mechanism, lengths), *thresholds) for near in (-1, 0, 3)}
    step = mechanism.sensitivity
    return [
        *([(lead, lead + step, 1)] for lead in leads),
        *([(lead, lead + step, 2), (5, 5, 3)] for lead in leads),
        *([(lead + 1, lead + 1, 1), (lead, lead + step, 1)] for lead in leads),
        [(0, step, 1)],
        [(0, step, 2), (1, 1, 1)],
    ]


@pytest.mark.parametrize("length", [2, 60])
@pytest.mark.parametrize(
    "request_",
    [
        Request(top=1, epsilon=F(1), delta=F(1, 10**6), sizes=(2,)),
        Request(top=1, epsilon=F(4), delta=F(1, 100), sizes=(2,)),
        Request(top=2, epsilon=F(2), delta=F(1, 10**3), sizes=(2,), sensitivity=2),
        replace(ASKED, top=1, epsilon=F(1), delta=F(1, 10**4), **LIST),
    ],
)
def test_the_claim_holds_exactly_with_the_look_shown_and_the_worst_items_first(request_: Request, length: int) -> None:
    mechanism, lengths = planned(request_), units_of(length)
    # So little noise in the look, or so dear a way, breaks the claim of the mechanism as it was planned.
    mistakes = ({}, {"look": 1 / 64}, {"items": 4.0})
    worst = [0.0] * 3
    way_of = cache(partial(mechanism.way, lengths=lengths))
    for epsilon in (0.25 * float(request_.epsilon), float(request_.epsilon)):
        claimed = claimed_delta(mechanism.losses, mechanism.failures, epsilon)
        for place, mistake in enumerate(mistakes):
            deltas = [
                exact_delta(mechanism, pair, epsilon, way_of, **mistake) for pair in neighbours_of(mechanism, lengths)
            ]
            worst[place] = max(worst[place], max(deltas) / claimed)
    assert worst[0] <= 1 + 1e-6
    assert min(worst[1:]) > 1
