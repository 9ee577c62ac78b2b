"""The door, and the releases that come out of it. Everything to the right of this layer is public."""

from fim_private.release.release import FoundItem, Release, ReleasedItemset
from fim_private.transactions.layout import Layout

__all__ = ["FoundItem", "Layout", "Release", "ReleasedItemset"]
