"""The certificate: choose as if the candidates were public, and show names only if a noisy test finds support."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import mean

from fim_private.demos import shop
from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import mechanism_of, pairs_plan
from fim_private.mechanisms.certified_domain import CANDIDATES, CertifiedDomain
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.plan import Plan
from fim_private.randomness import SeededRandomness
from fim_private.report.document import Bullets, Paragraph, Table

SIZES = ("1", "2", "5", "10", "20", "30", "50", "70", "100")
EPSILONS = ("0.5", "1", "2")
AFTER = "certified-domain"
ASKED = {
    "lmm-no-fallback": "before it chooses: is there a gap?",
    "limited-domain": "at every pick: stop here?",
    AFTER: "afterwards: do all picks have support?",
}
"""What each mechanism asks the data, apart from the picks themselves."""
TRIALS = 10


@dataclass(frozen=True, kw_only=True)
class Lists:
    """What a few seeded lists name.

    Args:
        whole: the share of lists with k names.
        top: the mean share of the true top k that is named.
    """

    whole: float
    top: float


@cache
def plan_at(name: str, k: str, epsilon: str) -> Plan:
    """The plan for the top k pairs."""
    return pairs_plan(name, top=int(k), epsilon=epsilon)


def lead_needed(name: str, k: str, epsilon: str) -> int:
    """The lead of the pair at place k over the bulk with which the mechanism names all k, 19 times in 20."""
    lead = plan_at(name, k, epsilon).lead
    if lead is None:
        raise AssertionError(f"{name} needs a lead")
    return lead


def certified(k: str, epsilon: str) -> CertifiedDomain:
    """The mechanism that asks afterwards."""
    return mechanism_of(CertifiedDomain, plan_at(AFTER, k, epsilon))


def actual_lead(k: str) -> int:
    """The lead of the shop's pair at place k over the bulk. All these mechanisms look at the same number of places."""
    return shop.pairs().count(int(k)) - shop.pairs().count(certified(k, "1").candidates + 1)


@cache
def lists(name: str, k: str, epsilon: str) -> Lists:
    """Some seeded lists of the shop's pairs."""
    profile, top = shop.pairs(), int(k)
    bar = profile.count(top)
    mechanism = plan_at(name, k, epsilon).mechanism
    if not isinstance(mechanism, LargeMargin | LimitedDomain | CertifiedDomain):
        raise TypeError(f"{name} does not pick from counts alone")
    found = [mechanism.select(profile, SeededRandomness(seed)) for seed in range(TRIALS)]
    return Lists(
        whole=mean(len(ranks) == top for ranks in found),
        top=mean(sum(profile.count(rank + 1) >= bar for rank in ranks) / top for ranks in found),
    )


def supports(k: str, epsilon: str) -> dict[str, int]:
    """Some values of the smallest support in a list, by what they stand for."""
    mechanism = certified(k, epsilon)
    spread = math.sqrt(mechanism.variance)
    return {
        "one customer decides whether the pair is a candidate": mechanism.sensitivity,
        "half of T": mechanism.threshold // 2,
        "T": mechanism.threshold,
        "T plus 1.645 standard deviations": mechanism.threshold + math.ceil(1.645 * spread),
    }


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the test, then what each way of asking needs, then the same for all lengths of the list."""
    k, epsilon = settings["k"], settings["epsilon"]
    mechanism = certified(k, epsilon)
    many = k != "1"
    return (
        Table(
            name="test",
            head=("smallest support in the list", "customers", "chance that the list is shown"),
            rows=tuple(
                (words, support, _chance(mechanism.certificate.passes(support)))
                for words, support in supports(k, epsilon).items()
            ),
            caption=f"**The test at epsilon {epsilon}.** Noise of standard deviation "
            f"{math.sqrt(mechanism.variance):.1f} is added to the smallest support, and the sum is compared with "
            f"T = {mechanism.threshold}. The chances are exact. All lists of 16 pairs and more have the same T. "
            "Shorter lists leave more of the budget to their test, so T is smaller for them.",
        ),
        Table(
            name="ways",
            head=("mechanism", "asks", "lead needed", "actual lead", "shows all", "of the true top, shown"),
            rows=tuple(
                (
                    name,
                    asks,
                    lead_needed(name, k, epsilon),
                    actual_lead(k),
                    f"{100 * lists(name, k, epsilon).whole:.0f} %",
                    f"{100 * lists(name, k, epsilon).top:.0f} %",
                )
                for name, asks in ASKED.items()
            ),
            caption=f"**Three ways to do without a list of items**, for the top {k} of the shop's pairs at epsilon "
            f"{epsilon}. The lead is that of the pair at place {k} over the bulk, in customers. The last two columns "
            f"are from {TRIALS} seeded runs: how many show {'all ' + k + ' names' if many else 'a name'}, and how much "
            "of the truth they show on average.",
            mechanism_column=0,
        ),
        Chart(
            name="leads",
            caption=f"**The lead over the bulk that each needs in 19 of 20 runs at epsilon {epsilon}**, by the number "
            "of pairs. Where its curve is above the line of the actual lead, it fails more often, or names some pairs "
            "wrongly. Pairs of nearly the same count may take each other's places anyway.",
            alt="All curves rise with the number of pairs. The certificate's is the lowest from five pairs on",
            x="pairs asked for (k)",
            y="customers",
            lines=lines_over(
                SIZES,
                {name: [lead_needed(name, place, epsilon) for place in SIZES] for name in ASKED}
                | {"actual lead": list(map(actual_lead, SIZES))},
            ),
            log_x=True,
            log_y=True,
            here=float(k),
        ),
        Paragraph(
            text="**Why this is private.** A pair that one customer can bring into the candidates, or push out, has "
            "a support of at most 1. It may be picked. But a list with such a pair is shown with a chance of at most "
            f"{_chance(mechanism.certificate.passes(mechanism.sensitivity))}, and delta pays for that. All other pairs "
            "are candidates with this customer and without. Among these the choice is an ordinary private choice. And "
            "one customer changes the smallest support by at most 1, so **one** noisy number is enough, however long "
            "the list is."
        ),
        Paragraph(
            text="**What it does not do.** Support is not rank: a list can pass although it lacks a pair of the true "
            "top. If the test fails, nothing is shown, or only the first part of the list (the mechanism may choose "
            "privately to test fewer picks), and the budget is spent all the same. For one pair, and mostly for two, "
            "the stop symbol of `limited-domain` costs less than a test. The picks need a lead as well: if there are "
            "many, each has little epsilon."
        ),
    )


def _chance(chance: float) -> str:
    if chance > 1e-4:
        return f"{100 * chance:.1f} %"
    # Rounded so that the chance is not understated.
    runs = math.floor(1 / chance)
    digits = 10 ** (len(str(runs)) - 2)
    return f"1 in {runs // digits * digits:,}"


DEMO = Demo(
    name="certificate",
    title="Choose first, certify after",
    summary="the large margin mechanism asks before it chooses, the certificate asks afterwards: what each needs",
    minutes=8,
    introduction=(
        Paragraph(
            text="The list of items is private, so a mechanism must hardly ever (with probability at most delta) show "
            "a name that only one customer has. The large margin mechanism makes sure **before** it chooses: it "
            "searches for a gap behind its candidates "
            "(`fim-private demo margin`). The certificate makes sure **afterwards**. Such a name may be chosen, as "
            "long as it is hardly ever shown."
        ),
        Bullets(
            items=(
                f"**Choose:** pick k pairs and a few spare ones from the top {CANDIDATES:,}, as if these candidates "
                "were public. Frequent pairs have a higher chance.",
                "**Measure:** the support of a pick is its count less the count just behind the candidates, at place "
                f"{CANDIDATES + 1:,}. Leave out as many picks as were spare. Those with little support are more "
                "likely to go.",
                "**Certify:** add noise to the smallest support in the list. Show the names only if the sum is at "
                "least a threshold T.",
            )
        ),
    ),
    controls=(
        Control(name="k", what="how many pairs are asked for", choices=SIZES, start="20"),
        Control(name="epsilon", what="the epsilon of the list", choices=EPSILONS, start="1"),
    ),
    show=show,
    question=Question(
        text="Up to how many pairs does the certificate show the whole list in at least half of the runs? Go up until "
        "it no longer does. Then take half the epsilon, and twice the epsilon.",
        happens=lambda settings: lists(AFTER, settings["k"], settings["epsilon"]).whole < 0.5,
        yes="too long: fewer than half of the runs show the whole list.",
        no="not too long: at least half of the runs show the whole list.",
    ),
)
