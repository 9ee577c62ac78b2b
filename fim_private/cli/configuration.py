"""What a comparison runs, as it is typed or stands in a file of settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli.replay import LISTED
from fim_private.errors import UsageError
from fim_private.privacy import NeighbouringRelation

if TYPE_CHECKING:
    from fim_private.comparison.settings import Settings

OCCURRING = "occurring"

_run = partial(typer.Option, rich_help_panel="What to run")
_listed = partial(_run, metavar=LISTED)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is compared: `fim_private.comparison.settings.Settings`, as it is typed."""

    sizes: Annotated[str, _listed(help="Itemset sizes.")] = "1,2,3"
    tops: Annotated[str, _listed(help="Values of k.")] = "1,5,10,20,50,100"
    long_tops: Annotated[
        str, _listed(help="More values of k, for mechanisms that name long lists in little time.", show_default=False)
    ] = ""
    epsilons: Annotated[str, _listed(help="Total budgets.")] = "0.1,0.25,0.5,1,2"
    delta: Annotated[str, _run(help="The same for all.")] = "1e-6"
    trials: Annotated[int, _run(help="Runs of each cell.")] = 50
    mechanisms: Annotated[str | None, _listed(help="Names of mechanisms; all otherwise.")] = None
    universe_items: Annotated[
        str,
        _run(
            metavar="N",
            help="Number of items declared to mechanisms that need it, or: occurring (which is not private).",
        ),
    ] = OCCURRING
    max_items: Annotated[int, _run(metavar="B", help="Items kept of a transaction for mechanisms that need a cap.")] = (
        10
    )
    neighbours: Annotated[NeighbouringRelation, _run(help="Whether a unit is added or removed, or replaced.")] = (
        NeighbouringRelation.ADD_REMOVE
    )
    seed: Annotated[int | None, _run(help="Of all runs; drawn and written down otherwise.")] = None
    title: Annotated[str | None, _run(help="Of the report.")] = None
    defaults_table: Annotated[
        str | None,
        _run(
            metavar="FILE",
            help="The table of benchmarks/items_first_defaults.py, to be shown in the report.",
        ),
    ] = None

    def settings(self, folder: Path, unit_column: str | None) -> Settings:
        """The settings as a value; the seed is that of the folder, or drawn, where none was given.

        Args:
            folder: of the report.
            unit_column: the column that names the unit.

        Raises:
            UsageError: a setting is out of range.
        """
        from fim_private.comparison.settings import Settings
        from fim_private.comparison.store import Store
        from fim_private.mechanisms.registry import AUTO, REGISTRY
        from fim_private.randomness import SecureRandomness

        seed = Store.seed_of(folder) if self.seed is None else self.seed
        names = (AUTO, *REGISTRY) if self.mechanisms is None else _parts(self.mechanisms)
        if not names:
            raise UsageError("No mechanism was named.", "Name some, as in lmm,exponential, or leave out --mechanisms.")
        declared = self.universe_items
        return Settings(
            sizes=_whole(self.sizes, "sizes"),
            tops=_whole(self.tops, "tops"),
            long_tops=_whole(self.long_tops, "long-tops"),
            epsilons=_parts(self.epsilons),
            delta=self.delta,
            trials=self.trials,
            mechanisms=names,
            universe_items=None if declared == OCCURRING else _whole(declared, "universe-items")[0],
            max_items=self.max_items,
            relation=self.neighbours,
            unit_column=unit_column,
            seed=SecureRandomness().bits(32) if seed is None else seed,
        )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _whole(text: str, what: str) -> tuple[int, ...]:
    try:
        numbers = tuple(map(int, _parts(text)))
    except ValueError:
        numbers = (-1,)
    if any(number < 0 for number in numbers):
        raise UsageError(f"{what} has to be of whole numbers.", f"Write --{what} as in 1 or 1,2,3.")
    return numbers
