"""A release: the chosen itemsets in order, what they cost, how they were made. Public from here on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from fim_private.errors import InputError
from fim_private.release.checking import check

SEEDED_NOTE = "seeded, not private: whoever knows the seed can undo the noise"


@dataclass(frozen=True, kw_only=True)
class ReleasedItemset:
    """One line of the answer.

    Args:
        rank: 1 for the first that was picked.
        items: the names, in item order.
        count: a noisy count in transactions, where counts were released; in those of items-first long transactions
            count less.
        count_low, count_high: an interval that held the true count with 95 % chance when the noise was drawn; None
            where the noise of the count says too little about its error.
        support: the count over the number of transactions, where that was declared public.
        lead: by how many transactions its noisy count exceeded the runner-up's, rounded down, where the mechanism
            gives that.
    """

    rank: int
    items: tuple[str, ...]
    count: int | None = None
    count_low: int | None = None
    count_high: int | None = None
    support: float | None = None
    lead: int | None = None


@dataclass(frozen=True, kw_only=True)
class FoundItem:
    """An item that was found to be frequent.

    Args:
        item: its name.
        count: a noisy count of the units that hold it, in which units with many items count less.
    """

    item: str
    count: float


@dataclass(frozen=True, kw_only=True)
class Release:
    """What may be published.

    Args:
        itemsets: in the order they were picked; fewer than asked for, or none, where the mechanism stopped early.
        mechanism: the name of the mechanism.
        privacy: epsilon and delta (numbers), neighbours, unit, and in words what the promise takes as public.
        plan: the plan's public parameters.
        seeded: whether the noise can be repeated; then the release is not private.
        version: the version of this program.
        command: what was typed, without the data.
        found: the items that were found first, in decreasing order of count, where the mechanism finds items.
        id: under which it stands in the ledger that it was charged to; None without a ledger.
    """

    itemsets: tuple[ReleasedItemset, ...]
    mechanism: str
    privacy: dict[str, Any]
    plan: dict[str, Any]
    seeded: bool
    version: str
    command: str | None = None
    found: tuple[FoundItem, ...] | None = None
    id: str | None = None

    def to_json(self) -> str:
        """The whole release as JSON text; `from_json` reads it back."""
        fields = asdict(self)
        if self.seeded:
            fields["warning"] = SEEDED_NOTE
        return json.dumps(fields, ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """The release that `to_json` wrote.

        Raises:
            InputError: the text is not a release.
        """
        try:
            fields = json.loads(text)
            fields.pop("warning", None)
            if not all(isinstance(line["items"], list) for line in fields["itemsets"]):
                raise TypeError
            itemsets = tuple(
                ReleasedItemset(**{**line, "rank": line["rank"], "items": tuple(line["items"])})
                for line in fields.pop("itemsets")
            )
            found = fields.pop("found", None)
            items = (
                None if found is None else tuple(FoundItem(item=line["item"], count=line["count"]) for line in found)
            )
            release = cls(itemsets=itemsets, found=items, **fields)
            check(release)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError("This is not a release.", "Give a JSON file that `fim-private mine -o` wrote.") from None
        return release

    def to_polars(self) -> pl.DataFrame:
        """One row an itemset: rank, items (list of text), counts, support and lead (null unless released), seeded."""
        return pl.DataFrame(
            [{**asdict(itemset), "items": list(itemset.items), "seeded": self.seeded} for itemset in self.itemsets],
            schema={
                "rank": pl.Int64,
                "items": pl.List(pl.String),
                "count": pl.Int64,
                "count_low": pl.Int64,
                "count_high": pl.Int64,
                "support": pl.Float64,
                "lead": pl.Int64,
                "seeded": pl.Boolean,
            },
        )
