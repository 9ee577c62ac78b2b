"""Why items first picks one by one: against one joint choice of all k, and permute-and-flip, at equal privacy.

    python benchmarks/joint_selection.py FILE

Float noise, for measuring only. The joint exponential mechanism (Gillenwater, Joseph, Munoz, Ribero 2022) draws the
whole list at once with probability e^{-epsilon/2 max_i (c_(i) - c_{s_i})}: one selection instead of k, of bounded range
epsilon. The number of lists whose largest loss is at most t is a product over places, so its law over t is computed and
not approximated. Permute-and-flip (as report-noisy-max) is epsilon-private without bounded range. All get what is left
beside the noisy counts of the items. Prints the mean precision at k over 20 runs, on the 100,000 most frequent pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator, default_rng  # noqa: TID251 - floats for measuring, nothing is released
from numpy.typing import NDArray

from fim_private.accounting.calibration import prove_discovery
from fim_private.accounting.search import largest
from fim_private.counting import top_itemsets
from fim_private.mechanisms.items_first import PEEL, ItemsFirst, calibrate
from fim_private.mechanisms.protocol import Request
from fim_private.privacy import ZCDP, BoundedRange, Loss, PureDP
from fim_private.transactions import read_transactions

REQUEST = Request(top=1, epsilon=Fraction(1), delta=Fraction(1, 10**6), sizes=(2,), select=PEEL)
RUNS = 20


def affordable(mechanism: ItemsFirst, loss: Callable[[Fraction], Loss], request: Request) -> float:
    """The epsilon of one selection beside all other steps."""
    pick = mechanism.usual.pick_epsilon or Fraction(0)
    others = ZCDP(mechanism.rho - mechanism.top * pick**2 / 8)
    failure = mechanism.test_delta or Fraction(0)

    def fits(epsilon: Fraction) -> bool:
        losses = (others, loss(epsilon))
        proved = prove_discovery(losses, failure, epsilon=request.epsilon, delta=request.delta)
        return proved is not None

    return float(largest(fits, request.epsilon) or 0)


def joint(counts: NDArray[np.float64], top: int, epsilon: float, random: Generator) -> list[int]:
    """One draw of the joint exponential mechanism; counts are decreasing."""
    losses = np.arange(int(counts[0]) + 1)
    near = np.searchsorted(-counts, -(counts[:top, np.newaxis] - losses), side="right")
    with np.errstate(divide="ignore", invalid="ignore"):
        lists = np.log(np.maximum(near - np.arange(top)[:, np.newaxis], 0)).sum(axis=0)
        fewer = np.concatenate([[-np.inf], lists[:-1]])
        weight = lists + np.log1p(-np.exp(np.minimum(fewer - lists, 0))) - epsilon / 2 * losses
    loss = int(np.argmax(np.nan_to_num(weight, nan=-np.inf) + random.gumbel(size=len(weight))))
    chosen: list[int] = []
    for place in range(top):
        while (drawn := int(random.integers(near[place, loss]))) in chosen:
            pass
        chosen.append(drawn)
    return chosen


def main() -> None:
    """Print the table."""
    _, exact = top_itemsets(read_transactions(sys.argv[1]), 2, 100_000).reveal_to_curator()
    counts = exact.astype(np.float64)
    random = default_rng(1)
    print("epsilon    k   one by one   joint   permute-and-flip")
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        for top in (1, 5, 10, 20, 50):
            request = replace(REQUEST, top=top, epsilon=epsilon)
            mechanism = calibrate(request).mechanism
            if not isinstance(mechanism, ItemsFirst):
                raise AssertionError("items first was asked for")
            pick = mechanism.usual.pick_epsilon
            if pick is None:
                raise AssertionError("picks were asked for")
            whole = affordable(mechanism, BoundedRange, request)
            pure = affordable(mechanism, PureDP, request)
            precision: dict[str, list[float]] = {"peel": [], "joint": [], "flip": []}
            for _ in range(RUNS):
                noisy = counts + random.gumbel(0, 1 / float(pick), len(counts))
                precision["peel"].append(float(np.mean(counts[np.argsort(-noisy)[:top]] >= counts[top - 1])))
                precision["joint"].append(float(np.mean(counts[joint(counts, top, whole, random)] >= counts[top - 1])))
                if top == 1:
                    best = np.argmax(counts + random.exponential(1 / pure, len(counts)))
                    precision["flip"].append(float(counts[best] >= counts[0]))
            shown = [f"{np.mean(values):.3f}" if values else "" for values in precision.values()]
            print(f"{float(epsilon):7} {top:4} {shown[0]:>12} {shown[1]:>7} {shown[2]:>18}")


if __name__ == "__main__":
    main()
