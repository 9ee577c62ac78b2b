"""A rule, and all rules of a release as frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fim_private.notebook_table import braces, notebook_table
from fim_private.release.release import marked, pandas

if TYPE_CHECKING:
    import pandas as pd

MEASURES = (
    "antecedent support",
    "consequent support",
    "support",
    "confidence",
    "lift",
    "representativity",
    "leverage",
    "conviction",
    "zhangs_metric",
    "jaccard",
    "certainty",
    "kulczynski",
)
"""The columns of mlxtend's `association_rules`, in its order, after antecedents and consequents."""

WITH_INTERVALS = ("confidence", "lift", "leverage", "conviction")
COUNTS = ("antecedent_count", "consequent_count", "count")

SHOWN = 5
"""Rules in a short description."""

Interval = tuple[float, float]

_NOTHING = 0.0005
"""An interval of confidence that leaves out less than this on either side is shown as [0.000, 1.000]."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Transactions with the antecedent tend to hold the consequent as well.

    Args:
        antecedents: names, in item order.
        consequents: names, in item order; no name is also an antecedent.
        rank: the rank of the itemset of both together, in the release.
        counts: the released counts of the antecedent, the consequent and both (`COUNTS`); None if not released.
        measures: by name (`MEASURES`); None if the released counts do not give the measure.
        intervals: by name (`WITH_INTERVALS`), at 95 % each; None if the noise is unknown.
        note: why measures are None.
    """

    antecedents: tuple[str, ...]
    consequents: tuple[str, ...]
    rank: int
    counts: tuple[int | None, int | None, int]
    measures: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]
    note: str | None = None

    @property
    def tells(self) -> bool:
        """Whether the counts say anything of the confidence: a value, or an interval smaller than all of [0, 1]."""
        interval = self.intervals["confidence"]
        if interval is None:
            return self.measures["confidence"] is not None
        return interval[0] >= _NOTHING or interval[1] <= 1 - _NOTHING

    def __repr__(self) -> str:
        confidence = self.measures["confidence"]
        shown = "?" if confidence is None else f"{confidence:.3f}"
        return f"<Rule {braces(self.antecedents)} -> {braces(self.consequents)}, confidence {shown}>"


@dataclass(frozen=True, kw_only=True)
class AssociationRules:
    """The rules of a release.

    Args:
        rules: in decreasing order of confidence, or of another measure; rules for which it is unknown come last.
        seeded: whether the release is the result of a seeded run, and so not private.
        untold: how many rules `telling` left out.
    """

    rules: tuple[Rule, ...]
    seeded: bool
    untold: int = 0

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        number = len(self.rules)
        shown = [f"{braces(rule.antecedents)} -> {braces(rule.consequents)}" for rule in self.rules[:SHOWN]]
        more = [f"and {number - SHOWN:,} more"] if number > SHOWN else []
        return f"<AssociationRules, {number:,}: {', '.join([*shown, *more]) or 'none'}>"

    def _repr_html_(self) -> str:
        """The rules as a table, as notebooks show a value."""
        rows = [
            [
                f"{' + '.join(rule.antecedents)} → {' + '.join(rule.consequents)}",
                *(rule.measures[name] for name in ("confidence", "lift")),
                rule.counts[2],
            ]
            for rule in self.rules
        ]
        return notebook_table(f"{len(rows):,} rules", ["rule", "confidence", "lift", "count"], rows)

    def telling(self) -> AssociationRules:
        """The rules of which the counts say something: a confidence, and no interval that is all of [0, 1]."""
        rules = tuple(rule for rule in self.rules if rule.tells)
        return replace(self, rules=rules, untold=self.untold + len(self.rules) - len(rules))

    def to_polars(self) -> pl.DataFrame:
        """One row per rule: mlxtend's columns (names as lists), then counts, intervals, the note and `seeded`."""
        lists = dict.fromkeys(("antecedents", "consequents"), pl.List(pl.String))
        intervals = [f"{name}_{end}" for name in WITH_INTERVALS for end in ("low", "high")]
        return pl.DataFrame(
            [self._row(rule) for rule in self.rules],
            schema={
                **lists,
                **dict.fromkeys(MEASURES, pl.Float64),
                **dict.fromkeys(COUNTS, pl.Int64),
                **dict.fromkeys(intervals, pl.Float64),
                "note": pl.String,
                "seeded": pl.Boolean,
            },
        )

    def to_mlxtend(self) -> pd.DataFrame:
        """The frame as mlxtend's `association_rules` gives it: the same columns in order, names as frozensets.

        `attrs["warning"]` of the frame marks a seeded run.

        Raises:
            UsageError: pandas is not installed.
        """
        columns: dict[str, list[Any]] = {
            "antecedents": [frozenset(rule.antecedents) for rule in self.rules],
            "consequents": [frozenset(rule.consequents) for rule in self.rules],
        }
        for name in MEASURES:
            values = [rule.measures[name] for rule in self.rules]
            columns[name] = [float("nan") if value is None else value for value in values]
        return marked(pandas().DataFrame(columns), seeded=self.seeded)

    def _row(self, rule: Rule) -> dict[str, object]:
        row: dict[str, object] = {"antecedents": list(rule.antecedents), "consequents": list(rule.consequents)}
        row.update(rule.measures)
        row.update(zip(COUNTS, rule.counts, strict=True))
        for name in WITH_INTERVALS:
            row[f"{name}_low"], row[f"{name}_high"] = rule.intervals[name] or (None, None)
        return {**row, "note": rule.note, "seeded": self.seeded}
