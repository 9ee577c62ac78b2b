"""Choose the best of several ways of mining privately, for three times the cost of one run, or twice.

A run of a configuration is a candidate of `fim_private.private_candidates`. It mines, then scores its itemsets.
The score is the number of (unit, itemset) pairs in which the unit holds the itemset, plus noise of its own: the noisy
counts of the mechanisms themselves would favour the noisier one. A unit adds at most 1 for each itemset named, and so
at most `top` in all. So a run costs the guarantee of its plan and the epsilon of its score. `RandomStopping` or
`KnownThreshold` turns this into the cost of the choice, which covers the chosen configuration, its itemsets and its
score. The number of runs is not told. Data is bounded and counted once for each configuration, before the charge.

All of this holds for either neighbouring relation: docs/mathematics.md#tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from fim_private.counting import TransactionDatabase, as_database
from fim_private.mining.mine import Counted, bound, draw, refuse_seed
from fim_private.mining.rehearsal import rehearse
from fim_private.mining.searches import Progress, count_all
from fim_private.mining.tuning_plan import TuningPlan
from fim_private.plan import Plan
from fim_private.privacy import Together
from fim_private.private_candidates import Candidates, KnownThreshold, Selection
from fim_private.randomness import Randomness, SecureRandomness, SeededRandomness
from fim_private.release import Release
from fim_private.release.admission import check_unit
from fim_private.release.door import noisy_total
from fim_private.release.terms import privacy_record
from fim_private.transactions.dataset import MOST_NARROW, Transactions
from fim_private.transactions.item_codes import padded
from fim_private.transactions.layout import Layout


@dataclass(frozen=True, kw_only=True)
class TuningResult:
    """What a tuning released.

    Args:
        name: the name of the chosen configuration.
        score: the noisy score of the chosen run.
        release: the release of that run, with the privacy record of everything together.
    """

    name: str
    score: int
    release: Release


def tune(
    transactions: Transactions | TransactionDatabase,
    tuning: TuningPlan,
    *,
    seed: int | None = None,
    command: str | None = None,
    charge: Callable[[Layout], str] | None = None,
    guessed: Sequence[str] = (),
    progress: Progress = lambda _phase: None,
) -> TuningResult | None:
    """Choose among configurations, and release the itemsets of the chosen run; None if no run reached the threshold.

    Args:
        transactions: as read, with their units if the plan has any.
        tuning: from `plan_tuning`.
        seed: makes the noise repeatable, so the release is not private. For tests and teaching.
        command: what was typed, for the record.
        charge: called once with the layout of the data before any run. It returns the id of the release in a ledger,
            or raises if the ledger refuses.
        guessed: the parts of the layout that a file gave, which guessed them.
        progress: called with the name of each phase as it begins, but not with the number of runs.

    Raises:
        UsageError: the data was read without the unit column.
    """
    if seed is not None and charge is not None:
        refuse_seed()
    randomness = SecureRandomness() if seed is None else SeededRandomness(seed)
    database = as_database(transactions)
    check_unit(database, tuning.plans[0])
    of_units = database.count_units() if tuning.together is Together.BASKET else database.merge_units()
    layout = database.notes.layout.guessed_before(guessed)
    data = _Data(layout, of_units, {name: code for code, name in enumerate(of_units.vocabulary.to_list())})
    # Bound and count for every configuration before the charge, whichever runs are drawn later. Afterwards it would be
    # too late to refuse what is too much to count.
    candidates = Candidates(
        [
            partial(_run, data, plan, counted, tuning.score_epsilon)
            for plan, counted in zip(tuning.plans, _counted(database, tuning.plans, randomness, progress), strict=True)
        ],
        tuning.loss,
    )
    if charge is not None:
        for plan in tuning.plans:
            rehearse(plan, many_items=len(database.vocabulary) > MOST_NARROW)
    name = charge(layout) if charge else None
    progress("choosing among configurations")
    chosen = tuning.selection.select(candidates, randomness)
    return None if chosen is None else _tuned(tuning, chosen, seeded=seed is not None, command=command, name=name)


@dataclass(frozen=True, eq=False, repr=False)
class _Data:
    """The layout of the data, the database that counts units, and its item codes by name."""

    layout: Layout
    of_units: TransactionDatabase
    codes: dict[str, int]


def _counted(
    database: TransactionDatabase, plans: Sequence[Plan], randomness: Randomness, progress: Progress
) -> list[Counted]:
    """The counts for all runs of each plan. Plans with the same bounds share one random choice.

    Privacy: for any choice, one unit changes the bounded data as planned, so all runs may share it. A unit's choice
    must not depend on other units, so `randomness` draws independent words: docs/mathematics.md#tuning.

    Raises:
        InputError: there is too much to count.
    """
    bounded: dict[tuple[object, ...], TransactionDatabase] = {}
    found = []
    for plan in plans:
        bounds = plan.question.together, plan.unit.max_transactions, plan.max_items
        if bounds not in bounded:
            progress("bounding")
            bounded[bounds] = bound(database, plan, randomness)
        found.append(Counted(bounded=bounded[bounds], counts=count_all(bounded[bounds], plan, progress)))
    return found


def _run(data: _Data, plan: Plan, counted: Counted, epsilon: Fraction, randomness: Randomness) -> tuple[int, Release]:
    """One run: its score and its release."""
    own = randomness if randomness.seed is None else SeededRandomness(randomness.bits(62))
    release = draw(counted, plan, own, layout=data.layout)
    # No unit holds a declared item that does not occur.
    codes = data.codes
    known = [sorted(map(codes.__getitem__, line.items)) for line in release.itemsets if codes.keys() >= set(line.items)]
    return noisy_total(data.of_units.count_chosen(padded(known)), plan.top / epsilon, randomness), release


def _tuned(
    tuning: TuningPlan, chosen: Selection[Release], *, seeded: bool, command: str | None, name: str | None
) -> TuningResult:
    plan, score, promised = tuning.plans[chosen.candidate], int(chosen.score), chosen.output.privacy
    record = {
        "candidates": list(tuning.names),
        "chosen": tuning.names[chosen.candidate],
        "score": score,
        "theorem": tuning.theorem,
        "stop": str(tuning.selection.stop),
        "threshold": tuning.selection.threshold if isinstance(tuning.selection, KnownThreshold) else None,
        "score_epsilon": str(tuning.score_epsilon),
        "run": {"epsilon": float(plan.budget.epsilon), "delta": float(plan.budget.delta)},
    }
    return TuningResult(
        name=tuning.names[chosen.candidate],
        score=score,
        release=replace(
            chosen.output,
            # The promise is that of everything together, for the unit as the chosen run kept its transactions.
            privacy={**promised, **privacy_record(tuning), "unit": promised["unit"]},
            plan={**chosen.output.plan, "tuning": record},
            seeded=seeded,
            command=command,
            id=name,
        ),
    )
