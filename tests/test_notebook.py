"""What notebooks and the Python prompt show of releases, plans and rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import fim_private
from fim_private import Budget, PrivacyUnit, association_rules, make_plan
from fim_private.notebook_table import MOST, notebook_table
from fim_private.printable import printable
from fim_private.release import Release
from fim_private.report.document import visible
from tests.rules.releases import released

COUNTS = {("butter", "milk"): 300, ("butter",): 400, ("<b>tea</b>",): 20}


def test_public_names_are_listed() -> None:
    assert set(fim_private.__all__) <= set(dir(fim_private))
    assert "mine" in dir(fim_private)


def test_values_are_shown_as_people_write_them() -> None:
    release = released(COUNTS, half=9)
    assert repr(release) == ("<Release, items-first, epsilon 1, delta 1e-06: {butter, milk}, {butter}, {<b>tea</b>}>")
    assert "not private" in repr(replace(release, seeded=True))
    assert repr(release.itemsets[0]) == "<{butter, milk}, rank 1, count 300>"
    rules = association_rules(release)
    assert repr(rules.rules[0]) == "<Rule {butter} -> {milk}, confidence 0.750>"
    assert repr(rules).startswith("<AssociationRules, 2: {butter} -> {milk}, ")
    plan = make_plan(size=2, top=5, budget=Budget("1", "1e-6"), unit=PrivacyUnit())
    assert repr(plan).startswith(
        "<Plan, top 5 of size 2 by look-first, epsilon 1, delta 1e-06, protects one transaction"
    )
    for value in (release, rules, plan):
        shown = value._repr_html_()
        assert shown.startswith("<table>")
        assert "<b>" not in shown
    assert "&lt;b&gt;tea" in release._repr_html_()


def test_names_cannot_steer_the_terminal() -> None:
    odd = "\x1b[2J\x9b1m\u202eklim"
    release = replace(released({("milk", odd): 300, (odd,): 400}, half=9), mechanism=odd)
    rules = association_rules(release)
    for shown in (repr(release), repr(release.itemsets[0]), repr(rules), repr(rules.rules[0]), release.to_json()):
        assert shown.replace("\n", "").isprintable()
    for value in (release, rules):
        assert value._repr_html_().isprintable()
    assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize("show", [printable, visible])
def test_joiners_stay_between_letters_of_other_scripts_alone(show: Callable[[str], str]) -> None:
    for name in ("می\u200cخواهم", "क्\u200dष", "👩\u200d🚀"):
        assert show(name) == name
    for hidden in ("mi\u200dlk", "é\u200dk", "\u200cخ", "خ\u200c", "خ\u200d\u200dخ", "خ\u202eخ", "خ\u200bخ"):
        assert show(hidden).isprintable()
        assert show(hidden) != hidden


def test_long_tables_are_cut() -> None:
    shown = notebook_table("many", ["n"], [[number] for number in range(MOST + 7)])
    assert "<p>7 more.</p>" in shown
    assert notebook_table("one", ["n"], [[None], [0.5]]).count("<td>") == 2
