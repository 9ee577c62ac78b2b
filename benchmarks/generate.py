"""Baskets of any number from a seed, block by block, so that a hundred million fit in little memory.

    python -m benchmarks.generate TRANSACTIONS FILE

Items follow Zipf's law; the length of a basket is Poisson about a mean that itself varies; and patterns of two to six
items are embedded, some often and some rarely. Items are numbered at random, so that a number says nothing about its
item's frequency. A file of more baskets begins with those of a shorter one.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251 - test data, not noise
from numpy.typing import NDArray

BLOCK = 250_000
"""Baskets made and written at once: about 14 MB of text."""

MOST_BYTES = 11
"""Of one item with the blank behind it."""

THREADS = 2
SHIFT = 2.7
"""Items are as frequent as 1 / (rank + SHIFT)."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What the baskets are like.

    Args:
        items: to choose from.
        length: of a basket, on average before repetitions are dropped.
        patterns: how many sets of items are embedded.
        pattern_share: how many of the draws draw a pattern rather than an item.
        seed: of everything.
    """

    items: int = 50_000
    length: float = 10.0
    patterns: int = 2000
    pattern_share: float = 0.03
    seed: int = 1


Patterns = tuple[NDArray[np.int32], NDArray[np.int64]]


def generate(path: Path, transactions: int, shape: Shape = Shape(), *, block: int = BLOCK) -> None:
    """Write this many baskets, one a line, items as whole numbers between blanks.

    Args:
        path: of the file; it is there only once it is whole.
        transactions: how many.
        shape: what they are like.
        block: baskets made at once; other blocks, other baskets.
    """
    weights = np.cumsum(1 / (np.arange(shape.items) + SHIFT))
    weights /= weights[-1]
    random = default_rng([shape.seed, 0])
    numbers = random.permutation(shape.items).astype(np.int32)
    patterns = _patterns(shape, weights, random)

    def lines(first: int) -> NDArray[np.uint8]:
        random = default_rng([shape.seed, 1 + first // block])
        lengths = random.poisson(random.exponential(shape.length / 2, block) + shape.length / 2)
        wanted = np.maximum(lengths[: transactions - first], 1)
        flat, ends = np.empty(wanted.sum(), np.int32), np.empty(len(wanted), np.int64)
        _draw(random, wanted, weights, *patterns, shape.pattern_share, flat, ends)
        items = numbers[flat[: ends[-1]]]
        text = np.empty(MOST_BYTES * len(items), np.uint8)
        return text[: _write(items, ends, text)]

    part = path.with_name(path.name + ".part")
    starts = range(0, transactions, block)
    with part.open("wb") as file, ThreadPoolExecutor(THREADS) as pool:
        for some in range(0, len(starts), THREADS):
            for text in pool.map(lines, starts[some : some + THREADS]):
                text.tofile(file)
    part.replace(path)


def _patterns(shape: Shape, weights: NDArray[np.float64], random: Generator) -> Patterns:
    """Sets of items, frequent ones likelier, and where each ends."""
    lengths = random.integers(2, 7, size=shape.patterns)
    items = np.searchsorted(weights, random.random(int(lengths.sum()))).astype(np.int32)
    return items, np.cumsum(lengths)


@numba.njit(nogil=True, cache=True)
def _draw(random, wanted, weights, pattern_items, pattern_ends, share, flat, ends):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """Draw baskets of this many draws each into `flat`, end to end, and where each ends into `ends`."""
    end = 0
    for basket in range(len(wanted)):
        first, left = end, wanted[basket]
        while left > 0:
            if random.random() < share:
                pattern = int(random.random() ** 2 * len(pattern_ends))
                begin = pattern_ends[pattern - 1] if pattern else 0
                for at in range(begin, min(pattern_ends[pattern], begin + left)):
                    end = _add(flat, first, end, pattern_items[at])
                    left -= 1
            else:
                end = _add(flat, first, end, _place(weights, random.random()))
                left -= 1
        ends[basket] = end


@numba.njit(nogil=True, cache=True)
def _place(weights, value):  # type: ignore[no-untyped-def]
    """The first place whose weight is at least the value; numpy's own search takes seconds to compile."""
    low, high = 0, len(weights) - 1
    while low < high:
        middle = (low + high) >> 1
        if weights[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(nogil=True, cache=True)
def _add(flat, first, end, item):  # type: ignore[no-untyped-def]
    """Put an item behind the others of its basket unless it is among them; the new end."""
    for place in range(first, end):
        if flat[place] == item:
            return end
    flat[end] = item
    return end + 1


@numba.njit(nogil=True, cache=True)
def _write(items, ends, text):  # type: ignore[no-untyped-def]
    """Write the lines into the bytes of `text`; the number of bytes."""
    place = begin = 0
    for end in ends:
        for at in range(begin, end):
            item, power = items[at], 1
            while power <= item // 10:
                power *= 10
            while power > 0:
                text[place] = 48 + item // power % 10
                place += 1
                power //= 10
            text[place] = 32
            place += 1
        text[place - 1] = 10
        begin = end
    return place


if __name__ == "__main__":
    generate(Path(sys.argv[2]), int(sys.argv[1]))
