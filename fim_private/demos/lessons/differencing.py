"""Lesson 1: the difference of two exact lists reveals what one customer bought. Two released lists do not."""

from __future__ import annotations

import math
from functools import cache

from fim_private.demos import shop
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import pairs_plan
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan
from fim_private.report.document import Paragraph, Table
from fim_private.report.document.text import number
from fim_private.report.tables import JOINT

CUSTOMER = 1_508
"""A customer with 126 different goods and ten of the twenty pairs, so a guess is right half of the time."""

TOP, DELTA = 20, "1e-6"
COUNT_SHARE = "0.5"
SEEDS = (1, 2)


def plan_at(epsilon: str) -> Plan:
    """The release a curator would make: the top pairs with counts, one customer protected."""
    return pairs_plan("items-first", top=TOP, epsilon=epsilon, delta=DELTA, count_share=COUNT_SHARE)


def deviation(epsilon: str) -> float:
    """The standard deviation of a released count's noise, in customers."""
    counts = plan_at(epsilon).counts
    if counts is None:
        raise AssertionError("the plan releases counts")
    return counts.deviation


@cache
def exact_attack() -> tuple[tuple[str, int, int | None, bool], ...]:
    """For each of the top pairs: its items, its count on Monday and on Tuesday, and whether the customer has it."""
    monday = shop.baskets()
    before = shop.exact_top(monday, TOP)
    after = shop.exact_top(shop.without_customer(monday, CUSTOMER), 2 * TOP)
    return tuple(
        (shop.names(monday, pair), count, after.get(pair), shop.held_by(monday, CUSTOMER, pair))
        for pair, count in before.items()
    )


@cache
def released(epsilon: str) -> tuple[dict[str, int | None], dict[str, int | None]]:
    """The released counts by pair, on Monday and on Tuesday. Each list has its own noise (seeded here)."""
    monday = shop.baskets()
    lists = []
    for data, seed in zip((monday, shop.without_customer(monday, CUSTOMER)), SEEDS, strict=True):
        release = mine_as_planned(data, plan_at(epsilon), seed=seed)
        lists.append({JOINT.join(itemset.items): itemset.count for itemset in release.itemsets})
    return lists[0], lists[1]


def guess(before: int | None, after: int | None) -> bool | None:
    """The attacker's guess: the customer had the pair if its count fell. None if a list does not name the pair."""
    return None if before is None or after is None else before - after >= 1


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show both attacks, pair by pair."""
    epsilon = settings["epsilon"]
    exact, (before, after) = exact_attack(), released(epsilon)
    exactly_right = sum(guess(was, now) == has for _, was, now, has in exact)
    guesses = [(guess(before.get(name), after.get(name)), has) for name, _, _, has in exact]
    made = [(said, has) for said, has in guesses if said is not None]
    right = sum(said == has for said, has in made)
    rows = tuple(
        (name, was, now, _words(has), before.get(name), after.get(name), _words(said))
        for (name, was, now, has), (said, _) in zip(exact[:8], guesses, strict=False)
    )
    # Group privacy of two steps: (2 epsilon, (1 + e^epsilon) delta).
    ceiling = 100 / (1 + math.exp(-2 * float(epsilon)))
    failing = min(1.0, (1 + math.exp(float(epsilon))) * float(DELTA))
    return (
        Table(
            name="differences",
            head=("pair", "exact, Monday", "Tuesday", "so had it", "released, Monday", "Tuesday", "so had it?"),
            rows=rows,
            caption=f"**The first eight of the top {TOP} pairs**, counted exactly and as released at epsilon "
            f"{epsilon}. A dash: the released list does not name the pair.",
        ),
        Paragraph(
            text=f"**Exact lists:** the attacker is right about {exactly_right} of {len(exact)} pairs, and knows this "
            "for certain. Ten pairs of goods say a lot about a person."
        ),
        Paragraph(
            text=f"**Released lists:** both lists name {len(made)} of these pairs, and the attacker is right about "
            f"{right} of {len(made)}. One customer changes a count by 1. The noise changes it by about "
            f"{number(deviation(epsilon))} (its standard deviation)."
            if made
            else "**Released lists:** at this epsilon so little can be released that the lists have none of these "
            "pairs in common. The attacker has no counts to subtract."
        ),
        Paragraph(
            text="This was one attack, but the promise holds against every attack. Exchanging one version of this "
            "customer's basket for another is one removal and one addition, so it costs twice epsilon. Someone who "
            f"thinks both versions equally likely can be right at most {ceiling:.4g} % of the time at epsilon "
            f"{epsilon}, except with probability {number(failing)}. This holds for any attack and any prior knowledge. "
            "(Tuesday's list was made without the customer and tells nothing new.) A very large epsilon promises "
            "nothing."
        ),
    )


def _words(had: bool | None) -> str:  # noqa: FBT001 - the cell's value itself
    return "–" if had is None else "yes" if had else "no"


DEMO = Demo(
    name="differencing",
    title="Subtract one list from the other",
    summary="an attack that works on exact lists of the most frequent pairs, and fails on released ones",
    minutes=6,
    introduction=(
        Paragraph(
            text=f"On Monday a web shop publishes its {TOP} most frequent pairs of goods with their counts. Then one "
            "of its 4,372 customers asks to be forgotten. On Tuesday the shop publishes the list again. The lists "
            "contain no names, only sums over thousands of people. Are they not anonymous?"
        ),
        Paragraph(
            text="An attacker keeps both lists and **subtracts one from the other**. Where a count fell by one, the "
            "customer who left had bought that pair. (The shop and its customers are the public data set that ships "
            "with the package, so we may look at the exact counts.)"
        ),
    ),
    controls=(
        Control(
            name="epsilon",
            what="the epsilon of each released list",
            choices=("0.5", "1", "2", "5", "10", "20", "50", "100"),
            start="2",
        ),
    ),
    show=show,
    question=Question(
        text="One customer changes a count by 1. From which epsilon on is the noise of a released count smaller than 1 "
        "(in standard deviations)? There the difference of two lists begins to show the customer.",
        happens=lambda settings: deviation(settings["epsilon"]) < 1,
        yes="yes: the noise is smaller than one customer. Such a release protects nobody.",
        no="not yet: the noise is larger than one customer.",
    ),
)
