"""A broken twin: a copy of a mechanism with a mistake that somebody could make. The audit has to catch it.

A twin keeps its mechanism's parameters, and so its claim. Only what it does differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from fim_private.mechanisms.protocol import Law, Mechanism
from fim_private.privacy import NeighbouringRelation
from fim_private.profile import CountProfile

BrokenLaw = Callable[[Any, CountProfile], Law]


@dataclass(frozen=True, kw_only=True)
class Twin:
    """A mistake in a mechanism.

    Args:
        name: short, for tables.
        mistake: what somebody did, in words.
        broken: makes the mechanism with the mistake from the honest one.
        needs: whether it is a mistake for the mechanism with these parameters.
        relation: the neighbouring relation under which it is a mistake; None for both.
    """

    name: str
    mistake: str
    broken: Callable[[Any], Any]
    needs: Callable[[Any], bool] = lambda _mechanism: True
    relation: NeighbouringRelation | None = None

    def fits(self, mechanism: object, relation: NeighbouringRelation) -> bool:
        """Whether this mistake can be made in the mechanism with these parameters."""
        return self.needs(mechanism) and self.relation in {None, relation}


class _Broken:
    """The honest mechanism with another law."""

    def __init__(self, honest: Mechanism, law: BrokenLaw) -> None:
        self._honest, self._law = honest, law

    def law(self, profile: CountProfile) -> Law:
        return self._law(self._honest, profile)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._honest, name)


def with_law(law: BrokenLaw) -> Callable[[Mechanism], _Broken]:
    """A twin with another law, which is computed from the honest mechanism and a profile."""
    return lambda mechanism: _Broken(mechanism, law)


def with_parameters(**changes: Callable[[Any], Any]) -> Callable[[Mechanism], _Broken]:
    """A twin with other parameters. Values that are calculated from parameters, such as thresholds, follow."""

    @cache
    def changed(mechanism: Any) -> Any:
        return replace(mechanism, **{name: change(mechanism) for name, change in changes.items()})

    return with_law(lambda mechanism, profile: changed(mechanism).law(profile))


def with_calculated(**changes: Callable[[Any], Any]) -> Callable[[Mechanism], _Broken]:
    """A twin with the same parameters, but other values for what is calculated from them, such as thresholds."""

    @cache
    def changed(mechanism: Any) -> Any:
        values = {name: property(_constantly(change(mechanism))) for name, change in changes.items()}
        kind = type(mechanism)
        return as_kind(type(kind.__name__, (kind,), values), mechanism)

    return with_law(lambda mechanism, profile: changed(mechanism).law(profile))


def as_kind(kind: type[Any], honest: Any) -> Any:
    """A value of this broken kind, with the parameters of the honest value."""
    return kind(**{name: getattr(honest, name) for name in honest.__dataclass_fields__})


def _constantly(value: Any) -> Callable[[Any], Any]:
    return lambda _self: value


def several(mechanism: Any) -> bool:
    """Whether it picks more than one itemset."""
    return bool(mechanism.top > 1)


def _again_until_named(mechanism: Any, profile: CountProfile) -> Law:
    law: Law = mechanism.law(profile)
    named = 1 - law.get((), 0.0)
    return {levels: chance / named for levels, chance in law.items() if levels} if named > 0 else law


def _in_true_order(mechanism: Any, profile: CountProfile) -> Law:
    law: Law = {}
    for levels, chance in mechanism.law(profile).items():
        ordered = tuple(sorted(levels))
        law[ordered] = law.get(ordered, 0.0) + chance
    return law


AGAIN = Twin(
    name="drawn again until something is named",
    mistake="an empty answer is thrown away and the noise drawn anew",
    broken=with_law(_again_until_named),
)
"""Of mechanisms that may name nothing."""
TRUE_ORDER = Twin(
    name="list in the order of the true counts",
    mistake="the picks are sorted by their exact counts before they are printed",
    broken=with_law(_in_true_order),
    needs=several,
)
SENSITIVITY = Twin(
    name="sensitivity forgotten",
    mistake="noise for one transaction, where a unit has several",
    broken=with_parameters(sensitivity=lambda _mechanism: 1),
    # The textbooks' factor of 2 pays for it.
    needs=lambda mechanism: mechanism.sensitivity > 1 and not getattr(mechanism, "general", False),
)
