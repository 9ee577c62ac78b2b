"""Selection round by round: one itemset at a time, each from what the earlier rounds left."""

from __future__ import annotations

from collections.abc import Callable

from fim_private.mechanisms.protocol import Law
from fim_private.profile import CountProfile

Ranks = tuple[int, ...]


def select_in_rounds(profile: CountProfile, rounds: int, select_one: Callable[[CountProfile], Ranks]) -> Ranks:
    """Ranks in `profile`; the list ends with the first round that names nothing.

    Args:
        profile: the counts before the first round.
        rounds: how many at most.
        select_one: picks at most one rank of the profile it is given.
    """
    ranks: Ranks = ()
    left = profile
    while len(ranks) < rounds and (picked := select_one(left)):
        ranks = (*ranks, _original(picked[0], ranks))
        left = left.without(picked[0])
    return ranks


def law_in_rounds(profile: CountProfile, rounds: int, law_of_one: Callable[[CountProfile], Law]) -> Law:
    """The exact law of `select_in_rounds`."""
    law: Law = {}

    def extend(ranks: Ranks, left: CountProfile, probability: float) -> None:
        if len(ranks) == rounds:
            law[ranks] = law.get(ranks, 0.0) + probability
            return
        for picked, chance in law_of_one(left).items():
            if not picked:
                law[ranks] = law.get(ranks, 0.0) + probability * chance
            elif picked[0] >= left.occurring:
                extend((*ranks, profile.occurring), left.without(picked[0]), probability * chance)
            else:
                extend((*ranks, _original(picked[0], ranks)), left.without(picked[0]), probability * chance)

    extend((), profile, 1.0)
    return law


def _original(rank: int, taken: Ranks) -> int:
    """The rank before the earlier picks were taken away."""
    for earlier in sorted(taken):
        rank += earlier <= rank
    return rank
