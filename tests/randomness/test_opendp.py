"""OpenDP's samplers, written by other people in another language, against the exact laws of this package.

The laws are what the proofs are about: a mistake in one of them, shared by sampler and law here, would show. Each is
also tried with noise 0.7 and 1.3 times as wide on the same draws, and must then be rejected. OpenDP draws from the
operating system and takes no seed; its counterpart of a level of equal counts is as many equal scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from fim_private.mechanisms.peeling import peel_law
from fim_private.randomness.noisy_maximum import Noise, winning_probabilities
from tests.randomness.laws import gaussian_law, laplace_law
from tests.sampling import FALSE_ALARM, assert_drawn_from, p_value

pytestmark = pytest.mark.long
F = Fraction


@pytest.fixture(scope="module")
def opendp() -> Any:
    prelude = pytest.importorskip("opendp.prelude", reason="opendp is an independent oracle: pip install opendp")
    prelude.enable_features("contrib")
    return prelude


@pytest.mark.parametrize("scale", [0.4, 2.5, 17.0])
def test_opendp_s_discrete_laplace_has_our_law(opendp: Any, scale: float) -> None:
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l1_distance(T=int)
    draws = opendp.m.make_laplace(*space, scale=scale)([0] * 60_000)
    assert_drawn_from(lambda width: laplace_law(scale * width), draws)


@pytest.mark.parametrize("deviation", [0.6, 2.5, 17.0])
def test_opendp_s_discrete_gaussian_has_our_law(opendp: Any, deviation: float) -> None:
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l2_distance(T=float)
    draws = opendp.m.make_gaussian(*space, scale=deviation)([0] * 60_000)
    assert_drawn_from(lambda width: gaussian_law((deviation * width) ** 2), draws)


SCORES = [6, 4, 4, 1, 0, 0, 0]
LEVELS = [(6, 1), (4, 2), (1, 1), (0, 3)]


def noisy_maximum(opendp: Any, measure: Any, scale: float, number: int) -> list[int]:
    """The scores of the winners."""
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.linf_distance(T=int)
    choose = opendp.m.make_noisy_max(*space, measure, scale=scale)
    return [SCORES[choose(SCORES)] for _ in range(number)]


def by_score(law: list[float]) -> dict[int, float]:
    return {count: chance for (count, _), chance in zip(LEVELS, law, strict=True)}


def softmax(scale: Fraction) -> dict[int, float]:
    weights = [number * math.exp(count / scale) for count, number in LEVELS]
    return by_score([weight / sum(weights) for weight in weights])


def permute_and_flip(scale: Fraction) -> dict[int, float]:
    counts, numbers = zip(*LEVELS, strict=True)
    return by_score(winning_probabilities(counts, numbers, scale, Noise.EXPONENTIAL))


@pytest.mark.parametrize("scale", [F(3, 2), F(4)])
def test_noisy_maximum_with_gumbel_noise_is_the_exponential_mechanism(opendp: Any, scale: Fraction) -> None:
    draws = noisy_maximum(opendp, opendp.zero_concentrated_divergence(), float(scale), 20_000)
    assert_drawn_from(lambda width: softmax(scale * width), draws)
    assert p_value(draws, permute_and_flip(scale)) < FALSE_ALARM


@pytest.mark.parametrize("scale", [F(3, 2), F(4)])
def test_noisy_maximum_with_exponential_noise_is_permute_and_flip(opendp: Any, scale: Fraction) -> None:
    draws = noisy_maximum(opendp, opendp.max_divergence(), float(scale), 20_000)
    assert_drawn_from(lambda width: permute_and_flip(scale * width), draws)
    assert p_value(draws, softmax(scale)) < FALSE_ALARM


def test_the_top_two_with_gumbel_noise_are_two_picks(opendp: Any) -> None:
    """Gumbel noise once, and its two largest: the law of peeling, pick after pick without replacement."""
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.linf_distance(T=int)
    choose = opendp.m.make_noisy_top_k(*space, opendp.zero_concentrated_divergence(), k=2, scale=2.0)
    scores = [5, 4, 2, 1]
    draws = [tuple(choose(scores)) for _ in range(20_000)]

    def law(width: Fraction) -> Mapping[tuple[int, ...], float]:
        return peel_law([(score, 1) for score in scores], rates=(1 / (2 * width),) * 2, open_universe=False)

    assert_drawn_from(law, draws)
