"""Optimal composition of picks of bounded range and Gaussian noise: the worst of each step, from the last to the first.

Let H(eps) be the least delta that holds for the steps that are left, whatever was answered before. If the next step has
two outcomes, with probabilities p, 1-p and q, 1-q on two neighbours, then together with it the least delta is
p H(eps - ln(p/q)) + (1-p) H(eps - ln((1-p)/(1-q))). The step is the one of its kind that makes this largest. H is
convex in e^eps. So steps with more outcomes are no worse, chords lie above it, and noise may be replaced by such steps
(Doroshenko et al. 2022). For picks the recursion is that of Dong, Durfee and Rogers (2020).

For a few picks it proves less than Gaussian and Renyi composition. Proofs: docs/mathematics.md#range-composition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.gaussian_composition import gaussian_rho
from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.arrays import Floats
from fim_private.compilation import compiled
from fim_private.privacy import ROUNDING_VARIANCE, BoundedRange, Chosen, DiscreteGaussian, Gaussian, Loss, PureDP

Places = NDArray[np.int64]

MOST_PICKS = 80
"""For more picks, Gaussian composition proves nearly as much, and is faster."""
_STEPS = 100
"""The number of steps of the grid per deviation of the whole loss."""
_BELOW, _ABOVE, _FURTHEST = 3.0, 2.5, 40.0
"""The grid reaches this many deviations below 0 and above epsilon. Epsilon is at most `_FURTHEST` deviations."""
_CORNERS = 60
"""How many corners a polygon has."""
_WIDEST, _NARROWEST = 2.0, 1e-8
"""Picks of another epsilon are left to other theorems."""
_LEAST_DEVIATION = 1e-5
"""On a finer grid, differences of floats have too few digits left."""
_LEAST = 1e-12
"""No guarantee has epsilon 0, as with Gaussian composition."""
_DEVIATIONS = 9.0
"""Gaussian noise beyond this many deviations is treated as certain, or as if it were nearer."""
_SURE = 1 + 1e-12
"""A factor that is far larger than the rounding of a single step."""


def range_epsilon(losses: Sequence[Loss], delta: float, near: float) -> float:
    """The least epsilon that is proved at `delta` > 0, rounded up; infinite if nothing is proved.

    Args:
        losses: in the order in which the steps are taken.
        delta: what is allowed.
        near: an epsilon that is not much too large. The grid ends a little above it.
    """
    grid, curve = _curve(losses, near)
    place = int(np.argmax(curve <= delta))
    if curve[place] > delta or place == 0:
        return math.inf
    # The chord is above the curve.
    above, below = float(curve[place - 1]), float(curve[place])
    further = math.log1p((above - delta) / (above - below) * math.expm1(grid.step))
    return max(_LEAST, (place - 1 - grid.zero) * grid.step + further) * (1 + RELATIVE_ERROR)


def range_delta(losses: Sequence[Loss], epsilon: float) -> float:
    """The least delta that is proved at `epsilon` >= 0, rounded up; 1 if nothing is proved.

    Losses are in the order in which the steps are taken.
    """
    grid, curve = _curve(losses, epsilon)
    if len(curve) == 1:
        return 1.0
    place = math.floor(epsilon / grid.step)
    share = math.expm1(epsilon - place * grid.step) / math.expm1(grid.step)
    below, above = float(curve[grid.zero + place]), float(curve[grid.zero + place + 1])
    return min(1.0, (below + share * (above - below)) * (1 + RELATIVE_ERROR))


def _curve(losses: Sequence[Loss], epsilon: float) -> tuple[_Grid, Floats]:
    """The curve on a grid around this epsilon; a single 1 if nothing is proved."""
    picks, unknown = picks_of(losses), (_Grid(1.0, 0, 1), np.ones(1))
    if not 1 <= picks <= MOST_PICKS or not 0 < epsilon < math.inf:
        return unknown
    # Of one number with Gaussian noise for the same price, this is the deviation.
    deviation = math.sqrt(2 * gaussian_rho(losses))
    if not max(epsilon / _FURTHEST, _LEAST_DEVIATION) < deviation < math.inf:
        return unknown
    grid = _Grid.around(epsilon, deviation)
    curve = grid.before(losses, grid.nothing)
    return unknown if curve is None else (grid, curve)


def picks_of(losses: Sequence[Loss]) -> int:
    """How many steps are not Gaussian noise, at most."""
    return sum(
        max(map(picks_of, loss.ways)) if isinstance(loss, Chosen) else not isinstance(loss, Gaussian | DiscreteGaussian)
        for loss in losses
    )


@dataclass(frozen=True)
class _Grid:
    """Curves are bounded from above on multiples of `step`. Below the grid they count as 1, above it as at its end.

    Args:
        step: between two points.
        zero: the place of epsilon 0.
        points: how many there are.
    """

    step: float
    zero: int
    points: int

    @classmethod
    def around(cls, epsilon: float, deviation: float) -> _Grid:
        """A grid on which epsilon can be found."""
        step = deviation / _STEPS
        zero = math.ceil(_BELOW * _STEPS)
        return cls(step, zero, zero + math.ceil((epsilon / deviation + _ABOVE) * _STEPS))

    @property
    def nothing(self) -> Floats:
        """The curve if no step is left."""
        epsilons = (np.arange(self.points) - self.zero) * self.step
        curve: Floats = np.maximum(0.0, -np.expm1(np.minimum(epsilons, 0.0)))
        return curve

    def before(self, losses: Sequence[Loss], curve: Floats) -> Floats | None:
        """The curve with these steps, in their order, before those of `curve`; None if it is not known."""
        for loss, alike in groupby(reversed(losses)):
            times = sum(1 for _ in alike)
            match loss:
                case Gaussian(rho) if rho > 0:
                    curve = self._before_noise(curve, times * float(rho))
                case DiscreteGaussian() if loss.variance > ROUNDING_VARIANCE:
                    curve = self._before_noise(curve, times * float(loss.gaussian.rho))
                case BoundedRange(epsilon) if _NARROWEST < epsilon < _WIDEST:
                    curve = self._before_pairs(curve, bounded_range_pairs(float(epsilon)), times)
                case PureDP(epsilon) if _NARROWEST < epsilon < _WIDEST:
                    curve = self._before_pairs(curve, _randomised_response(float(epsilon)), times)
                case Chosen(ways) if times == 1:
                    curves = [after for way in ways if (after := self.before(way, curve)) is not None]
                    if len(curves) < len(ways):
                        return None
                    curve = np.maximum.reduce(curves)
                case _:
                    return None
        return curve

    def _before_pairs(self, curve: Floats, pairs: Floats, times: int) -> Floats:
        """The curve with the worst of some steps of two outcomes before it, this many times."""
        up, p, down, other = pairs.T
        first, second = self._taps(up, p), self._taps(down, other)
        places, masses = (np.stack([*one, *two], axis=1) for one, two in zip(first, second, strict=True))
        furthest = int(np.abs(places).max())
        return _worst_before(curve, furthest, furthest - places, masses, times)

    def _before_noise(self, curve: Floats, rho: float) -> Floats:
        """The curve with Gaussian noise before it. Its loss has a normal law of mean rho and variance 2 rho."""
        move = math.sqrt(2 * rho)
        low, high = (math.floor((rho + side * _DEVIATIONS * move) / self.step) for side in (-1, 1))
        edges = np.arange(low, high + 1, dtype=np.float64) * self.step
        ours = _bins((edges - rho) / move)
        theirs = _bins((edges + rho) / move)
        # What lies between two points is as likely on either side as if it were at the points themselves.
        down, up = np.exp(-edges[:-1]), np.exp(-edges[1:])
        nearer = np.clip((theirs - ours * up) / (down - up), 0, ours) * (1 - RELATIVE_ERROR)
        masses = np.zeros(len(edges))
        masses[:-1] += nearer
        masses[1:] += ours - nearer
        # What lies below is moved up to the first point. What lies above counts as certain.
        masses[0] += _beyond(_DEVIATIONS)
        furthest = int(max(abs(low), abs(high)))
        padded = np.concatenate([np.ones(furthest), curve, np.full(furthest, curve[-1])])
        reach = padded[furthest - high : furthest - low + self.points]
        return (np.convolve(reach, masses, mode="valid") + _beyond(_DEVIATIONS - self.step / move)) * _SURE

    def _taps(self, losses: Floats, masses: Floats) -> tuple[tuple[Places, Places], tuple[Floats, Floats]]:
        """How values at epsilon - loss are bounded by those at two points: by how many steps to shift, and weights."""
        places = np.floor(losses / self.step).astype(np.int64)
        further = np.expm1(places * self.step - losses) / math.expm1(-self.step)
        return (places, places + 1), (masses * (1 - further), masses * further)


@compiled
def _worst_before(curve: Floats, furthest: int, places: Places, masses: Floats, times: int) -> Floats:
    """The curve with the worst of some pairs before it, one pair after another. A step that is not asked loses nothing.

    Args:
        curve: shape (points,).
        furthest: this many points are added at either end.
        places: shape (pairs, 4), where the value for the first point is taken from, if points are added.
        masses: shape (pairs, 4), what each of the four values is multiplied with.
        times: how many steps.
    """
    points = len(curve)
    padded = np.empty(points + 2 * furthest)
    worst = curve.copy()
    for _ in range(times):
        padded[:furthest] = 1.0
        padded[furthest : furthest + points] = worst
        padded[furthest + points :] = worst[points - 1]
        for pair in range(len(places)):
            # Slices: numba cannot rule out that a sum of places is below 0, and would look at each one.
            one, two, three, four = (
                padded[places[pair, 0] :],
                padded[places[pair, 1] :],
                padded[places[pair, 2] :],
                padded[places[pair, 3] :],
            )
            p, q, r, s = masses[pair, 0], masses[pair, 1], masses[pair, 2], masses[pair, 3]
            for point in range(points):
                found = (p * one[point] + q * two[point] + r * three[point] + s * four[point]) * _SURE
                worst[point] = found if found > worst[point] else worst[point]
    return worst


@compiled
def _bins(edges: Floats) -> Floats:
    """The probability of a normal number between neighbouring edges, from tails on the side where they are small."""
    found = np.empty(len(edges) - 1)
    for place in range(len(found)):
        low, high = edges[place], edges[place + 1]
        if low + high < 0:
            low, high = -high, -low
        found[place] = (math.erfc(low / math.sqrt(2.0)) - math.erfc(high / math.sqrt(2.0))) / 2
    return found


def _beyond(deviations: float) -> float:
    return math.erfc(deviations / math.sqrt(2)) / 2


def _randomised_response(epsilon: float) -> Floats:
    other = 1 / (1 + math.exp(epsilon))
    return np.array([[epsilon, 1 - other, -epsilon, other]])


@lru_cache(maxsize=64)
def bounded_range_pairs(epsilon: float) -> Floats:
    """Steps of two outcomes, of which one is at least as bad as any pick of this epsilon and of bounded range.

    The pairs (p, q) of such picks are a convex set with (0, 0) and (1, 1) on its edge. A polygon around it has its
    corners on the edge of the set for a slightly larger epsilon. The polygon is checked side by side.

    Returns:
        shape (corners, 4), of each step: ln(p/q), p, ln((1-p)/(1-q)), 1-p.
    """
    wider = 1.2 * (math.pi / 2 / _CORNERS) ** 2
    while True:
        wide = epsilon * (1 + wider)
        # p at which the step has the loss `epsilon` or more, and the same on the other side.
        least = -math.expm1(epsilon - wide) / -math.expm1(-wide) * (1 - RELATIVE_ERROR)
        most = -math.expm1(-epsilon) / -math.expm1(-wide) * (1 + RELATIVE_ERROR)
        angles = np.linspace(math.asin(math.sqrt(least)), math.asin(math.sqrt(most)), _CORNERS)
        p = np.sin(angles) ** 2
        if _surrounds(p, wide, epsilon):
            break
        wider *= 1.5
    up = wide + np.log1p(p * math.expm1(-wide))
    other = np.cos(angles) ** 2
    return np.stack([up, p, up - wide, other], axis=1)


def _surrounds(p: Floats, wide: float, epsilon: float) -> bool:
    """Whether each side of the polygon is outside the set of picks of range `epsilon`.

    On the edge for `wide`, q/p = e^{-up}. Along a side the odds ratio of p and q is (1 + r N)/(e^{-wide} + r M). It is
    monotone in r, and r is largest in the middle (docs/mathematics.md#range-composition).
    """
    up = wide + np.log1p(p * math.expm1(-wide))
    q = p * np.exp(-up)
    x = p * (1 - q)
    one, two = slice(None, -1), slice(1, None)
    most = 1 / (2 * np.sqrt(x[one] * x[two]))
    ours = p[one] * (1 - q[two]) + p[two] * (1 - q[one])
    theirs = q[one] * (1 - p[two]) + q[two] * (1 - p[one])
    least = np.log1p(most * ours) - np.log(math.exp(-wide) + most * theirs)
    ends = up[0] >= epsilon and wide - up[-1] >= epsilon
    return bool(ends and np.all(least >= epsilon * (1 + RELATIVE_ERROR)))
