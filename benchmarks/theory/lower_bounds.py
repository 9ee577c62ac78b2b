"""What no mechanism can do, on the paper's own hard instances."""

from __future__ import annotations

from fim_private.mechanisms.registry import REGISTRY
from fim_private.report.document import Paragraph, Section
from fim_private.report.document.text import number
from fim_private.report.drawing import Pictures, legend, line, new_figure
from verification.hard_instances import PROPOSITION_1, THEOREM_1, pure


def section(pictures: Pictures) -> Section:
    """Draw the exact success on the instances of Proposition 1 and Theorem 1, with the bounds."""
    names = [name for name, row in REGISTRY.items() if row.sees_counts_only and not row.study]
    figure, axes = new_figure(1, 2, height=3.2)
    nearest: list[str] = []
    broken = False
    for panel, family, title in (
        (axes[0], PROPOSITION_1, "Proposition 1: delta = 0"),
        (axes[1], THEOREM_1, "Theorem 1: delta > 0"),
    ):
        leads = (1, *range(4, 81 if family is PROPOSITION_1 else 61, 4))
        bound = [family.most(lead) for lead in leads]
        panel.plot(leads, bound, color="black", linewidth=2.4)
        gaps = {}
        for name in names:
            if family is PROPOSITION_1 and not pure(name):
                continue
            reached = [family.reached(name, lead) for lead in leads]
            line(panel, name, list(leads), reached)
            broken |= any(value > most + 1e-9 for value, most in zip(reached, bound, strict=True))
            gaps[name] = family.sufficient(name)
        panel.set_title(title)
        panel.set_xlabel("m, entries that only the best item has")
        if gaps:
            best = min(gaps.values())
            possible = next(m for m in range(500) if family.most(m) >= 0.5)
            nearest.append(
                f"{title.split(':')[0]}: a mechanism can be right half the time from m = {possible} on. The best here "
                f"are right half the time from m = {best} on, {best / possible:.1f} times that: "
                f"{', '.join(name for name, value in gaps.items() if value == best)}"
            )
    axes[0].set_ylabel("probability of naming the best item")
    legend(figure, names)
    drawn = pictures.finish(
        figure,
        name="lower-bounds",
        alt="Success on the hard instances of Proposition 1 and Theorem 1 with the bounds",
        caption=(
            f"**Exact success on the paper's hard instances, alpha = {number(PROPOSITION_1.budget.epsilon)}.** The "
            "thick black line is the bound that no mechanism can exceed. "
            + ("A line crosses the bound, which is an error. " if broken else "No line crosses it. ")
            + "".join(f"{sentence}. " for sentence in nearest)
            + "The first panel has only the mechanisms that keep their promise with delta 0. Lines that agree cover "
            "one another."
        ),
    )
    return Section(
        anchor="lower-bounds",
        title="Lower bounds: what no mechanism can do",
        parts=(
            Paragraph(
                text="**Proposition 1** of Chaudhuri, Hsu and Song (2014): with delta = 0, take K = "
                f"{PROPOSITION_1.rivals:,} data sets. In data set i, m people hold item i and nobody holds "
                "anything else. Any two data sets differ in m people, so a private mechanism cannot treat them very "
                "differently. If it named the right item too often, it would "
                f"name too many wrong items. For m up to log((K - 1)/2)/alpha = {PROPOSITION_1.stated:.1f} **every** "
                "mechanism with delta = 0 fails more than half the time on some of the data sets. Without delta, range "
                "dependence cannot be avoided. In this section neighbours exchange one entry, as in the proofs, and "
                "alpha is the epsilon of one selection."
            ),
            Paragraph(
                text=f"**Theorem 1** of the same paper: with delta = {number(THEOREM_1.budget.delta)}, let "
                f"{THEOREM_1.shared:,} people hold all of l = {THEOREM_1.rivals} items, and let m further people hold "
                f"one of these items. There are K = {THEOREM_1.universe} items in all. Then l takes the place of K. A "
                "mechanism does not have to pay for all items, but it has to pay for the items that look almost "
                "equally good."
            ),
            drawn,
        ),
    )
