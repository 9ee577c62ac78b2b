from __future__ import annotations

import fcntl
import json
import math
import multiprocessing
import os
import stat
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fim_private import transactions_from_lists
from fim_private.comparison.exact_counts import ExactCounts, count_all
from fim_private.comparison.run import run
from fim_private.comparison.settings import ALL_SIZES, PADDED, Cell, Settings, cells_of, check, works_without_delta
from fim_private.comparison.store import LINES, RESULTS, Store
from fim_private.comparison.trials import Row, run_cell, seed_of
from fim_private.errors import InputError, UsageError
from fim_private.mechanisms.registry import COMPARATORS, REGISTRY
from fim_private.privacy import NeighbouringRelation
from tests.processes import side_by_side

SETTINGS = Settings(
    sizes=(1, 2),
    tops=(1, 3),
    epsilons=("1", "4"),
    delta="1e-4",
    trials=3,
    mechanisms=("limited-domain", "exponential", "choosing"),
    universe_items=None,
    max_items=3,
    relation=NeighbouringRelation.ADD_REMOVE,
    unit_column=None,
    seed=7,
)
BASKETS = [["milk", "bread", "tea"]] * 300 + [["milk", "bread"]] * 150 + [["tea", "jam", "salt", "oil"]] * 40


@pytest.fixture(scope="module")
def counts() -> ExactCounts:
    return count_all("shop", transactions_from_lists(BASKETS), SETTINGS, lambda _what: None)


class InThisProcess:
    """Does what a pool does at once and here: what a cell gives, and what becomes of it, is not up to processes."""

    def __init__(
        self, _processes: int, *, initargs: tuple[Settings, dict[str, ExactCounts], object], **_how: object
    ) -> None:
        self.settings, self.counts = initargs[:2]

    def submit(self, _function: Callable[..., Any], name: str, cell: Cell) -> Future[list[Row]]:
        future: Future[list[Row]] = Future()
        future.set_result(run_cell(cell, self.settings, self.counts[name]))
        return future

    def shutdown(self, **_how: object) -> None:
        pass


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fim_private.comparison.run.ProcessPoolExecutor", InThisProcess)


@pytest.fixture
def few_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The universe is padded to few names: noise for ten millions takes seconds in each run."""
    monkeypatch.setattr("fim_private.comparison.settings.PADDED", (1000,))


def compare(folder: Path, counts: ExactCounts, settings: Settings = SETTINGS) -> pl.DataFrame:
    return run(settings, [counts], folder, fingerprint={"files": "x"}, processes=1)


def same(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    return one.drop("seconds").equals(other.drop("seconds"))


@pytest.mark.slow
def test_the_table_has_every_cell_and_trial(tmp_path: Path, counts: ExactCounts) -> None:
    table = compare(tmp_path, counts)
    grid = table.filter(~pl.col("padded"))
    assert len(grid) == 3 * 2 * 2 * 2 * SETTINGS.trials
    padded = table.filter(pl.col("padded"))
    assert len(padded) == 3 * 1 * (1 + len(PADDED)) * SETTINGS.trials
    assert set(padded["universe_items"]) == {6, *PADDED}
    assert grid.filter(pl.col("mechanism") == "exponential")["universe_items"].unique().to_list() == [6]
    assert grid.filter(pl.col("mechanism") == "limited-domain")["universe_items"].null_count() == 24
    assert table.equals(pl.read_parquet(tmp_path / RESULTS))
    assert not (tmp_path / LINES).exists()
    # 450 of 490 baskets hold the first pair: at epsilon 4 nobody misses it.
    easy = grid.filter((pl.col("top") == 1) & (pl.col("epsilon") == "4") & (pl.col("mechanism") != "choosing"))
    assert easy["precision"].mean() == 1


def test_long_lists_are_asked_of_those_that_name_them_in_little_time() -> None:
    settings = replace(SETTINGS, long_tops=(7,), mechanisms=("auto", "items-first", "exponential", "choosing"))
    asked = {cell.mechanism for cell in cells_of(settings, 6) if cell.top == 7}
    assert asked == {"auto", "items-first", "exponential"}


def test_auto_says_what_it_took(counts: ExactCounts) -> None:
    cell = next(cells_of(replace(SETTINGS, mechanisms=("auto",)), 6))
    rows = run_cell(cell, SETTINGS, counts)
    assert {row["mechanism"] for row in rows} == {"auto"}
    assert {row["ran"] for row in rows} <= {"limited-domain", "items-first", "lmm"}


@pytest.mark.slow
def test_finished_cells_are_kept_and_give_the_same_table(tmp_path: Path, counts: ExactCounts) -> None:
    whole = compare(tmp_path / "whole", counts)
    store = Store(tmp_path / "part", {**SETTINGS.fingerprint(), "files": "x"})
    jobs = list(cells_of(SETTINGS, counts.items))
    for cell in jobs[:5]:
        store.add(run_cell(cell, SETTINGS, counts))
    lines = (tmp_path / "part" / LINES).read_text("utf-8")
    # Killed while writing the sixth: its line is cut short.
    (tmp_path / "part" / LINES).write_text(lines + "\n" + lines.splitlines()[2][:100], encoding="utf-8")
    told: list[tuple[int, int]] = []
    table = run(
        SETTINGS,
        [counts],
        tmp_path / "part",
        fingerprint={"files": "x"},
        processes=1,
        advance=lambda done, total: told.append((done, total)),
    )
    assert told[0] == (5, len(jobs))
    assert told[-1] == (len(jobs), len(jobs))
    assert same(table, whole)


@pytest.mark.parametrize("names", [("items-first",), ("items-first", *SETTINGS.mechanisms)])
def test_the_time_foretold_counts_the_long_lists_of_names(
    tmp_path: Path, counts: ExactCounts, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """A run with ten million names takes longer than all others together."""
    settings = replace(SETTINGS, mechanisms=names, trials=50)

    def seconds(cell: Cell) -> float:
        every_name = cell.padded and cell.mechanism == "items-first"
        return 0.02 + (1e-6 * (cell.universe_items or 0) if every_name else 0)

    def timed(cell: Cell, *_what: object, trials: int) -> list[Row]:
        assert trials == 1
        return [{"seconds": seconds(cell)}]

    class Told(Exception):  # noqa: N818 - no error
        pass

    def expect(_runs: int, foretold: float) -> None:
        raise Told(foretold)

    monkeypatch.setattr("fim_private.comparison.run.run_cell", timed)
    with pytest.raises(Told) as told:
        run(settings, [counts], tmp_path, fingerprint={}, processes=2, expect=expect)
    needed = sum(map(seconds, cells_of(settings, counts.items))) * settings.trials / 2
    assert told.value.args[0] == pytest.approx(needed, rel=0.2)


def test_a_line_after_one_cut_short_is_not_lost(tmp_path: Path, counts: ExactCounts) -> None:
    fingerprint = {**SETTINGS.fingerprint(), "files": "x"}
    cells = list(cells_of(SETTINGS, counts.items))
    Store(tmp_path, fingerprint).add(run_cell(cells[0], SETTINGS, counts))
    with (tmp_path / LINES).open("a", encoding="utf-8") as file:
        file.write('\n[{"data": "sh')
    Store(tmp_path, fingerprint).add(run_cell(cells[1], SETTINGS, counts))
    reopened = Store(tmp_path, fingerprint)
    assert len(reopened.finished) == 2


@pytest.mark.parametrize("left", [0, 1, 20, -1])
def test_a_comparison_begins_anew_where_its_first_line_was_cut_short(
    tmp_path: Path, counts: ExactCounts, left: int
) -> None:
    fingerprint = {**SETTINGS.fingerprint(), "files": "x"}
    cells = list(cells_of(SETTINGS, counts.items))
    (tmp_path / LINES).write_text(json.dumps(fingerprint)[:left], encoding="utf-8")
    assert Store.cut_at_once(tmp_path)
    store = Store(tmp_path, fingerprint)
    assert not store.finished
    for cell in cells[:2]:
        store.add(run_cell(cell, SETTINGS, counts))
    assert not Store.cut_at_once(tmp_path)
    assert Store.seed_of(tmp_path) == SETTINGS.seed
    assert Store(tmp_path, fingerprint).finished == store.finished
    assert len(store.finished) == 2


def test_a_line_that_no_comparison_writes_is_refused(tmp_path: Path, counts: ExactCounts) -> None:
    fingerprint = {**SETTINGS.fingerprint(), "files": "x"}
    cell = next(cells_of(SETTINGS, counts.items))
    store = Store(tmp_path, fingerprint)
    store.add(run_cell(cell, SETTINGS, counts))
    head, line = (tmp_path / LINES).read_text("utf-8").split("\n")
    first, *rest = json.loads(line)
    fewer = {name: value for name, value in first.items() if name != "seconds"}
    damaged: list[Any] = [0, "x", {}, [], [[]], [1, 2, 3], rest, [first, first, *rest[1:]], [fewer, *rest]]
    damaged += [[{**first, "more": 1}, *rest], [{**first, "precision": 0.3}, *rest]]
    for value in ({}, [[1]], -1, -1.0, 10**400, math.nan, math.inf, True, "\ud800"):
        damaged += [[{**first, name: value}, *rest] for name in first]
    for rows in damaged:
        (tmp_path / LINES).write_text(f"{head}\n{line}\n{json.dumps(rows)}", encoding="utf-8")
        with pytest.raises(InputError, match=r"Line 3 of .* was damaged or changed.*Remove this line"):
            Store(tmp_path, fingerprint)
    # What is no JSON may have been cut short.
    for content in (b"[" * 100_000, b"\xff", b'[{"data":"\xff'):
        (tmp_path / LINES).write_bytes(f"{head}\n{line}\n".encode() + content)
        assert Store.seed_of(tmp_path) == SETTINGS.seed
        assert Store(tmp_path, fingerprint).finished == store.finished
    for first_line in ("[" * 100_000, '{"a":' * 900 + "1" + "}" * 900):
        (tmp_path / LINES).write_text(f"{first_line}\n{line}", encoding="utf-8")
        assert Store.seed_of(tmp_path) is None
        assert not Store.cut_at_once(tmp_path)
        with pytest.raises(UsageError, match="holds a comparison with other data"):
            Store(tmp_path, fingerprint)


@pytest.mark.usefixtures("one_process")
def test_more_cells_can_be_asked_for_later(tmp_path: Path, counts: ExactCounts) -> None:
    small = compare(tmp_path, counts, replace(SETTINGS, tops=(1,)))
    large = compare(tmp_path, counts)
    kept = large.filter((pl.col("top") == 1) & ~pl.col("padded"))
    assert kept.equals(small.filter(~pl.col("padded")))  # seconds as well: they were not run again


@pytest.mark.usefixtures("one_process")
def test_a_comparison_goes_on_although_there_are_more_options_now(tmp_path: Path, counts: ExactCounts) -> None:
    fingerprint = {**SETTINGS.fingerprint(), "reading": {"format": "auto", "separator": None}}
    Store(tmp_path, fingerprint).add(run_cell(next(iter(cells_of(SETTINGS, counts.items))), SETTINGS, counts))
    later = {**fingerprint, "reading": {"format": "auto", "separator": None, "where": None}}
    assert len(Store(tmp_path, later).finished) == 1
    with pytest.raises(UsageError, match="other data, options"):
        Store(tmp_path, {**fingerprint, "reading": {"format": "auto", "where": "x > 1"}})


@pytest.mark.slow
def test_another_comparison_s_folder_is_refused(tmp_path: Path, counts: ExactCounts) -> None:
    compare(tmp_path, counts)
    before = (tmp_path / RESULTS).read_bytes()
    with pytest.raises(UsageError, match="other data, options for reading it, trials"):
        compare(tmp_path, counts, replace(SETTINGS, trials=4))
    with pytest.raises(UsageError, match="other data, options for reading it, trials"):
        run(SETTINGS, [counts], tmp_path, fingerprint={"files": "y"}, processes=1)
    assert (tmp_path / RESULTS).read_bytes() == before
    assert Store.seed_of(tmp_path) == SETTINGS.seed


def hold(folder: str, held: object) -> None:
    with Store(Path(folder), {}).locked():
        held.set()
        time.sleep(60)


@pytest.mark.slow
@pytest.mark.usefixtures("one_process")
def test_two_processes_do_not_write_to_one_folder(tmp_path: Path, counts: ExactCounts) -> None:
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    other = context.Process(target=hold, args=(str(tmp_path), held))
    with side_by_side(other):
        assert held.wait(60)
        with pytest.raises(UsageError, match="Another comparison"):
            compare(tmp_path, counts)
        other.kill()  # a killed process holds nothing
        other.join()
        assert len(compare(tmp_path, counts)) > 0


def test_a_lock_that_was_removed_meanwhile_locks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison ends, and a third one begins, between the moments when a second one opens the file and locks it."""
    first, second, third = (Store(tmp_path, {"trials": 1}) for _ in range(3))
    ending, lock = ExitStack(), fcntl.flock
    ending.enter_context(first.locked())

    with ExitStack() as beginning:

        def meanwhile(file: Any, how: int) -> None:
            monkeypatch.setattr(fcntl, "flock", lock)
            ending.close()
            beginning.enter_context(third.locked())
            lock(file, how)

        monkeypatch.setattr(fcntl, "flock", meanwhile)
        with pytest.raises(UsageError, match="Another comparison"), second.locked():
            pass
        assert (tmp_path / ".lock").exists()


def test_seeds_are_all_different_and_depend_on_the_cell_alone(counts: ExactCounts) -> None:
    cells = list(cells_of(SETTINGS, counts.items))
    seeds = [seed_of(7, "shop", cell, trial) for cell in cells for trial in range(3)]
    assert len(set(seeds)) == len(seeds)
    rows = [run_cell(cells[3], SETTINGS, counts) for _ in range(2)]
    for row in (*rows[0], *rows[1]):
        del row["seconds"]
    assert rows[0] == rows[1]


def test_what_cannot_be_planned_is_refused_before_anything_runs(counts: ExactCounts) -> None:
    with pytest.raises(UsageError, match="exponential cannot be run at size 1, top 50"):
        check(replace(SETTINGS, tops=(50,)), counts.items)
    with pytest.raises(UsageError, match=r"fewer itemsets.*tops=1,2, or larger size"):
        check(replace(SETTINGS, tops=(1, 2, 50)), counts.items)
    with pytest.raises(UsageError, match="more items than the declared"):
        check(replace(SETTINGS, universe_items=2), counts.items)
    with pytest.raises(UsageError, match="choosing cannot be run at size 2"):
        check(replace(SETTINGS, max_items=1), counts.items)
    with pytest.raises(UsageError, match=r"limited-domain cannot be run at size 1.*needs a delta"):
        check(replace(SETTINGS, delta="0"), counts.items)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": ()}, "empty or names one twice"),
        ({"tops": (1, 1)}, "empty or names one twice"),
        ({"trials": 1}, "trials is out of range"),
        ({"mechanisms": ("magic",)}, "no mechanism"),
        ({"epsilons": ("1000",)}, "epsilon is out of range"),
        ({"sizes": (9,)}, "sizes are out of range"),
    ],
)
def test_settings_are_checked(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace(SETTINGS, **change)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be used"):
        Store(tmp_path / "file" / "inside", {})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_disk_that_is_full_at_the_first_cell_is_said_and_the_comparison_goes_on_later(
    tmp_path: Path, counts: ExactCounts
) -> None:
    cell = run_cell(next(cells_of(SETTINGS, counts.items)), SETTINGS, counts)
    fingerprint = {**SETTINGS.fingerprint(), "files": "x"}
    store, lines = Store(tmp_path, fingerprint), tmp_path / LINES
    lines.symlink_to("/dev/full")
    with pytest.raises(InputError, match="cannot be used: No space"):
        store.add(cell)
    lines.unlink()
    lines.touch()  # what an ordinary file is after that
    Store(tmp_path, fingerprint).add(cell)
    assert len(Store(tmp_path, fingerprint).finished) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("few_names")
def test_a_killed_process_is_said_and_the_comparison_goes_on_later(tmp_path: Path, counts: ExactCounts) -> None:
    def kill(done: int, _all: int) -> None:
        if done:
            for process in multiprocessing.active_children():
                process.kill()

    many = replace(SETTINGS, trials=60)  # the process must not have run all of them when it is killed
    with pytest.raises(InputError, match=r"was killed.*Finished runs are kept"):
        run(many, [counts], tmp_path, fingerprint={"files": "x"}, processes=1, advance=kill)
    assert (tmp_path / LINES).stat().st_size
    assert len(compare(tmp_path, counts, many)) == len(list(cells_of(many, counts.items))) * many.trials


def test_no_comparator_gets_a_list_of_made_up_names() -> None:
    """It would hold them all: seventeen gigabytes for a hundred million."""
    cells = cells_of(replace(SETTINGS, mechanisms=("privbasis", "exponential")), 4)
    assert {cell.mechanism for cell in cells if cell.padded} == {"exponential"}


@pytest.mark.slow
@pytest.mark.usefixtures("one_process", "few_names")
def test_every_mechanism_can_be_compared(tmp_path: Path) -> None:
    settings = replace(SETTINGS, mechanisms=tuple(REGISTRY), sizes=(2,), tops=(1,), epsilons=("4",), trials=2)
    found = count_all("shop", transactions_from_lists(BASKETS), settings, lambda _what: None)
    table = compare(tmp_path, found, settings)
    assert set(table["mechanism"]) == set(REGISTRY)
    assert json.loads(pl.read_parquet_metadata(tmp_path / RESULTS)["fim_private"])["seed"] == 7


@pytest.mark.usefixtures("one_process", "few_names")
def test_without_a_delta_all_mechanisms_have_the_list_of_items(tmp_path: Path, counts: ExactCounts) -> None:
    pure = [name for name in REGISTRY if works_without_delta(name)]
    assert {"items-first", "exponential", "joint-exponential"} < set(pure)
    assert not {"lmm", "limited-domain", "look-first", "weighted-gaussian"} & set(pure)
    assert [name for name in COMPARATORS if works_without_delta(name)] == ["privbasis"]
    names = ("auto", "items-first", "exponential")
    settings = replace(SETTINGS, delta="0", mechanisms=names, sizes=(2,), all_sizes=(1, 2), tops=(10,), epsilons=("4",))
    declared = replace(settings, universe_items=20)
    found = count_all("shop", transactions_from_lists(BASKETS), declared, lambda _what: None)
    check(declared, found.items)
    table = compare(tmp_path, found, declared)
    assert table["universe_items"].min() == 20
    # On so small a list `auto` picks from everything, so all counts are needed: 15 itemsets occur, of 20 + 190.
    everything = found.in_universe(ALL_SIZES, 20)
    assert everything.top(6) == [(450, 3), (340, 1), (300, 2)]
    assert (everything.occurring, everything.zeros) == (15, 195)
    together = table.filter(pl.col("size") == ALL_SIZES)
    assert dict(together.group_by("mechanism").agg(pl.col("ran").first()).iter_rows()) == {
        "auto": "permute-and-flip",
        "privbasis": "privbasis",
        "exponential": "exponential",
    }
    larger = replace(declared, all_sizes=(1, 2, 3, 4))
    assert {cell.mechanism for cell in cells_of(larger, 6) if cell.size == ALL_SIZES} == {"auto", "privbasis"}
    assert table.filter(pl.col("mechanism") != "joint-exponential")["precision"].min() > 0


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize(("owner_only", "mode"), [(True, 0o600), (False, 0o644)])
def test_exact_counts_are_for_their_owner_alone(
    tmp_path: Path, counts: ExactCounts, owner_only: bool, mode: int
) -> None:
    before = os.umask(0o022)
    try:
        settings = replace(SETTINGS, tops=(1,), sizes=(1,), trials=2)
        store = Store(tmp_path / "part", {}, owner_only=owner_only)
        store.add(run_cell(next(iter(cells_of(settings, counts.items))), settings, counts))
        run(settings, [counts], tmp_path, fingerprint={}, processes=1, owner_only=owner_only)
    finally:
        os.umask(before)
    for file in (tmp_path / "part" / LINES, tmp_path / RESULTS):
        assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.slow
def test_several_sizes_are_ranked_together_beside_the_published_systems() -> None:
    settings = replace(SETTINGS, all_sizes=(1, 2, 3), mechanisms=("auto", "limited-domain", "weighted-gaussian"))
    together = [cell for cell in cells_of(settings, 6) if cell.size == ALL_SIZES]
    assert {cell.mechanism for cell in together} == {"auto", "limited-domain", "weighted-gaussian", *COMPARATORS}
    assert {cell.top for cell in together} == {1, 3}  # all, because none is from 50 to 200
    listed = {cell.mechanism for cell in together if cell.universe_items == 6}
    assert listed == {"auto", *COMPARATORS}
    assert {cell.mechanism for cell in together if cell.universe_items is None} == {
        "auto", "limited-domain", "weighted-gaussian"
    }  # fmt: skip
    found = count_all("shop", transactions_from_lists(BASKETS), settings, lambda _what: None)
    # milk, bread, {milk, bread} 450; tea 340; the three, {milk, tea} and {bread, tea} 300; the rest 40.
    assert found.in_universe(ALL_SIZES, None).top(7) == [(450, 3), (340, 1), (300, 3)]
    for cell in together:
        rows = run_cell(replace(cell, epsilon="50"), settings, found)
        assert {row["precision"] for row in rows} == {1.0}
        gives_counts = cell.mechanism in COMPARATORS
        assert all((row["count_error"] is not None) == gives_counts for row in rows)
    with pytest.raises(UsageError, match="sizes are out of range"):
        replace(SETTINGS, all_sizes=(2,))
    assert replace(SETTINGS, all_sizes=(1, 2)).fingerprint() == SETTINGS.fingerprint()


def test_a_link_in_a_folder_of_somebody_else_leads_to_nothing(tmp_path: Path) -> None:
    precious, folder = tmp_path / "precious.txt", tmp_path / "out"
    precious.write_text("mine")
    folder.mkdir()
    (folder / ".lock").symlink_to(precious)
    store = Store(folder, {"a": 1})
    with pytest.raises(OSError, match="links"), store.locked():
        pass
    assert precious.read_text() == "mine"
