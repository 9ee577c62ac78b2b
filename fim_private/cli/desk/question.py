"""Step 3, the question: which itemsets, how many, of which items."""

import marimo as mo

from fim_private.cli.desk.command import Edited, Fields, options
from fim_private.cli.words import Choices, help_of

SIZES: dict[str, Choices] = {
    "Pairs of items": {"size": 2},
    "Single items, and pairs": {"sizes": "1-2", "per_size": True},
    "Triples of items": {"size": 3},
    "Single items": {"size": 1},
}
COUNTS: dict[str, Choices] = {
    "Their names, and about how often each is bought": {"release_counts": True},
    "The same, with rules: who buys A also buys B": {"release_counts": True, "with_subsets": True},
    "Their names alone, which are then the most reliable": {},
}
MORE = help_of("mine", ("universe_file", "must_contain", "exclude", "max_items"))


def form(edited: Edited) -> Fields:
    """What to find."""
    return Fields(
        "## 3. The question\n\n{sizes}\n\n{top}\n\n{counts}\n\n<details><summary>A catalogue, items to look for, items "
        f"to leave out: one in each line</summary>{''.join(map('{{{}}}'.format, MORE))}</details>",
        sizes=options(SIZES, "What to find", edited),
        top=mo.ui.number(1, 10_000, value=10, label="How many", on_change=edited),
        counts=options(COUNTS, "What to publish of them", edited),
        **{name: mo.ui.text_area(label=what, rows=1, full_width=True, on_change=edited) for name, what in MORE.items()},
    )


def choices(value: Choices) -> Choices:
    """The question."""
    more = {name: [line.strip() for line in value[name].splitlines() if line.strip()] for name in MORE}
    return {**SIZES[value["sizes"]], "top": value["top"], **COUNTS[value["counts"]], **more}
