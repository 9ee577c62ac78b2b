"""Leave out some of what was chosen: picks among the picks, where little support is likely.

Of many itemsets that were chosen with noise, a few are rare, and would fail a test of the smallest support. So some
more are chosen than are asked for, and as many left out by the exponential mechanism. Each pick has bounded range, as
all supports move in one direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fim_private.mechanisms.peeling import Level, peel, peel_law
from fim_private.randomness import Randomness


@dataclass(frozen=True)
class LeftOut:
    """How some of a list are left out, one for each rate. The exponent is the rate times its support, negated."""

    rates: tuple[Fraction, ...]

    def keep(self, supports: Sequence[int], randomness: Randomness) -> list[int]:
        """The places of those that stay, in their order, by the supports of all on the list.

        One unit changes each support by at most Delta, all in one direction.
        """
        order, levels = _rising(supports)
        return _without(order, peel(levels, rates=self.rates, open_universe=False, randomness=randomness))

    def law(self, supports: Sequence[int]) -> Iterator[tuple[list[int], float]]:
        """What `keep` returns, with its exact probability."""
        order, levels = _rising(supports)
        for out, chance in peel_law(levels, rates=self.rates, open_universe=False).items():
            yield _without(order, out), chance


def _rising(supports: Sequence[int]) -> tuple[list[int], list[Level]]:
    """The places in rising order of support, and levels of which picks take little support first."""
    order = sorted(range(len(supports)), key=lambda place: supports[place])
    return order, [(-supports[place], 1) for place in order]


def _without(order: Sequence[int], out: Sequence[int]) -> list[int]:
    """All places in increasing order, without those that were left out."""
    left_out = {order[number] for number in out}
    return [place for place in range(len(order)) if place not in left_out]
