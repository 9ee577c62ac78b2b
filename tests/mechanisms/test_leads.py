"""With the stated lead, the whole list is named in 19 of 20 runs: exactly for short lists, by simulation for long ones.

All itemsets of the list have exactly this lead, and all others are level.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import cycle, islice

import pytest
from scipy.stats import binom

from fim_private import Budget, PrivacyUnit, transactions_from_lists
from fim_private.counting import as_database
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.lmm_repeat import RepeatedLargeMargin
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.protocol import Margin, Mechanism
from fim_private.mechanisms.registry import REGISTRY
from fim_private.mechanisms.stable_max import StableMax
from fim_private.mining import stepwise
from fim_private.plan import Plan, Universe
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness, SeededRandomness
from tests.asking import planned
from tests.mechanisms.cases import needs
from tests.sampling import FALSE_ALARM, SEED

ITEMS, BULK = 300, 50
WHOLE = 0.95
CASES = [
    (name, top, epsilon, sensitivity, listed)
    for name in sorted(set(REGISTRY) - {"items-first", "weighted-gaussian"})
    for top, epsilon, sensitivity in ((1, "1", 1), (2, "1/10", 1), (3, "1/2", 2), (7, "2", 1))
    for listed in (True, False)
    # A list changes nothing for the others, and the laws of two take long.
    if (REGISTRY[name].needs_universe or name == "look-first" or not listed)
    and (name not in {"lmm-repeat", "lmm-paper"} or sensitivity == 2)
]


def plan_of(name: str, top: int, epsilon: str = "1", sensitivity: int = 1, *, listed: bool) -> Plan:
    unit = PrivacyUnit() if sensitivity == 1 else PrivacyUnit(column="customer", max_transactions=sensitivity)
    options = needs(name, ITEMS, listed=listed)
    if listed:
        options["universe"] = Universe(items=ITEMS, listed=True)
    return planned(mechanism=name, top=top, budget=Budget(epsilon, "1e-6"), unit=unit, **options)


def profile_with(margin: Margin, mechanism: Mechanism, *, declared: bool) -> CountProfile:
    """The list, and after it the bulk: level and long if the lead is over a place, else it does not occur."""
    in_rounds = isinstance(mechanism, StableMax | RepeatedLargeMargin | PublishedLargeMargin)
    steps = range(mechanism.top, 0, -1) if in_rounds else [1] * mechanism.top
    leads = [margin.counts * step for step in steps]
    if margin.place is None:
        return CountProfile.of(leads, zeros=math.comb(ITEMS, 2) - mechanism.top if declared else None)
    return CountProfile.of([*(BULK + lead for lead in leads), *[BULK] * (margin.place + 1)])


def whole(named: tuple[int, ...], profile: CountProfile, top: int) -> bool:
    """Whether a list of levels is the first k itemsets, in any order."""
    first = (level for level, number in enumerate(profile.multiplicities) for _ in range(number))
    return sorted(named) == list(islice(first, top))


def select(mechanism: Mechanism | LookFirst, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
    """What is picked. What items first answers does not count."""
    way = mechanism.way(mechanism.look_at(profile, randomness)) if isinstance(mechanism, LookFirst) else mechanism
    return () if isinstance(way, ItemsFirst) else way.select(profile, randomness)


@pytest.mark.parametrize(("name", "top", "epsilon", "sensitivity", "listed"), CASES)
def test_a_short_list_is_whole_at_the_stated_lead(
    name: str, top: int, epsilon: str, sensitivity: int, listed: bool
) -> None:
    search = plan_of(name, top, epsilon, sensitivity, listed=listed).search
    ways = [search, search.fallback] if isinstance(search, LargeMargin) and search.fallback else [search]
    for way in ways:
        # The law of look-first counts what items first answers as nothing.
        for margin in way.margins[:1] if isinstance(way, LookFirst) else way.margins:
            profile = profile_with(margin, way, declared=listed or REGISTRY[name].needs_universe)
            law = way.law(profile)
            assert math.fsum(chance for named, chance in law.items() if whole(named, profile, top)) >= WHOLE


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "limited-domain",
        "truncated-frequency",
        "exponential",
        "stable-max",
        "choosing",
        "certified-domain",
        "look-first",
    ],
)
def test_a_long_list_is_whole_at_the_stated_lead_and_not_at_two_thirds_of_it(name: str) -> None:
    top, runs, listed = 50, 300, REGISTRY[name].needs_universe
    mechanism, randomness = plan_of(name, top, listed=listed).search, SeededRandomness(SEED)
    margin = mechanism.margins[0]
    right = [0, 0]
    for place, counts in enumerate((margin.counts, margin.counts * 2 // 3)):
        profile = profile_with(replace(margin, counts=counts), mechanism, declared=listed)
        right[place] = sum(set(select(mechanism, profile, randomness)) == set(range(top)) for _ in range(runs))
    enough, less = binom.cdf(right, runs, WHOLE)
    assert less < FALSE_ALARM < enough


@pytest.mark.slow
@pytest.mark.parametrize(("size", "top"), [(1, 10), (2, 10), (2, 1)])
def test_items_first_names_the_whole_list_at_the_stated_lead(size: int, top: int) -> None:
    """Few items make up the answer, units hold ten, and those that are not asked for are rare."""
    runs, names = 60, 20_000
    plan = planned(mechanism="items-first", size=size, top=top, universe=Universe(items=names, listed=False))
    (margin,) = plan.mechanism.margins
    asked = [(item,) for item in range(top)] if size == 1 else [(1, 2), (1, 3), (2, 3), (1, 4), (2, 4), (3, 4)]
    asked = asked if size == 1 else [*asked, (1, 5), (2, 5), (3, 5), (4, 5)][:top]
    others = cycle(range(100, names))
    baskets = [[*itemset, *islice(others, 10 - size)] for itemset in asked for _ in range(margin.counts)]
    database = as_database(transactions_from_lists(baskets))
    codes = {name: code for code, name in enumerate(database.vocabulary)}
    expected = {frozenset(codes[str(item)] for item in itemset) for itemset in asked}
    randomness, right = SeededRandomness(SEED), 0
    for _ in range(runs):
        found = stepwise.run(database, plan.search, randomness).itemsets
        right += {frozenset(itemset) for itemset in found.tolist()} == expected
    assert binom.cdf(right, runs, WHOLE) > FALSE_ALARM
