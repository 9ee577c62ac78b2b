"""Lesson: private learning. The class of hypotheses as a universe, its shells as margins (section 4.2 of the paper)."""

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
"""The published search ends at so many candidates, a public number."""

DELTA_0 = ETA = 0.05
SEED = 4
NEGLIGIBLE = 1e-9
UNKNOWN = 0.5
"""The error of no answer: a toss of a coin."""

CLASSES = {"thresholds": 0, "stumps": 3886, "barcodes": 10**14, "texts": 10**120}
"""Declared features of the stumps, one more than occur at least."""

EXAMPLES = ("300", "1000", "3000", "10000", "30000", "100000", "300000")
PUBLISHED, TEXTBOOK = "lmm-paper", "exponential-textbook"
MECHANISMS = (PUBLISHED, TEXTBOOK, "lmm", "exponential")


def class_of(name: str) -> HypothesisClass:
    """The class of this place of the control."""
    return stumps(CLASSES[name]) if CLASSES[name] else thresholds()


@cache
def sample_of(name: str, n: str) -> Sample:
    """One training sample, the same each time."""
    return draw(class_of(name), int(n), SeededRandomness(SEED))


def published(alpha: str) -> PublishedLargeMargin:
    """Algorithm 1, for one pick."""
    return PublishedLargeMargin(
        top=1, alpha=exact(alpha, "alpha"), selection_delta=DELTA, max_candidates=CAP
    )  # fmt: skip


def mechanism_of(mechanism: str, name: str, alpha: str) -> Mechanism:
    """A mechanism of the registry for one pick among the hypotheses, as it would pick an itemset."""
    if mechanism == PUBLISHED:
        return published(alpha)
    request = Request(top=1, epsilon=exact(alpha, "alpha"), delta=DELTA, universe_size=class_of(name).size)
    made: Mechanism = find(mechanism).calibrate(request).mechanism  # type: ignore[assignment]
    return made


def outcomes(mechanism: Mechanism, sample: Sample) -> list[tuple[float, float]]:
    """The exact law of the true error that is got on this sample: (error, chance)."""
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
    """The excess error to be expected of a mechanism on the sample of this size, exactly over its noise."""
    got = outcomes(mechanism_of(mechanism, name, alpha), sample_of(name, n))
    excess = math.fsum(error * chance for error, chance in got) - class_of(name).least
    return excess if excess > NEGLIGIBLE else 0.0


def promised(mechanism: str, name: str, alpha: str, n: str) -> float | None:
    """The bound on it that holds nine times in ten; None where there is none."""
    hypotheses, examples = class_of(name), int(n)
    if mechanism == TEXTBOOK:
        return equation_2(hypotheses, float(exact(alpha, "alpha")), examples, delta_0=DELTA_0, eta=ETA)
    t = t_star(hypotheses, published(alpha), examples, delta_0=DELTA_0, eta=ETA)
    if mechanism != PUBLISHED or t is None:
        return None
    size = shell(hypotheses, t + 1, examples, DELTA_0)
    return corollary_2(hypotheses, published(alpha), examples, size, delta_0=DELTA_0, eta=ETA)


def show(settings: Settings) -> tuple[Shown, ...]:
    """Shells, errors beside bounds, and both over n."""
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
        f"Here t* = {t}: the candidates can be narrowed down to {shell(hypotheses, t + 1, examples, DELTA_0):,}."
        if t is not None
        else "Here there is no such t: Corollary 2 promises nothing yet, whatever the mechanism does."
    )
    return (
        Table(
            name="errors",
            head=("mechanism", "excess error, expected", "bound, 9 times in 10"),
            rows=tuple(
                (mechanism, measured(mechanism, name, alpha, n), promised(mechanism, name, alpha, n))
                for mechanism in MECHANISMS
            ),
            caption=f"**{number(hypotheses.size)} hypotheses, {examples:,} training examples, alpha {alpha}.** How "
            f"much more than the best ({hypotheses.least:.3f}) the chosen hypothesis errs, exactly over the "
            "mechanism's noise on one seeded sample, beside what the paper promises: Corollary 2 for `lmm-paper`, "
            "equation (2) for `exponential-textbook`. Naming nothing counts as a toss of a coin.",
            mechanism_column=0,
            digits=4,
        ),
        Table(
            name="shells",
            head=("t", "error up to", "|H(t)|", "margin behind it", "margin needed"),
            rows=tuple(shells),
            caption=f"**Shells.** The radius of uniform convergence is r = {radius:.4f}; H(t) holds the hypotheses "
            "within t r of the best. A sample has the margin of the fourth column behind them, in examples; the "
            f"search needs that of the last (a dash: it does not look so far down). {verdict}",
            digits=3,
        ),
        Chart(
            name="errors",
            caption="**Excess error by the number of examples.** The two published mechanisms, and their calibrated "
            "forms.",
            alt="Expected excess error of four mechanisms falling with the number of training examples",
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
            text="**What to see.** The exponential mechanism pays the logarithm of all hypotheses, the large margin "
            "mechanism that of the near-best ones; but its constants are large. With `stumps` the whole class is "
            "cheaper than the search. With `barcodes` the search pays where examples are few, and with `texts`, of "
            "which hardly any says anything, it needs a third of the examples; there the bound of Corollary 2 is "
            "below that of equation (2) as well. Among `thresholds` errors rise evenly: there is no gap to find. And "
            "all bounds are far above what is measured: most of them is 2r, what a sample may deviate, which privacy "
            "has no part in."
        ),
    )  # fmt: skip


DEMO = Demo(
    name="pac-learning",
    title="Learning as a selection",
    summary="private PAC learning: hypotheses as candidates, shells as margins, bounds beside measured errors",
    minutes=9,
    introduction=(
        Paragraph(
            text="To learn privately from a finite class of hypotheses is to select: a hypothesis is a candidate, "
            "and its count the number of training examples it classifies correctly. One example more or less changes "
            "each count by 1 at most. The mechanisms that pick itemsets pick hypotheses as they are."
        ),
        Bullets(
            items=(
                "`thresholds`: 4,097 places on a line, one label in ten wrong.",
                "`stumps`: is a customer of the shop one with many goods? To be told from having, or not having, "
                "one of its items.",
                "`barcodes`: the same, with a feature for each of 10^14 barcodes. Almost none occurs.",
                "`texts`: with a feature for each name of up to 84 letters, about 10^120 of them.",
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
        yes="the chosen hypothesis is within 0.01 of the best.",
        no="not within 0.01 of the best.",
    ),
)
