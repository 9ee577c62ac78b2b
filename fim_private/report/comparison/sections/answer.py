"""Which mechanism, when: the table to decide by, what follows from it, and one figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from fim_private.mechanisms.registry import AUTO, find
from fim_private.privacy import NeighbouringRelation
from fim_private.report.comparison.choice import HARDLY, beside_the_best, nearest, take
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Bullets, Cell, Estimate, Figure, Paragraph, Part, Section, Table
from fim_private.report.drawing import Pictures, curves, legend, new_figure, ticks
from fim_private.report.promise_text import share_right
from fim_private.report.tables import kind

SHOWN_TOPS = (10, 20, 100)
DRAWN = (AUTO, "limited-domain", "exponential", "max-of-laplaces", "lmm-paper")
OPEN, TOLD = "no list", "told what occurs"
HEADS = {
    OPEN: "No list of items: only the baskets are needed",
    TOLD: "Told which items occur: names are not protected; the best case, and no private release",
}
GOOD = 0.9


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """Say what is protected, and which mechanism to take; show by what."""
    settings = results.settings
    what, unit = kind((settings.main_size,)), settings.described_unit
    counted = "units" if settings.counts_units else "transactions"
    guess = (
        f"whether {unit} is in the data"
        if settings.relation is NeighbouringRelation.ADD_REMOVE
        else f"which of two versions of {unit} is in the data"
    )
    guesses = " and ".join(
        f"{share_right(results.epsilon(epsilon), float(settings.delta))} % (epsilon {epsilon})"
        for epsilon in shown_epsilons(results)
    )
    named = [source.name for source in results.sources]
    parts: list[Part] = [
        Paragraph(text=f"**In short{f', {data}' if len(named) > 1 else ''}.** {short}")
        for data in named
        if (short := _short(results, data))
    ]
    described = [
        Paragraph(
            text=f"**The data, {source.name}.** {source.description} {counts.transactions:,} {counted}, "
            f"{counts.items:,} different items."
        )
        for source, counts in zip(results.sources, results.counts, strict=True)
    ]
    if len(named) == 1:  # what a transaction is comes before a question about transactions
        parts += described
    parts.append(
        Paragraph(
            text=f"**The question.** Which {what} are in the most {counted}? The answer is random, and that "
            f"protects people: someone who thinks it 50:50 {guess}, and decides after seeing the answer, is right in "
            f"at most {guesses} of cases. What is true of many is not hidden."
            + (
                " If somebody has several transactions, each is protected only by itself."
                if settings.unit_column is None
                else ""
            )
        )
    )
    for data, description in zip(named, described, strict=True):
        parts += [
            *([description] if len(named) > 1 else []),
            _decision(results, data),
            Bullets(items=tuple(_advice(results, data))),
            _figure(results, pictures, data),
            reach(results, data, settings.main_size),
        ]
    return Section(anchor="answer", title="Which mechanism, when?", parts=tuple(parts))


def shown_epsilons(results: ComparisonResults) -> tuple[str, ...]:
    """The middle epsilon, and the one nearest to a quarter of it."""
    middle = results.settings.middle_epsilon
    quarter = results.epsilon(middle) / 4
    return tuple(dict.fromkeys((middle, min(results.epsilons, key=lambda text: abs(results.epsilon(text) - quarter)))))


def groups(results: ComparisonResults, data: str, names: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The cells of these mechanisms for the main size, by the list of items they get."""
    settings = results.settings
    counts = next(counts for counts in results.counts if counts.name == data)
    grid = results.cells(data=data, size=settings.main_size).filter(pl.col("mechanism").is_in(names))
    listed = grid["universe_items"].is_not_null()
    found = {OPEN: grid.filter(~listed)}
    if settings.universe_items:
        return {**found, f"a public list of {settings.universe_items:,} items": grid.filter(listed)}
    padded = results.cells(data=data, padded=True).filter(
        pl.col("mechanism").is_in([name for name in names if uses_list(name)])
        & (pl.col("universe_items") >= 2 * counts.items)
    )
    if len(padded):
        items = min(padded["universe_items"].to_list())
        only = f", measured at epsilon {settings.middle_epsilon}" if len(results.epsilons) > 1 else ""
        found[f"a public list of {items:,} items{only}"] = padded.filter(pl.col("universe_items") == items)
    return {**found, TOLD: grid.filter(listed)}


def uses_list(name: str) -> bool:
    """Whether the mechanism works otherwise where it gets a public list of items."""
    row = find(name)
    return name == AUTO or row.needs_universe or (row.finds_items and row.serves_list)


def precision_table(
    results: ComparisonResults, data: str, names: Sequence[str], *, name: str, caption: str, collapsed: bool = False
) -> Table:
    """A row a mechanism and group: precision for short and long lists at two epsilons. The best of all are marked."""
    columns = [(top, epsilon) for epsilon in shown_epsilons(results) for top in nearest(results.tops, SHOWN_TOPS)]
    rows: list[tuple[Cell, ...]] = []
    for group, cells in groups(results, data, results.settings.mechanisms).items():
        known = {
            (row["mechanism"], row["top"], row["epsilon"]): Estimate(
                value=row["precision"],
                low=row["precision_low"],
                high=row["precision_high"],
                best=not row["clearly"] and row["best"] >= HARDLY,
            )
            for row in beside_the_best(cells).iter_rows(named=True)
        }
        present = [name for name in names if any(key[0] == name for key in known)]
        rows += [
            (HEADS.get(group, group.capitalize()), each, *(known.get((each, *column)) for column in columns))
            for each in present
        ]
    return Table(
        name=name,
        head=(
            "list of items",
            "mechanism",
            *(f"epsilon\u00a0{epsilon}, k\u00a0=\u00a0{top}" for top, epsilon in columns),
        ),
        rows=tuple(rows),
        caption=caption,
        mechanism_column=1,
        collapsed=collapsed,
        grouped=True,
    )


def _decision(results: ComparisonResults, data: str) -> Table:
    settings = results.settings
    delta = "delta 0" if settings.without_delta else f"delta <= {settings.delta}"
    return precision_table(
        results,
        data,
        results.main,
        name=f"answer-{data.lower()}",
        caption=f"**Precision at k**: the share of the true k most frequent {kind((settings.main_size,))} that the "
        f"answer names. Mean of {settings.trials} runs, ± 95 %, at the same epsilon and {delta} for the whole list; "
        "±0.00 means less than 0.005; – means not measured. **Bold: the best of all with the same list "
        f"of items, and those not clearly behind it.** Nothing is bold where the best is below {HARDLY}. "
        f"{settings.trials} runs may miss what happens in fewer than 1 run of {max(2, settings.trials // 3)}, such as "
        "an empty list.",
    )


def _advice(results: ComparisonResults, data: str) -> Iterator[str]:
    """What to take, by the rule of `choice.take`; what it finds; where nothing works."""
    found = groups(results, data, results.settings.mechanisms)
    for group, cells in found.items():
        asked = _asked(results, cells)
        if len(asked) and group != TOLD:
            yield _taken("no list of items" if group == OPEN else group.partition(", measured")[0], asked)
    single = (
        "with a public list, `permute-and-flip`. It is proved to be at least as good as `exponential` with the same "
        "epsilon for a pick (McKenna and Sheldon 2020)."
    )
    yield (
        f"**A single itemset:** {single}"
        if results.settings.without_delta
        else f"**A single itemset, or delta 0:** {single} For several itemsets and a delta above 0 `exponential` "
        "gets a larger epsilon for each pick. For more than a few itemsets at delta 0, `items-first` is better. This "
        "report did not run it there."
    )
    if AUTO in results.settings.mechanisms and (len(found[OPEN]) or results.settings.without_delta):
        yield (
            "**Tuning.** The settings of `auto`, `items-first` and `look-first` were chosen on public data sets, among "
            "them `groceries`, `retail` and `online-retail-customers`. On these their lead is somewhat too good. Other "
            "mechanisms have few settings, some of them chosen on the same data."
        )
    if not len(found[OPEN]):
        return
    # For all sizes: triples fail sooner than pairs.
    open_ = results.cells(data=data).filter(
        pl.col("mechanism").is_in(results.settings.mechanisms) & pl.col("universe_items").is_null()
    )
    sizes = {kind((size,)): open_.filter(pl.col("size") == size) for size in results.settings.sizes}
    yield f"**Where this fails.** {where_it_fails(sizes, results.epsilons)}"
    if "lmm-paper" in results.settings.mechanisms:
        yield (
            "**For comparison:** `lmm-paper`, the large margin mechanism as published (Chaudhuri, Hsu, Song 2014), "
            "with its own constants."
        )


def _asked(results: ComparisonResults, cells: pl.DataFrame) -> pl.DataFrame:
    """The cells that the table shows: the advice rests on them."""
    tops = nearest(results.tops, SHOWN_TOPS)
    return cells.filter(pl.col("epsilon").is_in(shown_epsilons(results)) & pl.col("top").is_in(tops))


def _taken(group: str, asked: pl.DataFrame) -> str:
    """What to take with this list of items."""
    name = take(asked)
    mine = beside_the_best(asked).filter(pl.col("mechanism") == name)
    ran = "; ".join(f"`{ran}`: {find(ran).summary}" for ran in sorted(mine["ran"].unique()))
    known = f"the default; it took {ran}" if name == AUTO else find(name).summary
    behind = mine["clearly"].sum()
    return f"**{group.capitalize()}: take `{name}`** ({known}). " + (
        f"Another mechanism with the same list is clearly better in {behind} of {len(mine)} columns."
        if behind
        else "No other mechanism that was run with the same list is clearly better in any column."
    )


def _short(results: ComparisonResults, data: str) -> str | None:
    """What to take without a list, and what it finds of about 20 itemsets; None if nothing was run without a list.

    With delta 0 all is run with one.
    """
    found = groups(results, data, results.settings.mechanisms)
    listed = next(reversed(found)) if results.settings.without_delta else OPEN
    asked = _asked(results, found[listed])
    if not len(asked):
        return None
    name, (top,) = take(asked), nearest(results.tops, (20,))
    right = {
        row["epsilon"]: f"{row['precision'] * top:.1f} at epsilon {row['epsilon']}, beside "
        f"{max(0.0, row['named'] - row['precision'] * top):.1f} wrong ones"
        + (", which is of no use" if row["precision"] < HARDLY else "")
        for row in asked.filter((pl.col("mechanism") == name) & (pl.col("top") == top)).iter_rows(named=True)
    }
    what = kind((results.settings.main_size,))
    terms = {OPEN: "Without a list of items", TOLD: "With a list of the items that occur"}.get(listed, f"With {listed}")
    return (
        f"{terms} take `{name}`. Of the true top {top} {what} it finds on average "
        f"{'; '.join(right[epsilon] for epsilon in shown_epsilons(results))}."
    )


def where_it_fails(cells: dict[str, pl.DataFrame], epsilons: Sequence[str]) -> str:
    """What not to ask for without a list, at which epsilons, and what to do instead.

    The cells of each kind of itemsets are those of mechanisms without a list. Epsilons increase.
    """
    hopeless: dict[str, list[str]] = {}
    for at in epsilons:
        found = [words for what, each in cells.items() if (words := _hopeless(each, at, what))]
        if found:
            hopeless.setdefault(", or for ".join(found), []).append(at)
    if not hopeless:
        return "At every k and epsilon here, some mechanism without a list clearly names half."
    listed = "; ".join(f"for {words} at epsilon {' or '.join(at)}" for words, at in hopeless.items())
    fewer = set(hopeless) - {f"any {what}" for what in cells}
    instead = "Ask for fewer, or spend more epsilon." if fewer else "Spend more epsilon."
    return f"Do not ask {listed}: no mechanism without a list clearly finds half of them. {instead}"


def _hopeless(cells: pl.DataFrame, epsilon: str, what: str) -> str | None:
    """How many itemsets not to ask for: the values of k at which no interval lies above one half, in words."""
    best = cells.filter(pl.col("epsilon") == epsilon).group_by("top").agg(pl.col("precision_low").max()).sort("top")
    tops, fails = best["top"].to_list(), (best["precision_low"] < 1 / 2).to_list()
    if all(fails):
        return f"any {what}"
    last = len(tops) - fails[::-1].index(False)  # from here on all fail
    some = [f"{top:,}" for top, failed in zip(tops[:last], fails, strict=False) if failed]
    some += [f"{tops[last]:,} or more"] if last < len(tops) else []
    return f"{', or for '.join(some)} {what}" if some else None


def _figure(results: ComparisonResults, pictures: Pictures, data: str) -> Figure:
    settings = results.settings
    names = [name for name in DRAWN if name in settings.mechanisms] or list(results.main)
    epsilons = shown_epsilons(results)
    figure, axes = new_figure(1, len(epsilons), height=2.8)
    for panel, epsilon in zip(axes, epsilons, strict=True):
        cells = results.cells(data=data, size=settings.main_size, epsilon=epsilon)
        curves(panel, results.by_mechanism(cells.filter(pl.col("mechanism").is_in(names))), "top")
        panel.set_title(f"epsilon {epsilon}")
        ticks(panel, results.all_tops, list(map(str, results.all_tops)))
        panel.set_xlabel("k, itemsets asked for (log scale)")
    axes[0].set_ylabel("precision at k")
    legend(figure, names)
    ends = [name for name in names if max(settings.tops_of(name)) < max(results.all_tops)]
    return pictures.finish(
        figure,
        name=f"answer-{data.lower()}",
        alt=f"Precision against k on {data} at epsilon {' and '.join(epsilons)}",
        caption="**Precision against the number of itemsets asked for.** "
        f"{kind((settings.main_size,)).capitalize()} of {data}; bars are 95 % intervals."
        + _told(results, names)
        + (
            f" The lines of {results.names(ends)} end at k = {max(results.tops)}, the longest list asked."
            if ends
            else ""
        ),
    )


def _told(results: ComparisonResults, names: Sequence[str]) -> str:
    """Which of these mechanisms are told which items occur, as a sentence after others."""
    told = [name for name in names if find(name).needs_universe or results.settings.without_delta]
    if not told or results.settings.universe_items:
        return ""
    return f" {results.names(told)} {'is' if len(told) == 1 else 'are'} told which items occur."


def reach(results: ComparisonResults, data: str, size: int) -> Table:
    """The smallest epsilon at which each mechanism reaches a precision of `GOOD`, by k."""
    tops = results.all_tops
    return Table(
        name=f"reach-{data.lower()}-{size}",
        head=("mechanism", *(f"k\u00a0=\u00a0{top}" for top in tops)),
        rows=tuple(
            (name, *(_reached(frame.filter(pl.col("top") == top).sort("epsilon_value")) for top in tops))
            for name, frame in results.by_mechanism(results.cells(data=data, size=size))
            if name in results.main
        ),
        caption=f"**The smallest epsilon that reaches a precision of {GOOD}**, {kind((size,))} of {data}, of the "
        f"epsilons {', '.join(results.epsilons)}. A ~ means that with other noise it could be another one; > "
        "means not reached; – not measured. Sometimes a longer list is easier, because there is a larger drop behind "
        "its last place." + _told(results, results.main),
        mechanism_column=0,
    )


def _reached(rows: pl.DataFrame) -> str | None:
    """The smallest epsilon of these cells, sorted, that reaches `GOOD`; None where there are none."""
    before = 0.0
    for row in rows.iter_rows(named=True):
        if row["precision"] >= GOOD:
            sure = row["precision_low"] >= GOOD > before
            return ("" if sure else "~") + str(row["epsilon"])
        before = row["precision_high"]
    return f"> {rows['epsilon'][-1]}" if len(rows) else None
