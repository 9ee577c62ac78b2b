"""The door, and what comes out of it: everything to the right of here is public."""

from fim_private.release.record import Release, ReleasedItemset

__all__ = ["Release", "ReleasedItemset"]
