"""What a release costs, as a ledger charges it. The plan alone decides the cost; the data never does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fim_private.privacy import Budget, Failure, Guarantee, Loss, NeighbouringRelation, PrivacyUnit, Together


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What is proved of a release, whom the release protects, and what it is.

    Args:
        budget: the largest (epsilon, delta) allowed.
        guarantee: what is proved of the whole release, for this relation.
        losses: what its steps cost if no failure happens; None if the proof does not hold for this relation.
        failures: what the losses do not cover.
        unit: the privacy unit.
        relation: the neighbouring relation.
        together: what a unit holds together, if units are counted.
        mechanism: the name that the ledger's history shows.
        public: what the promise takes as public, for the record.
        record: the public parameters, for the record.
    """

    budget: Budget
    guarantee: Guarantee
    losses: tuple[Loss, ...] | None
    failures: tuple[Failure, ...]
    unit: PrivacyUnit
    relation: NeighbouringRelation
    together: Together | None
    mechanism: str
    public: Mapping[str, Any]
    record: Mapping[str, Any]


class Priced(Protocol):
    """Any plan: it knows its cost before any data is seen."""

    @property
    def cost(self) -> Cost:
        """What a ledger charges, once, for everything that is planned."""
