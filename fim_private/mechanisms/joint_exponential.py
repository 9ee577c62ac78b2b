"""The joint exponential mechanism: the whole list in one selection (Gillenwater, Joseph, Munoz, Ribero 2022).

The loss of a list s_1, ..., s_k of different itemsets is the largest c_(j) - c_{s_j}, and a list is drawn with
probability proportional to e^{-rate loss}. One selection costs one epsilon, whatever k is. Losses may rise or fall
between neighbours, so the exponent is half that of one pick. How many lists have at most some loss is a product over
places, so lists are never enumerated. Proof of cost and sampler: docs/mathematics.md#joint-exponential-mechanism.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise
from operator import mul

from fim_private.accounting.calibration import calibrate_pick
from fim_private.mechanisms.peeling import peeling_losses
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.mechanisms.remaining_levels import Gaps
from fim_private.privacy import Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.bernoulli import bernoulli_exp
from fim_private.randomness.uniform import uniform_below
from fim_private.randomness.weighted_choice import WeightedChoice


@dataclass(frozen=True, kw_only=True)
class JointExponential:
    """One selection of a list of k itemsets, all of them if the universe has fewer.

    Args:
        top: k.
        pick_epsilon: the epsilon of the selection.
        universe_size: how many itemsets were declared.
        sensitivity: Delta.
    """

    top: int
    pick_epsilon: Fraction
    universe_size: int
    sensitivity: int = 1

    failures = ()
    depth = None

    @property
    def losses(self) -> tuple[Loss, ...]:
        return peeling_losses(1, self.pick_epsilon)

    @property
    def spending(self) -> tuple[Spending, ...]:
        return (Spending(what="choice of the whole list", epsilon=self.pick_epsilon),)

    @property
    def rate(self) -> Fraction:
        """The exponent is this times the loss. Lists of one itemset have losses that all move one way."""
        return self.pick_epsilon / (self.sensitivity * (2 if self.top > 1 else 1))

    @property
    def scale(self) -> Fraction:
        """With this much more of a lead, in counts, a wrong list is less likely by a factor e."""
        return 1 / self.rate

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The lead with which the true list outweighs all lists that hold one of the others."""
        lists = sum(math.log(self.universe_size - taken) for taken in range(self._places))
        lead = (lists + math.log(19)) / float(self.rate)
        words = "between each itemset of the list and the bulk of the declared universe"
        return (Margin(counts=math.ceil(lead), words=words),)

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        lists = _Lists(profile, self.universe_size, self._places)
        # From this much loss on, all lists together weigh no more than a few without a loss: they are one part.
        all_lists = lists.number(lists.within(lists.largest))
        last = min(lists.largest, math.ceil(all_lists.bit_length() * self.scale))
        # Losses above one bound, up to the next, are drawn like the smallest of them. A coin makes up for it.
        bounds = [-1, *range(0, last, math.ceil(self.scale)), lists.largest]
        within = [[0] * self._places, *map(lists.within, bounds[1:])]
        numbers = [upper - lower for lower, upper in pairwise(map(lists.number, within))]
        choice = WeightedChoice([-1 - bound for bound in bounds[:-1]], self.rate)
        while True:
            part = choice.draw(numbers, randomness)
            ranks = lists.draw(within[part], within[part + 1], randomness)
            if bernoulli_exp(self.rate * (lists.loss(ranks) - bounds[part] - 1), randomness):
                return ranks

    def law(self, profile: CountProfile) -> Law:
        """The exact law over lists of levels. Cost: proportional to the number of lists."""
        levels = profile.top(self.universe_size)
        law: dict[tuple[int, ...], tuple[float, int]] = {(): (1.0, 0)}
        for place in range(1, self._places + 1):
            best = profile.count(place)
            law = {
                (*picked, level): (weight * left, max(loss, best - count))
                for picked, (weight, loss) in law.items()
                for level, (count, number) in enumerate(levels)
                if (left := number - picked.count(level))
            }
        weights = {picked: weight * math.exp(-float(self.rate) * loss) for picked, (weight, loss) in law.items()}
        total = math.fsum(weights.values())
        return {picked: weight / total for picked, weight in weights.items()}

    @property
    def _places(self) -> int:
        return min(self.top, self.universe_size)


class _Lists:
    """All lists of different itemsets of a universe: how many have at most a loss, and uniform draws."""

    def __init__(self, profile: CountProfile, universe_size: int, places: int) -> None:
        levels = profile.top(universe_size)
        self._counts = [-count for count, _ in levels]
        self._ends = list(accumulate(number for _, number in levels))
        self._best = [profile.count(place) for place in range(1, places + 1)]
        self._profile = profile
        self.largest = self._best[0]
        """No list has a larger loss."""

    def within(self, loss: int) -> list[int]:
        """For each place, how many itemsets have at most this loss there: the first ones of the ranking."""
        return [self._ends[bisect_right(self._counts, loss - best) - 1] for best in self._best]

    def number(self, within: Sequence[int]) -> int:
        """The number of lists whose itemset at each place is one of this many."""
        return math.prod(most - taken for taken, most in enumerate(within))

    def loss(self, ranks: Sequence[int]) -> int:
        """The loss of a list of ranks."""
        return max(best - self._profile.count(rank + 1) for best, rank in zip(self._best, ranks, strict=True))

    def draw(self, lower: Sequence[int], upper: Sequence[int], randomness: Randomness) -> tuple[int, ...]:
        """A uniform list of ranks within `upper` that is not within `lower`.

        The first place that is not within `lower` is drawn first.
        """
        before = accumulate((most - taken for taken, most in enumerate(lower)), mul, initial=1)
        after = [*accumulate((upper[at] - at for at in range(len(upper) - 1, 0, -1)), mul, initial=1)][::-1]
        numbers = [
            few * (most - least) * rest for few, least, most, rest in zip(before, lower, upper, after, strict=False)
        ]
        first = bisect_right([*accumulate(numbers)], uniform_below(sum(numbers), randomness))
        ranks: list[int] = []
        gaps = Gaps()
        for place, (least, most) in enumerate(zip(lower, upper, strict=True)):
            # Earlier itemsets are all among those that this place may have, and among its `least` up to the first.
            begin = least - place if place == first else 0
            end = (least if place < first else most) - place
            ranks.append(gaps.place(begin + uniform_below(end - begin, randomness)))
            gaps.take(ranks[-1])
        return tuple(ranks)


def calibrate(request: Request) -> CalibratedMechanism:
    """The mechanism with the largest epsilon that one selection may spend.

    Raises:
        UsageError: the universe was not declared.
    """
    universe_size = request.require_universe()
    found = calibrate_pick(partial(peeling_losses, 1), epsilon=request.epsilon, delta=request.delta, failing=False)
    return CalibratedMechanism(
        mechanism=JointExponential(
            top=request.top,
            pick_epsilon=found.pick_epsilon,
            universe_size=universe_size,
            sensitivity=request.sensitivity,
        ),
        guarantee=found.guarantee,
    )
