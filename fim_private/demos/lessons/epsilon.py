"""The dial. What changes with epsilon, delta, the number of customers and the length of the list."""

from __future__ import annotations

import math
from functools import cache
from statistics import mean

from fim_private.comparison.measures import Truth
from fim_private.demos import shop
from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import mechanism_of, pairs_plan
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.privacy import exact
from fim_private.randomness import SeededRandomness
from fim_private.report.document import Paragraph, Table
from fim_private.report.document.text import number, times_as_likely

DIAL = ("0.1", "0.25", "0.5", "1", "2", "4", "8")
TRIALS = 12
WANTED = 0.9


@cache
def mechanism_at(epsilon: str, delta: str, k: str) -> LimitedDomain:
    """A mechanism whose need is one lead; the planner's choice needs a smaller one."""
    return mechanism_of(LimitedDomain, pairs_plan("limited-domain", top=int(k), epsilon=epsilon, delta=delta))


def customers(times: str) -> int:
    """How many customers the shop has if it has this many times as many as the data set."""
    return round(shop.CUSTOMERS * float(exact(times, "times")))


@cache
def precision(epsilon: str, delta: str, times: str, k: str) -> float:
    """The mean share of the true top k that a few seeded lists name."""
    profile = shop.pairs(float(exact(times, "times")))
    truth = Truth.of(profile, int(k))
    mechanism = mechanism_at(epsilon, delta, k)
    lists = (mechanism.select(profile, SeededRandomness(seed)) for seed in range(TRIALS))
    return mean(truth.measure([profile.count(rank + 1) for rank in ranks]).precision for ranks in lists)


def lead(epsilon: str, delta: str, k: str) -> int:
    """The lead over the bulk that one itemset needs, in customers."""
    return mechanism_at(epsilon, delta, k).margins[0].compared


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the promise in odds, then its price."""
    epsilon, delta, times, k = (settings[name] for name in ("epsilon", "delta", "times", "k"))
    profile = shop.pairs(float(exact(times, "times")))
    mechanism = mechanism_at(epsilon, delta, k)
    bulk = profile.count(mechanism.candidates + 1)
    factor = math.exp(float(epsilon))
    return (
        Table(
            name="odds",
            head=("how sure before the answer", "at most how sure after"),
            rows=tuple(
                (f"{before:.4g} %", f"{100 * before * factor / (100 - before + before * factor):.4g} %")
                for before in (1.0, 10.0, 50.0, 90.0)
            ),
            caption=f"**What epsilon {epsilon} promises.** One customer makes any set of answers at most e^epsilon = "
            f"{times_as_likely(exact(epsilon, 'epsilon'))} times as likely, plus delta = {delta}. The table shows what "
            "this means with delta 0 for someone who wants to know whether a certain customer is in the data. It gives "
            "how sure they can be before and after the answer.",
        ),
        Chart(
            name="lead",
            caption="**What it costs.** A pair is named if its count exceeds the bulk by the lead on the curve. (The "
            f"bulk here is {bulk:,}, the count at place {mechanism.candidates + 1:,}.) The level line is the lead that "
            f"the pair at place {k} has. Where the curve is below this line, the list is almost always full. It may "
            "still be wrong, because the mechanism can confuse pairs of nearly the same count.",
            alt="The lead that a pair needs falls with epsilon. A level line shows the lead that the last pair of the "
            "list has",
            x="epsilon",
            y="customers",
            lines=(
                *lines_over(DIAL, {"lead one pair needs": [lead(place, delta, k) for place in DIAL]}),
                *lines_over(
                    (DIAL[0], DIAL[-1]), {f"lead of the pair at place {k}": [profile.count(int(k)) - bulk] * 2}
                ),
            ),
            log_x=True,
            log_y=True,
            here=float(epsilon),
        ),
        Table(
            name="moves",
            head=("what changes", "lead one pair needs", "lead of the last pair", "share of the true top k named"),
            rows=tuple(_row(what, moved) for what, moved in _moves(epsilon, delta, times, k)),
            caption="**One thing at a time.** How the list changes if one thing changes and all else stays. "
            f"The shares are means of {TRIALS} seeded lists.",
        ),
        Paragraph(
            text="The lead that a pair needs is about proportional to 1/epsilon, and grows with the length of the "
            f"list. It depends on delta only through the logarithm: with delta {_squared(delta)} instead of {delta}, "
            f"the lead here is only {_growth(epsilon, delta, k):.1f} times as large. The lead that a "
            "pair has grows with the data. So **more data buys privacy**: with twice as many customers, half the "
            "epsilon gives about the same list."
        ),
    )


def _growth(epsilon: str, delta: str, k: str) -> float:
    """How many times as large the lead is if delta is squared."""
    return lead(epsilon, _squared(delta), k) / lead(epsilon, delta, k)


def _squared(delta: str) -> str:
    return number(exact(delta, "delta") ** 2)


def _moves(epsilon: str, delta: str, times: str, k: str) -> list[tuple[str, tuple[str, str, str, str]]]:
    now = (epsilon, delta, times, k)
    half, smaller = number(exact(epsilon, "epsilon") / 2), _squared(delta)
    twice = str(2 * exact(times, "times"))
    return [
        ("nothing changes", now),
        (f"epsilon {half} instead of {epsilon}", (half, delta, times, k)),
        (f"delta {smaller} instead of {delta}", (epsilon, smaller, times, k)),
        (f"{customers(times) * 2:,} customers instead of {customers(times):,}", (epsilon, delta, twice, k)),
        (f"k = {2 * int(k)} instead of {k}", (epsilon, delta, times, str(2 * int(k)))),
    ]


def _row(what: str, moved: tuple[str, str, str, str]) -> tuple[str, int, int, float]:
    epsilon, delta, times, k = moved
    profile = shop.pairs(float(exact(times, "times")))
    has = profile.count(int(k)) - profile.count(mechanism_at(epsilon, delta, k).candidates + 1)
    return what, lead(epsilon, delta, k), has, precision(epsilon, delta, times, k)


DEMO = Demo(
    name="epsilon",
    title="The epsilon dial",
    summary="what changes as epsilon, delta, the number of customers and the length of the list move",
    minutes=8,
    introduction=(
        Paragraph(
            text="Epsilon says how much one customer may change the odds of any answer. Delta is how much one customer "
            "may add to the probability of any set of answers on top of that; think of it as the chance of a failure. "
            "No theory says which epsilon is right. But you can work out what an epsilon promises, and what it costs, "
            "before anyone touches the data. The task here is to name the k most frequent pairs of goods of a web "
            "shop. The mechanism is `limited-domain`, because a single lead says what it needs. For most lists, `auto` "
            "needs a smaller lead."
        ),
    ),
    controls=(
        Control(name="epsilon", what="how much one customer may change the odds", choices=DIAL, start="1"),
        Control(
            name="times", what="how many times 4,372 customers", choices=("1/4", "1", "4", "16"),
            start="1",
        ),
        Control(
            name="delta", what="what one customer may add to a probability on top",
            choices=("1e-3", "1e-6", "1e-9", "1e-12"), start="1e-6",
        ),
        Control(name="k", what="how many pairs are asked for", choices=("1", "5", "10"), start="10"),
    ),
    show=show,
    question=Question(
        text="From which epsilon on does the list name at least nine of ten of the true top k? And how does this "
        "epsilon change if there are four times as many customers (times=4)?",
        happens=lambda settings: precision(*(settings[name] for name in ("epsilon", "delta", "times", "k"))) >= WANTED,
        yes="yes, the list names at least nine of ten.",
        no="no, too much of the list is missing or wrong.",
    ),
)  # fmt: skip
