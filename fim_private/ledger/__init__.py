"""The ledger: what was spent on a data set so far, in one SQLite file that several processes may use at once."""

from fim_private.ledger.ledger import Entry, Ledger, State

__all__ = ["Entry", "Ledger", "State"]
