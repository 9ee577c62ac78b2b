"""Which items are released together, drawn: items as nodes, lines between items of one itemset.

The places come from a model of springs (Fruchterman and Reingold 1991) that starts from places fixed by the order of
the items, so that a release always gives the same drawing; then labels that overlap are pushed apart.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fim_private.release import Release, ReleasedItemset
from fim_private.report.document import Figure
from fim_private.report.document.svg import FILL, drawing, folded, line, width_of, words

MOST_ITEMSETS, MOST_ITEMS = 40, 60
"""More would hide each other."""

STEPS, ROUNDS = 400, 100
LABEL, LETTER, HIGH = 130, 11, 13
"""Pixels: how wide a label may be, how large its letters, how far apart its lines."""

GAP, DOT = 10.0, 12.0
Edges = dict[tuple[str, str], float]


def item_graph(release: Release) -> Figure | None:
    """The drawing; None where no itemset has two items."""
    joined = [itemset for itemset in release.itemsets if len(itemset.items) > 1]
    if not joined:
        return None
    drawn = first_of(joined)
    edges = edges_of(drawn)
    counted = all(itemset.count is not None for itemset in drawn)
    caption = "Items that are released together. " + (
        "The thicker a line, the larger the noisy count of an itemset with both items."
        if counted
        else "The thicker a line, the earlier an itemset with both items was picked."
    )
    if any(len(itemset.items) > 2 for itemset in drawn):
        caption += " An itemset of three items or more is a line between any two of them."
    if len(joined) > len(drawn):
        caption += f" Only the first {len(drawn)} of {len(joined):,} itemsets are drawn."
    number = len({item for edge in edges for item in edge})
    return Figure(
        name="items",
        svg=draw(edges),
        alt=f"Graph of {number} items and {len(edges)} pairs of them; the table of itemsets says the same in words.",
        caption=caption,
    )


def first_of(itemsets: list[ReleasedItemset]) -> list[ReleasedItemset]:
    """The first of them, as many as can be told apart in a drawing."""
    items: set[str] = set()
    for number, itemset in enumerate(itemsets[:MOST_ITEMSETS]):
        items |= set(itemset.items)
        if len(items) > MOST_ITEMS:
            return itemsets[:number]
    return itemsets[:MOST_ITEMSETS]


def edges_of(itemsets: list[ReleasedItemset]) -> Edges:
    """Pairs of items that share an itemset, with a strength from 0 to 1: of the largest count, or the first rank."""
    counts = [itemset.count for itemset in itemsets if itemset.count is not None]
    worth = counts if len(counts) == len(itemsets) else list(range(len(itemsets), 0, -1))
    least, most = min(worth, default=0), max(worth, default=0)
    edges: Edges = {}
    for value, itemset in zip(worth, itemsets, strict=True):
        strength = (value - least) / (most - least) if most > least else 0.5
        for one, other in combinations(sorted(set(itemset.items)), 2):
            edges[one, other] = max(strength, edges.get((one, other), 0.0))
    return edges


def draw(edges: Edges) -> str:
    """The graph as SVG, as large as its labels need."""
    items = list(dict.fromkeys(item for edge in edges for item in edge))
    place = {item: at for at, item in enumerate(items)}
    pairs = np.array([(place[one], place[other]) for one, other in edges], dtype=np.int64).reshape(-1, 2)
    labels = [folded(item, LABEL, LETTER) for item in items]
    sizes = np.array(
        [(max(width_of(row, LETTER) for row in rows) + GAP, HIGH * len(rows) + DOT + GAP) for rows in labels]
    ).reshape(-1, 2)
    dots = springs(len(items), pairs) * spacing(len(items))
    # A label stands on the side of its dot where fewer lines come from: 1 is below, -1 above.
    side = np.where(neighbours_below(dots, pairs) > 0, -1, 1)
    to_dot = np.stack([np.zeros(len(items)), side * (sizes[:, 1] - DOT - GAP) / 2], axis=1)
    boxes = apart(dots + to_dot, sizes)
    boxes -= (boxes - sizes / 2).min(axis=0, initial=0) - GAP
    width, height = ((boxes + sizes / 2).max(axis=0, initial=0) + GAP).tolist()
    dots = boxes - to_dot
    parts = [
        line(*dots[place[one]], *dots[place[other]], color="#8a8a8a", width=1 + 5 * strength)
        for (one, other), strength in edges.items()
    ]
    for (x, y), below, rows in zip(dots.tolist(), (side > 0).tolist(), labels, strict=True):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{FILL}" stroke="#ffffff" stroke-width="1.5"/>')
        first = y + 6 + HIGH if below else y - 10 - HIGH * (len(rows) - 1)
        parts += [words(row, x, first + HIGH * number, anchor="middle", size=LETTER) for number, row in enumerate(rows)]
    return drawing(width, height, parts)


def neighbours_below(dots: NDArray[np.float64], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """By how far the neighbours of each dot are below it, all told: float64, shape (n,)."""
    down = dots[pairs[:, 1], 1] - dots[pairs[:, 0], 1]
    told = np.zeros(len(dots))
    np.add.at(told, pairs[:, 0], down)
    np.subtract.at(told, pairs[:, 1], down)
    return told


def spacing(items: int) -> NDArray[np.float64]:
    """Pixels to a unit, across and down: labels are wider than high."""
    side = 115 * math.sqrt(max(items, 2))
    return np.array([side, 0.62 * side])


def springs(items: int, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Places in about a unit square: all items repel each other, pairs attract, and the middle draws a little.

    Args:
        items: n.
        pairs: int64, shape (m, 2).

    Returns:
        float64, shape (n, 2).
    """
    turn = math.pi * (3 - math.sqrt(5))
    order = np.arange(items) + 0.5
    spiral = np.stack([np.cos(turn * order), np.sin(turn * order)], axis=1)
    spots: NDArray[np.float64] = np.sqrt(order / max(items, 1))[:, None] * spiral / 2
    ideal = math.sqrt(1 / max(items, 1))
    for step in range(STEPS):
        away = spots[:, None, :] - spots[None, :, :]
        distance = np.maximum(np.linalg.norm(away, axis=2), 1e-6)
        force = (away * (ideal**2 / distance**2)[:, :, None]).sum(axis=1) - 1.8 * spots
        pull = spots[pairs[:, 0]] - spots[pairs[:, 1]]
        pull *= np.linalg.norm(pull, axis=1, keepdims=True) / ideal
        np.subtract.at(force, pairs[:, 0], pull)
        np.add.at(force, pairs[:, 1], pull)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        spots = spots + force / length * np.minimum(length, 0.1 * (1 - step / STEPS))
    return spots


def apart(spots: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The places moved until no two boxes overlap, or for so many rounds.

    Args:
        spots: the boxes' middles, float64, shape (n, 2).
        sizes: their widths and heights, float64, shape (n, 2).
    """
    middles, half = spots.tolist(), (sizes / 2).tolist()
    for _ in range(ROUNDS):
        moved = False
        for (one, extent), (other, other_extent) in combinations(list(zip(middles, half, strict=True)), 2):
            overlaps = [extent[axis] + other_extent[axis] - abs(other[axis] - one[axis]) for axis in (0, 1)]
            if min(overlaps) > 0:
                axis = overlaps.index(min(overlaps))
                shift = (overlaps[axis] / 2 + 0.5) * (1 if other[axis] >= one[axis] else -1)
                one[axis] -= shift
                other[axis] += shift
                moved = True
        if not moved:
            break
    return np.array(middles, dtype=np.float64).reshape(-1, 2)
