from __future__ import annotations

import math
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mlxtend.frequent_patterns import association_rules as mlxtend_rules

from fim_private.errors import UsageError
from fim_private.release import Release, ReleasedItemset
from fim_private.release.release import UNLISTED
from fim_private.report.rules_table import rules_remarks
from fim_private.rules import AssociationRules, Rule, association_rules
from fim_private.rules.measures import relative_intervals
from fim_private.rules.released_counts import ReleasedCounts
from tests.rules.releases import released

BASKETS = st.lists(st.sets(st.sampled_from("abcd")), min_size=1, max_size=12)


def counts_of(baskets: list[set[str]]) -> dict[tuple[str, ...], int]:
    """Every itemset that occurs, by brute force."""
    items = sorted(set().union(*baskets))
    every = [part for size in range(1, len(items) + 1) for part in combinations(items, size)]
    return {part: count for part in every if (count := sum(set(part) <= basket for basket in baskets))}


def by_sides(frame: pd.DataFrame) -> pd.DataFrame:
    key = [
        str(sorted(left)) + str(sorted(right))
        for left, right in zip(frame["antecedents"], frame["consequents"], strict=True)
    ]
    return frame.assign(key=key).sort_values("key").drop(columns="key").reset_index(drop=True)


@pytest.mark.slow
@given(BASKETS.filter(any), st.floats(0, 1))
def test_the_frame_is_mlxtend_s(baskets: list[set[str]], least: float) -> None:
    counts = counts_of(baskets)
    # mlxtend divides shares, and so leaves out rules whose confidence is the least one, such as 4/5, by rounding.
    ratios = {one / other for one in counts.values() for other in counts.values()}
    assume(all(abs(ratio - least) > 1e-12 for ratio in ratios))
    release = released(counts, total=len(baskets))
    ours = association_rules(release, min_confidence=least).to_mlxtend()
    with np.errstate(all="ignore"):  # it computes 0 out of 0 before it sets it aside
        theirs = mlxtend_rules(release.to_mlxtend(), metric="confidence", min_threshold=least)
    assert list(ours.columns) == list(theirs.columns)
    assert len(ours) == len(theirs)
    if len(ours):
        pd.testing.assert_frame_equal(by_sides(ours), by_sides(theirs), check_exact=False, rtol=1e-9, atol=1e-12)


def test_mlxtend_takes_a_release_without_every_part() -> None:
    release = released({("a", "b"): 5, ("a",): 8}, total=10)
    frame = mlxtend_rules(release.to_mlxtend(), support_only=True, min_threshold=0.1)
    assert sorted(frame["support"]) == [0.5, 0.5]


def test_frames_for_mlxtend_are_marked_where_the_release_is_seeded() -> None:
    for seeded in (True, False):
        release = released({("a", "b"): 5, ("a",): 8}, total=10, seeded=seeded)
        for frame in (release.to_mlxtend(), association_rules(release).to_mlxtend()):
            assert ("not private" in frame.attrs.get("warning", "")) == seeded


def test_what_mlxtend_needs_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="supports"):
        released({("a",): 5}).to_mlxtend()
    assert list(released({}).to_mlxtend().columns) == ["support", "itemsets"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    for frame in (released({}, total=3).to_mlxtend, association_rules(released({}, total=3)).to_mlxtend):
        with pytest.raises(UsageError, match="not installed"):
            frame()


def only(found: AssociationRules, antecedent: str, consequent: str) -> Rule:
    (rule,) = [r for r in found.rules if r.antecedents == tuple(antecedent) and r.consequents == tuple(consequent)]
    return rule


def test_without_a_public_total_the_measures_that_need_none_are_given() -> None:
    found = association_rules(released({("a",): 80, ("b",): 50, ("a", "b"): 40}), min_confidence=0)
    rule = only(found, "a", "b")
    assert {name for name, value in rule.measures.items() if value is not None} == {
        *("confidence", "jaccard", "kulczynski", "representativity")
    }
    assert rule.measures["confidence"] == 0.5
    assert rule.counts == (80, 50, 40)
    assert rule.note == "the number of transactions is not public"
    assert set(rule.intervals.values()) == {None}


def test_a_total_that_is_no_number_of_transactions_is_none() -> None:
    from dataclasses import replace

    release = released({("a",): 80, ("b",): 50, ("a", "b"): 40})
    for odd in (True, "100", -1, 0, 1.5, None):
        found = association_rules(replace(release, privacy={"public_transactions": odd}), min_confidence=0)
        assert only(found, "a", "b").measures["lift"] is None


def test_missing_antecedents_are_bounded_by_what_was_released() -> None:
    """c(a) >= c(a, b) = 90, and c(a) <= 200: the confidence of a -> c is at most (30 + w) / (90 - w)."""
    release = released({("a", "b"): 90, ("a", "c"): 30, ("c",): 40}, total=200, half=4)
    found = association_rules(release, min_confidence=0)
    rule = only(found, "a", "c")
    assert rule.measures["confidence"] is None
    assert rule.note == "no count of the antecedent was released"
    low, high = rule.intervals["confidence"] or (0, 0)
    # The counts of (a, c) and of a's supersets (a, b) and (a, c) take part.
    wider = math.ceil(math.log(0.05 / 3) / math.log(0.05) * 5) - 1
    assert high == pytest.approx((30 + wider) / (90 - wider))
    assert low == pytest.approx((30 - wider) / 200)
    assert only(found, "c", "a").measures["confidence"] == 0.75
    assert only(found, "c", "a").measures["lift"] is None
    assert (only(found, "c", "a").intervals["lift"] or (0, 0))[1] <= 200 / (40 - 5)
    # What cannot reach the threshold is left out, what may is kept.
    kept = association_rules(release, min_confidence=0.45)
    assert [rule.antecedents for rule in kept.rules] == [("c",), ("a",), ("b",)]


def test_pairs_alone_give_rules_without_confidence() -> None:
    found = association_rules(released({("a", "b"): 9, ("b", "c"): 8}))
    assert len(found) == 4
    assert {rule.measures["confidence"] for rule in found.rules} == {None}
    assert all("no count of the antecedent" in (rule.note or "") for rule in found.rules)


def test_counts_that_contradict_each_other_give_measures_that_do_not() -> None:
    found = association_rules(
        released({("a",): 5, ("b",): -3, ("a", "b"): 7, ("c",): 999, ("a", "c"): 2}, total=100), min_confidence=0
    )
    assert only(found, "a", "b").measures["confidence"] == 0
    assert only(found, "a", "b").measures["lift"] is None
    assert only(found, "b", "a").measures["confidence"] is None
    assert "count of the antecedent is 0" in (only(found, "b", "a").note or "")
    assert only(found, "c", "a").measures["antecedent support"] == 1
    for rule in found.rules:
        assert 0 <= (rule.measures["confidence"] or 0) <= 1


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sets(st.sampled_from("abcdefghij"), min_size=1, max_size=10).map(lambda items: tuple(sorted(items))),
        st.integers(-20, 120),
        max_size=12,
    ),
    st.none() | st.integers(1, 100),
    st.none() | st.integers(0, 30),
    st.floats(0, 1),
)
def test_no_release_is_too_odd(
    counts: dict[tuple[str, ...], int], total: int | None, half: int | None, least: float
) -> None:
    found = association_rules(released(counts, total=total, half=half), min_confidence=least)
    for rule in found.rules:
        assert rule.measures["confidence"] is None or rule.measures["confidence"] >= least
        for interval in rule.intervals.values():
            assert interval is None or interval[0] <= interval[1]
        low, high = rule.intervals["confidence"] or (0, 1)
        assert 0 <= low <= high <= 1
        # A value that the released counts give lies in its interval, if they do not contradict each other.
        value, (antecedent, consequent, both) = rule.measures["confidence"], rule.counts
        most = min(both if count is None else count for count in (antecedent, consequent, total))
        if value is not None and 0 <= both <= most and (antecedent or 0) <= (total or antecedent or 0):
            assert low <= value <= high
    assert len(found.to_polars()) == len(found.to_mlxtend()) == len(found)


def test_items_that_stand_for_none_make_no_rule() -> None:
    assert not association_rules(released({("a", UNLISTED): 3, ("a",): 5}), min_confidence=0).rules


def test_large_itemsets_are_parted_by_what_was_released_alone() -> None:
    many = tuple(f"{place:02}" for place in range(20))
    found = association_rules(released({many: 4, many[:3]: 8, ("zz",): 9}), min_confidence=0)
    assert [len(rule.antecedents) for rule in found.rules if len(rule.antecedents) + len(rule.consequents) == 20] == [3]


def test_an_empty_release_has_no_rules() -> None:
    found = association_rules(released({}))
    assert len(found) == 0
    assert found.to_polars().columns[:3] == ["antecedents", "consequents", "antecedent support"]
    assert list(found.to_mlxtend().columns) == list(found.to_polars().columns[:14])


def test_a_faulty_call_is_refused() -> None:
    from dataclasses import replace

    release = released({("a",): 80, ("a", "b"): 40})
    for least in (-0.1, 1.1, float("nan"), "0.5", None):
        with pytest.raises(UsageError, match="confidence is out of range"):
            association_rules(release, min_confidence=least)
    for least in (-1, float("inf"), float("nan"), "1"):
        with pytest.raises(UsageError, match="lift is out of range"):
            association_rules(release, min_lift=least)
    with pytest.raises(UsageError, match="number of transactions"):
        association_rules(release, min_lift=1)
    for order in ("lift", "leverage", "conviction"):
        with pytest.raises(UsageError, match=rf"{order.capitalize()} needs .* Leave out the order"):
            association_rules(release, sort=order)
    with pytest.raises(UsageError, match="side of a rule is a list"):
        association_rules(release, rhs=3)
    with pytest.raises(UsageError, match=r"Rules are made of a release.*read_release"):
        association_rules("release.json")
    with pytest.raises(UsageError, match="has none"):
        association_rules(replace(release, itemsets=tuple(replace(line, count=None) for line in release.itemsets)))


def test_lift_can_be_asked_for() -> None:
    release = released({("a",): 50, ("b",): 50, ("c",): 10, ("a", "b"): 20, ("a", "c"): 10}, total=100)
    found = association_rules(release, min_confidence=0, min_lift=1.5)
    assert {rule.antecedents + rule.consequents for rule in found.rules} == {("a", "c"), ("c", "a")}
    assert {rule.measures["lift"] for rule in found.rules} == {2.0}


def test_two_events_apart_in_a_unit_have_a_leverage_of_minus_one() -> None:
    """All of 100 units hold the one in a basket and the other in another basket, and none holds both together."""
    certain = (0, 0), (100, 100), (100, 100)
    assert relative_intervals(*certain, 100, in_one_basket=True)["leverage"][0] == -1
    vague = (0, 0), (50, 100), (50, 100)
    assert relative_intervals(*vague, 100, in_one_basket=True)["leverage"] == (-1, -0.25)
    assert relative_intervals(*vague, 100)["leverage"] == (-0.25, -0.25)
    record = {"unit_column": "customer", "max_transactions": None, "together": "basket"}
    for together, apart in (("basket", True), ("unit", False)):
        line = ReleasedItemset(rank=1, items=("a", "b"), count=1, count_low=0, count_high=5)
        plan = {**record, "together": together}
        release = Release(itemsets=(line,), mechanism="lmm", privacy={}, plan=plan, seeded=False, version="1")
        assert ReleasedCounts(release).in_one_basket is apart


def test_measures_of_what_is_together_in_one_basket_say_what_chance_is() -> None:
    counts = {("a", "b"): 300, ("a",): 400, ("b",): 500}
    for together, said in (("basket", True), ("unit", False)):
        release = released(counts, half=9, total=1000)
        plan = {**release.plan, "unit_column": "customer", "max_transactions": None, "together": together}
        release = replace(release, plan=plan)
        remarks = " ".join(" ".join(rules_remarks(association_rules(release), release)).split())
        assert ("in any basket of a unit" in remarks) is said
