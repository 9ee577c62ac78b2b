"""Broken twins: each mechanism once more, with a mistake that somebody could make. The same check has to catch it.

A twin keeps its mechanism's parameters, and so its claim; only its law differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, cast

from fim_private.mechanisms.choosing import Choosing
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.lmm_repeat import RepeatedLargeMargin
from fim_private.mechanisms.noisy_maxima import NoisyMaxima
from fim_private.mechanisms.peeling import mix, peel_law
from fim_private.mechanisms.protocol import Law, Mechanism
from fim_private.mechanisms.stable_max import StableMax
from fim_private.privacy import NeighbouringRelation
from fim_private.profile import CountProfile

BrokenLaw = Callable[[Any, CountProfile], Law]


@dataclass(frozen=True, kw_only=True)
class Twin:
    """A mistake.

    Args:
        name: short, for tables.
        mistake: what somebody did, in words.
        of: the kinds of mechanism it can be made in.
        law: the law with the mistake, of the honest mechanism on a profile.
        needs: what else has to hold for it to be a mistake.
        relation: under which neighbouring relation it is one; None for both.
    """

    name: str
    mistake: str
    of: tuple[type, ...]
    law: BrokenLaw
    needs: Callable[[Any], bool] = lambda _mechanism: True
    relation: NeighbouringRelation | None = None

    def fits(self, mechanism: Mechanism, relation: NeighbouringRelation) -> bool:
        """Whether this mistake can be made in the mechanism."""
        return isinstance(mechanism, self.of) and self.needs(mechanism) and self.relation in {None, relation}

    def of_mechanism(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism with the mistake."""
        return cast(Mechanism, _Broken(mechanism, self.law))


class _Broken:
    """The honest mechanism with another law."""

    def __init__(self, honest: Mechanism, law: BrokenLaw) -> None:
        self._honest, self._law = honest, law

    def law(self, profile: CountProfile) -> Law:
        return self._law(self._honest, profile)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._honest, name)


OPEN = (LargeMargin, RepeatedLargeMargin, PublishedLargeMargin, LimitedDomain, StableMax, Choosing)
DECLARED = (Exponential, NoisyMaxima)


def _again_until_named(mechanism: Any, profile: CountProfile) -> Law:
    law: Law = mechanism.law(profile)
    named = 1 - law.get((), 0.0)
    return {levels: chance / named for levels, chance in law.items() if levels} if named > 0 else law


def _what_occurs(mechanism: Any, profile: CountProfile) -> Law:
    law: Law = mechanism.law(replace_zeros(profile, 0))
    return law


def _in_true_order(mechanism: Any, profile: CountProfile) -> Law:
    law: Law = {}
    for levels, chance in mechanism.law(profile).items():
        ordered = tuple(sorted(levels))
        law[ordered] = law.get(ordered, 0.0) + chance
    return law


def _with(**changes: Callable[[Any], Any]) -> BrokenLaw:
    """Other parameters; what was calculated from the former ones (thresholds) is calculated anew."""

    @cache
    def changed(mechanism: Any) -> Any:
        return replace(mechanism, **{name: change(mechanism) for name, change in changes.items()})

    return lambda mechanism, profile: changed(mechanism).law(profile)


def _calculated(**changes: Callable[[Any], Any]) -> BrokenLaw:
    """The same parameters, but other values where the mechanism calculates one from them, such as its thresholds."""

    @cache
    def changed(mechanism: Any) -> Any:
        values = {name: property(_constantly(change(mechanism))) for name, change in changes.items()}
        kind = type(mechanism)
        broken = type(kind.__name__, (kind,), values)
        return broken(**{name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__})

    return lambda mechanism, profile: changed(mechanism).law(profile)


def _constantly(value: Any) -> Callable[[Any], Any]:
    return lambda _self: value


def _searching(tests: tuple[tuple[int, int], ...], mechanism: LargeMargin) -> LargeMargin:
    """The mechanism with these tests, whatever its parameters say."""

    class Searching(LargeMargin):
        pass

    Searching.tests = tests  # type: ignore[assignment]
    return Searching(**{name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__})


def _doubled_after_the_search(mechanism: LargeMargin, profile: CountProfile) -> Law:
    twice = 2 * mechanism.pick_epsilon
    fallback = mechanism.fallback and replace(mechanism.fallback, pick_epsilon=twice)
    return _searching(mechanism.tests, replace(mechanism, pick_epsilon=twice, fallback=fallback)).law(profile)


def _ends_with_the_itemsets(mechanism: LargeMargin, profile: CountProfile) -> Law:
    law = _searching(mechanism.tests, replace(mechanism, fallback=None)).law(profile)
    everything = peel_law(profile.top(profile.occurring), picks=mechanism.top, rate=mechanism.rate, open_universe=False)
    return mix((1.0, {levels: chance for levels, chance in law.items() if levels}), (law.get((), 0.0), everything))


def _gap_below_the_first(mechanism: LargeMargin, profile: CountProfile) -> Law:
    raised = profile.count(1) - profile.count(mechanism.top)
    lowered = tuple((size, threshold - raised) for size, threshold in mechanism.tests)
    return _searching(lowered, mechanism).law(profile)


def _first_threshold_for_all(mechanism: LargeMargin) -> tuple[tuple[int, int], ...]:
    return tuple((size, mechanism.tests[0][1]) for size, _ in mechanism.tests)


def _stop_taken_from_the_data(mechanism: LimitedDomain, profile: CountProfile) -> Law:
    seen = replace(mechanism, candidates=max(mechanism.top, profile.occurring))
    return seen.law(profile)


def _same_uniform(mechanism: Exponential, profile: CountProfile) -> Law:
    """One uniform number decides all picks: each list has an interval of it."""
    levels = profile.top(mechanism.universe_size)
    law: Law = {}

    def pick(picked: tuple[int, ...], left: list[int], low: float, high: float) -> None:
        if len(picked) == mechanism.top or not any(left):
            law[picked] = law.get(picked, 0.0) + high - low
            return
        best = max(count for (count, _), number in zip(levels, left, strict=True) if number)
        weights = [
            number * math.exp(-float(mechanism.rate) * (best - count)) if number else 0.0
            for (count, _), number in zip(levels, left, strict=True)
        ]
        end = 0.0
        for place, weight in enumerate(weights):
            begin, end = end, end + weight / sum(weights)
            if weight and max(low, begin) < min(high, end):
                fewer = [number - (at == place) for at, number in enumerate(left)]
                pick((*picked, place), fewer, max(low, begin), min(high, end))

    pick((), [number for _, number in levels], 0.0, 1.0)
    return law


def replace_zeros(profile: CountProfile, zeros: int) -> CountProfile:
    """The profile with another number of itemsets that do not occur."""
    return CountProfile(levels=profile.levels, multiplicities=profile.multiplicities, zeros=zeros)


def _several(mechanism: Any) -> bool:
    return bool(mechanism.top > 1)


TWINS = (
    Twin(
        name="drawn again until something is named",
        mistake="an empty answer is thrown away and the noise drawn anew",
        of=OPEN,
        law=_again_until_named,
    ),
    Twin(
        name="universe taken from the data",
        mistake="the declared universe is replaced by the itemsets that occur",
        of=DECLARED,
        law=_what_occurs,
    ),
    Twin(
        name="list in the order of the true counts",
        mistake="the picks are sorted by their exact counts before they are printed",
        of=(*OPEN, *DECLARED),
        law=_in_true_order,
        # Stable max names them in that order anyhow, and only where each leads the next by enough.
        needs=lambda mechanism: mechanism.top > 1 and not isinstance(mechanism, StableMax),
    ),
    Twin(
        name="exponent doubled after the search",
        mistake="picks by e^(2 eps c), a factor 2 from the general to the monotone form applied twice",
        of=(LargeMargin,),
        law=_doubled_after_the_search,
    ),
    Twin(
        name="search ended at L",
        mistake="the search ends where the occurring itemsets do, and picks from all of them",
        of=(LargeMargin,),
        law=_ends_with_the_itemsets,
    ),
    Twin(
        name="gap of the wrong rank",
        mistake="c_(1) - c_(l+1) is tested instead of c_(k) - c_(l+1)",
        of=(LargeMargin,),
        law=_gap_below_the_first,
        needs=_several,
    ),
    Twin(
        name="one threshold for all l",
        mistake="the slack forgets how many itemsets are picked from",
        of=(LargeMargin,),
        law=_calculated(tests=_first_threshold_for_all),
        # With more picks Renyi composition leaves so much room that this mistake hides in it: see test_laws.py.
        needs=lambda mechanism: mechanism.top == 1,
    ),
    Twin(
        name="certificate without its delta",
        mistake="thresholds calculated for a certificate that may fail half the time",
        of=(RepeatedLargeMargin,),
        law=_with(certificate_delta=lambda _mechanism: Fraction(1, 2)),
    ),
    Twin(
        name="published search without T",
        mistake="the noisy maximum is compared with the noisy count alone",
        of=(PublishedLargeMargin,),
        law=_calculated(threshold=lambda _mechanism: lambda _size: 0),
    ),
    Twin(
        name="stop symbol half as far",
        mistake="the stop symbol's lead is halved",
        of=(LimitedDomain,),
        law=_calculated(stop_lead=lambda mechanism: mechanism.stop_lead / 2),
    ),
    Twin(
        name="cap taken from the data",
        mistake="kbar is the number of itemsets that occur instead of a public number",
        of=(LimitedDomain,),
        law=_stop_taken_from_the_data,
    ),
    Twin(
        name="exponent doubled",
        mistake="picks by e^(2 eps c)",
        of=(Exponential, LimitedDomain),
        law=_with(pick_epsilon=lambda mechanism: 2 * mechanism.pick_epsilon),
        needs=lambda mechanism: not getattr(mechanism, "general", False),
    ),
    Twin(
        name="monotone exponent under replace",
        mistake="the exponent of counts that all move one way, where units are exchanged",
        of=(Exponential,),
        law=_with(general=lambda _mechanism: False),
        needs=lambda mechanism: mechanism.general,
        relation=NeighbouringRelation.REPLACE,
    ),
    Twin(
        name="sensitivity forgotten",
        mistake="noise for one transaction, where a unit has several",
        of=(Exponential, NoisyMaxima, LimitedDomain, StableMax),
        law=_with(sensitivity=lambda _mechanism: 1),
        # The textbooks' factor of 2 pays for it.
        needs=lambda mechanism: mechanism.sensitivity > 1 and not getattr(mechanism, "general", False),
    ),
    Twin(
        name="noise used again in the next pick",
        mistake="one uniform number for all picks instead of a fresh one for each",
        of=(Exponential,),
        law=_same_uniform,
        needs=_several,
    ),
    Twin(
        name="half the noise",
        mistake="noise of scale Delta/(2 eps)",
        of=(NoisyMaxima,),
        law=_with(pick_epsilon=lambda mechanism: 2 * mechanism.pick_epsilon),
        needs=lambda mechanism: not mechanism.general,
    ),
    Twin(
        name="monotone noise under replace",
        mistake="the noise of counts that all move one way, where units are exchanged",
        of=(NoisyMaxima,),
        law=_with(general=lambda _mechanism: False),
        needs=lambda mechanism: mechanism.general,
        relation=NeighbouringRelation.REPLACE,
    ),
    Twin(
        name="gap to the third",
        mistake="c_(1) - c_(3) is compared, so that the first two may stand level",
        of=(StableMax,),
        law=_calculated(_gap=lambda _mechanism: lambda profile: profile.count(1) - profile.count(3)),
    ),
    Twin(
        name="one new itemset",
        mistake="the threshold is calculated as if a unit could add one itemset only",
        of=(Choosing,),
        law=_with(most_new=lambda _mechanism: 1),
    ),
    Twin(
        name="threshold of 1",
        mistake="one occurrence is taken for enough",
        of=(Choosing,),
        law=_calculated(threshold=lambda _mechanism: 1),
    ),
)
"""Mistakes that show in the exact law."""


def twins_of(mechanism: Mechanism, relation: NeighbouringRelation) -> tuple[Twin, ...]:
    """The mistakes that can be made in a mechanism, the specific ones first."""
    found = [twin for twin in TWINS if twin.fits(mechanism, relation)]
    return tuple(sorted(found, key=lambda twin: len(twin.of)))


NAMED_TESTS = (
    (
        "half the noise in the margin search, or none on its threshold",
        "tests/mechanisms/test_sparse_vector.py::test_too_little_noise_is_caught",
    ),
    (
        "slack without the factor k, or a threshold one too low",
        "tests/mechanisms/test_laws.py::test_a_threshold_is_the_least_that_bounds_the_slack",
    ),
    (
        "items first: a threshold for one item of a unit, or one that forgets the item's own count",
        "tests/mechanisms/test_items_first.py::test_broken_twins_fail_the_same_check",
    ),
    (
        "a plan for add-remove used where units are exchanged",
        "tests/mechanisms/test_privacy.py::test_replace_needs_its_own_calibration",
    ),
    (
        "noise released with a pick that tells more than the pick",
        "tests/randomness/test_noisy_maximum.py::test_the_gap_costs_nothing",
    ),
    (
        "random words used for two draws",
        "tests/randomness/test_gaussian_vector.py::test_the_same_words_give_the_same_draws_however_they_arrive",
    ),
    (
        "a ledger charged after the noise was drawn",
        "tests/mining/test_mine.py::test_no_noise_is_drawn_before_the_charge",
    ),
    (
        "a ledger that caps failures of both kinds by one sum along each path, though each has a law of its own",
        "tests/accounting/test_filter.py::"
        "test_an_analyst_who_chooses_between_two_kinds_of_failures_gets_no_more_than_the_budget",
    ),
    (
        "a release that a ledger does not know of, where a process ends at a bad moment",
        "tests/ledger/test_store.py::test_a_process_killed_at_any_moment_has_charged_what_it_released",
    ),
    (
        "exact counts read outside the door",
        "tests/test_architecture.py::test_exact_counts_leave_through_the_door_only",
    ),
)
"""Mistakes that a law at planned parameters hides, or that are none of a law's, and the test that fails."""
