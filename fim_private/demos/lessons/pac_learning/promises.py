"""What the theorems promise a private learner: shells, Corollary 2 and equation (2), with a verdict (section 4.2)."""

from __future__ import annotations

import math

from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.lessons.pac_learning.bounds import DELTA_0, corollary_2, equation_2, margin_needed, shell, t_star
from fim_private.demos.lessons.pac_learning.lesson import (
    CAP,
    CLASSES,
    EXAMPLES,
    NEAR,
    PUBLISHED,
    TEXTBOOK,
    class_of,
    first_within,
    measured,
    published,
)
from fim_private.privacy import exact
from fim_private.report.document import Bullets, Paragraph, Table
from fim_private.report.document.text import number

ALPHA = "1"
SHELLS = 6


def promised(mechanism: str, name: str, alpha: str, n: str) -> float | None:
    """The bound on the excess error that holds 9 times in 10, or None if no bound is proved."""
    hypotheses, examples = class_of(name), int(n)
    if mechanism == TEXTBOOK:
        return equation_2(hypotheses, float(exact(alpha, "alpha")), examples)
    t = t_star(hypotheses, published(alpha), examples)
    if mechanism != PUBLISHED or t is None:
        return None
    size = shell(hypotheses, t + 1, examples)
    return corollary_2(hypotheses, published(alpha), examples, size)


def first_promise(name: str) -> str | None:
    """The first number of examples on the control for which Corollary 2 promises anything."""
    return next((n for n in EXAMPLES if promised(PUBLISHED, name, ALPHA, n) is not None), None)


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the promises beside the errors, then the shells that they come from, then a verdict."""
    n, name = settings["n"], settings["class"]
    hypotheses, examples = class_of(name), int(n)
    radius = hypotheses.radius(examples, DELTA_0)
    t = t_star(hypotheses, published(ALPHA), examples)
    shells = []
    for place in range(1, SHELLS + 1):
        size = shell(hypotheses, place, examples)
        needed = margin_needed(published(ALPHA), size) if size <= CAP else None
        behind = max(0, math.floor((place - 2) * radius * examples))
        shells.append((place, hypotheses.least + place * radius, number(size), behind, needed))
    found = (
        f"Here t* = {t}: the search can reduce the candidates to {shell(hypotheses, t + 1, examples):,}."
        if t is not None
        else "Here no shell has the margin it needs, so Corollary 2 promises nothing yet."
    )
    covered = [place for place in EXAMPLES if promised(PUBLISHED, name, ALPHA, place) is not None]
    return (
        Table(
            name="promises",
            head=("promise, 9 times in 10", "for", "excess error at most", "expected on one sample"),
            rows=(
                ("Corollary 2", PUBLISHED, promised(PUBLISHED, name, ALPHA, n), measured(PUBLISHED, name, ALPHA, n)),
                ("equation (2)", TEXTBOOK, promised(TEXTBOOK, name, ALPHA, n), measured(TEXTBOOK, name, ALPHA, n)),
                ("2r: the sample alone, without privacy", "–", 2 * radius, None),
            ),
            caption=f"**{number(hypotheses.size)} hypotheses, {examples:,} training examples, alpha {ALPHA}.** The "
            "excess error says how much more often the chosen hypothesis errs than the best one. A dash: nothing is "
            "promised. The last column is exact over the noise, on one seeded sample.",
            digits=4,
        ),
        Table(
            name="shells",
            head=("t", "error up to", "|H(t)|", "margin behind it", "margin needed"),
            rows=tuple(shells),
            caption="**Shells.** With probability 0.95, the error of every hypothesis in the sample is within r = "
            f"{radius:.4f} of its true error. Shell H(t) holds the hypotheses within t r of the best. The "
            "fourth column is the margin, in examples, that a sample has behind them; the last is the margin that the "
            f"search needs. A dash: the search does not look so far down. {found}",
            digits=3,
        ),
        Chart(
            name="bounds",
            caption="**What is promised**, by the number of examples. Corollary 2 begins where a shell has its margin.",
            alt="Both bounds fall towards 2r with the number of examples; Corollary 2 begins late",
            x="training examples",
            y="excess error at most",
            lines=(
                *lines_over(
                    EXAMPLES, {"equation (2)": [promised(TEXTBOOK, name, ALPHA, place) or 0.0 for place in EXAMPLES]}
                ),
                *lines_over(
                    covered, {"Corollary 2": [promised(PUBLISHED, name, ALPHA, place) or 0.0 for place in covered]}
                ),
                *lines_over(
                    EXAMPLES,
                    {"2r: the sample alone": [2 * hypotheses.radius(int(place), DELTA_0) for place in EXAMPLES]},
                ),
            ),
            log_x=True,
            log_y=True,
            here=float(n),
        ),
        Paragraph(text=verdict(name)),
    )


def verdict(name: str) -> str:
    """What Corollary 2 is worth for this class, on the control's numbers of examples."""
    start, within = first_promise(name), first_within(PUBLISHED, name, ALPHA)
    if start is None or within is None:
        return f"**Verdict with {name}:** Corollary 2 promises nothing for any number of examples on this control."
    corollary, equation = (promised(mechanism, name, ALPHA, start) or 1.0 for mechanism in (PUBLISHED, TEXTBOOK))
    sample = 2 * class_of(name).radius(int(start), DELTA_0)
    better = corollary < equation
    return (
        f"**Verdict with {name}:** Corollary 2 begins to promise at {int(start):,} examples: an excess error of at "
        f"most {corollary:.4f}. As measured, the mechanism is within {NEAR} of the best from {int(within):,} examples "
        f"on. {100 * sample / corollary:.0f} % of the bound is 2r, the error that the sample may cause with or without "
        "privacy. "
        f"Equation (2) promises {equation:.4f} there, so Corollary 2 is "
        + ("the better promise. " if better else "no better. ")
        + (
            "The number of useless hypotheses does not matter to it."
            if better
            else "It gains only in larger classes with many useless hypotheses, such as `texts`."
        )
    )


DEMO = Demo(
    name="pac-bounds",
    title="What a theorem promises, and when",
    summary="Corollary 2 of the large margin mechanism with all its constants: shells, margins and a verdict",
    minutes=9,
    introduction=(
        Paragraph(
            text="The last lesson measured errors. Here is what is **proved** about them before any example is seen. "
            "(The classes of hypotheses are the same: `fim-private demo pac-learning`.)"
        ),
        Bullets(
            items=(
                "**Equation (2)**, for the exponential mechanism: the bound grows with the logarithm of the number of "
                "all hypotheses.",
                "**Corollary 2**, for the large margin mechanism: if some shell of near-best hypotheses has a wide "
                "enough margin behind it, the bound grows with the logarithm of the size of this shell only. If there "
                "is no such shell, nothing is promised.",
            )
        ),
    ),
    controls=(
        Control(name="n", what="training examples", choices=EXAMPLES, start="3000"),
        Control(name="class", what="the hypotheses", choices=tuple(CLASSES), start="texts"),
    ),
    show=show,
    question=Question(
        text="From how many examples on does Corollary 2 promise anything? Is its promise then better than that of "
        "equation (2)? Compare the classes.",
        happens=lambda settings: promised(PUBLISHED, settings["class"], ALPHA, settings["n"]) is not None,
        yes="yes: a shell has the margin it needs, and Corollary 2 gives a bound.",
        no="no: Corollary 2 promises nothing yet.",
    ),
)
