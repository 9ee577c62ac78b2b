"""Private learning is a selection: hypotheses are candidates, and counts are of right answers (section 4.2)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.lessons.pac_learning.classes import HypothesisClass, Sample, draw, stumps, thresholds
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

SEED = 4
NEGLIGIBLE = 1e-9
UNKNOWN = 0.5
"""The error of a run without an answer: a coin toss."""

CLASSES = {"thresholds": 0, "stumps": 3886, "barcodes": 10**14, "texts": 10**120}
"""How many features the stumps declare: more than occur. 0 stands for the thresholds."""

EXAMPLES = ("300", "1000", "3000", "10000", "30000", "100000", "300000")
PUBLISHED, TEXTBOOK = "lmm-paper", "exponential-textbook"
MECHANISMS = {PUBLISHED: "published", TEXTBOOK: "published", "lmm": "calibrated", "exponential": "calibrated"}
NEAR = 0.01


def class_of(name: str) -> HypothesisClass:
    """The class of this place of the control."""
    return stumps(CLASSES[name]) if CLASSES[name] else thresholds()


@cache
def sample_of(name: str, n: str) -> Sample:
    """One training sample. The fixed seed makes it the same each time."""
    return draw(class_of(name), int(n), SeededRandomness(SEED))


def published(alpha: str) -> PublishedLargeMargin:
    """Algorithm 1 of the paper, for one pick."""
    return PublishedLargeMargin(top=1, alpha=exact(alpha, "alpha"), selection_delta=DELTA, max_candidates=CAP)


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


@cache
def first_within(mechanism: str, name: str, alpha: str) -> str | None:
    """From which number of examples on, of those on the control, the mechanism is within `NEAR` of the best."""
    found = None
    for n in reversed(EXAMPLES):
        if measured(mechanism, name, alpha, n) > NEAR:
            break
        found = n
    return found


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the errors at these settings, from where on they are small, and the errors by the number of examples."""
    n, name, alpha = settings["n"], settings["class"], settings["alpha"]
    hypotheses = class_of(name)
    firsts = {mechanism: first_within(mechanism, name, alpha) for mechanism in MECHANISMS}
    return (
        Table(
            name="errors",
            head=("mechanism", "constants", "excess error", f"within {NEAR} from n ="),
            rows=tuple(
                (mechanism, constants, measured(mechanism, name, alpha, n), _examples(firsts[mechanism]))
                for mechanism, constants in MECHANISMS.items()
            ),
            caption=f"**{number(hypotheses.size)} hypotheses, {int(n):,} training examples, alpha {alpha}.** The "
            "excess error says how much more often the chosen hypothesis errs than the best one, whose error is "
            f"{hypotheses.least:.3f}. It is the expectation over the mechanism's noise, exact, on one seeded sample. A "
            "run that names nothing counts as a coin toss. The last column tries only the values of the control.",
            mechanism_column=0,
            digits=4,
        ),
        Chart(
            name="errors",
            caption="**Excess error by the number of examples.** The lines show the two published mechanisms, and the "
            "same two with calibrated constants.",
            alt="The expected excess error of four mechanisms falls with the number of training examples",
            x="training examples",
            y="excess error",
            lines=lines_over(
                EXAMPLES, {each: [measured(each, name, alpha, place) for place in EXAMPLES] for each in MECHANISMS}
            ),
            log_x=True,
            here=float(n),
        ),
        Paragraph(
            text=f"**With {name}:** {_order(firsts)} The error of the exponential mechanism grows with the logarithm "
            f"of the number of all hypotheses, here {math.log(hypotheses.size):.0f}. The error of the large margin "
            "mechanism grows with the logarithm of the number of near-best hypotheses only, and it may need more "
            "examples to find the gap behind them. So it gains where nearly all hypotheses are useless, as with "
            "`texts`, and not where the errors rise evenly, as with `thresholds`."
        ),
        Paragraph(
            text="What the theorems promise about these errors is another question: `fim-private demo pac-bounds`."
        ),
    )


def _examples(n: str | None) -> str:
    return "–" if n is None else f"{int(n):,}"


def _order(firsts: dict[str, str | None]) -> str:
    """Say which mechanism is near the best from which number of examples on."""
    reached: dict[int, list[str]] = {}
    for mechanism, n in firsts.items():
        if n is not None:
            reached.setdefault(int(n), []).append(f"`{mechanism}`")
    parts = [f"{' and '.join(names)} from {n:,} examples on" for n, names in sorted(reached.items())]
    if not parts:
        return f"no mechanism comes within {NEAR} of the best on this control."
    return f"these come within {NEAR} of the best: {', '.join(parts)}."


DEMO = Demo(
    name="pac-learning",
    title="Learning as a selection",
    summary="private learning: hypotheses as candidates, and which mechanism finds a good one from few examples",
    minutes=7,
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
        text="From how many examples on is the published large margin mechanism (lmm-paper) within 0.01 of the best "
        "hypothesis? Then change the class: where does the large margin mechanism win, with calibrated constants?",
        happens=lambda settings: measured(PUBLISHED, settings["class"], settings["alpha"], settings["n"]) <= NEAR,
        yes="yes: the chosen hypothesis is within 0.01 of the best.",
        no="no: the chosen hypothesis is not within 0.01 of the best.",
    ),
)
