"""What a release costs, as a ledger charges it: known from the plan alone, never from data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fim_private.privacy import Budget, Failure, Guarantee, Loss, NeighbouringRelation, PrivacyUnit


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What was proved of a release, whom that protects, and what the release was.

    Args:
        budget: what was allowed.
        guarantee: what was proved of the whole release, for this relation.
        losses: what its steps cost where no failure happens; None where that was not proved for this relation.
        failures: what the losses do not cover.
        unit: the privacy unit.
        relation: the neighbouring relation.
        mechanism: the name of what is charged, for the history.
        public: what the promise takes as public, for the record.
        record: the public parameters, for the record.
    """

    budget: Budget
    guarantee: Guarantee
    losses: tuple[Loss, ...] | None
    failures: tuple[Failure, ...]
    unit: PrivacyUnit
    relation: NeighbouringRelation
    mechanism: str
    public: Mapping[str, Any]
    record: Mapping[str, Any]


class Priced(Protocol):
    """A plan of any kind: whatever knows its cost before any data is seen."""

    @property
    def cost(self) -> Cost:
        """What a ledger charges for all of it, once."""
