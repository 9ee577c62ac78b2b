"""Every lesson runs at every place of its control, and what it says is so."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from fim_private.demos import shop
from fim_private.demos.course import DEMOS, find_demo
from fim_private.demos.demo import Control, Demo
from fim_private.demos.lessons import (
    best_of,
    certificate,
    composition,
    differencing,
    epsilon,
    margin,
    rules,
    unit,
    universe,
)
from fim_private.demos.terminal import to_text
from fim_private.errors import UsageError
from fim_private.mechanisms.sparse_vector import search
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


@pytest.mark.slow
@EACH
def test_a_page_s_two_controls_are_enough_for_the_question(demo: Demo) -> None:
    """Whatever the question compares is a place of one of the first two controls, and they change the answer."""
    first, second, *_ = demo.controls
    for named in re.findall(r"\((\w+)=(\w+)\)|\b(\w+) = (\d+)", demo.question.text):
        name, value = (part for part in named if part)
        assert value in {control.name: control for control in (first, second)}[name].choices
    assert len({demo.answer({second.name: choice}) for choice in second.choices}) > 1
    assert len(second.choices) <= 12


def test_other_controls_move_the_answer_or_leave_none() -> None:
    assert epsilon.DEMO.answer({"times": "4"}) != epsilon.DEMO.answer()
    assert int(margin.DEMO.answer({"behind": "3"}) or 0) < int(margin.DEMO.answer() or 0)
    assert universe.DEMO.answer({"k": "1"}) is None


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no lesson"):
        find_demo("margins-of-error")
    with pytest.raises(UsageError, match="Did you mean margin"):
        find_demo("margins")
    with pytest.raises(UsageError, match="no control"):
        margin.DEMO.settings({"gas": "1"})
    with pytest.raises(UsageError, match="cannot be set"):
        Control(name="gap", what="", choices=("1", "2"), start="1").checked("3")


def test_exact_lists_betray_a_customer() -> None:
    found = differencing.exact_attack()
    assert sum(has for *_, has in found) == 10
    for _, before, after, has in found:
        assert before - after == has


def test_who_leaves_takes_nothing_but_his_own() -> None:
    data = shop.baskets()
    left = shop.without_customer(data, 7)
    assert len(data) == shop.CUSTOMERS == len(left) + 1
    assert len(data.vocabulary) == shop.ITEMS
    assert left.lengths().tolist() == np.delete(data.lengths(), 7).tolist()
    assert left.items[left.offsets[7] :].tolist() == data.items[data.offsets[8] :].tolist()


def simulated(epsilon: str, pairs: int, runs: int) -> float:
    """How often the attacker of the lesson is right, with noise from the program's own sampler."""
    noise = differencing.noise_at(epsilon)
    counts, right = np.full(pairs, 300), 0.0
    for run in range(runs):
        randomness = SeededRandomness(run)
        had = run % 2
        fallen = int(np.sum(noise.add_noise(counts, randomness) - noise.add_noise(counts - had, randomness)))
        right += 0.5 if 2 * fallen == pairs else (2 * fallen > pairs) == had
    return right / runs


@pytest.mark.parametrize("epsilon", ["5", "20", "50", "100"])
@pytest.mark.parametrize("pairs", [1, 10])
def test_the_attack_is_right_as_often_as_the_lesson_says(epsilon: str, pairs: int) -> None:
    runs = 500
    # Five standard deviations and a little: so far off once in a million.
    assert simulated(epsilon, pairs, runs) == pytest.approx(
        differencing.chance_right(epsilon, pairs), abs=2.6 / runs**0.5
    )
    # The lesson's dial tells places apart that lie further from each other than this.
    assert differencing.chance_right("100", pairs) - differencing.chance_right("5", pairs) > 2 * 2.6 / runs**0.5


def test_no_attack_beats_the_promise_and_the_better_attack_comes_nearer() -> None:
    for place in differencing.DIAL:
        one, ten = (differencing.chance_right(place, pairs) for pairs in (1, 10))
        assert 0.5 < one < ten < differencing.ceiling(place) + 1e-9
    # At epsilon 1 it is group privacy of two steps: e^2 / (1 + e^2), and a little for delta.
    assert differencing.ceiling("1") == pytest.approx(math.exp(2) / (1 + math.exp(2)), abs=1e-5)
    assert "promises nothing" in to_text(differencing.DEMO, differencing.DEMO.settings({"epsilon": "50"}))


@pytest.mark.parametrize("epsilon", ["2", "20", "100"])
def test_released_counts_are_exact_counts_with_the_noise_of_the_plan(epsilon: str) -> None:
    deviation = differencing.noise_at(epsilon).deviation
    exact = {name: (before, after) for name, before, after, _ in differencing.exact_attack()}
    for place, found in enumerate(differencing.released(epsilon)):
        errors = [count - exact[name][place] for name, count in found.items() if name in exact]
        assert len(errors) >= 10
        # Not weighted: the mean error is small, and the spread is that of the noise.
        assert abs(np.mean(errors)) <= 5 * deviation / len(errors) ** 0.5
        assert np.std(errors) <= 2 * deviation


def test_odds_are_bayes() -> None:
    (table, *_) = epsilon.show(epsilon.DEMO.settings({"epsilon": "2"}))
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


def test_every_row_of_the_search_is_shown_and_they_sum_to_one() -> None:
    for gap in margin.DEMO.controls[0].choices:
        table = next(part for part in margin.DEMO.show(margin.DEMO.settings({"gap": gap})) if isinstance(part, Table))
        chances = [float(str(row[-1]).removesuffix(" %")) for row in table.rows]
        assert sum(chances) == pytest.approx(100, abs=0.05 * len(chances))


@pytest.mark.parametrize("behind", margin.DEMO.controls[1].choices)
def test_the_gap_that_is_needed_costs_more_than_it_saves(behind: str) -> None:
    needed = margin.gap_needed(behind)
    assert margin.in_time(str(needed), behind) >= margin.WANTED > margin.in_time(str(needed - 1), behind)
    declared = math.comb(margin.GOODS, 2)
    assert margin.missed(declared, margin.listed_rate()) < needed
    # The shortfall by hand: the chance to draw one of the others, each this far below the best, is 1 in 20 at most.
    far = margin.missed(declared, margin.listed_rate())
    assert declared * math.exp(-margin.listed_rate() * far) <= 1 / 20


@pytest.mark.parametrize("k", universe.DEMO.controls[1].choices)
@pytest.mark.parametrize("items", universe.ITEMS)
def test_the_exponential_mechanism_drowns_where_the_weights_say(k: str, items: str) -> None:
    mechanism = universe.mechanism_at(universe.LISTED, k, "2", items)
    found = universe.shares(universe.LISTED, k, "2", items)
    weights = [float(mechanism.pick_epsilon) * shop.pairs().count(place) for place in (1, int(k))]
    crowd = math.log(universe.pairs_of(items))
    # Whoever outweighs all the others e^5 to 1 is nearly always drawn.
    if weights[1] > crowd + 5:
        assert found.absent < 0.1
    if weights[0] < crowd - 5:
        assert found.absent > 0.9
    assert found.top + found.other + found.absent + found.empty == pytest.approx(1)
    for name in universe.OPEN:
        assert universe.shares(name, k, "2", items).absent == 0


def test_one_pick_does_not_need_to_fear_a_long_list_but_many_picks_do() -> None:
    answers = [universe.DEMO.answer({"k": k}) for k in ("1", "20", "100")]
    assert answers[:2] == [None, None]
    assert float(answers[2] or 0) > 3885
    assert (
        universe.shares("certified-domain", "100", "2", "1e6").top
        > 1.5 * universe.shares("exponential", "100", "2", "1e6").top
    )


@pytest.mark.parametrize("one", unit.EPSILONS)
@pytest.mark.parametrize("name", unit.UNITS)
def test_a_unit_is_protected_as_promised(name: str, one: str) -> None:
    for visits in map(int, unit.VISITS):
        # A customer's promise does not depend on the visits; that of a basket is for one basket.
        steps = visits if name == "each basket" else 1
        assert unit.sureness(name, visits, one) <= 1 / (1 + math.exp(-steps * float(one))) + 1e-3
    assert unit.sureness("each basket", 20, one) > unit.promised(one) + 0.1


def test_merging_changes_what_together_means() -> None:
    for name in unit.UNITS:
        assert "coffee + jam" not in unit.counts(name, 8)
    merged, once = unit.counts(unit.MERGED, 8), unit.counts("customer, counted once", 8)
    assert merged == {**once, "coffee + jam": unit.APART}
    # Merged, Kim changes each count by at most 1, as promised.
    without = unit.counts(unit.MERGED, 0)
    assert {name: merged[name] - without[name] for name in merged} == {
        "bread + milk": 0,
        "coffee + jam": 0,
        "mug + tea": 1,
    }


def test_a_list_is_shown_if_it_has_support_and_hardly_ever_if_one_customer_decides() -> None:
    for one in certificate.EPSILONS:
        mechanisms = {int(k): certificate.certified(k, one) for k in certificate.SIZES}
        # "All lists of 16 pairs and more have the same T", and shorter ones a smaller T.
        assert len({(each.threshold, each.variance) for k, each in mechanisms.items() if k >= 16}) == 1
        assert [mechanisms[k].threshold for k in (1, 2, 5, 10, 20)] == sorted(
            {mechanism.threshold for mechanism in mechanisms.values()}
        )
        decided, half, exactly, enough = (
            mechanisms[20].certificate.passes(support) for support in certificate.supports("20", one).values()
        )
        assert decided <= mechanisms[20].test_delta < 1e-6 / (1 + math.exp(float(one)))
        assert decided < half < 0.05 < 0.5 < exactly < 0.6 < 0.949 < enough


@pytest.mark.parametrize("one", certificate.EPSILONS)
def test_asking_afterwards_needs_the_smallest_lead_from_five_pairs_on(one: str) -> None:
    for k in certificate.SIZES:
        needed = {name: certificate.lead_needed(name, k, one) for name in certificate.ASKED}
        best = min(needed, key=lambda name: needed[name])
        if k == "2":  # "For one pair, and mostly for two, the stop symbol costs less than a test."
            assert best == ("limited-domain" if float(one) >= 1 else certificate.AFTER)
        else:
            assert best == ("limited-domain" if k == "1" else certificate.AFTER)
        assert needed["lmm-no-fallback"] > needed["limited-domain"]


def test_a_lead_that_is_large_enough_is_enough() -> None:
    for name in certificate.ASKED:
        for one in certificate.EPSILONS:
            for k in certificate.SIZES:
                if certificate.actual_lead(k) >= 1.1 * certificate.lead_needed(name, k, one):
                    assert certificate.lists(name, k, one).whole >= 0.8


@pytest.mark.slow
def test_a_page_of_rules_says_what_follows_from_the_release() -> None:
    data = shop.baskets()
    for one in ("1", "4", "16"):
        found = rules.page_rules(one, "10")
        # Each interval holds the truth 19 times in 20; they share counts, so several may fail together.
        assert sum(rule.holds for rule in found) >= 0.7 * len(found) > 10
        for rule in found[:5]:
            codes = [list(data.vocabulary).index(name) for name in (rule.antecedent, rule.consequent)]
            having = [shop.held_by(data, customer, tuple(codes)) for customer in range(len(data))]
            assert rule.both == sum(having)
    widths = [rules.width(place, "10") for place in rules.DIAL]
    assert widths == sorted(widths, reverse=True)
    for place in rules.DIAL:
        assert rules.width(place, "5") < rules.width(place, "20")


def test_all_theorems_give_what_they_prove() -> None:
    for k in composition.PICKS:
        found = composition.each("1", "1e-6", k)
        assert found["basic"] == pytest.approx(1 / int(k))
        assert found["optimal"] >= found["basic"] - 1e-12
        assert found["bounded range"] >= found["optimal"] - 1e-9 or int(k) < 5
    for one, delta in (("1", "1e-6"), ("1", "1e-3"), ("5", "1e-6"), ("1", "1e-9")):
        best = composition.adding_up_is_best(one, delta)
        wins = [
            max(found.values()) <= found["basic"]
            for found in (composition.each(one, delta, str(k)) for k in range(1, 8))
        ]
        assert wins == [k <= best for k in range(1, 8)]
        assert best <= 3


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
