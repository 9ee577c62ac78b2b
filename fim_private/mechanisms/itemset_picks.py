"""Picks of itemsets of tokens by items-first: what they reach, what they favour, and the decoys beside them.

Picks that cannot tell itemsets from those that nobody has fall on decoys as often as these are among all. So decoys
among the picks show where a list would be mostly noise.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.mechanisms.asked_itemsets import MOST_CANDIDATES, AskedItemsets
from fim_private.mechanisms.later_steps import LaterSteps, shared
from fim_private.mechanisms.lengths import PICK_VARIANCE, Lengths
from fim_private.mechanisms.lifted_exponential import most_held
from fim_private.mechanisms.protocol import BY_COUNT, BY_LEVERAGE

_LOG_CANDIDATES = 8.0
"""The logarithm of the number of candidates that are about as likely as those wanted."""
_MANY_CANDIDATES = 10
"""Of this times k candidates, hardly any random pick is right. Fewer need no decoys."""
_SHORT_LIST, _MOST_APART = 25, 4
"""Beside every candidate of a list so short there is a decoy, and beside every fourth one of a long list.

Decoys take picks from itemsets that are hardly told from nothing. The more picks there are, the fewer decoys tell how
many are noise."""
_BLIND = 0.1
"""Picks are blind to itemsets of which less than this times the scale of their noise is expected."""
_MOST_ADDED = 2.0**62


def serve_better(asked: AskedItemsets, supports: Floats, held: Lengths, transactions: float, left: Fraction) -> bool:
    """Whether picks serve better than noisy counts.

    The noise of a pick grows with k. The noise of the counts does not grow with k, but units that hold many of the
    tokens count less in them, whatever epsilon is. So pairs are picked if k is small, or units hold many of the
    tokens. Single items and others are picked if k is small, or picks can tell the k-th from nothing. Itemsets of
    three items or more are picked if k is small, or picks can tell the items that a good answer needs from nothing: the
    larger the itemset, the rarer it is beside its items. All this is a guess at the support of the k-th itemset. If
    that was released before, it decides about long lists.

    With Laplace noise, picks of any size serve if they are as exact as noisy counts. Their noise grows with k itself,
    and that of counts with the number of itemsets that units hold. They also serve if k is small. But itemsets of three
    items or more are so rare beside their items that picks must then tell the k-th from nothing, as a look at its
    support says.

    Args:
        asked: what is asked for.
        supports: about how many units hold each token, in decreasing order.
        held: how many of the first tokens units hold.
        transactions: about how many transactions there are.
        left: what picks may cost.
    """
    tuning, smallest = asked.tuning, asked.sizes[0]
    few = _are_few(asked)
    if asked.noise.look.linear:
        if asked.size > 2:
            few = few and _told_apart(asked, _epsilon(asked, left)) <= (asked.support or 0.0)
        exact_enough = tuning.peels * math.sqrt(2 * asked.epsilon) * held.picks_worth((min(2, asked.size),))
        return few or asked.top <= exact_enough
    if asked.size == 1 or (few and (smallest <= 2 or asked.sizes == (3,))):
        return True
    told_apart, needed = _told_apart(asked, _epsilon(asked, left)), asked.last_needed(supports)
    # Over several sizes, units hold about as many of the likely itemsets as of pairs.
    as_exact = held.picks_worth((2,))
    if len(asked.sizes) == 1 and asked.support is not None and not few:
        return _tell_the_kth(asked, asked.support, told_apart, needed, as_exact)
    if smallest == 1:
        return told_apart <= tuning.peels_kth * asked.kth(supports, transactions)
    if smallest == 2:
        return asked.top <= tuning.peels * math.sqrt(2 * asked.epsilon) * as_exact
    return told_apart <= tuning.peels_larger ** (smallest - 2) * needed


def reached(asked: AskedItemsets, left: Fraction, supports: Floats) -> float:
    """The support down to which tokens go on to picks if these may cost all that is left; 0 if counts help them.

    Where that leaves too few tokens for the itemsets asked for, it is the support of the last one that is needed.
    """
    if _counted_before(asked) or not len(supports):
        return 0.0
    last = float(supports[min(asked.barely_enough, len(supports)) - 1])
    return min(last, _reach(asked, _epsilon(asked, left)))


def with_picks(
    asked: AskedItemsets, steps: LaterSteps, left: Fraction, supports: Floats, *, held: Lengths, budget: Fraction
) -> LaterSteps:
    """These steps with picks, which cost what is left. Perhaps pairs, or the most frequent items, are counted.

    Args:
        asked: what is asked for.
        steps: the steps before.
        left: what picks and counts may cost.
        supports: about how many units hold each token, in decreasing order.
        held: how many of the first tokens units hold.
        budget: what all steps of the mechanism may cost.
    """
    tuning, kind, recount, pairs = asked.tuning, asked.noise.measurement, None, None
    if asked.by == BY_LEVERAGE:
        # No transaction holds more of these items, so each counts in full.
        recount = shared(kind, budget, tuning.recount_share, full=tuning.recounted, sensitivity=asked.sensitivity)
        left -= recount.cost
    if len(asked.sizes) > 1:
        # Sizes are compared by noisy counts of pairs. Larger itemsets of one size are picked by the counts of their
        # items: units hold so many pairs that noisy counts of pairs find fewer of them.
        full = asked.noise.full(tuning.full_pairs, held, (2,))
        pairs = shared(kind, left, tuning.picks_pairs_share, full=full, sensitivity=asked.sensitivity)
        left -= pairs.cost
    pick = _epsilon(asked, left, after=0.0 if steps.certificate is None else float(steps.certificate.rho))
    tokens = min(steps.tokens, int(np.count_nonzero(supports >= _reach(asked, pick))))
    if recount is not None or asked.noise.look.linear:
        tokens = max(tokens, min(asked.enough, steps.tokens))
    elif not _counted_before(asked):
        tokens = max(tokens, min(asked.barely_enough, steps.tokens))
    most = MOST_CANDIDATES
    if asked.picked_from_all:
        most = most_held(asked.size)
    elif _decoys(asked):
        most = most * candidates_per_decoy(asked.top) // (candidates_per_decoy(asked.top) + 1)
    return replace(steps, pick_epsilon=pick, recount=recount, pairs=pairs, tokens=tokens, candidates=most)


def candidates_per_decoy(top: int) -> int:
    """How many candidates there are per decoy, if k picks have decoys."""
    return min(_MOST_APART, max(1, top // _SHORT_LIST))


def choose_from(asked: AskedItemsets, candidates: int) -> int:
    """How many itemsets picks choose from at most: candidates and decoys."""
    return candidates + (-(-candidates // candidates_per_decoy(asked.top)) if _decoys(asked) else 0)


def with_decoys(asked: AskedItemsets, favour: NDArray[np.int64], *, blind: bool = False) -> NDArray[np.int64]:
    """The favour of the candidates, and then of decoys, if there are some: itemsets that nobody has.

    A favour is what is added to a count, int64. `blind` is as in `decoys_stand_beside`.
    """
    some = decoys_stand_beside(asked, len(favour), blind=blind)
    return np.concatenate([favour, favour[:: candidates_per_decoy(asked.top)]]) if some else favour


def decoys_stand_beside(asked: AskedItemsets, candidates: int, *, blind: bool = False) -> bool:
    """Whether there are decoys beside this many candidates. `blind` is whether picks can hardly tell any from nothing.

    Where first counts name the items, few candidates do not mean that there are few items: noise may have lifted some
    of many.
    """
    return _decoys(asked) and (candidates >= _MANY_CANDIDATES * asked.top or (blind and asked.named))


def are_blind(asked: AskedItemsets, pick_epsilon: Fraction, expected: Floats) -> bool:
    """Whether the k-th of what is expected, logarithms in decreasing order, is far below the noise of a pick."""
    if not len(expected):
        return False
    kth = math.exp(expected[min(asked.top, len(expected)) - 1])
    return kth < _BLIND * asked.sensitivity / float(pick_epsilon)


def weights_of(supports: Floats) -> list[int]:
    """The weights of tokens that about this many units hold: an itemset's chance is proportional to the product."""
    return [max(1, round(support)) for support in supports.tolist()]


def favour_of(
    asked: AskedItemsets,
    pick_epsilon: Fraction,
    expected: Floats,
    deviations: Floats,
    independent: Floats | None = None,
) -> NDArray[np.int64]:
    """What is added to the counts of candidates before picks, from released numbers alone.

    Likely itemsets are picked more often. A candidate that was counted with noise before is picked by the average
    of that count and the pick's own, weighted by their precision. Both are compared with the k-th largest count, so
    that candidates that were counted compete with the others.

    Args:
        asked: what is asked for.
        pick_epsilon: the epsilon of one pick.
        expected: shape (candidates,), in decreasing order, the logarithm of what is expected of each.
        deviations: shape (candidates,), the deviation of the error in what is expected; infinite where a larger
            candidate was not counted itself.
        independent: shape (candidates,), about how many transactions would hold each if items were independent, if
            candidates are ranked by leverage. It comes from released numbers, so subtracting it is free.
    """
    if not len(expected):
        return np.zeros(0, np.int64)
    tuning, scale = asked.tuning, asked.sensitivity / float(pick_epsilon)
    counts = np.exp(expected)
    precision = 1 / (deviations**2 + (tuning.uneven * counts) ** 2)
    added = (tuning.prior if independent is None else tuning.leverage_prior) * scale * expected
    if independent is not None:
        added -= independent
    added += PICK_VARIANCE * scale**2 * precision * (counts - counts[min(asked.top, len(counts)) - 1])
    return public_scores(added - added.min())


def public_scores(added: Floats) -> NDArray[np.int64]:
    """What is added to counts before picks, rounded, and far from where sums of 64 bits would wrap around.

    One unit would move a sum that wraps around by more than it moves a count.
    """
    scores: NDArray[np.int64] = np.rint(np.nan_to_num(added).clip(-_MOST_ADDED, _MOST_ADDED)).astype(np.int64)
    return scores


def deviation_of_pairs(asked: AskedItemsets, expected: Floats) -> Floats:
    """How far the counts of pairs are taken to be from what independent items would let expect, in transactions.

    The support of the k-th tells how dependent items are, if it was released before. Longer lists are picked only where
    picks tell the pairs by themselves, and are better without.

    Args:
        asked: what is asked for.
        expected: shape (pairs,), in decreasing order, the logarithm of what is expected of each.

    Returns:
        float64, shape (pairs,); infinite for long lists, and for leverage, which is what counts differ by.
    """
    if asked.by == BY_LEVERAGE or not _are_few(asked) or not len(expected):
        return np.full(len(expected), math.inf)
    tuning, kth = asked.tuning, max(1.0, math.exp(expected[min(asked.top, len(expected)) - 1]))
    share = tuning.dependent
    if asked.support is not None:
        share = min(1.0, max(tuning.least_dependent, tuning.dependent_known * asked.support / kth))
    deviations: Floats = share * np.maximum(np.exp(expected), kth)
    return deviations


def _are_few(asked: AskedItemsets) -> bool:
    """Whether so few itemsets are asked for that picks select them whatever they tell."""
    tuning = asked.tuning
    most = tuning.always_peels_triples if asked.sizes == (3,) else tuning.always_peels
    return asked.top <= most * max(1.0, asked.epsilon)


def _counted_before(asked: AskedItemsets) -> bool:
    """Whether picks also go by what was counted of items and pairs before, and so reach further."""
    return asked.sizes[0] == 1 or len(asked.sizes) > 1


def _decoys(asked: AskedItemsets) -> bool:
    """Whether picks may have decoys. A favour that holds counts of candidates, or leverage, would suit no decoy."""
    return not _counted_before(asked) and asked.by == BY_COUNT


def _epsilon(asked: AskedItemsets, left: Fraction, after: float = 0.0) -> Fraction:
    """The epsilon of one pick if all picks cost what is left, beside `after`, which follows them."""
    return asked.noise.pick_epsilon(float(left), asked.top, after, asked.tuning.rise)


def _tell_the_kth(asked: AskedItemsets, support: float, told_apart: float, needed: float, as_exact: float) -> bool:
    """Whether picks of pairs or larger itemsets can tell the k-th and its items from the other candidates.

    Args:
        asked: what is asked for.
        support: about how many units hold the k-th itemset.
        told_apart: the support that a pick can tell from nothing.
        needed: the support of the rarest item that a good answer needs.
        as_exact: this many picks are as exact as noisy counts of pairs at epsilon 1/2.
    """
    tuning = asked.tuning
    if asked.size == 2:
        most = tuning.peels_kth * math.sqrt(2 * asked.epsilon) * as_exact / asked.top
        return told_apart <= min(most * support, needed)
    # The rarer an itemset is beside its items, the more others are about as likely.
    rarer = max(1.0, needed / max(support, 1.0))
    log_candidates = math.log(asked.top) + asked.size * math.log(rarer)
    told_apart_from_likely = told_apart * log_candidates / _LOG_CANDIDATES
    # The support from a public list is released over a rarer itemset.
    most = tuning.peels_larger_support
    most *= 1.0 if asked.listed else 1 + min(1.0, as_exact / tuning.peels_larger_exact)
    least_needed = told_apart / tuning.peels_larger_known ** (asked.size - 2)
    return told_apart_from_likely <= most * support and least_needed <= needed


def _told_apart(asked: AskedItemsets, pick_epsilon: Fraction) -> float:
    """The support that a pick can tell from nothing."""
    return _LOG_CANDIDATES * asked.sensitivity / float(pick_epsilon)


def _reach(asked: AskedItemsets, pick_epsilon: Fraction) -> float:
    """The support down to which tokens go on to picks."""
    tuning, told_apart = asked.tuning, _told_apart(asked, pick_epsilon)
    if asked.picked_from_all:
        return tuning.larger_reach * told_apart
    if asked.named and asked.size == 1:
        return 0.0
    reach = tuning.several_reach if _counted_before(asked) else 1.0
    return reach * (tuning.if_listed if asked.listed else 1.0) * told_apart
