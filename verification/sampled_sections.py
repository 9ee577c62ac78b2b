"""The audit report's sections on what was really run: the whole program from file to release, and the float attack."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fim_private.report.document import Paragraph, Section, Table
from fim_private.report.document.text import number
from verification.end_to_end import audit_end_to_end
from verification.floating_point import Attack, demonstrate
from verification.sampling import CONFIDENCE_FAILURE, Sampled

ATTACKED = 2_000


def sampled_sections(progress: Callable[[str], None]) -> tuple[tuple[Section, ...], bool]:
    """Both sections, and whether all that is honest held and all that is broken was caught."""
    results = audit_end_to_end(progress)
    progress("floating-point attack")
    attacks = demonstrate(ATTACKED)
    sound = all(result.holds == (result.mistake is None) for result in results)
    sound &= attacks[0].share > 0 and attacks[1].decided == 0
    return (_end_to_end(results), _floating_point(attacks)), sound


def _end_to_end(results: Sequence[Sampled]) -> Section:
    honest = [result for result in results if result.mistake is None]
    broken = [result for result in results if result.mistake is not None]
    by_command = sum(result.same_by_command or 0 for result in results)
    return Section(
        anchor="end-to-end",
        title="The whole program, sampled",
        parts=(
            Paragraph(
                text="A law may be right and the program wrong around it. So neighbouring basket files were "
                "written, read "
                "and released from as `mine` does, with the operating system's randomness, and an event that the exact "
                "laws name as telling was counted on both sides. The bound on epsilon is Clopper and Pearson's (1934), "
                f"too high with a chance of {number(CONFIDENCE_FAILURE)} at most; a bound above the claim refutes it. "
                "It is lower than the truth by what sampling cannot see."
                + (
                    f" {by_command} releases were also made by the command line in processes of their own, seeded, and "
                    "were the very same."
                    if by_command
                    else ""
                )
            ),
            Table(
                name="end-to-end",
                head=(
                    "release",
                    "epsilon claimed",
                    "delta",
                    "epsilon of the event",
                    "at least",
                    "runs",
                    "seen",
                    "there",
                    "claim",
                ),
                rows=tuple(
                    (
                        result.name,
                        result.claim[0],
                        number(result.claim[1]),
                        result.exact,
                        result.epsilon_low,
                        result.runs,
                        result.hits,
                        result.other_hits,
                        "holds" if result.holds else "BROKEN",
                    )
                    for result in honest
                ),
                caption="**Honest releases.** Small files, so that a few thousand runs can tell something; "
                "lmm-paper with a "
                "cap of 8, and the rows of items-first show only that nothing is badly wrong. `At least` must "
                "not exceed the claim. `Seen` and `there`: in how "
                "many runs "
                "of each file the event was seen.",
            ),
            Table(
                name="end-to-end-twins",
                head=(
                    "release",
                    "what was done",
                    "epsilon claimed",
                    "at least",
                    "runs",
                    "seen",
                    "there",
                    "sampling audit",
                ),
                rows=tuple(
                    (
                        result.name,
                        result.mistake or "",
                        result.claim[0],
                        result.epsilon_low,
                        result.runs,
                        result.hits,
                        result.other_hits,
                        "NOT CAUGHT" if result.holds else "caught",
                    )
                    for result in broken
                ),
                caption="**Mistakes around the mechanisms, caught by sampling.**",
            ),
        ),
    )


def _floating_point(attacks: Sequence[Attack]) -> Section:
    broken, exact = attacks
    return Section(
        anchor="floating-point",
        title="Floating point: noise that gives itself away",
        parts=(
            Paragraph(
                text="The textbook's Laplace noise, made of double-precision numbers, can take some values and "
                "not others, "
                "and which depends on the count it is added to (Mironov 2012). Whoever sees the last bits of one "
                "released number may read off which of two neighbouring counts it came from, whatever epsilon "
                "is. Here the "
                "counts are 0 and 1; the larger a count, the more the sum is rounded, and the fewer releases "
                "give it away "
                "(about one in twelve at 10, none seen at 1,000)."
            ),
            Table(
                name="floating-point",
                head=("noise", "epsilon", "releases", "count known for certain", "share", "wrongly"),
                rows=tuple(
                    (attack.sampler, attack.epsilon, attack.runs, attack.decided, attack.share, attack.wrong)
                    for attack in attacks
                ),
                caption=f"**The attack.** {broken.share:.0%} of the releases with {broken.sampler} noise gave the "
                "count away "
                f"for certain, and {exact.decided} of {exact.runs:,} with the noise that is used here.",
            ),
        ),
    )
