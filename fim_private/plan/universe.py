"""The public list of items, or that there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fim_private.constraints import Constraints, distinct_names
from fim_private.errors import UsageError
from fim_private.privacy import whole


@dataclass(frozen=True, kw_only=True, repr=False)
class Universe:
    """The public list of items, as far as it is declared.

    Args:
        items: their number; None for an open universe.
        names: the items themselves; stripped, each once. Their number follows. None where only that is known.

    Raises:
        UsageError: there are none or too many, one is blank or no text, or a plain text was given for a list.
    """

    items: int | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.names is not None:
            names = distinct_names(self.names, "the universe")
            if self.items not in {None, len(names)}:
                raise UsageError("The number of items is not that of their names.", "Give the names alone.")
            object.__setattr__(self, "names", names)
            object.__setattr__(self, "items", len(names))
        if self.items is not None:
            what = "The number of items in the universe"
            object.__setattr__(self, "items", whole(self.items, 1, 10**18, what))

    def itemsets(self, *sizes: int) -> int | None:
        """The sum of C(items, size), exact; None for an open universe."""
        return None if self.items is None else sum(math.comb(self.items, size) for size in sizes)

    def without(self, constraints: Constraints) -> Universe:
        """The items that are searched among: those that the constraints do not name.

        Where only a number was declared, the items named are taken to be among them.

        Raises:
            UsageError: none is left, or an item to be contained is not on the list.
        """
        if self.items is None or not constraints.named:
            return self
        if self.names is None:
            left = self.items - len(constraints.named)
        else:
            listed = set(self.names)
            if not listed.issuperset(constraints.must_contain):
                raise UsageError(
                    "An item to be contained is not on the public list of items.",
                    "Add it to --universe-file, or leave out --must-contain.",
                )
            names = tuple(sorted(listed - constraints.named))
            left = len(names)
        if left < 1:
            raise UsageError("The constraints leave nothing of the declared universe.", "Declare more items.")
        return Universe(items=left) if self.names is None else Universe(names=names)


OPEN = Universe()
"""No public list."""
