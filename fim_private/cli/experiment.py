"""The options of a comparison, from the command line or a file of settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli.options import Neighbours
from fim_private.cli.settings_file import LISTED
from fim_private.errors import UsageError
from fim_private.privacy import NeighbouringRelation

if TYPE_CHECKING:
    from fim_private.comparison.settings import Settings

OCCURRING, USUAL = "occurring", "usual"

_run = partial(typer.Option, rich_help_panel="What to run")
_listed = partial(_run, metavar=LISTED)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The options as they are typed; `settings` makes a `fim_private.comparison.settings.Settings` of them."""

    sizes: Annotated[str, _listed(help="The numbers of items in an itemset.")] = "1,2,3"
    all_sizes: Annotated[
        str,
        _listed(
            help="Sizes whose itemsets are also ranked together, by auto, limited-domain and the published systems.",
            show_default=False,
        ),
    ] = ""
    tops: Annotated[str, _listed(help="The numbers of itemsets to find (k).")] = "1,5,10,20,50,100"
    long_tops: Annotated[
        str, _listed(help="More numbers of itemsets, for the fast mechanisms only.", show_default=False)
    ] = ""
    epsilons: Annotated[str, _listed(help="The epsilons; each is the whole budget of a run.")] = "0.1,0.25,0.5,1,2"
    delta: Annotated[str, _run(help="The delta of every run. 0: all mechanisms get the list of items.")] = "1e-6"
    trials: Annotated[int, _run(help="The number of runs per setting.")] = 50
    mechanisms: Annotated[str, _listed(help="The mechanisms to compare; usual stands for nearly all.")] = USUAL
    universe_items: Annotated[
        str,
        _run(
            metavar="N",
            help="The number of items on the public list of mechanisms that need one, or: occurring (taken from the "
            "data, which is not private).",
        ),
    ] = OCCURRING
    max_items: Annotated[
        int, _run(metavar="B", help="The most items kept per transaction, for mechanisms that need such a cap.")
    ] = 10
    neighbours: Neighbours = NeighbouringRelation.ADD_REMOVE
    seed: Annotated[int | None, _run(help="The seed of all runs. Without it, a seed is drawn and recorded.")] = None
    title: Annotated[str | None, _run(help="The title of the report.")] = None

    def settings(self, folder: Path, unit_column: str | None, together: str | None = None) -> Settings:
        """The settings as a value. Without --seed, the seed is the one recorded in the folder, or a new one.

        Raises:
            UsageError: a setting is out of range.
        """
        from fim_private.comparison.settings import Settings, works_without_delta
        from fim_private.comparison.store import Store
        from fim_private.mechanisms.registry import AUTO, REGISTRY
        from fim_private.privacy import exact
        from fim_private.randomness import SecureRandomness

        seed = Store.seed_of(folder) if self.seed is None else self.seed
        # What decides between others is what `auto` takes.
        usual = (AUTO, *(name for name, row in REGISTRY.items() if not (row.instead_of or row.weighs)))
        asked = _parts(self.mechanisms)
        if not asked:
            raise UsageError("No mechanism was named.", "Name some, as in lmm,exponential, or leave out --mechanisms.")
        if exact(self.delta, "delta") == 0:
            usual = tuple(name for name in usual if works_without_delta(name))
        names = tuple(dict.fromkeys(name for part in asked for name in (usual if part == USUAL else (part,))))
        universe = None if self.universe_items == OCCURRING else _whole(self.universe_items, "universe-items")
        if universe is not None and len(universe) != 1:
            raise UsageError("--universe-items takes one whole number.", "Give one, or leave it out.")
        return Settings(
            sizes=_whole(self.sizes, "sizes"),
            all_sizes=_whole(self.all_sizes, "all-sizes"),
            tops=_whole(self.tops, "tops"),
            long_tops=_whole(self.long_tops, "long-tops"),
            epsilons=_parts(self.epsilons),
            delta=self.delta,
            trials=self.trials,
            mechanisms=names,
            universe_items=None if universe is None else universe[0],
            max_items=self.max_items,
            relation=self.neighbours,
            unit_column=unit_column,
            together=together,
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
        raise UsageError(f"--{what} takes whole numbers.", f"Write --{what} 1, or --{what} 1,2,3.")
    return numbers
