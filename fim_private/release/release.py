"""A release: the selected itemsets in order, what they cost, and how they were made. All of it is public."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, Any

from fim_private.errors import InputError, UsageError
from fim_private.notebook_table import braces, notebook_table
from fim_private.printable import json_text, printable
from fim_private.release.terms import Terms
from fim_private.transactions.layout import Layout

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

UNLISTED = "(an item that does not occur)"
"""In releases of older versions, shown in place of a name if the universe was declared by its number only."""

SHOWN = 5
"""Itemsets in a short description of a release."""

SEEDED_NOTE = "seeded, not private: whoever knows the seed can undo the noise"


@dataclass(frozen=True, kw_only=True)
class ReleasedItemset:
    """One line of the answer.

    Args:
        rank: 1 for the first that was picked; per size, if each size was searched by itself.
        items: the names, in item order.
        count: a noisy count in transactions, if counts were released. In counts of items-first, long transactions count
            less, and all counts are raised by the same factor for it.
        count_low, count_high: an interval that holds the true count with probability 95 % over the noise; None if the
            noise says too little about the count's error.
        support: the count over the number of transactions, if that number was declared public.
        expected: about how many transactions would hold a pair if one item did not depend on the other, from noisy
            counts of the items, if pairs are ranked by leverage, counts were released and the number of transactions is
            public.
        lead: the lead of its noisy count over the runner-up's, in transactions, rounded down; None if the mechanism
            gives no leads.
    """

    rank: int
    items: tuple[str, ...]
    count: int | None = None
    count_low: int | None = None
    count_high: int | None = None
    support: float | None = None
    expected: int | None = None
    lead: int | None = None

    def __repr__(self) -> str:
        count = "" if self.count is None else f", count {self.count:,}"
        return f"<{braces(self.items)}, rank {self.rank}{count}>"

    @property
    def leverage(self) -> int | None:
        """How many more transactions hold a pair than expected; None without a count."""
        return None if self.count is None or self.expected is None else self.count - self.expected

    @property
    def lift(self) -> float | None:
        """How many times as often a pair occurs as expected; None without a count."""
        return None if self.count is None or not self.expected else self.count / self.expected


@dataclass(frozen=True, kw_only=True)
class FoundItem:
    """An item that was found to be frequent.

    Args:
        item: its name.
        count: a noisy count of the units that hold the item (and all items that every itemset must contain). Units with
            many items count less, and all counts are raised for it by the same factor.
    """

    item: str
    count: float


@dataclass(frozen=True, kw_only=True)
class Release:
    """What may be published.

    Args:
        itemsets: in the order picked; fewer than asked for, or none, if the mechanism stopped early.
        mechanism: the name of the mechanism.
        privacy: the record of the promise, in JSON's types: epsilon and delta (numbers), neighbours, unit, and what the
            promise takes as public: the layout of the data (see `layout`) and, in words, anything else.
        plan: the record of the plan's public parameters, in JSON's types. `terms` reads both records.
        seeded: whether the noise can be repeated. If so, the release is not private.
        version: the version of this program.
        command: what was typed, without the data.
        found: the items that were found first, in decreasing order of count, if the mechanism finds items.
        subsets: the other subsets of the itemsets, with counts, if these were asked for.
        id: the release's id in the ledger that was charged; None without a ledger.
    """

    itemsets: tuple[ReleasedItemset, ...]
    mechanism: str
    privacy: dict[str, Any]
    plan: dict[str, Any]
    seeded: bool
    version: str
    command: str | None = None
    found: tuple[FoundItem, ...] | None = None
    subsets: tuple[ReleasedItemset, ...] = ()
    id: str | None = None

    def __repr__(self) -> str:
        shown = [braces(itemset.items) for itemset in self.itemsets[:SHOWN]]
        more = [f"and {len(self.itemsets) - SHOWN:,} more"] if len(self.itemsets) > SHOWN else []
        return f"<Release, {self._in_short()}: {', '.join([*shown, *more]) or 'no itemset'}>"

    def _repr_html_(self) -> str:
        """The itemsets as a table, as notebooks show a value."""
        fields = [
            name
            for name in OF_ITEMSET
            if name != "rank" and any(getattr(itemset, name) is not None for itemset in self.itemsets)
        ]
        rows = [
            [itemset.rank, " + ".join(itemset.items), *(getattr(itemset, name) for name in fields)]
            for itemset in self.itemsets
        ]
        return notebook_table(f"Release, {self._in_short()}", ["rank", "itemset", *fields], rows)

    def _in_short(self) -> str:
        promise = self.terms.privacy.promise
        budget = "no promise" if promise is None else f"epsilon {promise.epsilon:g}, delta {promise.delta:g}"
        return f"{printable(self.mechanism)}, {SEEDED_NOTE if self.seeded else budget}"

    @cached_property
    def terms(self) -> Terms:
        """What the records of the promise and of the plan say, as typed values."""
        return Terms.of(self.privacy, self.plan)

    @property
    def layout(self) -> Layout | None:
        """How the data was read, which is public; None if the release does not say."""
        return self.terms.privacy.layout

    def to_json(self) -> str:
        """The whole release as JSON text; `from_json` reads it back."""
        fields = asdict(self)
        for itemset in (*fields["itemsets"], *fields["subsets"]):
            # Earlier versions do not know this number. They can read all releases without it.
            if itemset["expected"] is None:
                del itemset["expected"]
        if not self.subsets:
            del fields["subsets"]
        if self.seeded:
            fields["warning"] = SEEDED_NOTE
        return json_text(fields, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """The release that `to_json` wrote.

        Raises:
            InputError: the text is not a release.
        """
        try:
            fields = json.loads(text, object_pairs_hook=each_once)
            # Refuse infinity, which JSON does not know, and half letters (lone surrogates), which are not text.
            json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
            fields.pop("warning", None)
            itemsets = tuple(map(itemset_of, fields.pop("itemsets")))
            found = fields.pop("found", None)
            subsets = tuple(map(itemset_of, fields.pop("subsets", ())))
            release = cls(
                itemsets=itemsets,
                subsets=subsets,
                found=None if found is None else tuple(map(_found_item, found)),
                **fields,
            )
            _check(release, _OF_RELEASE)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(
                "This is not a release.", "Give a .json or .parquet file that `fim-private mine -o` wrote."
            ) from None
        return release

    def to_polars(self) -> pl.DataFrame:
        """One row per itemset: rank, items (list of text), numbers (null if not released), seeded."""
        import polars as pl  # noqa: PLC0415 - a plan needs no frames

        return pl.DataFrame(
            [{**asdict(itemset), "items": list(itemset.items), "seeded": self.seeded} for itemset in self.itemsets],
            schema={
                "rank": pl.Int64,
                "items": pl.List(pl.String),
                **{name: pl.Float64 if float in kinds else pl.Int64 for name, kinds in OF_ITEMSET.items()},
                "seeded": pl.Boolean,
            },
        )

    def to_mlxtend(self) -> pd.DataFrame:
        """The pandas frame of itemsets that mlxtend's `association_rules` takes: columns support and itemsets.

        `attrs["warning"]` of the frame marks a seeded run, because mlxtend has no column for it.

        If some subsets of released itemsets are not in the release, mlxtend needs `support_only=True`. The rules of
        this package (`association_rules`) use what there is.

        Raises:
            UsageError: supports were not released (they need counts and a public number of transactions), or pandas is
                not installed.
        """
        counted = (*self.itemsets, *self.subsets)
        if any(itemset.support is None for itemset in counted):
            raise UsageError(
                "mlxtend works with supports, and this release has none.",
                "Release with counts and --public-transactions, or use fim_private.association_rules without supports.",
            )
        supports = [itemset.support for itemset in counted]
        itemsets = [frozenset(itemset.items) for itemset in counted]
        library = pandas()
        frame = library.DataFrame(
            {"support": library.Series(supports, dtype=float), "itemsets": library.Series(itemsets, dtype=object)}
        )
        return marked(frame, seeded=self.seeded)


def pandas() -> Any:
    """The pandas module.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError:
        raise UsageError("This needs pandas, which is not installed.", "pip install pandas") from None
    return pd


def marked(frame: pd.DataFrame, *, seeded: bool) -> pd.DataFrame:
    """The frame, with a warning among its attributes if it comes from a seeded run."""
    if seeded:
        frame.attrs["warning"] = SEEDED_NOTE
    return frame


def each_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a JSON object. Repeated names are refused, because programs differ in which value they take."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field is there twice")
    return fields


OF_ITEMSET = {
    "rank": (int,),
    "count": (int, NoneType),
    "count_low": (int, NoneType),
    "count_high": (int, NoneType),
    "support": (int, float, NoneType),
    "expected": (int, NoneType),
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
    """An itemset from its fields in a file.

    Raises:
        TypeError: a field has another type, is missing, or is not known.
    """
    items = fields["items"]
    if not isinstance(items, list) or not items or not all(isinstance(item, str) for item in items):
        raise TypeError("items are a list of names")
    itemset = ReleasedItemset(**{**fields, "rank": fields["rank"], "items": tuple(items)})
    _check(itemset, OF_ITEMSET)
    if itemset.rank < 1:
        raise TypeError("ranks begin at 1")
    return itemset


def _found_item(fields: Mapping[str, Any]) -> FoundItem:
    found = FoundItem(item=fields["item"], count=fields["count"])
    _check(found, {"item": (str,), "count": (int, float)})
    return found


def _check(value: object, types: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse values of other types. A bool is not a number here; numbers are finite and have at most 64 bits."""
    for name, allowed in types.items():
        found = getattr(value, name)
        if not isinstance(found, allowed) or (isinstance(found, bool) and bool not in allowed):
            raise TypeError(f"{name} is of another type")
        if isinstance(found, int | float) and not -(2**63) <= found < 2**63:
            raise TypeError(f"{name} is out of range")
