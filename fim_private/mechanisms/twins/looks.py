"""Mistakes in the look that decides between two ways, and in the test of the picks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.peeling import Level
from fim_private.mechanisms.twins.certificates import has_test, mistakes_in_tests, with_kind
from fim_private.mechanisms.twins.twin import AGAIN, TRUE_ORDER, Twin, as_kind, with_calculated
from fim_private.profile import CountProfile


def _by_the_true_support(mechanism: Any) -> Callable[[CountProfile], Iterable[tuple[Any, float]]]:
    def chances(profile: CountProfile) -> Iterable[tuple[Any, float]]:
        way = mechanism.way(mechanism.support(profile.count))
        return () if isinstance(way, ItemsFirst) else ((way, 1.0),)

    return chances


def _of_a_test(twin: Twin) -> Twin:
    """The mistake, which only tests can have."""
    return replace(twin, needs=lambda mechanism: has_test(mechanism) and twin.needs(mechanism))


class _FromWhatOccurs(LiftedExponential):
    def _levels(self, profile: CountProfile) -> Sequence[Level]:
        return super()._levels(replace(profile, zeros=0))


def _with_tests(kind: type[Certificate]) -> Callable[[Any], Any]:
    broken = with_calculated(certificate=with_kind(kind))
    return with_calculated(_domains=lambda mechanism: tuple(map(broken, mechanism._domains)))


LOOK_FIRST = (
    Twin(
        name="no noise in the look",
        mistake="the true support of the k-th itemset decides between the ways",
        broken=with_calculated(_chances=_by_the_true_support),
        # Short public lists are picked whatever the look shows.
        needs=lambda mechanism: isinstance(mechanism.way(0), ItemsFirst),
    ),
    *map(_of_a_test, (*mistakes_in_tests(_with_tests), AGAIN)),
    Twin(
        name="picked from what occurs",
        mistake="itemsets of the public list that nobody has are left out",
        broken=with_calculated(_from_list=lambda mechanism: as_kind(_FromWhatOccurs, mechanism._from_list)),
        needs=lambda mechanism: not has_test(mechanism),
    ),
    TRUE_ORDER,
)
