"""The door: the only place where exact counts meet a mechanism, and the only way from counts to itemsets.

Three things pass: the list of itemsets that a mechanism selected, noisy counts of public itemsets and of tokens, and
what noisy looks say of the whole data, such as how long transactions are. Ranks become itemsets here. A rank that
stands for an itemset that does not occur becomes a uniformly drawn itemset of the public list that does not occur.
Where only the number of items is public, no mechanism answers with such a rank.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.counting import BasisBins, ChosenCounts, HiddenCounts, Tokens, TransactionDatabase
from fim_private.mechanisms.anonymous_items import AnonymousItems
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.count_look import CountLook
from fim_private.mechanisms.count_noise import CountNoise
from fim_private.mechanisms.left_out import LeftOut
from fim_private.mechanisms.lengths import BINS, MORE_BINS, LengthLook, Lengths
from fim_private.mechanisms.lifted_exponential import DECOY, OTHER, LiftedExponential
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.privbasis import PrivBasis
from fim_private.mechanisms.product_weights import ProductWeights
from fim_private.mechanisms.protocol import Mechanism, WithGaps
from fim_private.mechanisms.remaining_levels import Gaps, RemainingLevels, WeightedLevels
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian
from fim_private.plan import Plan
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_laplace import sample_discrete_laplace
from fim_private.randomness.uniform import uniform_below
from fim_private.release.admission import check_universe
from fim_private.transactions.item_codes import PADDING, increasing, one_item_each, padded

_FIRST_AT_ONCE, _MOST_AT_ONCE = 2**7, 2**15
"""How many itemsets are drawn at once, to be counted together: few at first, because most picks need none."""

Itemset = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PassedItemset:
    """An itemset that passed the door, with its noisy lead over the runner-up if the mechanism gives it.

    Args:
        items: the items' names.
        codes: the items' codes in the data's vocabulary.
        lead: the noisy lead in transactions, rounded down.
    """

    items: Itemset
    codes: tuple[int, ...]
    lead: int | None = None


def pass_through(
    database: TransactionDatabase,
    counts: HiddenCounts,
    mechanism: Mechanism,
    plan: Plan,
    randomness: Randomness,
    *,
    sizes: Sequence[int] | None = None,
) -> tuple[PassedItemset, ...]:
    """The itemsets that the plan's mechanism selects, in the order it picked them.

    Args:
        database: the data, bounded as the plan says.
        counts: the counts of its itemsets, as deep as the mechanism looks.
        mechanism: the plan's mechanism.
        plan: the plan; `plan.guarantee` is the cost.
        randomness: where the bits come from.
        sizes: the sizes of the counted itemsets. None stands for all sizes of the plan.

    Raises:
        InputError: more itemsets occur than the declared universe has.
    """
    check_universe(database, plan)
    sizes = plan.question.remaining_sizes if sizes is None else sizes
    itemsets = plan.declared_itemsets(*sizes)
    profile = counts.profile(None if itemsets is None else itemsets - len(counts))
    ranks, leads = _select(mechanism, profile, randomness)
    absent: set[tuple[int, ...]] = set()
    held = iter(counts.itemsets_at([rank for rank in ranks if rank < len(counts)]).tolist())
    chosen = [
        tuple(code for code in next(held) if code != PADDING)
        if rank < len(counts)
        else _absent(database, plan, sizes, absent, randomness)
        for rank in ranks
    ]
    return tuple(
        PassedItemset(items=tuple(str(database.vocabulary[code]) for code in itemset), lead=lead, codes=itemset)
        for itemset, lead in zip(chosen, leads, strict=True)
    )


def look_at_lengths(units: TransactionDatabase, noise: LengthLook, randomness: Randomness) -> Lengths:
    """How many items units hold. This costs `noise.loss`.

    Args:
        units: the data, bounded as the plan says, one transaction per unit.
        noise: the noise of the look.
        randomness: where the bits come from.
    """
    return noise.add_noise(units.count_lengths(BINS), randomness)


def discover(
    database: TransactionDatabase, units: TransactionDatabase, items: AnonymousItems, randomness: Randomness
) -> tuple[Tokens, NDArray[np.int64]]:
    """The tokens that go on, by their noisy counts in decreasing order. This costs `items.measurement.loss`.

    Args:
        database: the data, bounded as the plan says.
        units: the same, one transaction per unit.
        items: how the items are counted.
        randomness: where the bits come from.

    Returns:
        The tokens, and their noisy counts in units, int64, shape (tokens,).
    """
    every = one_item_each(len(units.vocabulary))
    places, noisy = items.find(units.count_chosen(every, items.measurement.weights).vector(), randomness)
    return Tokens(database, units, places), noisy


def look(tokens: Tokens, first: int, noise: LengthLook, randomness: Randomness) -> Lengths:
    """How many of the first tokens units hold. This costs `noise.loss`."""
    return noise.add_noise(tokens.count_lengths(first, BINS), randomness)


def look_at(counts: ChosenCounts, noise: LengthLook, randomness: Randomness) -> Lengths:
    """How many of the public itemsets transactions, or units, hold. This costs `noise.loss`."""
    numbers = counts.holders()
    # Each number goes to the bin below it. Nobody asks how many hold none.
    bins = np.searchsorted(MORE_BINS, np.arange(1, len(numbers)), side="right") - 1
    return noise.add_noise(np.bincount(bins, numbers[1:], len(MORE_BINS)).astype(np.int64), randomness)


def certify(
    tokens: Tokens,
    itemsets: NDArray[np.int32],
    certificate: Certificate | None,
    randomness: Randomness,
    trust: Sequence[float] = (),
) -> NDArray[np.int32]:
    """The items of the first itemsets, as many as the certificate allows. This costs the certificate's losses.

    Args:
        tokens: the tokens.
        itemsets: itemsets of tokens in a public order, int32, shape (n, size).
        certificate: the test; None if the tokens are the names of a public list.
        randomness: where the bits come from.
        trust: as in `Certificate.certify`.

    Returns:
        Item codes, int32, shape (named, size), padded like the itemsets. Nothing is named if one of the items is
        nobody's.
    """
    named = len(itemsets)
    if certificate is not None and named:
        named = certificate.certify(tokens.supports(itemsets), randomness, trust)
    return tokens.codes(itemsets[:named])


def keep_supported(
    tokens: Tokens, itemsets: NDArray[np.int32], left_out: LeftOut, randomness: Randomness
) -> NDArray[np.int32]:
    """The itemsets that stay when some of little support are left out, in their order. This costs the picks.

    Args:
        tokens: the tokens.
        itemsets: itemsets of tokens, int32, shape (n, size), public.
        left_out: how some are left out.
        randomness: where the bits come from.
    """
    return itemsets[left_out.keep(tokens.supports(itemsets), randomness)]


def measure(counts: ChosenCounts, measurement: Measurement, randomness: Randomness) -> NDArray[np.int64]:
    """Noisy counts, in units, of public itemsets, in their order. This costs `measurement.loss`.

    Args:
        counts: the counts, weighted as the measurement says.
        measurement: the measurement of the plan.
        randomness: where the bits come from.
    """
    return measurement.add_noise(counts.vector(), randomness)


def measure_chosen(
    database: TransactionDatabase,
    itemsets: Sequence[tuple[int, ...]],
    noise: CountNoise,
    randomness: Randomness,
) -> NDArray[np.int64]:
    """Noisy counts of itemsets that were chosen before, int64, in their order. This costs `noise.loss`.

    Args:
        database: the data, bounded as the plan says.
        itemsets: item codes, increasing; at most as many itemsets as the noise was planned for, each once. Codes beyond
            the vocabulary are items that do not occur: their itemsets have count 0, and get noise like all others.
        noise: the noise of the plan.
        randomness: where the bits come from.
    """
    if len(itemsets) > noise.top:
        raise AssertionError("more itemsets are to be counted than the noise was planned for")
    counts = np.zeros(len(itemsets), np.int64)
    occurring = [place for place, itemset in enumerate(itemsets) if max(itemset) < len(database.vocabulary)]
    counts[occurring] = database.count_chosen(padded([itemsets[place] for place in occurring])).vector()
    return noise.add_noise(counts, randomness)


def noisy_total(counts: ChosenCounts, scale: Fraction, randomness: Randomness) -> int:
    """The sum of the counts of public itemsets, with discrete Laplace noise.

    Args:
        counts: the counts. A privacy unit must have one transaction only, so it changes the sum by at most the number
            of itemsets.
        scale: the scale of the noise. The cost (PureDP) is the number of itemsets divided by it.
        randomness: where the bits come from.
    """
    return int(counts.vector().sum()) + sample_discrete_laplace(scale, randomness)


def look_at_support(counts: HiddenCounts, mechanism: LookFirst, randomness: Randomness) -> int:
    """The support of the k-th itemset, by a noisy look at these counts. This costs `mechanism.look`."""
    return mechanism.look_at(counts.profile(), randomness)


def pick(counts: ChosenCounts | HiddenCounts, mechanism: Mechanism, randomness: Randomness) -> NDArray[np.int32]:
    """The itemsets that a mechanism picks, int32, shape (picks, size), in the order picked.

    Args:
        counts: of public itemsets, or of those that occur if the mechanism is made for an open universe.
        mechanism: the mechanism.
        randomness: where the bits come from.
    """
    return counts.itemsets_at(mechanism.select(counts.profile(), randomness))


def pick_listed(
    database: TransactionDatabase,
    counts: HiddenCounts,
    sizes: Sequence[int],
    mechanism: LiftedExponential,
    randomness: Randomness,
) -> NDArray[np.int32]:
    """The itemsets picked from all those of the public list, int32, shape (picks, largest size), in the order picked.

    Args:
        database: transactions over the public list.
        counts: the largest counts of their itemsets, as deep as the mechanism looks.
        sizes: of these itemsets, each once, increasing.
        mechanism: the mechanism.
        randomness: where the bits come from.
    """
    profile = counts.profile()
    others = _OthersOfList(database, counts.itemsets_at(range(len(counts))), sizes, randomness)
    held = RemainingLevels(profile.multiplicities)
    picked = mechanism.draw(profile, held, others, randomness)
    return padded([others.take() if rank == OTHER else _itemset_at(counts, rank) for rank in picked])


def pick_of_tokens(
    tokens: Tokens,
    weights: Sequence[int],
    mechanism: LiftedExponential,
    size: int,
    randomness: Randomness,
    *,
    per_decoy: int | None = None,
) -> NDArray[np.int32]:
    """The itemsets picked from all those of the first tokens, int32, shape (picks, size), in the order picked.

    The chance of a pick is proportional to the product of its tokens' weights. This costs the picks.

    Args:
        tokens: the tokens.
        weights: one for each of the first tokens, whole numbers of 1 or more, public.
        mechanism: the mechanism.
        size: items per itemset.
        randomness: where the bits come from.
        per_decoy: decoys weigh as much as one in this many itemsets; None for no decoys. A decoy is all padding.
    """
    products = ProductWeights(weights, size)
    counts = tokens.top_itemsets(len(weights), size, mechanism.depth)
    profile = counts.profile()
    # Those at c_(l+1) are any of their level if there are more, so all of these are drawn as others.
    known = profile.multiplicities if counts.complete else [*profile.multiplicities[:-1], 0]
    itemsets = counts.itemsets_at(range(sum(known)))
    held = WeightedLevels(known, products.lengths(itemsets))
    others = _OthersOfTokens(tokens, products, itemsets, products.total - sum(held.left), randomness)
    decoys = products.total // per_decoy if per_decoy else 0
    picked = mechanism.draw(profile, held, others, randomness, decoys=decoys)
    chosen = []
    for rank in picked:
        if rank == DECOY:
            chosen.append((PADDING,) * size)
        else:
            chosen.append(others.take() if rank == OTHER else _itemset_at(counts, rank))
            others.leave_out(chosen[-1])
    return np.array(chosen, np.int32).reshape(-1, size)


def pick_number(items: HiddenCounts, itemsets: HiddenCounts, mechanism: PrivBasis, randomness: Randomness) -> int:
    """The number of items that the top itemsets have, chosen privately. This costs a bounded range.

    Args:
        items: the counts of single items, the first `mechanism.most_items`.
        itemsets: the counts of the itemsets asked for, the first `mechanism.depth`.
        mechanism: the mechanism of the plan.
        randomness: where the bits come from.
    """
    count = itemsets.profile(0).count(mechanism.depth)
    return mechanism.number_of_items(items.profile(mechanism.items - len(items)), count, randomness)


def look_at_count(counts: HiddenCounts, look: CountLook, randomness: Randomness) -> int:
    """The count at the place that the look is for, with noise. This costs `look.noise.loss`.

    Args:
        counts: the counts of the itemsets asked for, down to this place.
        look: the look of the plan.
        randomness: where the bits come from.
    """
    count = np.array([counts.profile(0).count(look.place)], np.int64)
    return int(look.noise.add_noise(count, randomness)[0])


def measure_bins(bins: BasisBins, noise: CountNoise, randomness: Randomness) -> NDArray[np.int64]:
    """The number of transactions in each bin of public bases, with noise, in their order. This costs `noise.loss`.

    Args:
        bins: the bins.
        noise: the noise for this many bases: one transaction is in one bin of each.
        randomness: where the bits come from.
    """
    if len(bins.bases) > noise.top:
        raise AssertionError("there are more bases than the noise was planned for")
    return noise.add_noise(bins.vector(), randomness)


def find_itemsets(sums: HiddenCounts, mechanism: WeightedGaussian, randomness: Randomness) -> NDArray[np.int32]:
    """The itemsets that stand out of the noise of a weighted histogram, in the order of their item codes.

    This costs the loss of the histogram, and its failure.

    Args:
        sums: the weighted sums of all itemsets that occur, weighted as the mechanism says.
        mechanism: the mechanism of the plan.
        randomness: where the bits come from.

    Returns:
        Item codes, int32, shape (found, size), padded if they have several sizes, in an order that tells nothing of
        the sums.
    """
    found = sums.itemsets_at(mechanism.find(sums.profile(), randomness).tolist())
    return found[np.lexsort(found.T[::-1])]


def _select(
    mechanism: Mechanism, profile: CountProfile, randomness: Randomness
) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    if isinstance(mechanism, WithGaps) and mechanism.gaps:
        return mechanism.select_with_gaps(profile, randomness)
    ranks = mechanism.select(profile, randomness)
    return ranks, (None,) * len(ranks)


def _itemset_at(counts: HiddenCounts, rank: int) -> tuple[int, ...]:
    return tuple(counts.itemsets_at([rank])[0].tolist())


class _Others(ABC):
    """The itemsets of a declared universe that are not held. They are counted when they are drawn.

    Args:
        held: the itemsets that are held, int32, shape (n, size).
        left: how many others there are, or what they weigh together.
        count: counts itemsets of the universe.
    """

    def __init__(self, held: NDArray[np.int32], left: int, count: Callable[[NDArray[np.int32]], ChosenCounts]) -> None:
        self.left = left
        self._held, self._count = held, count
        self._latest: tuple[int, ...] = ()
        self._taken: set[tuple[int, ...]] = set()
        self._drawn: list[tuple[tuple[int, ...], int]] = []
        self._at_once = _FIRST_AT_ONCE

    def draw(self) -> int:
        """The count of an itemset that is drawn from those not held and not taken."""
        while True:
            while not self._drawn:
                self._drawn = self._some()
            self._latest, count = self._drawn.pop()
            if self._latest not in self._taken:
                return count

    def take(self) -> tuple[int, ...]:
        """The itemset drawn last. It is not drawn again."""
        self._taken.add(self._latest)
        self.left -= self._weight_of_latest()
        return self._latest

    @abstractmethod
    def _any(self) -> tuple[int, ...]:
        """An itemset of the universe, held or not. It may be one that was taken."""

    def _weight_of_latest(self) -> int:
        """What the itemset drawn last adds to what is left."""
        return 1

    @cached_property
    def _held_itemsets(self) -> pl.DataFrame:
        return pl.DataFrame(increasing(self._held))

    def _some(self) -> list[tuple[tuple[int, ...], int]]:
        """Some of the itemsets that are not held, each drawn by itself, with their counts."""
        drawn = pl.DataFrame(np.array([self._any() for _ in range(self._at_once)], np.int32))
        self._at_once = min(4 * self._at_once, _MOST_AT_ONCE)
        columns = drawn.columns
        others = drawn.join(self._held_itemsets, on=columns, how="anti", maintain_order="left")
        different = others.unique(maintain_order=True)
        counts = different.with_columns(count=self._count(different.to_numpy()).vector())
        found = others.join(counts, on=columns, how="left", maintain_order="left")
        return [(tuple(itemset), count) for *itemset, count in found.iter_rows()]


class _OthersOfList(_Others):
    """Those of a public list, drawn uniformly."""

    def __init__(
        self, database: TransactionDatabase, held: NDArray[np.int32], sizes: Sequence[int], randomness: Randomness
    ) -> None:
        self._items, self._sizes, self._randomness = len(database.vocabulary), sizes, randomness
        number = sum(math.comb(self._items, size) for size in sizes)
        super().__init__(held, number - len(held), database.count_chosen)

    def _any(self) -> tuple[int, ...]:
        size = _uniform_size(self._items, self._sizes, self._randomness)
        itemset = _uniform_itemset(self._items, size, self._randomness)
        return (*itemset, *[PADDING] * (max(self._sizes) - size))


class _OthersOfTokens(_Others):
    """Those of tokens, drawn by the products of their tokens' weights."""

    def __init__(
        self, tokens: Tokens, products: ProductWeights, held: NDArray[np.int32], left: int, randomness: Randomness
    ) -> None:
        super().__init__(held, left, tokens.count_chosen)
        self._products, self._randomness = products, randomness
        self._gaps = Gaps()

    def leave_out(self, itemset: tuple[int, ...]) -> None:
        """An itemset that was taken, held or not, is not drawn any more. It might weigh more than all others."""
        self._gaps.take(*self._products.interval(itemset))

    def _any(self) -> tuple[int, ...]:
        left = self._products.total - self._gaps.length
        return self._products.itemset(self._gaps.place(uniform_below(left, self._randomness)))

    def _weight_of_latest(self) -> int:
        _, length = self._products.interval(self._latest)
        return length


def _absent(
    database: TransactionDatabase, plan: Plan, sizes: Sequence[int], drawn: set[tuple[int, ...]], randomness: Randomness
) -> tuple[int, ...]:
    """A uniform itemset of the public list that does not occur and was not drawn before (by rejection)."""
    items = plan.question.remaining_universe.items
    if items is None or plan.universe.names is None:
        raise AssertionError("only a public list has names of items that do not occur")
    while True:
        itemset = _uniform_itemset(items, _uniform_size(items, sizes, randomness), randomness)
        if itemset not in drawn and not database.occurs(itemset):
            drawn.add(itemset)
            return itemset


def _uniform_size(items: int, sizes: Sequence[int], randomness: Randomness) -> int:
    """The size of an itemset drawn uniformly from all itemsets of these sizes."""
    if len(sizes) == 1:
        return sizes[0]
    numbers = [math.comb(items, size) for size in sizes]
    return sizes[bisect_right(list(accumulate(numbers)), uniform_below(sum(numbers), randomness))]


def _uniform_itemset(items: int, size: int, randomness: Randomness) -> tuple[int, ...]:
    """`size` different codes below `items`, each set equally likely (Floyd's algorithm)."""
    chosen: set[int] = set()
    for last in range(items - size, items):
        code = uniform_below(last + 1, randomness)
        chosen.add(last if code in chosen else code)
    return tuple(sorted(chosen))
