"""The lessons in the order of a course."""

from __future__ import annotations

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
