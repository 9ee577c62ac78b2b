"""The audit report: exact laws of all mechanisms, private candidates, and the whole program sampled.

    python -m verification [--epsilon 1] [--delta 1e-6] [--seed 1] [--output reports/audit]

Exit code 1 if a claim is broken or a mistake is not caught.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fim_private.privacy import Budget
from fim_private.report.audit.report import Progress, write_audit
from fim_private.report.document import Section
from verification.named_tests import named_tests_section
from verification.private_candidates.section import candidates_section
from verification.sampled_sections import sampled_sections


def further(progress: Progress) -> tuple[tuple[Section, ...], bool]:
    """What the package cannot show by itself, and whether it is as it should be."""
    candidates, candidates_sound = candidates_section(progress)
    sampled, sampled_sound = sampled_sections(progress)
    return (named_tests_section(), candidates, *sampled), candidates_sound and sampled_sound


def main() -> int:
    """Write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("reports/audit"))
    asked = parser.parse_args()
    sound = write_audit(
        asked.output,
        budget=Budget(asked.epsilon, asked.delta),
        seed=asked.seed,
        progress=lambda phase: print(phase, file=sys.stderr),
        further=further,
        program="python -m verification",
    )
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
