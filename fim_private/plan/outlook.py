"""What a plan would achieve in a shop of a public shape: how many of the itemsets asked for it would name.

No data is read: the numbers follow from the parameters of the mechanism and from `shape.py`. Picks are the largest of
the counts with noise of one scale each, so the noise alone says with which probability a count is above a level. The
level above which as many itemsets are expected as are asked for tells which of the true ones are among them. An itemset
is then named if it has the support that the mechanism tests for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from fim_private.accounting.search import halved
from fim_private.arrays import Floats
from fim_private.mechanisms import itemset_picks, lacking_items
from fim_private.mechanisms.anonymous_names import Certified
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.certified_domain import CertifiedDomain
from fim_private.mechanisms.item_reading import ItemReading
from fim_private.mechanisms.items_first import GOES_ON, ItemsFirst
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.named_items import NamedItems
from fim_private.mechanisms.protocol import BY_COUNT
from fim_private.plan.plan import Plan
from fim_private.plan.shape import LARGEST, Shop

PLACES: Floats = np.unique(np.concatenate([np.arange(1.0, 2_001), np.geomspace(2_001, 1e7, 2_000).round()]))
"""Places of a ranking. From 2,001 on, each stands for those between it and the one before."""
_SPREAD = np.exp(0.5 * np.array([-1.28, -0.52, 0.0, 0.52, 1.28]))
"""The rarest item of an itemset is at about this many times its usual place, each with a chance of a fifth."""
_NOISE = np.array([NormalDist().inv_cdf((number + 0.5) / 105) for number in range(105)])
"""Normal noise, in standard deviations. It has each of these values about equally often."""
_NORMALS = _NOISE[3::7]
"""The same with fewer values: the logarithms of the lengths of transactions."""
_SHRUNK = 0.6
"""Noisy counts improve each other (`mining/shrinkage.py`), about as if the noise of pairs were this much of what it is.
With every further item, the smaller itemsets tell as much again."""
_GUMBEL, _NORMAL = "Gumbel", "normal"
_GUMBEL_DEVIATION = math.pi / math.sqrt(6)
"""Of Gumbel noise of scale 1."""
_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What to expect of a plan in a shop, which is what is declared of the data."""

    plan: Plan
    shop: Shop

    @cached_property
    def right(self) -> float:
        """The share of the true top k that is expected among the itemsets that are named."""
        return float(self._named(self.plan.search).sum()) / self.plan.top

    @cached_property
    def count(self) -> float:
        """About how many transactions hold the k-th itemset."""
        return float(self._counts[min(self.plan.top, len(self._counts)) - 1])

    @property
    def count_error(self) -> float | None:
        """By which share of it the count of the k-th itemset is off at most, 19 times in 20; None without counts."""
        return None if self.plan.counts is None else self.plan.counts.half_width / max(self.count, 1.0)

    @cached_property
    def _ranking(self) -> tuple[Floats, Floats]:
        """The counts of all itemsets of the plan's sizes in decreasing order, and for how many itemsets each stands."""
        numbers = np.diff(PLACES, prepend=0.0)
        counts = np.concatenate([self.shop.counts(PLACES, size) for size in self.plan.sizes])
        order = np.argsort(-counts, kind="stable")
        return counts[order], np.tile(numbers, len(self.plan.sizes))[order]

    @property
    def _counts(self) -> Floats:
        return self._ranking[0]

    def _at(self, place: int) -> float:
        """The count at this place of the ranking."""
        counts, numbers = self._ranking
        return float(counts[min(int(np.searchsorted(np.cumsum(numbers), place)), len(counts) - 1)])

    def _named(self, way: object) -> Floats:
        """For each of the true top k, the probability that it is named."""
        if isinstance(way, LookFirst):
            return self._named(way.way(way.support(lambda place: round(self._at(place))), self._lengths))
        if isinstance(way, ItemsFirst):
            picks = self._picks_of_list(way)
            return self._by_items(way) if picks is None else self._named(picks)
        if isinstance(way, CertifiedDomain | LimitedDomain):
            needed = way.stop_lead if isinstance(way, LimitedDomain) else _passing(way.certificate)
            picked = self._picked(float(1 / way.rate), way.candidates)
            return picked * (self._top >= float(needed) + self._at(way.candidates + 1))
        if isinstance(way, Certified):
            return self._named(way.inner) * (self._top >= _passing(way.certificate))
        scale = getattr(way, "scale", None) or 1 / getattr(way, "rate", math.nan)
        lead = (self.plan.compared_lead or self.plan.near_lead or 0) if math.isnan(scale) else 0
        if lead:
            return (self._top >= lead).astype(np.float64)
        return self._picked(float(scale), self.plan.declared_itemsets(*self.plan.sizes) or 10**7)

    def _picks_of_list(self, way: ItemsFirst) -> LiftedExponential | None:
        """Picks from the whole list, if a look would decide for them."""
        lengths = self._lengths
        look = way.given_lengths(lengths).count_look
        if look is None:
            return None
        other = look.way(round(self._at(look.place)), lengths, way.item_deviation(lengths))
        return other if isinstance(other, LiftedExponential) else None

    @property
    def _top(self) -> Floats:
        return self._counts[: self.plan.top]

    @property
    def _lengths(self) -> Lengths:
        """How many items transactions hold."""
        return self._holding(self.shop.items_per_transaction)

    def _holding(self, items: float) -> Lengths:
        """The same if transactions hold this many items on average."""
        lengths = np.exp(self.shop.spread * _NORMALS)
        each = np.full(len(lengths), self.shop.transactions / len(lengths))
        return Lengths(items * lengths / lengths.mean(), each)

    def _picked(self, scale: float, candidates: float, law: str = _GUMBEL) -> Floats:
        """For each of the true top k, the probability that it is among the k largest of noisy counts.

        Args:
            scale: the scale of the noise in each count.
            candidates: how many itemsets take part. Those of which the shape knows nothing have a count of 0.
            law: the law of the noise.
        """
        counts, numbers = self._ranking
        taking_part = np.cumsum(numbers) <= max(candidates, self.plan.top)
        counts, numbers = counts[taking_part], numbers[taking_part]
        rest = candidates - float(numbers.sum())
        if rest > 0:
            counts, numbers = np.append(counts, 0.0), np.append(numbers, rest)
        low, high = float(counts.min()) - 80 * scale, float(counts.max()) + 80 * scale

        def too_low(level: float) -> bool:
            return float((_above(level - counts, scale, law) * numbers).sum()) > self.plan.top

        _, level = halved(too_low, low, high, _STEPS)
        picked: Floats = _above(level - counts[: self.plan.top], scale, law)
        return picked

    def _by_items(self, way: ItemsFirst) -> Floats:
        """The same where items are found first.

        The mechanism decides on the later steps as it does with data, but no item is counted again.
        """
        supports, lengths = self.shop.counts(np.arange(1.0, 2_001), 1), self._lengths
        way = way.naming(lengths) or way
        reading = way.reading(lengths)
        if reading is not None:
            return self._by_reading(reading)
        if isinstance(way.items, NamedItems):
            seen = way.items.seen(lengths)
        else:
            seen = 0.0 if way.items.listed else GOES_ON * way.item_deviation(lengths)
        noisy = _noisy(supports, way.item_deviation(lengths))
        going_on = noisy[noisy >= seen]
        few = way.few(going_on, lengths)
        held = self._holding(max(1.0, float(going_on[:few].sum()) / self.shop.transactions))
        steps = way.later(going_on, lengths, held)
        if steps.pick_epsilon is not None:
            scale, law = way.sensitivity / float(steps.pick_epsilon), _GUMBEL
            if way.asked.named and way.size == 1:
                # Picks go by the first counts too.
                scale = 1 / math.hypot(1 / scale, _GUMBEL_DEVIATION / way.item_deviation(lengths))
            # Picks choose from itemsets of the tokens that go on.
            of_tokens = sum(math.comb(steps.tokens, size) for size in way.sizes)
            candidates = min(steps.candidates, of_tokens) if way.size > 1 else max(steps.tokens, 3 * self.plan.top)
            if itemset_picks.decoys_stand_beside(way.asked, candidates):
                candidates = itemset_picks.choose_from(way.asked, candidates)
        elif steps.items is not None and steps.lacking is not None:
            kept = going_on[: steps.items.top]
            lacking = lacking_items.lacking(way.asked, steps.lacking, kept, self.shop.transactions)
            # An itemset's expected count is off by what those of its items are off together.
            scale, law = math.sqrt(way.size) * lacking.deviation, _NORMAL
            candidates = sum(math.comb(len(kept), size) for size in way.sizes)
        else:
            noise = steps.itemsets
            if noise is None:
                raise AssertionError("nothing is counted")
            shrunk = _SHRUNK ** max(1, way.size - 1)
            scale, law = shrunk * way.deviation(steps) / held.weight(noise.full, way.sizes), _NORMAL
            candidates = steps.candidates
        # The rarest item has to go on, and to pass the test.
        last = float(going_on[steps.tokens - 1]) if steps.tokens else math.inf
        places = np.maximum(1.0, self.shop.rarest(np.arange(1.0, len(self._top) + 1)) * _SPREAD[:, np.newaxis])
        rarest = self._top if way.size == 1 else np.maximum(self._top, self.shop.counts(places, 1))
        found = _left(rarest - last, way.item_deviation(lengths))
        if steps.certificate is not None:
            found = found * _left(rarest - _passing(steps.certificate), math.sqrt(steps.certificate.variance))
        among = min(1.0, candidates / self.plan.top)  # no more of them can be right
        return among * self._picked(scale, candidates, law) * (found if way.size == 1 else found.mean(axis=0))

    def _by_reading(self, way: ItemReading) -> Floats:
        """The same where single items are read from noisy counts."""
        noise = way.items.measurement.deviation / way.weight
        needed = max(GOES_ON * noise, _passing(way.certificate))
        return self._picked(noise, 3 * self.plan.top, _NORMAL) * (self._top >= needed)


def outlook(plan: Plan, shop: Shop) -> Outlook | None:
    """The outlook of a plan; None where the shape says nothing of what is asked for."""
    question = plan.question
    fits = not (question.per_size or question.constraints.must_contain or question.min_count is not None)
    return Outlook(plan=plan, shop=shop) if fits and question.by == BY_COUNT and max(plan.sizes) <= LARGEST else None


def _passing(test: Certificate) -> float:
    """The support with which a noisy test is passed five times in six."""
    return test.threshold + math.sqrt(test.variance)


def _noisy(counts: Floats, deviation: float) -> Floats:
    """Counts in decreasing order, as they are expected to be after normal noise."""
    noisy = np.sort((counts + deviation * _NOISE[:, np.newaxis]).ravel())[::-1]
    return noisy[len(_NOISE) // 2 :: len(_NOISE)]


def _left(distance: Floats, deviation: float) -> Floats:
    """The probability that normal noise does not take away this much."""
    return _above(-distance.ravel(), deviation, _NORMAL).reshape(distance.shape)


def _above(distance: Floats, scale: float, law: str) -> Floats:
    """The probability that the noise exceeds this."""
    steps = distance / scale
    if law == _GUMBEL:
        above: Floats = -np.expm1(-np.exp(-np.clip(steps, -30, 700)))
        return above
    normal = NormalDist()
    return np.array([1 - normal.cdf(step) if abs(step) < 8 else float(step < 0) for step in steps.tolist()])
