from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from fim_private.cli.commands.compare import _command
from fim_private.cli.experiment import Experiment
from tests import processes
from tests.cli.command import end_with, fim_private, in_own_process, succeed, words
from tests.comparison.test_run import InThisProcess

SMALL = ("--sizes", "1,2", "--tops", "1,3", "--epsilons", "1,4", "--trials", "2", "--processes", "1")
FEW = ("--mechanisms", "auto,items-first,lmm,limited-domain,exponential,exponential-textbook,stable-max")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "My Shop <1>.csv"
    path.write_text("milk,bread,tea\n" * 300 + "milk,bread\n" * 150 + "tea,jam,salt,oil\n" * 40)
    return path


@pytest.fixture(scope="module")
def report(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "shop"
    done = in_own_process("compare", shop, *SMALL, *FEW, "--curator", "--seed", 5, "-o", folder)
    assert done.returncode == 0, words(done)
    assert "for the curator's eyes only" in words(done)
    assert done.stdout.decode().strip() == str(folder / "index.html")
    return folder


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no report: its figures take longer than the comparison, and some tests need the comparison only."""
    monkeypatch.setattr("fim_private.report.comparison.report.write_report", lambda _material, _folder: None)


@pytest.mark.slow
def test_a_report_is_a_folder_of_page_text_figures_and_table(report: Path) -> None:
    page = (report / "index.html").read_text("utf-8")
    text = (report / "report.md").read_text("utf-8")
    for words_ in (page, text):
        assert "for the curator" in words_
        assert "fim-private compare" in words_
        assert "universe padded" in words_
        assert 0 < words_.index("The data, ") < words_.index("The question.")
    anchors = ["answer", "open-universe", "utility", "range", "margins", "reproduce"]
    assert re.findall(r'<h2 id="([\w-]+)"', page) == anchors
    assert re.findall(r'<summary><h2 id="([\w-]+)"', page) == anchors[1:]
    figures = {path.stem for path in (report / "figures").glob("*.png")}
    assert figures == {path.stem for path in (report / "figures").glob("*.svg")}
    assert set(re.findall(r"figures/([\w-]+)\.png", text)) == figures
    assert {"answer-my-shop-1", "utility-my-shop-1-2", "open-universe-my-shop-1", "margins-my-shop-1"} <= figures
    table = pl.read_parquet(report / "results.parquet")
    grid = table.filter(~pl.col("padded"))
    assert len(grid.group_by("mechanism", "size", "top", "epsilon").len()) == 7 * 2 * 2 * 2
    assert not list(report.glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["weighted-gaussian", "look-first"])
def test_a_mechanism_that_no_padded_universe_is_made_for_can_be_compared_alone(
    shop: Path, tmp_path: Path, mechanism: str
) -> None:
    alone = ("--sizes", "1,2", "--all-sizes", "1,2", "--tops", 2, "--epsilons", "4", "--trials", 2)
    done = in_own_process(
        *("compare", shop, *alone, "--mechanisms", mechanism, "--curator", "--seed", 5, "-o", tmp_path / "alone")
    )
    assert done.returncode == 0, words(done)
    text = (tmp_path / "alone" / "report.md").read_text("utf-8")
    assert f"| No list of items: only the baskets are needed | {mechanism} |" in text
    assert "universe padded" not in text


def test_mechanisms_can_be_named_beside_the_usual_ones(tmp_path: Path) -> None:
    def named(mechanisms: str) -> tuple[str, ...]:
        return Experiment(mechanisms=mechanisms, seed=1).settings(tmp_path, None).mechanisms

    usual = named("usual")
    assert {"auto", "lmm"} < set(usual)
    assert "weighted-gaussian" not in usual
    assert named("usual,lmm,weighted-gaussian") == (*usual, "weighted-gaussian")
    pure = Experiment(delta="0", seed=1).settings(tmp_path, None).mechanisms
    assert {"auto", "items-first", "joint-exponential"} < set(pure) < set(usual)
    assert "lmm" not in pure


@pytest.mark.slow
def test_a_report_without_a_delta_compares_what_a_list_of_items_allows(shop: Path, tmp_path: Path) -> None:
    few = ("--sizes", 2, "--all-sizes", "1,2", "--tops", "3,16", "--epsilons", 4, "--trials", 2)
    mechanisms = ("--mechanisms", "auto,items-first,exponential", "--universe-items", 20)
    done = in_own_process(
        *("compare", shop, "--delta", 0, *few, *mechanisms, "--curator", "--seed", 5, "-o", tmp_path / "pure")
    )
    assert done.returncode == 0, words(done)
    text = (tmp_path / "pure" / "report.md").read_text("utf-8")
    assert "**In short.** With a public list of 20 items take `" in text
    assert "at the same epsilon and delta 0 for the whole list" in text
    assert "| A public list of 20 items | auto |" in text
    assert "It and `auto` are told the names of all items" in text
    for open_universe in ("No list of items", "Without a list", "limited-domain", "without a list", "or delta 0"):
        assert open_universe not in text


@pytest.mark.slow
def test_no_path_of_the_machine_is_in_a_report(report: Path, shop: Path) -> None:
    for name in ("index.html", "report.md"):
        text = (report / name).read_text("utf-8")
        assert str(shop.parent) not in text
        assert "My Shop &lt;1&gt;.csv" in text or "My Shop" in text


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_the_same_again_from_a_configuration_file_runs_nothing(report: Path, shop: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(
        f'output = "{report}"\nsizes = [1, 2]\ntops = [1, 3]\nepsilons = ["1", 4]\ntrials = 9\n'
        'mechanisms = ["auto", "items-first", "lmm", "limited-domain", "exponential", "exponential-textbook", '
        '"stable-max"]\n'
    )
    before = (report / "results.parquet").read_bytes()
    # An option goes before the file, and without a seed the folder's is taken; any other would be refused.
    succeed("compare", shop, "--config", config, "--trials", 2, "--curator")
    assert (report / "results.parquet").read_bytes() == before


def test_exact_counts_are_shown_of_public_data_or_to_the_curator(shop: Path, tmp_path: Path) -> None:
    done = end_with(2, "compare", shop, *SMALL, *FEW, "-o", tmp_path / "report")
    assert "--curator" in words(done)
    assert not (tmp_path / "report").exists()


@pytest.mark.slow
def test_public_data_needs_no_curator(tmp_path: Path) -> None:
    left_by_a_former_run = tmp_path / "report" / "figures" / "old.svg"
    left_by_a_former_run.parent.mkdir(parents=True)
    left_by_a_former_run.touch()
    options = (
        "--sizes",
        1,
        "--tops",
        5,
        "--epsilons",
        1,
        "--trials",
        2,
        "--mechanisms",
        "limited-domain,exponential",
    )
    done = succeed("compare", "online-retail-customers", *options, "-o", tmp_path / "report", "--overwrite")
    assert "PUBLIC DATA" in words(done)
    assert "Chen, D. (2015)" in (tmp_path / "report" / "report.md").read_text("utf-8")
    assert not left_by_a_former_run.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--trials", 2), "--output"),
        (("-o", "OUT", "--sizes", "one"), "whole numbers"),
        (("-o", "OUT", "--mechanisms", "magic"), "no mechanism of that name"),
        (("-o", "OUT", "--universe-items", 2), "more items than the declared"),
        (("-o", "OUT", "--universe-items", ","), "--universe-items takes one whole number"),
        (("-o", "OUT", "--universe-items", "50,60"), "--universe-items takes one whole number"),
        (("-o", "OUT", "-"), "standard input only once"),
        (("-o", "OUT", "--tops", 100, "--sizes", 1), "cannot be run at"),
        (("-o", "OUT", "--epsilons", "x"), "epsilon is not a number"),
        (("-o", "OUT", "--config", "nowhere.toml"), "cannot be read"),
        (("-o", "OUT", "--unit-column", "customer"), ""),
    ],
)
def test_a_faulty_call_is_refused_with_its_reason(
    shop: Path, tmp_path: Path, options: tuple[object, ...], message: str
) -> None:
    options = tuple(tmp_path / "out" if option == "OUT" else option for option in options)
    done = fim_private("compare", shop, "--curator", *options)
    assert done.returncode in {2, 3}
    assert message in words(done)
    assert "has a fault" not in words(done)
    assert not (tmp_path / "out" / "results.parquet").exists()


def test_a_configuration_with_unknown_settings_is_refused(shop: Path, tmp_path: Path) -> None:
    for text, message in (
        ("size = 3\n", "unknown settings: 'size'.\nDid you mean sizes or all_sizes?"),
        ("sizes = \n", "is not TOML"),
        ("title = [5]\n", "title is not a text or a number"),
        ("drop_rows_without_unit = 1\n", "neither true nor false"),
        ("epsilons = [[1]]\n", "nor a plain list"),
        ("trials = 'a'\n", "Give a whole number"),
        ("tops = [1, 'b']\n", "whole numbers"),
        ("curator = true\n", "unknown settings: 'curator'"),
    ):
        (tmp_path / "run.toml").write_text(text)
        done = fim_private("compare", shop, "--config", tmp_path / "run.toml", "-o", tmp_path / "out")
        assert done.returncode in {2, 3}
        assert message in words(done)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_an_interrupted_comparison_goes_on(shop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    many = ("--sizes", "1,2", "--tops", "3", "--epsilons", "0.5,1", "--trials", "60", "--processes", "2")
    command = ["compare", shop, *many, "--mechanisms", "limited-domain,exponential"]
    command += ["--curator", "--seed", "5", "-o", folder]
    program = [sys.executable, "-m", "fim_private", *command]
    with processes.started(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        lines = folder / "cells.jsonl"
        deadline = time.monotonic() + 60
        while not (lines.exists() and lines.read_text("utf-8").count("\n") >= 3) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert b"Give the same command again to go on" in said
    assert b"Traceback" not in said
    kept = lines.read_text("utf-8").splitlines()
    succeed(*command)
    table = pl.read_parquet(folder / "results.parquet")
    cell = ["mechanism", "size", "top", "epsilon", "universe_items", "padded", "trial"]
    assert len(table) == len(table.unique(cell))
    assert len(kept) >= 3
    # Times too are those of the first run: what was finished was not run again.
    first = [row["seconds"] for row in json.loads(kept[1])]
    assert set(first) <= set(table["seconds"])


@pytest.mark.usefixtures("no_report")
def test_a_comparison_that_was_killed_before_its_first_line_was_written_goes_on(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fim_private.comparison.run.ProcessPoolExecutor", InThisProcess)
    few = ("--sizes", "1", "--tops", "1", "--epsilons", "1", "--trials", "2", "--mechanisms", "limited-domain")
    for at, cut in enumerate(("", '{"delta": "1e-6", "tri')):
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / "cells.jsonl").write_text(cut)
        succeed("compare", shop, *few, "--curator", "-o", folder)
        assert (folder / "results.parquet").exists()
    # It is not known whose file this is.
    (folder / "results.parquet").unlink()
    (folder / "cells.jsonl").write_text("milk")
    assert "holds other files" in words(end_with(2, "compare", shop, *few, "--curator", "-o", folder))


@pytest.mark.parametrize(
    "other",
    [
        ("--item-column", "kind"),
        ("--transaction-column", "day"),
        ("--encoding", "latin-1"),
        ("--format", "basket"),
        ("--separator", " ", "--format", "basket"),
        ("--unit-column", "who"),
        ("--unit-column", "who", "--drop-rows-without-unit"),
    ],
)
@pytest.mark.usefixtures("no_report")
def test_a_comparison_goes_on_only_where_the_file_is_read_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: tuple[str, ...]
) -> None:
    monkeypatch.setattr("fim_private.comparison.run.ProcessPoolExecutor", InThisProcess)
    path, folder = tmp_path / "shop.csv", tmp_path / "out"
    sold = ((at, name) for at in range(99) for name in ("milk", "tea") * 2)
    rows = "".join(f"{at},{at // 9},{name} {at % 3},{name} drink,w{at}\n" for at, name in sold)
    path.write_text("invoice,day,item,kind,who\n" + rows)
    few = ("--sizes", "1", "--tops", "1", "--epsilons", "1", "--trials", "2", "--mechanisms", "limited-domain")
    command = ("compare", path, *few, "--curator", "--seed", 5, "-o", folder)
    for _ in range(2):
        done = succeed(*command)
    before = (folder / "results.parquet").read_bytes()
    done = end_with(2, *command, *other)
    assert "holds a comparison with other data, options for reading it" in words(done)
    assert (folder / "results.parquet").read_bytes() == before


@pytest.mark.usefixtures("no_report")
def test_progress_counts_the_runs_that_were_announced(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []

    @contextmanager
    def watched(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
        assert (what, quiet) == ("runs", False)
        yield lambda done, every: told.append((done, every))

    monkeypatch.setattr("fim_private.comparison.run.ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr("fim_private.cli.commands.compare.bar", watched)
    few = ("--sizes", "1", "--tops", "1", "--epsilons", "1,2", "--trials", "3", "--mechanisms", "limited-domain")
    done = succeed("compare", shop, *few, "--curator", "-o", tmp_path / "out")
    runs = told[-1][1]
    assert told == [(at, runs) for at in range(0, runs + 1, 3)]
    assert f"{runs} runs, " in words(done)


@pytest.mark.slow
def test_ctrl_c_waits_for_no_cell(shop: Path, tmp_path: Path) -> None:
    """A cell may take minutes, so a running one is given up."""
    folder = tmp_path / "out"
    command = ["compare", shop, "--sizes", "2", "--tops", "3", "--epsilons", "1,2", "--trials", "10000"]
    command += ["--mechanisms", "items-first", "--processes", "2", "--curator", "--seed", "5", "-o", folder]
    program = [sys.executable, "-m", "fim_private", *map(str, command)]
    with processes.started(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        deadline = time.monotonic() + 60
        while not (folder / ".lock").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(12)  # the workers have started, and each is in its first cell
        assert running.poll() is None
        os.killpg(running.pid, signal.SIGINT)
        began = time.monotonic()
        _, said = running.communicate(timeout=120)
    assert running.returncode == 130, said
    assert time.monotonic() - began < 8
    assert b"Traceback" not in said
    assert not (folder / "results.parquet").exists()


def test_the_command_of_a_report_names_no_folder_however_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, file = tmp_path / "out", str(tmp_path / "shop.csv")
    for typed in (["-o", str(folder)], [f"--output={folder}"]):
        monkeypatch.setattr("sys.argv", ["fim-private", "compare", file, *typed, "--seed=5"])
        shown = _command([file], None, None, folder, 5)
        assert str(tmp_path) not in shown
        assert "shop.csv" in shown
    shown = _command([file], tmp_path / "report.toml", None, folder, 5)
    assert shown == "fim-private compare shop.csv --config report.toml --seed 5"
