"""Which items are released together, drawn: items as nodes, lines between items of one itemset.

The places come from a model of springs (Fruchterman and Reingold 1991) that starts from places fixed by the order of
the items, so that a release always gives the same drawing. Then labels that overlap are pushed apart, and each takes
the side of its dot where it crosses the fewest lines.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.release import Release, ReleasedItemset
from fim_private.report.document import Figure
from fim_private.report.document.svg import FILL, drawing, folded, line, width_of, words
from fim_private.report.pages.graph_labels import placed

MOST_ITEMSETS, MOST_ITEMS = 40, 60
"""More would hide each other."""

STEPS, ROUNDS = 400, 100
LABEL, LETTER, HIGH, ROWS = 104, 11, 13, 3
"""Pixels: how wide a label may be, how large its letters, how far apart its lines; and how many lines it may have."""

GAP, DOT, AIR = 8.0, 12.0, 2.0
ROOMS, TURNS = (1.0, 1.2, 1.5), 8
"""How many times as far apart as usual dots may be, and how many turns of the drawing are tried, until no line crosses
a label."""

WIDE = 280
"""Pixels: how far across dots lie. More items make the drawing higher, not wider."""

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
    labels = [folded(item, LABEL, LETTER, lines=ROWS) for item in items]
    sizes = np.array(
        [(max(width_of(row, LETTER) for row in rows) + AIR, HIGH * len(rows) + AIR) for rows in labels]
    ).reshape(-1, 2)
    unit = springs(len(items), pairs)
    dots, middles = _laid_out(unit, sizes, pairs)
    corner = np.minimum((middles - sizes / 2).min(axis=0, initial=0), dots.min(axis=0, initial=0)) - GAP
    dots, middles = dots - corner, middles - corner
    far = np.maximum((middles + sizes / 2).max(axis=0, initial=0), dots.max(axis=0, initial=0))
    width, height = (far + GAP).tolist()
    parts = [
        line(*dots[place[one]], *dots[place[other]], color="#8a8a8a", width=1 + 5 * strength)
        for (one, other), strength in edges.items()
    ]
    for (x, y), (across, down), rows in zip(dots.tolist(), middles.tolist(), labels, strict=True):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{FILL}" stroke="#ffffff" stroke-width="1.5"/>')
        first = down - HIGH * len(rows) / 2 + LETTER
        parts += [
            words(row, across, first + HIGH * number, anchor="middle", size=LETTER) for number, row in enumerate(rows)
        ]
    return drawing(width, height, parts)


def _laid_out(unit: Floats, sizes: Floats, pairs: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The places of dots and of the middles of labels: the first try of all turns in which no line crosses a label.

    If there is none, the one with the fewest crossings.
    """
    found = []
    for room, turn in product(ROOMS, range(TURNS)):
        angle = math.pi * turn / TURNS
        turned = unit @ np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        dots, middles, crossings = _try(turned * spacing(len(unit)) * room, sizes, pairs)
        found.append((crossings, dots, middles))
        if not crossings:
            break
    _, dots, middles = min(found, key=itemgetter(0))
    return dots, middles


def _try(dots: Floats, sizes: Floats, pairs: NDArray[np.int64]) -> tuple[Floats, Floats, int]:
    """The places of dots and of the middles of labels, and how many lines cross labels."""
    # At first, a label stands on the side of its dot where fewer lines come from: 1 is below, -1 above.
    side = np.where(neighbours_below(dots, pairs) > 0, -1, 1)
    boxes = sizes + np.array([GAP, DOT + GAP])
    to_dot = np.stack([np.zeros(len(dots)), side * (boxes[:, 1] - DOT - GAP) / 2], axis=1)
    dots = apart(dots + to_dot, boxes) - to_dot
    lines = np.concatenate([dots[pairs[:, 0]], dots[pairs[:, 1]]], axis=1)
    middles, crossings = placed(dots, sizes, lines, np.where(side > 0, 0, 1))
    return dots, middles, crossings


def neighbours_below(dots: Floats, pairs: NDArray[np.int64]) -> Floats:
    """By how far the neighbours of each dot are below it, all told: float64, shape (n,)."""
    down = dots[pairs[:, 1], 1] - dots[pairs[:, 0], 1]
    told = np.zeros(len(dots))
    np.add.at(told, pairs[:, 0], down)
    np.subtract.at(told, pairs[:, 1], down)
    return told


def spacing(items: int) -> Floats:
    """Pixels to a unit, across and down: labels are wider than high, and phones higher than wide."""
    side = 90 * math.sqrt(max(items, 2))
    return np.array([min(side, WIDE), side * max(1.0, side / WIDE)])


def springs(items: int, pairs: NDArray[np.int64]) -> Floats:
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
    spots: Floats = np.sqrt(order / max(items, 1))[:, None] * spiral / 2
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


def apart(spots: Floats, sizes: Floats) -> Floats:
    """The middles of boxes of these widths and heights, moved until no two overlap, or for this many rounds."""
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
