"""Candidates with finite laws, as procedures and as laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from fim_private.privacy import PureDP
from fim_private.private_candidates import Candidates
from fim_private.private_candidates.pool import Candidate, CandidateLoss, FiniteLaw
from fim_private.randomness import Randomness
from fim_private.randomness.uniform import uniform_below

Exact = Mapping[tuple[int, str], Fraction]


def procedure(law: Exact) -> Candidate[str]:
    def run(randomness: Randomness) -> tuple[int, str]:
        common = 1
        for chance in law.values():
            common *= chance.denominator
        drawn = uniform_below(common, randomness)
        for (score, output), chance in law.items():
            drawn -= chance * common
            if drawn < 0:
                return score, output
        raise AssertionError("chances do not add up")

    return run


LOSS = PureDP(Fraction(1, 2))


def pool(laws: Sequence[Exact], loss: CandidateLoss = LOSS) -> Candidates[str]:
    return Candidates([procedure(law) for law in laws], loss)


def mixed(laws: Sequence[Exact]) -> FiniteLaw:
    """The law of Q: a uniformly drawn candidate's."""
    found: dict[tuple[int | float | Fraction, object], float] = {}
    for law in laws:
        for drawn, chance in law.items():
            found[drawn] = found.get(drawn, 0.0) + float(chance) / len(laws)
    return found


WEAK: Exact = {(0, "a"): Fraction(3, 5), (1, "b"): Fraction(3, 10), (3, "c"): Fraction(1, 10)}
STRONG: Exact = {(1, "d"): Fraction(1, 2), (2, "e"): Fraction(1, 4), (3, "f"): Fraction(1, 4)}
LAWS = (WEAK, STRONG)
