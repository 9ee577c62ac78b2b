"""Itemsets are taken by what they weigh, and none is taken twice: every number that may be drawn, one by one."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fim_private.mechanisms.remaining_levels import Gaps, RemainingLevels, WeightedLevels
from fim_private.randomness import SeededRandomness
from tests.sampling import SEED


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.data())
def test_places_that_were_taken_are_skipped(lengths: list[int], data: st.DataObject) -> None:
    line = [name for name, length in enumerate(lengths) for _ in range(length)]
    gaps, left = Gaps(), list(range(len(line)))
    for name in data.draw(st.lists(st.sampled_from(range(len(lengths))), unique=True)):
        gaps.take(line.index(name), lengths[name])
        left = [place for place in left if line[place] != name]
        assert gaps.length == len(line) - len(left)
        assert [gaps.place(offset) for offset in range(len(left))] == left


def test_a_level_gives_up_the_weight_of_what_was_taken() -> None:
    """Two levels: one itemset of weight 5; three of weights 1, 2 and 3."""
    randomness, first = SeededRandomness(SEED), Counter[int]()
    for _ in range(6_000):
        levels = WeightedLevels([1, 3], [5, 1, 2, 3])
        assert levels.left == [5, 6]
        first[rank := levels.take(1, randomness)] += 1
        assert levels.left == [5, 6 - rank]
        assert {levels.take(1, randomness), levels.take(1, randomness), rank} == {1, 2, 3}
        assert levels.left == [5, 0]
        assert levels.take(0, randomness) == 0
    # Six deviations of a binomial number: one false alarm in 10^8 for all three.
    assert all(abs(first[rank] - 1_000 * rank) < 6 * (1_000 * rank * (6 - rank) / 6) ** 0.5 for rank in (1, 2, 3))


def test_levels_without_weights_take_each_itemset_once() -> None:
    levels, randomness = RemainingLevels([2, 3]), SeededRandomness(SEED)
    assert {levels.take(1, randomness) for _ in range(3)} == {2, 3, 4}
    assert levels.left == [2, 0]
