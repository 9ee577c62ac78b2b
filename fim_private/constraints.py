"""Constraints on the itemsets, fixed before the search: items they must contain, and items they must not contain.

The person who asks gives the names, so the names are public. A search among fewer itemsets needs less noise.

Constraints are applied transaction by transaction. So one unit changes counts by no more than before, under either
relation, and every theorem holds for the smaller universe: docs/mathematics.md#constraints. Whether a named item occurs
affects counts alone: if an excluded item does not occur, no count changes; if a required one does not, all are 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fim_private.errors import UsageError

NAMED_AT_MOST = 5
"""A sentence names at most this many items. Of more items it gives the number."""


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """Items that itemsets must and must not contain. The names are public.

    Args:
        must_contain: items that every itemset contains. Names are stripped, and repeated names dropped.
        exclude: items that no itemset contains, treated in the same way.

    Raises:
        UsageError: a name is blank, an item is in both lists, or a plain text was given instead of a list.

    >>> Constraints(must_contain=["milk", "milk "], exclude=["bag"])
    Constraints(must_contain=('milk',), exclude=('bag',))
    """

    must_contain: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def __post_init__(self) -> None:
        for field in ("must_contain", "exclude"):
            object.__setattr__(self, field, distinct_names(getattr(self, field), "a constraint"))
        if set(self.must_contain) & set(self.exclude):
            raise UsageError("An item is both required and excluded.", "Leave out one of the two.")

    @property
    def named(self) -> frozenset[str]:
        """All named items. The search is among the others."""
        return frozenset((*self.must_contain, *self.exclude))

    def remaining_size(self, size: int) -> int:
        """How many items of an itemset of this size the search has to find.

        Raises:
            UsageError: there are none to find.
        """
        if size <= len(self.must_contain):
            raise UsageError(
                "An itemset of this size holds nothing beside the items it must contain.",
                "Ask for a larger --size, or give --must-contain fewer times.",
            )
        return size - len(self.must_contain)

    def describe(self) -> str:
        """The constraints in words; empty if there are none.

        >>> Constraints(must_contain=["milk", "tea"], exclude=["bag"]).describe()
        'that contain milk and tea, and not bag'
        """
        parts = []
        if self.must_contain:
            parts.append(f"that contain {_listed(self.must_contain, 'and')}")
        if self.exclude:
            parts.append(("and not " if parts else "that do not contain ") + _listed(self.exclude, "or"))
        return ", ".join(parts)


def _is_text(name: str) -> bool:
    """Whether it can be written; half a pair of UTF-16 is a character of Python's alone."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def distinct_names(given: Iterable[str], of: str) -> tuple[str, ...]:
    """Public names of items, stripped and without repetitions; `of` says where they stand, for the errors.

    Raises:
        UsageError: a name is blank or not a text, or a plain text or no list was given instead of a list.
    """
    if isinstance(given, str):
        raise UsageError(f"The items of {of} are one text.", "Give a list of names.")
    if not isinstance(given, Iterable):
        raise UsageError(f"The items of {of} are no list.", "Give a list of names.")
    names = list(given)
    if not all(isinstance(name, str) and name.strip() and _is_text(name) for name in names):
        raise UsageError(
            f"An item of {of} has no name: it is blank or not a text.", "Leave it out, or turn it into text."
        )
    return tuple(dict.fromkeys(name.strip() for name in names))


def _listed(names: Sequence[str], joint: str) -> str:
    if len(names) > NAMED_AT_MOST:
        return f"{'all' if joint == 'and' else 'any'} of {len(names)} given items"
    *others, last = names
    return f"{', '.join(others)} {joint} {last}" if others else last


NOTHING = Constraints()
"""No constraints."""
