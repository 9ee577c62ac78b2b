"""Mistakes in certificates, and in what comes before them: in the certified domain, and where names are not public."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.peeling import Level, peel_law
from fim_private.mechanisms.protocol import COUNTS, ITEMS, Law
from fim_private.mechanisms.twins.histograms import threshold_of_noise
from fim_private.mechanisms.twins.twin import (
    AGAIN,
    SENSITIVITY,
    TRUE_ORDER,
    Twin,
    as_kind,
    several,
    with_calculated,
    with_parameters,
)


class _WithoutNoise(Certificate):
    def passes(self, support: int) -> float:
        return float(support >= self.threshold)


class _WithoutTest(Certificate):
    def passes(self, _support: int) -> float:
        return 1.0


class _OfTheFirst(Certificate):
    def law(self, supports: Sequence[int], trust: Sequence[float] = ()) -> dict[int, float]:
        return super().law([supports[0]] * len(supports), trust)


class _NamesAll(Certificate):
    """What passes is the prefix. What is named is the whole list."""

    def law(self, supports: Sequence[int], trust: Sequence[float] = ()) -> dict[int, float]:
        failed = super().law(supports, trust)[0]
        return {0: failed, len(supports): 1 - failed}


class _CutByTrueCounts(Certificate):
    """The list is cut where the true supports end to be large, and passes."""

    def law(self, supports: Sequence[int], trust: Sequence[float] = ()) -> dict[int, float]:
        smallest = list(accumulate(supports, min))
        large = (length for length in self.lengths(len(supports), trust) if smallest[length - 1] >= self.threshold)
        return {next(large, 0): 1.0}


def with_kind(kind: type[Certificate]) -> Callable[[Any], Certificate]:
    """The mechanism's certificate with another law."""
    return lambda mechanism: as_kind(kind, mechanism.certificate)


def _cuts(mechanism: Any) -> bool:
    return mechanism.certificate.cut_epsilon is not None


def _has_spare(mechanism: Any) -> bool:
    return bool(mechanism.spare)


def _ending_at_an_itemset_without_a_name(mechanism: Any) -> Callable[[Sequence[Level]], Law]:
    return lambda levels: peel_law(levels, rates=mechanism.rates, open_universe=True)


def mistakes_in_tests(broken: Callable[[type[Certificate]], Callable[[Any], Any]]) -> tuple[Twin, ...]:
    """Mistakes in a test, by what makes the broken mechanism from a broken kind of certificate."""
    return (
        Twin(
            name="no noise in the test",
            mistake="the smallest support itself is compared with the threshold",
            broken=broken(_WithoutNoise),
        ),
        Twin(
            name="the first pick is tested",
            mistake="the support of the first pick stands for that of all",
            broken=broken(_OfTheFirst),
            needs=several,
        ),
        Twin(name="no test", mistake="the list is named whatever its support", broken=broken(_WithoutTest)),
    )


CERTIFIED_DOMAIN = (
    *mistakes_in_tests(lambda kind: with_calculated(certificate=with_kind(kind))),
    Twin(
        name="counts are tested, not supports",
        mistake="c_(l+1) is not taken off, so that itemsets at the end of the top l pass",
        broken=with_calculated(_supports=lambda _mechanism: lambda counts, _profile: list(counts)),
    ),
    Twin(
        name="picks end at an itemset without a name",
        mistake="the picks end where one falls on an itemset that does not occur, as those of limited-domain do",
        broken=with_calculated(_law_of_picks=_ending_at_an_itemset_without_a_name),
        needs=_has_spare,
    ),
    Twin(
        name="left out by true supports",
        mistake="the picks with the least support are left out, without noise",
        broken=with_calculated(rates_out=lambda mechanism: [1000 * rate for rate in mechanism.rates_out]),
        needs=_has_spare,
    ),
    SENSITIVITY,
    AGAIN,
    TRUE_ORDER,
)
ANONYMOUS_NAMES = (
    *mistakes_in_tests(lambda kind: with_parameters(certificate=with_kind(kind))),
    Twin(
        name="names beyond the tested picks",
        mistake="the first picks pass the test, and the whole list is named",
        broken=with_parameters(certificate=with_kind(_NamesAll)),
        needs=_cuts,
    ),
    Twin(
        name="list cut by true counts",
        mistake="the list ends where the exact counts fall below the threshold",
        broken=with_parameters(certificate=with_kind(_CutByTrueCounts)),
        needs=_cuts,
    ),
    AGAIN,
    TRUE_ORDER,
)
"""The mistakes of the mechanism that picks are those of its own row."""


def _with_whole_weights(measured: Measurement) -> Any:
    whole = property(lambda one: np.full(2_000_000, one.resolution))
    return as_kind(type("WholeWeights", (type(measured),), {"weights": whole}), measured)


def _with_less_noise(measured: Measurement, share: float = 1 / 2) -> Any:
    """It states the cost of noise that is wider by the inverse of this share."""
    kind = type(measured)

    def honest(one: Measurement) -> Measurement:
        return kind(**{**vars(one), "variance": round(one.variance / share**2)})

    stated = {"loss": property(lambda one: honest(one).loss), "cost": property(lambda one: honest(one).cost)}
    quiet = replace(measured, variance=math.ceil(measured.variance * share**2))
    return as_kind(type("LessNoise", (kind,), stated), quiet)


def _with_items(change: Callable[[Measurement], Measurement]) -> Callable[[ItemsFirst], ItemsFirst]:
    """items-first with another measurement of the items."""

    def broken(mechanism: ItemsFirst) -> ItemsFirst:
        return replace(mechanism, items=replace(mechanism.items, measurement=change(mechanism.items.measurement)))

    return broken


def _with_other(method: str, change: Callable[[Any], Any]) -> Callable[[ItemsFirst], ItemsFirst]:
    """items-first in which this method gives something else than what is paid for."""
    honest = getattr(ItemsFirst, method)
    kind = type(f"Other_{method}", (ItemsFirst,), {method: lambda self, *given: change(honest(self, *given))})
    return partial(as_kind, kind)


def _with_test(kind: type[Certificate]) -> Callable[[ItemsFirst], ItemsFirst]:
    """items-first with a broken test of its items."""

    def change(steps: LaterSteps) -> LaterSteps:
        return replace(steps, certificate=steps.certificate and as_kind(kind, steps.certificate))

    return _with_other("later", change)


def _counted_again_for_little(steps: LaterSteps) -> LaterSteps:
    again = steps.again
    return replace(steps, again=again and replace(again, variance=math.ceil(again.variance / 100)))


def _lacking_for_little(steps: LaterSteps) -> LaterSteps:
    return replace(steps, lacking=steps.lacking and 100 * steps.lacking)


class _MoreExactInDoubt(ItemsFirst):
    def recount(self, cost: float, share: float) -> Measurement:
        return super().recount(100 * cost, share)


def _quiet(named: ItemsFirst | None) -> ItemsFirst | None:
    return named and _with_items(_with_less_noise)(named)


def _named_by_noise(named: ItemsFirst | None) -> ItemsFirst | None:
    return named and replace(named, items=threshold_of_noise(named.items))


def has_test(mechanism: Any) -> bool:
    """Whether it has a test. Picks from a public list need none."""
    return mechanism.test_delta is not None


def _counts_again(mechanism: ItemsFirst) -> bool:
    return mechanism.select == COUNTS and bool(mechanism.usual.in_doubt)


def _has_likely_losses(mechanism: ItemsFirst) -> bool:
    """Laplace noise in many counts hardly ever loses most in all at once, and only then do all of them lose epsilon."""
    return not mechanism.noise.look.linear or mechanism.select != COUNTS


def _names_items(mechanism: ItemsFirst) -> bool:
    return mechanism.usual_way is not mechanism


ITEMS_FIRST = (
    Twin(
        name="no bound on what a unit adds",
        mistake="every item of a long transaction counts 1",
        broken=_with_items(_with_whole_weights),
    ),
    Twin(
        name="half the noise",
        mistake="the noisy counts of items have half the standard deviation",
        broken=_with_items(_with_less_noise),
        needs=_has_likely_losses,
    ),
    Twin(
        name="a tenth of the noise",
        mistake="the noisy counts of items have a tenth of the standard deviation",
        broken=_with_items(partial(_with_less_noise, share=1 / 10)),
        needs=lambda mechanism: not _has_likely_losses(mechanism),
    ),
    Twin(
        name="items are counted again for a hundredth of the price",
        mistake="the second counts of items have a tenth of the standard deviation that is paid for",
        broken=_with_other("later", _counted_again_for_little),
        needs=has_test,
    ),
    Twin(
        name="itemsets in doubt are counted for a hundredth of the price",
        mistake="their further counts have a tenth of the standard deviation that is paid for",
        broken=partial(as_kind, _MoreExactInDoubt),
        needs=_counts_again,
    ),
    Twin(
        name="who lacks items is counted for a hundredth of the price",
        mistake="in dense data, these counts have a tenth of the standard deviation that is paid for",
        broken=_with_other("later", _lacking_for_little),
        needs=lambda mechanism: ITEMS in mechanism.selections,
    ),
    Twin(
        name="no noise in the test",
        mistake="the smallest support itself is compared with the threshold",
        broken=_with_test(_WithoutNoise),
        needs=has_test,
    ),
    Twin(
        name="no test",
        mistake="itemsets are named whatever their support",
        broken=_with_test(_WithoutTest),
        needs=has_test,
    ),
    Twin(
        name="items named by noise alone",
        mistake="the threshold above which items are named leaves out what a unit adds",
        broken=_with_other("naming", _named_by_noise),
        needs=_names_items,
    ),
    Twin(
        name="half the noise where items are named",
        mistake="the counts that name items have half the standard deviation",
        broken=_with_other("naming", _quiet),
        needs=_names_items,
    ),
)
