"""A release as a page: the itemsets, drawings of them, and the promise. Only the release is read."""

from __future__ import annotations

from fim_private.mechanisms.items_first import BY_LEVERAGE
from fim_private.release import Release
from fim_private.release.release import SEEDED_NOTE
from fim_private.report.document import Bullets, Cell, Code, Document, Paragraph, Part, Section, Table
from fim_private.report.document.text import stated
from fim_private.report.pages.count_bars import count_bars
from fim_private.report.pages.item_graph import item_graph
from fim_private.report.promise_text import counts_note, promised, what_counts
from fim_private.report.tables import JOINT

COLUMNS = (
    ("count", "count"),
    ("count_low", "at least"),
    ("count_high", "at most"),
    ("support", "support"),
    ("expected", "expected"),
    ("leverage", "leverage"),
    ("lift", "lift"),
    ("lead", "noisy lead"),
)
"""What an itemset may have besides its rank, and its heading in the table."""

NOTHING = (
    "The run worked, but no itemset was clear enough to name under this protection. A public list of the items, more "
    "data, a larger epsilon or fewer itemsets would help."
)


def release_document(release: Release) -> Document:
    """The page. The release's own texts stand only in tables, drawings and code, which show them unchanged."""
    sections = [
        Section(anchor="itemsets", title="What is bought together", parts=tuple(_itemsets(release))),
        Section(anchor="promise", title="What is promised", parts=(Bullets(items=tuple(promised(release))),)),
        Section(anchor="making", title="How it was made", parts=tuple(_making(release))),
    ]
    graph = item_graph(release)
    if graph is not None:
        sections.insert(1, Section(anchor="graph", title="Items bought together", parts=(graph,)))
    return Document(
        title=_title(release),
        banner=_banner(release),
        alarm=release.seeded or release.terms.privacy.promise is None,
        introduction=(Paragraph(text=_introduction(release)),),
        sections=tuple(sections),
        mechanisms=(),
        footer="Made by `fim-private show` from the release alone.",
    )


def _title(release: Release) -> str:
    if not release.itemsets:
        return "Frequent itemsets: none could be named"
    sizes = sorted({len(itemset.items) for itemset in release.itemsets})
    what = {1: "items", 2: "pairs of items", 3: "triples of items"}.get(sizes[0], f"itemsets of {sizes[0]} items")
    if len(sizes) > 1:
        what = f"itemsets of {sizes[0]} to {sizes[-1]} items"
    named = len(release.itemsets)
    if release.terms.plan.by == BY_LEVERAGE:
        return "1 pair of items that goes together" if named == 1 else f"{named:,} pairs of items that go together"
    return f"The most frequent {what}" if named == 1 else f"{named:,} frequent {what}"


def _banner(release: Release) -> str:
    if release.seeded:
        return "SEEDED, NOT PRIVATE: anyone who knows the seed can undo the noise. Do not publish this page."
    promise = release.terms.privacy.promise
    if promise is None:
        return "WITHOUT A PROMISE: the file does not say what is protected. Treat it as not private."
    epsilon, delta = stated(promise.epsilon), stated(promise.delta)
    return f"Differentially private: epsilon {epsilon}, delta {delta}. Noise was added to what is shown."


def _introduction(release: Release) -> str:
    if release.seeded:
        return f"**This release is not private: {SEEDED_NOTE}.** Everything below is for tests and teaching."
    return (
        "This page shows what many have in common. Added noise hides what is in the data of any one. "
        "[What is promised](#promise) says who is protected, and how well."
    )


def _itemsets(release: Release) -> list[Part]:
    if not release.itemsets:
        least = release.terms.plan.min_count
        return [Paragraph(text=NOTHING if least is None else f"No itemset had a noisy count above {least:,}.")]
    given = [
        (field, name)
        for field, name in COLUMNS
        if any(getattr(itemset, field) is not None for itemset in release.itemsets)
    ]
    rows: list[tuple[Cell, ...]] = [
        (itemset.rank, JOINT.join(itemset.items), *(getattr(itemset, field) for field, _ in given))
        for itemset in release.itemsets
    ]
    caption = "The itemsets in the order in which they were picked."
    names = [name for _, name in given]
    if "noisy lead" in names:
        counted = what_counts(release.terms.plan)
        caption += f" The noisy lead is the number of {counted}, with noise, by which a pick was ahead of the next."
    parts: list[Part] = [
        Table(name="itemsets", head=("rank", "itemset", *names), rows=tuple(rows), caption=caption, digits=4)
    ]
    note = counts_note(release)
    if note is not None:
        parts.append(Paragraph(text=note))
    bars = count_bars(release)
    return parts if bars is None else [*parts, bars]


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
                caption="How the budget was spent. Rho is the cost under zero-concentrated privacy. All lines together "
                "compose to the epsilon and delta above.",
                digits=6,
            )
        )
    if release.command:
        parts += [Paragraph(text="The command that made the release:"), Code(text=release.command)]
    if release.found:
        parts.append(
            Table(
                name="found",
                head=("item", "noisy count"),
                rows=tuple((found.item, found.count) for found in release.found),
                caption=f"The {len(release.found):,} items that were first found to be frequent. They are part of the "
                "release. Transactions with many items count less here.",
                digits=0,
                collapsed=True,
            )
        )
    return parts
