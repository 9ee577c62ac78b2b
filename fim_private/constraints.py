"""Which itemsets are asked for, said before the search: those that contain some items, and none of others.

The names are given by whoever asks, so they are public, and a search for fewer itemsets costs less noise.

Constraints are applied transaction by transaction, so one unit changes counts by no more than before, under either
relation, and every theorem holds for the smaller universe: docs/mathematics.md#constraints. Whether a named item occurs
decides nothing but counts: where it does not, they are those of no fewer items, or of no transactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fim_private.errors import UsageError

NAMED_AT_MOST = 5
"""So many items are named in a sentence; more are counted."""


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """Which itemsets are asked for. The names are public.

    Args:
        must_contain: items that every itemset contains; stripped, each once.
        exclude: items that no itemset contains; likewise.

    Raises:
        UsageError: a name is blank, or an item is both, or a plain text was given for a list of names.

    >>> Constraints(must_contain=["milk", "milk "], exclude=["bag"])
    Constraints(must_contain=('milk',), exclude=('bag',))
    """

    must_contain: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def __post_init__(self) -> None:
        for field in ("must_contain", "exclude"):
            object.__setattr__(self, field, distinct_names(getattr(self, field), "a constraint"))
        if set(self.must_contain) & set(self.exclude):
            raise UsageError("An item is to be contained and excluded.", "Leave out one of the two.")

    @property
    def named(self) -> frozenset[str]:
        """All items that are not searched among."""
        return frozenset((*self.must_contain, *self.exclude))

    def remaining_size(self, size: int) -> int:
        """How many items of an itemset of this size are searched for.

        Raises:
            UsageError: none.
        """
        if size <= len(self.must_contain):
            raise UsageError(
                "An itemset of this size holds nothing beside the items that it must contain.",
                "Ask for a larger --size, or give --must-contain fewer times.",
            )
        return size - len(self.must_contain)

    def describe(self) -> str:
        """The constraints in words; empty where there are none.

        >>> Constraints(must_contain=["milk", "tea"], exclude=["bag"]).describe()
        'that contain milk and tea, and not bag'
        """
        parts = []
        if self.must_contain:
            parts.append(f"that contain {_listed(self.must_contain, 'and')}")
        if self.exclude:
            parts.append(("and not " if parts else "that do not contain ") + _listed(self.exclude, "or"))
        return ", ".join(parts)


def distinct_names(given: Iterable[str], of: str) -> tuple[str, ...]:
    """Public names of items, stripped, each once.

    Args:
        given: the names.
        of: what names them, for the errors.

    Raises:
        UsageError: a name is blank or no text, or a plain text was given for a list.
    """
    if isinstance(given, str):
        raise UsageError(f"The items of {of} are one text.", "Give a list of names.")
    names = list(given)
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise UsageError(
            f"An item of {of} has no name: it is blank, or no text.", "Leave it out, or turn it into text."
        )
    return tuple(dict.fromkeys(name.strip() for name in names))


def _listed(names: Sequence[str], joint: str) -> str:
    if len(names) > NAMED_AT_MOST:
        return f"{'all' if joint == 'and' else 'any'} of {len(names)} given items"
    *others, last = names
    return f"{', '.join(others)} {joint} {last}" if others else last


NOTHING = Constraints()
"""No constraints."""
