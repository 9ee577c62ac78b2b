"""Lesson 4: range dependence. The longer the list of possible items, the worse the exponential mechanism answers."""

from __future__ import annotations

import math
from functools import cache

from fim_private.demos import shop
from fim_private.demos.chart import Chart, Line
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import law_of, pairs_plan
from fim_private.plan import Universe
from fim_private.privacy import exact
from fim_private.profile import CountProfile
from fim_private.report.document import Paragraph, Table
from fim_private.report.document.text import number

ITEMS = ("3885", "1e4", "1e6", "1e8", "1e10", "1e11", "1e12", "1e14")
MECHANISMS = ("exponential", "limited-domain", "lmm")


def number_of(items: str) -> int:
    """The number of items of a place of the control."""
    return int(exact(items, "items"))


@cache
def chances(mechanism: str, epsilon: str, items: str) -> tuple[float, float, float]:
    """The exact chances that one pick names a frequent pair, a rarer pair, or a pair that nobody bought.

    A pair is frequent if its count is within a tenth of the largest. The rest of the probability is that the pick
    names nothing.
    """
    found = shop.pairs()
    universe = Universe(items=number_of(items), listed=True) if mechanism == "exponential" else None
    plan = pairs_plan(mechanism, top=1, epsilon=epsilon, universe=universe)
    zeros = math.comb(number_of(items), 2) - found.occurring if mechanism == "exponential" else None
    profile = CountProfile(levels=found.levels, multiplicities=found.multiplicities, zeros=zeros)
    best = profile.count(1)
    good = poor = absent = 0.0
    # The law's places are those of the top of the profile, which is all that the mechanism looks at.
    for picked, chance in law_of(plan, profile).items():
        for level in picked:
            if level >= len(profile.levels):
                absent += chance
            elif profile.levels[level] >= 0.9 * best:
                good += chance
            else:
                poor += chance
    return good, poor, absent


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show how likely each kind of answer is, at these settings and for all lengths of the list."""
    items, epsilon = settings["items"], settings["epsilon"]
    dial = tuple(map(float, ITEMS))
    universe = math.comb(number_of(items), 2)
    rows = []
    for mechanism in MECHANISMS:
        good, poor, absent = chances(mechanism, epsilon, items)
        nothing = max(0.0, 1 - good - poor - absent)
        rows.append((mechanism, *map(_percent, (good, poor, absent, nothing))))
    best = shop.pairs().count(1)
    return (
        Table(
            name="chances",
            head=("mechanism", "a frequent pair", "a rarer pair", "a pair nobody bought", "nothing"),
            rows=tuple(rows),
            caption=f"**One pick at epsilon {epsilon}, with {number_of(items):,} items declared**: "
            f"{number(float(universe))} pairs. The table shows the exact chance of each kind of answer. A pair is "
            "frequent if its count is within a tenth of the largest.",
            mechanism_column=0,
        ),
        Chart(
            name="drowning",
            caption="**The chance to name a frequent pair**, by the number of items on the public list. "
            "`limited-domain` and `lmm` get no list, so their chance stays the same.",
            alt="The exponential mechanism's chance of a good answer falls to nothing as the universe grows",
            x="declared items",
            y="chance of a frequent pair",
            lines=tuple(
                Line(
                    label=mechanism,
                    x=dial,
                    y=tuple(chances(mechanism, epsilon, length)[0] for length in ITEMS),
                )
                for mechanism in reversed(MECHANISMS)
            ),
            log_x=True,
            here=float(items),
        ),
        Paragraph(
            text="**Why.** The exponential mechanism gives a pair of count c the weight e^(epsilon c). The most "
            f"frequent pair has {best} customers and weighs e^{number(float(epsilon) * best)}; a pair that nobody "
            f"bought weighs 1, but there are e^{number(math.log(universe))} of them. Once the second exponent passes "
            "the first, the pairs that nobody bought win together. No mechanism with delta = 0 can avoid this "
            "(Proposition 1 of the paper). With a delta above 0 a mechanism may refuse to name pairs that too few "
            "people bought."
        ),
        Paragraph(
            text="**What helps.** Choose first, and ask afterwards. `exponential --universe-items N` picks among N "
            "items without names, and shows names only if a noisy test finds that all its picks have enough support. "
            "`items-first` goes further: it first counts single items, with noise, and then picks only among pairs of "
            "the frequent ones. There are few of these, however many items there can be."
        ),
    )


def _percent(chance: float) -> str:
    # A chance below the numerical error of the laws is shown as 0.
    return f"{100 * chance if chance > 1e-12 else 0:.3g} %"


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
            text=f"The data set that ships with the package has {shop.ITEMS:,} items. We know this number only because "
            "the data is public. With private data nobody may know it."
        ),
    ),
    controls=(
        Control(name="items", what="how many items the public list has", choices=ITEMS, start="1e6"),
        Control(name="epsilon", what="the epsilon of the pick", choices=("0.15", "0.2", "0.3", "0.5"), start="0.15"),
    ),
    show=show,
    question=Question(
        text="From how many declared items on does the exponential mechanism usually name a pair that nobody bought? "
        "And does a larger epsilon solve the problem, or does it only start later?",
        happens=lambda settings: chances("exponential", settings["epsilon"], settings["items"])[2] > 0.5,
        yes="yes: its answer is usually a pair that nobody bought.",
        no="no: the pairs that customers bought still weigh more.",
    ),
)
