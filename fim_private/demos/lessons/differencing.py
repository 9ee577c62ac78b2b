"""Two exact lists, subtracted from each other, show what one customer bought. Two released lists hardly do."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from fim_private.comparison.exact_counts import by_itemset
from fim_private.demos import shop
from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import pairs_plan
from fim_private.mechanisms.count_noise import CountNoise, LaplaceCounts
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan
from fim_private.report.document import Paragraph, Table
from fim_private.report.tables import JOINT

CUSTOMER = 1_508
"""A customer with 126 different goods and ten of the twenty pairs, so a coin is right half of the time."""

TOP, DELTA = 20, "1e-6"
COUNT_SHARE = "0.5"
SEEDS = (1, 2)
SHOWN = 8
DIAL = ("0.5", "1", "2", "5", "10", "20", "50", "100")
ASKED = ("1", "10")
WANTED, NEARLY_SURE = 0.8, 0.999


def plan_at(epsilon: str) -> Plan:
    """The release a curator would make: the top pairs with counts, one customer protected."""
    return pairs_plan("items-first", top=TOP, epsilon=epsilon, delta=DELTA, count_share=COUNT_SHARE)


@cache
def noise_at(epsilon: str) -> CountNoise:
    """The noise of each released count."""
    counts = plan_at(epsilon).counts
    if counts is None:
        raise AssertionError("the plan releases counts")
    return counts


@cache
def exact_attack() -> tuple[tuple[str, int, int | None, bool], ...]:
    """For each of the top pairs: its items, its count on Monday and on Tuesday, and whether the customer has it."""
    monday = shop.baskets()
    before = by_itemset(monday, 2, TOP)
    after = by_itemset(shop.without_customer(monday, CUSTOMER), 2, 2 * TOP)
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


@cache
def chance_right(epsilon: str, pairs: int) -> float:
    """The exact chance that the attacker is right, over the noise of the counts that both lists name.

    The customer had all of these pairs or none. So the sum of the differences is `pairs` or 0, plus the noise of twice
    as many counts. The attacker says "all" if the sum is above half of `pairs`, and tosses a coin at exactly half.
    """
    noise = noise_at(epsilon)
    reach = math.ceil(12 * noise.deviation) + 12
    places = np.arange(-reach, reach + 1, dtype=float)
    exponents = (
        -abs(places) / float(noise.scale)
        if isinstance(noise, LaplaceCounts)
        else -(places**2) / 2 / float(noise.deviation**2)
    )
    law = np.exp(exponents)
    length = 4 * pairs * reach + 1
    summed = np.fft.irfft(np.fft.rfft(law / law.sum(), length) ** (2 * pairs), length)
    totals = np.arange(length) - 2 * pairs * reach
    return float(summed[2 * totals < pairs].sum() + summed[2 * totals == pairs].sum() / 2)


def ceiling(epsilon: str) -> float:
    """No attacker to whom both answers are equally likely is right more often than this.

    Two versions of this customer's basket differ by one removal and one addition. So Monday's list is (2 epsilon,
    (1 + e^epsilon) delta)-private between them; and (e, d)-privacy allows a guess to be right with (e^e + d)/(e^e + 1).
    """
    one = float(epsilon)
    failure = (1 + math.exp(one)) * float(DELTA)
    return min(1.0, 1 / (1 + math.exp(-2 * one)) + failure / (1 + math.exp(2 * one)))


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show how often the attack is right, then both lists, pair by pair."""
    epsilon, pairs = settings["epsilon"], int(settings["pairs"])
    exact, (before, after) = exact_attack(), released(epsilon)
    exactly_right = sum(guess(was, now) == has for _, was, now, has in exact)
    guesses = [(guess(before.get(name), after.get(name)), has) for name, _, _, has in exact]
    made = [(said, has) for said, has in guesses if said is not None]
    noise = noise_at(epsilon).deviation
    here = (
        f"Both lists name {len(made)} of the {TOP} pairs. Of the guesses about these, "
        f"{sum(said == has for said, has in made)} are right."
        if made
        else "At this epsilon these two lists have none of the pairs in common, so there is nothing to subtract."
    )
    return (
        Chart(
            name="right",
            caption="**How often the attacker is right about this customer**, computed exactly from the law of the "
            "noise, for counts that both lists name. A coin is right half of the time. Exact lists are always right. "
            "The third line is what epsilon promises: no attack of any kind can be right more often.",
            alt="The attack is near one half for small epsilons, and near one for very large ones; the bound for all "
            "attacks is near one from epsilon 2 on",
            x="epsilon of each list",
            y="chance to be right",
            lines=lines_over(
                DIAL,
                {
                    "one pair: had it or not?" if asked == "1" else f"{asked} pairs: had all or none?": [
                        chance_right(place, int(asked)) for place in DIAL
                    ]
                    for asked in ASKED
                }
                | {"no attack is right more often": list(map(ceiling, DIAL))},
            ),
            log_x=True,
            here=float(epsilon),
        ),
        Table(
            name="differences",
            head=("pair", "exact", "so had it", "released", "guess"),
            rows=tuple(
                (name, _both(was, now), _words(has), _both(before.get(name), after.get(name)), _words(said))
                for (name, was, now, has), (said, _) in zip(exact[:SHOWN], guesses, strict=False)
            ),
            caption=f"**One example: the first {SHOWN} of the top {TOP} pairs**, counted exactly, and as released at "
            f"epsilon {epsilon}, on Monday → on Tuesday. {_one_number(exact, before)} A dash: a released list does not "
            "name the pair.",
        ),
        Paragraph(
            text=f"**Exact lists:** the attacker is right about {exactly_right} of {len(exact)} pairs, and knows it "
            f"for certain. **Released lists:** the customer changes a count by 1. The noise of one count is about "
            f"{noise:.3g} (its standard deviation), and a difference has the noise of two counts. So a guess about "
            f"{'one pair' if pairs == 1 else f'{pairs} pairs together'} is right "
            f"{100 * chance_right(epsilon, pairs):.1f} % of the time. {here}"
        ),
        Paragraph(
            text="**An attack that fails proves nothing.** Asking about ten pairs at once is a better attack on the "
            "same two lists, and somebody may find a better one still. The promise is about all attacks. "
            f"{_promise(epsilon)} (Two versions of a basket differ by one removal and one addition, so this bound uses "
            "twice epsilon. Tuesday's list was made without the customer and changes nothing.)"
        ),
    )


def _one_number(exact: tuple[tuple[str, int, int | None, bool], ...], before: dict[str, int | None]) -> str:
    """Say how a released number comes about, with the first that there is."""
    for name, was, _, _ in exact[:SHOWN]:
        count = before.get(name)
        if count is not None:
            if was == count:
                return f"The noise of the first count was 0, so {was} is released as {count}."
            return (
                f"A released count is the exact count plus noise: {was} is released as {count}, so the noise was "
                + f"{count - was:+d}.".replace("-", "\N{MINUS SIGN}")
            )
    return "Monday's released list names none of them: with so much noise, only few pairs stand out, or none."


def _promise(epsilon: str) -> str:
    if ceiling(epsilon) > NEARLY_SURE:
        return (
            f"At epsilon {epsilon} the bound is above {100 * NEARLY_SURE} %, so this release promises nothing, even "
            "where this attack is no better than a coin."
        )
    # Rounded up, because it is an upper bound.
    most = math.ceil(1000 * ceiling(epsilon)) / 10
    return (
        f"At epsilon {epsilon}, somebody who thinks both answers equally likely is right at most {most} % of the time, "
        "whatever they do and whatever else they know."
    )


def _both(before: int | None, after: int | None) -> str:
    return "\u00a0→\u00a0".join("–" if count is None else f"{count}" for count in (before, after))


def _words(had: bool | None) -> str:  # noqa: FBT001 - the cell's value itself
    return "–" if had is None else "yes" if had else "no"


DEMO = Demo(
    name="differencing",
    title="Subtract one list from the other",
    summary="an attack that is always right on exact lists of the most frequent pairs, and rarely on released ones",
    minutes=6,
    introduction=(
        Paragraph(
            text=f"On Monday a web shop publishes its {TOP} most frequent pairs of goods with their counts. Then one "
            "of its 4,372 customers asks to be forgotten. On Tuesday the shop publishes the list again. The lists "
            "name no customer and hold only sums over thousands of people. So they seem anonymous."
        ),
        Paragraph(
            text="An attacker keeps both lists and **subtracts one from the other**. Where a count fell by one, the "
            "customer who left had bought that pair. (The shop and its customers are the public data set that ships "
            "with the package, so we may look at the exact counts.)"
        ),
    ),
    controls=(
        Control(name="epsilon", what="the epsilon of each released list", choices=DIAL, start="2"),
        Control(name="pairs", what="how many pairs are asked about", choices=ASKED, start="1"),
    ),
    show=show,
    question=Question(
        text="From which epsilon on is this attacker right four times in five? Ask about one pair first, then about "
        "ten pairs at once (pairs=10).",
        happens=lambda settings: chance_right(settings["epsilon"], int(settings["pairs"])) >= WANTED,
        yes="yes: the attacker is right at least four times in five, so these lists do not protect this customer.",
        no="no: the attacker is right less often.",
    ),
)
