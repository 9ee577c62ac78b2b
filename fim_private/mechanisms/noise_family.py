"""The two families of noise that steps can have, and in what they pay: Gaussian in rho, Laplace in epsilon.

What the steps of one family cost is added up, and later steps may depend on the answers of earlier ones: Gaussian
composition (docs/mathematics.md#gaussian-composition), and basic composition, which needs no delta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fim_private.accounting.gaussian_composition import range_costing
from fim_private.accounting.rising import staged
from fim_private.accounting.rounding import ROUNDED_DOWN, round_down
from fim_private.mechanisms.laplace_measurement import LaplaceLook, LaplaceMeasurement
from fim_private.mechanisms.lengths import LengthLook, Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import Spending, normal_reach
from fim_private.privacy import Gaussian, Loss, PureDP


@dataclass(frozen=True, kw_only=True)
class NoiseFamily:
    """How things are counted and looked at, and what that costs: Gaussian noise. `law` names it for the record."""

    measurement: ClassVar[type[Measurement]] = Measurement
    look: ClassVar[type[LengthLook]] = LengthLook
    law: str = "discrete Gaussian"

    def full(self, usual: float, _held: Lengths, _sizes: Sequence[int]) -> float:
        """How many itemsets a transaction may hold and still count in full; `usual` is for those of a usual length."""
        return usual

    def reach(self, numbers: int, missed: float) -> float:
        """The most deviations that noise takes off any of `numbers` numbers, except with probability `missed`."""
        return normal_reach(numbers, missed)

    def loss(self, cost: Fraction) -> Loss:
        """All steps together, if they cost this much."""
        return Gaussian(cost)

    def spending(self, what: str, cost: Fraction) -> Spending:
        """A line of the plan."""
        return Spending(what=what, rho=cost)

    def pick_epsilon(self, cost: float, picks: int, after: float, rise: Fraction) -> Fraction:
        """The epsilon of each of so many picks that cost this together.

        `after` is what the steps that follow cost, and `rise` how much more later picks get than earlier ones. The
        epsilon is that of the middle ones.
        """
        return range_costing(cost, picks, after, rise)


class _LaplaceFamily(NoiseFamily):
    measurement, look = LaplaceMeasurement, LaplaceLook

    def full(self, _usual: float, held: Lengths, sizes: Sequence[int]) -> float:
        return held.roomy(sizes)

    def reach(self, numbers: int, missed: float) -> float:
        return math.log(numbers / missed / 2) / math.sqrt(2)

    def loss(self, cost: Fraction) -> Loss:
        return PureDP(cost)

    def spending(self, what: str, cost: Fraction) -> Spending:
        return Spending(what=what, epsilon=cost)

    def pick_epsilon(self, cost: float, picks: int, _after: float, rise: Fraction) -> Fraction:
        # The cost and the quotient may have been rounded up.
        return round_down(cost * ROUNDED_DOWN / float(sum(factor * times for factor, times in staged(picks, rise))))


GAUSSIAN, LAPLACE = NoiseFamily(), _LaplaceFamily(law="discrete Laplace")
