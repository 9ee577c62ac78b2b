"""Items first: an open universe at a lower price than a declared one.

One transaction holds few items but many itemsets. So the mechanism first counts the *items*, with noise and without
names (`anonymous_items.py`). The tokens with large noisy counts are the universe of every later step, and their counts
show which itemsets are likely to be frequent (`asked_itemsets.py`). It then selects itemsets of tokens in one of three
ways:
  peel (`itemset_picks.py`): k picks by the exponential mechanism from the likely itemsets, and from decoys, which show
    where a list would be mostly noise. For several sizes, noisy counts of pairs help to find the likely itemsets.
  counts (`itemset_measurements.py`): noisy counts of pairs, then noisy counts of the itemsets whose pairs are likely.
    Itemsets near the k-th are then in doubt. They are few, so they are counted again with less noise. All k itemsets
    are read from these counts at once, fewer if the likeliest have no support, and the counts are released with them.
  items alone (`lacking_items.py`): in dense data, better counts of a few items tell which of their itemsets are likely.
Pairs may be asked for by leverage: by how many more transactions hold them than if their items were independent. Picks
then go by the count less a public number, which is computed from the noisy counts of the two items. For that, the most
frequent items are counted once more, every transaction in full.

A certificate (`certificate.py`) then decides how many of them are named. It is not needed with a public list of items,
and for items of short transactions, which their first counts name (`named_items.py`).

A public list also allows a delta of 0: all noise is then Laplace noise, and what the steps cost is an epsilon. The
mechanism then also looks at one count, which may show that picks from the whole list are better, or PrivBasis
(`count_look.py`).

This file says what all steps cost and divides the budget among them. `items_first_tuning.py` holds the shares, and
`mining/items_first_steps.py` runs the steps.

Theorem and proof: docs/mathematics.md#items-first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from statistics import NormalDist

import numpy as np

from fim_private.accounting.calibration import calibrate_gaussian, prove_basic
from fim_private.arrays import Floats
from fim_private.errors import UsageError
from fim_private.mechanisms import itemset_measurements, itemset_picks, lacking_items
from fim_private.mechanisms.anonymous_items import AnonymousItems
from fim_private.mechanisms.asked_itemsets import MOST_CANDIDATES, MOST_TESTED, AskedItemsets, fewest_items
from fim_private.mechanisms.certificate import FAILURE_SHARE, Certificate
from fim_private.mechanisms.count_look import CountLook
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.item_reading import ItemReading, item_reading
from fim_private.mechanisms.items_first_tuning import FOUND, FOUND_WITHOUT_DELTA, Tuning
from fim_private.mechanisms.later_steps import MOST_FULL, LaterSteps, shared
from fim_private.mechanisms.lengths import TYPICAL_LENGTH, LengthLook, Lengths
from fim_private.mechanisms.lifted_exponential import LiftedExponential, most_held
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.named_items import NamedItems, named_items
from fim_private.mechanisms.noise_family import GAUSSIAN, LAPLACE, NoiseFamily
from fim_private.mechanisms.privbasis import PrivBasis
from fim_private.mechanisms.protocol import (
    BY_COUNT,
    BY_LEVERAGE,
    COUNTS,
    ITEMS,
    MISSED,
    MUCH,
    NORMAL_REACH,
    PEEL,
    CalibratedMechanism,
    Margin,
    Request,
    Spending,
)
from fim_private.privacy import Failure, Loss, OneSidedFailure

_LEAST_DELTA = 1e-300
"""Only a guess of the support that is needed uses this. Floats cannot express less."""
GOES_ON = 3.2
"""Tokens of a large universe go on from about this many deviations on."""
_SEEN = GOES_ON + NORMAL_REACH
_MISSED, _OFF = 0.01, 2.326
"""With the lead of one, each of five things fails with probability `_MISSED`, when noise takes `_OFF` deviations off:
both items of a pair go on, both pass the test, and the pair stands out."""
_SURELY_SEEN = GOES_ON + _OFF
_ONCE = MISSED / 3
"""With the stated lead, each of three things fails with this probability: all items of the list go on, all pass the
test, and all itemsets of the list stand out."""
_LIKELY_TOKENS = 100
"""The stated lead of picks from all itemsets of the tokens is over the itemsets of this many tokens. Rarer tokens weigh
less."""
USUAL_LENGTHS = Lengths(np.full(1, float(TYPICAL_LENGTH)), np.ones(1))


@dataclass(frozen=True, kw_only=True)
class ItemsFirst:
    """A look at the lengths and noisy counts of tokens; picks or noisy counts of their itemsets; the certificate.

    Args:
        top: k.
        sizes: items per itemset, increasing. Itemsets of several sizes are ranked together.
        select: how itemsets are selected, "peel", "counts" or "items"; None if what was counted before decides.
        look: each of the looks at how many items units hold.
        items: how the items are counted.
        budget: what everything together costs at most: a rho with Gaussian noise, an epsilon with Laplace noise.
        test_delta: the probability with which the certificate may fail; None if the items' names are a public list, or
            first counts name them.
        min_count: only itemsets above this count are asked for; None for the top alone.
        by: what itemsets are ranked by, "count" or "leverage". Leverage is for pairs that are picked.
        sensitivity: Delta.
        epsilon: what was asked for; only the tuning uses it.
        support: about how many units hold the k-th itemset, if that was released before; None if it was not.
        noise: the family of noise of all steps.
        tuning: how the budget is shared out.
        count_look: the look at one count, after the first look at the lengths; None if it is not taken.
    """

    top: int
    sizes: tuple[int, ...]
    select: str | None
    look: LengthLook
    items: AnonymousItems
    budget: Fraction
    test_delta: Fraction | None
    min_count: int | None = None
    by: str = BY_COUNT
    sensitivity: int = 1
    epsilon: float = 1.0
    support: float | None = None
    noise: NoiseFamily = GAUSSIAN
    tuning: Tuning = FOUND
    count_look: CountLook | None = None

    @property
    def size(self) -> int:
        """The number of items of the largest itemsets."""
        return max(self.sizes)

    @property
    def public_names(self) -> int | None:
        """How many items the public list has; None if there is no list."""
        return self.items.names if self.items.listed and not self.asked.named else None

    @property
    def depth(self) -> int:
        """How many of the largest counts the look at one count and its ways need, before the items are counted."""
        return 0 if self.count_look is None else self.count_look.depth

    def loud(self, names: int) -> Iterator[ItemsFirst | PrivBasis]:
        """The same with so little noise that every later step follows, in each way that the looks may choose."""
        if self.count_look is not None and self.count_look.bins is not None:
            yield from self.count_look.bins.loud(names)
        look = self.noise.look.costing(MUCH)
        items = AnonymousItems(
            measurement=replace(self.items.measurement, variance=look.variance),
            names=names if self.test_delta is None else max(names, self.items.names),
        )
        for select in self.selections:
            way = replace(self, select=select, look=look, items=items, budget=MUCH, min_count=None, count_look=None)
            yield replace(way, tuning=replace(self.tuning, short=math.inf))
            if self.test_delta is not None:
                yield replace(way, tuning=replace(self.tuning, short=0.0))
        tuning = replace(self.tuning, short=math.inf, reads_most=math.inf)
        read = replace(self, look=look, items=items, budget=MUCH, support=1.0, tuning=tuning)
        if read.reading(read.usual_lengths):
            yield read

    @property
    def selections(self) -> tuple[str, ...]:
        """How itemsets may be selected, by what is released before."""
        ways = (PEEL, COUNTS) if self.select is None else (self.select,)
        return (*ways, ITEMS) if self.select in {None, PEEL} and lacking_items.may_tell(self.asked) else ways

    @cached_property
    def asked(self) -> AskedItemsets:
        """What is asked for."""
        return AskedItemsets(
            top=self.top,
            sizes=self.sizes,
            min_count=self.min_count,
            by=self.by,
            listed=self.items.listed,
            named=isinstance(self.items, NamedItems),
            sensitivity=self.sensitivity,
            epsilon=self.epsilon,
            support=self.support,
            noise=self.noise,
            tuning=self.tuning,
        )

    @property
    def gives_counts(self) -> bool:
        """Whether the answer is certainly read from noisy counts, which are then released with it."""
        return self.select == COUNTS

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All steps together. Released numbers decide how the budget is shared out among them."""
        return (self.noise.loss(self.budget),)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """An itemset passes the test, or an item is named, although one unit alone has the item."""
        failure = self.items.failure if isinstance(self.items, NamedItems) else self.test_delta
        return () if failure is None else (OneSidedFailure(failure),)

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The first steps, then what is left for those that follow from them."""
        if self.usual_way is not self:
            return self.usual_way.spending
        paid = self.noise.spending
        what = {PEEL: "picks", COUNTS: "noisy counts of itemsets"}.get(self.select or "", "picks or noisy counts")
        again, test, named = "", "", ", which name them" if isinstance(self.items, NamedItems) else ""
        if self.test_delta is not None:
            again, test = "perhaps the likeliest items once more, ", ", and the test of their items"
        if self.by == BY_LEVERAGE:
            again = "the most frequent items once more, "
        count = () if self.count_look is None else (self.count_look.spending,)
        return (
            paid("looks at how many items units hold", 2 * self.look.cost),
            *count,
            paid(f"noisy counts of items{named}", self.items.measurement.cost),
            paid(f"{again}{what}{test}", self._after_items),
        )

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The lead with which the list's items go on, are certified, and its itemsets stand out from the noise.

        Where a look may decide for picks from a public list, it is enough for these too.
        """
        if self.usual_way is not self:
            return self.usual_way.margins
        if isinstance(self.items, NamedItems) and self.size == 1:
            return (self.items.margin(self.top),)
        deviation, steps = self.item_deviation(self.usual_lengths), self.usual
        items = fewest_items(self.top, self.sizes)
        if isinstance(self.items, NamedItems):
            both = (self.noise.reach(items, _ONCE), _OFF)
            needed, of_one = (self.items.needed(deviations, TYPICAL_LENGTH) for deviations in both)
        else:
            # The fewer items stand out, the further they must.
            from_ = GOES_ON if self.items.listed else self.noise.reach(self.items.names, self.items.strangers(items))
            needed = (from_ + self.noise.reach(items, _ONCE)) * deviation
            of_one = _SURELY_SEEN * deviation
        if steps.certificate is not None:
            needed = max(needed, steps.certificate.support_needed(_ONCE))
            of_one = max(of_one, steps.certificate.support_needed(_MISSED))
        if self.count_look is not None:
            (picked,) = self.count_look.picks.margins
            needed, of_one = max(needed, picked.counts), max(of_one, picked.compared)
        if steps.pick_epsilon is not None:
            likely = _LIKELY_TOKENS**self.size if self.asked.picked_from_all else steps.candidates
            picks = self.picks(steps.pick_epsilon, itemset_picks.choose_from(self.asked, likely))
            needed, of_one = max(needed, picks.lead(_ONCE)), max(of_one, picks.margins[0].compared)
        else:
            # Larger itemsets also have to be among those that are built from pairs.
            built = steps.pairs.deviation if steps.pairs is not None and self.size > 2 else 0.0
            noise, both = max(built, self.deviation(steps)), (self.top, steps.candidates)
            needed = max(needed, noise * sum(self.noise.reach(number, _ONCE / 2) for number in both))
            of_one = max(of_one, noise * (math.sqrt(2 * math.log(steps.candidates)) + _OFF))
        lead = "of leverage over" if self.by == BY_LEVERAGE else "over"
        return (
            Margin(
                counts=math.ceil(needed),
                of_one=math.ceil(of_one),
                words=f"{lead} itemsets that do not occur (for units with at most {TYPICAL_LENGTH} different items, if "
                "few items make up the answer)",
                less_if_likely=True,
            ),
        )

    @property
    def support_needed(self) -> int | None:
        """The number of units that an item must be in to be named 19 times in 20; None if names are a public list."""
        if self.usual_way is not self and self.size == 1:
            return self.usual_way.margins[0].compared
        certificate = self.usual.certificate
        return None if certificate is None else certificate.support_needed(0.05)

    @property
    def usual_lengths(self) -> Lengths:
        """Units that hold a usual number of items."""
        return replace(USUAL_LENGTHS, linear=self.noise.look.linear)

    @cached_property
    def usual(self) -> LaterSteps:
        """The later steps for transactions of a usual length, if items have the least support that is surely seen."""
        return self.later(np.full(MOST_TESTED, self.seen(self.usual_lengths)), self.usual_lengths, self.usual_lengths)

    @cached_property
    def usual_way(self) -> ItemsFirst:
        """The same, once the look has found transactions of a usual length."""
        return self.naming(self.usual_lengths) or self

    def given_support(self, support: float, deviation: float, lengths: Lengths) -> ItemsFirst:
        """The same if about this many units hold the k-th itemset: the first counts of frequent items may be rougher.

        Args:
            support: as released before, in transactions. Each item of the k-th itemset is in at least as many.
            deviation: of the noise in it.
            lengths: how many items units hold.
        """
        tuning = self.tuning
        clear = tuning.clear_items[min(self.sizes[0], len(tuning.clear_items)) - 1]
        # An item's count is by units, and a unit may hold an itemset Delta times.
        rarest = max(support - deviation, 1.0) / self.sensitivity
        enough = float(self.items.measurement.cost) * (clear * self.item_deviation(lengths) / rarest) ** 2
        return self._given(support, max(enough, tuning.least_share * float(self.budget)))

    def in_dense_data(self, support: float) -> ItemsFirst:
        """The same if about this many units hold the k-th itemset, a large share of all: items are counted again then.

        `support` is as for `given_support`.
        """
        given = self._given(support, self.tuning.dense_items * float(self.budget))
        return replace(given, select=ITEMS, items=replace(given.items, all_go_on=True))

    def _given(self, support: float, most: float) -> ItemsFirst:
        """The same with this support, and with first counts of the items for at most this rho."""
        items, counted = self.items, self.items.measurement
        if most < counted.cost:
            counted = self.noise.measurement.costing(most, full=counted.full, sensitivity=1)
            items = replace(items, measurement=counted)
        return replace(self, support=support, items=items)

    def given_lengths(self, lengths: Lengths) -> ItemsFirst:
        """The same, once the lengths of units are known. A look that is then not worth its price is not taken."""
        look = self.count_look
        return self if look is None or look.worth_it(lengths) else replace(self, count_look=None)

    def going_on(self, count: int, lengths: Lengths) -> ItemsFirst | PrivBasis | LiftedExponential:
        """The way to go, by what the look at one count found, and the look at the lengths before it."""
        look = self.count_look
        if look is None:
            return self
        if lengths.many(self.look) and lacking_items.may_tell(self.asked) and look.items_tell(count, lengths):
            return self.in_dense_data(float(count))
        # For pairs this look is too rough to say how dependent their items are.
        known = replace(self, support=float(max(count, 1))) if self.size > 2 else self
        return look.way(count, lengths, self.item_deviation(lengths)) or known

    def naming(self, lengths: Lengths) -> ItemsFirst | None:
        """The same with first counts that name the items if units have these lengths; None if tokens are better."""
        if self.test_delta is None:
            return None
        left = self.budget - 2 * self.look.cost
        items = named_items(self.asked, self.items, left, self.test_delta, lengths, counted=self.select == COUNTS)
        return None if items is None else replace(self, test_delta=None, items=items)

    def reading(self, lengths: Lengths) -> ItemReading | None:
        """How single items are read from first counts if units have these lengths; None if another way is better."""
        if self.test_delta is None or self.select is not None or self.sizes != (1,):
            return None
        if self.naming(lengths) is not None:
            return None
        left = self.budget - self.look.cost
        tested = partial(self._tested, self.test_delta, left)
        return item_reading(self.asked, self.items, left, lengths, seen=self.seen(lengths), certificate=tested)

    @property
    def _after_items(self) -> Fraction:
        """What the looks and the first counts of the items leave of the budget."""
        count = Fraction(0) if self.count_look is None else self.count_look.noise.epsilon
        return self.budget - 2 * self.look.cost - count - self.items.measurement.cost

    def item_deviation(self, lengths: Lengths) -> float:
        """The deviation of the noise in the first counts of the items, in transactions."""
        return self.items.measurement.deviation / lengths.weight(self.items.measurement.full)

    def seen(self, lengths: Lengths) -> float:
        """The support with which an item goes on."""
        return _SEEN * self.item_deviation(lengths)

    def named(self, lengths: Lengths) -> float | None:
        """The support with which first counts name a single item every second time; None if they name none."""
        way = self.naming(lengths) if self.sizes == (1,) else None
        return way.items.seen(lengths) if way and isinstance(way.items, NamedItems) else None

    def few(self, supports: Floats, lengths: Lengths) -> int:
        """How many tokens go on to noisy counts. `supports`: about how many units hold each, in decreasing order."""
        deviation = self.item_deviation(lengths)
        return itemset_measurements.tokens(self.asked, supports, lengths, self._after_items, deviation)

    def again(self, supports: Floats, lengths: Lengths, held: Lengths) -> Measurement | None:
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
        if self.asked.last_needed(supports) > self.tuning.again_below * deviation:
            return None
        again = shared(self.noise.measurement, self.budget, self.tuning.again_share, full=held.best_full)
        return again if again.deviation / held.weight(again.full) < deviation else None

    def later(self, supports: Floats, lengths: Lengths, held: Lengths, again: Measurement | None = None) -> LaterSteps:
        """The steps after the items were counted. With the looks and the items they cost at most the budget.

        Args:
            supports: about how many units hold each token, in decreasing order.
            lengths: how many items units hold.
            held: how many of the first tokens units hold.
            again: how the first tokens were counted once more.
        """
        asked, transactions, left = self.asked, float(lengths.units.sum()), self._after_items
        left -= again.cost if again else 0
        # A public list needs no test.
        wanted = 0.0 if self.test_delta is None else self.tuning.sure * asked.rarest_item(supports, transactions)
        # Tokens that picks do not reach go no further, so they need not pass.
        certificate = self._certificate(left, max(wanted, itemset_picks.reached(asked, left, supports)))
        select = self.select
        for_picks, go_on = left - _cost(certificate), supports[supports >= _worth_it(certificate)]
        item_deviation = self.item_deviation(lengths)
        if again is not None:
            item_deviation = 1 / math.hypot(1 / item_deviation, held.weight(again.full) / again.deviation)
        tell = partial(lacking_items.tell, deviation=item_deviation, known=select == ITEMS)
        if select != COUNTS and tell(asked, go_on, lengths.all_units, for_picks):
            select = ITEMS
        elif select != COUNTS:
            picked = select == PEEL or itemset_picks.serve_better(asked, supports, held, transactions, for_picks)
            select = PEEL if picked else COUNTS
        if select == COUNTS:
            certificate = self._certificate(left, wanted)
        steps = LaterSteps(
            transactions=transactions,
            again=again,
            item_deviation=item_deviation,
            tokens=int(np.count_nonzero(supports >= _worth_it(certificate))),
            candidates=MOST_CANDIDATES,
            certificate=certificate,
        )
        left -= _cost(certificate)
        if select == ITEMS:
            steps = lacking_items.with_counts_of_lacking(asked, steps, left, go_on)
        elif select == PEEL:
            steps = itemset_picks.with_picks(asked, steps, left, supports, held=held, budget=self.budget)
        else:
            few = self.few(supports, lengths)
            steps = itemset_measurements.with_counts(
                asked, steps, left, supports, few=few, held=held, budget=self.budget
            )
        return replace(steps, pair_weight=held.weight(steps.pairs.full, (2,))) if steps.pairs else steps

    def picks(self, pick_epsilon: Fraction, universe_size: int) -> Exponential:
        """The exponential mechanism that picks from this many candidates."""
        return Exponential(
            top=self.top,
            pick_epsilon=pick_epsilon,
            universe_size=universe_size,
            rise=self.tuning.rise,
            sensitivity=self.sensitivity,
        )

    def picks_from_all(self, pick_epsilon: Fraction, tokens: int) -> LiftedExponential:
        """The exponential mechanism that picks from all itemsets of this many tokens."""
        return LiftedExponential(
            top=self.top,
            pick_epsilon=pick_epsilon,
            universe_size=math.comb(tokens, self.size),
            rise=self.tuning.rise,
            sensitivity=self.sensitivity,
            candidates=most_held(self.size),
        )

    @property
    def held_at_most(self) -> int:
        """How many of the largest counts of all itemsets may be needed after the charge."""
        return most_held(self.size) + 1 if self.asked.picked_from_all and self.select != COUNTS else 0

    def deviation(self, steps: LaterSteps) -> float:
        """The deviation of the noise in the average of all counts of an itemset near the k-th, in transactions."""
        counts = [self.recount(cost, 1.0) for cost in steps.in_doubt]
        counts += [step for step in (steps.itemsets, steps.pairs if self.size == 2 else None) if step is not None]
        return 1 / math.sqrt(math.fsum(step.deviation**-2 for step in counts))

    def recount(self, cost: float, share: float) -> Measurement:
        """How the itemsets in doubt are counted again.

        `share` is their part of everything that transactions hold of the candidates.
        """
        usual = self.tuning.full_in_doubt * self.asked.boldness * math.sqrt(share)
        full = max(1, min(MOST_FULL, round(usual)))
        return self.noise.measurement.costing(cost, full=full, sensitivity=self.sensitivity)

    def _certificate(self, left: Fraction, support: float) -> Certificate | None:
        """A certificate that items of this support are likely to pass, if it need not cost too much of what is left."""
        return None if self.test_delta is None else self._tested(self.test_delta, left, support)

    def _tested(self, failure: Fraction, left: Fraction, support: float) -> Certificate:
        tuning = self.tuning
        # The threshold is about 5 to 6 deviations, and a support 1.6 above it passes 19 times in 20.
        deviations = 1.6 - NormalDist().inv_cdf(max(float(failure), _LEAST_DELTA))
        test = (deviations / max(support, 1.0)) ** 2 / 2
        test = min(max(test, tuning.least_share * float(self.budget)), tuning.most_test * float(left))
        return Certificate.costing(Fraction(test), tuning.cut_share * test, failure=OneSidedFailure(failure))


def _worth_it(certificate: Certificate | None) -> float:
    """The least support of tokens that go on: itemsets of rarer items are never named."""
    return 1.0 if certificate is None else certificate.threshold


def _cost(certificate: Certificate | None) -> Fraction:
    return Fraction(0) if certificate is None else certificate.rho


def calibrate(request: Request, tuning: Tuning = FOUND) -> CalibratedMechanism:
    """Divide the budget between the look, the items, and what follows.

    With a delta of 0, which needs a public list of items, all noise is Laplace noise.

    Raises:
        BudgetError: delta is 0 without a list, or the budget is too small for a test.
        UsageError: there is no such way to select.
    """
    if not request.listed:
        request.require_delta()
    if request.select not in (None, PEEL, COUNTS):
        raise UsageError("There is no such way to select.", f"Choose --select {PEEL} or {COUNTS}.")
    epsilon, delta = request.epsilon, request.delta
    if delta == 0:
        pure = share_out(request, epsilon, Fraction(0), FOUND_WITHOUT_DELTA if tuning is FOUND else tuning, LAPLACE)
        pure = replace(pure, count_look=CountLook.of(request, before=pure.look.cost))
        return CalibratedMechanism(mechanism=pure, guarantee=prove_basic(pure.losses, Fraction(0)))
    failure = Fraction(0) if request.listed else FAILURE_SHARE * delta
    rho, guarantee = calibrate_gaussian((OneSidedFailure(failure),), epsilon=epsilon, delta=delta)
    return CalibratedMechanism(mechanism=share_out(request, rho, failure, tuning), guarantee=guarantee)


def share_out(
    request: Request, budget: Fraction, failure: Fraction, tuning: Tuning = FOUND, noise: NoiseFamily = GAUSSIAN
) -> ItemsFirst:
    """The mechanism whose steps together cost at most the budget.

    Args:
        request: what is asked.
        budget: what all steps may cost, in what the family of noise pays.
        failure: the probability with which the certificate may fail; not used if the names are a public list.
        tuning: how the budget is shared out.
        noise: the family of noise of all steps.
    """
    counted = noise.measurement.costing(
        float(budget) * tuning.share_of_items(float(request.epsilon), listed=request.listed),
        full=tuning.leverage_full_items if request.by == BY_LEVERAGE else tuning.full_items,
        sensitivity=1,
    )
    return ItemsFirst(
        top=request.top,
        sizes=request.sizes,
        select=request.select,
        look=noise.look.costing(Fraction(tuning.look_share) * budget),
        items=AnonymousItems(measurement=counted, names=request.names, listed=request.listed),
        budget=budget,
        test_delta=None if request.listed else failure,
        min_count=request.min_count,
        by=request.by,
        sensitivity=request.sensitivity,
        epsilon=float(request.epsilon),
        noise=noise,
        tuning=tuning,
    )
