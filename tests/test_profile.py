from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.profile import CountProfile

counts_lists = st.lists(st.integers(0, 6), max_size=12)


def listed(top: list[tuple[int, int]]) -> list[int]:
    return [count for count, multiplicity in top for _ in range(multiplicity)]


@given(counts_lists, st.integers(1, 20))
def test_open_profile_is_the_sorted_list_padded_with_zeros(counts: list[int], places: int) -> None:
    profile = CountProfile.of(counts)
    padded = [*sorted(counts, reverse=True), *[0] * 40]
    assert profile.count(places) == padded[places - 1]
    assert listed(profile.top(places)) == padded[:places]
    assert profile.universe_size is None


@given(counts_lists, st.integers(0, 5), st.integers(1, 20))
def test_declared_profile_ends_with_its_universe(counts: list[int], zeros: int, places: int) -> None:
    profile = CountProfile.of(counts, zeros=zeros)
    everything = [count for count in sorted(counts, reverse=True) if count] + [0] * zeros
    assert listed(profile.top(places)) == everything[:places]
    assert profile.universe_size == len(everything)


@given(counts_lists.filter(any), st.data())
def test_without_takes_one_away(counts: list[int], data: st.DataObject) -> None:
    profile = CountProfile.of(counts, zeros=3)
    rank = data.draw(st.integers(0, profile.occurring + 2))
    everything = [count for count in sorted(counts, reverse=True) if count] + [0, 0, 0]
    del everything[rank]
    assert listed(profile.without(rank).top(100)) == everything


def test_looking_too_deep_is_an_error_and_nothing_prints() -> None:
    profile = CountProfile(levels=[9, 4], multiplicities=[1, 2], complete=False)
    assert profile.count(3) == 4
    for look in (lambda: profile.count(4), lambda: profile.top(4), lambda: profile.without(3)):
        with pytest.raises(AssertionError, match="depth"):
            look()
    assert repr(profile) == str(profile) == "CountProfile(hidden)"
