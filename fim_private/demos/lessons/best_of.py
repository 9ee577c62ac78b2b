"""Lesson 7: private candidates. Why the best of K private runs is not private, and the best of a random number is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from functools import cache

from fim_private.audit.private_candidates import OutcomeLaw, best_of, laws_of_candidates, worst
from fim_private.demos.chart import Chart, Line
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.privacy import PureDP, exact
from fim_private.private_candidates import RandomStopping
from fim_private.private_candidates.pool import FiniteLaw
from fim_private.report.document import Code, Paragraph, Table

RUNS = ("1", "2", "3", "5", "10", "20", "50", "100")
FIXED, RANDOM = "the best of K", "the best of a random number, K on average"
YES, NO = (1, "yes"), (0, "no")
GOOD = 0.1
"""One run in ten is of the kind one hopes for."""


def survey(epsilon: float, *, inside: bool) -> FiniteLaw:
    """One run: randomised response, which says the truth about Kim with odds e^epsilon."""
    truth = 1 / (1 + math.exp(-epsilon))
    said_yes = truth if inside else 1 - truth
    return {YES: said_yes, NO: 1 - said_yes}


def stopping(runs: str) -> RandomStopping:
    """Algorithm 2 with as many runs on average."""
    return RandomStopping(stop=Fraction(1, int(runs)))


def chance_of_no(way: str, runs: str, epsilon: str, *, inside: bool) -> float:
    """The exact chance that the best run says no."""
    return _law(way, runs, survey(float(exact(epsilon, "epsilon")), inside=inside))[NO]


def _law(way: str, runs: str, law: FiniteLaw) -> OutcomeLaw:
    """What is chosen from runs of this law."""
    return best_of(int(runs), law) if way == FIXED else dict[Hashable, float](stopping(runs).law(law).items())


@cache
def worst_loss(way: str, runs: str, epsilon: str) -> float:
    """The largest log ratio found over neighbouring laws of a candidate; of exact laws, but a search: a lower bound."""
    one = float(exact(epsilon, "epsilon"))

    def outcome(law: FiniteLaw) -> OutcomeLaw:
        return _law(way, runs, law)

    return worst(outcome, laws_of_candidates(one), one).loss


def promised(way: str, runs: str, epsilon: str) -> float:
    """What is proved of it: K epsilon by adding up, or 3 epsilon by Theorem 3.2."""
    one = exact(epsilon, "epsilon")
    return float(int(runs) * one if way == FIXED else stopping(runs).pure_cost(PureDP(one)).epsilon)


def good_run(way: str, runs: str) -> float:
    """The chance to come out with a run of the best tenth."""
    return _law(way, runs, {(1, "good"): GOOD, (0, "other"): 1 - GOOD})[1, "good"]


def show(settings: Settings) -> tuple[Shown, ...]:
    """What an answer gives away about Kim, then the worst case, and what the choice is good for."""
    runs, epsilon = settings["runs"], settings["epsilon"]
    rows, prices = [], []
    for way in (FIXED, RANDOM):
        good = f"{100 * good_run(way, runs):.1f} %"
        prices.append((way, worst_loss(way, runs, epsilon), promised(way, runs, epsilon), good))
        inside, outside = (chance_of_no(way, runs, epsilon, inside=here) for here in (True, False))
        sure = 100 * outside / (inside + outside)
        rows.append((way, f"{inside:.3g}", f"{outside:.3g}", f"{sure:.{4 if sure < 99.9 else 8}g} %"))
    dial = tuple(map(float, RUNS))
    return (
        Table(
            name="kim",
            head=("chosen is", '"no", if Kim is in', '"no", if not', 'sure after a "no" that Kim is not in'),
            rows=tuple(rows),
            caption=f"**K = {runs} runs of epsilon {epsilon} each.** Each run answers whether Kim is in the data, by "
            "randomised response, and a yes scores higher. The exact chances that the best run says no, and what "
            "somebody to whom it was a toss of a coin learns from that.",
        ),
        Chart(
            name="losses",
            caption="**The worst that was found**, over candidates of all kinds and neighbours of all kinds, by exact "
            "laws: by what epsilon the chances of an answer differ. (Chances below 1e-12 are not looked at.)",
            alt="The loss of the best of K grows with K; that of a random number of runs stays below three times "
            "epsilon",
            x="runs (K)",
            y="epsilon found",
            lines=(
                *(
                    Line(label=way, x=dial, y=tuple(worst_loss(way, place, epsilon) for place in RUNS))
                    for way in (FIXED, RANDOM)
                ),
                Line(
                    label="3 epsilon (Theorem 3.2)",
                    x=(dial[0], dial[-1]),
                    y=(promised(RANDOM, runs, epsilon),) * 2,
                ),
            ),
            log_x=True,
            log_y=True,
            here=float(runs),
        ),
        Table(
            name="use",
            head=("chosen is", "epsilon found", "epsilon proved", "a run of the best tenth"),
            rows=tuple(prices),
            caption="**Price and use.** One run in ten is of the kind one hopes for; the last column is the chance "
            "to come out with one. The coin costs little of it, and a larger K, which costs no privacy, makes up "
            "for that.",
        ),
        Paragraph(
            text="**Why.** After K runs a no means that **all** K said no: K pieces of evidence, each worth epsilon. "
            "With a coin after each run nobody knows how many there were. A single no may be one run that was the "
            "first and last; so it is never much evidence, however large K is on average. Liu and Talwar (2019) "
            "prove 3 epsilon for any candidates. (How many runs there were must stay secret.)"
        ),
    )  # fmt: skip


DEMO = Demo(
    name="candidates",
    title="Try often, publish the best?",
    summary="private selection from private candidates: why the best of K runs leaks, and a coin mends it",
    minutes=7,
    introduction=(
        Paragraph(
            text="Each of K runs is private: with other settings, another seed, another itemset size. All are looked "
            "at, and only the **best** is published. It was made privately, and the others are thrown away. What "
            "could it cost but one run?"
        ),
        Paragraph(text="One change makes it private: toss a coin after each run, and stop when it comes up."),
        Code(
            text="repeat\n    run a candidate, drawn at random\n    with probability 1/K stop\npublish the best so far"
        ),
    ),
    controls=(
        Control(name="runs", what="K, how many runs (on average, with the coin)", choices=RUNS, start="3"),
        Control(name="epsilon", what="of each run", choices=("0.1", "0.5", "1"), start="1"),
    ),
    show=show,
    question=Question(
        text="From how many runs on does a no from the best of K make somebody 99 % sure that Kim is not in the data, "
        "though each run is private with epsilon 1?",
        happens=lambda settings: _sure_enough(settings["runs"], settings["epsilon"]),
        yes="yes: a no leaves no more than one chance in a hundred.",
        no="not yet 99 % sure.",
    ),
)


def _sure_enough(runs: str, epsilon: str) -> bool:
    inside, outside = (chance_of_no(FIXED, runs, epsilon, inside=here) for here in (True, False))
    return outside >= 0.99 * (inside + outside)
