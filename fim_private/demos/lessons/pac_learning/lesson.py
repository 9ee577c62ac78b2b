"""Lesson 8: private learning. The class of hypotheses is a universe, and its shells are margins (section 4.2)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from fim_private.demos.chart import Chart, Line
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.lessons.pac_learning.bounds import corollary_2, equation_2, margin_needed
from fim_private.demos.lessons.pac_learning.classes import HypothesisClass, Sample, draw, stumps, thresholds
from fim_private.demos.lessons.pac_learning.shells import shell, t_star
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.protocol import Mechanism, Request
from fim_private.mechanisms.registry import find
from fim_private.privacy import exact
from fim_private.randomness import SeededRandomness
from fim_private.report.document import Bullets, Paragraph, Table
from fim_private.report.document.text import number

DELTA = Fraction(1, 10**6)
CAP = 256
"""The published search ends at this public number of candidates."""

DELTA_0 = ETA = 0.05
SEED = 4
NEGLIGIBLE = 1e-9
UNKNOWN = 0.5
"""The error of a run without an answer: a coin toss."""

CLASSES = {"thresholds": 0, "stumps": 3886, "barcodes": 10**14, "texts": 10**120}
"""How many features the stumps declare: more than occur. 0 stands for the thresholds."""

EXAMPLES = ("300", "1000", "3000", "10000", "30000", "100000", "300000")
PUBLISHED, TEXTBOOK = "lmm-paper", "exponential-textbook"
MECHANISMS = (PUBLISHED, TEXTBOOK, "lmm", "exponential")


def class_of(name: str) -> HypothesisClass:
    """The class of this place of the control."""
    return stumps(CLASSES[name]) if CLASSES[name] else thresholds()


@cache
def sample_of(name: str, n: str) -> Sample:
    """One training sample. The fixed seed makes it the same each time."""
    return draw(class_of(name), int(n), SeededRandomness(SEED))


def published(alpha: str) -> PublishedLargeMargin:
    """Algorithm 1 of the paper, for one pick."""
    return PublishedLargeMargin(
        top=1, alpha=exact(alpha, "alpha"), selection_delta=DELTA, max_candidates=CAP
    )  # fmt: skip


def mechanism_of(mechanism: str, name: str, alpha: str) -> Mechanism:
    """A mechanism of the registry, made to pick one of the hypotheses."""
    if mechanism == PUBLISHED:
        return published(alpha)
    request = Request(top=1, epsilon=exact(alpha, "alpha"), delta=DELTA, universe_size=class_of(name).size)
    made: Mechanism = find(mechanism).calibrate(request).mechanism  # type: ignore[assignment]
    return made


def outcomes(mechanism: Mechanism, sample: Sample) -> list[tuple[float, float]]:
    """The exact law of the chosen hypothesis' true error on this sample: (error, chance)."""
    got: list[tuple[float, float]] = []
    for picked, chance in mechanism.law(sample.counts).items():
        if not picked or picked[0] >= len(sample.errors):
            got.append((UNKNOWN, chance))
            continue
        errors, shares = sample.errors[picked[0]], sample.shares[picked[0]]
        got += [(error, chance * share) for error, share in zip(errors.tolist(), shares.tolist(), strict=True)]
    return got


@cache
def measured(mechanism: str, name: str, alpha: str, n: str) -> float:
    """The expected excess error of a mechanism on the sample of this size, exact over its noise."""
    got = outcomes(mechanism_of(mechanism, name, alpha), sample_of(name, n))
    excess = math.fsum(error * chance for error, chance in got) - class_of(name).least
    return excess if excess > NEGLIGIBLE else 0.0


def promised(mechanism: str, name: str, alpha: str, n: str) -> float | None:
    """The bound on the excess error that holds 9 times in 10, or None if no bound is proved."""
    hypotheses, examples = class_of(name), int(n)
    if mechanism == TEXTBOOK:
        return equation_2(hypotheses, float(exact(alpha, "alpha")), examples, delta_0=DELTA_0, eta=ETA)
    t = t_star(hypotheses, published(alpha), examples, delta_0=DELTA_0, eta=ETA)
    if mechanism != PUBLISHED or t is None:
        return None
    size = shell(hypotheses, t + 1, examples, DELTA_0)
    return corollary_2(hypotheses, published(alpha), examples, size, delta_0=DELTA_0, eta=ETA)


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the errors with their bounds, the shells, and the errors by the number of examples."""
    n, name, alpha = settings["n"], settings["class"], settings["alpha"]
    hypotheses, examples = class_of(name), int(n)
    radius = hypotheses.radius(examples, DELTA_0)
    t = t_star(hypotheses, published(alpha), examples, delta_0=DELTA_0, eta=ETA)
    shells = []
    for place in range(1, 7):
        size = shell(hypotheses, place, examples, DELTA_0)
        needed = margin_needed(published(alpha), size, ETA) if size <= CAP else None
        behind = max(0, math.floor((place - 2) * radius * examples))
        shells.append((place, hypotheses.least + place * radius, number(size), behind, needed))
    verdict = (
        f"Here t* = {t}: the search can reduce the candidates to {shell(hypotheses, t + 1, examples, DELTA_0):,}."
        if t is not None
        else "Here no shell has the margin it needs, so Corollary 2 promises nothing yet."
    )
    return (
        Table(
            name="errors",
            head=("mechanism", "excess error, expected", "bound, 9 times in 10"),
            rows=tuple(
                (mechanism, measured(mechanism, name, alpha, n), promised(mechanism, name, alpha, n))
                for mechanism in MECHANISMS
            ),
            caption=f"**{number(hypotheses.size)} hypotheses, {examples:,} training examples, alpha {alpha}.** The "
            "excess error says how much more the chosen hypothesis errs than the best, whose error is "
            f"{hypotheses.least:.3f}. It is exact over the mechanism's noise, on one seeded sample. The last column is "
            "the paper's promise: Corollary 2 for `lmm-paper`, and equation (2) for `exponential-textbook`. A run that "
            "names nothing counts as a coin toss.",
            mechanism_column=0,
            digits=4,
        ),
        Table(
            name="shells",
            head=("t", "error up to", "|H(t)|", "margin behind it", "margin needed"),
            rows=tuple(shells),
            caption=f"**Shells.** The radius of uniform convergence is r = {radius:.4f}; H(t) holds the hypotheses "
            "within t r of the best. The fourth column is the margin, in examples, that a sample has behind them. The "
            "last column is the margin that the search needs. A dash means that the search does not look so far down. "
            f"{verdict}",
            digits=3,
        ),
        Chart(
            name="errors",
            caption="**Excess error by the number of examples.** The lines show the two published mechanisms and their "
            "calibrated forms.",
            alt="The expected excess error of four mechanisms falls with the number of training examples",
            x="training examples",
            y="excess error",
            lines=tuple(
                Line(
                    label=mechanism,
                    x=tuple(map(float, EXAMPLES)),
                    y=tuple(measured(mechanism, name, alpha, place) for place in EXAMPLES),
                )
                for mechanism in MECHANISMS
            ),
            log_x=True,
            here=float(n),
        ),
        Paragraph(
            text="**What to see.** The error of the exponential mechanism grows with the logarithm of the number of "
            "all hypotheses. The error of the large margin mechanism grows with the logarithm of the number of "
            "near-best hypotheses, but its constants are large. With `stumps` the exponential mechanism is better. "
            "With `barcodes` the large margin mechanism is better if there are few examples. With `texts`, where "
            "hardly any feature occurs, it needs a third of the examples. There the bound of Corollary 2 is also below "
            "the bound of equation (2). With `thresholds` the errors rise evenly, so there is no gap to find. All "
            "bounds are far above the measured errors. Most of each bound is 2r, by which a sample may deviate with or "
            "without privacy."
        ),
    )  # fmt: skip


DEMO = Demo(
    name="pac-learning",
    title="Learning as a selection",
    summary="private PAC learning: hypotheses as candidates, shells as margins, bounds beside measured errors",
    minutes=9,
    introduction=(
        Paragraph(
            text="Learning privately from a finite class of hypotheses is a selection. Each hypothesis is a candidate, "
            "and its count is the number of training examples that it classifies correctly. One example more or less "
            "changes each count by at most 1. So the mechanisms that pick itemsets can pick hypotheses without any "
            "change."
        ),
        Bullets(
            items=(
                "`thresholds`: 4,097 places on a line, one label in ten wrong.",
                "`stumps`: does a customer of the shop have many goods? A hypothesis tells from whether the customer "
                "has a certain item.",
                "`barcodes`: the same question, with a feature for each of 10^14 barcodes. Almost none of them occurs.",
                "`texts`: the same question, with a feature for each name of up to 84 letters. There are about 10^120 "
                "such names.",
            )
        ),
    ),
    controls=(
        Control(name="n", what="training examples", choices=EXAMPLES, start="3000"),
        Control(name="class", what="the hypotheses", choices=tuple(CLASSES), start="texts"),
        Control(name="alpha", what="epsilon of the pick", choices=("0.5", "1", "2"), start="1"),
    ),
    show=show,
    question=Question(
        text="From how many examples on does the published large margin mechanism err by at most 0.01 more than the "
        "best hypothesis, and from how many does Corollary 2 promise anything?",
        happens=lambda settings: measured(PUBLISHED, settings["class"], settings["alpha"], settings["n"]) <= 0.01,
        yes="yes: the chosen hypothesis is within 0.01 of the best.",
        no="no: the chosen hypothesis is not within 0.01 of the best.",
    ),
)
