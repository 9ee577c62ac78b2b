"""`fim-private law`: the exact probability of every answer of a mechanism, for given counts. No data is read."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.accounting.rising import MOST_RISE
from fim_private.cli import options
from fim_private.cli.completion import mechanism_names
from fim_private.cli.options import assignments, unit_with
from fim_private.cli.progress import say
from fim_private.errors import UsageError, did_you_mean
from fim_private.privacy import LARGEST_EPSILON, Budget, NeighbouringRelation, exact, whole

if TYPE_CHECKING:
    from fim_private.mechanisms.protocol import Law, Mechanism
    from fim_private.plan import Universe

MOST_LISTS = 200_000
MOST_COUNTS = 10_000
"""The most counts; the memory of some laws grows with the square of their number."""
ANY = Budget("1", "1e-6")
"""The budget for the plan where all parameters that spend are set by hand: the others are the same for any budget."""

TYPED = {"top": "--top", "sensitivity": "--sensitivity", "universe_size": "--universe-items"}
"""Parameters that have their own options."""


def law(
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM", autocompletion=mechanism_names(), help="A mechanism that `fim-private plan` lists."
        ),
    ],
    counts: Annotated[str, typer.Option(metavar="A,B,...", help="The count of each itemset that occurs.")],
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="The epsilon of all picks together.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="The delta of all picks together.")] = None,
    top: Annotated[int, typer.Option(metavar="K", help="The number of itemsets to pick.")] = 1,
    sensitivity: options.Sensitivity = 1,
    neighbours: options.Neighbours = NeighbouringRelation.ADD_REMOVE,
    universe_items: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Declare a universe of N itemsets. Itemsets without a count do not occur. Without this option, a "
            "mechanism that needs a universe takes the itemsets that have counts.",
        ),
    ] = None,
    anonymous: Annotated[
        bool,
        typer.Option(
            "--anonymous",
            help="Only the number of items is public, not their names, as with --universe-items of mine: the list is "
            "named if a noisy test allows it.",
        ),
    ] = False,
    max_items: options.MaxItems = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="Set a parameter of the mechanism by hand, as in pick_epsilon=0.5. May be given several times. The "
            "output ends with all parameters. Without --epsilon and --delta, set all parameters that spend budget; lmm "
            "then has no fallback.",
        ),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Print the exact probability of every answer of a mechanism, computed without sampling.

    Example: fim-private law limited-domain --counts 40,38,20,3 --epsilon 1 --delta 1e-3

    JSON for one pick: {"law": [P(first count), ...], "none": P(no itemset)}. JSON for several picks: {"lists":
    {"0,1": P, ...}}, where 0 is the first of the counts and "" is the empty list. Equal counts
    rank in the order given; in data, in the order of their items.
    """
    numbers = _counts(counts)
    from fim_private.audit.laws import NUMERICAL_ERROR, law_over_groups
    from fim_private.mechanisms.registry import find
    from fim_private.plan import Universe
    from fim_private.plan.record import parameters

    declared = find(mechanism).needs_universe or universe_items is not None
    itemsets = universe_items if universe_items is not None else len(numbers)
    if declared and itemsets < len(numbers):
        raise UsageError("There are more counts than itemsets.", "Correct --universe-items, or leave it out.")
    if anonymous and not find(mechanism).needs_universe:
        raise UsageError(f"{mechanism} needs no list of names.", "Leave out --anonymous.")
    by_hand = assignments(settings, example="pick_epsilon=0.5")
    if anonymous and (by_hand or epsilon is None):
        raise UsageError("--anonymous goes with a budget.", "Give --epsilon and --delta, and leave out --set.")
    if (epsilon is None) != (delta is None):
        raise UsageError("The budget needs both epsilon and delta.", "Give --epsilon and --delta together.")
    budget = None if epsilon is None or delta is None else Budget(epsilon, delta)
    mechanism, chosen = _planned(
        mechanism, top=top, budget=budget or ANY, sensitivity=sensitivity, neighbours=neighbours,
        universe=Universe(items=itemsets, listed=not anonymous) if declared else None, max_items=max_items,
    )  # fmt: skip
    chosen = _with_parameters(mechanism, chosen, by_hand, planned=budget is not None)
    if len(numbers) > MOST_COUNTS or math.perm(len(numbers) + 1, min(top, len(numbers) + 1)) > MOST_LISTS:
        raise UsageError("There are too many ordered lists to print.", "Give fewer --counts, or a smaller --top.")
    groups = [(count, 1) for count in numbers]
    if declared and itemsets > len(numbers):
        groups.append((0, itemsets - len(numbers)))
    found = law_over_groups(chosen, groups, declared=declared)
    record = _record(found, numbers, top)
    record |= {"mechanism": mechanism, "parameters": parameters(chosen), "numerical_error": NUMERICAL_ERROR}
    if as_json:
        typer.echo(json.dumps(record))
        return
    _print(found, numbers)
    shown = ", ".join(f"{name} {value}" for name, value in record["parameters"].items())
    say(f"\n{mechanism}: {shown}.\nComputed without sampling, error below {NUMERICAL_ERROR:g}.", quiet=quiet)
    if by_hand and budget is not None:
        say(f"Set by hand: {', '.join(by_hand)}. The others follow from --epsilon and --delta.", quiet=quiet)


def _counts(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [-1]
    if not all(0 <= number <= 10**12 for number in numbers):
        raise UsageError("The counts are not a list of whole numbers.", "Write --counts like this: 40,38,20,3.")
    return numbers


def _planned(
    name: str, *, top: int, budget: Budget, sensitivity: int, neighbours: NeighbouringRelation,
    universe: Universe | None, max_items: int | None,
) -> tuple[str, Mechanism]:  # fmt: skip
    """The mechanism's name, also where --mechanism auto took it, and the mechanism."""
    from fim_private.mechanisms.protocol import Stepwise
    from fim_private.plan import make_plan

    if not 1 <= top <= 20 or not 1 <= sensitivity <= 10**6:
        raise UsageError("A number is out of range.", "--top goes from 1 to 20, --sensitivity from 1 to 1000000.")
    planned = make_plan(
        size=1,
        top=top,
        budget=budget,
        unit=unit_with(sensitivity),
        relation=neighbours,
        universe=universe,
        max_items=max_items,
        mechanism=name,
    )
    if isinstance(planned.search, Stepwise):
        raise UsageError(
            f"What {planned.mechanism_name} answers depends on whole baskets, not on the counts of itemsets alone.",
            "Take a mechanism that looks at counts alone, such as limited-domain.",
        )
    return planned.mechanism_name, planned.search


def _with_parameters(name: str, mechanism: Mechanism, by_hand: dict[str, str], *, planned: bool) -> Mechanism:
    """The mechanism with these parameters, as typed.

    If `planned`, a budget pays for the others. If not, all parameters that spend must be set.
    """
    values = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}  # type: ignore[arg-type]
    paid = [field for field, value in values.items() if isinstance(value, Fraction)]
    usual = {
        field.name: field.default
        for field in fields(mechanism)  # type: ignore[arg-type]
        if isinstance(field.default, Fraction) and not planned
    }
    allowed = [field for field, value in values.items() if type(value) in {int, Fraction} and field not in TYPED]
    for field in by_hand:
        if field in TYPED:
            raise UsageError(f"{field} is not set by hand.", f"Give {TYPED[field]}.")
        if field not in allowed:
            raise UsageError(
                f"{name} does not have a parameter {field!r}.",
                f"{did_you_mean(field, allowed)}Its parameters are: {', '.join(allowed)}.",
            )
    missing = ", ".join(field for field in paid if field not in {*by_hand, *usual})
    if not planned and missing:
        raise UsageError("The budget is missing.", f"Give --epsilon and --delta, or --set the parameters {missing}.")
    typed = {field: _value(field, text, whole_number=field not in paid) for field, text in by_hand.items()}
    # A parameter that is itself a mechanism, as the fallback of lmm, was not set by hand, and no budget pays for it.
    unpaid = {} if planned else {field: None for field, value in values.items() if is_dataclass(value)}
    return replace(mechanism, **{**usual, **typed, **unpaid})  # type: ignore[type-var]


def _value(field: str, text: str, *, whole_number: bool) -> Fraction | int:
    number = exact(text, field)
    if whole_number:
        return whole(int(number) if number == int(number) else None, 1, 10**9, field)
    if field == "rise":
        in_range = 0 <= number < MOST_RISE
    else:
        in_range = 0 < number < 1 if field.endswith("delta") else 0 < number <= LARGEST_EPSILON
    if not in_range:
        raise UsageError(
            f"{field} is out of range.",
            "Epsilons lie between 0 and 100, deltas between 0 and 1, and rise from 0 to below 2.5.",
        )
    return number


def _record(found: Law, numbers: list[int], top: int) -> dict[str, Any]:
    if top == 1:
        record: dict[str, Any] = {
            "law": [found.get((place,), 0.0) for place in range(len(numbers))],
            "none": found.get((), 0.0),
        }
        if (len(numbers),) in found:
            record["not_occurring"] = found[len(numbers),]
        return record
    return {"lists": {",".join(map(str, picked)): chance for picked, chance in sorted(found.items())}}


def _print(found: Law, numbers: list[int]) -> None:
    from fim_private.report.document.text import table

    def named(picked: tuple[int, ...]) -> str:
        if not picked:
            return "(no itemset)"
        return ", ".join(
            f"{numbers[place]:,} (place {place})" if place < len(numbers) else "one that does not occur"
            for place in picked
        )

    rows = [
        [named(picked), f"{chance:.9g}"] for picked, chance in sorted(found.items(), key=lambda outcome: -outcome[1])
    ]
    typer.echo(table(["itemsets picked, by count", "probability"], rows, right=[False, True]))
