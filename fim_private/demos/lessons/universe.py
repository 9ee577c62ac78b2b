"""Range dependence. The longer the list of possible items, the worse the exponential mechanism answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import mean

from fim_private.demos import shop
from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import mechanism_of, pairs_plan
from fim_private.mechanisms.certified_domain import CertifiedDomain
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.plan import Universe
from fim_private.privacy import exact
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.report.document import Paragraph, Table
from fim_private.report.document.text import number

ITEMS = ("3885", "1e5", "1e6", "1e7", "1e8", "1e10", "1e12", "1e14")
LISTED = "exponential"
OPEN: dict[str, type[LimitedDomain | CertifiedDomain]] = {
    "limited-domain": LimitedDomain,
    "certified-domain": CertifiedDomain,
}
"""The mechanisms that need no list."""
TRIALS = 6


@dataclass(frozen=True, kw_only=True)
class Shares:
    """What the k places of a list hold, as shares of k: means of a few seeded lists."""

    top: float
    other: float
    absent: float

    @property
    def empty(self) -> float:
        """The share of places without a name."""
        return max(0.0, 1 - self.top - self.other - self.absent)


def pairs_of(items: str) -> int:
    """How many pairs this many items make."""
    return math.comb(int(exact(items, "items")), 2)


@cache
def mechanism_at(mechanism: str, k: str, epsilon: str, items: str) -> Exponential | LimitedDomain | CertifiedDomain:
    """The mechanism as the planner makes it. The length of the list matters to `exponential` alone."""
    if mechanism != LISTED:
        return mechanism_of(OPEN[mechanism], pairs_plan(mechanism, top=int(k), epsilon=epsilon))
    universe = Universe(items=int(exact(items, "items")), listed=True)
    return mechanism_of(Exponential, pairs_plan(LISTED, top=int(k), epsilon=epsilon, universe=universe))


@cache
def shares(mechanism: str, k: str, epsilon: str, items: str) -> Shares:
    """What the lists of this mechanism hold."""
    if mechanism != LISTED and items != ITEMS[0]:
        return shares(mechanism, k, epsilon, ITEMS[0])
    profile, top = shop.pairs(), int(k)
    bar = profile.count(top)
    if mechanism == LISTED:
        profile = CountProfile(
            levels=profile.levels, multiplicities=profile.multiplicities, zeros=pairs_of(items) - profile.occurring
        )
    asked = mechanism_at(mechanism, k, epsilon, items)
    lists = [
        [profile.count(rank + 1) for rank in asked.select(profile, SeededRandomness(seed))] for seed in range(TRIALS)
    ]
    return Shares(
        top=mean(sum(count >= bar for count in counts) / top for counts in lists),
        other=mean(sum(0 < count < bar for count in counts) / top for counts in lists),
        absent=mean(sum(count == 0 for count in counts) / top for counts in lists),
    )


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show what the list holds at these settings, then for all lengths of the public list."""
    items, k, epsilon = settings["items"], settings["k"], settings["epsilon"]
    found = {mechanism: shares(mechanism, k, epsilon, items) for mechanism in (LISTED, *OPEN)}
    exponential = mechanism_at(LISTED, k, epsilon, items)
    rate, last = float(exponential.pick_epsilon), shop.pairs().count(int(k))
    weight, crowd = rate * last, math.log(pairs_of(items))
    picks = "The pick" if k == "1" else f"Each of the {k} picks"
    rank = "The most frequent pair" if k == "1" else f"The pair at place {k}"
    return (
        Table(
            name="shares",
            head=("mechanism", "the true top", "other pairs that occur", "pairs nobody bought", "no name"),
            rows=tuple(
                (name, *(f"{100 * share:.0f} %" for share in (each.top, each.other, each.absent, each.empty)))
                for name, each in found.items()
            ),
            caption=f"**The top {k} at epsilon {epsilon}, with {int(exact(items, 'items')):,} items declared**: "
            f"{number(float(pairs_of(items)))} pairs. What the list holds, on average over {TRIALS} "
            f"seeded lists. Only `{LISTED}` uses the public list.",
            mechanism_column=0,
        ),
        Chart(
            name="drowning",
            caption=f"**The share of the true top {k} that is named**, by the number of items on the public list. The "
            "two other mechanisms get no list, so their lines are level.",
            alt="The exponential mechanism's share of good answers falls to nothing as the universe grows, the sooner "
            "the more picks it makes",
            x="declared items",
            y=f"share of the true top {k}",
            lines=lines_over(
                ITEMS,
                {
                    mechanism: [shares(mechanism, k, epsilon, length).top for length in ITEMS]
                    for mechanism in reversed((LISTED, *OPEN))
                },
            ),
            log_x=True,
            here=float(items),
        ),
        Paragraph(
            text=f"**Why.** {picks} has epsilon {number(rate)}, and gives a pair of count c the weight "
            f"e^({number(rate)} c). {rank} has {last} customers and weighs e^{weight:.0f}. A pair that nobody bought "
            f"weighs 1, but there are e^{crowd:.0f} of them. "
            + (
                "Together they weigh more, so the last picks usually name one of them."
                if crowd > weight
                else "Together they weigh less, so the picks stay with pairs that customers bought."
            )
            + " More picks leave each pick less epsilon, and the last places have lower counts. So a long public list "
            "does little harm to a single pick, and ruins a long list of picks. No mechanism with delta = 0 can avoid "
            "this (Chaudhuri, Hsu and Song 2014, Proposition 1); it can only come later."
        ),
        Paragraph(
            text="**What helps.** With a delta above 0, a mechanism may refuse to name pairs that too few people "
            "bought. Then it needs no list. `limited-domain` names a pair only if it clearly exceeds the bulk of the "
            "ranking, which gets hard for many picks. `certified-domain` picks first and asks for support afterwards "
            "(`fim-private demo certificate`)."
        ),
    )


DEMO = Demo(
    name="universe",
    title="Too many pairs that nobody bought",
    summary="make the list of possible items longer, and watch the exponential mechanism fail",
    minutes=6,
    introduction=(
        Paragraph(
            text="The list of items that occur in the data is private, because a single customer may be the only one "
            "who has a certain item. So a mechanism with a **declared universe** needs a public list that was made "
            "without looking at the data. Such a list is long: all goods ever stocked, or all possible barcodes (13 "
            "digits, and 14 on a carton). Every item on the list makes pairs that nobody bought. The noise may lift "
            "any of these pairs above the frequent ones."
        ),
        Paragraph(
            text=f"The data set that ships with the package, a shop with {shop.CUSTOMERS:,} customers, has "
            f"{shop.ITEMS:,} items. We know this number only because the data is public. With private data nobody may "
            "know it."
        ),
    ),
    controls=(
        Control(name="items", what="how many items the public list has", choices=ITEMS, start="1e6"),
        Control(name="k", what="how many pairs are asked for", choices=("1", "20", "100"), start="100"),
        Control(name="epsilon", what="the epsilon of the whole list", choices=("1", "2"), start="2"),
    ),
    show=show,
    question=Question(
        text="From how many declared items on does the exponential mechanism fill more than half of its list with "
        "pairs that nobody bought? Compare k = 100 with k = 20 and with k = 1.",
        happens=lambda settings: shares(LISTED, settings["k"], settings["epsilon"], settings["items"]).absent > 0.5,
        yes="yes: most of its list are pairs that nobody bought.",
        no="no: at most half of its list are pairs that nobody bought.",
    ),
)
