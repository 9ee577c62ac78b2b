"""Lesson 6: composition. What k picks from one budget get each, by three theorems."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from fim_private.accounting.optimal_composition import optimal_epsilon
from fim_private.accounting.renyi_composition import renyi_epsilon
from fim_private.comparison.composition_gain import pick_epsilons
from fim_private.demos.chart import Chart, Line
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.mechanisms.peeling import peeling_losses
from fim_private.privacy import Budget
from fim_private.report.document import Bullets, Paragraph, Table

PICKS = ("1", "2", "5", "10", "20", "50", "100", "200", "500")
CANDIDATES = 10**6
THEOREMS = {
    "basic": "they add up",
    "optimal": "optimal for any private pick",
    "bounded range": "Rényi, for picks of bounded range",
}


@cache
def each(epsilon: str, delta: str, k: str) -> dict[str, float]:
    """The largest epsilon of one of k picks, by theorem."""
    return pick_epsilons(Budget(epsilon, delta), int(k))


def gain(settings: Settings) -> float:
    """How many times what basic composition gives a pick, bounded range gives it."""
    found = each(settings["epsilon"], settings["delta"], settings["k"])
    return found["bounded range"] / found["basic"]


def show(settings: Settings) -> tuple[Shown, ...]:
    """One budget shared out, then the other way round: what equal picks add up to."""
    epsilon, delta, k = settings["epsilon"], settings["delta"], settings["k"]
    found = each(epsilon, delta, k)
    together = {
        "basic": int(k) * 0.1,
        "optimal": optimal_epsilon(0.1, 0.0, int(k), float(delta)),
        "bounded range": renyi_epsilon(peeling_losses(int(k), Fraction(1, 10)), float(delta)),
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
            caption=f"**{k} picks from epsilon {epsilon}, delta {delta}.** What each may spend; the lead in counts "
            f"that an itemset then needs over {CANDIDATES:,} candidates, 19 times in 20; and, the other way round, "
            f"what {k} picks of epsilon 0.1 each are proved to cost together.",
            digits=4,
        ),
        Chart(
            name="shares",
            caption="**The epsilon of one pick** by the number of picks, from the same budget.",
            alt="The epsilon of a pick falls like 1/k by adding up and like one over the root of k by the others",
            x="picks (k)",
            y="epsilon of one pick",
            lines=tuple(
                Line(
                    label=name,
                    x=tuple(map(float, PICKS)),
                    y=tuple(each(epsilon, delta, place)[name] for place in PICKS),
                )
                for name in THEOREMS
            ),
            log_x=True,
            log_y=True,
            here=float(k),
        ),
        Paragraph(
            text="By adding up, a pick gets epsilon/k: the noise grows with k. The others use that losses partly "
            "cancel, for an answer that is likelier with a customer is made up for by others that are less likely; "
            "then a pick gets about epsilon over the root of k, and delta pays. For few picks adding up is the best "
            "there is, and a planner should take whichever gives most, as the planner here does."
        ),
    )


DEMO = Demo(
    name="composition",
    title="k picks from one budget",
    summary="k picks by peeling, and what three theorems of composition let each of them spend",
    minutes=8,
    introduction=(
        Paragraph(
            text="To name the top k, pick one itemset after the other, each time without those picked already: "
            "**peeling**. Each pick costs privacy, and a theorem of composition says what they cost together. The "
            "mechanism and the data are the same for all three theorems below; only the proof differs, and a better "
            "proof is less noise."
        ),
        Bullets(
            items=(
                "**basic**: epsilons add up (Dwork and others 2006).",
                "**optimal**: the exact worst case for k picks that are each epsilon-private and nothing else "
                "(Kairouz, Oh, Viswanath 2015).",
                "**bounded range**: a pick of the exponential mechanism is more than private: the logarithms of its "
                "ratios span a range of epsilon, not of twice epsilon. By Rényi divergence this composes far better "
                "(Durfee and Rogers 2019; Dong, Durfee and Rogers 2020).",
            )
        ),
    ),
    controls=(
        Control(name="k", what="how many picks", choices=PICKS, start="20"),
        Control(name="epsilon", what="of all picks together", choices=("0.1", "0.5", "1", "2", "5"), start="1"),
        Control(name="delta", what="likewise", choices=("1e-3", "1e-6", "1e-9"), start="1e-6"),
    ),
    show=show,
    question=Question(
        text="From which k on does the theorem for bounded range give each pick at least three times what adding up "
        "gives?",
        happens=lambda settings: gain(settings) >= 3,
        yes="yes: at least three times as much, so a third of the lead.",
        no="not three times as much.",
    ),
)
