"""A mechanism whose parameters were set by hand instead of planned: for laws that are compared with other people's."""

from __future__ import annotations

from fractions import Fraction

from fim_private.errors import UsageError
from fim_private.mechanisms.lmm import GRID_PER_PICK, LargeMargin
from fim_private.mechanisms.lmm_paper import MAX_CANDIDATES, PublishedLargeMargin
from fim_private.mechanisms.lmm_repeat import RepeatedLargeMargin
from fim_private.mechanisms.protocol import Mechanism

LARGE_MARGIN = ("lmm", "lmm-no-fallback", "lmm-repeat")


def large_margin_by_hand(
    name: str,
    *,
    top: int,
    search_epsilon: Fraction | None,
    pick_epsilon: Fraction | None,
    certificate_delta: Fraction | None,
    grid_limit: int | None,
    sensitivity: int = 1,
) -> Mechanism:
    """The calibrated large margin mechanism with these parameters, of a round where it repeats; without a fallback.

    Args:
        name: one of `LARGE_MARGIN`.
        top: k.
        search_epsilon: eps_S.
        pick_epsilon: eps_A, of one pick.
        certificate_delta: what the thresholds share out.
        grid_limit: cap of the grid k, 2k, 4k, ...; None for 1,024 k.
        sensitivity: Delta.

    Raises:
        UsageError: one of the three numbers is missing, or out of range.
    """
    if search_epsilon is None or pick_epsilon is None or certificate_delta is None:
        raise UsageError(
            "By hand the large margin mechanism needs three numbers.",
            "Give --search-epsilon, --pick-epsilon and --certificate-delta together.",
        )
    if not (0 < search_epsilon <= 100 and 0 < pick_epsilon <= 100 and 0 < certificate_delta < 1):
        raise UsageError("A parameter is out of range.", "Epsilons lie between 0 and 100, deltas between 0 and 1.")
    each = 1 if name == "lmm-repeat" else top
    limit = GRID_PER_PICK * each if grid_limit is None else grid_limit
    if limit < each:
        raise UsageError("The grid ends before it begins.", "Give --grid-limit k or more.")
    if name == "lmm-repeat":
        return RepeatedLargeMargin(
            top=top,
            search_epsilon=search_epsilon,
            pick_epsilon=pick_epsilon,
            certificate_delta=certificate_delta,
            grid_limit=limit,
            sensitivity=sensitivity,
        )
    return LargeMargin(
        top=top,
        search_epsilon=search_epsilon,
        pick_epsilon=pick_epsilon,
        certificate_delta=certificate_delta,
        grid_limit=limit,
        sensitivity=sensitivity,
    )


def published_by_hand(
    *, top: int, alpha: Fraction, delta: Fraction, grid_limit: int | None, sensitivity: int = 1
) -> Mechanism:
    """The large margin mechanism as published, alpha and delta of one selection.

    Raises:
        UsageError: a number is out of range.
    """
    if not (0 < alpha <= 100 and 0 < delta < 1):
        raise UsageError("A parameter is out of range.", "alpha lies between 0 and 100, delta between 0 and 1.")
    return PublishedLargeMargin(
        top=top,
        alpha=alpha,
        selection_delta=delta,
        max_candidates=MAX_CANDIDATES if grid_limit is None else grid_limit,
        sensitivity=sensitivity,
    )
