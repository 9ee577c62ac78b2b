"""The steps of items-first. Noisy counts come through the door; post-processing of them decides what is counted next.

The itemsets to ask for are chosen from earlier noisy counts, never from the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.counting import ChosenCounts, Tokens, TransactionDatabase
from fim_private.mechanisms import itemset_measurements, itemset_picks, lacking_items
from fim_private.mechanisms.asked_itemsets import MOST_CANDIDATES, AskedItemsets
from fim_private.mechanisms.item_prior import ItemPrior
from fim_private.mechanisms.item_reading import ItemReading
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement, share_of_noise, up_to_last
from fim_private.mechanisms.protocol import BY_COUNT, COUNTS
from fim_private.mining.likely_itemsets import joined_itemsets, likely_pairs
from fim_private.mining.outcome import FoundItems, Outcome
from fim_private.mining.shrinkage import Estimates, falling, shrink
from fim_private.randomness import Randomness
from fim_private.release.door import (
    certify,
    discover,
    keep_supported,
    look,
    look_at,
    look_at_lengths,
    measure,
    pick,
    pick_of_tokens,
)
from fim_private.transactions.item_codes import PADDING, increasing, one_item_each

CLEAR = 30
"""The number of first tokens that are assumed to be items when two counts are compared."""
WEIGHTS = (0.1, 1.0)
"""The average weight with which items count is between these."""
_TOGETHER, _NOISE = 0.5, 0.5
"""If the likeliest itemsets are not this many deviations of noise above 0 together, each has to stand out by itself.
Noise alone would then put at most this share of those that are read so high."""
TINY = 1e-3
"""An item's count is taken to be at least this."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Candidates:
    """Itemsets of tokens that are worth counting, and what released numbers tell of them.

    Args:
        itemsets: int32, shape (n, size), in decreasing order of their expected counts, padded if there are several
            sizes.
        expected: float64, shape (n,), the logarithms of the expected counts.
        deviations: float64, shape (n,), the standard deviation of the error in these counts, in transactions. It is
            infinite for larger itemsets that were not counted themselves.
    """

    itemsets: NDArray[np.int32]
    expected: Floats
    deviations: Floats

    @classmethod
    def joined(cls, parts: Sequence[tuple[NDArray[np.int32], Floats, Floats | float]]) -> _Candidates:
        """The itemsets of all sizes in one order."""
        width = max(itemsets.shape[1] for itemsets, _, _ in parts)
        expected = np.concatenate([each for _, each, _ in parts])
        order = np.argsort(-expected, kind="stable")
        padded = [
            np.pad(itemsets, ((0, 0), (0, width - itemsets.shape[1])), constant_values=PADDING)
            for itemsets, _, _ in parts
        ]
        deviations = np.concatenate([np.full(len(itemsets), deviation) for itemsets, _, deviation in parts])
        return cls(itemsets=np.concatenate(padded)[order], expected=expected[order], deviations=deviations[order])

    def support(self, place: int) -> float:
        """About how many transactions hold the itemset of this place, or the last one."""
        return math.exp(self.expected[min(place, len(self.expected)) - 1]) if len(self.expected) else 0.0

    def first(self, most: int) -> _Candidates:
        """The likeliest."""
        return _Candidates(
            itemsets=self.itemsets[:most], expected=self.expected[:most], deviations=self.deviations[:most]
        )


def look_first(
    database: TransactionDatabase, mechanism: ItemsFirst, randomness: Randomness
) -> tuple[TransactionDatabase, Lengths]:
    """The first step: the database with one transaction per unit, and about how many items units hold."""
    units = database.merge_units()
    return units, look_at_lengths(units, mechanism.look, randomness)


def run(
    database: TransactionDatabase,
    mechanism: ItemsFirst,
    randomness: Randomness,
    *,
    looked: tuple[TransactionDatabase, Lengths] | None = None,
    progress: Callable[[str], None] = lambda _phase: None,
) -> Outcome:
    """Find the items, then the itemsets, without names; then name as many as the certificate allows.

    Args:
        database: bounded transactions. If they have units, each unit has at most `mechanism.sensitivity` of them.
        mechanism: the mechanism with its parameters.
        randomness: where the bits come from.
        looked: the database with one transaction per unit, and what the look at their lengths found, if that look was
            made before.
        progress: called with the name of each phase as it begins.
    """
    merged, lengths = looked or look_first(database, mechanism, randomness)
    progress("finding items")
    mechanism = mechanism.naming(lengths) or mechanism
    reading = mechanism.reading(lengths)
    if reading is not None:
        return _read_items(database, merged, reading, randomness)
    tokens, units = discover(database, merged, mechanism.items, randomness)
    # What is left out for being long is the same for all items on average.
    weight = lengths.weight(mechanism.items.measurement.full)
    item_counts = mechanism.items.expected(units) / weight
    seen = units / mechanism.items.measurement.resolution / weight
    held = look(tokens, mechanism.few(item_counts, lengths), mechanism.look, randomness)
    again = mechanism.again(item_counts, lengths, held)
    if again is not None:
        likeliest, deviation = item_counts[: mechanism.asked.likeliest], mechanism.item_deviation(lengths)
        second, noise = _counted_again(tokens, likeliest, again, randomness)
        item_counts, seen = (_average(first, deviation, second, noise) for first in (item_counts, seen))
        order = np.argsort(-item_counts, kind="stable")
        tokens, item_counts, seen = tokens.ordered(order), item_counts[order], seen[order]
    possible = bool(lengths.lengths.max() >= mechanism.sizes[0])
    if not possible and mechanism.select is None and mechanism.by == BY_COUNT:
        mechanism = replace(mechanism, select=COUNTS)  # noise alone puts more on a list of picks
    steps = mechanism.later(item_counts, lengths, held, again)
    item_counts = item_counts[: steps.tokens]
    prior = None if steps.certificate is None else mechanism.items.prior(units, weight)
    progress("counting")
    if steps.items is not None:
        noise = len(lengths.units) * mechanism.look.variance
        tokens, item_counts, steps = _picked_items(tokens, item_counts, mechanism.asked, steps, randomness, noise=noise)
        seen, prior = item_counts, None  # items that were picked were not chosen for their noise
    independent = None if steps.recount is None else _independent(tokens, item_counts, steps, steps.recount, randomness)
    epsilon, counts = steps.pick_epsilon, None
    if epsilon is not None and mechanism.asked.picked_from_all:
        chosen = _picked_from_all(tokens, item_counts, mechanism, randomness, pick_epsilon=epsilon)
    else:
        candidates = _candidates(tokens, item_counts, mechanism, steps, randomness)
        if steps.items is not None:
            chosen = _sure(candidates.itemsets, item_counts, steps.transactions)[: mechanism.top]
        elif epsilon is None:
            chosen, counts = _read(tokens, candidates, mechanism, steps, randomness, possible=possible)
        else:
            expected = None if independent is None else independent(candidates.itemsets)
            chosen = _picked(tokens, candidates, mechanism, randomness, pick_epsilon=epsilon, independent=expected)
    codes, places = _certified(tokens, chosen, item_counts, steps, randomness, seen=seen, prior=prior)
    named = np.sort(places)  # what is named keeps its order
    itemsets = codes[np.argsort(places, kind="stable")]
    found, first = np.unique(chosen[named], return_index=True)
    shown = np.where(found == PADDING, -math.inf, item_counts[found])
    by_count = np.argsort(-shown, kind="stable")[: (found != PADDING).sum()]
    return Outcome(
        itemsets=increasing(itemsets),
        counts=None if counts is None else counts[named],
        found=FoundItems(
            codes=itemsets.ravel()[first[by_count]],
            counts=shown[by_count],
        ),
    ).consistent


def _certified(
    tokens: Tokens,
    chosen: NDArray[np.int32],
    item_counts: Floats,
    steps: LaterSteps,
    randomness: Randomness,
    *,
    seen: Floats,
    prior: ItemPrior | None,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The chosen itemsets that may be named, in codes, and their places among the chosen ones.

    The itemsets of the likeliest items are certified first. `item_counts` is what is expected of the tokens. `seen` and
    `prior` tell how likely they are to pass, as in `Certificate.trust`.
    """
    items = np.where(chosen == PADDING, chosen[:, :1], chosen)
    rarest = items[np.arange(len(items)), item_counts[items].argmin(axis=1)]
    by_support = np.argsort(-item_counts[rarest], kind="stable")
    test, rarest = steps.certificate, rarest[by_support]
    trust = [] if test is None else test.trust(item_counts[rarest], steps.item_deviation, prior, seen[rarest])
    codes = certify(tokens, chosen[by_support], test, randomness, trust)
    return codes, by_support[: len(codes)]


def _read_items(
    database: TransactionDatabase, merged: TransactionDatabase, reading: ItemReading, randomness: Randomness
) -> Outcome:
    """The single items with the largest noisy counts, without some of little support."""
    tokens, noisy = discover(database, merged, reading.items, randomness)
    read = one_item_each(reading.tokens(noisy))
    kept = keep_supported(tokens, read, reading.left_out(len(read)), randomness)
    counts = noisy[kept[:, 0]]
    codes = certify(tokens, kept, reading.certificate, randomness, reading.trust(noisy, kept[:, 0]))
    found = counts[: len(codes)] / reading.items.measurement.resolution / reading.weight
    return Outcome(itemsets=codes, found=FoundItems(codes=codes[:, 0], counts=found))


def _picked_items(
    tokens: Tokens,
    item_counts: Floats,
    asked: AskedItemsets,
    steps: LaterSteps,
    randomness: Randomness,
    *,
    noise: float,
) -> tuple[Tokens, Floats, LaterSteps]:
    """Items that are picked by their counts and by their noisy counts, and their counts by how many units lack them.

    Those who hold an item and those who lack it are all units. So the first counts of the items also tell how many
    units there are, which the steps know by a look with this variance.
    """
    picks, cost = steps.items, steps.lacking
    if picks is None or cost is None:
        raise AssertionError("no items are picked")
    items = one_item_each(len(item_counts))
    favour = lacking_items.favour(picks, item_counts, steps.item_deviation)
    order = pick(tokens.count_chosen(items).plus(favour), picks, randomness)[:, 0].astype(np.int64)
    # Items are picked about in the order of their counts.
    tokens, item_counts = tokens.ordered(order), falling(item_counts[order], np.ones(len(order)))
    lacking = lacking_items.lacking(asked, cost, item_counts, steps.transactions)
    noisy = measure(tokens.count_lacking(lacking.weights), lacking, randomness) / lacking.resolution
    share = 1 / (1 + steps.item_deviation**2 / len(order) / noise)
    transactions = (1 - share) * steps.transactions + share * float((item_counts + noisy).mean())
    # Noise alone, beside hardly any units, may leave less than nothing.
    steps = replace(steps, transactions=max(1.0, transactions))
    counts = np.clip(steps.transactions - noisy, TINY, steps.transactions)
    by_count = np.argsort(-counts, kind="stable")
    return tokens.ordered(by_count), counts[by_count], steps


def _sure(itemsets: NDArray[np.int32], item_counts: Floats, transactions: float) -> NDArray[np.int32]:
    """The itemsets whose items are so frequent that some transactions must hold them all."""
    lacking = np.append(transactions - item_counts, 0.0)  # padding, which is -1, is lacked by nobody
    sure: NDArray[np.int32] = itemsets[lacking[itemsets].sum(axis=1) < transactions]
    return sure


def _candidates(
    tokens: Tokens,
    item_counts: Floats,
    mechanism: ItemsFirst,
    steps: LaterSteps,
    randomness: Randomness,
) -> _Candidates:
    """The itemsets worth counting.

    Sizes are compared by predictions from noisy counts of pairs. For picks of items or pairs, and where items alone
    tell of their itemsets, the items' counts are enough.
    """
    logs, deviation = np.log(item_counts), steps.item_deviation
    if mechanism.size == 1:
        return _Candidates.joined([(one_item_each(len(item_counts)), logs, deviation)])
    if steps.pairs is None and steps.items is None:
        likely = likely_pairs(item_counts, steps.candidates)
        expected = logs[likely].sum(axis=1) - math.log(max(steps.transactions, 1.0))
        deviations = itemset_picks.deviation_of_pairs(mechanism.asked, expected)
        return _Candidates.joined([(likely, expected, deviations)])
    pairs = likely_pairs(item_counts, MOST_CANDIDATES)
    if steps.pairs is None:
        estimate, off = np.exp(logs[pairs].sum(axis=1)) / steps.transactions, (0.0, 0.0, 0.0)
    else:
        estimate = _estimated(tokens.count_chosen(pairs, steps.pairs.weights), steps.pairs, randomness).counts
        estimate /= steps.pair_weight
        off = (deviation, steps.pairs.deviation / steps.pair_weight, math.inf)
    best = np.argsort(-estimate, kind="stable")[: mechanism.asked.joined]
    found = []
    for size in mechanism.sizes:
        if size == 1:
            found.append((one_item_each(len(item_counts)), logs, off[0]))
        else:
            joined = joined_itemsets(
                pairs[best], estimate[best], item_counts, size, steps.candidates, total=steps.transactions
            )
            found.append((*joined, off[min(size, 3) - 1]))
    return _Candidates.joined(found).first(steps.candidates)


def _independent(
    tokens: Tokens, item_counts: Floats, steps: LaterSteps, recount: Measurement, randomness: Randomness
) -> Callable[[NDArray[np.int32]], Floats]:
    """About how many transactions would hold pairs of tokens if their items were independent, from noisy counts.

    With true counts, scores would move both ways with one unit, and picks would need twice the noise. An error of a
    frequent item's count is an error of all its pairs, so these items are counted once more. Proof:
    docs/mathematics.md#leverage.
    """
    known = item_counts.copy()
    first = one_item_each(min(recount.full, len(known)))
    known[: len(first)] = measure(tokens.count_chosen(first, recount.weights), recount, randomness) / recount.resolution
    # No item is in more transactions than there are, whatever noise says.
    transactions = max(steps.transactions, float(known.max(initial=1.0)))
    return lambda pairs: known[pairs].prod(axis=1) / transactions


def _counted_again(tokens: Tokens, first: Floats, again: Measurement, randomness: Randomness) -> tuple[Floats, float]:
    """New counts of the first tokens, in transactions, and the deviation of the noise in them.

    Units that hold many of these tokens count less in each. How much less, the clear tokens tell by their first counts.
    """
    second = measure(tokens.count_units(len(first), again.weights), again, randomness) / again.resolution
    weight = float(np.clip(second[:CLEAR].sum() / first[:CLEAR].sum(), *WEIGHTS))
    return second / weight, again.deviation / weight


def _average(first: Floats, deviation: float, second: Floats, noise: float) -> Floats:
    """Two counts of the first tokens, weighted by their precision, above 0; and one count of the others.

    Args:
        first: shape (n,), in transactions, in decreasing order.
        deviation: the deviation of the noise in them.
        second: shape (m,), of the first m.
        noise: the deviation of the noise in them.
    """
    share, likeliest = 1 / (1 + (noise / deviation) ** 2), first[: len(second)]
    averaged = np.maximum(likeliest + share * (second - likeliest), TINY)
    return np.concatenate([averaged, first[len(second) :]])


def _picked(
    tokens: Tokens,
    candidates: _Candidates,
    mechanism: ItemsFirst,
    randomness: Randomness,
    *,
    pick_epsilon: Fraction,
    independent: Floats | None,
) -> NDArray[np.int32]:
    """The itemsets that are picked, beside decoys if there are many candidates."""
    favour = itemset_picks.favour_of(
        mechanism.asked, pick_epsilon, candidates.expected, candidates.deviations, independent
    )
    blind = itemset_picks.are_blind(mechanism.asked, pick_epsilon, candidates.expected)
    favour = itemset_picks.with_decoys(mechanism.asked, favour, blind=blind)
    scores = tokens.count_chosen(candidates.itemsets).padded(len(favour)).plus(favour)
    chosen = pick(scores, mechanism.picks(pick_epsilon, len(favour)), randomness)
    return _without_decoys(chosen, itemset_picks.candidates_per_decoy(mechanism.top))


def _picked_from_all(
    tokens: Tokens, item_counts: Floats, mechanism: ItemsFirst, randomness: Randomness, *, pick_epsilon: Fraction
) -> NDArray[np.int32]:
    """The itemsets that are picked from all those of the tokens, beside decoys if there are many."""
    picks = mechanism.picks_from_all(pick_epsilon, len(item_counts))
    per_decoy = itemset_picks.candidates_per_decoy(mechanism.top)
    many = itemset_picks.decoys_stand_beside(mechanism.asked, picks.universe_size)
    weights = itemset_picks.weights_of(item_counts)
    chosen = pick_of_tokens(tokens, weights, picks, mechanism.size, randomness, per_decoy=per_decoy if many else None)
    return _without_decoys(chosen, per_decoy)


def _read(
    tokens: Tokens,
    candidates: _Candidates,
    mechanism: ItemsFirst,
    steps: LaterSteps,
    randomness: Randomness,
    *,
    possible: bool,
) -> tuple[NDArray[np.int32], Floats | None]:
    """The itemsets with the largest noisy counts, and these counts; `possible` as in `_told_from_noise`."""
    least = -math.inf if mechanism.min_count is None else mechanism.min_count
    estimates = _counted(tokens, candidates, mechanism, steps, randomness, least=least)
    estimate = estimates.counts
    # Candidates are in decreasing order of expectation. That order is public, so it may decide between equals.
    told = _told_from_noise(estimates, candidates, mechanism, possible=possible)
    best = np.argsort(-estimate, kind="stable")[: min(mechanism.top, told)]
    best = best[estimate[best] > least]
    return candidates.itemsets[best], estimate[best]


def _counted(
    tokens: Tokens,
    candidates: _Candidates,
    mechanism: ItemsFirst,
    steps: LaterSteps,
    randomness: Randomness,
    *,
    least: float,
) -> Estimates:
    """Estimated counts of the candidates. Those that may or may not belong to the answer are counted again."""
    usual, spread = steps.itemsets, steps.spread
    if usual is None or spread is None:
        raise AssertionError("nothing is counted")
    itemsets, support = candidates.itemsets, max(least, candidates.support(mechanism.top))
    weighted = tokens.count_chosen(itemsets, usual.weights)
    # Transactions that hold many of the itemsets count less in each of them.
    held = look_at(weighted, spread, randomness)
    measurement = itemset_measurements.weighted(mechanism.asked, usual, held, support)
    if measurement.full != usual.full:
        weighted = tokens.count_chosen(itemsets, measurement.weights)
    estimates = _estimated(weighted, measurement, randomness).weighted(held.weight(measurement.full))
    whole = max(float(np.maximum(estimates.counts, 0).sum()), TINY)
    for rho in steps.in_doubt:
        places = estimates.in_doubt(mechanism.top, least, mechanism.tuning.doubt)
        share = min(1.0, float(np.maximum(estimates.counts[places], 0).sum()) / whole)
        holding = held.thinned(share)
        again = itemset_measurements.weighted(mechanism.asked, mechanism.recount(rho, share), holding, support)
        noisy = measure(tokens.count_chosen(itemsets[places], again.weights), again, randomness) / again.resolution
        weight = holding.weight(again.full)
        estimates = estimates.averaged(places, noisy / weight, again.deviation / weight)
    return estimates


def _without_decoys(chosen: NDArray[np.int32], per_decoy: int) -> NDArray[np.int32]:
    """The picks that are no decoys, which are all padding, up to where half of all picks are likely to be noise.

    Noise falls on a decoy as often as on one in `per_decoy` candidates.
    """
    decoys = chosen[:, 0] == PADDING
    noise = (per_decoy + 1) * np.cumsum(decoys)
    last = up_to_last(2 * noise <= np.arange(1, len(decoys) + 1))
    told: NDArray[np.int32] = chosen[:last][~decoys[:last]]
    return told


def _told_from_noise(estimates: Estimates, candidates: _Candidates, mechanism: ItemsFirst, *, possible: bool) -> int:
    """How many candidates may be read: all if the likeliest have support, else those that stand out by themselves.

    Where what was expected is right, it tells far more than one count does. Whether it is right, many counts tell, and
    whether it is `possible`, that units hold enough items.
    """
    if possible and estimates.together_above_nothing(mechanism.top) >= _TOGETHER:
        return len(candidates.itemsets)
    deviations = np.sort(estimates.above_nothing(np.exp(candidates.expected), candidates.deviations))[::-1]
    return up_to_last(share_of_noise(mechanism.items.measurement.beyond(deviations), len(deviations)) <= _NOISE)


def _estimated(counts: ChosenCounts, measurement: Measurement, randomness: Randomness) -> Estimates:
    """Noisy counts in transactions, improved by the order in which the itemsets are expected."""
    return shrink(measure(counts, measurement, randomness) / measurement.resolution, measurement.deviation)
