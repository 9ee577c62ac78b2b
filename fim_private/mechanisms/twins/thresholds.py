"""Mistakes in the mechanisms that name what stands above a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.measurement import Measurement
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
"""The mistake of `in_true_order` is none here: the list is in the order of the true counts in any case."""
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


class _WholeWeights(Measurement):
    @property
    def weights(self) -> NDArray[np.int64]:
        return np.full(2_000_000, self.resolution)


def _discovering(**changes: Callable[[Any], Any]) -> Callable[[ItemsFirst], ItemsFirst]:
    """items-first with other parts of its discovery."""

    def broken(mechanism: ItemsFirst) -> ItemsFirst:
        discovery = mechanism.discovery
        parts = {name: change(discovery.measurement) for name, change in changes.items()}
        return replace(mechanism, discovery=replace(discovery, **parts))

    return broken


ITEMS_FIRST = (
    Twin(
        name="no threshold",
        mistake="whatever occurs and counts more than nothing is found",
        broken=_discovering(threshold=lambda _noise: 0),
    ),
    Twin(
        name="no bound on what a unit adds",
        mistake="every item of a long transaction counts 1",
        broken=_discovering(measurement=lambda noise: _WholeWeights(**vars(noise))),
    ),
    Twin(
        name="half the noise",
        mistake="the noisy counts of items have half the standard deviation",
        broken=_discovering(measurement=lambda noise: replace(noise, variance=max(1, noise.variance // 4))),
    ),
)
