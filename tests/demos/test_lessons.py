"""Every lesson runs at every place of its control, and what it says is so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fim_private.demos import shop
from fim_private.demos.course import DEMOS
from fim_private.demos.demo import Control, Demo, find_demo
from fim_private.demos.lessons import best_of, composition, differencing, epsilon, margin, unit, universe
from fim_private.demos.terminal import to_text
from fim_private.errors import UsageError
from fim_private.mechanisms.sparse_vector import search
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.report.document import Table

EACH = pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)


@EACH
def test_a_lesson_is_short_and_complete(demo: Demo) -> None:
    text = to_text(demo, demo.settings())
    assert demo.title in text
    assert "Your turn." in text
    assert demo.minutes < 10
    # Ten minutes of careful reading, tables included.
    assert 100 < len(text.split()) < 1_500
    for control in demo.controls:
        assert control.start in control.choices
        assert len(set(control.choices)) == len(control.choices) <= 12
        assert f"--set {control.name}=" in text


@EACH
def test_the_question_has_an_answer_that_the_control_finds(demo: Demo) -> None:
    control = demo.controls[0]
    so = [demo.question.happens(demo.settings({control.name: choice})) for choice in control.choices]
    first = so.index(True)
    # "From which on": not from the beginning, and from there on always; so moving the control finds it.
    assert first > 0
    assert all(so[first:])
    assert demo.answer() == control.choices[first]
    before, at = (demo.settings({control.name: control.choices[place]}) for place in (first - 1, first))
    assert demo.verdict(before) == demo.question.no
    assert demo.verdict(at) == demo.question.yes


def test_other_controls_move_the_answer_or_leave_none() -> None:
    assert epsilon.DEMO.answer({"times": "4"}) != epsilon.DEMO.answer()
    assert int(margin.DEMO.answer({"behind": "3"}) or 0) < int(margin.DEMO.answer() or 0)
    assert universe.DEMO.answer({"epsilon": "0.5"}) is None


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no lesson"):
        find_demo(DEMOS, "margins-of-error")
    with pytest.raises(UsageError, match="Did you mean margin"):
        find_demo(DEMOS, "margins")
    with pytest.raises(UsageError, match="no control"):
        margin.DEMO.settings({"gas": "1"})
    with pytest.raises(UsageError, match="no place"):
        Control(name="gap", what="", choices=("1", "2"), start="1").checked("3")


def test_exact_lists_betray_a_customer() -> None:
    found = differencing.exact_attack()
    assert sum(has for *_, has in found) == 10
    for _, before, after, has in found:
        assert after is not None
        assert before - after == has


def test_who_leaves_takes_nothing_but_his_own() -> None:
    data = shop.baskets()
    left = shop.without_customer(data, 7)
    assert len(data) == shop.CUSTOMERS == len(left) + 1
    assert len(data.vocabulary) == shop.ITEMS
    assert left.lengths().tolist() == np.delete(data.lengths(), 7).tolist()
    assert left.items[left.offsets[7] :].tolist() == data.items[data.offsets[8] :].tolist()


def test_released_lists_differ_by_noise() -> None:
    before, after = differencing.released("2")
    both = [before[name] - after[name] for name in before if name in after]
    # The noise of one list; the difference of two has more. One customer would give 0 and 1 only.
    assert len(both) >= 8
    assert max(abs(difference) for difference in both) > 3
    assert differencing.deviation("1") > 20


def test_odds_are_bayes() -> None:
    (table, *_) = epsilon.show(epsilon.DEMO.settings({"epsilon": "2"}))
    assert isinstance(table, Table)
    for before, after in table.rows:
        prior, posterior = (float(str(cell).removesuffix(" %")) / 100 for cell in (before, after))
        assert posterior / (1 - posterior) == pytest.approx(math.exp(2) * prior / (1 - prior), rel=2e-3)


def test_more_customers_of_the_same_habits_multiply_the_counts() -> None:
    once, four = shop.pairs(1.0), shop.pairs(4.0)
    assert [four.count(place) for place in (1, 10, 1000)] == [4 * once.count(place) for place in (1, 10, 1000)]
    assert list(once.levels) == sorted(once.levels, reverse=True)
    quarter = shop.pairs(0.25)
    assert quarter.count(1) == once.count(1) // 4
    assert quarter.occurring < once.occurring


@pytest.mark.parametrize("gap", margin.DEMO.controls[0].choices)
@pytest.mark.parametrize("behind", margin.DEMO.controls[1].choices)
def test_the_search_that_is_drawn_is_the_search_that_runs(gap: str, behind: str) -> None:
    shift, tried = margin.one_run(gap, behind)
    mechanism = margin.mechanism()
    found = search(
        (has - needed for _, has, needed in margin.excesses(gap, behind)),
        threshold_scale=mechanism.scale,
        query_scale=mechanism.scale,
        randomness=SeededRandomness(margin.SEED),
    )
    assert found == (len(tried) - 1 if tried[-1][1] >= shift else None)
    assert sum(margin.stops(gap, behind)) == pytest.approx(1)
    counts = margin.counts(gap, behind)
    assert counts == sorted(counts, reverse=True)
    assert counts[int(behind) - 1] - counts[int(behind)] == min(int(gap), counts[int(behind) - 1])


def test_the_exponential_mechanism_drowns_as_computed_by_hand() -> None:
    profile, items = shop.pairs(), 10**11
    good, poor, absent = universe.chances("exponential", "0.15", "1e11")
    weights = [(level, number * math.exp(0.15 * level)) for level, number in zip(*columns(profile), strict=True)]
    total = sum(weight for _, weight in weights) + math.comb(items, 2) - profile.occurring
    best = profile.count(1)
    assert good == pytest.approx(sum(weight for level, weight in weights if level >= 0.9 * best) / total)
    assert good + poor + absent == pytest.approx(1)
    assert len({universe.chances("lmm", "0.15", items) for items in universe.ITEMS}) == 1


def columns(profile: CountProfile) -> tuple[list[int], list[int]]:
    return list(profile.levels), list(profile.multiplicities)


@pytest.mark.parametrize("name", [name for name, found in unit.UNITS.items() if found.column is not None])
def test_a_customer_is_protected_however_often_he_comes(name: str) -> None:
    promised = math.e / (1 + math.e)
    for visits in map(int, unit.VISITS):
        assert unit.sureness(name, visits) <= promised + 1e-3
    assert unit.sureness("each basket", 20) > 0.99


def test_all_theorems_give_what_they_prove() -> None:
    for k in composition.PICKS:
        found = composition.each("1", "1e-6", k)
        assert found["basic"] == pytest.approx(1 / int(k))
        assert found["optimal"] >= found["basic"] - 1e-12
        assert found["bounded range"] >= found["optimal"] - 1e-9 or int(k) < 5


def test_the_best_of_so_many_runs_gives_them_all_away() -> None:
    for runs in best_of.RUNS[:-2]:
        for one in ("0.1", "0.5", "1"):
            # Randomised response of K runs, all "no": by hand.
            inside, outside = (best_of.chance_of_no(best_of.FIXED, runs, one, inside=here) for here in (True, False))
            assert math.log(outside / inside) == pytest.approx(int(runs) * float(one))
            assert best_of.worst_loss(best_of.FIXED, runs, one) <= int(runs) * float(one) + 1e-9


@pytest.mark.parametrize("one", ["0.1", "0.5", "1"])
def test_a_coin_keeps_the_loss_below_three_epsilon(one: str) -> None:
    found = [best_of.worst_loss(best_of.RANDOM, runs, one) for runs in best_of.RUNS]
    assert max(found) <= 3 * float(one) + 1e-9
    assert max(found) > 2 * float(one)
    # With the coin fewer runs count, so a good one is a little less likely; K has to be larger, which costs nothing.
    for runs in best_of.RUNS[1:]:
        assert 0.1 < best_of.good_run(best_of.RANDOM, runs) < best_of.good_run(best_of.FIXED, runs)
    assert best_of.good_run(best_of.RANDOM, "100") > best_of.good_run(best_of.FIXED, "20")


@EACH
def test_what_is_shown_changes_with_the_control(demo: Demo) -> None:
    control = demo.controls[0]
    first, second = (demo.show(demo.settings({control.name: place})) for place in control.choices[1:3])
    assert first != second
