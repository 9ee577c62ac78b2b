"""Mistakes in certificates: in the certified domain, and where only the number of items is public."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import accumulate
from typing import Any

from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.twins.twin import (
    AGAIN,
    SENSITIVITY,
    TRUE_ORDER,
    Twin,
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
    def law(self, supports: Sequence[int]) -> dict[int, float]:
        return super().law([supports[0]] * len(supports))


class _NamesAll(Certificate):
    """What passes is the prefix. What is named is the whole list."""

    def law(self, supports: Sequence[int]) -> dict[int, float]:
        failed = super().law(supports)[0]
        return {0: failed, len(supports): 1 - failed}


class _CutByTrueCounts(Certificate):
    """The list is cut where the true supports end to be large, and passes."""

    def law(self, supports: Sequence[int]) -> dict[int, float]:
        smallest = list(accumulate(supports, min))
        large = (length for length in self.lengths(len(supports)) if smallest[length - 1] >= self.threshold)
        return {next(large, 0): 1.0}


def _changed(kind: type[Certificate]) -> Callable[[Any], Certificate]:
    """The mechanism's certificate with another law."""

    def changed(mechanism: Any) -> Certificate:
        certificate = mechanism.certificate
        return kind(**{field.name: getattr(certificate, field.name) for field in fields(Certificate)})

    return changed


def _cuts(mechanism: Any) -> bool:
    return mechanism.certificate.cut_epsilon is not None


def _twins(broken: Callable[[type[Certificate]], Callable[[Any], Any]]) -> tuple[Twin, ...]:
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
    *_twins(lambda kind: with_calculated(certificate=_changed(kind))),
    Twin(
        name="counts are tested, not supports",
        mistake="c_(l+1) is not taken off, so that itemsets at the end of the top l pass",
        broken=with_calculated(_supports=lambda _mechanism: lambda counts, _profile: list(counts)),
    ),
    SENSITIVITY,
    AGAIN,
    TRUE_ORDER,
)
ANONYMOUS_NAMES = (
    *_twins(lambda kind: with_parameters(certificate=_changed(kind))),
    Twin(
        name="names beyond the tested picks",
        mistake="the first picks pass the test, and the whole list is named",
        broken=with_parameters(certificate=_changed(_NamesAll)),
        needs=_cuts,
    ),
    Twin(
        name="list cut by true counts",
        mistake="the list ends where the exact counts fall below the threshold",
        broken=with_parameters(certificate=_changed(_CutByTrueCounts)),
        needs=_cuts,
    ),
    AGAIN,
    TRUE_ORDER,
)
"""The mistakes of the mechanism that picks are those of its own row."""
