"""The margin. A gap in the counts certifies a short list of candidates. The search, step by step."""

from __future__ import annotations

import math
from functools import cache

from fim_private.accounting.search import least
from fim_private.demos.chart import Chart, Line
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import mechanism_of, pairs_plan
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.sparse_vector import discrete_laplace_law, search_law
from fim_private.plan import Universe
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_laplace import sample_discrete_laplace
from fim_private.report.document import Paragraph, Table

K, TOP_COUNT, SEED = 3, 600, 5
POINTS = 24
"""The number of points of the curve, about."""
GOODS = 45_000
"""The number of goods on a public list. They make about 10^9 pairs."""
WANTED = 0.95
"""19 times in 20."""


@cache
def mechanism() -> LargeMargin:
    """The large margin mechanism for three picks at epsilon 1. It has no fallback, which would hide the search."""
    return mechanism_of(LargeMargin, pairs_plan("lmm-no-fallback", top=K, epsilon="1"))


def counts(gap: str, behind: str) -> list[int]:
    """Near-equal counts, then the gap, then a slow fall."""
    near = [TOP_COUNT - place for place in range(int(behind))]
    return near + [max(0, near[-1] - int(gap) - place // 8) for place in range(3 * 1024 + 2)]


def excesses(gap: str, behind: str) -> list[tuple[int, int, int]]:
    """For each test: l, the gap c_(k) - c_(l+1), and the threshold."""
    profile = CountProfile.of(counts(gap, behind))
    return [(size, profile.count(K) - profile.count(size + 1), needed) for size, needed in mechanism().tests]


@cache
def stops(gap: str, behind: str) -> tuple[float, ...]:
    """The exact chance that the search stops at each test. The last chance is that it never stops."""
    scale = float(mechanism().scale)
    tests = [found - needed for _, found, needed in excesses(gap, behind)]
    return tuple(search_law(tests, shift_law=discrete_laplace_law(scale), query_scale=scale).tolist())


def one_run(gap: str, behind: str) -> tuple[int, list[tuple[int, int]]]:
    """One seeded search, draw by draw as `mechanisms.sparse_vector.search` makes it: G, and (Z, excess + Z) a test."""
    randomness = SeededRandomness(SEED)
    shift = sample_discrete_laplace(mechanism().scale, randomness)
    tried = []
    for _, found, needed in excesses(gap, behind):
        noise = sample_discrete_laplace(mechanism().scale, randomness)
        tried.append((noise, found - needed + noise))
        if tried[-1][1] >= shift:
            break
    return shift, tried


@cache
def in_time(gap: str, behind: str) -> float:
    """The chance that the search stops no later than at the first test whose l reaches the gap."""
    reached = next(place for place, (size, _) in enumerate(mechanism().tests) if size >= int(behind))
    return sum(stops(gap, behind)[: reached + 1])


@cache
def gap_needed(behind: str) -> int:
    """The narrowest gap that the search finds in time, 19 times in 20."""
    return least(lambda gap: in_time(str(gap), behind) >= WANTED, near=200)


def missed(candidates: int, rate: float) -> int:
    """19 times in 20, a pick misses the best of this many candidates by at most this many customers."""
    return math.ceil(math.log(20 * candidates) / rate)


@cache
def listed_rate() -> float:
    """The epsilon of a pick of the exponential mechanism, which spends nothing on a search but needs the list."""
    universe = Universe(items=GOODS, listed=True)
    return float(
        mechanism_of(Exponential, pairs_plan("exponential", top=K, epsilon="1", universe=universe)).pick_epsilon
    )


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the curve with the thresholds, one whole search, and what the search saves."""
    gap, behind = settings["gap"], settings["behind"]
    tests, chances = excesses(gap, behind), stops(gap, behind)
    shift, tried = one_run(gap, behind)
    signed = f"{shift:+d}".replace("-", "\N{MINUS SIGN}")
    drawn = counts(gap, behind)[: 2 * tests[5][0]]
    # Enough places for a curve: both sides of the gap, and some more that are evenly spaced on a logarithmic axis.
    steps = {round(len(drawn) ** (step / POINTS)) for step in range(POINTS + 1)}
    curve = sorted({1, int(behind), int(behind) + 1, len(drawn)} | steps)
    bar = drawn[K - 1]
    below = [(size + 1, bar - needed) for size, _, needed in tests if size + 1 <= len(drawn)]
    rows: list[tuple[str, int | None, int | None, int | None, str, str]] = []
    for place, ((size, found, needed), chance) in enumerate(zip(tests, chances, strict=False)):
        noise, verdict = None, "–"
        if place < len(tried):
            noise = tried[place][0]
            verdict = "yes" if tried[place][1] >= shift else "no"
        rows.append((f"{size:,}", found, needed, noise, verdict, f"{100 * chance:.1f} %"))
    rows.append(("none", None, None, None, "", f"{100 * chances[len(tests)]:.1f} %"))
    stopped = tests[len(tried) - 1][0] if tried[-1][1] >= shift else None
    declared = math.comb(GOODS, 2)
    with_list = missed(declared, listed_rate())
    reached = next(size for size, _ in mechanism().tests if size >= int(behind))
    with_gap = missed(reached, float(mechanism().rate))
    needed_gap = gap_needed(behind)
    beyond = needed_gap * listed_rate() / math.log(10) - math.log10(20)
    return (
        Chart(
            name="curve",
            caption="**The counts, and what the search tests.** The curve shows the counts by place, with a gap of "
            f"{gap} behind place {behind}. Each point shows how far the curve must have fallen from the {K}rd count "
            "for the search to stop there. Without noise the search stops at the first point that is not below the "
            "curve.",
            alt="Counts by place in the ranking, with a gap, and the thresholds of the search",
            x="place in the ranking",
            y="count",
            lines=(
                Line(label="counts", x=tuple(map(float, curve)), y=tuple(float(drawn[place - 1]) for place in curve)),
                Line(
                    label="must be no higher than this",
                    x=tuple(float(place) for place, _ in below),
                    y=tuple(float(count) for _, count in below),
                    joined=False,
                ),
            ),
            log_x=True,
        ),
        Table(
            name="search",
            head=("l", "gap c(3) - c(l+1)", "threshold", "noise Z", "stop?", "chance"),
            rows=tuple(rows),
            caption="**One search, step by step.** First the search draws G, the noise that it adds to every "
            f"threshold: {signed} here. Then it tests l = 3, 6, 12, ..., each time with fresh noise Z, until gap + Z "
            "is at least threshold + G. The last column is the exact chance that a search ends in this row, over all "
            f"noise ('none': no gap was found). The chance to stop by l = {reached}, the first l that reaches the gap, "
            f"is {100 * in_time(gap, behind):.1f} %.",
        ),
        Paragraph(
            text=f"This search stops at l = {stopped}: the mechanism makes its three picks among the top {stopped} "
            "alone."
            if stopped
            else "This search finds no gap and names nothing. (In practice the mechanism then falls back on the "
            "limited domain.)"
        ),
        Paragraph(
            text=f"**What the gap saves.** Take a public list of {GOODS:,} goods, so {declared:,} pairs. "
            "The exponential mechanism picks among all of them. 19 times in 20, a pick misses the best by at most "
            f"{with_list} customers. With the gap found, the pick is among {reached} candidates, and misses the best "
            f"by at most {with_gap}. **What the gap costs.** To be found 19 times in 20, a gap behind place {behind} "
            f"must be {needed_gap} customers wide. "
            + (
                "That is more than it saves: with such a gap, the exponential mechanism hardly ever picks from below "
                "it either. "
                if needed_gap > with_list
                else ""
            )
            + "So the search pays if there is no public list at all, or if the list declares more than about "
            f"10^{beyond:.0f} candidates, as classes in private learning can (`fim-private demo pac-learning`)."
        ),
        Paragraph(
            text="**The other way round.** The large margin mechanism asks for a gap before it chooses. One can also "
            "choose first and ask for support afterwards, which needs no gap: `fim-private demo certificate`."
        ),
    )


DEMO = Demo(
    name="margin",
    title="Why a gap makes selection cheap",
    summary="the large margin mechanism's search for a gap, drawn step by step",
    minutes=9,
    introduction=(
        Paragraph(
            text="To name the three most frequent pairs privately, a mechanism draws them at random, and frequent "
            "pairs have a higher chance. This is cheap if there are few candidates. But the list of candidates is "
            "private too: a single customer may bring a pair into the top 12 or push it out."
        ),
        Paragraph(
            text="Chaudhuri, Hsu and Song (2014) saw that only the **number** l of candidates has to be found "
            "privately. Suppose there is a wide gap in the counts behind place l. Then a pair that one customer could "
            "bring in or push out lies below the gap, and is almost never drawn. The size of the gap is one number, "
            "and one customer changes it by at most 1, so it needs little noise."
        ),
    ),
    controls=(
        Control(
            name="gap",
            what="how wide the gap is, in customers",
            choices=("0", "80", "120", "160", "200", "240", "280", "400"),
            start="200",
        ),
        Control(name="behind", what="the place that the gap is behind", choices=("3", "10", "40"), start="10"),
    ),
    show=show,
    question=Question(
        text="How wide must the gap be for the search to find it 19 times in 20? The search finds the gap if it stops "
        "at the first l that reaches the gap, or before. With behind=3 the only candidates are the top three. Why is a "
        "smaller gap enough then?",
        happens=lambda settings: in_time(settings["gap"], settings["behind"]) >= WANTED,
        yes="yes, the search stops in time at least 19 times in 20.",
        no="no, the search is too likely to miss the gap.",
    ),
)
