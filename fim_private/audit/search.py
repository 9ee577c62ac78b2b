"""Search for the worst neighbours: maximise delta*(eps) over pairs, first over hard cases, then by climbing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fim_private.arrays import Floats
from fim_private.audit.laws import hockey_stick, law_over_groups
from fim_private.audit.neighbours import Limits, Neighbours, hard_groups, moved
from fim_private.mechanisms.protocol import Law, Mechanism, WithTest
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

MOST_LISTS = 4_100
"""The number of groups is chosen so that there are at most this many ordered lists of them."""
MOST_GROUPS = 6
MOST_REMEMBERED = 5_000
MOST_COMPARED = 400_000
"""About how many lists all hard cases together may have."""


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The largest delta*(eps) found, of the two directions the larger, and the neighbours that have it."""

    delta: float
    pair: Neighbours


class Search:
    """Keeps the largest delta at each of some epsilons, over all pairs it was shown.

    Args:
        mechanism: the mechanism whose law is compared.
        epsilons: the epsilons to look at. Climbing looks at the last epsilon first.
        limits: how neighbours may differ. If they have a universe size, the universe is declared.
    """

    def __init__(self, mechanism: Mechanism, epsilons: Sequence[float], limits: Limits) -> None:
        self.mechanism = mechanism
        self.epsilons = tuple(epsilons)
        self.limits = limits
        self.worst = [Worst(delta=0.0, pair=Neighbours(groups=())) for _ in epsilons]
        self._laws: dict[tuple[object, ...], Law] = {}
        self._seen: dict[Neighbours, Floats] = {}

    @property
    def tried(self) -> int:
        """How many pairs of neighbours were compared."""
        return len(self._seen)

    def show(self, pair: Neighbours) -> Floats:
        """delta at each epsilon, in the direction where it is larger. 0 if the two are not neighbours."""
        if pair in self._seen:
            return self._seen[pair]
        if not self.limits.allow(pair):
            return np.zeros(len(self.epsilons))
        whole = self.limits.completed(pair)
        one, other = whole.sides
        declared = self.limits.universe_size is not None
        law = law_over_groups(self, one, declared=declared)
        changed = law_over_groups(self, other, declared=declared, last_first=pair.ties_flipped)
        deltas: Floats = np.maximum(
            hockey_stick(law, changed, self.epsilons), hockey_stick(changed, law, self.epsilons)
        )
        for at, delta in enumerate(deltas.tolist()):
            if delta > self.worst[at].delta:
                self.worst[at] = Worst(delta=delta, pair=whole)
        self._seen[pair] = deltas
        return deltas

    def climb(self, pair: Neighbours, steps: int, *, reach: int, randomness: Randomness, enough: float) -> None:
        """Take random steps from a pair. Keep a step if it does not lower delta at the last epsilon."""
        # In a declared universe, the itemsets that occur on neither side are one more group.
        most_groups = largest_number_of_groups(self.mechanism.top) - (self.limits.universe_size is not None)
        best = tuple(reversed(self.show(pair).tolist()))
        for _ in range(steps):
            step = moved(pair, self.limits, most_groups=most_groups, reach=reach, randomness=randomness)
            found = tuple(reversed(self.show(step).tolist()))
            if self.worst[-1].delta > enough:
                return
            if found >= best and self.limits.allow(step):
                pair, best = step, found

    def law(self, profile: CountProfile) -> Law:
        """The mechanism's law, computed once: the same counts come back, also under other names."""
        key = (*profile.levels, None, *profile.multiplicities, profile.zeros)
        if key not in self._laws:
            if len(self._laws) > MOST_REMEMBERED:
                self._laws.clear()
            self._laws[key] = self.mechanism.law(profile)
        return self._laws[key]


def largest_number_of_groups(top: int) -> int:
    """The largest number of groups with at most `MOST_LISTS` ordered lists of `top` of them, and at least 2."""
    groups = MOST_GROUPS
    while groups > 2 and groups**top > MOST_LISTS:
        groups -= 1
    return groups


def hardest(
    mechanism: Mechanism,
    epsilons: Sequence[float],
    limits: Limits,
    *,
    steps: int,
    randomness: Randomness,
    starts: int = 6,
    cases: int = 2_000,
    enough: float = math.inf,
) -> Search:
    """Search the hard cases for this mechanism, and climb from the hardest of them.

    Args:
        mechanism: the mechanism whose law is compared.
        epsilons: the epsilons to look at. Climbing looks at the last epsilon first, then at the one before.
        limits: how neighbours may differ.
        steps: how many steps each climb makes.
        randomness: where the climb's steps come from.
        starts: how many climbs.
        cases: how many hard cases, about; they are thinned out evenly.
        enough: a delta at the last epsilon at which the search may end: the claim is refuted.
    """
    margins = mechanism.margins
    largest = max(margin.compared for margin in margins)
    last = max([margin.place or 1 for margin in margins] + [mechanism.top + 1])
    tipping = mechanism.tipping_leads if isinstance(mechanism, WithTest) else ()
    near = {lead + step for lead in tipping for step in (-1, 0)}
    leads = sorted({0, 1, 2, *near, *(margin.compared * part // 8 for margin in margins for part in (2, 4, 6, 8))})
    places = {1, 2, mechanism.top, *_doubling(2 * mechanism.top, last)}
    if limits.universe_size is not None:
        places |= {limits.universe_size - heads for heads in (0, 1, mechanism.top, mechanism.top + 1)}
    search = Search(mechanism, epsilons, limits)
    most = largest_number_of_groups(mechanism.top)
    hard = hard_groups(top=mechanism.top, leads=leads, places=sorted(places), limits=limits)
    shown = [pair for pair in dict.fromkeys(hard) if limits.allow(pair) and len(limits.completed(pair).groups) <= most]
    lists = most**mechanism.top
    few = [pair for pair in shown if len(pair.groups) == 1 or len(pair.groups) == mechanism.top + 1]
    thinned = dict.fromkeys(
        [*few[: cases // 2], *shown[:: max(1, len(shown) * lists // MOST_COMPARED, len(shown) // cases)]]
    )
    ranked = []
    for pair in thinned:
        ranked.append((tuple(reversed(search.show(pair).tolist())), pair))
        if search.worst[-1].delta > enough:
            return search
    ranked.sort(key=lambda found: found[0], reverse=True)
    for _, pair in ranked[:starts]:
        search.climb(pair, steps, reach=largest, randomness=randomness, enough=enough)
    return search


def _doubling(first: int, last: int) -> list[int]:
    numbers = [first]
    while numbers[-1] < last:
        numbers.append(numbers[-1] * 4)
    return [*numbers, last - 1]
