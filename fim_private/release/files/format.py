"""What defines a format of releases: a name, an ending, a writer, a reader, and its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fim_private.release.release import Release, ReleasedItemset, itemset_of


@dataclass(frozen=True, kw_only=True)
class Itemsets:
    """The list of a release without its promise, as most formats carry it.

    Args:
        itemsets: the itemsets, in the order of the file.
        seeded: whether the list is marked as the result of a seeded run, which is not private.
    """

    itemsets: tuple[ReleasedItemset, ...]
    seeded: bool = False


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    Args:
        name: the format's name, for people.
        ending: the ending of its files, in lower case.
        write: writes a release to a file that nobody else knows yet.
        read: reads the bytes of a file. It raises a ValueError, TypeError, KeyError or AttributeError if they are not
            in this format.
        needs_counts: whether every itemset must have a count.
        marks_seeded: whether it has a place for the mark of seeded runs.
    """

    name: str
    ending: str
    write: Callable[[Release, Path], None]
    read: Callable[[bytes], Itemsets]
    needs_counts: bool = False
    marks_seeded: bool = True


def itemsets_of(rows: Sequence[Mapping[str, Any]]) -> Itemsets:
    """The rows of a table with the columns of `Release.to_polars`. Some columns may be missing.

    Raises:
        TypeError, KeyError, AttributeError: a row does not fit these columns.
    """
    itemsets = (itemset_of({name: value for name, value in row.items() if name != "seeded"}) for row in rows)
    return Itemsets(itemsets=tuple(itemsets), seeded=any(row.get("seeded") for row in rows))
