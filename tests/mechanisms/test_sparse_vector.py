"""The search alone: its exact loss over all gap vectors. Too little noise is caught."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from fim_private.mechanisms.sparse_vector import discrete_laplace_law, search, search_law
from fim_private.randomness import SeededRandomness
from tests.sampling import OTHER_WIDTHS, SEED, assert_drawn_from

EPSILON = 0.8


def largest_loss(threshold_scale: float, query_scale: float, *, sensitivity: int = 1) -> float:
    """The largest log ratio of the probability of any outcome, over excesses that all move one way by at most Delta."""
    shift_law = discrete_laplace_law(threshold_scale)
    grid = [-25, -8, -2, 0, 2, 8, 25]
    worst = 0.0
    for excesses in itertools.product(grid, repeat=3):
        law = search_law(excesses, shift_law=shift_law, query_scale=query_scale)
        for change in itertools.product((0, sensitivity), repeat=3):
            moved = [excess + step for excess, step in zip(excesses, change, strict=True)]
            other = search_law(moved, shift_law=shift_law, query_scale=query_scale)
            # Probabilities below 1e-10 have lost too many digits to the subtraction in 1 - P(stop).
            sure = (law > 1e-10) & (other > 1e-10)
            worst = max(worst, float(np.max(np.abs(np.log(law[sure] / other[sure])))))
    return worst


@pytest.mark.parametrize("sensitivity", [1, 2])
def test_loss_is_what_is_claimed_and_nearly_reached(sensitivity: int) -> None:
    scale = 2 * sensitivity / EPSILON
    assert 0.8 * EPSILON < largest_loss(scale, scale, sensitivity=sensitivity) <= EPSILON + 1e-5


def test_too_little_noise_is_caught() -> None:
    scale = 2 / EPSILON
    assert largest_loss(scale / 2, scale / 2) > EPSILON + 0.1
    assert largest_loss(scale, scale / 2) > EPSILON + 0.05
    assert largest_loss(scale / 20, scale) > EPSILON + 0.2


@pytest.mark.slow
@pytest.mark.parametrize("excesses", [[-6, -3, 1], [-1], [4, 0], []])
def test_sampler_follows_its_law(excesses: list[int]) -> None:
    threshold_scale, query_scale = Fraction(5, 2), Fraction(7, 2)
    randomness = SeededRandomness(SEED)

    def law(factor: Fraction) -> dict[int | None, float]:
        probabilities = search_law(
            excesses,
            shift_law=discrete_laplace_law(float(factor * threshold_scale)),
            query_scale=float(factor * query_scale),
        ).tolist()
        return {**dict(enumerate(probabilities[:-1])), None: probabilities[-1]}

    draws = [
        search(excesses, threshold_scale=threshold_scale, query_scale=query_scale, randomness=randomness)
        for _ in range(30_000)
    ]
    assert math.isclose(sum(law(1).values()), 1, rel_tol=1e-12)
    assert_drawn_from(law, draws, OTHER_WIDTHS if len(excesses) > 1 and max(excesses) < 3 else ())


def test_queries_are_read_only_as_far_as_needed() -> None:
    def excesses() -> object:
        yield 10**6
        raise AssertionError("read on after the stop")

    assert search(excesses(), threshold_scale=Fraction(1), query_scale=Fraction(1), randomness=SeededRandomness(1)) == 0
