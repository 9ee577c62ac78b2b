"""Items first: an open universe at a lower price than a declared one.

One transaction holds few items but many itemsets. So the mechanism first finds the frequent *items* (`discovery.py`).
They are the universe of every later step, and their noisy counts, which are released, show which itemsets are likely
to be frequent. It then selects itemsets in one of two ways:
  peel: k picks by the exponential mechanism from the likely itemsets. For three items or more, noisy counts of pairs
    help to find these.
  counts: noisy counts of pairs, then noisy counts of the itemsets whose pairs are likely (`measurement.py`). All k
    itemsets are read from these counts at once, and the counts are released with them.

Theorem and proof: docs/mathematics.md#items-first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.calibration import calibrate_zcdp, prove_discovery
from fim_private.accounting.search import largest
from fim_private.errors import UsageError
from fim_private.mechanisms.discovery import Discovery
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.peeling import peeling_losses
from fim_private.mechanisms.protocol import CalibratedMechanism, Margin, Request, Spending
from fim_private.privacy import Failure, Loss, OneSidedFailure

PEEL, COUNTS = "peel", "counts"

MAX_ITEMS = 64
"""At most this many items per unit take part in the discovery."""
LEAST_JOINED, LEAST_CANDIDATES, MOST_CANDIDATES = 1_000, 100, 100_000
MOST_FULL = 4096
TYPICAL_LENGTH = 10
"""Leads are stated for transactions with this many items."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The best settings found on public data (`benchmarks/items_first_defaults.py`). They depend on public values only.

    Args:
        items_share: the share of rho for the items. None: the smaller epsilon is, the larger the share, because an item
            that is not found is lost.
        pairs_share: the pairs' share of what the items leave, if itemsets are counted. The itemsets get the rest.
        picks_pairs_share: the same share if itemsets of three or more items are picked.
        full_items: a unit with at most this many items counts in full.
        full_pairs: a transaction with at most this many of the pairs counts in full.
        full_itemsets: a transaction with at most this many of the itemsets counts in full.
        joined: larger itemsets are built from this times k pairs, the likeliest.
        counted: this times k itemsets are counted.
    """

    items_share: float | None = None
    pairs_share: float = 0.55
    picks_pairs_share: float = 0.2
    full_items: int = 4
    full_pairs: int = 10
    full_itemsets: int = 12
    joined: int = 30
    counted: int = 6

    def share_of_items(self, request: Request, *, peel: bool) -> float:
        """The share of rho for the items."""
        if self.items_share is not None:
            return self.items_share
        if request.size == 1 and not peel:
            return 0.5
        return min(0.45, max(0.2, 0.25 * math.pow(0.5 / float(request.epsilon), 0.3)))


@dataclass(frozen=True, kw_only=True)
class ItemsFirst:
    """Discovery, then picks or noisy counts.

    Args:
        top: k.
        size: items per itemset.
        discovery: how the items are found.
        stop_delta: delta_1, the probability that the discovery's threshold may fail.
        pick_epsilon: the epsilon of one pick; None if noisy counts select.
        pairs: how pairs are counted; None if they are not.
        itemsets: how itemsets are counted, if the answer is read from their counts; None if picks select.
        joined: larger itemsets are built from this many of the likeliest pairs.
        candidates: the answer is chosen from at most this many itemsets.
        sensitivity: Delta.
    """

    top: int
    size: int
    discovery: Discovery
    stop_delta: Fraction
    pick_epsilon: Fraction | None = None
    pairs: Measurement | None = None
    itemsets: Measurement | None = None
    joined: int
    candidates: int
    sensitivity: int = 1

    @property
    def select(self) -> str:
        """How itemsets are selected: "peel" or "counts"."""
        return COUNTS if self.pick_epsilon is None else PEEL

    @property
    def gives_counts(self) -> bool:
        """Whether the answer is read from noisy counts, which are then released with it."""
        return self.itemsets is not None

    @property
    def measurements(self) -> tuple[tuple[str, Measurement], ...]:
        """All measurements, in the order they are taken, with what each of them counts."""
        steps = (("items", self.discovery.measurement), ("pairs", self.pairs), ("itemsets", self.itemsets))
        return tuple((what, step) for what, step in steps if step is not None)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of the noisy counts, then those of the picks."""
        picks = () if self.pick_epsilon is None else peeling_losses(self.top, self.pick_epsilon)
        return (*(step.loss for _, step in self.measurements), *picks)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """With probability at most delta_1, an item is found that one unit alone has."""
        return (OneSidedFailure(self.stop_delta),)

    @property
    def spending(self) -> tuple[Spending, ...]:
        measured = [Spending(what=f"noisy counts of {what}", rho=step.loss.rho) for what, step in self.measurements]
        if self.pick_epsilon is not None:
            measured.append(Spending(what="picks", epsilon=self.pick_epsilon, times=self.top))
        return tuple(measured)

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The lead with which an itemset's items are found and the itemset itself stands out from the noise."""
        found = self.discovery.measurement
        units = self.discovery.threshold + 1.645 * math.sqrt(found.variance)
        needed = units / found.resolution * max(1.0, math.sqrt(TYPICAL_LENGTH / found.full))
        if self.pick_epsilon is not None:
            above = self.sensitivity * (math.log(self.candidates) + math.log(19)) / float(self.pick_epsilon)
        else:
            deviation = max(step.deviation for _, step in self.measurements[1:] or self.measurements)
            above = deviation * (math.sqrt(2 * math.log(self.candidates)) + 1.645)
        return (
            Margin(
                counts=math.ceil(max(needed, above)),
                words=f"over itemsets that do not occur, in transactions of {TYPICAL_LENGTH} items (its items are "
                "found by their own counts, which are larger)",
            ),
        )

    def picks(self, universe_size: int) -> Exponential:
        """The exponential mechanism that picks from this many candidates."""
        if self.pick_epsilon is None:
            raise AssertionError("noisy counts are read off, not picked from")
        return Exponential(
            top=self.top,
            pick_epsilon=self.pick_epsilon,
            universe_size=universe_size,
            sensitivity=self.sensitivity,
        )


def peels(top: int, size: int, epsilon: float) -> bool:
    """Whether picks serve better than noisy counts. They do if k is small and epsilon large.

    The noise of a pick grows with k and falls with epsilon. The noise of the counts does not grow with k, but long
    transactions count less in them, whatever epsilon is. The limits were measured on public data: see the report.
    """
    return top <= (25 if size <= 2 else 10) * max(1.0, epsilon)


def calibrate(request: Request, tuning: Tuning = Tuning()) -> CalibratedMechanism:
    """Divide rho between the items and the later steps.

    Raises:
        BudgetError: delta is 0.
        UsageError: there is no such way to select.
    """
    request.require_delta()
    if request.select not in {None, PEEL, COUNTS}:
        raise UsageError("There is no such way to select.", f"Choose --select {PEEL} or {COUNTS}.")
    peel = (
        peels(request.top, request.size, float(request.epsilon)) if request.select is None else request.select == PEEL
    )
    # The failure costs as much of epsilon as of delta: almost nothing, unless epsilon is as small as delta.
    stop_delta = min(request.delta / 2, request.epsilon / 1000)
    rho = calibrate_zcdp(stop_delta, epsilon=request.epsilon, delta=request.delta)

    def measured(share: float, full: int, sensitivity: int = request.sensitivity) -> Measurement:
        return Measurement.costing(rho * share, full=full, sensitivity=sensitivity)

    items_share = tuning.share_of_items(request, peel=peel)
    items = measured(items_share, tuning.full_items, 1)
    pick, pairs, itemsets = None, None, None
    candidates = MOST_CANDIDATES
    if peel:
        if request.size > 2:
            pairs = measured((1 - items_share) * tuning.picks_pairs_share, tuning.full_pairs)
        pick = _largest_pick(tuple(step.loss for step in (items, pairs) if step), request, stop_delta)
    else:
        rest = 1 - items_share
        pairs_share = tuning.pairs_share if request.size > 1 else 0.0
        if pairs_share:
            pairs = measured(rest * pairs_share, tuning.full_pairs)
        rest *= 1 - pairs_share
        itemsets = measured(rest, _full_for(request, rho * rest, tuning.full_itemsets))
        candidates = max(LEAST_CANDIDATES, tuning.counted * request.top)
    mechanism = ItemsFirst(
        top=request.top,
        size=request.size,
        discovery=Discovery.failing(stop_delta, measurement=items, max_items=MAX_ITEMS),
        stop_delta=stop_delta,
        pick_epsilon=pick,
        pairs=pairs,
        itemsets=itemsets,
        joined=min(MOST_CANDIDATES, max(LEAST_JOINED, tuning.joined * request.top)),
        candidates=min(MOST_CANDIDATES, candidates),
        sensitivity=request.sensitivity,
    )
    guarantee = prove_discovery(mechanism.losses, stop_delta, epsilon=request.epsilon, delta=request.delta)
    if guarantee is None:
        raise AssertionError("rho was shared out beyond what there is")
    return CalibratedMechanism(mechanism=mechanism, guarantee=guarantee)


def _full_for(request: Request, rho: float, full: int) -> int:
    """With a minimum count, longer transactions count in full, as long as the noise stays small beside that count."""
    if request.min_count is None:
        return full
    affordable = 2 * rho * (request.min_count / (20 * request.sensitivity)) ** 2
    return round(min(max(affordable, full), MOST_FULL))


def _largest_pick(measured: tuple[Loss, ...], request: Request, stop_delta: Fraction) -> Fraction:
    """The largest epsilon per pick that fits beside the noisy counts."""

    def fits(pick: Fraction) -> bool:
        losses = (*measured, *peeling_losses(request.top, pick))
        return prove_discovery(losses, stop_delta, epsilon=request.epsilon, delta=request.delta) is not None

    pick = largest(fits, request.epsilon)
    if pick is None:
        raise AssertionError("nothing is left for the picks")
    return pick
