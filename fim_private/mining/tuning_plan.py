"""Plan a choice among configurations, and what it costs, before any data is seen. `tuning.py` makes the choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fim_private.accounting.cost import Cost
from fim_private.accounting.rounding import round_down
from fim_private.errors import UsageError
from fim_private.plan import Plan, Universe, make_plan
from fim_private.plan.record import parameters
from fim_private.privacy import ApproxDP, Budget, Guarantee, NeighbouringRelation, Number, PrivacyUnit, PureDP, Together
from fim_private.private_candidates import KnownThreshold, RandomStopping
from fim_private.private_candidates.pool import CandidateLoss, parts

COMPOSITION = "private candidates"
RUNS_EACH = 10
"""Expected runs per configuration: no run uses the best configuration with probability about 1 in 11."""
SCORE_SHARE = Fraction(1, 5)
"""The share of a run's epsilon that its score gets."""
MOST_CONFIGURATIONS = 100
NAME = "tune"


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """One way of mining.

    Args:
        name: its name.
        size: items per itemset.
        top: k, the number of itemsets.
        mechanism: a name of the registry, or "auto".
        select: how items-first selects; None lets the planner decide.
        max_items: at most this many items of each transaction are kept. None keeps all of them.
        max_transactions: how many transactions per unit are kept; None keeps all of them and counts units.
        count_share: the share of a run's epsilon for noisy counts of its itemsets; None releases no counts.
    """

    name: str
    size: int
    top: int
    mechanism: str = "auto"
    select: str | None = None
    max_items: int | None = None
    max_transactions: int | None = None
    count_share: Number | None = None


@dataclass(frozen=True, kw_only=True)
class TuningPlan:
    """What a tuning will do and cost, fixed before any data is seen.

    Args:
        names: the names of the configurations.
        plans: the plan of each configuration, with the budget that one run may spend on mining.
        score_epsilon: what one run spends on its score.
        selection: how a run is chosen.
        budget: what everything together may cost.
        together: what a unit holds together, for all scores and for all candidates that count units; None without
            units.
    """

    names: tuple[str, ...]
    plans: tuple[Plan, ...]
    score_epsilon: Fraction
    selection: RandomStopping | KnownThreshold
    budget: Budget
    together: Together | None = None

    @property
    def loss(self) -> CandidateLoss:
        """What one run of any configuration costs at most."""
        epsilon = max(plan.guarantee.epsilon for plan in self.plans) + self.score_epsilon
        delta = max(plan.guarantee.delta for plan in self.plans)
        return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """What everything together costs."""
        epsilon, delta = parts(self.selection.cost(self.loss))
        return Guarantee(epsilon=epsilon, delta=delta, composition=COMPOSITION)

    @property
    def theorem(self) -> str:
        """The theorem behind the guarantee, in words."""
        if isinstance(self.selection, KnownThreshold):
            return "twice a run's epsilon, by Theorem 3.1 (the first run that reaches a threshold)"
        return "three times a run's epsilon, by Theorem 3.2 (the best of a random number of runs)"

    @property
    def public(self) -> dict[str, Any]:
        """What the promise takes as public: what any of the candidates does, for each of them may be run."""
        return {name: value for plan in self.plans for name, value in plan.cost.public.items()}

    @property
    def cost(self) -> Cost:
        """What a ledger charges: everything once, as one loss."""
        guarantee, first = self.guarantee, self.plans[0].cost
        top = max(plan.top for plan in self.plans)
        # Values that differ among the candidates are left out here; the record lists every candidate.
        caps, kept = ({plan.max_items for plan in self.plans}, {plan.unit for plan in self.plans})
        unit = kept.pop() if len(kept) == 1 else PrivacyUnit(column=first.unit.column)
        together = self.together if {plan.question.together for plan in self.plans} == {self.together} else None
        sizes = sorted({plan.size for plan in self.plans})
        spending = {"what": "choice among configurations, with their runs", "epsilon": float(guarantee.epsilon)}
        return replace(
            first,
            budget=self.budget,
            guarantee=guarantee,
            losses=(ApproxDP(guarantee.epsilon, guarantee.delta),),
            failures=(),
            unit=unit,
            together=together,
            public=self.public,
            mechanism=NAME,
            record={
                **first.record,
                "size": sizes[0] if len(sizes) == 1 else None,
                "sizes": sizes,
                "top": top,
                "mechanism": NAME,
                "why": self.theorem,
                "max_transactions": unit.max_transactions,
                "together": None if together is None else str(together),
                "max_items": caps.pop() if len(caps) == 1 else None,
                "sensitivity": unit.sensitivity,
                "parameters": {
                    "top": top,
                    "candidates": parameters(self._configurations),
                    "guarantee": parameters(guarantee),
                },
                "spending": [{**spending, "rho": None, "times": 1}],
                "counts": None,  # these are among the runs' costs
                "failure_probability": 0.0,
                "margins": [],
            },
        )

    @property
    def _configurations(self) -> tuple[Configuration, ...]:
        """The configurations as they were planned."""
        return tuple(
            Configuration(
                name=name,
                size=plan.size,
                top=plan.top,
                mechanism=plan.mechanism_name,
                select=plan.question.select,
                max_items=plan.max_items,
                max_transactions=plan.unit.max_transactions,
                count_share=plan.question.count_share,
            )
            for name, plan in zip(self.names, self.plans, strict=True)
        )


def plan_tuning(
    configurations: Sequence[Configuration],
    *,
    budget: Budget,
    unit_column: str | None = None,
    together: str | None = None,
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE,
    universe: Universe | None = None,
    runs: int | None = None,
    threshold: int | None = None,
    score_share: Fraction = SCORE_SHARE,
) -> TuningPlan:
    """Plan a choice among configurations.

    Args:
        configurations: at least two, each with a name of its own.
        budget: what everything together may cost.
        unit_column: the column that names the unit; None if each transaction is a unit.
        together: as in `fim_private.plan.Question`, for the scores and for all configurations that count units.
        relation: the neighbouring relation.
        universe: the declared universe, with its names; None for an open one.
        runs: the expected number of runs, 1/gamma; None for ten per configuration. With a threshold, fewer are made.
        threshold: take the first run that scores at least this much. A run may then spend half of epsilon instead of a
            third. The number is public; it may come from other data or an earlier release.
        score_share: the share of a run's epsilon that its score gets.

    Raises:
        UsageError: a number is out of range, or options contradict each other.
        BudgetError: the budget of a run cannot pay for a configuration.
    """
    names = [configuration.name for configuration in configurations]
    if not 2 <= len(names) <= MOST_CONFIGURATIONS:
        raise UsageError(
            f"There are {len(names)} configurations to choose among.", f"Give from 2 to {MOST_CONFIGURATIONS} of them."
        )
    if len(set(names)) < len(names):
        raise UsageError("Two configurations have the same name.", "Give each a name of its own.")
    if universe is not None and universe.items is not None and universe.names is None:
        raise UsageError("Tuning needs the names of a declared universe.", "Give --universe-file, or leave it open.")
    if together is not None and unit_column is None:
        raise UsageError("--together chooses how units are counted.", "Leave it out, or name them by --unit-column.")
    counted = None if unit_column is None else Together.of(together or Together.BASKET)
    expected = RUNS_EACH * len(names) if runs is None else runs
    if not 1 <= expected <= 10**6:
        raise UsageError("The number of runs is out of range.", "Choose a number from 1 to 1000000.")
    if not 0 < score_share < 1:
        raise UsageError("The score's share is out of range.", "Choose it between 0 and 1, such as 0.2.")
    stop = Fraction(1, expected)
    selection: RandomStopping | KnownThreshold
    if threshold is None:
        selection, epsilon = RandomStopping(stop=stop), budget.epsilon / 3
    else:
        selection, epsilon = KnownThreshold(threshold=threshold, stop=stop), budget.epsilon / 2
    # The solution delta_1 of delta_1/(gamma + delta_1 - gamma delta_1) = delta; rounded down, which is safe.
    delta = budget.delta * stop / (1 - (1 - stop) * budget.delta)
    run = Budget((1 - score_share) * epsilon, round_down(delta) if delta else delta)
    plans = tuple(
        make_plan(
            size=configuration.size,
            top=configuration.top,
            budget=run,
            unit=PrivacyUnit(column=unit_column, max_transactions=configuration.max_transactions),
            relation=relation,
            together=counted if configuration.max_transactions is None else None,
            universe=universe,
            max_items=configuration.max_items,
            mechanism=configuration.mechanism,
            select=configuration.select,
            count_share=configuration.count_share,
        )
        for configuration in configurations
    )
    return TuningPlan(
        names=tuple(names),
        plans=plans,
        score_epsilon=score_share * epsilon,
        selection=selection,
        budget=budget,
        together=counted,
    )
