"""Tell the curator, before anything is charged, that a named item does not occur in the data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fim_private.cli.progress import say
from fim_private.errors import InputError

if TYPE_CHECKING:
    from fim_private.counting import TransactionDatabase
    from fim_private.plan import Plan

OPTION = "--allow-absent-items"


def tell_of_absent_items(database: TransactionDatabase, plan: Plan, *, quiet: bool) -> None:
    """Refuse a question that no itemset can answer, and note other names that do not occur.

    Whether a name occurs is data. So errors and notes are for the holder of the data; a release never says it.

    Args:
        database: as read.
        plan: with the names.
        quiet: whether to leave out notes.

    Raises:
        InputError: an item that every itemset has to contain does not occur, or no item of the public list does.
    """
    hint = f"Check its spelling and case, for example with `fim-private inspect`, or go on all the same with {OPTION}."
    required = _absent(plan.constraints.must_contain, database)
    if required:
        raise InputError(f"{_missing(required, '--must-contain')}: nothing was charged.", hint)
    listed = plan.universe.names or ()
    gone = _absent(listed, database)
    if listed and len(gone) == len(listed):
        raise InputError(
            "No item of --items-file occurs in the data: nothing was charged.",
            f"A line is one name, without quotes and other columns. {hint.replace('its', 'their')}",
        )
    notes = []
    if gone:
        notes.append(f"{len(gone):,} of the {len(listed):,} items of --items-file {_do(gone)} not occur in the data.")
    if excluded := _absent(plan.constraints.exclude, database):
        notes.append(f"{_missing(excluded, '--exclude')}.")
    for note in notes:
        say(f"For the holder of the data, not part of the release: {note}", quiet=quiet)


def _absent(names: Iterable[str], database: TransactionDatabase) -> list[str]:
    """The names that do not occur, in their order."""
    import polars as pl

    wanted = list(names)
    found = set(database.vocabulary.filter(database.vocabulary.is_in(pl.Series(wanted, dtype=pl.String).implode())))
    return [name for name in wanted if name not in found]


def _missing(names: list[str], option: str) -> str:
    return f"{', '.join(map(repr, names))} ({option}) {_do(names)} not occur in the data"


def _do(names: list[str]) -> str:
    return "does" if len(names) == 1 else "do"
