"""The paper's example (1): how many people a mechanism needs, by the number of items."""

from __future__ import annotations

from fim_private.mechanisms.registry import REGISTRY
from fim_private.privacy import Budget
from fim_private.report.document import Paragraph, Section
from fim_private.report.drawing import Pictures, legend, line, logarithmic, new_figure
from verification.hard_instances import needed

UNIVERSES = tuple(10**digits for digits in (1, 3, 6, 9, 12, 15, 18))
FEW = UNIVERSES[2::2]
"""For mechanisms whose exact law takes long."""


def section(pictures: Pictures) -> Section:
    """Draw the least number of people against the number of items."""
    names = [name for name, row in REGISTRY.items() if row.sees_counts_only and not row.study]
    figure, axes = new_figure(1, 2, height=3.0)
    kinds: dict[str, set[str]] = {"fails": set(), "flat": set(), "grows": set()}
    for panel, maximisers in zip(axes, (1, 2), strict=True):
        for name in names:
            computed = FEW if REGISTRY[name].lowered else UNIVERSES
            people = {universe: needed(name, maximisers, universe, Budget("1", "1e-6")) for universe in computed}
            if None in people.values():
                kinds["fails"].add(name)
                continue
            line(panel, name, UNIVERSES, [people.get(universe) for universe in UNIVERSES])
            beyond = [people[universe] for universe in computed if universe >= UNIVERSES[1]]
            kinds["flat" if len(set(beyond)) == 1 else "grows"].add(name)
        panel.set_title(f"everybody has number {maximisers}")
        logarithmic(panel, y=True)
        panel.set_xlabel("K, number of items (log scale)")
    axes[0].set_ylabel("people needed (log scale)")
    legend(figure, names)
    listed = {kind: ", ".join(name for name in names if name in found) for kind, found in kinds.items()}
    few = ", ".join(name for name in names if REGISTRY[name].lowered)
    level = ", ".join(name for name in names if name in kinds["flat"] and not REGISTRY[name].lowered)
    drawn = pictures.finish(
        figure,
        name="example-1",
        alt="Number of people needed in the paper's example (1), against the number of items",
        caption=(
            f"**Example (1), exact laws, epsilon 1, delta 1e-6.** The lines of {listed['grows']} rise with the "
            "logarithm "
            f"of K. The lines of {level} are level from K = {UNIVERSES[1]:,} on"
            + (
                f"; {listed['fails']} is missing in the second panel, because it finds no clear winner between two "
                "equal ones with any number of people"
                if listed["fails"]
                else ""
            )
            + f". The law of {few} takes long, so it was computed at three large K only: points without a line. A "
            "level line is not always low: at small K a rising line may be far below a level one."
        ),
    )
    return Section(
        anchor="example",
        title="Example 1: a clear winner among many items",
        parts=(
            Paragraph(
                text="Each of n people has a number, and the count of item i is the number of people whose number is "
                "at "
                "least i. If all have number 1, item 1 has count n and all others have count 0, so there is a clear "
                "winner. If all have number 2, items 1 and 2 both have count n, so there are two clear winners and "
                "either is right. How many people does a mechanism need to name a winner 19 times in 20?"
            ),
            drawn,
        ),
    )
