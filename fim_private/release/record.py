"""A release: the chosen itemsets in order, what they cost, how they were made. Public from here on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, Any

import polars as pl

from fim_private.errors import InputError, UsageError
from fim_private.release.optional import pandas
from fim_private.release.terms import Terms
from fim_private.transactions.layout import Layout

if TYPE_CHECKING:
    import pandas as pd

UNLISTED = "(an item that does not occur)"
"""What stands for an item of a universe whose number was declared and whose names were not."""

SEEDED_NOTE = "seeded, not private: whoever knows the seed can undo the noise"


@dataclass(frozen=True, kw_only=True)
class ReleasedItemset:
    """One line of the answer.

    Args:
        rank: 1 for the first that was picked, of its size where each size was searched by itself.
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
        count: a noisy count of the units that hold it (beside what every itemset has to contain), in which units with
            many items count less.
    """

    item: str
    count: float


@dataclass(frozen=True, kw_only=True)
class Release:
    """What may be published.

    Args:
        itemsets: in the order they were picked; fewer than asked for, or none, where the mechanism stopped early.
        mechanism: the name of the mechanism.
        privacy: the record of the promise, as JSON has it: epsilon and delta (numbers), neighbours, unit, and what the
            promise takes as public: the layout of the data (which `layout` gives), and in words what else.
        plan: the record of the plan's public parameters, likewise. `terms` reads both records.
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

    @cached_property
    def terms(self) -> Terms:
        """What the records of the promise and of the plan say, as typed values."""
        return Terms.of(self.privacy, self.plan)

    @property
    def layout(self) -> Layout | None:
        """How the data was read, which is public; None in releases that do not say it."""
        return self.terms.privacy.layout

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
            fields = json.loads(text, object_pairs_hook=each_once)
            # What JSON itself does not know (infinity), and half letters, which it can name, are no values of ours.
            json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
            fields.pop("warning", None)
            itemsets = tuple(map(itemset_of, fields.pop("itemsets")))
            found = fields.pop("found", None)
            release = cls(itemsets=itemsets, found=None if found is None else tuple(map(_found_item, found)), **fields)
            _check(release, _OF_RELEASE)
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

    def to_mlxtend(self) -> pd.DataFrame:
        """The pandas frame of itemsets that mlxtend's `association_rules` takes: columns support and itemsets.

        `attrs["warning"]` of the frame marks a seeded run, for mlxtend knows no column for it.

        Where not every part of every itemset is in the release, mlxtend wants `support_only=True`; the rules of this
        package (`association_rules`) do with what there is.

        Raises:
            UsageError: supports were not released (they need counts and a public number of transactions), or pandas is
                not installed.
        """
        if any(itemset.support is None for itemset in self.itemsets):
            raise UsageError(
                "mlxtend works with supports, and this release has none.",
                "Release with counts and --public-transactions; rules do without: fim_private.association_rules.",
            )
        supports = [itemset.support for itemset in self.itemsets]
        itemsets = [frozenset(itemset.items) for itemset in self.itemsets]
        library = pandas()
        frame = library.DataFrame(
            {"support": library.Series(supports, dtype=float), "itemsets": library.Series(itemsets, dtype=object)}
        )
        return marked(frame, seeded=self.seeded)


def marked(frame: pd.DataFrame, *, seeded: bool) -> pd.DataFrame:
    """The frame, with a warning among its attributes where it comes from a seeded run."""
    if seeded:
        frame.attrs["warning"] = SEEDED_NOTE
    return frame


def each_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object; of two with one name, programs differ in which they take."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field is there twice")
    return fields


_OF_ITEMSET = {
    "rank": (int,),
    "count": (int, NoneType),
    "count_low": (int, NoneType),
    "count_high": (int, NoneType),
    "support": (int, float, NoneType),
    "lead": (int, NoneType),
}
_OF_RELEASE = {
    "mechanism": (str,),
    "privacy": (dict,),
    "plan": (dict,),
    "seeded": (bool,),
    "version": (str,),
    "command": (str, NoneType),
    "id": (str, NoneType),
}


def itemset_of(fields: Mapping[str, Any]) -> ReleasedItemset:
    """An itemset from what a file says of it.

    Raises:
        TypeError: a value is of another type, is missing, or is one more.
    """
    items = fields["items"]
    if not isinstance(items, list) or not items or not all(isinstance(item, str) for item in items):
        raise TypeError("items are a list of names")
    itemset = ReleasedItemset(**{**fields, "rank": fields["rank"], "items": tuple(items)})
    _check(itemset, _OF_ITEMSET)
    if itemset.rank < 1:
        raise TypeError("ranks begin at 1")
    return itemset


def _found_item(fields: Mapping[str, Any]) -> FoundItem:
    found = FoundItem(item=fields["item"], count=fields["count"])
    _check(found, {"item": (str,), "count": (int, float)})
    return found


def _check(value: object, types: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse values of other types; a truth value is no number, and numbers are finite and of at most 64 bits."""
    for name, allowed in types.items():
        found = getattr(value, name)
        if not isinstance(found, allowed) or (isinstance(found, bool) and bool not in allowed):
            raise TypeError(f"{name} is of another type")
        if isinstance(found, int | float) and not -(2**63) <= found < 2**63:
            raise TypeError(f"{name} is out of range")
