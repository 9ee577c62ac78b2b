"""Mistakes in the three large margin mechanisms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.peeling import mix, peel_law
from fim_private.mechanisms.protocol import Law
from fim_private.mechanisms.twins.twin import (
    AGAIN,
    TRUE_ORDER,
    Twin,
    as_kind,
    several,
    with_calculated,
    with_law,
    with_parameters,
)
from fim_private.profile import CountProfile


def _searching(tests: tuple[tuple[int, int], ...], mechanism: LargeMargin) -> LargeMargin:
    """The mechanism with these tests instead of those its parameters give."""
    searching: LargeMargin = as_kind(type("Searching", (LargeMargin,), {"tests": tests}), mechanism)
    return searching


def _doubled_after_the_search(mechanism: LargeMargin, profile: CountProfile) -> Law:
    twice = 2 * mechanism.pick_epsilon
    fallback = mechanism.fallback and replace(mechanism.fallback, pick_epsilon=twice)
    return _searching(mechanism.tests, replace(mechanism, pick_epsilon=twice, fallback=fallback)).law(profile)


def _ends_with_the_itemsets(mechanism: LargeMargin, profile: CountProfile) -> Law:
    law = _searching(mechanism.tests, replace(mechanism, fallback=None)).law(profile)
    everything = peel_law(profile.top(profile.occurring), rates=(mechanism.rate,) * mechanism.top, open_universe=False)
    return mix((1.0, {levels: chance for levels, chance in law.items() if levels}), (law.get((), 0.0), everything))


def _gap_below_the_first(mechanism: LargeMargin, profile: CountProfile) -> Law:
    raised = profile.count(1) - profile.count(mechanism.top)
    lowered = tuple((size, threshold - raised) for size, threshold in mechanism.tests)
    return _searching(lowered, mechanism).law(profile)


def _first_threshold_for_all(mechanism: LargeMargin) -> tuple[tuple[int, int], ...]:
    return tuple((size, mechanism.tests[0][1]) for size, _ in mechanism.tests)


ONE_SEARCH = (
    Twin(
        name="exponent doubled after the search",
        mistake="picks by e^(2 eps c), a factor 2 from the general to the monotone form applied twice",
        broken=with_law(_doubled_after_the_search),
    ),
    Twin(
        name="search ended at L",
        mistake="the search ends where the occurring itemsets do, and picks from all of them",
        broken=with_law(_ends_with_the_itemsets),
    ),
    Twin(
        name="gap of the wrong rank",
        mistake="c_(1) - c_(l+1) is tested instead of c_(k) - c_(l+1)",
        broken=with_law(_gap_below_the_first),
        needs=several,
    ),
    Twin(
        name="one threshold for all l",
        mistake="the slack forgets how many itemsets are picked from",
        broken=with_calculated(tests=_first_threshold_for_all),
        # With more picks Renyi composition leaves so much room that this mistake hides in it: see test_laws.py.
        needs=lambda mechanism: mechanism.top == 1,
    ),
    AGAIN,
    TRUE_ORDER,
)
REPEATED = (
    Twin(
        name="certificate without its delta",
        mistake="thresholds calculated for a certificate that may fail half the time",
        broken=with_parameters(certificate_delta=lambda _mechanism: Fraction(1, 2)),
    ),
    AGAIN,
    TRUE_ORDER,
)
PUBLISHED = (
    Twin(
        name="published search without T",
        mistake="the noisy maximum is compared with the noisy count alone",
        broken=with_calculated(threshold=lambda _mechanism: lambda _size: 0),
    ),
    AGAIN,
    TRUE_ORDER,
)
