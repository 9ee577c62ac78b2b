from __future__ import annotations

import json
import math

import pytest

from fim_private.mechanisms.registry import REGISTRY
from tests.cli.command import end_with, fim_private, succeed, words

HAND = ("--set", "search_epsilon=0.6", "--set", "pick-epsilon=1.4", "--set", "certificate_delta=1/100")
HAND += ("--set", "grid_limit=8")


def law_of(*arguments: str) -> dict:
    done = succeed("law", *arguments, "--json")
    return json.loads(done.stdout)


def test_the_laws_of_lmm_are_the_worked_figures() -> None:
    calibrated = law_of("lmm", "--counts", "40,38,20,3", *HAND)
    assert calibrated["law"] == pytest.approx([0.925130698, 0.0558171458, 5.24743965e-13, 2.41957330e-23], rel=2e-9)
    assert calibrated["none"] == pytest.approx(0.0190521561, rel=2e-9)
    hand = ("--set", "alpha=1", "--set", "selection_delta=0.01", "--set", "max_candidates=8")
    published = law_of("lmm-paper", "--counts", "400,390,20,3", *hand)
    assert published["law"][:2] == pytest.approx([0.841131085, 0.158868915], abs=6e-10)


def test_places_are_those_typed() -> None:
    assert law_of("stable-max", "--counts", "5,40", "--epsilon", "2", "--delta", "0.01")["law"][1] > 0.99
    one = law_of("limited-domain", "--counts", "9,7,0,3", "--epsilon", "1", "--delta", "0.02")
    other = law_of("limited-domain", "--counts", "3,0,9,7", "--epsilon", "1", "--delta", "0.02")
    assert one["law"] == pytest.approx([other["law"][place] for place in (2, 3, 1, 0)])
    assert sum(one["law"]) + one["none"] == pytest.approx(1, abs=1e-12)


def test_several_picks_give_the_law_of_lists() -> None:
    answer = law_of("exponential", "--counts", "3,2", "--epsilon", "1", "--delta", "0", "--top", "2")
    # Of two picks the first gets 0.45, the second 0.55.
    first = math.exp(1.35) / (math.exp(1.35) + math.exp(0.9))
    assert answer["lists"] == pytest.approx({"0,1": first, "1,0": 1 - first}, rel=1e-12)
    declared = law_of("exponential", "--counts", "3,2", "--epsilon", "1", "--delta", "0", "--universe-items", "4")
    assert declared["not_occurring"] == pytest.approx(2 / (2 + math.exp(3) + math.exp(2)))


def test_with_anonymous_names_the_list_has_to_pass_a_test() -> None:
    asked = ("exponential", "--counts", "300,200,2", "--universe-items", "50", "--anonymous", "--top", "2")
    answer = law_of(*asked, "--epsilon", "1", "--delta", "1e-6")
    assert answer["lists"]["0,1"] > 0.999
    assert sum(answer["lists"].values()) == pytest.approx(1, abs=1e-12)
    assert answer["parameters"]["certificate"]["threshold"] > 50
    # The pick of the rare itemset passes as rarely as the threshold says.
    assert answer["lists"].get("0,2", 0.0) < 1e-9
    for wrong, said in (
        (("lmm", "--counts", "3,2", "--anonymous", "--epsilon", "1", "--delta", "1e-6"), "needs no list"),
        (("exponential", "--counts", "3,2", "--anonymous", "--set", "pick_epsilon=1"), "--set"),
        (("exponential", "--counts", "3,2", "--anonymous", "--epsilon", "1", "--delta", "0"), "needs a delta"),
    ):
        done = fim_private("law", *wrong)
        assert done.returncode != 0
        assert said in words(done)


def test_parameters_are_the_plan_s() -> None:
    answer = law_of("limited-domain", "--counts", "9,7", "--epsilon", "1", "--delta", "1e-6", "--sensitivity", "2")
    assert answer["parameters"] == {
        "top": 1,
        "candidates": 1000,
        "pick_epsilon": "1",
        "stop_delta": "1/1000000",
        "sensitivity": 2,
    }


def test_a_law_in_words_has_counts_and_places() -> None:
    done = succeed("law", "permute-and-flip", "--counts", "12,10", "--epsilon", "1", "--delta", "0")
    assert b"12 (place 0)" in done.stdout
    assert "without sampling" in words(done)


def test_a_law_is_printed_for_as_many_lists_as_said() -> None:
    """447 counts give 447 * 446 full lists of two, and those with fewer picks; of one pick each count is a list."""

    def law(counts: int, top: str) -> int:
        numbers = ",".join(map(str, range(1, counts + 1)))
        budget = ("--epsilon", "1", "--delta", "0", "--top", top, "--json")
        return fim_private("law", "exponential", "--counts", numbers, *budget).returncode

    assert (law(60, "2"), law(1_000, "1"), law(10_001, "1"), law(447, "2")) == (0, 0, 2, 2)


def test_parameters_by_hand_stand_in_for_planned_ones() -> None:
    counts, budget = ("--counts", "40,38,20,3"), ("--epsilon", "1", "--delta", "0.1")
    planned = law_of("lmm", *counts, *budget)
    mixed = law_of("lmm", *counts, *budget, "--set", "grid_limit=2")
    assert mixed["parameters"] == {**planned["parameters"], "grid_limit": 2}
    assert mixed["law"] != planned["law"]
    # What a budget would pay for is not there without one.
    alone = law_of("lmm", *counts, *HAND)
    assert alone["parameters"]["fallback"] is None
    assert alone["law"] == law_of("lmm-no-fallback", *counts, *HAND)["law"]
    said = words(fim_private("law", "lmm", *counts, *budget, "--set", "grid_limit=2"))
    assert "Set by hand: grid_limit. The others follow from --epsilon and --delta." in said
    assert "By hand" not in words(fim_private("law", "lmm", *counts, *HAND))


@pytest.mark.parametrize("name", sorted(REGISTRY.keys() - {"items-first", "look-first", "weighted-gaussian"}))
def test_all_that_spends_can_be_set_by_hand_and_makes_a_law(name: str) -> None:
    """For every mechanism, with nothing of the kind to look up: its own fields are the parameters."""
    asked = (name, "--counts", "4,3,1", *(("--max-items", "3") if REGISTRY[name].needs_cap else ()))
    fields = law_of(*asked, "--epsilon", "1", "--delta", "0.1")["parameters"]
    numbers = [field for field, found in fields.items() if isinstance(found, str) and field != "noise"]
    hand = [f"{field}={'1/9' if field.endswith('delta') else '1/3'}" for field in numbers]
    found = law_of(*asked, *(word for setting in hand for word in ("--set", setting)))
    assert [found["parameters"][field] for field in numbers] == [setting.partition("=")[2] for setting in hand]
    assert sum(found["law"]) + found["none"] == pytest.approx(1, abs=1e-9)
    usual = [setting for setting in hand if not setting.startswith("rise=")]
    assert "budget is missing" in words(fim_private("law", *asked, *(("--set", usual[0]) if usual[1:] else ())))


@pytest.mark.parametrize("name", ["exponential", "certified-domain"])
def test_picks_get_the_same_by_hand_unless_their_rise_is_set(name: str) -> None:
    fields = law_of(name, "--counts", "4,3,1", "--top", "3", "--epsilon", "1", "--delta", "0.1")["parameters"]
    hand = {field: "1/9" for field, found in fields.items() if isinstance(found, str) and field != "rise"}

    def law(**more: str) -> dict:
        settings = [word for field, value in (hand | more).items() for word in ("--set", f"{field}={value}")]
        return law_of(name, "--counts", "4,3,1", "--top", "3", *settings)

    flat = law()
    assert flat["parameters"]["rise"] == "0"
    assert law(rise="1/2")["lists"] != flat["lists"]
    assert law(rise="0") == flat


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lmm", "--counts", "a,b", "--epsilon", "1", "--delta", "0.1"), "whole numbers"),
        (("lmm", "--counts", "3", "--delta", "0.1"), "needs both epsilon and delta"),
        (("lmm", "--counts", "3", "--set", "search_epsilon=1"), "parameters pick_epsilon, certificate_delta"),
        (("exponential", "--counts", "3", *HAND), "does not have a parameter 'search_epsilon'"),
        (("lmm", "--counts", "3", "--set", "grid_limt=1"), "Did you mean grid_limit?"),
        (("lmm", "--counts", "3", "--set", "fallback=1"), "Its parameters are: search_epsilon, pick_epsilon"),
        (("lmm", "--counts", "3", "--set", "grid_limit"), "--set grid_limit has no value"),
        (("lmm", "--counts", "3", *HAND, "--set", "grid_limit=2.5"), "grid_limit is out of range"),
        (("lmm", "--counts", "3", *HAND, "--set", "grid_limit=0"), "grid_limit is out of range"),
        (("lmm", "--counts", "3", *HAND, "--set", "certificate_delta=1"), "deltas between 0 and 1"),
        (("lmm", "--counts", "3", *HAND, "--set", "pick_epsilon=0"), "Epsilons lie between 0 and 100"),
        (("lmm", "--counts", "3", *HAND, "--set", "pick_epsilon=x"), "not a number"),
        (("exponential", "--counts", "3", "--set", "pick_epsilon=1", "--set", "rise=2.5"), "rise from 0 to below 2.5"),
        (("lmm", "--counts", "3", *HAND, "--set", "top=2"), "Give --top"),
        (("items-first", "--counts", "3", "--epsilon", "1", "--delta", "0.1"), "whole baskets"),
        (("nothing", "--counts", "3", "--epsilon", "1", "--delta", "0.1"), "no mechanism of that name"),
        (("lmm", "--counts", "3", "--epsilon", "1", "--delta", "0.1", "--top", "30"), "out of range"),
        (("exponential", "--counts", "3,2", "--epsilon", "1", "--delta", "0", "--universe-items", "1"), "more counts"),
    ],
)
def test_a_law_that_cannot_be_computed_is_refused(arguments: tuple[str, ...], message: str) -> None:
    done = end_with(2, "law", *arguments)
    assert message in words(done)


@pytest.mark.slow
def test_an_audit_is_printed_in_words_and_in_json() -> None:
    done = succeed("audit", "limited-domain", "--top", "1")
    for shown in (b"The claim holds", b"hardest neighbours", b"stop symbol half as far", b"caught", b"1e-6"):
        assert shown in done.stdout
    record = json.loads(fim_private("audit", "stable-max", "--json", "--epsilon", "0.5").stdout)
    assert record["holds"]
    assert record["profile"][-1]["claimed"] == 1e-6
    assert all(twin["caught"] for twin in record["twins"])


def test_an_audit_that_cannot_be_made_is_refused() -> None:
    assert "Name the mechanism" in words(fim_private("audit", "auto"))
    assert fim_private("audit", "lmm", "--top", "11").returncode == 2
    for option in (("--top", 3), ("--universe-items", 50)):
        refused = end_with(2, "audit", "all", "--output", "nowhere", *option)
        assert f"Leave {option[0]} out" in words(refused)
    assert fim_private("audit", "lmm", "--output", "x").returncode == 2
