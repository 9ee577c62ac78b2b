"""The door, and what comes out of it: everything to the right of here is public."""

from fim_private.release.record import FoundItem, Release, ReleasedItemset
from fim_private.transactions.layout import Layout

__all__ = ["FoundItem", "Layout", "Release", "ReleasedItemset"]
