"""Items first: an open universe at a lower price than a declared one.

One transaction holds few items but many itemsets. So the mechanism first counts the *items*, with noise and without
names (`anonymous_items.py`). The tokens with large noisy counts are the universe of every later step, and their counts
show which itemsets are likely to be frequent. It then selects itemsets of tokens in one of two ways:
  peel: k picks by the exponential mechanism from the likely itemsets, and from decoys, which show where a list would be
    mostly noise. For several sizes, noisy counts of pairs help to find the likely itemsets.
  counts: noisy counts of pairs, then noisy counts of the itemsets whose pairs are likely (`measurement.py`). Itemsets
    near the k-th are then in doubt. They are few, so they are counted again with less noise. All k itemsets are read
    from these counts at once, fewer if the likeliest have no support, and the counts are released with them.
Pairs may be asked for by leverage: by how many more transactions hold them than if their items were independent. Picks
then go by the count less a public number: what the noisy counts of the two items let expect. For that, the most
frequent items are counted once more, every transaction in full.

A certificate (`certificate.py`) then decides how many of them are named. With a public list of items it is not needed.
Nor is it for single items of short transactions, whose first counts name them (`weighted_gaussian.py`).

Theorem and proof: docs/mathematics.md#items-first.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.calibration import calibrate_gaussian
from fim_private.accounting.gaussian_composition import range_costing
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.anonymous_items import AnonymousItems
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.items_first_tuning import FOUND, Tuning
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.lengths import BINS, PICK_VARIANCE, TYPICAL_LENGTH, LengthLook, Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import CalibratedMechanism, Margin, Request, Spending
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian, threshold_of
from fim_private.privacy import Failure, Gaussian, Loss, OneSidedFailure

PEEL, COUNTS = "peel", "counts"
BY_COUNT, BY_LEVERAGE = "count", "leverage"
"""What itemsets are ranked by."""

LEAST_JOINED, LEAST_CANDIDATES, MOST_CANDIDATES = 1_000, 100, 100_000
MOST_PICKED = 1_000_000
"""Picks of larger itemsets choose from so many: the items of a frequent one need not be the most frequent items."""
MOST_FULL, MOST_TESTED = 4096, 1_000
_LONGEST = int(BINS[-1])
"""The look at the lengths tells no longer units apart."""
_LOG_CANDIDATES = 8.0
"""The logarithm of the number of candidates that are about as likely as those wanted."""
_MANY_CANDIDATES = 10
"""Of this times k candidates, hardly any random pick is right. Fewer need no decoys."""
_SHORT_LIST, _MOST_APART = 25, 4
"""Beside every candidate of a list so short there is a decoy, and beside every fourth one of a long list.

Decoys take picks from itemsets that are hardly told from nothing. The more picks there are, the fewer decoys tell how
many are noise."""
_RECOUNTS = 2
"""So often itemsets in doubt are counted again: after the first time fewer are."""
_SAFE = 1 - 1e-9
"""Shares are rounded down by this much, because floats are rounded."""
_LEAST_DELTA = 1e-300
"""Only a guess of the support that is needed uses this. Floats cannot express less."""
_MUCH = Fraction(10**6)
"""A rho with which there is hardly any noise."""
GOES_ON = 3.2
"""Tokens of a large universe go on from about so many deviations on."""
_SEEN = GOES_ON + 1.645
"""Noise takes 1.645 deviations off one time in 20."""
_MISSED, _OFF = 0.01, 2.326
"""At the stated lead each of five things goes wrong so often, because noise takes so many deviations off: both items of
a pair go on, both pass the test, and the pair stands out. So the pair is named 19 times in 20."""
_SURELY_SEEN = GOES_ON + _OFF
USUAL_LENGTHS = Lengths(np.full(1, float(TYPICAL_LENGTH)), np.ones(1))


@dataclass(frozen=True, kw_only=True)
class ItemsFirst:
    """A look at the lengths and noisy counts of tokens; picks or noisy counts of their itemsets; the certificate.

    Args:
        top: k.
        sizes: items per itemset, increasing. Itemsets of several sizes are ranked together.
        select: how itemsets are selected, "peel" or "counts"; None if what was counted before decides.
        look: each of the looks at how many items units hold.
        items: how the items are counted.
        rho: what everything together costs at most.
        test_delta: the probability with which the certificate may fail; None if the items' names are a public list.
        min_count: only itemsets above this count are asked for; None for the top alone.
        by: what itemsets are ranked by, "count" or "leverage". Leverage is for pairs that are picked.
        sensitivity: Delta.
        epsilon: what was asked for; only the tuning uses it.
        support: about how many units hold the k-th itemset, if that was released before; None if it was not.
        tuning: how rho is shared out.
    """

    top: int
    sizes: tuple[int, ...]
    select: str | None
    look: LengthLook
    items: AnonymousItems
    rho: Fraction
    test_delta: Fraction | None
    min_count: int | None = None
    by: str = BY_COUNT
    sensitivity: int = 1
    epsilon: float = 1.0
    support: float | None = None
    tuning: Tuning = FOUND

    @property
    def size(self) -> int:
        """The number of items of the largest itemsets."""
        return max(self.sizes)

    @property
    def boldness(self) -> float:
        """Epsilon beyond 1/2, as a factor of at least 1. The larger it is, the less noise matters."""
        return max(1.0, 2 * self.epsilon)

    @property
    def public_names(self) -> int | None:
        """How many items the public list has; None if there is no list."""
        return self.items.names if self.test_delta is None else None

    @property
    def branches(self) -> tuple[ItemsFirst]:
        return (self,)

    def loud(self, names: int) -> Iterator[ItemsFirst]:
        """The same with so little noise that every later step follows, in each way that the look may choose."""
        look = LengthLook.costing(_MUCH)
        items = AnonymousItems(
            measurement=replace(self.items.measurement, variance=look.variance),
            names=names if self.test_delta is None else self.items.names,
        )
        for select in (PEEL, COUNTS) if self.select is None else (self.select,):
            way = replace(self, select=select, look=look, items=items, rho=_MUCH, min_count=None)
            yield way
            if way.usual_histogram:
                yield replace(way, tuning=replace(self.tuning, short=math.inf, short_for_long_lists=math.inf))

    @property
    def needs_pairs(self) -> bool:
        """Whether picks need noisy counts of pairs: sizes are compared by them.

        Larger itemsets of one size are picked by the counts of their items. Units hold so many pairs that noisy counts
        of pairs find fewer of them.
        """
        return len(self.sizes) > 1

    @property
    def gives_counts(self) -> bool:
        """Whether the answer is certainly read from noisy counts, which are then released with it."""
        return self.select == COUNTS

    def few(self, supports: NDArray[np.float64], lengths: Lengths) -> int:
        """So many tokens go on to noisy counts.

        Args:
            supports: about how many units hold each token, in decreasing order.
            lengths: how many items units hold.
        """
        if not len(supports):
            return self._few
        if self.sizes[0] > 1:
            return max(self._few, self._clear(supports, lengths))
        # A larger itemset is at most as frequent as its items, so no item far below the k-th item is asked for.
        last = float(supports[min(self.top, len(supports)) - 1]) if self.min_count is None else self.min_count
        least = last - self.tuning.below_last * self.item_deviation(lengths)
        return max(self._few, min(2 * self.top, int(np.count_nonzero(supports >= least))))

    def _clear(self, supports: NDArray[np.float64], lengths: Lengths) -> int:
        """So many tokens may be in an itemset that is asked for, and are few enough for clear counts of pairs.

        The more tokens go on, the more of their pairs a transaction holds, and the less it counts in each of them.
        """
        tuning, last = self.tuning, self._last_asked(supports, float(lengths.units.sum()))
        asked = min(MOST_TESTED, int(np.count_nonzero(supports >= tuning.rarest * last)))
        share = np.cumsum(supports[:asked]) / float(lengths.lengths @ lengths.units)
        pairs = self._measured(self._after_items, tuning.pairs_share, tuning.full_pairs * self.boldness)

        def noise(tokens: int) -> float:
            return pairs.deviation / lengths.thinned(min(1.0, float(share[tokens - 1]))).weight(pairs.full, (2,))

        return bisect_right(range(1, asked + 1), last / tuning.pairs_stand_out, key=noise)

    @property
    def _few(self) -> int:
        """At least so many go on, whatever was counted before."""
        # All itemsets above a count are asked for with a k far larger than their number.
        asked = 0 if self.min_count is not None else self.top * min(1.0, 2 * self.epsilon)
        return max(self.tuning.few, self._enough, round(self.tuning.few_per_pick * asked))

    @property
    def _enough(self) -> int:
        """So many tokens have far more pairs than are asked for."""
        return math.ceil(3 * math.sqrt(2 * self.top))

    @property
    def joined(self) -> int:
        """Larger itemsets are built from this many of the likeliest pairs."""
        return min(MOST_CANDIDATES, max(LEAST_JOINED, self.tuning.joined * self.top))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All steps together. Released numbers decide how rho is shared out among them."""
        return (Gaussian(self.rho),)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """An itemset passes the test although one unit alone has one of its items."""
        return () if self.test_delta is None else (OneSidedFailure(self.test_delta),)

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The first steps, then what is left for those that follow from them."""
        if self.usual_histogram:
            return (
                Spending(what="look at how many items units hold", rho=self.look.loss.gaussian.rho),
                Spending(
                    what="noisy counts of items, which name them, and picks", rho=self.rho - self.look.loss.gaussian.rho
                ),
            )
        what = {PEEL: "picks", COUNTS: "noisy counts of itemsets"}.get(self.select or "", "picks or noisy counts")
        test = "" if self.test_delta is None else ", and the test of their items"
        again = "the most frequent items" if self.by == BY_LEVERAGE else "perhaps the likeliest items"
        return (
            Spending(what="looks at how many items units hold", rho=2 * self.look.loss.gaussian.rho),
            Spending(what="noisy counts of items", rho=self.items.measurement.loss.gaussian.rho),
            Spending(what=f"{again} once more, {what}{test}", rho=self._after_items),
        )

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The lead with which an itemset's items go on, are certified, and the itemset stands out from the noise."""
        if self.usual_histogram:
            return self.usual_histogram.margins
        needed, steps = _SURELY_SEEN * self.item_deviation(USUAL_LENGTHS), self.usual
        if steps.certificate is not None:
            needed = max(needed, steps.certificate.support_needed(_MISSED))
        if steps.pick_epsilon is not None:
            decoys = -(-steps.candidates // self.candidates_per_decoy) if self._decoys else 0
            above = float(self.picks(steps.pick_epsilon, steps.candidates + decoys).margins[0].counts)
        else:
            # Larger itemsets also have to be among those that are built from pairs.
            built = steps.pairs.deviation if steps.pairs is not None and self.size > 2 else 0.0
            above = max(built, self.deviation(steps)) * (math.sqrt(2 * math.log(steps.candidates)) + _OFF)
        lead = "of leverage over" if self.by == BY_LEVERAGE else "over"
        return (
            Margin(
                counts=math.ceil(max(needed, above)),
                words=f"{lead} itemsets that do not occur, if transactions hold about {TYPICAL_LENGTH} items and few "
                "items make up the answer",
            ),
        )

    @property
    def support_needed(self) -> int | None:
        """The number of units that an item must be in to be named 19 times in 20; None if names are a public list."""
        if self.usual_histogram:
            return self.usual_histogram.margins[0].counts
        certificate = self.usual.certificate
        return None if certificate is None else certificate.support_needed(0.05)

    @property
    def usual(self) -> LaterSteps:
        """The later steps for transactions of a usual length, if items have the least support that is surely seen."""
        return self.later(np.full(MOST_TESTED, self.seen(USUAL_LENGTHS)), USUAL_LENGTHS, USUAL_LENGTHS)

    @cached_property
    def usual_histogram(self) -> WeightedGaussian | None:
        """How single items are named in transactions of a usual length; None if they are tested."""
        return self.histogram(USUAL_LENGTHS)

    def histogram(self, lengths: Lengths) -> WeightedGaussian | None:
        """For single items of short transactions: name what stands out of the first counts, then pick; else None.

        No test is then needed, which costs much of a long list. Units that hold many items add little to the first
        counts, so tokens are better for them. Proof: docs/mathematics.md#single-items.

        Args:
            lengths: how many items units hold.
        """
        tuning = self.tuning
        asked = self.sizes == (1,) and self.select != COUNTS and self.min_count is None and self.sensitivity == 1
        short = tuning.short if self.top < tuning.long_list else tuning.short_for_long_lists
        if not asked or self.test_delta is None or lengths.weight(tuning.full_items) < short:
            return None
        left = float(self.rho - self.look.loss.gaussian.rho) * _SAFE
        picks = tuning.picks_of_found / max(1.0, math.sqrt(self.top / tuning.few_of_found))
        measurement = self._counted_to_find(left * (1 - picks), lengths)
        return WeightedGaussian(
            top=self.top,
            sizes=self.sizes,
            measurement=measurement,
            threshold=threshold_of(measurement, self.test_delta),
            failure=self.test_delta,
            pick_epsilon=range_costing(left * picks, self.top),
        )

    def _counted_to_find(self, rho: float, lengths: Lengths) -> Measurement:
        """How single items are counted if these counts name them.

        The less a long unit counts, the smaller the noise is. But what an item loses by that depends on the units that
        hold it. If the items asked for stand out of the noise clearly, long units count more.
        """
        tuning = self.tuning
        if self.support is None:
            full = min(_LONGEST, round(tuning.full_found * self.boldness**1.5))
            return Measurement.costing(rho, full=full, sensitivity=1)
        each = [Measurement.costing(rho, full=2**power, sensitivity=1) for power in range(_LONGEST.bit_length())]
        weights = [lengths.weight(measurement.full) for measurement in each]
        noise = [measurement.deviation / weight for measurement, weight in zip(each, weights, strict=True)]
        best = int(np.argmin(noise))
        clear = [place for place in range(best, len(each)) if tuning.stands_out * noise[place] <= self.support]
        lost = [tuning.lost * (1 - weight) * self.support for weight in weights]
        return each[min(clear, key=lambda place: math.hypot(noise[place], lost[place]), default=best)]

    @property
    def _usually_needed(self) -> int:
        """A good answer of pairs or larger itemsets usually needs at most so many tokens."""
        return min(math.ceil(self.tuning.tokens * math.sqrt(2 * self.top)), MOST_TESTED)

    @property
    def _after_items(self) -> Fraction:
        """What the looks and the first counts of the items leave of rho."""
        return self.rho - 2 * self.look.loss.gaussian.rho - self.items.measurement.loss.gaussian.rho

    def item_deviation(self, lengths: Lengths) -> float:
        """The deviation of the noise in the first counts of the items, in transactions."""
        return self.items.measurement.deviation / lengths.weight(self.items.measurement.full)

    def seen(self, lengths: Lengths) -> float:
        """The support with which an item goes on."""
        return _SEEN * self.item_deviation(lengths)

    def named(self, lengths: Lengths) -> float | None:
        """The support with which first counts name a single item every second time; None if they name none."""
        histogram = self.histogram(lengths)
        if histogram is None:
            return None
        return histogram.threshold / histogram.measurement.resolution / lengths.weight(histogram.measurement.full)

    @property
    def likeliest(self) -> int:
        """So many tokens may be counted once more."""
        return max(self._few, 4 * self._usually_needed)

    def again(self, supports: NDArray[np.float64], lengths: Lengths, held: Lengths) -> Measurement | None:
        """How the likeliest tokens are counted once more; None if that is not worth its price.

        Units that hold many items add little to the first counts, and of the likeliest items they hold fewer. So a
        second count may tell them from strangers where the first one does not. A public list has no strangers, and
        picks need the budget more.

        Args:
            supports: about how many units hold each token, in decreasing order.
            lengths: how many items units hold.
            held: how many of the first tokens units hold.
        """
        deviation = self.item_deviation(lengths)
        if self.test_delta is None or not len(supports):
            return None
        if self._last_needed(supports) > self.tuning.again_below * deviation:
            return None
        again = Measurement.costing(
            float(self.rho) * self.tuning.again_share * _SAFE, full=held.best_full, sensitivity=1
        )
        return again if again.deviation / held.weight(again.full) < deviation else None

    def later(
        self, supports: NDArray[np.float64], lengths: Lengths, held: Lengths, again: Measurement | None = None
    ) -> LaterSteps:
        """The steps after the items were counted. With the looks and the items they cost at most rho.

        Args:
            supports: about how many units hold each token, in decreasing order.
            lengths: how many items units hold.
            held: how many of the first tokens units hold.
            again: how the first tokens were counted once more.
        """
        transactions = float(lengths.units.sum())
        left = self._after_items
        left -= again.loss.gaussian.rho if again else 0
        # A public list needs no test.
        wanted = 0.0 if self.test_delta is None else self.tuning.sure * self._wanted(supports, transactions)
        # Tokens that picks do not reach go no further, so they need not pass.
        certificate = self._certificate(left, max(wanted, self._reached(left)))
        select = self.select or (
            PEEL if self._peels(supports, held, transactions, left - _cost(certificate)) else COUNTS
        )
        if select == COUNTS:
            certificate = self._certificate(left, wanted)
        item_deviation = self.item_deviation(lengths)
        if again is not None:
            item_deviation = 1 / math.hypot(1 / item_deviation, held.weight(again.full) / again.deviation)
        # Itemsets of rarer items are never named.
        worth_it = 1.0 if certificate is None else certificate.threshold
        steps = LaterSteps(
            transactions=transactions,
            again=again,
            item_deviation=item_deviation,
            tokens=int(np.count_nonzero(supports >= worth_it)),
            candidates=MOST_CANDIDATES,
            certificate=certificate,
        )
        left -= _cost(certificate)
        if select == PEEL:
            steps = self._with_picks(steps, left, supports)
        else:
            steps = self._with_counts(steps, left, supports, self.few(supports, lengths))
        return replace(steps, pair_weight=held.weight(steps.pairs.full, (2,))) if steps.pairs else steps

    def _with_picks(self, steps: LaterSteps, left: Fraction, supports: NDArray[np.float64]) -> LaterSteps:
        """These steps with picks, which cost what is left. Perhaps pairs, or the most frequent items, are counted."""
        tuning, recount = self.tuning, None
        if self.by == BY_LEVERAGE:
            # No transaction holds more of these items, so each counts in full.
            recount = Measurement.costing(
                float(self.rho) * tuning.recount_share * _SAFE, full=tuning.recounted, sensitivity=self.sensitivity
            )
            left -= recount.loss.gaussian.rho
        pairs = self._measured(left, tuning.picks_pairs_share, tuning.full_pairs) if self.needs_pairs else None
        left -= pairs.loss.gaussian.rho if pairs else 0
        pick = range_costing(float(left), self.top, float(_cost(steps.certificate)), tuning.rise)
        tokens = min(steps.tokens, int(np.count_nonzero(supports >= self._reach * self._told_apart(pick))))
        if recount is not None:
            tokens = max(tokens, min(self._enough, steps.tokens))
        return replace(
            steps,
            pick_epsilon=pick,
            recount=recount,
            pairs=pairs,
            tokens=tokens,
            candidates=self._beside_decoys(MOST_CANDIDATES if self.sizes[0] <= 2 or pairs else MOST_PICKED),
        )

    def _with_counts(self, steps: LaterSteps, left: Fraction, supports: NDArray[np.float64], few: int) -> LaterSteps:
        """These steps with noisy counts of pairs and itemsets, which cost what is left, for at most `few` tokens."""
        tuning = self.tuning
        spread = LengthLook.costing(Fraction(tuning.look_share) * self.rho, sensitivity=self.sensitivity)
        left -= spread.loss.gaussian.rho
        share = tuning.pairs_share if self.size > 1 else 0.0
        rest = 1 - share
        # With little noise, what long transactions lose matters more than noise.
        full_pairs, full = tuning.full_pairs * self.boldness, tuning.full_itemsets * self.boldness
        in_doubt = 0.0
        if self._clears(self._measured(left, share, full_pairs) if share else None, supports):
            share, rest = tuning.clear_pairs_share, tuning.clear_itemsets_share
            in_doubt = float(left) * (1 - share - rest) * _SAFE
        if self.min_count is not None:
            full = max(full, 2 * float(left) * rest * (self.min_count / (20 * self.sensitivity)) ** 2)
        return replace(
            steps,
            pairs=self._measured(left, share, full_pairs) if share else None,
            itemsets=self._measured(left, rest, full),
            spread=spread,
            in_doubt=(in_doubt / _RECOUNTS,) * _RECOUNTS if in_doubt else (),
            tokens=min(steps.tokens, few),
            candidates=min(MOST_CANDIDATES, max(LEAST_CANDIDATES, tuning.counted * self.top)),
        )

    def _measured(self, left: Fraction, share: float, full: float) -> Measurement:
        """Noisy counts for a share of what is left."""
        return Measurement.costing(
            float(left) * share * _SAFE, full=min(MOST_FULL, round(full)), sensitivity=self.sensitivity
        )

    def _clears(self, pairs: Measurement | None, supports: NDArray[np.float64]) -> bool:
        """Whether the counts of pairs and itemsets will leave few itemsets in doubt.

        Larger itemsets are only as good as the pairs that they are built from, which then need the budget.
        """
        if pairs is None or self.sizes[0] > 2:
            return False
        return pairs.deviation <= self.tuning.clear * self._last_needed(supports)

    def _last_needed(self, supports: NDArray[np.float64]) -> float:
        """The support of the last token that is usually needed; 0 if there are no tokens."""
        return float(supports[min(len(supports), self._usually_needed) - 1]) if len(supports) else 0.0

    def deviation(self, steps: LaterSteps) -> float:
        """The deviation of the noise in the average of all counts of an itemset near the k-th, in transactions."""
        counts = [self.recount(rho, 1.0) for rho in steps.in_doubt]
        counts += [step for step in (steps.itemsets, steps.pairs if self.size == 2 else None) if step is not None]
        return 1 / math.sqrt(math.fsum(step.deviation**-2 for step in counts))

    def recount(self, rho: float, share: float) -> Measurement:
        """How the itemsets in doubt are counted again.

        Args:
            rho: what it may cost.
            share: their part of everything that transactions hold of the candidates.
        """
        full = self.tuning.full_in_doubt * self.boldness * math.sqrt(share)
        return Measurement.costing(rho, full=max(1, min(MOST_FULL, round(full))), sensitivity=self.sensitivity)

    def counting(self, usual: Measurement, held: Lengths, support: float) -> Measurement:
        """How itemsets are counted for the price of the usual counts.

        An itemset that mostly long transactions hold loses more than others. That matters more than noise if the counts
        are large. Then more itemsets of a transaction count in full.

        Args:
            usual: how they are counted if they are rare.
            held: how many of the itemsets transactions hold.
            support: about how many transactions hold the last itemset asked for.
        """
        price, doublings = usual.loss.gaussian.rho, range(1, (MOST_FULL // usual.full).bit_length())
        larger = [Measurement.costing(price, full=usual.full << n, sensitivity=self.sensitivity) for n in doublings]

        unevenly = self.tuning.lost_unevenly * min(2, len(self.sizes))

        def off(one: Measurement) -> float:
            lost = unevenly * held.uneven(one.full) * support
            return math.hypot(one.deviation, lost) / held.weight(one.full)

        return min([usual, *larger], key=off)

    def _peels(self, supports: NDArray[np.float64], held: Lengths, transactions: float, left: Fraction) -> bool:
        """Whether picks serve better than noisy counts.

        The noise of a pick grows with k. The noise of the counts does not grow with k, but units that hold many of the
        tokens count less in them, whatever epsilon is. So pairs are picked if k is small, or units hold many of the
        tokens. Single items and others are picked if k is small, or picks can tell the k-th from nothing. Itemsets of
        three items or more are picked if picks can tell the items that a good answer needs from nothing: the larger the
        itemset, the rarer it is beside its items.

        Args:
            supports: about how many units hold each token, in decreasing order.
            held: how many of the first tokens units hold.
            transactions: about how many transactions there are.
            left: what picks may cost.
        """
        if self.size == 1:
            return True
        if self.sizes[0] <= 2 and self.top <= self.tuning.always_peels * max(1.0, self.epsilon):
            return True
        if self.sizes[0] == 2:
            # Over several sizes, units hold about as many of the likely itemsets as of pairs.
            return self.top <= self.tuning.peels * math.sqrt(self.boldness) * held.picks_worth((2,))
        told_apart = self._told_apart(range_costing(float(left), self.top, rise=self.tuning.rise))
        if self.sizes[0] == 1:
            return told_apart <= self.tuning.peels_items * self._kth(supports, transactions)
        return told_apart <= self.tuning.peels_larger ** (self.sizes[0] - 2) * self._last_needed(supports)

    @property
    def _counted_before(self) -> bool:
        """Whether picks also go by what was counted of items and pairs before, and so reach further."""
        return self.sizes[0] == 1 or len(self.sizes) > 1

    @property
    def _reach(self) -> float:
        """Tokens go on to picks down to this times the support that a pick can tell from nothing."""
        reach = self.tuning.several_reach if self._counted_before else self.tuning.reach
        reach = self.tuning.leverage_reach if self.by == BY_LEVERAGE else reach
        return reach * (self.tuning.if_listed if self.items.listed else 1.0)

    def _reached(self, left: Fraction) -> float:
        """The support down to which tokens go on to picks if these may cost all that is left; 0 if counts help them."""
        if self._counted_before:
            return 0.0
        return self._reach * self._told_apart(range_costing(float(left), self.top, rise=self.tuning.rise))

    def _told_apart(self, pick_epsilon: Fraction) -> float:
        """The support that a pick can tell from nothing."""
        return _LOG_CANDIDATES * self.sensitivity / float(pick_epsilon)

    def _wanted(self, supports: NDArray[np.float64], transactions: float) -> float:
        """The support of the rarest item in the k likeliest items and pairs.

        Itemsets of three items or more are made of pairs. Where a count is asked for, no item of an answer is rarer
        than that.

        Args:
            supports: about how many units hold each token, in decreasing order.
            transactions: about how many transactions there are.
        """
        _, rarest = self._likeliest(supports, transactions)
        return max(float(rarest.min()) if len(rarest) else 0.0, self.min_count or 0.0)

    def _kth(self, supports: NDArray[np.float64], transactions: float) -> float:
        """About how many transactions hold the k-th of the likeliest items and pairs; 0 if there are fewer."""
        expected, _ = self._likeliest(supports, transactions)
        return float(expected.min()) if len(expected) == self.top else 0.0

    def _likeliest(
        self, supports: NDArray[np.float64], transactions: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """About how many transactions hold each of the k likeliest items and pairs, and the support of its rarer item.

        Counts are expected as if items were independent. Items that are bought together make the k-th itemset, and so
        its items, more frequent than that.
        """
        first = supports[:MOST_TESTED]
        expected, rarest = [], []
        if self.sizes[0] == 1:
            expected, rarest = [first], [first]
        if self.size > 1:
            pairs, other = _independent_pairs(first, transactions)
            expected.append(pairs)
            rarest.append(first[other])
        counts, support = np.concatenate(expected), np.concatenate(rarest)
        if self.top < len(counts):
            likeliest = np.argpartition(-counts, self.top)[: self.top]
            return counts[likeliest], support[likeliest]
        return counts, support

    def _last_asked(self, supports: NDArray[np.float64], transactions: float) -> float:
        """About how many transactions hold the last itemset that is asked for; infinite if nothing tells.

        Args:
            supports: about how many units hold each token, in decreasing order.
            transactions: about how many transactions there are.
        """
        if self.min_count is not None:
            return float(self.min_count)
        if self.support is not None:
            return self.support
        return (self._kth(supports, transactions) if self.sizes == (2,) else 0.0) or math.inf

    def _certificate(self, left: Fraction, support: float) -> Certificate | None:
        """A certificate that items of this support are likely to pass, if it need not cost too much of what is left."""
        if self.test_delta is None:
            return None
        tuning = self.tuning
        # The threshold is about 5 to 6 deviations, and a support 1.6 above it passes 19 times in 20.
        deviations = 1.6 - NormalDist().inv_cdf(max(float(self.test_delta), _LEAST_DELTA))
        test = (deviations / max(support, 1.0)) ** 2 / 2
        test = min(max(test, tuning.least_test * float(self.rho)), tuning.most_test * float(left))
        return Certificate.costing(Fraction(test), tuning.cut_share * test, failure=OneSidedFailure(self.test_delta))

    def picks(self, pick_epsilon: Fraction, universe_size: int) -> Exponential:
        """The exponential mechanism that picks from this many candidates."""
        return Exponential(
            top=self.top,
            pick_epsilon=pick_epsilon,
            universe_size=universe_size,
            rise=self.tuning.rise,
            sensitivity=self.sensitivity,
        )

    @property
    def _decoys(self) -> bool:
        """Whether picks may have decoys. A favour that holds counts, or expected counts, would suit no decoy."""
        return not self._counted_before and self.by == BY_COUNT

    @property
    def candidates_per_decoy(self) -> int:
        """If picks have decoys, there is one for so many candidates."""
        return min(_MOST_APART, max(1, self.top // _SHORT_LIST))

    def _beside_decoys(self, most: int) -> int:
        """The number of candidates, if picks choose from so many itemsets with decoys."""
        return most * self.candidates_per_decoy // (self.candidates_per_decoy + 1) if self._decoys else most

    def with_decoys(self, favour: NDArray[np.int64]) -> NDArray[np.int64]:
        """The favour of the candidates, and then of decoys, if there are some: itemsets that nobody has.

        Picks that cannot tell itemsets from those that nobody has fall on decoys as often as these are among all. So
        decoys among the picks show where a list would be mostly noise.

        Args:
            favour: what is added to the candidates' counts, int64, shape (candidates,).
        """
        many = self._decoys and len(favour) >= _MANY_CANDIDATES * self.top
        return np.concatenate([favour, favour[:: self.candidates_per_decoy]]) if many else favour

    def favour(
        self,
        pick_epsilon: Fraction,
        expected: NDArray[np.float64],
        deviations: NDArray[np.float64],
        independent: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64]:
        """What is added to the counts of candidates before picks, from released numbers alone.

        Likely itemsets are picked more often. A candidate that was counted with noise before is picked by the average
        of that count and the pick's own, weighted by their precision. Both are compared with the k-th largest count, so
        that candidates that were counted compete with the others.

        Args:
            pick_epsilon: the epsilon of one pick.
            expected: shape (candidates,), in decreasing order, the logarithm of what is expected of each.
            deviations: shape (candidates,), the deviation of the noise in what is expected; infinite where a candidate
                was not counted itself.
            independent: shape (candidates,), about how many transactions would hold each if items were independent, if
                candidates are ranked by leverage. It comes from released numbers, so subtracting it is free.
        """
        if not len(expected):
            return np.zeros(0, np.int64)
        scale = self.sensitivity / float(pick_epsilon)
        counts = np.exp(expected)
        precision = 1 / (deviations**2 + (self.tuning.uneven * counts) ** 2)
        tuning = self.tuning
        prior = tuning.larger_prior if self.sizes[0] > 2 else tuning.prior
        favour = (prior if independent is None else tuning.leverage_prior) * scale * expected
        if independent is not None:
            favour -= independent
        favour += PICK_VARIANCE * scale**2 * precision * (counts - counts[min(self.top, len(counts)) - 1])
        rounded: NDArray[np.int64] = np.rint(favour - favour.min()).astype(np.int64)
        return rounded


def _independent_pairs(
    supports: NDArray[np.float64], transactions: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How many transactions would hold each pair of tokens if items were independent, and the pair's rarer token.

    Args:
        supports: in decreasing order.
        transactions: about how many there are.
    """
    one, other = np.triu_indices(len(supports), 1)
    return supports[other] * np.minimum(1.0, supports[one] / transactions), other


def _cost(certificate: Certificate | None) -> Fraction:
    return Fraction(0) if certificate is None else certificate.rho


def calibrate(request: Request, tuning: Tuning = FOUND) -> CalibratedMechanism:
    """Divide rho between the look, the items, and what follows.

    Raises:
        BudgetError: delta is 0, or the budget is too small for a test.
        UsageError: there is no such way to select.
    """
    request.require_delta()
    if request.select not in {None, PEEL, COUNTS}:
        raise UsageError("There is no such way to select.", f"Choose --select {PEEL} or {COUNTS}.")
    epsilon, delta = request.epsilon, request.delta
    failure = Fraction(0) if request.listed else tuning.failure_share * delta

    found = calibrate_gaussian((OneSidedFailure(failure),), epsilon=epsilon, delta=delta)
    if found is None:
        raise BudgetError("The budget is too small for noisy counts and a test.", "Give a larger --epsilon.")
    rho, guarantee = found
    return CalibratedMechanism(mechanism=share_out(request, rho, failure, tuning), guarantee=guarantee)


def share_out(request: Request, rho: Fraction, failure: Fraction, tuning: Tuning = FOUND) -> ItemsFirst:
    """The mechanism whose steps together cost at most rho.

    Args:
        request: what is asked.
        rho: what all steps may cost.
        failure: the probability with which the certificate may fail; not used if the names are a public list.
        tuning: how rho is shared out.
    """
    counted = Measurement.costing(
        float(rho) * tuning.share_of_items(float(request.epsilon), listed=request.listed),
        full=tuning.leverage_full_items if request.by == BY_LEVERAGE else tuning.full_items,
        sensitivity=1,
    )
    return ItemsFirst(
        top=request.top,
        sizes=request.sizes,
        select=request.select,
        look=LengthLook.costing(Fraction(tuning.look_share) * rho),
        items=AnonymousItems(measurement=counted, names=request.names, listed=request.listed),
        rho=rho,
        test_delta=None if request.listed else failure,
        min_count=request.min_count,
        by=request.by,
        sensitivity=request.sensitivity,
        epsilon=float(request.epsilon),
        tuning=tuning,
    )
