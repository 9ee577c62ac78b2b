"""Lesson 3: the margin. A gap in the counts certifies a short list of candidates. The search, step by step."""

from __future__ import annotations

import math
from functools import cache

from fim_private.demos.chart import Chart, Line
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import mechanism_of, pairs_plan
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.sparse_vector import discrete_laplace_law, search_law
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_laplace import sample_discrete_laplace
from fim_private.report.document import Paragraph, Table
from fim_private.report.document.text import number

K, TOP_COUNT, SEED = 3, 600, 5
DECLARED = 10**9
"""The number of pairs that a list of 45,000 goods declares, about."""


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


def in_time(settings: Settings) -> float:
    """The chance that the search stops no later than at the first test whose l reaches the gap."""
    gap, behind = settings["gap"], settings["behind"]
    reached = next(place for place, (size, _) in enumerate(mechanism().tests) if size >= int(behind))
    return sum(stops(gap, behind)[: reached + 1])


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the curve with the thresholds, one whole search, and what the search saves."""
    gap, behind = settings["gap"], settings["behind"]
    tests, chances = excesses(gap, behind), stops(gap, behind)
    shift, tried = one_run(gap, behind)
    drawn = counts(gap, behind)[: 2 * tests[5][0]]
    bar = drawn[K - 1]
    below = [(size + 1, bar - needed) for size, _, needed in tests if size + 1 <= len(drawn)]
    rows = []
    for place, ((size, found, needed), chance) in enumerate(zip(tests[:7], chances, strict=False)):
        noise, verdict = None, "not reached"
        if place < len(tried):
            noise = tried[place][0]
            verdict = "stop" if tried[place][1] >= shift else "go on"
        rows.append((size, found, needed, noise, verdict, f"{100 * chance:.1f} %"))
    stopped = tests[len(tried) - 1][0] if tried[-1][1] >= shift else None
    rate = float(mechanism().rate)
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
                Line(label="counts", x=tuple(map(float, range(1, len(drawn) + 1))), y=tuple(map(float, drawn))),
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
            head=("l", "gap c(3) - c(l+1)", "threshold", "noise Z", "gap + Z or threshold + G?", "chance to stop"),
            rows=tuple(rows),
            caption="**One search, step by step.** First the search draws G, the noise that it adds to every "
            f"threshold: {shift:+d} here. Then it tests l = 3, 6, 12, ..., each time with fresh noise Z, until gap + Z "
            "is at least threshold + G. The last column is exact, over all noise.",
        ),
        Paragraph(
            text=f"This search stops at l = {stopped}: the mechanism makes its three picks among the top {stopped} "
            "alone."
            if stopped
            else "This search finds no gap and names nothing. (In practice the mechanism then falls back on the "
            "limited domain.)"
        ),
        Paragraph(
            text="**What that saves.** In 19 of 20 cases, a pick among l candidates misses the best by at most about "
            f"ln(20 l)/{number(rate)} customers: "
            + ", ".join(f"{math.ceil(math.log(20 * size) / rate):,} for l = {size:,}" for size in (3, 12, 96, DECLARED))
            + ". The last number is for a public list of 45,000 goods. That many pairs could be made of them, but "
            "hardly any of these pairs occur. With a gap, the length of that list does not matter, and the list is not "
            "needed."
        ),
        Paragraph(
            text="**The other way round.** The large margin mechanism asks for a gap *before* it chooses. "
            "`certified-domain` and `items-first` choose first, and ask for support *afterwards*: they show names only "
            "if the smallest count in the list, with noise, is large enough. That is one test of one number, however "
            "long the list is. And most lists have support, while few have a gap."
        ),
    )  # fmt: skip


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
            choices=("0", "40", "80", "120", "160", "200", "240", "280", "320", "360", "400"),
            start="200",
        ),
        Control(name="behind", what="the place that the gap is behind", choices=("3", "10", "40"), start="10"),
    ),
    show=show,
    question=Question(
        text="How wide must the gap be for the search to find it 19 times in 20? The search finds the gap if it stops "
        "at the first l that reaches the gap, or before. With behind=3 the only candidates are the top three. Why is a "
        "smaller gap enough then?",
        happens=lambda settings: in_time(settings) >= 0.95,
        yes="yes, the search stops in time at least 19 times in 20.",
        no="no, the search is too likely to miss the gap.",
    ),
)
