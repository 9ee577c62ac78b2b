"""Which mechanism to take: the rule by which reports, pages and tests compare mechanisms cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from fim_private.mechanisms.registry import AUTO, find

CLEARLY = 0.02
"""Precisions that differ by less than this count as equal."""
HARDLY = 0.05
"""Where the best precision is below this, no mechanism is of use."""
ASKED = ("data", "size", "top", "epsilon", "universe_items")
"""What is asked of all mechanisms of a group alike."""


def beside_the_best(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells with `gap`, how far each is behind the best for the same question and list of items, and `clearly`.

    A mechanism is clearly behind if its interval ends below that of the best, the gap is above `CLEARLY`, and the best
    is above `HARDLY`.
    """
    best, low = pl.col("best"), pl.col("precision_low").get(pl.col("precision").arg_max())
    return cells.with_columns(
        pl.col("precision").max().over(ASKED).alias("best"), low.over(ASKED).alias("best_low")
    ).with_columns(
        (best - pl.col("precision")).alias("gap"),
        (
            (pl.col("best_low") > pl.col("precision_high"))
            & (best - pl.col("precision") > CLEARLY)
            & (best > HARDLY)
        ).alias("clearly"),
    )  # fmt: skip


def ahead_of_auto(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells of mechanisms that are clearly better than `auto`, with its cell: `precision_here`, `ran_here`.

    Clearly: the intervals do not meet, and the precisions differ by more than `CLEARLY`. The cells are of one data set,
    and the lists of items need not agree.
    """
    here = cells.filter(pl.col("mechanism") == AUTO)
    where = ["size", "top", "epsilon"]
    return (
        cells.filter(pl.col("mechanism") != AUTO)
        .join(here.select(*where, "precision", "precision_high", "ran"), on=where, suffix="_here")
        .filter(
            (pl.col("precision_low") > pl.col("precision_high_here"))
            & (pl.col("precision") - pl.col("precision_here") > CLEARLY)
        )
    )


def take(cells: pl.DataFrame) -> str:
    """The mechanism to take for these questions.

    It is `auto`, unless another one is clearly better than `auto` in more of them than it is clearly worse. Otherwise
    it is the one that is clearly behind the best in the fewest; of several, one that `auto` may choose, then the one
    with the smallest mean gap.

    Args:
        cells: of mechanisms that get the same list of items, or none, for the same questions.
    """
    ranked = beside_the_best(cells).group_by("mechanism").agg(pl.col("clearly").sum(), pl.col("gap").mean())
    others = [name for name in ranked["mechanism"] if name != AUTO]
    if len(others) < len(ranked) and not any(_beats_auto(cells, name) for name in others):
        return AUTO
    keys = {
        (behind, not find(name).automatic, gap): name
        for name, behind, gap in ranked.filter(pl.col("mechanism").is_in(others)).iter_rows()
    }
    return str(keys[min(keys)])


def _beats_auto(cells: pl.DataFrame, name: str) -> bool:
    """Whether the mechanism is clearly better than `auto` for more questions than it is clearly worse."""
    both = beside_the_best(cells.filter(pl.col("mechanism").is_in([name, AUTO])))
    behind = dict(both.group_by("mechanism").agg(pl.col("clearly").sum()).iter_rows())
    return bool(behind[AUTO] > behind[name])


def nearest(values: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...]:
    """Those of the values that are nearest to the wanted ones, each once."""
    return tuple(dict.fromkeys(min(values, key=lambda value: abs(value - each)) for each in wanted))
