"""What these mechanisms promise and need, written down a second time: tests that go by the registry adapt to it."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from fim_private.mechanisms.protocol import Request
from fim_private.mechanisms.registry import AUTO, COMPARATORS, REGISTRY, Row, find
from tests import processes

MARKS = ("both_relations", "needs_universe", "needs_cap", "finds_items", "reads_counts", "weighs")
MARKED: dict[str, set[str]] = {
    "lmm": set(),
    "items-first": {"finds_items", "reads_counts"},
    "lmm-no-fallback": set(),
    "lmm-repeat": set(),
    "lmm-paper": {"both_relations"},
    "limited-domain": set(),
    "certified-domain": set(),
    "look-first": {"finds_items"},
    "exponential": {"needs_universe"},
    "exponential-textbook": {"both_relations", "needs_universe"},
    "permute-and-flip": {"needs_universe"},
    "report-noisy-max": {"needs_universe"},
    "report-noisy-max-textbook": {"both_relations", "needs_universe"},
    "max-of-laplaces": {"needs_universe"},
    "max-of-laplaces-textbook": {"both_relations", "needs_universe"},
    "stable-max": set(),
    "choosing": {"needs_cap"},
    "truncated-frequency": {"needs_universe"},
    "truncated-frequency-paper": {"both_relations", "needs_universe"},
    "joint-exponential": {"needs_universe"},
    "weighted-gaussian": {"weighs"},
}
AUTOMATIC = {
    "lmm",
    "items-first",
    "limited-domain",
    "certified-domain",
    "look-first",
    "exponential",
    "permute-and-flip",
    "choosing",
}
LONG = {"lmm", "items-first", "limited-domain", "certified-domain", "look-first", "exponential"}


def test_what_a_row_says_is_what_was_meant() -> None:
    assert {name: {mark for mark in MARKS if getattr(REGISTRY[name], mark)} for name in REGISTRY} == MARKED


@pytest.mark.parametrize("row", REGISTRY.values(), ids=lambda row: row.name)
def test_every_row_has_twins_and_leads_to_its_mechanism(row: Row) -> None:
    assert row.twins
    assert all(twin.name and twin.mistake for twin in row.twins)
    request = Request(
        top=2,
        epsilon=Fraction(1),
        delta=Fraction(1, 10**6),
        sizes=(2,),
        universe_size=100 if row.serves_list else None,
        most_new=45,
    )
    mechanism = row.calibrate(request).mechanism
    assert all(getattr(mechanism, name) >= cap for name, cap in row.lowered.items())


def test_importing_the_rows_loads_no_mechanism() -> None:
    program = (
        "import sys, fim_private.mechanisms.registry\n"
        "print([name for name in sys.modules if name.startswith('fim_private.mechanisms.')])\n"
        "print(sorted({'numpy', 'numba', 'polars'} & set(sys.modules)))"
    )
    shown = processes.run([sys.executable, "-c", program], text=True, check=True)
    assert shown.stdout == "['fim_private.mechanisms.registry']\n[]\n"


def test_auto_chooses_among_those_that_no_other_makes_superfluous() -> None:
    assert {name for name in REGISTRY if REGISTRY[name].automatic} == AUTOMATIC


def test_long_lists_are_compared_for_those_that_name_them_in_little_time() -> None:
    assert {name for name in REGISTRY if REGISTRY[name].long_lists} == LONG
    assert find(AUTO).long_lists


def test_only_these_mechanisms_look_at_more_than_counts() -> None:
    assert {name for name in REGISTRY if not REGISTRY[name].sees_counts_only} == {
        *("items-first", "look-first", "choosing", "weighted-gaussian"),
    }
    assert not replace(REGISTRY["lmm"], name=AUTO).sees_counts_only
    assert not replace(REGISTRY["lmm"], needs_cap=True, finds_items=True).sees_counts_only


def test_the_fallback_is_left_out_where_the_name_says_so() -> None:
    request = Request(top=2, epsilon=Fraction(1), delta=Fraction(1, 10**6), sizes=(2,))
    fallbacks = {
        name: REGISTRY[name].calibrate(request).mechanism.fallback is not None for name in ("lmm", "lmm-no-fallback")
    }
    assert fallbacks == {"lmm": True, "lmm-no-fallback": False}


def test_sources_are_for_readers_who_do_not_have_the_program() -> None:
    for row in (*REGISTRY.values(), *COMPARATORS.values(), find(AUTO)):
        assert ".py" not in row.source, row.name
