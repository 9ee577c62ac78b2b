"""The guide's figure of `--by leverage`: what it changes, on the customers of a web shop.

    python -m benchmarks.leverage_figure

Writes reports/leverage.png, in three minutes. The data ships with the package and is public.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from benchmarks.leverage import DEEP, best_pairs, independent
from fim_private.counting import as_database, top_itemsets
from fim_private.mechanisms.protocol import Stepwise
from fim_private.mining import stepwise
from fim_private.plan import make_plan
from fim_private.privacy import Budget, PrivacyUnit
from fim_private.randomness import SeededRandomness
from fim_private.report.drawing import logarithmic, new_figure, style
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.reading import read_transactions

ROOT = Path(__file__).parent.parent
DATA = ROOT / "datasets" / "online-retail-customers.csv.gz"
TOP, EPSILONS, RUNS = 50, ("0.5", "1", "2", "4"), 30
STUDENT = 2.045
"""The mean of `RUNS` runs is so many of its deviations from the true one, at most, in 95 % of cases."""
LEAST = 100
"""Rarer pairs are not drawn."""
COUNT, LEVERAGE, BOTH, OTHERS = "#0057a8", "#d8701a", "#111111", "#c8c8c8"


def draw_pairs(panel: Axes, transactions: Transactions) -> None:
    """Each frequent pair by how many customers have both items, and by how many would if items were independent."""
    pairs, counts = top_itemsets(transactions, 2, DEEP).reveal_to_curator()
    expected = independent(transactions, pairs)
    best = best_pairs(transactions, TOP)
    frequent = np.arange(len(pairs)) < TOP
    interesting = np.array([tuple(pair) in best for pair in pairs.tolist()])
    shown = counts >= LEAST
    for where, colour, marker, label in (
        (shown & ~frequent & ~interesting, OTHERS, "o", "other pairs"),
        (frequent & ~interesting, COUNT, "s", f"top {TOP} by count only"),
        (interesting & ~frequent, LEVERAGE, "^", f"top {TOP} by leverage only"),
        (frequent & interesting, BOTH, "o", "both"),
    ):
        others = colour == OTHERS
        name = label if others else f"{label} ({where.sum()})"
        size = 3 if others else 14
        panel.scatter(
            expected[where], counts[where], s=size, color=colour, marker=marker, linewidths=0, label=name
        )  # fmt: skip
    last = min(counts[interesting] - expected[interesting])
    right = 1.04 * expected[shown].max()
    panel.axhline(counts[TOP - 1], color=COUNT, linewidth=0.8, linestyle="--")
    panel.plot([0, right], [last, last + right], color=LEVERAGE, linewidth=0.8, linestyle="--")
    panel.set_xlim(0, right)
    panel.set_ylim(LEAST, 1.35 * counts[0])  # with room for the legend
    panel.set_xlabel("customers with both, if items were independent")
    panel.set_ylabel(f"customers with both items (from {LEAST})")
    panel.set_title(f"the true top {TOP} pairs")
    panel.legend(loc="upper right", markerscale=1.4)


def draw_answers(panel: Axes, transactions: Transactions) -> None:
    """How many of the true pairs private answers name, by epsilon."""
    for by, colour, marker in (("count", COUNT, "s"), ("leverage", LEVERAGE, "^")):
        for top, dashes in ((10, "-"), (TOP, "--")):
            shares = np.array([list(named(transactions, by, top, epsilon)) for epsilon in EPSILONS])
            bars = STUDENT * shares.std(axis=1, ddof=1) / math.sqrt(RUNS)
            panel.errorbar(
                [float(epsilon) for epsilon in EPSILONS], shares.mean(axis=1), bars, linestyle=dashes, color=colour,
                marker=marker, elinewidth=0.8, label=f"top {top} by {by}",
            )  # fmt: skip
    logarithmic(panel)
    panel.set_xticks([float(epsilon) for epsilon in EPSILONS], EPSILONS)
    panel.minorticks_off()
    panel.set_ylim(-0.04, 1.04)
    panel.set_xlabel("epsilon (log scale)")
    panel.set_ylabel("share of the true pairs named")
    panel.set_title("how many of them private answers name")
    panel.legend(loc="lower right")


def named(transactions: Transactions, by: str, top: int, epsilon: str) -> Iterator[float]:
    """For each run the share of the true top pairs that it names. Pairs that tie with the last are true, too."""
    budget, unit = Budget(epsilon, "1e-6"), PrivacyUnit()
    mechanism = make_plan(size=2, top=top, budget=budget, unit=unit, by=by).search
    if not isinstance(mechanism, Stepwise):
        raise AssertionError("it does not count step by step")
    true = best_pairs(transactions, top) if by == "leverage" else most_frequent(transactions, top)
    database = as_database(transactions)
    first = stepwise.count_first(database, mechanism)
    for seed in range(RUNS):
        found = stepwise.run(database, mechanism, SeededRandomness(seed), counts=first).itemsets.tolist()
        yield sum(tuple(pair) in true for pair in found) / top


def most_frequent(transactions: Transactions, top: int) -> set[tuple[int, ...]]:
    """The most frequent pairs, and all that tie with the last."""
    pairs, counts = top_itemsets(transactions, 2, 10 * top).reveal_to_curator()
    return set(map(tuple, pairs[counts >= counts[top - 1]].tolist()))


def main() -> None:
    """Draw and write the figure."""
    transactions = read_transactions(DATA)
    with style():
        figure, (pairs, answers) = new_figure(1, 2, height=2.9, same_y=False)
        draw_pairs(pairs, transactions)
        draw_answers(answers, transactions)
        figure.savefig(ROOT / "reports" / "leverage.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
