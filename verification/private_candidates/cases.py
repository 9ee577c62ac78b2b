"""Private selection from private candidates: every algorithm's claim beside the worst that was found, and mistakes.

Sources are theorems of Liu and Talwar, "Private selection from private candidates" (2019).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from fim_private.audit.private_candidates import (
    HIGH,
    LOW,
    MIDDLE,
    OutcomeLaw,
    Pair,
    Worst,
    best_of,
    laws_of_candidates,
    worst,
)
from fim_private.privacy import ApproxDP, PureDP
from fim_private.private_candidates import KnownThreshold, RandomStopping
from fim_private.private_candidates.pool import CandidateLoss, FiniteLaw, parts
from fim_private.randomness import SeededRandomness
from verification.private_candidates import relatives
from verification.private_candidates.above_threshold import AboveThreshold, ExtendedAboveThreshold
from verification.private_candidates.amplification import Amplification
from verification.private_candidates.last_step import steps_for, steps_for_delta, steps_for_epsilon
from verification.private_candidates.percentile_threshold import PercentileThreshold
from verification.private_candidates.unknown_threshold import UnknownThreshold

EPSILON, DELTA = Fraction(1, 2), Fraction(1, 1000)
"""What one run of a candidate costs; delta in the cases that have one."""
STOP = Fraction(1, 50)
ROUNDING = 1e-9
"""Logarithms of quotients of small differences keep nine digits."""

ORACLE = AboveThreshold(loss=PureDP(EPSILON), epsilon=Fraction(4, 5), percentile=Fraction(2, 5), resolution=6)
SAMPLED = ExtendedAboveThreshold(
    loss=PureDP(EPSILON),
    epsilon=Fraction(4, 5),
    delta=Fraction(1, 50),
    slack=Fraction(1, 2),
    percentile=Fraction(2, 5),
    queries=2,
    samples=600,
    resolution=6,
)
NESTED = PercentileThreshold(
    loss=PureDP(EPSILON),
    epsilon=Fraction(4, 5),
    delta=Fraction(1, 50),
    slack=Fraction(1, 2),
    percentile=Fraction(2, 5),
    failing=Fraction(1, 2),
    thresholds=3,
    samples=60,
    resolution=4,
)
COMBINED = UnknownThreshold(search=NESTED, stop=STOP, steps=200)


@dataclass(frozen=True, kw_only=True)
class CandidateCase:
    """An algorithm with its claim, or a mistake with the claim that it would make.

    Args:
        name: of the algorithm, or what was done wrong.
        source: the theorem of the claim; where it is a mistake, whose claim it takes.
        claim: what everything together is said to cost.
        law: the exact law of the outcome, of what the pairs are of.
        pairs: neighbours.
    """

    name: str
    source: str
    claim: CandidateLoss
    law: Callable[[Any], Mapping[Any, float]]
    pairs: Callable[[], Iterator[tuple[Any, Any]]]

    @property
    def epsilon(self) -> float:
        """Of the claim."""
        return float(parts(self.claim)[0])

    @property
    def delta(self) -> float:
        """Of the claim."""
        return float(parts(self.claim)[1])


@dataclass(frozen=True, kw_only=True)
class CandidateVerdict:
    """What the neighbours of a case showed.

    Args:
        case: that was looked at.
        found: the worst of them.
    """

    case: CandidateCase
    found: Worst

    @property
    def holds(self) -> bool:
        """Whether the claim does: delta at the claim's epsilon, and without a delta the loss of every outcome."""
        within = bool(self.case.delta) or self.found.loss <= self.case.epsilon + ROUNDING
        return within and self.found.delta <= self.case.delta + ROUNDING


def verdict_of(case: CandidateCase) -> CandidateVerdict:
    """Compare all neighbours of a case, by exact laws."""
    return CandidateVerdict(case=case, found=worst(case.law, case.pairs(), case.epsilon))


def structured_laws(epsilon: float, delta: float) -> Iterator[Pair]:
    """The structured cases of the search, with a delta."""
    for pair in laws_of_candidates(epsilon):
        yield from relatives.with_delta(pair, delta)


def neighbours(epsilon: Fraction = EPSILON, delta: Fraction = Fraction(0)) -> Iterator[Pair]:
    """Laws of one run on neighbouring data: structured and random."""
    yield from structured_laws(float(epsilon), float(delta))
    yield from relatives.random_laws(float(epsilon), float(delta), 200, SeededRandomness(1))


def products(
    epsilon: Fraction, delta: Fraction, number: int
) -> Iterator[tuple[tuple[FiniteLaw, ...], tuple[FiniteLaw, ...]]]:
    """Neighbouring lists of candidates: each of a few pairs, in all combinations; and random ones."""
    structured = structured_laws(float(epsilon), float(delta))
    chosen = list(itertools.islice(structured, 0, None, 397 if delta else 41))
    at_random = list(relatives.random_laws(float(epsilon), float(delta), 60, SeededRandomness(1)))
    for combined in (
        *itertools.combinations_with_replacement(chosen, number),
        *(at_random[start : start + number] for start in range(len(at_random) - number)),
    ):
        yield tuple(one for one, _ in combined), tuple(other for _, other in combined)


def scored_from_0_to_1() -> Iterator[tuple[FiniteLaw, FiniteLaw]]:
    """Some of the neighbours, with scores as the algorithms that look for a threshold want them."""
    scores = {2: 1.0, 1: 0.6, 0: 0.0}

    def rescored(law: FiniteLaw) -> FiniteLaw:
        return {(scores[int(score)], name): chance for (score, name), chance in law.items()}

    for pair in itertools.islice(laws_of_candidates(float(EPSILON)), 0, None, 31):
        yield rescored(pair[0]), rescored(pair[1])


def queries(before: int, every: int) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Neighbouring chances of queries, every this many of them."""
    return itertools.islice(relatives.chances_of_queries(float(EPSILON), before), 0, None, every)


def cases() -> tuple[CandidateCase, ...]:
    """All algorithms that have an exact law."""
    pure, approximate = PureDP(EPSILON), ApproxDP(EPSILON, DELTA)
    known, best = KnownThreshold(threshold=1, stop=STOP), RandomStopping(stop=STOP)
    short = steps_for(STOP, Fraction(1, 10))
    ended = RandomStopping(stop=STOP, steps=steps_for_delta(STOP, Fraction(1, 100)))
    late = RandomStopping(stop=STOP, steps=steps_for_epsilon(STOP, Fraction(1, 10)))
    amplified = Amplification(threshold=1, exponent=None, dummies=5)

    def of_one(
        name: str, source: str, selection: KnownThreshold | RandomStopping, loss: CandidateLoss
    ) -> CandidateCase:
        pairs = partial(neighbours, *parts(loss))
        return CandidateCase(name=name, source=source, claim=selection.cost(loss), law=selection.law, pairs=pairs)

    first = "Algorithm 1, the first run that reaches a threshold"
    best_run = "Algorithm 2, the best of a random number of runs"
    return (
        of_one(first, "Theorem 3.1", known, pure),
        of_one(f"{first}, {short} at most", "Theorem 3.1", replace(known, steps=short), pure),
        of_one(f"{first}, of runs with a delta", "Theorem 3.1", known, approximate),
        of_one(best_run, "Theorem 3.2", best, pure),
        of_one(f"{best_run}, {ended.steps} at most", "Theorem 3.4", ended, pure),
        replace(of_one(f"{best_run}, {late.steps} at most", "Theorem 3.5", late, pure), claim=late.pure_cost(pure)),
        of_one(f"{best_run}, of runs with a delta", "Theorem 3.2", best, approximate),
        CandidateCase(
            name="Algorithm 3, the first query whose runs pass often",
            source="Theorem 4.1",
            claim=PureDP(ORACLE.epsilon),
            law=partial(law_of_oracle, ORACLE),
            pairs=partial(queries, 4, 1),
        ),
        CandidateCase(
            name="Algorithm 4, the same from samples",
            source="Theorem 4.4",
            claim=ApproxDP(SAMPLED.epsilon, SAMPLED.delta),
            law=partial(law_by_place, SAMPLED),
            pairs=partial(queries, 1, 3),
        ),
        CandidateCase(
            name="Algorithm 5, a threshold at a percentile",
            source="Theorem 4.6",
            claim=ApproxDP(NESTED.epsilon, NESTED.delta),
            law=partial(law_by_place, NESTED),
            pairs=scored_from_0_to_1,
        ),
        CandidateCase(
            name="Algorithms 5 and 1, the threshold unknown",
            source="Theorem 4.7",
            claim=COMBINED.cost,
            law=COMBINED.law,
            pairs=scored_from_0_to_1,
        ),
        CandidateCase(
            name="Amplification with dummies, two candidates",
            source="Theorem C.1",
            claim=amplified.cost(pure, 2),
            law=amplified.law,
            pairs=partial(products, EPSILON, Fraction(0), 2),
        ),
        CandidateCase(
            name="Amplification with dummies, thirteen candidates",
            source="Theorem C.1",
            claim=amplified.cost(pure, 13),
            law=amplified.law,
            pairs=lambda: iter([one_against_all(13)]),
        ),
    )


def mistakes() -> tuple[CandidateCase, ...]:
    """Relatives of the algorithms that are not private enough, each with the claim it is mistaken for."""
    first, best = PureDP(2 * EPSILON), PureDP(3 * EPSILON)
    falling = [2, 1.5, 1.2, 1.1, 1, 0.5, 0.2, 0]
    half = replace(ORACLE, epsilon=2 * ORACLE.epsilon)
    exact = replace(SAMPLED, epsilon=Fraction(100), percentile=Fraction(1, 2))
    of_one: tuple[tuple[str, str, PureDP, Callable[[FiniteLaw], Mapping[Any, float]]], ...] = (
        ("the best of ten runs", "Algorithm 2's", best, partial(best_of, 10)),
        (
            "the threshold lowered where none reaches it (Algorithm 6)",
            "Algorithm 1's",
            first,
            partial(relatives.decreasing_thresholds, 0.05, falling),
        ),
        ("the exact median of the scores", "Algorithm 2's", best, partial(relatives.percentile, 0.5)),
        (
            "the number of runs published",
            "Algorithm 1's",
            first,
            partial(relatives.with_number_of_calls, 1, 0.05, 12),
        ),
        ("twelve runs instead of a coin", "Algorithm 1's", first, partial(relatives.without_coin, 1, 12)),
        (
            "one run's cost claimed",
            "a candidate's",
            PureDP(EPSILON),
            KnownThreshold(threshold=1, stop=STOP).law,
        ),
        ("two runs' cost claimed for the best", "Algorithm 1's", first, RandomStopping(stop=STOP).law),
    )
    return (
        *(
            CandidateCase(name=name, source=source, claim=claim, law=law, pairs=neighbours)
            for name, source, claim, law in of_one
        ),
        CandidateCase(
            name="half the noise",
            source="Algorithm 3's",
            claim=PureDP(ORACLE.epsilon),
            law=partial(law_of_oracle, half),
            pairs=partial(queries, 10, 2),
        ),
        CandidateCase(
            name="no noise: the sample's own percentile",
            source="Algorithm 4's",
            claim=ApproxDP(SAMPLED.epsilon, SAMPLED.delta),
            law=partial(law_by_place, exact),
            pairs=partial(queries, 1, 3),
        ),
        CandidateCase(
            name="no dummies, six candidates",
            source="Theorem C.1's",
            claim=Amplification(threshold=1, exponent=None, dummies=2).cost(PureDP(EPSILON), 6),
            law=without_dummies,
            pairs=lambda: iter([six_that_move()]),
        ),
    )


def law_of_oracle(search: AboveThreshold, chances: Sequence[float]) -> OutcomeLaw:
    """Which query is answered, by its place; of exact chances."""
    return law_by_place(search, [Fraction(chance) for chance in chances])


def law_by_place(search: AboveThreshold | ExtendedAboveThreshold | PercentileThreshold, given: Any) -> OutcomeLaw:
    """Which query or threshold is answered, by its place, of what the search's law is of."""
    return dict(enumerate(search.law(given).tolist()))


def without_dummies(laws: Sequence[FiniteLaw]) -> OutcomeLaw:
    """Not private enough: any candidate whose run reaches 1, or nothing."""
    found: dict[Hashable, float] = {}
    for runs in itertools.product(*(law.items() for law in laws)):
        chance = math.prod(probability for _, probability in runs)
        good: list[Hashable] = [(place, drawn) for place, (drawn, _) in enumerate(runs) if drawn[0] >= 1]
        for outcome in good or [None]:
            found[outcome] = found.get(outcome, 0.0) + chance / max(1, len(good))
    return found


def one_against_all(candidates: int) -> tuple[tuple[FiniteLaw, ...], tuple[FiniteLaw, ...]]:
    """One candidate reaches the threshold less often on the other side, and all others more often."""
    chance = 0.3
    seldom: FiniteLaw = {MIDDLE: chance, LOW: 1 - chance}
    more = chance * math.exp(float(EPSILON))
    often: FiniteLaw = {MIDDLE: more, LOW: 1 - more}
    others = candidates - 1
    return (often, *[seldom] * others), (seldom, *[often] * others)


def six_that_move() -> tuple[tuple[FiniteLaw, ...], tuple[FiniteLaw, ...]]:
    """Six candidates of which each fails less often on one side, by all of its epsilon."""
    fails = 0.5 * math.exp(-float(EPSILON))
    often: FiniteLaw = {HIGH: 0.0, MIDDLE: 0.5, LOW: 0.5}
    seldom: FiniteLaw = {HIGH: 0.0, MIDDLE: 1 - fails, LOW: fails}
    return (often,) * 6, (seldom,) * 6
