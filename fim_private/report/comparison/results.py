"""What a comparison's report is made from, and the averages that its figures and sentences share."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import polars as pl

from fim_private.comparison.exact_counts import ExactCounts
from fim_private.comparison.settings import ALL_SIZES, Settings
from fim_private.mechanisms.registry import AUTO, find
from fim_private.privacy import exact

MEASURES = ("precision", "false_negative_rate", "rank_loss", "count_loss")
CELL = ("data", "mechanism", "size", "top", "epsilon", "universe_items", "padded")


def averages(table: pl.DataFrame) -> pl.DataFrame:
    """One row a cell, from one row a trial: the mean of each measure over the trials.

    Also `precision_low` and `precision_high`, a 95 % confidence interval of the mean: Student's, cut at 0 and 1, or
    Wilson's where a trial can only be right or wrong (k = 1). Also `epsilon_value`, `empty` (share of trials that named
    nothing), `named` (mean number), `milliseconds` (median). `count_error` is None where it is known of fewer than half
    of the trials. Where `auto` took a mechanism that was run too, the two are one, and each has the trials of both.
    """
    z = 1.959964
    mean, number, free = pl.col("precision"), pl.col("trials"), pl.col("trials") - 1
    quantile = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    student = pl.col("deviation") * quantile / number.sqrt()
    centre = (mean + z**2 / (2 * number)) / (1 + z**2 / number)
    wilson = z / (1 + z**2 / number) * (mean * (1 - mean) / number + z**2 / (4 * number**2)).sqrt()
    yes_or_no = pl.col("top") == 1
    return (
        _shared(table)
        .group_by(CELL, maintain_order=True)
        .agg(
            *(pl.col(name).mean() for name in MEASURES),
            pl.col("precision").std().alias("deviation"),
            pl.len().cast(pl.Float64).alias("trials"),
            pl.col("ran").first(),
            pl.col("precision_named").mean(),
            pl.col("empty").mean(),
            pl.col("named").mean(),
            pl.when(2 * pl.col("count_error").count() >= pl.len()).then(pl.col("count_error").median()),
            (pl.col("seconds").median() * 1000).alias("milliseconds"),
        )
        .with_columns(
            pl.when(yes_or_no).then(centre - wilson).otherwise(mean - student).clip(0, 1).alias("precision_low"),
            pl.when(yes_or_no).then(centre + wilson).otherwise(mean + student).clip(0, 1).alias("precision_high"),
            pl.col("epsilon")
            .replace_strict({text: ComparisonResults.epsilon(text) for text in table["epsilon"].unique()})
            .cast(pl.Float64)
            .alias("epsilon_value"),
        )
    )


def _shared(table: pl.DataFrame) -> pl.DataFrame:
    """The trials, and once more under the other name those of `auto` and of what it took in the same cell."""
    auto = table.filter(pl.col("mechanism") == AUTO)
    renamed = auto.with_columns(mechanism=pl.col("ran"))
    shared = partial(pl.DataFrame.join, on=CELL, how="semi", nulls_equal=True)
    taken = shared(table.filter(pl.col("mechanism") != AUTO), renamed)
    return pl.concat([table, taken.with_columns(mechanism=pl.lit(AUTO)), shared(renamed, taken)])


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a data set came from, for the reader.

    Args:
        name: as in the table.
        file: the file's name, without its folder.
        checksum: SHA-256 of the uncompressed content; of a query, of the transactions that its rows make.
        description: what it is, one sentence; the catalogue's, or "a file of the curator's".
        citation: what to cite; empty where it is not in the catalogue.
    """

    name: str
    file: str
    checksum: str
    description: str
    citation: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonResults:
    """One finished comparison.

    Args:
        title: of the report.
        settings: what was compared.
        counts: of each data set.
        sources: of each data set, in the same order.
        table: one row a trial.
        command: what repeats it.
        public: whether every data set is known to be public.
    """

    title: str
    settings: Settings
    counts: tuple[ExactCounts, ...]
    sources: tuple[Source, ...]
    table: pl.DataFrame
    command: str
    public: bool

    @cached_property
    def averages(self) -> pl.DataFrame:
        """One row a cell, as `averages` makes them."""
        return averages(self.table)

    def cells(self, **wanted: object) -> pl.DataFrame:
        """The averages of the cells with these values, all of the grid unless `padded` or `size` is named."""
        one_size = () if "size" in wanted else (pl.col("size") != ALL_SIZES,)
        wanted = {"padded": False, **wanted}
        return self.averages.filter(*one_size, *(pl.col(name) == value for name, value in wanted.items()))

    @property
    def main(self) -> tuple[str, ...]:
        """The mechanisms that figures and first tables show: all but those for study, unless there are no others."""
        names = self.settings.mechanisms
        return tuple(name for name in names if not find(name).study) or names

    def names(self, chosen: Collection[str]) -> str:
        """These mechanisms in words, in the order of the settings; "all" where none is missing."""
        if set(chosen) >= set(self.settings.mechanisms):
            return "all"
        return ", ".join(name for name in self.settings.mechanisms if name in chosen)

    def by_mechanism(self, frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
        """The rows of each mechanism, in the order of the settings."""
        for name in self.settings.mechanisms:
            rows = frame.filter(pl.col("mechanism") == name)
            if len(rows):
                yield name, rows

    @staticmethod
    def epsilon(text: str) -> float:
        """The value of an epsilon as typed."""
        return float(exact(text, "epsilon"))

    @property
    def epsilons(self) -> tuple[str, ...]:
        """In increasing order."""
        return tuple(sorted(self.settings.epsilons, key=lambda text: exact(text, "epsilon")))

    @property
    def tops(self) -> tuple[int, ...]:
        """Those of all mechanisms, in increasing order."""
        return tuple(sorted(self.settings.tops))

    @property
    def all_tops(self) -> tuple[int, ...]:
        """With those of the mechanisms that name long lists."""
        return tuple(sorted(self.settings.tops + self.settings.long_tops))
