"""How many of the k pairs with the highest leverage items-first names: the defaults for leverage were chosen by this.

    python benchmarks/leverage.py FILE ...

One line per file, epsilon and k: the share of the k pairs that were named, over seeded runs, with its standard error,
and how many pairs were named. A minute or two per file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fim_private.counting import as_database, top_itemsets
from fim_private.mechanisms.items_first import calibrate
from fim_private.mechanisms.protocol import BY_LEVERAGE, PEEL, Request
from fim_private.mining.items_first_steps import run
from fim_private.randomness import SeededRandomness
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.reading import read_transactions

DELTA = Fraction(1, 10**6)
EPSILONS = ("0.5", "1", "2")
TOPS = (10, 50, 100)
RUNS = 20
DEEP = 400_000
"""Leverage is no larger than the count, so the best pairs are among the most frequent ones."""


def best_pairs(transactions: Transactions, top: int) -> set[tuple[int, ...]]:
    """The pairs with the highest leverage, and all that tie with the last."""
    pairs, counts = top_itemsets(transactions, 2, DEEP).reveal_to_curator()
    leverage = counts - independent(transactions, pairs)
    least = np.sort(leverage)[-min(top, len(leverage))]
    if len(pairs) == DEEP and least <= counts[-1]:
        raise AssertionError("rarer pairs may have as much leverage")
    return set(map(tuple, pairs[leverage >= least].tolist()))


def independent(transactions: Transactions, pairs: NDArray[np.int32]) -> NDArray[np.float64]:
    """How many transactions would hold each pair if one item did not depend on the other."""
    items, single = top_itemsets(transactions, 1, len(transactions.vocabulary)).reveal_to_curator()
    count_of = np.zeros(len(transactions.vocabulary))
    count_of[items[:, 0]] = single
    return count_of[pairs].prod(axis=1) / len(transactions)


def lines(path: str, runs: int = RUNS) -> Iterator[str]:
    """The figures of one file."""
    transactions = read_transactions(path)
    best = {top: best_pairs(transactions, top) for top in TOPS}
    for epsilon, top in product(EPSILONS, TOPS):
        request = Request(top=top, epsilon=Fraction(epsilon), delta=DELTA, sizes=(2,), select=PEEL, by=BY_LEVERAGE)
        mechanism = calibrate(request).mechanism
        found = [
            run(as_database(transactions), mechanism, SeededRandomness(seed)).itemsets.tolist() for seed in range(runs)
        ]
        shares = np.array([sum(tuple(pair) in best[top] for pair in pairs) / top for pairs in found])
        named = np.mean([len(pairs) for pairs in found])
        error = shares.std() / runs**0.5
        yield f"epsilon {epsilon:>3}  k {top:>3}  {shares.mean():.3f} +- {error:.3f}  named {named:.0f}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name)
        for line in lines(name):
            print(line, flush=True)
