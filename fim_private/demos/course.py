"""The lessons in the order of a course."""

from __future__ import annotations

from fim_private.demos.lessons import best_of, composition, differencing, epsilon, margin, unit, universe
from fim_private.demos.lessons.pac_learning import lesson as pac_learning

DEMOS = (
    differencing.DEMO,
    epsilon.DEMO,
    margin.DEMO,
    universe.DEMO,
    unit.DEMO,
    composition.DEMO,
    best_of.DEMO,
    pac_learning.DEMO,
)
