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
                text="A law may be right and the program wrong around it. So the audit writes neighbouring basket "
                "files, reads them and releases from them as `mine` does, with the operating system's randomness. It "
                "counts how often an event happens with each file; the exact laws say which event tells them apart. "
                "From these counts follows a lower bound on epsilon (Clopper and Pearson 1934), which is too high with "
                f"a chance of at most {number(CONFIDENCE_FAILURE)}. If it is above the claim, the claim is refuted. "
                "Sampling cannot see everything, so the true epsilon is larger than the bound."
                + (
                    f" {by_command} releases were also made by the command line in processes of their own, with the "
                    "same seeds. They were identical."
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
                    "seen with one",
                    "with the other",
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
                caption="**Honest releases.** `At least` is the bound; it must not exceed the claim. The last numbers "
                "say in how many runs the event was seen with each of the two files. The files are small, so that a "
                "few thousand runs can tell something: `lmm-paper` has a cap of 8, and the rows of `items-first` only "
                "show that nothing is badly wrong.",
            ),
            Table(
                name="end-to-end-twins",
                head=(
                    "release",
                    "what was done",
                    "epsilon claimed",
                    "at least",
                    "runs",
                    "seen with one",
                    "with the other",
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
                text="The textbook makes Laplace noise of double-precision numbers. A sum with such noise can take "
                "some values and not others, and the count decides which (Mironov 2012). So the last bits of one "
                "released number may tell which of two neighbouring counts it came from, whatever epsilon is. Here the "
                "counts are 0 and 1. Larger counts are given away less often, because their sums are rounded more."
            ),
            Table(
                name="floating-point",
                head=("noise", "epsilon", "releases", "count known for certain", "share", "wrong"),
                rows=tuple(
                    (attack.sampler, attack.epsilon, attack.runs, attack.decided, attack.share, attack.wrong)
                    for attack in attacks
                ),
                caption=f"**The attack.** {100 * broken.share:.0f} % of the releases with {broken.sampler} noise gave "
                f"the count away for certain. With the noise that is used here, {exact.decided} of {exact.runs:,} did.",
            ),
        ),
    )
