"""Composition. How much each of k picks may spend of one budget, by three theorems."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from fim_private.accounting.calibration import calibrate_equal, calibrate_pick, composed_epsilon
from fim_private.accounting.optimal_composition import optimal_epsilon
from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.mechanisms.peeling import peeling_losses
from fim_private.privacy import BoundedRange, Budget, Loss
from fim_private.report.document import Bullets, Paragraph, Table

PICKS = ("1", "2", "5", "10", "20", "50", "100", "200", "500")
CANDIDATES = 10**6
THEOREMS = {
    "basic": "epsilons add up",
    "optimal": "for any private pick",
    "bounded range": "for picks of bounded range",
}


def pick_epsilons(budget: Budget, top: int) -> dict[str, float]:
    """The largest epsilon of one of k picks, by theorem.

    basic: epsilons add up. optimal: the theorem of Kairouz, Oh, Viswanath for any picks. bounded range: the
    best theorem for picks by the exponential mechanism (Durfee and Rogers; Dong et al.).
    """

    def losses_of(pick: Fraction) -> tuple[Loss, ...]:
        return (BoundedRange(pick),) * top

    equal = calibrate_equal(top, epsilon=budget.epsilon, delta=budget.delta, failing=False)
    ranged = calibrate_pick(losses_of, epsilon=budget.epsilon, delta=budget.delta, failing=False)
    return {
        "basic": float(budget.epsilon / top),
        "optimal": float(equal.epsilon),
        "bounded range": float(ranged.pick_epsilon),
    }


@cache
def each(epsilon: str, delta: str, k: str) -> dict[str, float]:
    """The largest epsilon of one of k picks, by theorem."""
    return pick_epsilons(Budget(epsilon, delta), int(k))


def gain(settings: Settings) -> float:
    """How many times as much epsilon a pick gets by bounded range as by basic composition."""
    found = each(settings["epsilon"], settings["delta"], settings["k"])
    return found["bounded range"] / found["basic"]


@cache
def adding_up_is_best(epsilon: str, delta: str) -> int:
    """The largest k for which no other theorem gives a pick more than adding up; 0 if there is none."""
    k = 0
    while (found := each(epsilon, delta, str(k + 1)))["basic"] >= max(found.values()):
        k += 1
    return k


def _when(epsilon: str, delta: str) -> str:
    most = adding_up_is_best(epsilon, delta)
    if most == 0:
        return "the theorem for bounded range is best from the first pick on"
    return f"adding up is best for {'one pick only' if most == 1 else f'at most {most} picks'}"


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show what one budget gives each pick, and what equal picks cost together."""
    epsilon, delta, k = settings["epsilon"], settings["delta"], settings["k"]
    picks = "1 pick" if k == "1" else f"{k} picks"
    found = each(epsilon, delta, k)
    together = {
        "basic": int(k) * 0.1,
        "optimal": optimal_epsilon(0.1, 0.0, int(k), float(delta)),
        "bounded range": composed_epsilon(peeling_losses(int(k), Fraction(1, 10)), float(delta))[0],
    }
    return (
        Table(
            name="picks",
            head=("theorem", "epsilon of a pick", "so a lead of", "k picks of 0.1 cost together"),
            rows=tuple(
                (
                    f"{name}: {words}",
                    found[name],
                    math.ceil(math.log(19 * CANDIDATES) / found[name]),
                    together[name],
                )
                for name, words in THEOREMS.items()
            ),
            caption=f"**{picks} from epsilon {epsilon}, delta {delta}.** The columns show what each pick may spend, "
            f"and the lead in counts that an itemset then needs over {CANDIDATES:,} candidates, 19 times in 20. The "
            f"last column is the most that {picks} of epsilon 0.1 each cost together.",
            digits=4,
        ),
        Chart(
            name="shares",
            caption="**The epsilon of one pick** from the same budget, by the number of picks.",
            alt="The epsilon of a pick falls like 1/k if epsilons add up, and like one over the square root of k by "
            "the other theorems",
            x="picks (k)",
            y="epsilon of one pick",
            lines=lines_over(
                PICKS, {name: [each(epsilon, delta, place)[name] for place in PICKS] for name in THEOREMS}
            ),
            log_x=True,
            log_y=True,
            here=float(k),
        ),
        Paragraph(
            text="If epsilons add up, a pick gets epsilon/k, so the noise grows with k. The other two theorems use "
            "that losses partly cancel: some answers are likelier with a customer in the data, and others are less "
            "likely. Then for long lists a pick's epsilon falls only like 1 over the square root of k, at the price "
            "of a delta. At "
            f"epsilon {epsilon} and delta {delta}, {_when(epsilon, delta)}. The planner takes the theorem that gives "
            "the most."
        ),
    )


DEMO = Demo(
    name="composition",
    title="k picks from one budget",
    summary="k picks by peeling, and how much three theorems of composition let each pick spend",
    minutes=8,
    introduction=(
        Paragraph(
            text="To name the top k, pick one itemset after the other, and leave out the itemsets that are already "
            "picked. This is called **peeling**. Each pick costs privacy, and a theorem of composition says what the "
            "picks cost together. The mechanism and the data are the same for all three theorems below. Only the proof "
            "differs, and a better proof allows less noise."
        ),
        Bullets(
            items=(
                "**basic**: epsilons add up (Dwork and others 2006).",
                "**optimal**: the exact worst case for k picks that are each epsilon-private and nothing else "
                "(Kairouz, Oh, Viswanath 2015).",
                "**bounded range**: a pick of the exponential mechanism keeps more than it has to. One customer "
                "multiplies the chances of the answers by various factors. The logarithms of these factors span a "
                "range of epsilon; epsilon-privacy would allow twice as much. So such picks cost far less together "
                "(Durfee and Rogers 2019; Dong, Durfee and Rogers 2020).",
            )
        ),
    ),
    controls=(
        Control(name="k", what="how many picks", choices=PICKS, start="20"),
        Control(
            name="epsilon", what="the epsilon of all picks together", choices=("0.1", "0.5", "1", "2", "5"), start="1"
        ),
        Control(name="delta", what="the delta of all picks together", choices=("1e-3", "1e-6", "1e-9"), start="1e-6"),
    ),
    show=show,
    question=Question(
        text="From which k on does the theorem for bounded range give each pick at least three times as much epsilon "
        "as adding up? Does this depend on epsilon?",
        happens=lambda settings: gain(settings) >= 3,
        yes="yes: a pick gets at least three times as much, and needs a third of the lead.",
        no="no: a pick gets less than three times as much.",
    ),
)
