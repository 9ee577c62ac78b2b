"""How the tests tell a sampler's law from another: one threshold for all of them.

Every statistical test here compares one p-value with FALSE_ALARM. There are fewer than a hundred of them, so with fresh
seeds a correct build would fail less than once in ten million runs; with the fixed seeds used here, never or always.
Each comes with its power: the same test must reject a law whose noise is 0.7 or 1.3 times as wide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction

from scipy.stats import chisquare

FALSE_ALARM = 1e-9
SEED = 20261121
OTHER_WIDTHS = (Fraction(7, 10), Fraction(13, 10))


def assert_drawn_from(
    law_of: Callable[[Fraction], Mapping[Hashable, float]],
    draws: Iterable[Hashable],
    others: Iterable[Fraction] = OTHER_WIDTHS,
) -> None:
    """The draws have the law whose noise is 1 times as wide, and none of the others."""
    drawn = list(draws)
    assert p_value(drawn, law_of(Fraction(1))) > FALSE_ALARM
    for width in others:
        assert p_value(drawn, law_of(width)) < FALSE_ALARM, f"{width} times as wide"


def p_value(draws: Iterable[Hashable], law: Mapping[Hashable, float]) -> float:
    """Chi-square p-value of the draws under the law; outcomes expected fewer than ten times are taken together."""
    observed = Counter(draws)
    total = sum(observed.values())
    bins: list[tuple[float, float]] = []
    rare_seen = rare_expected = 0.0
    for outcome, probability in law.items():
        if probability * total >= 10:
            bins.append((observed[outcome], probability * total))
        else:
            rare_seen += observed[outcome]
            rare_expected += probability * total
    rare_seen += sum(number for outcome, number in observed.items() if outcome not in law)
    rare_expected += max(0.0, 1 - sum(law.values())) * total
    if rare_expected >= 10:
        bins.append((rare_seen, rare_expected))
    elif rare_seen > 60:  # with fewer than ten expected, P(more than 60) < 1e-25
        return 0.0
    seen, expected = zip(*bins, strict=True)
    scale = sum(seen) / sum(expected)
    return float(chisquare(seen, [value * scale for value in expected]).pvalue) if len(bins) > 1 else 1.0
