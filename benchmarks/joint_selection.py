"""Why items first picks one by one: against one joint choice of all k, and permute-and-flip, at equal privacy.

    python benchmarks/joint_selection.py FILE

Joint choice is `fim_private/mechanisms/joint_exponential.py`, one selection of bounded range epsilon instead of k. The
others have float noise, for measuring only. Permute-and-flip (as report-noisy-max) is epsilon-private without bounded
range. All get what is left beside the noisy counts of the items. Prints the mean precision at k over 20 runs, on the
100,000 most frequent pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.random import default_rng  # noqa: TID251 - floats for measuring, nothing is released

from fim_private.accounting.calibration import Need, composed_need, largest_proved
from fim_private.accounting.gaussian_composition import pick_rho
from fim_private.counting import top_itemsets
from fim_private.mechanisms.items_first import PEEL, ItemsFirst, calibrate
from fim_private.mechanisms.joint_exponential import JointExponential
from fim_private.mechanisms.protocol import Request
from fim_private.privacy import BoundedRange, Gaussian, Loss, OneSidedFailure, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.transactions import read_transactions

REQUEST = Request(top=1, epsilon=Fraction(1), delta=Fraction(1, 10**6), sizes=(2,), select=PEEL)
RUNS = 20


def affordable(mechanism: ItemsFirst, loss: Callable[[Fraction], Loss], request: Request) -> Fraction:
    """The epsilon of one selection beside all other steps."""
    pick = mechanism.usual.pick_epsilon or Fraction(0)
    others = Gaussian(mechanism.rho - Fraction(pick_rho(float(pick), mechanism.top)))
    failure = mechanism.test_delta or Fraction(0)

    def need(epsilon: Fraction) -> Need:
        losses = (others, loss(epsilon))
        return composed_need(losses, [OneSidedFailure(failure)], epsilon=request.epsilon, delta=request.delta)

    found = largest_proved(need, epsilon=request.epsilon, delta=request.delta)
    return found[0] if found else Fraction(0)


def main() -> None:
    """Print the table."""
    _, exact = top_itemsets(read_transactions(sys.argv[1]), 2, 100_000).reveal_to_curator()
    counts = exact.astype(np.float64)
    profile = CountProfile.of(exact.tolist(), zeros=0)
    random, exactly = default_rng(1), SeededRandomness(1)
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
            whole = JointExponential(
                top=top, pick_epsilon=affordable(mechanism, BoundedRange, request), universe_size=len(counts)
            )
            pure = affordable(mechanism, PureDP, request)
            precision: dict[str, list[float]] = {"peel": [], "joint": [], "flip": []}
            for _ in range(RUNS):
                noisy = counts + random.gumbel(0, 1 / float(pick), len(counts))
                precision["peel"].append(float(np.mean(counts[np.argsort(-noisy)[:top]] >= counts[top - 1])))
                chosen = list(whole.select(profile, exactly))
                precision["joint"].append(float(np.mean(counts[chosen] >= counts[top - 1])))
                if top == 1:
                    best = np.argmax(counts + random.exponential(1 / float(pure), len(counts)))
                    precision["flip"].append(float(counts[best] >= counts[0]))
            shown = [f"{np.mean(values):.3f}" if values else "" for values in precision.values()]
            print(f"{float(epsilon):7} {top:4} {shown[0]:>12} {shown[1]:>7} {shown[2]:>18}")


if __name__ == "__main__":
    main()
