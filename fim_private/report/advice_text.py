"""Advice on how many itemsets to ask for, in words and as rows: for the terminal and for the page of a plan."""

from __future__ import annotations

from fim_private.plan.advice import Advice, Column
from fim_private.plan.outlook import Outlook
from fim_private.report.tables import kind

LITTLE = 0.03
"""A list that adds at least this to the share that is right helps a little."""
HEAD = ("ask for", "right", "right, with counts", "counts off by")
RIGHT = (
    "Right means: the share of the true top that the answer is expected to name. Counts off by: in 19 of 20 runs, the "
    "noise changes the last count by at most this share. A list is worth asking for if two thirds of it are right, and "
    "counts are if they are off by at most a quarter."
)
SOURCE = (
    "This is computed from the mechanism's noise and from how often itemsets occur in four public data sets of shops. "
    "Your data may differ: half or twice as many may be worth asking for, and far more where a few items are in most "
    "baskets."
)


def declared(advice: Advice) -> str:
    """What was declared of the data."""
    shop, unit = advice.shop, advice.question.unit
    who = "baskets" if unit.column is None or unit.max_transactions is not None else "customers"
    items = "item" if shop.items_per_transaction == 1 else "items"
    of_all = "" if shop.items is None else f", of {shop.items:,} different ones"
    return f"about {shop.transactions:,} {who} of about {shop.items_per_transaction:,g} {items} each{of_all}"


def advice_rows(advice: Advice) -> list[tuple[str, ...]]:
    """A row for each number of itemsets, under `HEAD`."""
    return [
        (f"{top:,}", _right(advice.plain.at(top)), _right(advice.counted.at(top)), _error(advice.counted.at(top)))
        for top in advice.tops
    ]


def advice_words(advice: Advice, *, options: bool = True) -> list[str]:
    """What follows from the rows, one paragraph for each point, perhaps without options of the command line."""
    what = kind(advice.question.sizes)
    paragraphs = []
    if advice.plain.most is None:
        paragraphs.append(f"This is too little data to name even a few {what} reliably at this epsilon.")
    else:
        paragraphs.append(f"Ask for {_most(advice.plain, advice.counted, what)}.")
    if advice.plain.too_many is not None:
        paragraphs[0] += f" Of {advice.plain.too_many:,}, more than half would be wrong or missing."
    if advice.listed is not None and advice.listed_counted is not None:
        with_list = advice.listed.most or 0, advice.listed_counted.most or 0
        without = advice.plain.most or 0, advice.counted.most or 0
        begin = f"A public list of your items, such as a catalogue of {advice.catalogue:,}"
        begin += " (--universe-file)," if options else ","
        if advice.listed.most is None:
            paragraphs.append(f"{begin} would not be enough. A larger epsilon or more data would help.")
        elif with_list[0] <= without[0] and with_list[1] <= without[1]:
            paragraphs.append(f"{begin} {_helps(advice.plain, advice.listed, what)}.")
        elif with_list[1] < without[1]:
            paragraphs.append(f"{begin} would help if no counts are released: then ask for {with_list[0]:,} {what}.")
        else:
            paragraphs.append(
                f"{begin} would help: with it, ask for {_most(advice.listed, advice.listed_counted, what)}."
            )
    return paragraphs


def advice_record(advice: Advice) -> dict[str, object]:
    """The advice as plain values, for JSON."""

    def column(found: Column | None) -> dict[str, object] | None:
        if found is None:
            return None
        rows = [
            {"top": each.plan.top, "mechanism": each.plan.mechanism_name, "right": round(each.right, 3),
             "count": round(each.count), "count_error": each.count_error}
            for each in found.outlooks
        ]  # fmt: skip
        return {"ask_for": found.most, "too_many": found.too_many, "lists": rows}

    return {
        "transactions": advice.shop.transactions,
        "items_per_transaction": advice.shop.items_per_transaction,
        "sizes": list(advice.question.sizes),
        "without_counts": column(advice.plain),
        "with_counts": column(advice.counted),
        "with_a_list": column(advice.listed),
        "with_a_list_and_counts": column(advice.listed_counted),
        "items_on_the_list": advice.catalogue,
    }


def _helps(plain: Column, listed: Column, what: str) -> str:
    """What a list does for a question that stays as long."""
    before, after = (None if plain.most is None else column.at(plain.most) for column in (plain, listed))
    if before is None or after is None or after.right < before.right + LITTLE:
        return "would not help"
    return f"would help a little: of {plain.most:,} {what}, {_right(after)} would be right in place of {_right(before)}"


def _most(plain: Column, counted: Column, what: str) -> str:
    if (counted.most or plain.most) == 1:
        what = what.replace("itemsets", "itemset") if "itemsets" in what else what.removesuffix("s")
    if counted.most is None:
        return f"{plain.most:,} {what} without counts; counts would take too much of the budget, or be too noisy"
    if counted.most == plain.most:
        return f"{plain.most:,} {what}, with counts or without"
    return f"{counted.most:,} {what} with counts, or {plain.most:,} without"


def _right(found: Outlook | None) -> str:
    return "-" if found is None else f"{100 * found.right:.0f} %"


def _error(found: Outlook | None) -> str:
    if found is None or found.count_error is None:
        return "-"
    return f"{100 * found.count_error:.0f} %" if found.count_error < 1 else "100 % or more"
