"""Lesson 4: range dependence. The longer the list of possible items, the more the exponential mechanism drowns."""

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
    """How many items that is."""
    return int(exact(items, "items"))


@cache
def chances(mechanism: str, epsilon: str, items: str) -> tuple[float, float, float]:
    """The exact chances that one pick names a pair within a tenth of the largest count, another, one nobody bought.

    What is left of 1 names nothing.
    """
    found = shop.pairs()
    universe = Universe(items=number_of(items)) if mechanism == "exponential" else None
    plan = pairs_plan(mechanism, top=1, epsilon=epsilon, universe=universe)
    zeros = math.comb(number_of(items), 2) - found.occurring if mechanism == "exponential" else None
    profile = CountProfile(levels=found.levels, multiplicities=found.multiplicities, zeros=zeros)
    best = profile.count(1)
    good = poor = absent = 0.0
    # A place in the law is one in the head the mechanism looks at, which begins as the profile does.
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
    """Where the mechanisms put their probability, now and for all lengths of the list."""
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
            head=("mechanism", "a frequent pair", "a rarer pair", "one nobody bought", "nothing"),
            rows=tuple(rows),
            caption=f"**One pick at epsilon {epsilon}, with {number_of(items):,} items declared**: "
            f"{number(float(universe))} pairs. The exact chance of each kind of answer; frequent: within a tenth of "
            "the largest count.",
            mechanism_column=0,
        ),
        Chart(
            name="drowning",
            caption="**The chance to name a frequent pair**, by how many items the public list has. "
            "`limited-domain` and `lmm` are told no list, and see no difference.",
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
            text="Why: the exponential mechanism gives a pair of count c the weight e^(epsilon c). The most frequent "
            f"pair has {best} customers and weighs e^{number(float(epsilon) * best)}; a pair that nobody bought "
            f"weighs 1, but there are e^{number(math.log(universe))} of them. Once the second exponent passes the "
            "first, the pairs that do not exist win together. No pure epsilon-private mechanism escapes this "
            "(Proposition 1 of the paper); with a delta above 0 a mechanism may refuse to name what too few people "
            "have."
        ),
    )


def _percent(chance: float) -> str:
    # What is below the error of the laws is shown as nought.
    return f"{100 * chance if chance > 1e-12 else 0:.3g} %"


DEMO = Demo(
    name="universe",
    title="Drowning in what could have been bought",
    summary="pad the list of possible items, and watch the exponential mechanism drown",
    minutes=6,
    introduction=(
        Paragraph(
            text="Which items occur in the data is private: a single customer may be the only one who has one. A "
            "mechanism that wants a **declared universe** therefore needs a public list made without looking, and an "
            "honest list is long: all goods ever stocked, or all barcodes there can be (13 digits, and 14 on a "
            "carton). Every item on it makes pairs that nobody bought, and each of these has to be told from the "
            "frequent ones by noise alone."
        ),
        Paragraph(
            text=f"The data set that ships has {shop.ITEMS:,} items. That number is known here only because the data "
            "is public; with private data nobody may know it."
        ),
    ),
    controls=(
        Control(name="items", what="how many items the public list has", choices=ITEMS, start="1e6"),
        Control(name="epsilon", what="what the pick may cost", choices=("0.15", "0.2", "0.3", "0.5"), start="0.15"),
    ),
    show=show,
    question=Question(
        text="From how many declared items on does the exponential mechanism name a pair that nobody bought more "
        "often than not? And does a larger epsilon cure it, or only move the place?",
        happens=lambda settings: chances("exponential", settings["epsilon"], settings["items"])[2] > 0.5,
        yes="yes: more often than not its answer is a pair that nobody bought.",
        no="no: what exists still weighs more.",
    ),
)
