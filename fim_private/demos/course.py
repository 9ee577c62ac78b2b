"""The lessons in the order of a course."""

from __future__ import annotations

from fim_private.demos.demo import Demo
from fim_private.demos.lessons import (
    best_of,
    certificate,
    composition,
    differencing,
    epsilon,
    margin,
    rules,
    unit,
    universe,
)
from fim_private.demos.lessons.pac_learning import lesson as pac_learning
from fim_private.demos.lessons.pac_learning import promises
from fim_private.errors import UsageError, did_you_mean

DEMOS = (
    differencing.DEMO,
    epsilon.DEMO,
    unit.DEMO,
    universe.DEMO,
    margin.DEMO,
    certificate.DEMO,
    composition.DEMO,
    best_of.DEMO,
    rules.DEMO,
    pac_learning.DEMO,
    promises.DEMO,
)


def find_demo(name: str) -> Demo:
    """The lesson of this name.

    Raises:
        UsageError: there is no such lesson. The message suggests similar names.
    """
    by_name = {demo.name: demo for demo in DEMOS}
    if name in by_name:
        return by_name[name]
    hint = did_you_mean(name, by_name).rstrip() or "See the names with: fim-private demo list"
    raise UsageError(f"There is no lesson {name!r}.", hint)
