"""Mistakes in the mechanisms that name what stands above a threshold."""

from __future__ import annotations

from fim_private.mechanisms.twins.twin import (
    AGAIN,
    SENSITIVITY,
    TRUE_ORDER,
    Twin,
    with_calculated,
    with_parameters,
)

STABLE_MAX = (
    Twin(
        name="gap to the third",
        mistake="c_(1) - c_(3) is compared, so that the first two may stand level",
        broken=with_calculated(_gap=lambda _mechanism: lambda profile: profile.count(1) - profile.count(3)),
    ),
    SENSITIVITY,
    AGAIN,
)
"""The mistake of `TRUE_ORDER` is none here: the list is in the order of the true counts in any case."""
CHOOSING = (
    Twin(
        name="one new itemset",
        mistake="the threshold is calculated as if a unit could add one itemset only",
        broken=with_parameters(most_new=lambda _mechanism: 1),
    ),
    Twin(
        name="threshold of 1",
        mistake="one occurrence is taken for enough",
        broken=with_calculated(threshold=lambda _mechanism: 1),
    ),
    AGAIN,
    TRUE_ORDER,
)
