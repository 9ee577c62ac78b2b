"""Why the best of K private runs is not private, and the best of a random number of runs is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from functools import cache, partial

from fim_private.audit.private_candidates import OutcomeLaw, best_of, laws_of_candidates, worst
from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.privacy import PureDP, exact
from fim_private.private_candidates import RandomStopping
from fim_private.private_candidates.pool import FiniteLaw
from fim_private.report.document import Code, Paragraph, Table

RUNS = ("1", "2", "3", "5", "10", "20", "50", "100")
FIXED, RANDOM = "the best of K", "the best of a random number, K on average"
YES, NO = (1, "yes"), (0, "no")
GOOD = 0.1
"""One run in ten is good."""


def survey(epsilon: float, *, inside: bool) -> FiniteLaw:
    """The law of one run: randomised response, which says the truth about Kim with odds e^epsilon."""
    truth = 1 / (1 + math.exp(-epsilon))
    said_yes = truth if inside else 1 - truth
    return {YES: said_yes, NO: 1 - said_yes}


def stopping(runs: str) -> RandomStopping:
    """Algorithm 2 of the paper, with this many runs on average."""
    return RandomStopping(stop=Fraction(1, int(runs)))


def chance_of_no(way: str, runs: str, epsilon: str, *, inside: bool) -> float:
    """The exact chance that the best run says no."""
    return _law(way, runs, survey(float(exact(epsilon, "epsilon")), inside=inside))[NO]


def _law(way: str, runs: str, law: FiniteLaw) -> OutcomeLaw:
    """The law of the chosen run if each run has this law."""
    return best_of(int(runs), law) if way == FIXED else dict[Hashable, float](stopping(runs).law(law).items())


@cache
def worst_loss(way: str, runs: str, epsilon: str) -> float:
    """The largest log ratio that a search found over neighbouring laws of a candidate.

    The laws are exact. The search may miss the worst neighbours, so this is a lower bound.
    """
    one = float(exact(epsilon, "epsilon"))
    return worst(partial(_law, way, runs), laws_of_candidates(one), one).loss


def promised(way: str, runs: str, epsilon: str) -> float:
    """The proved epsilon: K epsilon by adding up, or 3 epsilon by Theorem 3.2."""
    one = exact(epsilon, "epsilon")
    return float(int(runs) * one if way == FIXED else stopping(runs).pure_cost(PureDP(one)).epsilon)


def good_run(way: str, runs: str) -> float:
    """The chance that the chosen run is among the best tenth of all runs."""
    return _law(way, runs, {(1, "good"): GOOD, (0, "other"): 1 - GOOD})[1, "good"]


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show what an answer reveals about Kim, then the worst case, and how often the chosen run is good."""
    runs, epsilon = settings["runs"], settings["epsilon"]
    rows, prices = [], []
    for way in (FIXED, RANDOM):
        good = f"{100 * good_run(way, runs):.1f} %"
        prices.append((way, worst_loss(way, runs, epsilon), promised(way, runs, epsilon), good))
        inside, outside = (chance_of_no(way, runs, epsilon, inside=here) for here in (True, False))
        sure = 100 * outside / (inside + outside)
        rows.append((way, f"{inside:.3g}", f"{outside:.3g}", f"{sure:.{4 if sure < 99.9 else 8}g} %"))
    return (
        Table(
            name="kim",
            head=("chosen is", '"no", if Kim is in', '"no", if not', 'sure after a "no" that Kim is not in'),
            rows=tuple(rows),
            caption=f"**K = {runs} runs of epsilon {epsilon} each.** Each run answers by randomised response whether "
            "Kim is in the data. A yes scores higher than a no. The table shows the exact chances that the best run "
            "says no. The last column is how sure someone who thought it 50:50 is after a no.",
        ),
        Chart(
            name="losses",
            caption="**The worst case found.** The curves show the epsilon by which the chances of an answer differ, "
            "over many candidates and neighbours, computed from exact laws. (The search ignores chances below 1e-12.)",
            alt="The loss of the best of K grows with K; the loss of the best of a random number of runs stays below "
            "three times epsilon",
            x="runs (K)",
            y="epsilon found",
            lines=(
                *lines_over(RUNS, {way: [worst_loss(way, each, epsilon) for each in RUNS] for way in (FIXED, RANDOM)}),
                *lines_over((RUNS[0], RUNS[-1]), {"3 epsilon (Theorem 3.2)": [promised(RANDOM, runs, epsilon)] * 2}),
            ),
            log_x=True,
            log_y=True,
            here=float(runs),
        ),
        Table(
            name="use",
            head=("chosen is", "epsilon found", "epsilon proved", "a run of the best tenth"),
            rows=tuple(prices),
            caption="**Price and use.** One run in ten is good. The last column is the chance that a good run is "
            "published. The coin lowers this chance a little. A larger K raises it again, and with the coin a larger K "
            "costs no privacy.",
        ),
        Paragraph(
            text="**Why.** After K runs, a published no means that **all** K runs said no. These are K pieces of "
            "evidence, each worth epsilon. With a coin after each run, nobody knows how many runs there were. A no may "
            "come from a single run, so it is never much evidence, even if there are many runs on average. Liu and "
            "Talwar (2019) prove 3 epsilon for any candidates. (The number of runs must stay secret.)"
        ),
    )


DEMO = Demo(
    name="candidates",
    title="Try often, publish the best?",
    summary="private selection from private candidates: why the best of K runs leaks, and how a coin prevents it",
    minutes=7,
    introduction=(
        Paragraph(
            text="You make K private runs, each with other settings, another seed or another itemset size. You look at "
            "all of them and publish only the **best**. The best run is private, and you throw the others away. Does "
            "this cost more privacy than one run?"
        ),
        Paragraph(
            text="One change makes it private: toss a coin after each run, and stop when the coin lands heads "
            "(probability 1/K)."
        ),
        Code(
            text="repeat\n    run a candidate, drawn at random\n    with probability 1/K stop\npublish the best so far"
        ),
    ),
    controls=(
        Control(name="runs", what="K, how many runs (on average, with the coin)", choices=RUNS, start="3"),
        Control(name="epsilon", what="the epsilon of each run", choices=("0.1", "0.5", "1"), start="1"),
    ),
    show=show,
    question=Question(
        text="From how many runs on does a no from the best of K make someone 99 % sure that Kim is not in the data, "
        "although each run is private with epsilon 1? And if each has epsilon 0.5?",
        happens=lambda settings: _sure_enough(settings["runs"], settings["epsilon"]),
        yes="yes: after a no, the chance that Kim is in the data is at most 1 %.",
        no="not yet 99 % sure.",
    ),
)


def _sure_enough(runs: str, epsilon: str) -> bool:
    inside, outside = (chance_of_no(FIXED, runs, epsilon, inside=here) for here in (True, False))
    return outside >= 0.99 * (inside + outside)
