"""The ledger: the budget spent on a data set so far, in one file that several processes may use at once."""

from fim_private.ledger.ledger import Ledger
from fim_private.ledger.records import Entry, State

__all__ = ["Entry", "Ledger", "State"]
