"""How to reproduce all this."""

from __future__ import annotations

import platform
from importlib.metadata import version

from fim_private.comparison.exact_counts import CAPS
from fim_private.mechanisms.registry import find
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Bullets, Code, Paragraph, Section, Table
from fim_private.report.drawing import Pictures
from fim_private.version import __version__


def section(results: ComparisonResults, _pictures: Pictures) -> Section:
    """Give the command, versions, seeds and checksums, and say what each mechanism does."""
    settings = results.settings
    capped = [name for name in settings.mechanisms if find(name).needs_cap]
    return Section(
        anchor="reproduce",
        title="How to reproduce this",
        parts=(
            Code(text=results.command),
            Bullets(
                items=(
                    f"fim_private {__version__}; Python {platform.python_version()}; "
                    + ", ".join(f"{name} {version(name)}" for name in ("polars", "numpy", "numba", "matplotlib")),
                    f"Seed {settings.seed}: the seed, the data's name, the cell and the number of the run determine "
                    "the noise of each run. Only the times differ. Seeded noise is not private, so nothing here is a "
                    "release.",
                    f"{settings.trials} runs per cell. Neighbours: {settings.relation}. Unit: "
                    f"{settings.described_unit}. delta {settings.delta}. Declared universe: "
                    + (
                        f"{settings.universe_items:,} items."
                        if settings.universe_items
                        else "as many items as occur. With private data nobody may know this number."
                    ),
                    *(
                        [
                            f"For {', '.join(capped)} each transaction is cut to {settings.max_items} random items. "
                            f"{min(CAPS, settings.trials)} such cuts take turns. The answer is measured against the "
                            "uncut counts."
                        ]
                        if capped
                        else []
                    ),
                    "The table of all runs, one row each, is `results.parquet` beside this page.",
                )
            ),
            Table(
                name="sources",
                head=("data", "file", "SHA-256 of its content"),
                rows=tuple((source.name, source.file, source.checksum) for source in results.sources),
                caption="**Data.**",
            ),
            Table(
                name="mechanisms",
                head=("mechanism", "what it does", "source"),
                rows=tuple((name, find(name).summary, find(name).source) for name in settings.mechanisms),
                caption="**Mechanisms.**",
                mechanism_column=0,
            ),
            Paragraph(
                text="Sources: K. Chaudhuri, D. Hsu, S. Song (2014), The Large Margin Mechanism for Differentially "
                "Private Maximization. R. Bhaskar et al. (2010), Discovering frequent patterns in sensitive data. R. "
                "McKenna, D. Sheldon (2020), Permute-and-Flip. D. Durfee, R. Rogers (2019), Practical Differentially "
                "Private Top-k Selection."
            ),
        ),
    )
