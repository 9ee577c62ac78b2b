"""A toy mechanism, as somebody would add one: its file, its row, its twins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.calibration import prove_basic
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.mechanisms.registry import Row
from fim_private.mechanisms.twins.twin import TRUE_ORDER, Twin, with_parameters
from fim_private.privacy import Loss, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.bernoulli import bernoulli


@dataclass(frozen=True, kw_only=True)
class Shy:
    """Names nothing if a coin says so, else k picks of the exponential mechanism.

    The coin does not depend on the data, so both sides' probabilities are halved and the loss is that of the picks.
    """

    top: int
    pick_epsilon: Fraction
    universe_size: int
    sensitivity: int = 1

    failures = ()
    depth = None

    @property
    def losses(self) -> tuple[Loss, ...]:
        return (PureDP(self.pick_epsilon),) * self.top

    @property
    def spending(self) -> tuple[Spending, ...]:
        return (Spending(what="picks", epsilon=self.pick_epsilon, times=self.top),)

    @property
    def scale(self) -> Fraction:
        return self._picks.scale

    @property
    def margins(self) -> tuple[Margin, ...]:
        return self._picks.margins

    @property
    def _picks(self) -> Exponential:
        return Exponential(
            top=self.top,
            pick_epsilon=self.pick_epsilon,
            universe_size=self.universe_size,
            sensitivity=self.sensitivity,
        )

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        return () if bernoulli(Fraction(1, 2), randomness) else self._picks.select(profile, randomness)

    def law(self, profile: CountProfile) -> Law:
        return {(): 0.5, **{levels: chance / 2 for levels, chance in self._picks.law(profile).items()}}


def calibrate(request: Request) -> CalibratedMechanism:
    mechanism = Shy(
        top=request.top,
        pick_epsilon=request.epsilon / request.top,
        universe_size=request.require_universe(),
        sensitivity=request.sensitivity,
    )
    return CalibratedMechanism(mechanism=mechanism, guarantee=prove_basic(mechanism.losses, Fraction(0)))


TWINS = (
    Twin(
        name="exponent doubled",
        mistake="picks by e^(2 eps c)",
        broken=with_parameters(pick_epsilon=lambda mechanism: 2 * mechanism.pick_epsilon),
    ),
    TRUE_ORDER,
)

ROW = Row(
    name="shy",
    summary="the exponential mechanism that says nothing half the time",
    source="tests/mechanisms/toy.py",
    family="shy",
    module=__name__,
    twins_at=f"{__name__}:TWINS",
    needs_universe=True,
)
