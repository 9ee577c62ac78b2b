"""Look first: two noisy looks decide between the certified domain and items first.

Where the k-th itemset is far more frequent than the bulk of the ranking, picks from the most frequent itemsets are best
(`certified_domain.py`). Elsewhere the items have to be found first (`items_first.py`). So the mechanism looks, with
noise, at how many items units hold: the more they hold, the more support an item needs to be found. Then it looks at
the support of the k-th itemset: by how much its count exceeds c_(l+1). If that is a good part of the lead that picks
need, they choose. Less is enough for a short list where items are hard to find. The larger the support is, the less
their test may cost, and a clear list is not cut. Otherwise items first goes on. It also does in dense data if picks
would be rough: items then tell most of their itemsets.

With a public list of items, itemsets of one size of up to three items are picked from all that the list makes
(`lifted_exponential.py`). Nothing then needs a test.

Theorem and proof: docs/mathematics.md#look-first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from statistics import NormalDist

from fim_private.accounting.calibration import Need, calibrate_gaussian, composed_need, largest_above
from fim_private.accounting.gaussian_composition import range_costing
from fim_private.accounting.range_composition import MOST_PICKS
from fim_private.accounting.rounding import exp_up, round_down
from fim_private.mechanisms.certificate import FAILURE_SHARE, Certificate
from fim_private.mechanisms.certified_domain import (
    CUT_SHARE,
    RISE,
    CertifiedDomain,
    spare_of,
    test_share_of,
)
from fim_private.mechanisms.exponential import RISE as RISE_OF_LISTED
from fim_private.mechanisms.items_first import USUAL_LENGTHS, ItemsFirst, share_out
from fim_private.mechanisms.items_first_tuning import FOUND
from fim_private.mechanisms.lacking_items import rough_in_dense_data
from fim_private.mechanisms.lengths import TYPICAL_LENGTH, Lengths
from fim_private.mechanisms.lifted_exponential import LiftedExponential, most_held
from fim_private.mechanisms.peeling import mix
from fim_private.mechanisms.privbasis import PrivBasis
from fim_private.mechanisms.protocol import (
    NORMAL_REACH,
    CalibratedMechanism,
    Law,
    Margin,
    Request,
    Spending,
    lead_of_list,
    normal_reach,
)
from fim_private.privacy import AnyFailure, Chosen, ChosenFailure, DiscreteGaussian, Failure, Gaussian, Guarantee, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import log_discrete_gaussian_survival, sample_discrete_gaussian

LOOK_SHARE = Fraction(3, 100)
"""The share of rho for the look at the support."""
_LOOKS_SHARE = LOOK_SHARE + Fraction(FOUND.look_share)
"""The share of rho for both looks, at most."""
UNKNOWN_WAY_SHARES, LEAST_GAIN = (Fraction(1, 40), Fraction(1, 20)), Fraction(101, 100)
"""The shares of delta, one tried after the other, for not knowing which way the looks will choose. They are needed if
picks cost less than noise. Picks must then gain this much."""
_MOST_LEADS, _MOST_IF_LISTED, _WITHOUT_ITEMS = 0.5, 0.4, 0.8
_EASE, _EASE_OF_LARGER = 0.8, 0.4
"""Picks follow if the support is at least `_MOST_LEADS` times their lead. Less is enough where items first is less
good: `_WITHOUT_ITEMS` leads, less `_EASE` times the support that items need to be found. If no single items are asked
for, `_EASE_OF_LARGER` replaces `_EASE`, because the items of larger itemsets are more frequent. With a public list, no
item has to be found: `_MOST_IF_LISTED` leads are then enough."""
_LONG, _LEAST_LEADS = 40, 0.3
"""Picks of more than `_LONG` itemsets are hardly ever right with a support below `_LEAST_LEADS` leads."""
_LEADS_OF_READ, _CAUTION_OF_READ = 0.5, 0.5
"""Where items first would read single items from their first counts, picks follow if the support is at least their lead
times the first number, plus the deviation of the look's noise times the second."""
_UNCUT = ((1.0, Fraction(1, 30)), (1.2, Fraction(1, 100)))
"""Each pair: if the support is at least the first number times what this test needs, the test gets the second number as
its share of rho, and the list is not cut."""
_UNCUT_LEADS = 0.5
"""Lists that are not cut also need a support of this many leads. With less, some pick of a long list falls on a rare
itemset."""
_UNCUT_RISE = Fraction(1)
"""The rise of the picks of lists that are not cut: their last picks are the hard ones.

The picks of lists that may be cut rise by `RISE`, and by less below `_LONG` picks: the first of a short list are about
as hard as the last."""
_SEEN = 3.0
"""Counts of items alone follow only if the support is at least this many deviations of the look's noise."""
_LISTED_LEADS, _LISTED_EASE, _LISTED_CAUTION = 0.65, 0.4, 0.5
"""Picks from a public list follow if the support is at least their lead times the first number, less the noise in the
first counts of items times the second, plus the deviation of the look's noise times the third. The larger the noise in
counts of items is, the less good items first is."""
_SHORT_LISTED, _MOST_NOISE = 20, 0.3
"""Lists of up to the first number are picked if that noise is more than the second number times their lead, unless the
look shows a support far below 0."""
_LARGEST_LISTED = 3
"""Itemsets of up to so many items are picked from all that a public list makes."""
_CAUTION, _CAUTION_UNCUT = 2.5, 3.5
"""This many deviations of the look's noise are added, because items first loses less where it is the wrong way. A list
that is not cut is lost as a whole if its test fails, so the second, larger number holds for it.

`benchmarks/field.py` measures these settings for lists of ten and more, and the reports for shorter ones too."""
_SHORT, _CAUTION_IF_SHORT, _HARD = 5, 1.5, 0.45
"""Lists of up to this many pairs get this caution if fewer leads than `_HARD` are asked for, because items are hard to
find: beside their lead the look's noise is large, and items first finds little of them. On shops as
`benchmarks/shops.py` makes them, .596 of 2 to 5 pairs were right, and .586 with the usual caution."""


Picks = CertifiedDomain | LiftedExponential


@dataclass(frozen=True, kw_only=True)
class LookFirst:
    """Noisy looks at the lengths and at the support of the k-th itemset; then the certified domain or items first.

    Args:
        top: k.
        sizes: items per itemset, increasing. Itemsets of several sizes are ranked together.
        variance: the variance of the look's noise, in transactions squared.
        rho: what everything together costs at most.
        test_delta: the probability with which the certificate of the picks may fail; None if a public list makes it
            unnecessary.
        items: the way to go where the support is small. It begins with the look at the lengths, and costs at most rho
            with the look at the support.
        gain: the factor by which picks spend more than if they were paid for as Gaussian noise; None if they are.
        sensitivity: Delta.
    """

    top: int
    sizes: tuple[int, ...]
    variance: int
    rho: Fraction
    test_delta: Fraction | None
    items: ItemsFirst
    gain: Fraction | None = None
    sensitivity: int = 1

    @property
    def public_names(self) -> int | None:
        """How many items the public list has; None if there is no list."""
        return self.items.public_names

    @property
    def look(self) -> DiscreteGaussian:
        """The cost of the look at the support.

        A difference of two counts that move in the same direction moves by at most Delta.
        """
        return DiscreteGaussian.of(self.sensitivity**2, self.variance)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The looks, and the way that they choose."""
        if self.gain is None:
            return (Gaussian(self.rho),)
        ways = (*(domain.losses for domain in self.ways_to_pick), (Gaussian(self._left),))
        return (self.items.look.loss, self.look, Chosen(ways))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The test of the way that was taken passes although one unit decides what is tested."""
        if self.test_delta is None:
            return ()
        looks = self.items.look.cost + self.look.gaussian.rho
        return (ChosenFailure(self.items.test_delta or Fraction(0), self.test_delta, looks),)

    @property
    def depth(self) -> int:
        """The top l and the one after."""
        return self.ways_to_pick[0].depth

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The looks, then what is left for either way."""
        test = "" if self.test_delta is None else " and their test"
        percent = 100 * (float(self.gain or 1) - 1)
        more = f" (a pick gets {percent:.1f} % more epsilon than noise would leave it)" if self.gain else ""
        return (
            Spending(what="look at how many items units hold", rho=self.items.look.cost),
            Spending(what="look at how far the itemsets asked for stand out", rho=self.look.gaussian.rho),
            Spending(what=f"picks{test}, or items first{more}", rho=self._left),
        )

    @property
    def margins(self) -> tuple[Margin, ...]:
        """Those of the ways that the look may take.

        Picks also need so much that the look chooses them, and more in short units, where items are easily found. Items
        first has no margin where even the smallest support may lead to picks. Where picks need a test, items first
        often goes on, which finds likely itemsets with less.
        """
        way, edge = self._served(USUAL_LENGTHS)[0]
        (picked,) = way.margins
        noise = NORMAL_REACH * math.sqrt(self.variance)
        counts = lead_of_list(self._missed, near=picked.counts)
        shortest = USUAL_LENGTHS.thinned(self.sizes[0] / TYPICAL_LENGTH)
        in_short = lead_of_list(partial(self._missed, lengths=shortest), near=counts)
        words = picked.words
        if in_short > counts:
            words += f" (about {in_short:,} for units with fewer than {TYPICAL_LENGTH} different items)"
        # In denser data, counts of items alone may decide instead, whatever the lead is.
        if max(self.sizes) > 1:
            words += ", and the lead is less than a fifth of the data"
        picked = replace(
            picked,
            counts=counts,
            of_one=max(picked.compared, math.ceil(edge + noise)),
            words=words,
            less_if_likely=True,
        )
        # With more support, the look may choose picks although they need still more.
        lifted = self._from_list.reach if self.test_delta is None else 0
        most = math.floor(edge - normal_reach(1, 0.01) * math.sqrt(self.variance)) - lifted
        if most < 1:
            return (picked,)
        (found,) = self.items.margins
        words = f"{found.words}, unless the first of these leads is above {most:,}"
        return (picked, replace(found, words=words, otherwise=True))

    def _missed(self, lead: int, lengths: Lengths = USUAL_LENGTHS) -> float:
        """How often not the whole list is picked if all its itemsets have this lead; a bound."""
        # Continuous noise falls short of a number at least as often as discrete noise.
        served, look = self._served(lengths), NormalDist(lead, math.sqrt(self.variance))
        below = [look.cdf(least) for _, least in served]
        ways = zip(served, below, [*below[1:], 1.0], strict=True)
        return below[0] + sum((upper - lower) * way.missed(lead) for (way, _), lower, upper in ways)

    @property
    def tipping_leads(self) -> tuple[int, ...]:
        """The smallest support with which picks pass their test every second time, or another way is taken."""
        tested = () if self.test_delta is None else self._domains[0].tipping_leads
        return (*tested, *(max(1, least) for _, least in self._served(USUAL_LENGTHS)))

    def way(self, support: int, lengths: Lengths = USUAL_LENGTHS) -> Picks | ItemsFirst:
        """The way to go, by a noisy support and by what was released of lengths."""
        if self._items_tell(support, lengths):
            return self.items.in_dense_data(float(support))
        fitting = [domain for domain, least in self._served(lengths) if support >= least]
        if fitting:
            return fitting[-1]
        return self.items.given_support(max(0.0, float(support)), math.sqrt(self.variance), lengths)

    def _items_tell(self, support: int, lengths: Lengths) -> bool:
        """Whether itemsets are in so many of all transactions, and picks so rough, that counts of items tell more."""
        seen = support >= _SEEN * math.sqrt(self.variance) and lengths.many(self.items.look)
        if max(self.sizes) == 1 or not seen:
            return False
        scale = self.sensitivity / float(self.ways_to_pick[0].pick_epsilon)
        return rough_in_dense_data(support, self.sensitivity * lengths.all_units, scale)

    def look_at(self, profile: CountProfile, randomness: Randomness) -> int:
        """The support of the k-th itemset, with noise."""
        return self.support(profile.count) + sample_discrete_gaussian(Fraction(self.variance), randomness)

    def support(self, count: Callable[[int], int]) -> int:
        """By how much c_(k) exceeds c_(l+1), or the floor of picks from a public list, by the count at each place."""
        deepest = count(self.depth)
        return count(self.top) - (deepest if self.test_delta is not None else self._from_list.floor(deepest))

    def law(self, profile: CountProfile) -> Law:
        """The exact law over lists for usual lengths. Everything that items first answers counts as the empty list."""
        law = mix((0.0, {(): 1.0}), *((chance, domain.law(profile)) for domain, chance in self._chances(profile)))
        law[()] += 1 - math.fsum(law.values())
        return law

    def loud(self, names: int) -> Iterator[ItemsFirst | PrivBasis]:
        """Items first with hardly any noise. The other way has nothing to rehearse."""
        return self.items.loud(names)

    def _chances(self, profile: CountProfile) -> Iterator[tuple[Picks, float]]:
        """Each way to pick, with the probability that the look decides for it."""
        support, above = self.support(profile.count), 0.0
        for domain, least in reversed(self._served(USUAL_LENGTHS)):
            reached = math.exp(log_discrete_gaussian_survival(least - support, float(self.variance)))
            yield domain, reached - above
            above = reached

    def _served(self, lengths: Lengths) -> tuple[tuple[Picks, int], ...]:
        """The ways to pick, and from which noisy support on each serves."""
        lead, deviation = self.ways_to_pick[0].margins[0].compared, math.sqrt(self.variance)
        if self.test_delta is None:
            noise = self.items.item_deviation(lengths) / lead
            leads = max(_LEAST_LEADS, _LISTED_LEADS - _LISTED_EASE * noise)
            if self.top <= _SHORT_LISTED and noise > _MOST_NOISE:
                leads = -1.0
            return ((self._from_list, math.ceil(leads * lead + _LISTED_CAUTION * deviation)),)
        usual, *uncut = self._domains
        ease = _EASE if self.sizes[0] == 1 else _EASE_OF_LARGER
        named = self.items.named(lengths)
        if self.items.items.listed:
            leads = _MOST_IF_LISTED
        else:
            found_from = self.items.seen(lengths) if named is None else named
            leads = min(_MOST_LEADS, _WITHOUT_ITEMS - ease * found_from / lead)
        if self.top > _LONG:
            leads = max(leads, _LEAST_LEADS)
        short = self.top <= _SHORT and self.sizes[0] == 2 and leads < _HARD
        caution = _CAUTION_IF_SHORT if short else _CAUTION
        if named is None and replace(self.items, support=_LEADS_OF_READ * lead).reading(lengths) is not None:
            leads, caution = _LEADS_OF_READ, _CAUTION_OF_READ
        found: list[tuple[Picks, int]] = [(usual, math.ceil(leads * lead + caution * deviation))]
        for domain, (times, _) in zip(uncut, _UNCUT, strict=True):
            support = max(_UNCUT_LEADS * lead, times * domain.certificate.support_needed(0.05))
            least = math.ceil(support + _CAUTION_UNCUT * deviation)
            found = [*(each for each in found if each[1] < least), (domain, least)]
        return tuple(found)

    @property
    def ways_to_pick(self) -> tuple[Picks, ...]:
        """The later ones are for clearer lists."""
        return (self._from_list,) if self.test_delta is None else self._domains

    @cached_property
    def _domains(self) -> tuple[CertifiedDomain, ...]:
        """The certified domains. The later ones are for clearer lists."""
        return (
            self._domain(test_share_of(self.top), CUT_SHARE, RISE * min(Fraction(1), Fraction(self.top, _LONG))),
            *(self._domain(test, Fraction(0), _UNCUT_RISE) for _, test in _UNCUT),
        )

    @property
    def universe_size(self) -> int | None:
        """How many itemsets the public list makes, if picks are from all of them."""
        return math.comb(self.public_names or 0, self.sizes[0]) if self.test_delta is None else None

    @cached_property
    def _from_list(self) -> LiftedExponential:
        """Picks from all itemsets that the public list makes."""
        as_noise = range_costing(float(self._left), self.top, rise=RISE_OF_LISTED)
        return LiftedExponential(
            top=self.top,
            pick_epsilon=self._gained(as_noise),
            universe_size=self.universe_size or 0,
            rise=RISE_OF_LISTED,
            sensitivity=self.sensitivity,
            candidates=most_held(self.sizes[0]),
        )

    def _gained(self, as_noise: Fraction) -> Fraction:
        """The epsilon of one pick that is not paid for as Gaussian noise."""
        return as_noise if self.gain is None else round_down(float(as_noise * self.gain))

    @property
    def _left(self) -> Fraction:
        """What the looks leave of rho."""
        return self.rho - self.items.look.cost - self.look.gaussian.rho

    def _domain(self, test: Fraction, cut: Fraction, rise: Fraction) -> CertifiedDomain:
        """The certified domain with these shares of rho for the test and the choice of the length."""
        certificate = Certificate.costing(
            test * self.rho,
            (cut if self.top > 1 else 0) * self.rho,
            failure=AnyFailure(self.test_delta or Fraction(0)),
            sensitivity=self.sensitivity,
        )
        picks = self.top + 2 * spare_of(self.top)
        as_noise = range_costing(float(self._left - certificate.rho), picks, after=float(certificate.rho), rise=rise)
        return CertifiedDomain.of(
            certificate, top=self.top, sizes=self.sizes, pick_epsilon=self._gained(as_noise), rise=rise
        )


def calibrate(request: Request) -> CalibratedMechanism:
    """Each way gets what the looks leave of the largest rho that the budget allows. Picks may then spend more.

    Raises:
        BudgetError: delta is 0, or the budget is too small for a test.
    """
    request.require_delta()
    picks = request.top if _picks_from_list(request) else request.top + 2 * spare_of(request.top)
    for share in UNKNOWN_WAY_SHARES if picks < MOST_PICKS else ():
        mechanism, _ = _paid_as_noise(request, (1 - share) * request.delta)
        gaining = _with_gain(mechanism, picks, epsilon=request.epsilon, delta=request.delta)
        if gaining is not None:
            guarantee = Guarantee(epsilon=request.epsilon, delta=request.delta, composition="optimal")
            return CalibratedMechanism(mechanism=gaining, guarantee=guarantee)
    mechanism, guarantee = _paid_as_noise(request, request.delta)
    return CalibratedMechanism(mechanism=mechanism, guarantee=guarantee)


def _picks_from_list(request: Request) -> bool:
    """Whether picks are from all itemsets of a public list. Larger ones, or of several sizes, are too many."""
    return request.listed and len(request.sizes) == 1 and request.sizes[0] <= _LARGEST_LISTED


def _with_gain(mechanism: LookFirst, picks: int, *, epsilon: Fraction, delta: Fraction) -> LookFirst | None:
    """The mechanism whose picks spend what optimal composition allows; None if that is hardly more than as noise."""

    def need(gain: Fraction) -> Need:
        return composed_need(replace(mechanism, gain=gain).losses, mechanism.failures, epsilon=epsilon, delta=delta)

    gain = largest_above(Fraction(1), need, picks=picks, epsilon=epsilon)
    found = need(gain)
    # By another theorem picks would gain only what was set aside for not knowing the way.
    optimal = found is not None and found[1] == "optimal"
    return replace(mechanism, gain=gain) if optimal and gain > LEAST_GAIN else None


def _paid_as_noise(request: Request, delta: Fraction) -> tuple[LookFirst, Guarantee]:
    """The mechanism whose steps all cost as much as Gaussian noise, within this delta, and what is then guaranteed."""
    epsilon = request.epsilon
    one_sided = Fraction(0) if request.listed else FAILURE_SHARE * request.delta
    failure = None
    rho, guarantee = calibrate_gaussian((), epsilon=epsilon, delta=delta)
    if not _picks_from_list(request):
        failure = round_down(float(FAILURE_SHARE * request.delta / (1 + exp_up(epsilon))))
        failing = ChosenFailure(one_sided, failure, _LOOKS_SHARE * rho)
        rho, guarantee = calibrate_gaussian((failing,), epsilon=epsilon, delta=delta)
    variance = DiscreteGaussian.variance_costing(request.sensitivity**2, LOOK_SHARE * rho)
    look = DiscreteGaussian.of(request.sensitivity**2, variance)
    mechanism = LookFirst(
        top=request.top,
        sizes=request.sizes,
        variance=variance,
        rho=rho,
        test_delta=failure,
        items=share_out(request, rho - look.gaussian.rho, one_sided),
        sensitivity=request.sensitivity,
    )
    return mechanism, guarantee
