"""The pages of releases and plans, for whatever a release may hold."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.mechanisms.registry import AUTO, REGISTRY
from fim_private.plan import Universe
from fim_private.plan.advice import advise
from fim_private.plan.record import plan_record
from fim_private.plan.shape import Shop
from fim_private.privacy import NeighbouringRelation, PrivacyUnit
from fim_private.release import FoundItem, Layout, Release, ReleasedItemset
from fim_private.release.filters import filtered
from fim_private.release.terms import privacy_record
from fim_private.report.advice_text import advice_words
from fim_private.report.document import Bullets, Document, Figure, Paragraph, Table, visible
from fim_private.report.document.html import to_html
from fim_private.report.document.markdown import to_markdown
from fim_private.report.document.svg import folded, shortened, width_of
from fim_private.report.document.text import wrapped
from fim_private.report.pages.count_bars import count_bars
from fim_private.report.pages.item_graph import apart, draw, edges_of, item_graph, springs
from fim_private.report.pages.plan import plan_document
from fim_private.report.pages.release import release_document
from fim_private.report.promise_text import promise, promised
from fim_private.report.tables import release_table
from fim_private.transactions.item_codes import transactions_from_lists
from tests.asking import mined, planned
from tests.rules.releases import released

NASTY = (
    "<script>alert(1)</script>",
    "**bold** `code` [x](#promise)",
    "a\x1b[2J",
    "\u202eklim",
    "牛奶",
    "&amp;",
    "$x$",
    "\ud7ff",
)
LAYOUT = Layout(format="basket", kind="text", separator=",", guessed=("format", "separator"))
BASKETS = transactions_from_lists([["milk", "bread", "tea"]] * 400 + [["milk", "bread"]] * 300 + [["jam"]] * 40)


def table(document: Document, name: str) -> Table:
    (found,) = [part for part in document.parts() if isinstance(part, Table) and part.name == name]
    return found


def figures(document: Document) -> dict[str, Figure]:
    return {part.name: part for part in document.parts() if isinstance(part, Figure)}


def said(document: Document) -> str:
    texts = [part.text for part in document.parts() if isinstance(part, Paragraph)]
    texts += [item for part in document.parts() if isinstance(part, Bullets) for item in part.items]
    return " ".join([document.banner, *texts])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REGISTRY, AUTO])
@pytest.mark.parametrize("size", [1, 2])
def test_every_mechanism_s_release_and_plan_make_a_page(name: str, size: int) -> None:
    release = mined(
        BASKETS,
        size=size,
        top=2,
        epsilon="2",
        mechanism=name,
        universe=Universe(names=("milk", "bread", "tea", "jam")) if name not in {"items-first", "look-first"} else None,
        max_items=3,
    )
    document = release_document(Release.from_json(release.to_json()))
    assert to_html(document).count("<h1") == 1
    assert document.banner.startswith("Differentially private: epsilon 2, delta 1e-6")
    assert not document.alarm
    assert ("items" in figures(document)) == (size == 2 and bool(release.itemsets))
    assert release.mechanism in [row[1] for row in table(document, "facts").rows]
    plan = planned(size=size, top=2, epsilon="2", mechanism=name, max_items=3, universe=Universe(items=10))
    assert "No data was read" in to_html(plan_document("The top 2", plan, [plan], [("other", "no reason")]))


@pytest.mark.slow
@given(
    st.dictionaries(
        st.lists(st.one_of(st.sampled_from(NASTY), st.text(min_size=1)), min_size=1, max_size=4, unique=True).map(
            tuple
        ),
        st.integers(-5, 10**6),
        max_size=6,
    ),
    st.none() | st.integers(0, 50),
    st.booleans(),
)
def test_any_names_and_counts_make_a_page(counts: dict[tuple[str, ...], int], half: int | None, seeded: bool) -> None:
    release = released(counts, half=half, seeded=seeded)
    document = release_document(release)
    page = to_html(document)
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert document.alarm is seeded
    assert "SEEDED, NOT PRIVATE" in page or not seeded
    for figure in figures(document).values():
        ElementTree.fromstring(figure.svg.replace("\x0c", ""))


def test_the_page_holds_what_was_released_and_no_more() -> None:
    release = released({("milk",): 60, ("milk", "tea"): 30}, total=100, half=7)
    rows = table(release_document(release), "itemsets-1")
    assert rows.head == ("rank", "itemset", "count", "between", "support")
    assert rows.rows == ((1, "milk", 60, "53\u00a0to\u00a067", 0.6),)
    assert table(release_document(release), "itemsets-2").rows == ((2, "milk + tea", 30, "23\u00a0to\u00a037", 0.3),)
    other = table(release_document(released({("tea",): 30, ("milk",): 60})), "itemsets")
    assert other.head == ("itemset", "count", "order picked")
    assert other.rows == (("milk", 60, 2), ("tea", 30, 1))
    bare = replace(release, itemsets=tuple(ReleasedItemset(rank=1, items=("milk",)) for _ in range(1)))
    document = release_document(bare)
    assert table(document, "itemsets").head == ("rank", "itemset")
    assert figures(document) == {}
    assert "95 %" not in said(document)
    assert "95 % chance" in said(release_document(release))


def test_a_page_says_that_fewer_were_named_than_asked_for() -> None:
    two = replace(released({("milk",): 60, ("tea",): 30}), plan={"top": 5})
    assert "5 were asked for. No other was clear enough to name" in said(release_document(two))
    for other in ({"top": 2}, {"top": 5, "min_count": 20}, {"top": 5, "keep": "maximal"}, {}):
        assert "were asked for" not in said(release_document(replace(two, plan=other)))


@pytest.mark.parametrize(
    ("keep", "covers"),
    [
        ("closed", "contains it and has as large a count."),
        ("non-redundant", "contains it and has at least nine tenths of its count."),
        ("maximal", "contains it."),
    ],
)
def test_a_page_says_that_itemsets_were_left_out(keep: str, covers: str) -> None:
    whole = released({("milk",): 60, ("milk", "tea"): 60})
    assert "left out" not in said(release_document(whole))
    document = release_document(filtered(whole, keep))
    sentence = f"Only {keep} itemsets are listed: an itemset was left out if a larger one of the answer {covers}"
    assert sentence in said(document)
    assert ("only itemsets that are", keep) in table(document, "facts").rows
    unknown = replace(whole, plan={"keep": "<frequent>"})
    assert "left out" not in said(release_document(unknown))


def test_empty_releases_say_why() -> None:
    empty = released({})
    assert "no itemset was clear enough to name" in said(release_document(empty))
    above = replace(empty, plan={"min_count": 4000})
    assert "No itemset had a noisy count above 4,000" in said(release_document(above))
    assert figures(release_document(empty)) == {}


@pytest.mark.parametrize(
    "privacy",
    [
        {},
        {"epsilon": "1", "delta": 0.0, "unit": "one transaction"},
        {"epsilon": float("nan"), "delta": 0.0, "unit": "one transaction"},
        {"epsilon": 1e9, "delta": 0.0, "unit": "one transaction"},
        {"epsilon": 1.0, "delta": -1.0, "unit": "one transaction"},
        {"epsilon": 1.0, "delta": True, "unit": "one transaction"},
        {"epsilon": 1.0, "delta": 0.0},
        {"epsilon": 0.1, "delta": 0.0, "unit": "one transaction", "proved": {"epsilon": 0.9, "delta": 0.0}},
        {"epsilon": 1.0, "delta": 1e-9, "unit": "one transaction", "proved": {"epsilon": 0.9, "delta": 1e-6}},
    ],
)
def test_a_release_without_a_promise_is_not_called_private(privacy: dict[str, object]) -> None:
    odd = replace(
        released({("a", "b"): 5}), privacy=privacy, plan={"spending": [3, {"what": [], "epsilon": "x"}], "top": []}
    )
    document = release_document(odd)
    assert document.alarm
    assert document.banner.startswith("WITHOUT A PROMISE")
    assert "states no promise" in said(document)
    assert "Differentially private" not in to_html(document)


def test_a_mechanism_that_nobody_knows_is_named() -> None:
    assert "Mechanism: the mechanism of-tomorrow." in " ".join(promised(replace(released({}), mechanism="of-tomorrow")))


@pytest.mark.parametrize("relation", NeighbouringRelation)
@pytest.mark.parametrize("delta", ["0", "1e-9"])
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit(column="customer", max_transactions=3)])
@pytest.mark.parametrize("universe", [Universe(items=9, listed=True), Universe(names=("milk", "bread", "tea"))])
def test_a_release_promises_what_its_plan_did(
    relation: NeighbouringRelation, delta: str, unit: PrivacyUnit, universe: Universe
) -> None:
    from fim_private.plan.record import plan_record
    from fim_private.release.terms import privacy_record

    plan = planned(
        size=1,
        top=2,
        epsilon="0.7",
        delta=delta,
        unit=unit,
        relation=relation,
        universe=universe,
        mechanism="exponential",
    )
    release = replace(released({}), mechanism=plan.mechanism_name, privacy=privacy_record(plan), plan=plan_record(plan))
    assert wrapped(*promised(Release.from_json(release.to_json()))) == promise(plan)
    assert "a SEED: this output is NOT private" in " ".join(promised(replace(release, seeded=True)))


def test_found_items_are_on_the_page() -> None:
    release = replace(released({}), found=(FoundItem(item="milk", count=7.25),), command="fim-private mine x", id="r1")
    document = release_document(release)
    assert table(document, "found").rows == (("milk", 7.25),)
    assert ("in the ledger as", "r1") in table(document, "facts").rows
    assert "<code>fim-private mine x</code>" in to_html(document)


def test_edges_are_as_strong_as_the_best_itemset_with_both() -> None:
    counted = released({("a", "b"): 30, ("b", "c"): 20, ("a", "b", "d"): 10}).itemsets
    assert edges_of(list(counted)) == {("a", "b"): 1, ("b", "c"): 0.5, ("a", "d"): 0, ("b", "d"): 0}
    picked = [
        ReleasedItemset(rank=rank, items=items) for rank, items in enumerate([("a", "b"), ("b", "c"), ("a", "c")], 1)
    ]
    assert edges_of(picked) == {("a", "b"): 1, ("b", "c"): 0.5, ("a", "c"): 0}
    assert edges_of(picked[:1]) == {("a", "b"): 0.5}


def test_drawings_are_the_same_each_time_and_leave_out_what_nobody_could_see() -> None:
    many = released({(f"a{place}", f"b{place}"): 500 - place for place in range(100)})
    graph, (bars,) = item_graph(many), count_bars(many)
    assert graph == item_graph(many)
    assert "Only the first 30 of 100 itemsets are drawn" in graph.caption
    assert "Only the first 20 of 100 itemsets are drawn" in bars.caption
    assert graph.svg.count("<circle") == 60
    assert bars.svg.count("<rect") == 20
    assert item_graph(released({("a",): 5})) is None
    assert count_bars(released({})) == []
    assert [bars.name for bars in count_bars(released({("a",): 5, ("a", "b"): 3}))] == ["counts-1", "counts-2"]


@pytest.mark.slow
@given(st.integers(1, 25), st.integers(0, 2**16))
def test_labels_do_not_overlap(number: int, bits: int) -> None:
    pairs = np.array([(one, (one * (bits % 7 + 1) + 1) % number) for one in range(number)], dtype=np.int64)
    sizes = np.array([(60 + 10 * ((bits >> one) & 7), 30.0) for one in range(number)])
    spots = apart(springs(number, pairs) * 300, sizes)
    assert np.isfinite(spots).all()
    for one in range(number):
        for other in range(one):
            overlap = (sizes[one] + sizes[other]) / 2 - np.abs(spots[one] - spots[other])
            assert (overlap <= 1e-9).any()


GRAPHS: dict[str, list[tuple[int, int]]] = {
    "pairs": [(2 * at, 2 * at + 1) for at in range(12)],
    "a star": [(0, at) for at in range(1, 5)],
    "a path": [(at, at + 1) for at in range(9)],
    "a ring": [(at, (at + 1) % 7) for at in range(7)],
    "all of four": list(combinations(range(4), 2)),
    "triangles": [pair for at in (0, 3, 6) for pair in combinations(range(at, at + 3), 2)],
    "a ring with a hub": [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (1, 3), (2, 3), (3, 4), (6, 7), (8, 9)],
}
"""Graphs with room for all labels. About a dot with five lines or more there may be none."""


@pytest.mark.parametrize("graph", GRAPHS)
def test_no_line_crosses_a_label_and_no_label_another(graph: str) -> None:
    names = ("ROSES REGENCY TEACUP AND SAUCER", "TEA", "GARDENERS KNEELING PAD CUP OF TEA", "LUNCH BAG")
    edges = {(f"{names[one % 4]} {one}", f"{names[other % 4]} {other}"): 0.5 for one, other in GRAPHS[graph]}
    svg = draw(edges)
    texts = re.findall(r'<text x="(.*?)" y="(.*?)" .*? font-size="(.*?)".*?>(.*?)</text>', svg)
    boxes = []
    for x, y, size, text in texts:
        half = 0.9 * width_of(text, int(size)) / 2  # it is rather too much
        boxes.append((float(x) - half, float(y) - 0.8 * int(size), float(x) + half, float(y)))
    ends = re.findall(r'<line x1="(.*?)" y1="(.*?)" x2="(.*?)" y2="(.*?)"', svg)
    assert len(ends) == len(edges)
    steps = np.linspace(0, 1, 400)
    for x1, y1, x2, y2 in np.array(ends, dtype=float):
        across, down = x1 + steps * (x2 - x1), y1 + steps * (y2 - y1)
        for left, top, right, bottom in boxes:
            assert not ((across > left) & (across < right) & (down > top) & (down < bottom)).any()
    width, height = map(float, re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
    for at, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert right <= width
        assert top >= 0
        assert bottom <= height
        for other in boxes[:at]:
            assert left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]


@given(st.text(), st.integers(20, 200))
def test_labels_fit_their_width(name: str, width: int) -> None:
    assert width_of(shortened(name, width)) <= max(width, width_of("…"))
    rows = folded(name, width)
    assert 1 <= len(rows) <= 2
    assert all(width_of(row) <= max(width, width_of("牛…")) for row in rows)


def test_names_are_broken_at_blanks() -> None:
    assert folded("RED HANGING HEART T-LIGHT HOLDER", 130, 11) == ["RED HANGING HEART", "T-LIGHT HOLDER"]
    assert folded("", 100) == [""]


def shortened_letter_by_letter(text: str, width: float) -> str:
    text = visible(text)
    if width_of(text) <= width:
        return text
    while text and width_of(text + "…") > width:
        text = text[:-1]
    return text.rstrip() + "…"


@given(st.text(max_size=60), st.integers(min_value=0, max_value=300))
def test_a_name_is_shortened_to_what_fits(text: str, width: int) -> None:
    assert shortened(text, width) == shortened_letter_by_letter(text, width)


LONG = 100_000


@pytest.mark.slow
@pytest.mark.parametrize("part", ["x", " x", "x   ", "**a ", "`a ", "[a](", "\x1b", "牛", " ", "a\n \n", '"\\', "&<"])
def test_names_as_long_as_files_make_a_page_in_a_moment(part: str) -> None:
    name = f"q{part * (LONG // len(part))}q"
    release = replace(
        released({(name,): 900, ("b",): 800, (name, "b"): 700}, total=2000), plan={"must_contain": [name]}, command=name
    )
    begin = time.process_time()
    document = release_document(release)
    page = to_html(document)
    to_markdown(document)
    release_table(release)
    wrapped(*promised(release))
    assert time.process_time() - begin < 4  # a second at most; in the square of its length it takes minutes
    drawings = figures(document)
    assert len(drawings["items"].svg) < 10_000  # shortened where it is drawn
    assert len(drawings["counts-1"].svg) < 10_000
    assert (name, 900) in [row[1:3] for row in table(document, "itemsets-1").rows]  # and whole in the table
    assert part != "x" or f"<td class=long>{name}</td>" in page


def test_a_long_name_does_not_fill_the_lines_of_others_with_blanks() -> None:
    many = {(f"i{at}",): 9 for at in range(1000)}
    lines = release_table(released({("x" * LONG,): 10} | many)).splitlines()
    assert lines[2].endswith(f"{'x' * LONG}     10")
    assert max(map(len, lines[3:])) < 300


def test_a_page_names_no_option_and_gives_an_item_one_number() -> None:
    plan = planned(size=[1, 2], epsilon="4", count_share="0.3")
    release = released({("milk",): 900, ("bread",): 800, ("milk", "bread"): 700}, half=9)
    release = replace(
        release, plan=plan_record(plan), privacy=privacy_record(plan, LAYOUT),
        found=(FoundItem(item="milk", count=880.0), FoundItem(item="tea", count=300.0)),
    )  # fmt: skip
    document = release_document(release, title="Acme, spring")
    assert document.title == "Acme, spring"
    (section,) = [section for section in document.sections if section.anchor == "promise"]
    short, promise_of_page = section.parts
    assert short.text.startswith("This answer protects every basket (one line)")
    assert short.text.endswith("In full:")
    assert "--" not in " ".join(promise_of_page.items)
    assert "--" in " ".join(promised(release))
    assert table(document, "found").rows == (("tea", 300.0),)
    assert [row[0] for row in table(document, "rules").rows] == ["bread → milk", "milk → bread"]


@pytest.mark.slow
def test_the_page_of_a_plan_names_no_option() -> None:
    plan = planned(top=10, count_share="0.3")
    advice = advise(plan.question, Shop.of(4000, 60), count_share="0.3", tops=(5,))
    document = plan_document("The top 10", plan, [plan], advice=advice)
    assert [row[0] for row in table(document, "spending").rows] == [line.what for line in plan.spending]
    assert "counts" in plan.spending[-1].what
    texts = [part.text for part in document.parts() if isinstance(part, Paragraph)]
    texts += [item for part in document.parts() if isinstance(part, Bullets) for item in part.items]
    assert any("such as a catalogue of 5,000," in text for text in texts)
    assert "--" not in " ".join([*texts, document.footer, *(part.text for part in document.introduction)])
    assert "(--universe-file)" in " ".join(advice_words(advice))
