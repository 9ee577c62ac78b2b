from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fim_private.counting.runs import RunCounts, Runs

tallies = st.dictionaries(st.tuples(st.integers(1, 9), st.integers(0, 4)), st.integers(1, 5))
"""How many itemsets have which count, from which source."""


@given(tallies, st.randoms(use_true_random=False), st.integers(0, 40))
def test_ranks_are_those_of_the_itemsets_one_by_one(tally: dict[tuple[int, int], int], shuffle, most: int) -> None:
    given_in = list(tally)
    shuffle.shuffle(given_in)
    levels, sources = (np.array([run[axis] for run in given_in], np.int64) for axis in (0, 1))
    runs = Runs.ranked(levels, sources, np.array([tally[run] for run in given_in], np.int64))
    listed = sorted((-level, source, place) for (level, source), number in tally.items() for place in range(number))
    for held, expected in ((runs, listed), (runs.first(most), listed[:most]) if listed else (runs, listed)):
        assert len(held) == len(expected)
        found, within = held.locate(range(len(expected)))
        assert [
            (-int(held.levels[run]), int(held.sources[run]), place)
            for run, place in zip(found.tolist(), within.tolist(), strict=True)
        ] == expected
        counts = [-level for level, _, _ in expected]
        distinct, numbers = held.distinct()
        assert distinct.tolist() == sorted(set(counts), reverse=True)
        assert numbers.tolist() == [counts.count(count) for count in distinct.tolist()]
        profile = RunCounts(held, complete=False).profile(7)
        assert (list(profile.levels), list(profile.multiplicities)) == (distinct.tolist(), numbers.tolist())
        assert (profile.zeros, profile.complete) == (7, False)
