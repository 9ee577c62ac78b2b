"""Hard neighbours for the reproductions, and relatives of the algorithms that are not private enough."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence

from fim_private.audit.private_candidates import OUTCOMES, Pair, is_close, named
from fim_private.private_candidates.pool import FiniteLaw, chance_at_least
from fim_private.randomness import Randomness


def with_delta(pair: Pair, delta: float) -> Iterator[Pair]:
    """The pair. If delta is positive, this much of each law is put on one outcome, which differs between the sides."""
    if not delta:
        yield pair
        return
    for outcomes in itertools.permutations(OUTCOMES, 2):
        one, other = (
            {drawn: (1 - delta) * chance + delta * (drawn == outcome) for drawn, chance in law.items()}
            for law, outcome in zip(pair, outcomes, strict=True)
        )
        yield one, other


def random_laws(epsilon: float, delta: float, number: int, randomness: Randomness) -> Iterator[Pair]:
    """Random cases: anything made of randomised response, which is all there is (Kairouz, Oh, Viswanath 2015)."""
    odds = math.exp(epsilon)
    for _ in range(number):
        truthful, lying = _random_chances(randomness), _random_chances(randomness)
        one = tuple((odds * a + b) / (1 + odds) for a, b in zip(truthful, lying, strict=True))
        other = tuple((a + odds * b) / (1 + odds) for a, b in zip(truthful, lying, strict=True))
        yield from with_delta((named(one), named(other)), delta)


def chances_of_queries(epsilon: float, before: int) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Neighbouring p(tau_i, Q_i): `before` queries that all move one way, and a last that moves another.

    That is the hardest case of a search: the many are kept from passing by the noise on the threshold alone.
    """
    split = 1 / (1 + math.exp(epsilon))
    moves = []
    for chance in (0.01, 0.1, 0.2, 0.3, split, 0.5, 0.7, 0.9, 0.99):
        for other in (chance * math.exp(epsilon), 1 - (1 - chance) * math.exp(-epsilon), chance):
            if 0 < other < 1 and is_close(chance, other, epsilon) and is_close(1 - chance, 1 - other, epsilon):
                moves += [(chance, other), (other, chance)]
    for many, last in itertools.product(dict.fromkeys(moves), repeat=2):
        yield tuple(zip(*([many] * before), last, strict=True))  # type: ignore[misc]


def _random_chances(randomness: Randomness) -> list[float]:
    # Powers make some chances tiny, where the losses are.
    weights = [((randomness.bits(30) + 1) / 2**30) ** (1 + randomness.bits(4)) for _ in OUTCOMES]
    return [weight / sum(weights) for weight in weights]


def decreasing_thresholds(stop: float, thresholds: Sequence[float], law: FiniteLaw) -> dict[Hashable, float]:
    """Not private enough: Algorithm 6, which lowers the threshold where Algorithm 1 gives up (PSPC, B.2).

    Args:
        stop: gamma.
        thresholds: decreasing; every run reaches the last.
        law: of one call.
    """
    found: dict[Hashable, float] = dict.fromkeys(law, 0.0)
    reached = 1.0
    for threshold in thresholds:
        short = 1 - chance_at_least(law, threshold)
        halting = 1 - short * (1 - stop)
        for drawn, chance in law.items():
            if drawn[0] >= threshold:
                found[drawn] += reached * chance / halting
        reached *= short * stop / halting
    return found


def percentile(share: float, law: FiniteLaw) -> dict[Hashable, float]:
    """Not private: the largest score that this share of the runs reach, exactly (PSPC, B.3)."""
    reached = [score for score, _ in law if chance_at_least(law, score) >= share]
    return {max(reached): 1.0}


def with_number_of_calls(threshold: float, stop: float, calls: int, law: FiniteLaw) -> dict[Hashable, float]:
    """Not private enough: Algorithm 1 that also tells how many calls it took, here up to this many."""
    found: dict[Hashable, float] = {}
    short = 1 - chance_at_least(law, threshold)
    going = 1.0
    for call in range(1, calls + 1):
        for drawn, chance in law.items():
            if drawn[0] >= threshold:
                found[drawn, call] = going * chance
        found[None, call] = going * short * stop
        going *= short * (1 - stop)
    found["later"] = going
    return found


def without_coin(threshold: float, runs: int, law: FiniteLaw) -> dict[Hashable, float]:
    """Not private enough: Algorithm 1 that gives up after a fixed number of runs, and never before."""
    short = 1 - chance_at_least(law, threshold)
    tries = sum(short**run for run in range(runs))
    found: dict[Hashable, float] = {drawn: chance * tries for drawn, chance in law.items() if drawn[0] >= threshold}
    found[None] = short**runs
    return found
