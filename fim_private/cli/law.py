"""`fim-private law`: the exact probability of every answer of a mechanism, on given counts; no data is read."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli import options
from fim_private.cli.completion import mechanism_names
from fim_private.cli.progress import say
from fim_private.errors import UsageError
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit, exact

if TYPE_CHECKING:
    from fim_private.mechanisms.protocol import Law, Mechanism

MOST_LISTS = 200_000
MOST_COUNTS = 10_000
"""Some laws take the square of this in memory."""

_BY_HAND = "Parameters by hand instead of a plan (lmm also: lmm-repeat, lmm-no-fallback)"


def law(
    mechanism: Annotated[
        str,
        typer.Argument(autocompletion=mechanism_names(), help="A name of the list that `fim-private plan` prints."),
    ],
    counts: Annotated[str, typer.Option(metavar="A,B,...", help="The count of each itemset that occurs.")],
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Total budget.")] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Likewise; with --alpha, of one selection.")
    ] = None,
    top: Annotated[int, typer.Option(metavar="K", help="How many itemsets are picked.")] = 1,
    sensitivity: options.Sensitivity = 1,
    neighbours: options.Neighbours = NeighbouringRelation.ADD_REMOVE,
    universe_items: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Declare a universe of N itemsets; those without a count do not occur. Where a mechanism needs a "
            "universe, it is that of the counts unless this is given.",
        ),
    ] = None,
    max_items: options.MaxItems = None,
    search_epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="lmm: eps_S, of the search.", rich_help_panel=_BY_HAND)
    ] = None,
    pick_epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="lmm: eps_A, of one pick.", rich_help_panel=_BY_HAND)
    ] = None,
    certificate_delta: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="lmm: the thresholds' delta. No fallback then.", rich_help_panel=_BY_HAND),
    ] = None,
    grid_limit: Annotated[
        int | None,
        typer.Option(metavar="L", help="lmm: the largest l tested; lmm-paper: likewise.", rich_help_panel=_BY_HAND),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="lmm-paper: epsilon of one selection.", rich_help_panel=_BY_HAND),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Print the exact probability of every answer, computed without sampling.

    Example: fim-private law limited-domain --counts 40,38,20,3 --epsilon 1 --delta 1e-3

    One pick in JSON: {"law": [P(first count), ...], "none": P(no itemset)}; several: {"lists": {"0,1": P, ...}}, an
    itemset being its place among the counts, and "" the empty list.
    """
    numbers = _counts(counts)
    from fim_private.audit.laws import NUMERICAL_ERROR, law_over_groups
    from fim_private.mechanisms.registry import find
    from fim_private.plan.record import parameters

    declared = find(mechanism).needs_universe or universe_items is not None
    itemsets = universe_items if universe_items is not None else len(numbers)
    if declared and itemsets < len(numbers):
        raise UsageError("There are more counts than itemsets.", "Correct --universe-items, or leave it out.")
    chosen = _mechanism(
        mechanism, top=top, epsilon=epsilon, delta=delta, sensitivity=sensitivity, neighbours=neighbours,
        universe=itemsets if declared else None, max_items=max_items, grid_limit=grid_limit, alpha=alpha,
        by_hand=(search_epsilon, pick_epsilon, certificate_delta),
    )  # fmt: skip
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
    if any((search_epsilon, pick_epsilon, certificate_delta)) and (epsilon, delta) != (None, None):
        say("The parameters are those given by hand; --epsilon and --delta played no part.", quiet=quiet)
    elif alpha is not None and epsilon is not None:
        say("--alpha is what each selection spends; --epsilon played no part.", quiet=quiet)


def _counts(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [-1]
    if not all(0 <= number <= 10**12 for number in numbers):
        raise UsageError("The counts are not a list of whole numbers.", "Write --counts as in 40,38,20,3.")
    return numbers


def _mechanism(
    name: str, *, top: int, epsilon: str | None, delta: str | None, sensitivity: int,
    neighbours: NeighbouringRelation, universe: int | None, max_items: int | None, grid_limit: int | None,
    alpha: str | None, by_hand: tuple[str | None, str | None, str | None],
) -> Mechanism:  # fmt: skip
    """As planned, or with the parameters that were given by hand."""
    from fim_private.audit.by_hand import LARGE_MARGIN, large_margin_by_hand, published_by_hand
    from fim_private.mechanisms.items_first import ItemsFirst
    from fim_private.plan import Universe, make_plan

    if not 1 <= top <= 20 or not 1 <= sensitivity <= 10**6 or (grid_limit is not None and grid_limit < 1):
        raise UsageError(
            "A number is out of range.", "--top goes from 1 to 20; --sensitivity and --grid-limit begin at 1."
        )
    if (any(by_hand) and name not in LARGE_MARGIN) or (alpha is not None and name != "lmm-paper"):
        raise UsageError(
            f"{name} does not have that parameter.",
            "--search-epsilon, --pick-epsilon and --certificate-delta belong to lmm, --alpha to lmm-paper.",
        )
    if any(by_hand):
        search, pick, certificate = (
            None if text is None else exact(text, option)
            for text, option in zip(by_hand, ("--search-epsilon", "--pick-epsilon", "--certificate-delta"), strict=True)
        )
        return large_margin_by_hand(
            name,
            top=top,
            search_epsilon=search,
            pick_epsilon=pick,
            certificate_delta=certificate,
            grid_limit=grid_limit,
            sensitivity=sensitivity,
        )
    if delta is None or (epsilon is None and alpha is None):
        raise UsageError("The budget is missing.", "Give --epsilon and --delta, or the parameters by hand.")
    if alpha is not None:
        return published_by_hand(
            top=top,
            alpha=exact(alpha, "--alpha"),
            delta=exact(delta, "delta"),
            grid_limit=grid_limit,
            sensitivity=sensitivity,
        )
    if grid_limit is not None and name not in {*LARGE_MARGIN, "lmm-paper"}:
        raise UsageError(f"{name} searches no grid.", "Leave out --grid-limit.")
    unit = PrivacyUnit() if sensitivity == 1 else PrivacyUnit(column="unit", max_transactions=sensitivity)
    planned = make_plan(
        size=1,
        top=top,
        budget=Budget(str(epsilon), delta),
        unit=unit,
        relation=neighbours,
        universe=None if universe is None else Universe(items=universe),
        max_items=max_items,
        mechanism=name,
    ).search
    if isinstance(planned, ItemsFirst):
        raise UsageError(
            f"What {name} answers depends on whole baskets, not on the counts of itemsets alone.",
            "Take another mechanism; `fim-private audit items-first` compares its laws on data sets.",
        )
    return planned if grid_limit is None else _with_grid(planned, grid_limit)


def _with_grid(planned: Mechanism, limit: int) -> Mechanism:
    from dataclasses import replace

    from fim_private.mechanisms.lmm_paper import PublishedLargeMargin

    field = "max_candidates" if isinstance(planned, PublishedLargeMargin) else "grid_limit"
    return replace(planned, **{field: limit})  # type: ignore[type-var]


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
