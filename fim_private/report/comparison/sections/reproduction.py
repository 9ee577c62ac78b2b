"""What the words mean, and how to reproduce all this."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import version

from fim_private.comparison.exact_counts import CAPS
from fim_private.mechanisms.registry import find
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Bullets, Code, Section, Table
from fim_private.report.document.text import times_as_likely
from fim_private.report.drawing import Pictures
from fim_private.version import __version__


def section(results: ComparisonResults, _pictures: Pictures) -> Section:
    """Say what words mean. Give the command, versions, seeds and checksums."""
    settings = results.settings
    capped = [name for name in settings.mechanisms if find(name).needs_cap]
    return Section(
        anchor="reproduce",
        title="Words, data, and how to reproduce this",
        parts=(
            Bullets(items=tuple(_words(results))),
            Table(
                name="mechanisms",
                head=("mechanism", "what it does"),
                rows=tuple((name, find(name).summary) for name in results.main),
                caption="**Mechanisms.**",
                mechanism_column=0,
            ),
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
                            f"{' and '.join(f'`{name}`' for name in capped)} gets each transaction cut to "
                            f"{settings.max_items} random items. "
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
        ),
        folded=True,
    )


def _words(results: ComparisonResults) -> Iterator[str]:
    """The words of the report, and the data sets in full."""
    settings = results.settings
    holders = (
        "units that hold them all in one transaction" if settings.counts_units else "transactions that hold them all"
    )
    yield (
        f"**Itemset** of size r: r different items. Its **count**: the number of {holders}. **k**: how many itemsets "
        "are asked for. If a list is shorter than k, the missing itemsets count as wrong."
    )
    yield (
        f"**Unit**: what is protected, here {settings.described_unit}. **Neighbours**: two data sets that differ in "
        f"one unit ({settings.relation}). **Epsilon, delta**: between neighbours, any set of answers is at most "
        f"e^epsilon times as likely, plus delta. At epsilon {settings.middle_epsilon} the factor is "
        f"{times_as_likely(results.epsilon(settings.middle_epsilon))}."
    )
    yield (
        "**Calibrated**: with the smallest noise and thresholds that provably keep the promise. `-textbook` and "
        "`-paper` have published constants instead. **Bulk**: the rest of the ranking, far below place k."
    )
    for source, counts in zip(results.sources, results.counts, strict=True):
        sizes = ", ".join(f"{profile.occurring:,} of size {size}" for size, profile in counts.profiles.items())
        yield f"**{source.name}**: different itemsets that occur: {sizes}. {source.citation}"
