"""Lesson 5: basket or customer. What each privacy unit protects if a customer has many baskets."""

from __future__ import annotations

from functools import cache

from fim_private.counting import top_itemsets
from fim_private.demos.chart import Chart, Line
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import law_of, pairs_plan
from fim_private.privacy import PrivacyUnit
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.report.document import Paragraph, Table
from fim_private.transactions import Transactions, count_units, keep_transactions, transactions_from_lists

KIM = "Kim"
VISITS = ("1", "2", "3", "4", "6", "8", "12", "16", "20")
EPSILON = "1"
KEPT = 4
UNITS: dict[str, PrivacyUnit] = {
    "each basket": PrivacyUnit(),
    "customer, counted once": PrivacyUnit(column="customer"),
    f"customer, {KEPT} baskets kept": PrivacyUnit(column="customer", max_transactions=KEPT),
}


@cache
def shop_with(visits: int) -> Transactions:
    """400 baskets of milk and bread and 394 of tea and a mug, each from another customer, and Kim's tea and mugs."""
    milk = [("milk", "bread")] * 400
    tea = [("tea", "mug")] * (394 + visits)
    owners = [f"customer {number}" for number in range(794)] + [KIM] * visits
    return transactions_from_lists([*milk, *tea], units=owners)


@cache
def law(unit_name: str, visits: int) -> dict[str, float]:
    """The exact chance of each answer of one pick if Kim came this many times (0: Kim is no customer)."""
    unit = UNITS[unit_name]
    data = shop_with(visits)
    if unit.column is not None:
        # All of Kim's baskets are alike, so which of them are kept changes nothing.
        data = keep_transactions(data, KEPT, SeededRandomness(0).words) if unit.max_transactions else count_units(data)
    itemsets, counts = top_itemsets(data, 2, 10).reveal_to_curator()
    names = [" + ".join(data.vocabulary[code] for code in itemset) for itemset in itemsets.tolist()]
    plan = pairs_plan("limited-domain", top=1, epsilon=EPSILON, unit=unit)
    # One level per pair, so that each answer has its own chance even where two counts are equal.
    profile = CountProfile(levels=counts.tolist(), multiplicities=[1] * len(counts))
    found = law_of(plan, profile)
    return {name: found.get((place,), 0.0) for place, name in enumerate(names)}


def sureness(unit_name: str, visits: int) -> float:
    """How sure someone who thought it 50:50 can become that Kim is, or is not, a customer."""
    inside, outside = law(unit_name, visits), law(unit_name, 0)
    odds = [inside[name] / outside[name] for name in inside if min(inside[name], outside[name]) > 1e-3]
    worst = max(max(ratio, 1 / ratio) for ratio in odds)
    return worst / (1 + worst)


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the chances with and without Kim for each unit, and how sure they can make someone."""
    visits = int(settings["visits"])
    rows = []
    for name in UNITS:
        without, inside = law(name, 0)["mug + tea"], law(name, visits)["mug + tea"]
        rows.append((name, f"{without:.4f}", f"{inside:.4f}", f"{100 * sureness(name, visits):.1f} %"))
    return (
        Table(
            name="units",
            head=(
                "what is protected",
                "tea + mug named, without Kim",
                f"with Kim, {visits} baskets",
                "at most how sure",
            ),
            rows=tuple(rows),
            caption=f"**The most frequent pair at epsilon {EPSILON}, exactly.** The table shows the chance that the "
            "answer is tea with a mug. The last column is for someone who thinks it 50:50 whether Kim shops here: how "
            "sure they can be after seeing the answer. For one unit, epsilon 1 promises at most 73.1 %.",
        ),
        Chart(
            name="sureness",
            caption="**How sure** someone can be about Kim, by the number of Kim's baskets.",
            alt="Certainty about a customer grows with the number of baskets only where each basket is its own unit",
            x="Kim's baskets",
            y="probability",
            lines=tuple(
                Line(
                    label=name,
                    x=tuple(map(float, VISITS)),
                    y=tuple(sureness(name, int(number)) for number in VISITS),
                )
                for name in UNITS
            ),
            here=float(visits),
        ),
        Paragraph(
            text="**Each basket**: a single basket is well protected, because one basket changes the chances by a "
            "factor of at most e^epsilon. But people ask about Kim, not about baskets, and Kim's many baskets change "
            "the chances by up to e^(epsilon times their number). **Counted once**: Kim counts once for each pair "
            "that some basket of Kim's holds. So Kim changes any count by at most 1, however often Kim came. "
            f"**{KEPT} baskets kept**, chosen "
            f"at random: Kim changes a count by at most {KEPT}, so the noise is {KEPT} times as large. Keeping {KEPT} "
            "baskets costs utility, but the counts still show what regular customers buy again and again. Counting "
            "customers once adds no noise, but it counts people instead of baskets. With `--together unit`, Kim's "
            "baskets are all merged first. Then a pair counts even if Kim bought tea on one day and a mug on another; "
            "here Kim always bought both together, so the answer is the same."
        ),
    )


DEMO = Demo(
    name="unit",
    title="A basket, or a customer?",
    summary="why protecting each basket does not protect a customer who has many baskets",
    minutes=6,
    introduction=(
        Paragraph(
            text="A promise of privacy names a **unit**. The answer reveals only little about whether a given unit is "
            "in the data. With `--unit transaction` each basket is a unit. With `--unit-column customer` a customer "
            "with all their baskets is a unit."
        ),
        Paragraph(
            text="Take a small, made-up shop. 400 customers came once and bought milk and bread. 394 customers came "
            "once and bought tea and a mug. **Kim** may be a customer too, and would buy tea and a mug again and "
            "again. The shop publishes its most frequent pair. Does the answer tell whether Kim is a customer?"
        ),
    ),
    controls=(Control(name="visits", what="how many baskets Kim has", choices=VISITS, start="8"),),
    show=show,
    question=Question(
        text="A release protects each basket with epsilon 1. From how many of Kim's baskets on can someone become 99 % "
        "sure that Kim shops here?",
        happens=lambda settings: sureness("each basket", int(settings["visits"])) >= 0.99,
        yes="yes: 99 % sure or more. Each basket is protected, but Kim is not.",
        no="not yet 99 % sure.",
    ),
)
