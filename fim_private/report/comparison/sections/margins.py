"""The count curve with each mechanism's required margin drawn in: why it answers or not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from fim_private.comparison.exact_counts import ExactCounts
from fim_private.comparison.settings import Cell
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.protocol import Mechanism, Stepwise
from fim_private.mechanisms.registry import find
from fim_private.profile import CountProfile
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Figure, Paragraph, Part, Section, Table
from fim_private.report.drawing import Pictures, legend, logarithmic, look, new_figure

HEAD = (
    "k",
    "epsilon",
    "k-th count",
    "lmm: gap minus threshold",
    "limited-domain: stop score",
    "itemsets above it",
    "exponential: count needed",
    "itemsets above that",
)
DRAWN = ("lmm", "lmm-paper", "limited-domain", "exponential")
LAST = 10**6
"""The last place to which the curve is drawn."""


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """One figure per data set, and a table with all k and epsilon."""
    parts: list[Part] = [
        Paragraph(
            text="The black curve shows in how many transactions each itemset is, from the most frequent at the left "
            "to rare ones at the right. Both axes are logarithmic. A private mechanism cannot see this curve, but it "
            "answers well only if the curve is steep enough for its noise. How steep it must be follows from epsilon, "
            "delta and k alone, so the figure can show it:"
        ),
        Paragraph(
            text="**Circles** (`lmm`): the large margin mechanism tests whether the counts fall from place k to place "
            "l + 1 by its threshold. It finds its gap if the black curve runs **below a circle**. **Crosses** "
            "(`lmm-paper`): the same for the published mechanism, for its first pick, measured from the top. Its noise "
            "is as large as its thresholds and it has thousands of tries, so it may find a gap although the curve "
            "meets no cross. **Dash-dotted line** (`limited-domain`): the score of its stop symbol. Itemsets above "
            "the line "
            "are picked before the stop symbol; itemsets far below are not. **Dashed line** (`exponential`): the count "
            "that an itemset needs to stand out from all itemsets that do not occur, 19 times in 20."
        ),
    ]
    for counts in results.counts:
        parts += [_figure(results, pictures, counts), _table(results, counts)]
    return Section(anchor="margins", title="Margins: why a mechanism answers or not", parts=tuple(parts), folded=True)


def _mechanism(results: ComparisonResults, items: int, name: str, top: int, epsilon: str) -> Mechanism | Stepwise:
    universe = results.settings.universe_items or items if find(name).needs_universe else None
    cell = Cell(mechanism=name, size=results.settings.main_size, top=top, epsilon=epsilon, universe_items=universe)
    return cell.plan(results.settings).search


def _figure(results: ComparisonResults, pictures: Pictures, counts: ExactCounts) -> Figure:
    data, profile = counts.name, counts.profiles[results.settings.main_size]
    tops = tuple(dict.fromkeys((min(results.tops, key=lambda top: abs(top - 10)), max(results.tops))))
    epsilon = results.settings.middle_epsilon
    figure, axes = new_figure(1, len(tops), height=3.6)
    places = np.unique(np.geomspace(1, min(profile.occurring, LAST), 400).astype(int))
    verdicts, drawn = [], set[str]()
    for panel, top in zip(axes, tops, strict=True):
        panel.plot(places, [profile.count(int(place)) for place in places], color="black", linewidth=1.8)
        certified = False
        for name in DRAWN:
            certified |= _draw(panel, name, _mechanism(results, counts.items, name, top, epsilon), profile)
        panel.axvline(top, color="#999999", linewidth=0.8, linestyle=":")
        panel.annotate("k", (top, 1), xytext=(3, 3), textcoords="offset points", color="#666666")
        panel.set_title(f"k = {top}, epsilon {epsilon}")
        logarithmic(panel, y=True)
        panel.set_ylim(0.8, 1.6 * profile.count(1))
        panel.set_xlabel("place in the ranking (log scale)")
        outside = dict(_outside(panel))
        verdicts += [_verdict(top, certified=certified, inside="lmm" not in outside), *outside.values()]
        drawn.update(name for name in DRAWN if name not in outside)
    axes[0].set_ylabel("count (log scale)")
    crosses, levels = {"linestyle": ""}, {"marker": ""}
    changes = {"lmm": crosses, "lmm-paper": crosses, "limited-domain": levels, "exponential": levels}
    legend(figure, [name for name in DRAWN if name in drawn], changes=changes)
    return pictures.finish(
        figure,
        name=f"margins-{data.lower()}",
        alt=f"Counts of {data} by place in the ranking, with the margins that mechanisms require",
        caption=f"**{data}, size {results.settings.main_size}.** {' '.join(verdicts)} The thresholds are drawn without "
        "their noise. The noise moves the circles a little from run to run, and the crosses a lot. Marks below 1 are "
        "outside the picture." + (f" The curve is drawn to place {LAST:,}." if profile.occurring > LAST else ""),
    )


def _verdict(top: int, *, certified: bool, inside: bool) -> str:
    """Whether `lmm` finds its gap, by its circles; there are none to speak of if they are not inside the panel."""
    if certified:
        return f"At k = {top} the curve runs below a circle: `lmm` finds its gap."
    return f"At k = {top} {'the curve stays above all circles: ' if inside else ''}`lmm` finds no gap."


def _outside(panel: Axes) -> Iterator[tuple[str, str]]:
    """Which mechanisms have no mark inside the panel, and why."""
    lowest, highest = panel.get_ylim()
    for drawn in panel.lines:
        if (gid := drawn.get_gid()) is None:
            continue
        heights = [float(height) for height in np.atleast_1d(drawn.get_ydata())]
        name = gid.removeprefix("mechanism:")
        if max(heights) < lowest:
            yield (
                name,
                f"`{name}` is not in the picture: the gap that it needs is larger than the count it starts from.",
            )
        elif min(heights) > highest:
            yield name, f"`{name}` is not in the picture: it needs a count above the largest."


def _draw(panel: Axes, name: str, mechanism: Mechanism | Stepwise, profile: CountProfile) -> bool:
    """Draw what one mechanism requires. True if the mechanism is `lmm` and the counts meet its requirement."""
    style = {**look(name), "label": name}
    gid = f"mechanism:{name}"
    match mechanism:
        case LargeMargin():
            bar = profile.count(mechanism.top)
            tests = mechanism.tests
            style["linestyle"] = ""
            panel.plot([size + 1 for size, _ in tests], [bar - needed for _, needed in tests], gid=gid, **style)
            return any(profile.count(size + 1) <= bar - needed for size, needed in tests)
        case PublishedLargeMargin():
            sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
            style["linestyle"] = ""
            panel.plot(
                [size + 1 for size in sizes],
                [profile.count(1) - mechanism.threshold(size) for size in sizes],
                gid=gid,
                **style,
            )
        case LimitedDomain():
            score = float(profile.count(mechanism.candidates + 1) + mechanism.stop_lead)
            panel.axhline(score, color=style["color"], linestyle=style["linestyle"], gid=gid)
        case Exponential():
            panel.axhline(mechanism.margins[0].compared, color=style["color"], linestyle=style["linestyle"], gid=gid)
    return False


def _table(results: ComparisonResults, counts: ExactCounts) -> Table:
    data, profile = counts.name, counts.profiles[results.settings.main_size]
    rows: list[tuple[str | int | float | None, ...]] = []
    for top in results.tops:
        for epsilon in results.epsilons:
            lmm = _mechanism(results, counts.items, "lmm", top, epsilon)
            domain = _mechanism(results, counts.items, "limited-domain", top, epsilon)
            declared = _mechanism(results, counts.items, "exponential", top, epsilon)
            if not isinstance(lmm, LargeMargin) or not isinstance(domain, LimitedDomain):
                continue
            excess = max(profile.count(top) - profile.count(size + 1) - needed for size, needed in lmm.tests)
            stop = profile.count(domain.candidates + 1) + domain.stop_lead
            rows.append(
                (
                    top,
                    epsilon,
                    profile.count(top),
                    excess,
                    round(float(stop)),
                    sum(number for count, number in profile.top(10 * top) if count > stop),
                    declared.margins[0].compared,
                    sum(number for count, number in profile.top(10 * top) if count > declared.margins[0].compared),
                )
            )
    return Table(
        name=f"margins-{data.lower()}",
        head=HEAD,
        rows=tuple(rows),
        caption=(
            f"**{data}, size {results.settings.main_size}: all k and epsilon at a glance.** Where the fourth column is "
            "well above 0, `lmm` certifies a gap. Where fewer than k itemsets stand above a score, the list of that "
            "mechanism is short (`limited-domain`) or wrong (`exponential`). Itemsets are counted up to 10 k; the "
            "number 10 k means that many or more."
        ),
        collapsed=True,
    )
