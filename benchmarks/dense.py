"""Made answers to a questionnaire: dense data, in which few items make up the itemsets asked for.

    python -m benchmarks.dense NAME FILE.dat.gz

NAME is chess-like, connect-like, census-like or survey-like: as many rows and columns as data sets of that kind have.
Each row has one value of every attribute. Rows are of hidden classes, and values depend on the class alone. So items
depend on each other, but weakly. `python -m benchmarks.field` then compares mechanisms on the file.
"""

from __future__ import annotations

import gzip
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import default_rng  # noqa: TID251 - test data, not noise


@dataclass(frozen=True, kw_only=True)
class Questionnaire:
    """What the answers are like.

    Args:
        rows: how many.
        attributes: of each row.
        values: an attribute has from the first number of values to less than the second.
        classes: how many hidden classes there are.
        evenness: of the values of an attribute; the smaller, the more one value prevails.
        seed: of everything.
    """

    rows: int
    attributes: int
    values: tuple[int, int]
    classes: int
    evenness: float
    seed: int


MADE = {
    "chess-like": Questionnaire(rows=3_200, attributes=36, values=(2, 4), classes=6, evenness=0.5, seed=1),
    "connect-like": Questionnaire(rows=12_000, attributes=43, values=(3, 4), classes=8, evenness=0.35, seed=2),
    "census-like": Questionnaire(rows=30_000, attributes=14, values=(2, 9), classes=10, evenness=0.8, seed=3),
    "survey-like": Questionnaire(rows=6_000, attributes=24, values=(2, 6), classes=5, evenness=1.0, seed=4),
}


def generate(path: Path, made: Questionnaire) -> None:
    """Write the rows, one a line, items as whole numbers between blanks, compressed."""
    generator, columns, first = default_rng(made.seed), [], 1
    classes = generator.choice(made.classes, made.rows, p=generator.dirichlet(np.full(made.classes, 2.0)))
    for _ in range(made.attributes):
        values = int(generator.integers(*made.values))
        usual = generator.dirichlet(np.full(values, made.evenness))
        shares = np.stack([generator.dirichlet(usual * 8 + 0.05) for _ in range(made.classes)])
        value = (generator.random((made.rows, 1)) > shares.cumsum(axis=1)[classes, :-1]).sum(axis=1)
        columns.append(first + value)
        first += values
    with gzip.open(path, "wt") as file:
        file.writelines(" ".join(map(str, row)) + "\n" for row in np.stack(columns, axis=1).tolist())


if __name__ == "__main__":
    generate(Path(sys.argv[2]), MADE[sys.argv[1]])
