"""Lesson 5: basket or customer. What each privacy unit protects, computed for a customer with many baskets."""

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
from fim_private.transactions import Transactions, keep_transactions, merge_units, transactions_from_lists

KIM = "Kim"
VISITS = ("1", "2", "3", "4", "6", "8", "12", "16", "20")
EPSILON = "1"
KEPT = 4
UNITS: dict[str, PrivacyUnit] = {
    "each basket": PrivacyUnit(),
    "customer, baskets merged": PrivacyUnit(column="customer"),
    f"customer, {KEPT} baskets kept": PrivacyUnit(column="customer", max_transactions=KEPT),
}


@cache
def shop_with(visits: int) -> Transactions:
    """400 baskets of milk with bread and 394 of tea with mugs, a customer each; and Kim, with tea and a mug."""
    milk = [("milk", "bread")] * 400
    tea = [("tea", "mug")] * (394 + visits)
    owners = [f"customer {number}" for number in range(794)] + [KIM] * visits
    return transactions_from_lists([*milk, *tea], units=owners)


@cache
def law(unit_name: str, visits: int) -> dict[str, float]:
    """The exact chance of each answer of one pick, if Kim came so many times (0: is no customer)."""
    unit = UNITS[unit_name]
    data = shop_with(visits)
    if unit.column is not None:
        # All of Kim's baskets are alike, so which of them are kept changes nothing.
        data = keep_transactions(data, KEPT, SeededRandomness(0).words) if unit.max_transactions else merge_units(data)
    itemsets, counts = top_itemsets(data, 2, 10).reveal_to_curator()
    names = [" + ".join(data.vocabulary[code] for code in itemset) for itemset in itemsets.tolist()]
    plan = pairs_plan("limited-domain", top=1, epsilon=EPSILON, unit=unit)
    # A level a pair, so that each answer has its own chance even where two counts are equal.
    profile = CountProfile(levels=counts.tolist(), multiplicities=[1] * len(counts))
    found = law_of(plan, profile)
    return {name: found.get((place,), 0.0) for place, name in enumerate(names)}


def sureness(unit_name: str, visits: int) -> float:
    """How sure somebody to whom it was a toss of a coin can become that Kim is, or is not, a customer."""
    inside, outside = law(unit_name, visits), law(unit_name, 0)
    odds = [inside[name] / outside[name] for name in inside if min(inside[name], outside[name]) > 1e-3]
    worst = max(max(ratio, 1 / ratio) for ratio in odds)
    return worst / (1 + worst)


def show(settings: Settings) -> tuple[Shown, ...]:
    """The chances with and without Kim, for each unit, and what can be concluded."""
    visits = int(settings["visits"])
    rows = []
    for name in UNITS:
        without, inside = law(name, 0)["mug + tea"], law(name, visits)["mug + tea"]
        rows.append((name, f"{without:.4f}", f"{inside:.4f}", f"{100 * sureness(name, visits):.1f} %"))
    return (
        Table(
            name="units",
            head=("protected is", "tea + mug named, without Kim", f"with Kim, {visits} baskets", "at most so sure"),
            rows=tuple(rows),
            caption=f"**The most frequent pair at epsilon {EPSILON}, exactly.** The chance that the answer is tea "
            "with a mug, and how sure it makes somebody, to whom it was a toss of a coin, that Kim shops here. "
            "Epsilon 1 promises 73.1 % for one unit.",
        ),
        Chart(
            name="sureness",
            caption="**How sure**, by the number of baskets Kim has.",
            alt="Certainty about a customer grows with the number of baskets only where each basket is its own unit",
            x="baskets of Kim",
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
            text="**Each basket by itself** is protected perfectly well: one more or less changes the chances by a "
            "factor of e^epsilon at most. But nobody asks about baskets. Kim's many change them by e^(epsilon times "
            "their number). **Merged**, all that Kim ever bought is one set, which changes any count by 1, however "
            f"often Kim came. **At most {KEPT} kept** (chosen at random): Kim changes a count by {KEPT} at most, and "
            f"the noise is {KEPT} times as large. It costs utility, and keeps what regulars do regularly in the "
            "counts; merging costs nothing and counts people instead of baskets."
        ),
    )


DEMO = Demo(
    name="unit",
    title="A basket, or a customer?",
    summary="what protecting each basket protects, and what it does not: a customer with many of them",
    minutes=6,
    introduction=(
        Paragraph(
            text="A promise of privacy names a **unit**: what may be in the data or not without anybody being able "
            "to tell. `--unit transaction` takes each basket for a unit of its own. `--unit-column customer` takes a "
            "customer, with all of his or her baskets."
        ),
        Paragraph(
            text="A small shop, made up: 400 customers came once for milk and bread, 394 once for tea and a mug. And "
            "there may be **Kim**, who comes for tea and a mug again and again. Published is the most frequent pair. "
            "Does the answer tell whether Kim is a customer?"
        ),
    ),
    controls=(Control(name="visits", what="how many baskets Kim has", choices=VISITS, start="8"),),
    show=show,
    question=Question(
        text="With how many baskets of Kim does the release that protects each basket let somebody become 99 % sure "
        "that Kim shops here, although epsilon is 1?",
        happens=lambda settings: sureness("each basket", int(settings["visits"])) >= 0.99,
        yes="yes: 99 % sure or more. Each basket is protected; Kim is not.",
        no="not yet 99 % sure.",
    ),
)
