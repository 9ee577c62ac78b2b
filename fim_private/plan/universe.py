"""The universe of items: a public list, a public number of anonymous names, or open."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fim_private.constraints import Constraints, distinct_names
from fim_private.errors import UsageError
from fim_private.privacy import whole


@dataclass(frozen=True, kw_only=True, repr=False)
class Universe:
    """What is declared of the items that can occur.

    Args:
        items: the number of items on the list, or the largest number of items that can occur; None for an open
            universe.
        names: the items' names, stripped and without repetitions; `items` follows from them. None if the names are not
            public, or not given.
        listed: there is a public list of this many names, but it is not given. Laws, audits and comparisons need no
            names. Data is refused.

    Raises:
        UsageError: there are no items or too many, a name is blank or not a text, or a plain text was given instead of
            a list.
    """

    items: int | None = None
    names: tuple[str, ...] | None = None
    listed: bool = False

    def __post_init__(self) -> None:
        if self.names is not None:
            names = distinct_names(self.names, "the universe")
            if self.items not in {None, len(names)}:
                raise UsageError("The number of items differs from the number of names.", "Give the names alone.")
            object.__setattr__(self, "names", names)
            object.__setattr__(self, "listed", False)
            object.__setattr__(self, "items", len(names))
        if self.items is not None:
            what = "The number of items in the universe"
            object.__setattr__(self, "items", whole(self.items, 1, 10**18, what))
        elif self.listed:
            raise UsageError("A list of unknown length was declared.", "Give the number of its items.")

    @property
    def anonymous(self) -> bool:
        """Whether only the number of items is public, not their names."""
        return self.items is not None and not self.has_list

    @property
    def has_list(self) -> bool:
        """Whether the names of all items that can occur are public, given or not."""
        return self.names is not None or self.listed

    def itemsets(self, *sizes: int) -> int | None:
        """The sum of C(items, size), exact; None for an open universe."""
        return None if self.items is None else sum(math.comb(self.items, size) for size in sizes)

    def without(self, constraints: Constraints) -> Universe:
        """The items that the constraints do not name. The search is among these.

        A list that is not given is taken to include them. A number alone stays as it is: nobody knows whether the
        named items are among those that occur.

        Raises:
            UsageError: no item is left, or a required item is not on the list.
        """
        if self.items is None or self.anonymous or not constraints.named:
            return self
        if self.names is None:
            left = self.items - len(constraints.named)
        else:
            listed = set(self.names)
            if not listed.issuperset(constraints.must_contain):
                raise UsageError(
                    "A required item is not on the public list of items.",
                    "Add it to --universe-file, or leave out --must-contain.",
                )
            names = tuple(sorted(listed - constraints.named))
            left = len(names)
        if left < 1:
            raise UsageError("The constraints leave nothing of the declared universe.", "Declare more items.")
        return Universe(items=left, listed=self.listed) if self.names is None else Universe(names=names)


OPEN = Universe()
"""The open universe: there is no public list."""
