from __future__ import annotations

import json
import math

import pytest

from tests.cli.command import fim_private, in_own_process, words

HAND = ("--search-epsilon", "0.6", "--pick-epsilon", "1.4", "--certificate-delta", "0.01", "--grid-limit", "8")


def law_of(*arguments: str) -> dict:
    done = fim_private("law", *arguments, "--json")
    assert done.returncode == 0, words(done)
    return json.loads(done.stdout)


def test_the_worked_figures_laws() -> None:
    calibrated = law_of("lmm", "--counts", "40,38,20,3", *HAND)
    assert calibrated["law"] == pytest.approx([0.925130698, 0.0558171458, 5.24743965e-13, 2.41957330e-23], rel=2e-9)
    assert calibrated["none"] == pytest.approx(0.0190521561, rel=2e-9)
    published = law_of("lmm-paper", "--counts", "400,390,20,3", "--alpha", "1", "--delta", "0.01", "--grid-limit", "8")
    assert published["law"][:2] == pytest.approx([0.841131085, 0.158868915], abs=6e-10)


def test_places_are_those_typed() -> None:
    assert law_of("stable-max", "--counts", "5,40", "--epsilon", "2", "--delta", "0.01")["law"][1] > 0.99
    one = law_of("limited-domain", "--counts", "9,7,0,3", "--epsilon", "1", "--delta", "0.02")
    other = law_of("limited-domain", "--counts", "3,0,9,7", "--epsilon", "1", "--delta", "0.02")
    assert one["law"] == pytest.approx([other["law"][place] for place in (2, 3, 1, 0)])
    assert sum(one["law"]) + one["none"] == pytest.approx(1, abs=1e-12)


def test_lists_of_several_picks() -> None:
    answer = law_of("exponential", "--counts", "3,2", "--epsilon", "1", "--delta", "0", "--top", "2")
    first = math.exp(1.5) / (math.exp(1.5) + math.e)
    assert answer["lists"] == pytest.approx({"0,1": first, "1,0": 1 - first}, rel=1e-12)
    declared = law_of("exponential", "--counts", "3,2", "--epsilon", "1", "--delta", "0", "--universe-items", "4")
    assert declared["not_occurring"] == pytest.approx(2 / (2 + math.exp(3) + math.exp(2)))


def test_parameters_are_the_plan_s() -> None:
    answer = law_of("limited-domain", "--counts", "9,7", "--epsilon", "1", "--delta", "1e-6", "--sensitivity", "2")
    assert answer["parameters"] == {
        "top": 1,
        "candidates": 1000,
        "pick_epsilon": "1",
        "stop_delta": "1/1000000",
        "sensitivity": 2,
    }


def test_in_words() -> None:
    done = in_own_process("law", "permute-and-flip", "--counts", "12,10", "--epsilon", "1", "--delta", "0")
    assert done.returncode == 0
    assert b"12 (place 0)" in done.stdout
    assert "without sampling" in words(done)


def test_a_law_is_printed_for_as_many_lists_as_said() -> None:
    """447 counts give 447 * 446 full lists of two, and those with fewer picks; of one pick each count is a list."""

    def law(counts: int, top: str) -> int:
        numbers = ",".join(map(str, range(1, counts + 1)))
        budget = ("--epsilon", "1", "--delta", "0", "--top", top, "--json")
        return fim_private("law", "exponential", "--counts", numbers, *budget).returncode

    assert (law(60, "2"), law(1_000, "1"), law(10_001, "1"), law(447, "2")) == (0, 0, 2, 2)


def test_what_parameters_by_hand_replace_is_said() -> None:
    planned = ("--epsilon", "1", "--delta", "0.1")
    assert "--epsilon and --delta played no part" in words(
        fim_private("law", "lmm", "--counts", "40,38", *HAND, *planned)
    )
    assert "played no part" not in words(fim_private("law", "lmm", "--counts", "40,38", *HAND))
    assert "--epsilon played no part" in words(
        fim_private("law", "lmm-paper", "--counts", "4,3", "--alpha", "1", *planned)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lmm", "--counts", "a,b", "--epsilon", "1", "--delta", "0.1"), "whole numbers"),
        (("lmm", "--counts", "3", "--delta", "0.1"), "budget is missing"),
        (("lmm", "--counts", "3", "--search-epsilon", "1"), "three numbers"),
        (("exponential", "--counts", "3", *HAND), "does not have that parameter"),
        (("items-first", "--counts", "3", "--epsilon", "1", "--delta", "0.1"), "whole baskets"),
        (("nothing", "--counts", "3", "--epsilon", "1", "--delta", "0.1"), "no mechanism of that name"),
        (("lmm", "--counts", "3", "--epsilon", "1", "--delta", "0.1", "--top", "30"), "out of range"),
        (("exponential", "--counts", "3,2", "--epsilon", "1", "--delta", "0", "--universe-items", "1"), "more counts"),
        (("limited-domain", "--counts", "3", "--epsilon", "1", "--delta", "0.1", "--grid-limit", "2"), "no grid"),
    ],
)
def test_what_cannot_be_computed(arguments: tuple[str, ...], message: str) -> None:
    done = fim_private("law", *arguments)
    assert done.returncode == 2
    assert message in words(done)


@pytest.mark.slow
def test_an_audit_in_words_and_in_json() -> None:
    done = in_own_process("audit", "limited-domain", "--top", "1")
    assert done.returncode == 0, words(done)
    for shown in (b"The claim holds", b"hardest neighbours", b"stop symbol half as far", b"caught", b"1e-6"):
        assert shown in done.stdout
    record = json.loads(fim_private("audit", "stable-max", "--json", "--epsilon", "0.5").stdout)
    assert record["holds"]
    assert record["profile"][-1]["claimed"] == 1e-6
    assert all(twin["caught"] for twin in record["twins"])


def test_what_cannot_be_audited() -> None:
    assert "Name the mechanism" in words(fim_private("audit", "auto"))
    assert fim_private("audit", "lmm", "--top", "11").returncode == 2
    assert fim_private("audit", "lmm", "--output", "x").returncode == 2
