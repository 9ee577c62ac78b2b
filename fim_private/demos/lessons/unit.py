"""Basket or customer. What each privacy unit protects if a customer has many baskets."""

from __future__ import annotations

import math
from functools import cache

from fim_private.counting import top_itemsets
from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import mechanism_of, pairs_plan
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.privacy import PrivacyUnit
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.report.document import Paragraph, Table
from fim_private.transactions.bounding import count_units, keep_transactions, merge_units
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import transactions_from_lists

KIM = "Kim"
VISITS = ("1", "2", "3", "4", "6", "8", "12", "16", "20")
EPSILONS = ("0.25", "0.5", "1")
KEPT = 4
APART = 300
"""The number of customers who buy coffee and jam, but never in one basket."""
UNITS: dict[str, PrivacyUnit] = {
    "each basket": PrivacyUnit(),
    "customer, counted once": PrivacyUnit(column="customer"),
    f"customer, {KEPT} baskets kept": PrivacyUnit(column="customer", max_transactions=KEPT),
}
PAIRS = ("bread + milk", "mug + tea", "coffee + jam")
MERGED = "customer, baskets merged"
LIKELY = 1e-3
"""Answers that are rarer than this, with Kim and without, are left out: delta covers them."""


@cache
def shop_with(visits: int) -> Transactions:
    """Milk and bread in 400 baskets, tea and a mug in 394, and Kim's. Others buy coffee one day and jam another day."""
    baskets: list[tuple[str, ...]] = [*[("milk", "bread")] * 400, *[("tea", "mug")] * 394]
    owners = [f"customer {number}" for number in range(len(baskets))]
    for number in range(APART):
        baskets += [("coffee",), ("jam",)]
        owners += [f"apart {number}"] * 2
    return transactions_from_lists(baskets + [("tea", "mug")] * visits, units=owners + [KIM] * visits)


def bounded(unit_name: str, visits: int) -> Transactions:
    """The data as it is counted for this unit."""
    data = shop_with(visits)
    if unit_name == MERGED:
        return merge_units(data)
    unit = UNITS[unit_name]
    if unit.column is None:
        return data
    # All of Kim's baskets are alike, so which of them are kept changes nothing.
    return keep_transactions(data, KEPT, SeededRandomness(0).words) if unit.max_transactions else count_units(data)


@cache
def counts(unit_name: str, visits: int) -> dict[str, int]:
    """The exact count of each pair that occurs."""
    data = bounded(unit_name, visits)
    itemsets, found = top_itemsets(data, 2, 10).reveal_to_curator()
    names = [" + ".join(data.vocabulary[code] for code in itemset) for itemset in itemsets.tolist()]
    return dict(zip(names, found.tolist(), strict=True))


@cache
def law(unit_name: str, visits: int, epsilon: str) -> dict[str, float]:
    """The exact chance of each answer of one pick if Kim came this many times (0: Kim is no customer)."""
    found = counts(unit_name, visits)
    plan = pairs_plan(
        "limited-domain", top=1, epsilon=epsilon, unit=UNITS.get(unit_name, PrivacyUnit(column="customer"))
    )
    # One level per pair, so that each answer has its own chance even where two counts are equal.
    profile = CountProfile(levels=list(found.values()), multiplicities=[1] * len(found))
    chances = mechanism_of(LimitedDomain, plan).law(profile)
    return {name: chances.get((place,), 0.0) for place, name in enumerate(found)}


@cache
def sureness(unit_name: str, visits: int, epsilon: str) -> float:
    """How sure someone who thought it 50:50 can become that Kim is, or is not, a customer."""
    inside, outside = law(unit_name, visits, epsilon), law(unit_name, 0, epsilon)
    likely = [name for name in inside if max(inside[name], outside[name]) > LIKELY]
    return max(max(inside[name], outside[name]) / (inside[name] + outside[name]) for name in likely)


def promised(epsilon: str) -> float:
    """How sure someone who thought it 50:50 can become about one unit."""
    return 1 / (1 + math.exp(-float(epsilon)))


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the chances with and without Kim for each unit, how sure they can make someone, and what is counted."""
    visits, epsilon = int(settings["visits"]), settings["epsilon"]
    one = f"{100 * promised(epsilon):.1f} %"
    return (
        Table(
            name="units",
            head=(
                "what is protected",
                "tea + mug named, without Kim",
                f"with Kim, {_baskets(visits)}",
                "how sure at most",
            ),
            rows=tuple(
                (
                    name,
                    *(f"{100 * law(name, number, epsilon)['mug + tea']:.2f} %" for number in (0, visits)),
                    f"{100 * sureness(name, visits, epsilon):.1f} %",
                )
                for name in UNITS
            ),
            caption=f"**The most frequent pair at epsilon {epsilon}, exactly.** The table shows the chance that the "
            "answer is tea with a mug. The last column is for someone who thinks it 50:50 whether Kim shops here: how "
            f"sure the answer can make them. About one unit, epsilon {epsilon} lets them be at most {one} sure. "
            f"(Answers that come up less than once in {1 / LIKELY:,.0f} runs are left out; delta is for these.)",
        ),
        Chart(
            name="sureness",
            caption="**How sure** someone can become about Kim, by the number of Kim's baskets.",
            alt="Certainty about a customer grows with the number of baskets only where each basket is its own unit",
            x="Kim's baskets",
            y="how sure (0.5 is a coin)",
            lines=lines_over(
                VISITS, {name: [sureness(name, int(number), epsilon) for number in VISITS] for name in UNITS}
            ),
            here=float(visits),
        ),
        Paragraph(
            text="**Each basket:** a single basket is well protected, because it changes the chances by a factor of at "
            "most e^epsilon. But people ask about Kim, not about baskets, and all of Kim's baskets together change the "
            "chances by up to e^(epsilon times their number). **Counted once:** Kim counts once for each pair that "
            "some basket of Kim's holds. So Kim changes any count by at most 1, however often Kim came, and the noise "
            f"is as for baskets. **{KEPT} baskets kept**, chosen at random: Kim changes a count by at most {KEPT}, so "
            f"the noise is {KEPT} times as large. In return the counts still show what people buy again and again."
        ),
        Table(
            name="counts",
            head=("what is counted", *PAIRS),
            rows=tuple((name, *(counts(name, visits).get(pair, 0) for pair in PAIRS)) for name in (*UNITS, MERGED)),
            caption=f"**The unit decides what is counted, too.** {APART} more customers bought coffee one day and jam "
            "another day. The table shows exact counts, with Kim.",
        ),
        Paragraph(
            text="**Merged** (`--together unit`): all baskets of a customer become one. That protects Kim as well as "
            "counting once, and adds no noise either. But it changes what a pair means: coffee and jam now count as "
            "bought together, although nobody ever had both in one basket. Merge if you ask what the same people buy. "
            "Count once if you ask what people buy in one go."
        ),
    )


def _baskets(number: int) -> str:
    return "1 basket" if number == 1 else f"{number} baskets"


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
    controls=(
        Control(name="visits", what="how many baskets Kim has", choices=VISITS, start="8"),
        Control(name="epsilon", what="the epsilon of the release", choices=EPSILONS, start="1"),
    ),
    show=show,
    question=Question(
        text="A release protects each basket with epsilon 1. From how many of Kim's baskets on can someone become 99 % "
        "sure whether Kim shops here? And with epsilon 0.5, or 0.25?",
        happens=lambda settings: sureness("each basket", int(settings["visits"]), settings["epsilon"]) >= 0.99,
        yes="yes: 99 % sure or more. Each basket is protected, but Kim is not.",
        no="not yet 99 % sure.",
    ),
)
