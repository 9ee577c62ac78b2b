"""The audit report: every mechanism's claim beside the worst case found, and mistakes that the search must catch."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from fim_private.audit.standard_plans import COUNTED, MAX_ITEMS, PICKS, UNIVERSE, audit_all
from fim_private.audit.verdict import LOOSE, Verdict
from fim_private.mechanisms.registry import find
from fim_private.plan import Plan
from fim_private.privacy import Budget, NeighbouringRelation
from fim_private.release.files import write_derived
from fim_private.report.audit.verdicts import delta_text, ratio_text, sentence, times, verdict_record
from fim_private.report.document import Bullets, Cell, Code, Document, Figure, Paragraph, Section, Table
from fim_private.report.document.text import number
from fim_private.report.document.write import write_document
from fim_private.report.drawing import Pictures, new_figure, style

BANNER = "SYNTHETIC DATA ONLY: no real baskets are in this report."

SOUND = "Every claim held, and every mistake was caught."
BROKEN = "SOMETHING FAILED: see the tables."
VERDICTS = "verdicts.json"

_ANONYMOUS_LOOSE = "most of delta pays for composition, and the test is charged as if every name were certified"

Progress = Callable[[str], None]
Further = Callable[[Progress], tuple[tuple[Section, ...], bool]]
"""Makes more sections, and says whether everything in them is as it should be."""


def write_audit(
    folder: Path,
    *,
    budget: Budget,
    seed: int,
    progress: Progress,
    further: Further = lambda _progress: ((), True),
    program: str = "fim-private audit all",
) -> bool:
    """Audit all mechanisms and write the report. Return whether all claims held and all mistakes were caught.

    Args:
        folder: the folder to write to.
        budget: the budget of each plan.
        seed: the seed of the searches.
        progress: called with the phase that begins.
        further: makes more sections, which stand before the one on the method.
        program: the command that makes the report.

    Raises:
        InputError: the file system refuses.
    """
    verdicts = audit_all(budget, seed=seed, workers=os.cpu_count() or 1, progress=progress)
    pictures = Pictures()
    more, sound = further(progress)
    sound &= all(verdict.holds and verdict.twins_caught for verdict in verdicts)
    command = (
        f"{program} --epsilon {number(budget.epsilon)} --delta {number(budget.delta)} --seed {seed} "
        "--output reports/audit"
    )
    with style():
        document = document_of(verdicts, more, pictures, budget=budget, command=command, sound=sound)
    write_document(document, pictures, folder)
    records = json.dumps([verdict_record(verdict) for verdict in verdicts], indent=1)
    write_derived(folder / VERDICTS, lambda part: part.write_text(records + "\n", encoding="utf-8"))
    return sound


def document_of(
    verdicts: Sequence[Verdict],
    more: Sequence[Section],
    pictures: Pictures,
    *,
    budget: Budget,
    command: str,
    sound: bool,
) -> Document:
    """The report as a document; its pictures are collected."""
    twins = sum(len(verdict.twins) for verdict in verdicts)
    return Document(
        title="Audit: is every mechanism as private as it claims?",
        banner=BANNER,
        introduction=(
            Paragraph(
                text=f"**{SOUND if sound else BROKEN}** "
                f"{len(verdicts)} plans of {len({verdict.plan.mechanism_name for verdict in verdicts})} mechanisms, "
                f"{sum(verdict.compared or 0 for verdict in verdicts):,} pairs of neighbours, {twins} [mistakes made "
                "on purpose](#twins), which show that the check can fail. You can check all of this: the same code "
                "that draws computes the laws. `fim-private law` prints them for the mechanisms that look at counts "
                "alone, to compare with your own program."
            ),
            Paragraph(text="The command that made this page:"),
            Code(text=command),
        ),
        sections=(
            _claims(verdicts, budget),
            _profiles(verdicts, pictures),
            _loose(verdicts),
            _twins(verdicts),
            *more,
            _method(),
        ),
        footer=f"Made by `{command.partition(' --')[0]}`. {BANNER}",
    )


def _setting(verdict: Verdict) -> str:
    plan = verdict.plan
    parts = [f"k = {plan.top}{_of_items(plan)}"]
    if plan.top == COUNTED:
        parts[0] += ", counts"
    if plan.unit.sensitivity > 1:
        parts.append(f"Delta {plan.unit.sensitivity}")
    if plan.relation is NeighbouringRelation.REPLACE:
        parts.append("replace")
    if plan.has_anonymous_names:
        parts.append("anonymous names")
    return ", ".join(parts)


def _of_items(plan: Plan) -> str:
    """What tells a plan for single items, or with a list that is not needed, from the others of its mechanism."""
    if plan.sizes == (1,):
        return ", single items"
    return ", public list" if plan.universe.has_list and not find(plan.mechanism_name).needs_universe else ""


def _claims(verdicts: Sequence[Verdict], budget: Budget) -> Section:
    rows: list[tuple[Cell, ...]] = [
        (
            verdict.plan.mechanism_name,
            _setting(verdict),
            delta_text(verdict.claimed[-1]),
            delta_text(verdict.found[-1].delta),
            ratio_text(verdict.claimed[-1], verdict.found[-1].delta),
            "holds" if verdict.holds else "BROKEN",
            sentence(verdict.found[-1]),
        )
        for verdict in verdicts
    ]
    return Section(
        anchor="claims",
        title="What is claimed, and the worst case found",
        parts=(
            Paragraph(
                text=f"Each mechanism was planned for pairs at epsilon {number(budget.epsilon)} and delta "
                f"{number(budget.delta)} in all, as `mine` would: one pick, {PICKS} picks, units of two transactions, "
                f"units that are exchanged. Public lists have {UNIVERSE} items; with anonymous names only that number "
                f"is public. `choosing` keeps {MAX_ITEMS} items per transaction. The delta found is the sum of "
                "max(0, P - e^epsilon P') over all answers, for the hardest neighbouring data that the search found. "
                "It must not exceed the delta claimed."
            ),
            _closest(verdicts),
            Table(
                name="claims",
                head=(
                    "mechanism",
                    "plan",
                    "delta claimed",
                    "delta found",
                    "claimed / found",
                    "claim",
                    "hardest neighbours found",
                ),
                rows=tuple(rows),
                caption="**All claims and worst cases**, with the hardest neighbours. They are written as itemsets "
                "with their counts, without and with the unit.",
                collapsed=True,
            ),
        ),
    )


def _closest(verdicts: Sequence[Verdict]) -> Table:
    """A row a mechanism: the plan in which what was found comes closest to what is claimed."""
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(verdict.plan.mechanism_name for verdict in verdicts):
        mine = [verdict for verdict in verdicts if verdict.plan.mechanism_name == name]
        closest = min(mine, key=lambda verdict: verdict.slack if verdict.claimed[-1] else math.inf)
        claimed, found = closest.claimed[-1], closest.found[-1].delta
        held = sum(verdict.holds for verdict in mine)
        rows.append(
            (
                name,
                f"{held} of {len(mine)}" if held == len(mine) else f"BROKEN: {len(mine) - held} of {len(mine)}",
                _setting(closest),
                delta_text(claimed),
                delta_text(found),
                ratio_text(claimed, found),
                find(name).source,
            )
        )
    return Table(
        name="closest",
        head=(
            "mechanism",
            "claims that hold",
            "closest plan",
            "delta claimed",
            "delta found",
            "claimed / found",
            "proof",
        ),
        rows=tuple(rows),
        caption="**Each mechanism's closest claim.** The delta claimed is 0 if a mechanism needs none. The delta found "
        "is shown as 0 below 1e-12, the error of the arithmetic.",
    )


def _profiles(verdicts: Sequence[Verdict], pictures: Pictures) -> Section:
    shown = [verdict for verdict in verdicts if verdict.plan.top == PICKS]
    columns = 4
    figure, axes = new_figure(math.ceil(len(shown) / columns), columns, height=1.9, same_x=True)
    for panel, verdict in zip(axes, shown, strict=False):
        panel.plot(verdict.epsilons, [max(delta, 1e-13) for delta in verdict.claimed], "k--", label="claimed")
        panel.plot(
            verdict.epsilons,
            [max(found.delta, 1e-13) for found in verdict.found],
            color="#b03a00",
            marker="o",
            label="found",
            clip_on=False,  # a dot at the bottom is whole
        )
        panel.set_yscale("log")
        panel.set_ylim(1e-13, 1)
        panel.set_yticks([1, 1e-3, 1e-6, 1e-9, 1e-12], ["1", "1e-3", "1e-6", "1e-9", "1e-12"])
        panel.minorticks_off()
        panel.set_title(verdict.plan.mechanism_name + _of_items(verdict.plan), fontsize=8)
    for panel in axes[len(shown) :]:
        panel.set_visible(False)
    for panel in axes[max(0, len(shown) - columns) : len(shown)]:
        panel.set_xlabel("epsilon")
        panel.tick_params(labelbottom=True)  # also above a place that is left empty
    for panel in axes[::columns]:
        panel.set_ylabel("delta (log scale)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    drawn: Figure = pictures.finish(
        figure,
        name="profiles",
        alt="Claimed and found delta against epsilon, one panel per mechanism",
        caption=f"**Privacy profiles, k = {PICKS}.** The dashed line is the delta that the theorems prove at each "
        "epsilon. Dots are the largest delta found. A dot on the line means that the claim cannot be improved; a dot "
        "far below means that it might be. A dot at the bottom means that nothing was found. The search began at the "
        "right end of each line, so further left there may be harder neighbours.",
    )
    return Section(anchor="profiles", title="The whole privacy profile", parts=(drawn,))


def _loose(verdicts: Sequence[Verdict]) -> Section:
    loose = [verdict for verdict in verdicts if verdict.slack > LOOSE]
    tightest = min(verdicts, key=lambda verdict: verdict.slack if verdict.claimed[-1] else math.inf)
    tight = times(tightest.slack)
    rows = tuple(
        (
            verdict.plan.mechanism_name,
            _setting(verdict),
            "nothing found" if math.isinf(verdict.slack) else times(verdict.slack),
            _ANONYMOUS_LOOSE
            if verdict.plan.has_anonymous_names
            else find(verdict.plan.mechanism_name).loose or "not known"
            if verdict.plan.relation is NeighbouringRelation.ADD_REMOVE
            else "group privacy counts a removal and an addition, each at its worst",
        )
        for verdict in loose
    )
    return Section(
        anchor="loose",
        title="Where a sharper proof could save noise",
        parts=(
            Paragraph(
                text=f"The tightest claim with a delta is `{tightest.plan.mechanism_name}`, {_setting(tightest)}: "
                f"{'claim and finding agree' if tight == '1' else f'{tight} times the delta found'}. A claim whose "
                f"delta is more than {LOOSE:g} times the delta found is safe, but it spends noise that privacy may not "
                f"need. {len(loose)} claims are loose:"
            ),
            Table(
                name="loose",
                head=("mechanism", "plan", "claimed / found", "cause"),
                rows=rows,
                caption=f"**Claims loose by more than {LOOSE:g}.** The search may also have missed harder neighbours.",
                collapsed=True,
            ),
        ),
    )


def _twins(verdicts: Sequence[Verdict]) -> Section:
    rows = tuple(
        (
            verdict.plan.mechanism_name,
            _setting(verdict),
            twin.name,
            twin.mistake,
            delta_text(verdict.claimed[-1]),
            delta_text(twin.found.delta),
            "caught" if twin.caught else "NOT CAUGHT",
            sentence(twin.found),
        )
        for verdict in verdicts
        for twin in verdict.twins
    )
    kinds = {twin.name for verdict in verdicts for twin in verdict.twins}
    return Section(
        anchor="twins",
        title="Broken twins: mistakes that must be caught",
        parts=(
            Paragraph(
                text=f"A check that cannot fail proves nothing. So {len(kinds)} mistakes were made on purpose, each in "
                "every mechanism and plan where it is possible. Each broken mechanism makes the claim of the honest "
                "one, and the same search must refute it. The search ends as soon as the claim is refuted."
            ),
            Table(
                name="twins",
                head=(
                    "mechanism",
                    "plan",
                    "mistake",
                    "how it was made",
                    "delta claimed",
                    "delta found",
                    "exact search",
                    "neighbours that show it",
                ),
                rows=rows,
                caption="**Mistakes in a mechanism, caught by exact laws.**",
                collapsed=len(rows) > 60,
            ),
        ),
    )


def _method() -> Section:
    return Section(
        anchor="method",
        title="How the search works",
        parts=(
            Bullets(
                items=(
                    "**Laws.** Every mechanism that looks at counts alone computes the exact probability of each list "
                    "that it can name, by sums over its noise. Nothing is drawn. Itemsets with the same count on both "
                    "sides form a group, so data with ten thousand itemsets takes no longer than data with three.",
                    "**Neighbours.** A unit may change any set of counts, each by up to Delta. Real baskets can "
                    "change less. The search starts with hard cases: no data at all; k itemsets ahead of the bulk by "
                    "a lead near each threshold of the mechanism; one itemset changed, or all. Then it takes random "
                    "steps from the hardest case and keeps a step if delta does not fall.",
                    "**Small data in full.** The test suite also compares all neighbours of many short count vectors, "
                    "and items-first on all small sets of baskets.",
                    "**items-first** answers with noisy counts. Its data is chosen so that the law factorises. "
                    "Outcomes with nearly the same ratio are merged; this can only hide a difference, and hides about "
                    "1 % of it.",
                    "**look-first** is compared for one answer of its look at the lengths. Whatever items-first then "
                    "names counts as the empty list. Both can only hide a difference, so the delta found is too small. "
                    "The test suite also compares it on a few data sets with the second look shown, and with a worst "
                    "case in place of items-first.",
                    "**PrivBasis** is not in the search. The test suite compares all of it on small data, "
                    "and catches mistakes in it.",
                    "**What this cannot show.** A search cannot show that there is no harder pair of neighbours. The "
                    "proofs show that; they are cited in each mechanism's file.",
                )
            ),
        ),
    )
