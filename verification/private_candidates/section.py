"""The audit report's section on private selection from private candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fim_private.report.audit.verdicts import delta_text
from fim_private.report.document import Cell, Paragraph, Section, Table
from fim_private.report.document.text import number
from verification.private_candidates.cases import (
    DELTA,
    EPSILON,
    ROUNDING,
    CandidateVerdict,
    cases,
    mistakes,
    verdict_of,
)

CLAIMED_AND_FOUND = ("epsilon claimed", "largest log ratio", "delta claimed", "found")


def candidates_section(progress: Callable[[str], None]) -> tuple[Section, bool]:
    """The section, and whether all claims held and all mistakes were caught."""
    progress("private candidates")
    honest = [verdict_of(case) for case in cases()]
    broken = [verdict_of(case) for case in mistakes()]
    sound = all(verdict.holds for verdict in honest) and not any(verdict.holds for verdict in broken)
    return _section(honest, broken), sound


def _section(honest: Sequence[CandidateVerdict], broken: Sequence[CandidateVerdict]) -> Section:
    compared = sum(verdict.found.tried for verdict in (*honest, *broken))
    return Section(
        anchor="candidates",
        title="Private selection from private candidates",
        parts=(
            Paragraph(
                text="`tune` chooses among private ways of mining by theorems of Liu and Talwar (2019). "
                "`verification/private_candidates` has their other algorithms. "
                "A candidate can be anything private. So neighbours are here two laws of one run that are epsilon "
                f"{number(EPSILON)} apart (with a delta of {number(DELTA)} where the table has one). Rare and likely "
                "outcomes are moved all the way up, down or not at all, or at random. "
                f"{compared:,} pairs were compared by the exact law of what is released."
            ),
            Table(
                name="candidates",
                head=("algorithm", "theorem", *CLAIMED_AND_FOUND, "claim"),
                rows=tuple(_row(verdict, "holds" if verdict.holds else "BROKEN") for verdict in honest),
                caption="**Claims and worst cases.** The delta found is at the epsilon claimed. If the claimed delta "
                "is 0, no outcome's log ratio may exceed epsilon; if it is above 0, some may.",
            ),
            Table(
                name="candidates-mistakes",
                head=("mistake", "whose claim", *CLAIMED_AND_FOUND, "caught"),
                rows=tuple(_row(verdict, "NOT CAUGHT" if verdict.holds else "caught") for verdict in broken),
                caption="**Relatives that are not private enough, and mistakes.** Each has to break the claim it "
                "is mistaken for.",
            ),
        ),
    )


def _row(verdict: CandidateVerdict, answer: str) -> tuple[Cell, ...]:
    case, loss, found = verdict.case, verdict.found.loss, verdict.found.delta
    return (
        case.name,
        case.source,
        f"{case.epsilon:.4g}",
        "unbounded" if math.isinf(loss) else f"{loss:.4g}",
        delta_text(case.delta),
        delta_text(found if found > ROUNDING else 0.0),
        answer,
    )
