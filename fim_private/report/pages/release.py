"""A release as a page: the itemsets, drawings of them, and the promise. Only the release is read."""

from __future__ import annotations

from fim_private.mechanisms.protocol import BY_LEVERAGE
from fim_private.release import Release, ReleasedItemset
from fim_private.report.document import Cell, Code, Document, Paragraph, Part, Section, Table
from fim_private.report.pages.count_bars import count_bars
from fim_private.report.pages.frame import promise_section, released_page
from fim_private.report.pages.item_graph import item_graph
from fim_private.report.pages.rules import rules_parts
from fim_private.report.promise_text import what_counts
from fim_private.report.remarks import counts_note, keep_note
from fim_private.report.tables import JOINT, PICKED, groups, kind, subsets_by_count
from fim_private.rules import association_rules

MOST_SUBSETS = 20
"""More subsets are folded away."""
MOST_RULES = 20
"""Rules on the page of a release; `fim-private rules --html` shows all."""

ENDS = ("at least", "at most")
"""Headings in a terminal that stand in one column on a page."""

NOTHING = (
    "The run worked, but no itemset was clear enough to name under this protection. More data, a larger epsilon or "
    "fewer itemsets would help; a public list of the items may help."
)


def release_document(release: Release, *, title: str | None = None) -> Document:
    """The page. The release's own texts stand only in tables, drawings and code, which show them unchanged."""
    sections = [
        Section(anchor="itemsets", title="What is bought together", parts=tuple(_itemsets(release))),
        promise_section(release),
        Section(anchor="making", title="How it was made", parts=tuple(_making(release))),
    ]
    graph = item_graph(release)
    if graph is not None:
        sections.insert(1, Section(anchor="graph", title="Items bought together", parts=(graph,)))
    rules = _rules(release)
    if rules:
        sections.insert(-2, Section(anchor="rules", title="What goes with what", parts=tuple(rules)))
    return released_page(release, title=title or _title(release), sections=tuple(sections), command="show")


def _title(release: Release) -> str:
    if not release.itemsets:
        return "Frequent itemsets: none could be named"
    sizes = tuple(sorted({len(itemset.items) for itemset in release.itemsets}))
    what = kind(sizes) + (" of items" if sizes in {(2,), (3,)} else "")
    named = len(release.itemsets)
    if release.terms.plan.by == BY_LEVERAGE:
        return "1 pair of items that goes together" if named == 1 else f"{named:,} pairs of items that go together"
    return f"The most frequent {what}" if named == 1 else f"{named:,} frequent {what}"


def _itemsets(release: Release) -> list[Part]:
    if not release.itemsets:
        least = release.terms.plan.min_count
        return [Paragraph(text=NOTHING if least is None else f"No itemset had a noisy count above {least:,}.")]
    parts: list[Part] = []
    for group in groups(release):
        names = [name for _, name in group.columns]
        columns = [(field, name) for field, name in group.columns if name not in ENDS]
        if not set(ENDS).isdisjoint(names):
            columns.insert(1, ("between", "between"))
        # On a phone the first columns are seen first, and the order of the picks matters least.
        places = [("rank", group.place)]
        fields = [*places, ("joint", "itemset"), *columns]
        if group.place == PICKED:
            fields = [("joint", "itemset"), *columns, *places]
        rows = [tuple(_cell(itemset, field) for field, _ in fields) for itemset in group.itemsets]
        caption = (
            "In the order in which they were picked."
            if group.place == "rank" and "count" not in names
            else "The largest first."
        )
        if group.place == PICKED:
            caption += " The last column says in which order they were picked."
        if group.heading is not None:
            caption = f"**{group.heading}.** {caption}"
        if "noisy lead" in names:
            counted = what_counts(release.terms.plan)
            caption += f" The noisy lead is the number of {counted}, with noise, by which a pick was ahead of the next."
        parts.append(
            Table(
                name=f"itemsets-{group.size}" if group.heading else "itemsets",
                head=tuple(name for _, name in fields),
                rows=tuple(rows),
                caption=caption,
                digits=4,
            )
        )
    asked, named = release.terms.plan.top, len(release.itemsets)
    whole = release.terms.plan.min_count is None and "keep" not in release.plan and len(parts) == 1
    if whole and asked is not None and named < asked:
        parts.append(
            Paragraph(text=f"{asked:,} were asked for. No other was clear enough to name under this protection.")
        )
    if release.subsets:
        parts.append(
            Table(
                name="subsets",
                head=("subset", "count", "between"),
                rows=tuple(
                    tuple(_cell(each, field) for field in ("joint", "count", "between"))
                    for each in subsets_by_count(release)
                ),
                caption=f"All {len(release.subsets):,} other subsets of these itemsets, counted for the rules.",
                collapsed=len(release.subsets) > MOST_SUBSETS,
            )
        )
    parts += [Paragraph(text=note) for note in (keep_note(release), counts_note(release)) if note is not None]
    return [*parts, *count_bars(release)]


def _cell(itemset: ReleasedItemset, field: str) -> Cell:
    """One cell of the table of itemsets."""
    if field == "joint":
        return JOINT.join(itemset.items)
    if field == "between":
        # On a phone an interval would otherwise be broken over two lines.
        return None if itemset.count_low is None else f"{itemset.count_low:,}\u00a0to\u00a0{itemset.count_high or 0:,}"
    value: Cell = getattr(itemset, field)
    return value


def _rules(release: Release) -> list[Part]:
    """The first rules, if there are counts and rules that they tell of."""
    if all(itemset.count is None for itemset in release.itemsets):
        return []
    found = association_rules(release).telling()
    return rules_parts(found, release, most=MOST_RULES) if found.rules else []


def _making(release: Release) -> list[Part]:
    privacy, plan = release.terms.privacy, release.terms.plan
    facts: list[tuple[Cell, ...]] = [("mechanism", release.mechanism), ("version", release.version)]
    facts += [
        (name, value if isinstance(value, str) else f"{value:,}")
        for name, value in (
            ("in the ledger as", release.id),
            ("neighbouring data sets", privacy.neighbours),
            ("itemsets asked for", plan.top),
            (f"most items kept per {what_counts(plan).removesuffix('s')}", plan.max_items),
            ("only counts above", plan.min_count),
            ("only itemsets that are", plan.keep),
            (f"number of {what_counts(plan)}, declared public", privacy.public_transactions),
        )
        if value is not None
    ]
    parts: list[Part] = [Table(name="facts", head=("what", "value"), rows=tuple(facts), caption="The plan's settings.")]
    if plan.spending:
        head = ("what is paid for", "epsilon", "rho", "times")
        rows = tuple((line.what, line.epsilon, line.rho, line.times) for line in plan.spending)
        parts.append(
            Table(
                name="spending",
                head=head,
                rows=rows,
                caption="How the budget was spent. Rho is what a step costs as Gaussian noise. All lines together "
                "compose to the epsilon and delta above.",
                digits=6,
            )
        )
    if release.command:
        parts += [Paragraph(text="The command that made the release:"), Code(text=release.command)]
    # An item has one number on a page: the count that was released for it, if there is one.
    counted = {itemset.items for itemset in (*release.itemsets, *release.subsets) if itemset.count is not None}
    further = [found for found in release.found or () if (found.item,) not in counted]
    if further:
        parts.append(
            Table(
                name="found",
                head=("item", "noisy count"),
                rows=tuple((found.item, found.count) for found in further),
                caption=f"The {len(further):,} items that were first found to be frequent. They are part of the "
                "release. Long transactions count less, and all counts are raised for it by the same factor.",
                digits=0,
                collapsed=True,
            )
        )
    return parts
