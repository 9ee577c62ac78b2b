"""Small instances of every mechanism, whose laws can be computed in full; shared by the law and the privacy tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from fim_private.mechanisms.anonymous_names import Certified, Declared
from fim_private.mechanisms.certificate import Certificate, threshold_for
from fim_private.mechanisms.certified_domain import CertifiedDomain
from fim_private.mechanisms.choosing import Choosing
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.joint_exponential import JointExponential
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.lmm_repeat import RepeatedLargeMargin
from fim_private.mechanisms.noisy_maxima import NoisyMaxima
from fim_private.mechanisms.protocol import Mechanism
from fim_private.mechanisms.registry import REGISTRY
from fim_private.mechanisms.stable_max import StableMax
from fim_private.mechanisms.truncated_frequency import TruncatedFrequency
from fim_private.plan import Universe
from fim_private.privacy import AnyFailure, OneSidedFailure
from fim_private.randomness.noisy_maximum import Noise

F = Fraction
TESTED = F(1, 50)
"""The failure of a test that is not in the way of small laws."""


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    mechanism: Mechanism
    epsilon: Fraction
    """Where the claim is checked: what basic composition proves, if it can, with the deltas and the failures."""
    declared: bool = False
    itemsets: int = 4

    @property
    def sensitivity(self) -> int:
        return self.mechanism.sensitivity

    def __str__(self) -> str:
        return self.name


def large_margin(top: int = 1, sensitivity: int = 1, *, fallback: bool = False, **changes: object) -> LargeMargin:
    pick = F(7, 5) / top
    usual = LargeMargin(
        top=top,
        search_epsilon=F(3, 5),
        pick_epsilon=pick,
        certificate_delta=F(1, 100),
        grid_limit=4 * top,
        sensitivity=sensitivity,
        fallback=limited_domain(top, sensitivity, candidates=3, stop_delta=F(1, 100), pick_epsilon=pick)
        if fallback
        else None,
    )
    return replace(usual, **changes)


def limited_domain(top: int = 1, sensitivity: int = 1, **changes: object) -> LimitedDomain:
    usual = LimitedDomain(top=top, candidates=2, pick_epsilon=F(1) / top, stop_delta=F(1, 50), sensitivity=sensitivity)
    return replace(usual, **changes)


def certified_domain(top: int = 1, sensitivity: int = 1, **changes: object) -> CertifiedDomain:
    usual = CertifiedDomain(
        top=top,
        candidates=top + 1,
        pick_epsilon=F(1) / top,
        variance=2 * sensitivity**2,
        threshold=threshold_for(2 * sensitivity**2, sensitivity=sensitivity, delta=F(1, 50)),
        test_delta=F(1, 50),
        sensitivity=sensitivity,
    )
    return replace(usual, **changes)


def published(top: int = 1, sensitivity: int = 1, **changes: object) -> PublishedLargeMargin:
    usual = PublishedLargeMargin(
        top=top, alpha=F(3) / top, selection_delta=F(1, 20), max_candidates=3, sensitivity=sensitivity
    )
    return replace(usual, **changes)


def repeated(top: int = 2, sensitivity: int = 1) -> RepeatedLargeMargin:
    return RepeatedLargeMargin(
        top=top,
        search_epsilon=F(1, 2),
        pick_epsilon=F(1, 2),
        certificate_delta=F(1, 50),
        grid_limit=4,
        sensitivity=sensitivity,
    )


def exponential(top: int = 1, sensitivity: int = 1, itemsets: int = 4) -> Exponential:
    return Exponential(top=top, pick_epsilon=F(1, 2), universe_size=itemsets, sensitivity=sensitivity)


def truncated(top: int = 1, sensitivity: int = 1, itemsets: int = 4, **changes: object) -> TruncatedFrequency:
    usual = TruncatedFrequency(top=top, pick_epsilon=F(1, 2), universe_size=itemsets, sensitivity=sensitivity)
    return replace(usual, **changes)


def lifted(
    top: int = 1, sensitivity: int = 1, itemsets: int = 4, candidates: int = 2, attempts: int = 1
) -> LiftedExponential:
    return LiftedExponential(
        top=top,
        pick_epsilon=F(1, 2),
        universe_size=itemsets,
        sensitivity=sensitivity,
        candidates=candidates,
        attempts=attempts,
    )


ONE = F(1)


def joint(top: int = 2, sensitivity: int = 1, itemsets: int = 4, pick_epsilon: Fraction = ONE) -> JointExponential:
    return JointExponential(top=top, pick_epsilon=pick_epsilon, universe_size=itemsets, sensitivity=sensitivity)


def noisy_maxima(noise: Noise, top: int = 1, sensitivity: int = 1, itemsets: int = 4, **changes: object) -> NoisyMaxima:
    usual = NoisyMaxima(top=top, pick_epsilon=F(1, 2), universe_size=itemsets, noise=noise, sensitivity=sensitivity)
    return replace(usual, **changes)


def certificate(
    sensitivity: int = 1, *, delta: Fraction = TESTED, variance: int = 2, general: bool = False, **changes: object
) -> Certificate:
    """Of a variance in units of the sensitivity squared."""
    variance *= sensitivity**2
    usual = Certificate(
        variance=variance,
        threshold=threshold_for(variance, sensitivity=sensitivity, delta=delta),
        failure=AnyFailure(delta) if general else OneSidedFailure(delta),
        general=general,
        sensitivity=sensitivity,
    )
    return replace(usual, **changes)


def anonymous_names(inner: Declared, *, pick_epsilon: Fraction | None = None, **changes: object) -> Certified:
    if pick_epsilon is not None:
        inner = replace(inner, pick_epsilon=pick_epsilon)
    return Certified(inner=inner, certificate=certificate(inner.sensitivity, **changes))


def stable(top: int = 1, sensitivity: int = 1, **changes: object) -> StableMax:
    usual = StableMax(top=top, round_epsilon=F(1), round_delta=F(1, 50), sensitivity=sensitivity)
    return replace(usual, **changes)


def choosing(top: int = 1, sensitivity: int = 1, **changes: object) -> Choosing:
    usual = Choosing(
        top=top,
        comparison_epsilon=F(1, 2),
        pick_epsilon=F(1, 2),
        round_delta=F(1, 50),
        most_new=4,
        sensitivity=sensitivity,
    )
    return replace(usual, **changes)


def needs(name: str, items: int, *, listed: bool = True) -> dict[str, object]:
    """The options without which this mechanism cannot be planned: so many items on a list, or at most so many."""
    row = REGISTRY[name]
    return {
        "universe": Universe(items=items, listed=listed) if row.needs_universe else None,
        "max_items": 10 if row.needs_cap else None,
    }


CASES = [
    Case(name="lmm", mechanism=large_margin(), epsilon=F(2)),
    Case(name="lmm, declared", mechanism=large_margin(), epsilon=F(2), declared=True),
    Case(name="lmm, top 2", mechanism=large_margin(2), epsilon=F(2)),
    Case(name="lmm, top 2, fallback", mechanism=large_margin(2, fallback=True), epsilon=F(2)),
    Case(name="lmm, fallback, declared", mechanism=large_margin(fallback=True), epsilon=F(2), declared=True),
    Case(name="lmm, Delta 2", mechanism=large_margin(1, 2, fallback=True), epsilon=F(2), itemsets=3),
    Case(name="lmm, top 2, Delta 2", mechanism=large_margin(2, 2), epsilon=F(2), itemsets=3),
    Case(name="lmm-repeat", mechanism=repeated(), epsilon=F(2), itemsets=3),
    Case(name="lmm-repeat, declared", mechanism=repeated(), epsilon=F(2), declared=True, itemsets=3),
    Case(name="lmm-repeat, Delta 2", mechanism=repeated(2, 2), epsilon=F(2), itemsets=3),
    Case(name="lmm-paper", mechanism=published(), epsilon=F(3), itemsets=3),
    Case(name="lmm-paper, declared", mechanism=published(), epsilon=F(3), declared=True, itemsets=3),
    Case(name="lmm-paper, top 2", mechanism=published(2), epsilon=F(3), itemsets=3),
    Case(name="lmm-paper, Delta 2", mechanism=published(1, 2), epsilon=F(3), itemsets=3),
    Case(name="limited-domain", mechanism=limited_domain(), epsilon=F(1)),
    Case(name="limited-domain, declared", mechanism=limited_domain(), epsilon=F(1), declared=True),
    Case(name="limited-domain, top 2", mechanism=limited_domain(2), epsilon=F(1)),
    Case(name="limited-domain, Delta 2", mechanism=limited_domain(1, 2), epsilon=F(1), itemsets=3),
    Case(name="certified-domain", mechanism=certified_domain(), epsilon=F(3, 2)),
    Case(name="certified-domain, declared", mechanism=certified_domain(), epsilon=F(3, 2), declared=True),
    Case(name="certified-domain, top 2", mechanism=certified_domain(2), epsilon=F(3, 2)),
    Case(name="certified-domain, top 2, every candidate", mechanism=certified_domain(2, candidates=2), epsilon=F(1)),
    Case(name="certified-domain, one spare", mechanism=certified_domain(1, spare=1), epsilon=F(5, 2)),
    Case(
        name="certified-domain, one spare, picks at random",
        mechanism=certified_domain(1, spare=1, pick_epsilon=F(1, 100), variance=8, threshold=10),
        epsilon=F(1, 2),
    ),
    Case(name="certified-domain, top 2, one spare", mechanism=certified_domain(2, spare=1), epsilon=F(5, 2)),
    Case(
        name="certified-domain, top 2, one spare, rising",
        mechanism=certified_domain(2, spare=1, rise=F(1)),
        epsilon=F(5, 2),
    ),
    Case(
        name="certified-domain, one spare, rising, Delta 2",
        mechanism=certified_domain(1, 2, spare=1, rise=F(1)),
        epsilon=F(5, 2),
        itemsets=3,
    ),
    Case(
        name="certified-domain, one spare, Delta 2",
        mechanism=certified_domain(1, 2, spare=1),
        epsilon=F(5, 2),
        itemsets=3,
    ),
    Case(name="certified-domain, top 2, Delta 2", mechanism=certified_domain(2, 2), epsilon=F(3, 2), itemsets=3),
    Case(name="exponential", mechanism=exponential(), epsilon=F(1, 2), declared=True),
    Case(name="exponential, top 3", mechanism=exponential(3), epsilon=F(3, 2), declared=True),
    Case(
        name="exponential, top 3, rising", mechanism=replace(exponential(3), rise=F(1)), epsilon=F(3, 2), declared=True
    ),
    Case(name="exponential, Delta 2", mechanism=exponential(2, 2, itemsets=3), epsilon=F(1), declared=True, itemsets=3),
    Case(name="exponential-textbook", mechanism=replace(exponential(2), general=True), epsilon=F(1), declared=True),
    *(
        case
        for noise in Noise
        for case in (
            Case(name=f"noisy max, {noise}", mechanism=noisy_maxima(noise), epsilon=F(1, 2), declared=True),
            Case(
                name=f"noisy max, {noise}, top 2",
                mechanism=noisy_maxima(noise, 2, itemsets=3),
                epsilon=F(1),
                declared=True,
                itemsets=3,
            ),
            Case(
                name=f"noisy max, {noise}, top 2, rising",
                mechanism=noisy_maxima(noise, 2, itemsets=3, rise=F(1)),
                epsilon=F(1),
                declared=True,
                itemsets=3,
            ),
            Case(
                name=f"noisy max, {noise}, Delta 2",
                mechanism=noisy_maxima(noise, 1, 2, itemsets=3),
                epsilon=F(1, 2),
                declared=True,
                itemsets=3,
            ),
            Case(
                name=f"noisy max, {noise}, textbook",
                mechanism=noisy_maxima(noise, general=True),
                epsilon=F(1, 2),
                declared=True,
            ),
        )
    ),
    Case(name="anonymous names", mechanism=anonymous_names(exponential()), epsilon=F(1), declared=True),
    Case(
        name="anonymous names, top 2, cut",
        mechanism=anonymous_names(exponential(2), cut_epsilon=F(1, 2)),
        epsilon=F(3, 2),
        declared=True,
    ),
    Case(
        name="anonymous names, top 2, Delta 2, cut",
        mechanism=anonymous_names(exponential(2, 2, itemsets=3), cut_epsilon=F(1, 2)),
        epsilon=F(3, 2),
        declared=True,
        itemsets=3,
    ),
    *(
        Case(
            name=f"anonymous names, {noise}",
            mechanism=anonymous_names(noisy_maxima(noise, 2, itemsets=3)),
            epsilon=F(3, 2),
            declared=True,
            itemsets=3,
        )
        for noise in Noise
    ),
    Case(name="truncated-frequency", mechanism=truncated(), epsilon=F(1, 2), declared=True),
    Case(name="truncated-frequency, top 3", mechanism=truncated(3), epsilon=F(3, 2), declared=True),
    Case(
        name="truncated-frequency, Delta 2",
        mechanism=truncated(2, 2, itemsets=3),
        epsilon=F(1),
        declared=True,
        itemsets=3,
    ),
    Case(name="truncated-frequency, as published", mechanism=truncated(2, general=True), epsilon=F(1), declared=True),
    Case(name="lifted", mechanism=lifted(), epsilon=F(1, 2), declared=True),
    Case(name="lifted, top 3", mechanism=lifted(3, candidates=1), epsilon=F(3, 2), declared=True),
    Case(name="lifted, less than c_(l+1)", mechanism=lifted(2, candidates=1, attempts=4), epsilon=F(1), declared=True),
    Case(name="lifted, Delta 2", mechanism=lifted(2, 2, itemsets=3), epsilon=F(1), declared=True, itemsets=3),
    Case(name="joint-exponential", mechanism=joint(1), epsilon=F(1), declared=True),
    Case(name="joint-exponential, top 2", mechanism=joint(), epsilon=F(1), declared=True),
    Case(name="joint-exponential, top 3", mechanism=joint(3), epsilon=F(1), declared=True),
    Case(name="joint-exponential, Delta 2", mechanism=joint(2, 2, itemsets=3), epsilon=F(1), declared=True, itemsets=3),
    Case(name="stable-max", mechanism=stable(), epsilon=F(1)),
    Case(name="stable-max, declared", mechanism=stable(), epsilon=F(1), declared=True),
    Case(name="stable-max, top 2", mechanism=stable(2), epsilon=F(2)),
    Case(name="stable-max, Delta 2", mechanism=stable(1, 2), epsilon=F(1), itemsets=3),
    Case(name="choosing", mechanism=choosing(), epsilon=F(1)),
    Case(name="choosing, declared", mechanism=choosing(), epsilon=F(1), declared=True),
    Case(name="choosing, top 2", mechanism=choosing(2, most_new=3), epsilon=F(2), itemsets=3),
    Case(name="choosing, Delta 2", mechanism=choosing(1, 2), epsilon=F(1), itemsets=3),
]
