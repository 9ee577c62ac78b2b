"""Lesson 1: two exact lists differ by one customer, and so betray this customer; two released lists do not."""

from __future__ import annotations

import math
from functools import cache

from fim_private.demos import shop
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import mechanism_of, pairs_plan
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan
from fim_private.report.document import Paragraph, Table
from fim_private.report.document.text import number
from fim_private.report.tables import JOINT

CUSTOMER = 1_508
"""Somebody with 126 different goods, and ten of the twenty pairs: to guess is to toss a coin."""

TOP, DELTA = 20, "1e-6"
SEEDS = (1, 2)


def plan_at(epsilon: str) -> Plan:
    """The release a curator would make: the top pairs with counts, one customer protected."""
    return pairs_plan("items-first", top=TOP, epsilon=epsilon, delta=DELTA, select="counts")


def deviation(epsilon: str) -> float:
    """The standard deviation of a released count's noise, in customers."""
    *_, (_, last) = mechanism_of(ItemsFirst, plan_at(epsilon)).measurements
    return last.deviation


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
    """The released counts by pair, on Monday and on Tuesday, each with noise of its own (seeded here)."""
    monday = shop.baskets()
    lists = []
    for data, seed in zip((monday, shop.without_customer(monday, CUSTOMER)), SEEDS, strict=True):
        release = mine_as_planned(data, plan_at(epsilon), seed=seed)
        lists.append({JOINT.join(itemset.items): itemset.count for itemset in release.itemsets})
    return lists[0], lists[1]


def guess(before: int | None, after: int | None) -> bool | None:
    """The attacker's guess: the customer had the pair if its count fell; None where a list does not name it."""
    return None if before is None or after is None else before - after >= 1


def show(settings: Settings) -> tuple[Shown, ...]:
    """Both attacks, pair by pair."""
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
            text=f"**Exact lists:** the attacker is right about {exactly_right} of {len(exact)} pairs, without any "
            "doubt. And ten pairs of goods say a good deal about somebody."
        ),
        Paragraph(
            text=f"**Released lists:** both name {len(made)} of these pairs, and the attacker is right about {right} "
            f"of {len(made)}: one customer changes a count by 1, the noise by about {number(deviation(epsilon))} (its "
            "standard deviation)."
            if made
            else "**Released lists:** so little can be told privately at this epsilon that the lists have none of "
            "these pairs in common. There is nothing to take the difference of."
        ),
        Paragraph(
            text="This was one attack, and the promise is about all of them. To exchange one version of this "
            "customer's basket for another is one removal and one addition, twice epsilon: whoever finds both "
            f"versions equally likely can be right at most {ceiling:.4g} % of the time at epsilon {epsilon}, but for "
            f"a chance of {number(failing)}, by whatever attack and with whatever else is known. (Tuesday's list was "
            "made without the customer and tells nothing new.) A large epsilon is no promise."
        ),
    )


def _words(had: bool | None) -> str:  # noqa: FBT001 - the cell's value itself
    return "–" if had is None else "yes" if had else "no"


DEMO = Demo(
    name="differencing",
    title="Take one list from the other",
    summary="an attack that works on exact lists of the most frequent pairs, and fails on released ones",
    minutes=6,
    introduction=(
        Paragraph(
            text=f"A web shop publishes its {TOP} most frequent pairs of goods with their counts, on Monday. Then one "
            "of its 4,372 customers asks to be forgotten, and on Tuesday the list is published again. No name is in "
            "it, only sums over thousands of people. Is that not anonymous?"
        ),
        Paragraph(
            text="An attacker keeps both lists and **takes one from the other**. Where a count fell by one, the "
            "customer who left had bought that pair. (The shop and its customers are the public data set that ships, "
            "which is why we may look.)"
        ),
    ),
    controls=(
        Control(
            name="epsilon",
            what="what a released list may cost",
            choices=("0.5", "1", "2", "5", "10", "20", "50", "100"),
            start="2",
        ),
    ),
    show=show,
    question=Question(
        text="One customer moves a count by 1. From which epsilon on is the noise of a released count smaller than "
        "that (standard deviation below 1), so that the difference of two lists begins to show the customer?",
        happens=lambda settings: deviation(settings["epsilon"]) < 1,
        yes="the noise is smaller than one customer. Such a release protects nobody.",
        no="not yet: the noise is larger than one customer.",
    ),
)
