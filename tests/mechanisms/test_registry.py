"""What each mechanism promises and needs, written down a second time: tests that go by the registry adapt to it."""

from __future__ import annotations

from fim_private.mechanisms.registry import REGISTRY

MARKS = ("both_relations", "needs_universe", "needs_cap", "finds_items")
MARKED: dict[str, set[str]] = {
    "lmm": set(),
    "items-first": {"finds_items"},
    "lmm-no-fallback": set(),
    "lmm-repeat": set(),
    "lmm-paper": {"both_relations"},
    "limited-domain": set(),
    "exponential": {"needs_universe"},
    "exponential-textbook": {"both_relations", "needs_universe"},
    "permute-and-flip": {"needs_universe"},
    "report-noisy-max": {"needs_universe"},
    "report-noisy-max-textbook": {"both_relations", "needs_universe"},
    "max-of-laplaces": {"needs_universe"},
    "max-of-laplaces-textbook": {"both_relations", "needs_universe"},
    "stable-max": set(),
    "choosing": {"needs_cap"},
}
AUTOMATIC = {"lmm", "items-first", "limited-domain", "exponential", "permute-and-flip", "choosing"}


def test_what_a_row_says_is_what_was_meant() -> None:
    assert {name: {mark for mark in MARKS if getattr(row, mark)} for name, row in REGISTRY.items()} == MARKED


def test_auto_chooses_among_those_that_no_other_makes_superfluous() -> None:
    assert {name for name, row in REGISTRY.items() if row.automatic} == AUTOMATIC
