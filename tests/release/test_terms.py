"""What releases say, read from files that were written before: by this version and by one that said less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fim_private.plan.record import plan_record
from fim_private.privacy import NeighbouringRelation, PrivacyUnit
from fim_private.release import Release
from fim_private.release.files import read_release, write_release
from fim_private.release.terms import PlanTerms, PrivacyTerms, Promise, Terms, privacy_record
from fim_private.report.promise_text import promised
from tests.asking import planned

WRITTEN = Path(__file__).parent / "written"


@pytest.mark.parametrize("name", ["release", "older"])
def test_a_release_that_was_written_before_is_written_again_to_the_byte(name: str, tmp_path: Path) -> None:
    path = WRITTEN / f"{name}.json"
    release = read_release(path)
    assert release.terms.privacy.promise is not None
    assert write_release(release, tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert read_release(write_release(release, tmp_path / "again.parquet")) == release


def test_what_a_release_says_is_read_into_types() -> None:
    release = read_release(WRITTEN / "release.json")
    privacy, plan = release.terms.privacy, release.terms.plan
    unit = "one customer (column 'customer'), with at most 2 of its transactions kept"
    assert privacy.promise == Promise(epsilon=4.0, delta=1e-6, unit=unit)
    assert privacy.neighbours == NeighbouringRelation.ADD_REMOVE
    assert (privacy.layout.format, privacy.layout.guessed) == ("long", ("format", "separator"))
    assert (plan.top, plan.unit_column, plan.max_transactions, plan.max_items) == (3, "customer", 2, 3)
    assert (plan.must_contain, plan.exclude, plan.min_count) == (("milk",), (), None)
    assert [(line.what, line.epsilon, line.times) for line in plan.spending] == [
        ("picks", 0.687831277, 3),
        ("counts, with discrete Laplace noise", 2.0, 1),
    ]
    assert (plan.counts.noise, plan.counts.half_width, plan.counts.consistent) == ("discrete Laplace", 9, True)


def test_a_release_that_says_less_is_read_as_far_as_it_says_something() -> None:
    release = read_release(WRITTEN / "older.json")
    assert (release.layout, release.terms.privacy.public_transactions) == (None, None)
    assert (release.terms.plan.must_contain, release.terms.plan.exclude) == ((), ())
    said = promised(release)
    assert any("at most 2 of a unit were kept and at most 3 items of each were kept" in each for each in said)
    assert not any("layout" in each for each in said)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (1e-300, 0), (101, 0), (1, 5e-324), (1, 1), (1, 2**62)])
def test_numbers_that_no_budget_has_are_no_promise(epsilon: float, delta: float) -> None:
    release = read_release(WRITTEN / "release.json")
    edited = replace(release, privacy={**release.privacy, "epsilon": epsilon, "delta": delta})
    assert promised(edited)[0].startswith("This file states no promise.")


@pytest.mark.parametrize("relation", NeighbouringRelation)
def test_the_terms_agree_with_the_plan_whose_records_they_read(relation: NeighbouringRelation) -> None:
    unit = PrivacyUnit(column="customer", max_transactions=2)
    plan = planned(size=1, top=2, unit=unit, relation=relation, count_share="1/2", public_transactions=9)
    terms = Terms.of(privacy_record(plan), plan_record(plan))
    assert (terms.privacy.neighbours, terms.privacy.public_transactions) == (relation, 9)
    assert (terms.plan.top, terms.plan.unit_column, terms.plan.max_transactions) == (2, "customer", 2)
    assert len(terms.plan.spending) == len(plan.spending)
    assert terms.plan.counts.half_width == plan.counts.half_width


@pytest.mark.parametrize("odd", [True, "1", -1, float("nan"), float("inf"), 10**400, None, [], {"a": 1}])
def test_a_value_of_another_type_counts_as_not_said(odd: Any) -> None:
    good = {"epsilon": 1.0, "delta": 0, "unit": "one transaction"}
    assert PrivacyTerms.of(good).promise == Promise(epsilon=1.0, delta=0, unit="one transaction")
    for name in ("epsilon", "delta"):
        assert PrivacyTerms.of({**good, name: odd}).promise is None
    assert PrivacyTerms.of({"public_transactions": odd, "layout": odd}) == PrivacyTerms.of({})
    names = ("top", "max_items", "max_transactions", "min_count", "spending", "counts", "must_contain", "exclude")
    assert PlanTerms.of(dict.fromkeys(names, odd)) == PlanTerms.of({})
    wrong = {"what": [], "epsilon": "x", "rho": odd, "times": 1.5}
    (line,) = PlanTerms.of({"spending": [odd, wrong]}).spending[-1:]
    assert (line.what, line.epsilon, line.rho, line.times) == (None,) * 4


def test_other_versions_may_say_more() -> None:
    release = read_release(WRITTEN / "release.json")
    more = replace(release, plan={**release.plan, "of-tomorrow": [1]}, privacy={**release.privacy, "of-tomorrow": {}})
    assert Release.from_json(more.to_json()) == more
    assert more.terms == release.terms
