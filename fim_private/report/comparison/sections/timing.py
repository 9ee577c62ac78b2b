"""Time per selection, and how it grows with the items declared and with the itemsets that occur."""

from __future__ import annotations

from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Paragraph, Part, Section
from fim_private.report.drawing import Pictures, legend, line, logarithmic, new_figure


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """Draw the time against the number of items declared, and against the number of itemsets that occur."""
    epsilon = results.settings.middle_epsilon
    parts: list[Part] = [
        Paragraph(
            text="This is the time of one selection of k itemsets. It does not include counting, which is done once "
            "for all mechanisms. A mechanism treats all itemsets of equal count as one level, and all itemsets that do "
            "not occur as one level too. So the time depends on how many different counts can still win, not on the "
            "number of itemsets. Each time is the median over runs that were timed while other runs went on beside "
            "them. The times are good for comparing lines, but they are not a benchmark."
        )
    ]
    for counts in results.counts:
        data = counts.name
        padded = results.averages.filter((results.averages["data"] == data) & results.averages["padded"])
        # Some mechanisms are not run over padded universes.
        top = min(padded["top"].unique().to_list() or results.settings.tops, key=lambda top: abs(top - 10))
        figure, (left, right) = new_figure(1, 2, height=3.0)
        growth = []
        for name, rows in results.by_mechanism(padded.filter(padded["top"] == top)):
            ordered = rows.sort("universe_items")
            times = ordered["milliseconds"].to_list()
            line(left, name, ordered["universe_items"].to_list(), times)
            growth.append(max(times) / max(min(times), 1e-9))
        for name, rows in results.by_mechanism(results.cells(data=data, top=top, epsilon=epsilon)):
            ordered = rows.sort("size")
            found = [
                (counts.profiles[size].occurring, time)
                for size, time in ordered.select("size", "milliseconds").iter_rows()
            ]
            found.sort()
            line(right, name, [point[0] for point in found], [point[1] for point in found])
        levels = ", ".join(
            f"{len(profile.levels):,} at size {size} (L = {profile.occurring:,})"
            for size, profile in counts.profiles.items()
        )
        for panel in (left, right):
            logarithmic(panel, y=True)
        left.set_ylabel("milliseconds (log scale)")
        left.set_xlabel("|I|, number of items declared (log scale)")
        right.set_xlabel("L, number of itemsets that occur (log scale)")
        legend(figure, results.settings.mechanisms)
        longest = (
            f"Left: the longest time of a line is at most {max(growth):.1f} times its shortest, while the list of "
            "items grows to 1e9. Jumps come from the machine. "
            if growth
            else ""
        )
        parts.append(
            pictures.finish(
                figure,
                name=f"time-{data.lower()}",
                alt=f"Milliseconds for a selection from {data} against |I| and L",
                caption=(
                    f"**{data}, k = {top}, epsilon {epsilon}.** {longest}Right: itemsets of size "
                    f"{', '.join(map(str, sorted(counts.profiles)))}, ordered from "
                    f"few itemsets to many. The number of different counts: {levels}."
                ),
            )
        )
    return Section(anchor="time", title="Time per selection", parts=tuple(parts))
