"""Selection round by round: each round selects one itemset from those that are left."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from fim_private.mechanisms.protocol import Law, Margin
from fim_private.mechanisms.remaining_levels import Gaps
from fim_private.profile import CountProfile

Ranks = tuple[int, ...]


def margin_of_rounds(counts: int, *, of_one: int | None = None) -> tuple[Margin]:
    """The lead that each round needs so that all name an itemset, and so that one round does, in transactions."""
    words = "between the first and the second of what is left, in each round"
    return (Margin(counts=counts, of_one=of_one, words=words, place=2),)


def laplace_reach(scale: Fraction, rounds: int) -> int:
    """Discrete Laplace noise takes more than this off a count in any of this many rounds at most one time in 20."""
    return math.ceil(float(scale) * math.log(10 * rounds))


def select_in_rounds(profile: CountProfile, rounds: int, select_one: Callable[[CountProfile], Ranks]) -> Ranks:
    """Ranks in `profile`. The list ends with the first round that names nothing.

    Args:
        profile: the counts before the first round.
        rounds: the largest number of rounds.
        select_one: picks at most one rank of the profile it is given.
    """
    ranks: Ranks = ()
    left, taken = profile, Gaps()
    while len(ranks) < rounds and (picked := select_one(left)):
        ranks = (*ranks, taken.place(picked[0]))
        taken.take(ranks[-1])
        left = left.without(picked[0])
    return ranks


def law_in_rounds(profile: CountProfile, rounds: int, law_of_one: Callable[[CountProfile], Law]) -> Law:
    """The exact law of `select_in_rounds`, over lists of levels of `profile`."""
    law: Law = {}
    # What is left depends on what was taken, not on the order. So there are far fewer laws than lists.
    known: dict[tuple[int, ...], tuple[CountProfile, Law]] = {}

    def extend(picked: tuple[int, ...], probability: float, left: CountProfile) -> None:
        if len(picked) == rounds:
            law[picked] = law.get(picked, 0.0) + probability
            return
        taken = tuple(sorted(picked))
        if taken not in known:
            known[taken] = left, law_of_one(left)
        left, one = known[taken]
        for level, chance in one.items():
            if level:
                extend((*picked, *level), probability * chance, left.without_level(level[0]))
            else:
                law[picked] = law.get(picked, 0.0) + probability * chance

    extend((), 1.0, profile)
    return law
