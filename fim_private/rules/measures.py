"""Measures of a rule from three counts and the number of transactions: point values, and intervals from intervals.

The definitions are mlxtend's. Its sources are Agrawal and others 1993 (confidence), Brin and others 1997 (lift and
conviction), Piatetsky-Shapiro 1991 (leverage).
"""

from __future__ import annotations

import math

from fim_private.rules.rule import MEASURES, Interval


def measures(both: int, antecedent: int | None, consequent: int | None, total: int | None) -> dict[str, float | None]:
    """All measures. A measure is None if a count it needs is None, or if it is 0 divided by 0.

    Noisy counts may contradict each other. They are first corrected, which is post-processing: each count is at least 0
    and at most the total, and the count of both is at most that of either.
    """
    most = math.inf if total is None else total
    a, c = (None if count is None else min(max(count, 0), most) for count in (antecedent, consequent))
    b = min(max(both, 0), *(count for count in (a, c, most) if count is not None))
    found: dict[str, float | None] = dict.fromkeys(MEASURES)
    found["representativity"] = 1.0  # no value of any transaction is missing
    if a:
        found["confidence"] = b / a
    if a and c:
        found["jaccard"] = b / (a + c - b)
        found["kulczynski"] = (b / a + b / c) / 2
    if total is not None:
        found["support"] = b / total
        found["antecedent support"] = None if a is None else a / total
        found["consequent support"] = None if c is None else c / total
        if a and c is not None:
            found |= _relative(b / total, a / total, c / total)
    return found


def _relative(both: float, antecedent: float, consequent: float) -> dict[str, float | None]:
    """The measures that need the counts relative to the number of transactions."""
    confidence = both / antecedent
    leverage = both - antecedent * consequent
    spread = max(both * (1 - antecedent), antecedent * (consequent - both))
    return {
        "lift": confidence / consequent if consequent else None,
        "leverage": leverage,
        "conviction": _conviction(confidence, consequent),
        "zhangs_metric": leverage / spread if spread else 0.0,
        "certainty": (confidence - consequent) / (1 - consequent) if consequent < 1 else 0.0,
    }


def confidence_interval(both: Interval, antecedent: Interval) -> Interval:
    """The interval of the confidence if both counts are in their intervals; it never exceeds 1."""
    low = both[0] / antecedent[1] if antecedent[1] else 0.0
    return _ordered(min(1.0, low), min(1.0, both[1] / antecedent[0]) if antecedent[0] else 1.0)


def relative_intervals(
    both: Interval, antecedent: Interval, consequent: Interval, total: int, *, in_one_basket: bool = False
) -> dict[str, Interval]:
    """The intervals of lift, leverage and conviction if the three counts are in theirs. No count exceeds the total.

    Each measure is monotone in each count. Also, the count of both is at most that of either, so lift is at most
    total / max(antecedent, consequent).

    Args:
        both: the interval of the count of both together.
        antecedent: the interval of the antecedent's count.
        consequent: the interval of the consequent's count.
        total: the number of transactions or units.
        in_one_basket: whether counts are of units with several transactions. All units may then hold either, and none
            both together.
    """
    (b_low, b_high), (a_low, a_high), (c_low, c_high) = both, antecedent, consequent
    b_high = min(b_high, a_high, c_high)
    largest = max(a_low, c_low)
    highs = [total / largest] if largest else [math.inf]
    if a_low * c_low:
        highs.append(b_high * total / (a_low * c_low))
    confidence = confidence_interval((b_low, b_high), antecedent)
    return {
        "lift": _ordered(b_low * total / (a_high * c_high) if a_high * c_high else 0.0, min(highs)),
        # 1/4 bounds the leverage of any two events; but "together" is not both events if they may be apart in a unit.
        "leverage": _ordered(
            max(-1.0 if in_one_basket else -0.25, b_low / total - a_high * c_high / total**2),
            min(0.25, b_high / total - a_low * c_low / total**2),
        ),
        "conviction": _ordered(
            _conviction(confidence[0], c_high / total),
            _conviction(confidence[1], c_low / total),
        ),
    }


def _conviction(confidence: float, consequent: float) -> float:
    return math.inf if confidence >= 1 else (1 - consequent) / (1 - confidence)


def _ordered(one: float, other: float) -> Interval:
    """An interval from its two ends. The ends are crossed if the counts' intervals contradict each other."""
    return min(one, other), max(one, other)
