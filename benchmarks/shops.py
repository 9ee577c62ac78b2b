"""Where `auto` is behind another mechanism on made-up shops.

    python -m benchmarks.shops [--first SEED] MINUTES

Everything of a shop follows from its seed: how many baskets and items there are, how long baskets are, how frequent
items are, and what is bought together. So do the questions: sizes, k, epsilon, and a public list or none. A rival that
looks ahead in 8 runs is run 40 times with other noise, as `auto` is. One line tells of each that stays ahead by more
than 0.05 and by more than 2.5 standard errors. A loss that 8 runs miss is not found. A shop takes some ten seconds.
Seed 357 decided how long a list of single items `auto` picks; shops with other seeds took part in no setting.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251 - test data, not noise
from numpy.typing import NDArray

from benchmarks import field
from fim_private.comparison.exact_counts import ExactCounts, all_counts, count_all
from fim_private.comparison.settings import ALL_SIZES, Cell, Settings
from fim_private.comparison.trials import run_cell
from fim_private.errors import FimPrivateError
from fim_private.mechanisms.registry import AUTO
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import transactions_from_lists

SETTINGS = replace(
    field.SETTINGS,
    sizes=(1, 2, 3),
    all_sizes=(1, 2, 3),
    tops=(100,),
    epsilons=("1",),
    trials=8,
    mechanisms=(AUTO, "items-first"),
)
OPEN = ("items-first", "certified-domain", "limited-domain", "lmm", "weighted-gaussian")
LISTED = ("items-first", "certified-domain", "exponential", "permute-and-flip", "truncated-frequency")
PURE = ("items-first", "exponential", "permute-and-flip", "truncated-frequency")
"""The rivals of `auto` without a public list, with one, and with delta 0."""
AGAIN, BEHIND, ERRORS = 40, 0.05, 2.5
MOST_OCCURRENCES, LONGEST, QUESTIONS = 600_000, 400, 9


def shop(seed: int) -> Transactions:
    """The baskets of a made-up shop."""
    random = default_rng(seed)
    items = int(random.choice([12, 40, 150, 600, 3_000, 12_000]))
    length = min(float(random.choice([1.5, 3, 6, 12, 30])), items / 2)
    number = min(int(random.choice([400, 1_200, 3_000, 8_000, 20_000, 60_000])), int(MOST_OCCURRENCES / length))
    frequencies = np.arange(1, items + 1) ** -float(random.choice([0.3, 0.7, 1.0, 1.4]))
    frequencies /= frequencies.sum()
    lengths = np.minimum(_lengths(random, length, number), min(items, LONGEST))
    kinds = max(1, min(20, items // 6)) if random.random() < 1 / 3 else 1
    kind_of_item, kind = random.integers(0, kinds, items), random.integers(0, kinds, number)
    bundles = [random.choice(items, random.integers(2, 5), replace=False, p=frequencies) for _ in range(items // 12)]
    share = float(random.choice([0.0, 0.3]))
    baskets: list[list[str]] = [[] for _ in range(number)]
    for each in range(kinds):
        here = np.flatnonzero(kind == each)
        usual = np.where(kind_of_item == each, frequencies, 0.05 * frequencies) if kinds > 1 else frequencies
        drawn = np.split(
            random.choice(items, lengths[here].sum(), p=usual / usual.sum()), np.cumsum(lengths[here])[:-1]
        )
        for place, some in zip(here.tolist(), drawn, strict=True):
            more = bundles[int(len(bundles) * random.random() ** 2)] if random.random() < share else ()
            baskets[place] = sorted({str(item) for item in (*some, *more)})
    return transactions_from_lists(baskets)


def _lengths(random: Generator, mean: float, number: int) -> NDArray[np.int64]:
    match random.integers(3):
        case 0:
            return 1 + random.poisson(max(mean - 1, 0.2), number)
        case 1:
            return random.geometric(1 / max(mean, 1.01), number)
    return np.maximum(1, np.round(random.lognormal(math.log(mean) - 0.5, 1.0, number))).astype(np.int64)


def ask(seed: int, counts: ExactCounts, settings: Settings) -> list[str]:
    """The rivals that are ahead in one question, in words."""
    random = default_rng(seed)
    listed = settings.without_delta or random.random() < 1 / 2
    cell = Cell(
        mechanism=AUTO,
        size=int(random.choice([1, 2, 2, 3, ALL_SIZES])),
        top=int(random.choice([1, 2, 5, 10, 20, 50, 100])),
        epsilon=str(random.choice(["0.1", "0.25", "0.5", "1", "2"])),
        universe_items=counts.items * int(random.choice([1, 1, 10])) if listed else None,
    )
    once, again = replace(settings, seed=seed), replace(settings, seed=seed + 1)
    ours, ran = _precision(cell, once, counts, settings.trials)
    found = []
    for rival in PURE if settings.without_delta else LISTED if listed else OPEN:
        theirs = replace(cell, mechanism=rival)
        if rival == ran or not _ahead(ours, _precision(theirs, once, counts, settings.trials)[0]):
            continue
        sure, other = (_precision(each, again, counts, AGAIN)[0] for each in (cell, theirs))
        if _ahead(sure, other, errors=ERRORS):
            sizes = "1-3" if cell.size == ALL_SIZES else cell.size
            asked = f"size {sizes}, k {cell.top}, epsilon {cell.epsilon}, list {cell.universe_items}"
            found.append(f"{asked}: auto ({ran}) {sure.mean():.3f}, {rival} {other.mean():.3f}")
    return found


def _precision(cell: Cell, settings: Settings, counts: ExactCounts, trials: int) -> tuple[NDArray[np.float64], str]:
    rows = run_cell(cell, settings, counts, trials=trials)
    return np.array([row["precision"] for row in rows]), rows[0]["ran"]


def _ahead(ours: NDArray[np.float64], theirs: NDArray[np.float64], errors: float = 0.0) -> bool:
    by, error = theirs.mean() - ours.mean(), math.sqrt(ours.var() / len(ours) + theirs.var() / len(theirs))
    return bool(by > BEHIND and by > errors * error)


def main() -> None:
    """Ask one shop after the other, until time is up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("minutes", type=float)
    asked = parser.parse_args()
    end, seed, questions, lost = time.monotonic() + 60 * asked.minutes, asked.first, 0, 0
    while time.monotonic() < end:
        settings = SETTINGS if seed % 4 else replace(SETTINGS, delta="0")
        baskets = shop(seed)
        counts = count_all(f"shop {seed}", baskets, settings, lambda _what: None)
        counts = replace(counts, all_sizes=all_counts(baskets, *settings.all_sizes))
        for number in range(QUESTIONS):
            try:
                found = ask(1_000 * seed + number, counts, settings)
            except FimPrivateError:
                continue  # more is asked for than there is
            questions, lost = questions + 1, lost + bool(found)
            for line in found:
                of = f"{len(baskets):,} baskets of {len(baskets.items) / len(baskets):.1f} of {counts.items:,} items"
                print(f"shop {seed} ({of}, delta {settings.delta}): {line}", flush=True)
        seed += 1
    print(f"{questions} questions of {seed - asked.first} shops; lost {lost}")


if __name__ == "__main__":
    main()
