"""No command replaces what is there already, unless --overwrite says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from fim_private.cli.files import check_output
from fim_private.errors import UsageError
from fim_private.release.files import write_release
from tests.cli.command import PROMISE, end_with, succeed, words
from tests.comparison.test_run import InThisProcess
from tests.rules.releases import released

OTHERS = "somebody's own work\n"
FEW = ("--sizes", 1, "--tops", 1, "--epsilons", 1, "--trials", 2, "--mechanisms", "limited-domain", "--curator")

FILES: dict[str, tuple[str, ...]] = {
    "mine -o": ("mine", "baskets.csv", "--size", "1", "--top", "1", *PROMISE, "-o", "out.json"),
    "show -o": ("show", "release.json", "-o", "out.csv"),
    "show --html": ("show", "release.json", "--html", "out.html"),
    "plan --html": ("plan", "--size", "2", "--top", "5", *PROMISE, "--mechanism", "lmm", "--html", "out.html"),
    "rules -o": ("rules", "release.json", "-o", "out.csv"),
    "demo -o": ("demo", "differencing", "-o", "."),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("baskets.csv").write_text("milk,bread,tea\n" * 300 + "milk,bread\n" * 150)
    write_release(released({("milk",): 90, ("bread",): 80, ("bread", "milk"): 70}), Path("release.json"))
    return tmp_path


@pytest.mark.parametrize(
    "command",
    # A lesson takes seconds, and comes to the same question in the end.
    [
        pytest.param(command, id=name, marks=pytest.mark.slow if name == "demo -o" else ())
        for name, command in FILES.items()
    ],
)
def test_a_file_is_replaced_only_where_that_is_asked_for(command: tuple[str, ...]) -> None:
    path = Path("differencing.html" if command[0] == "demo" else command[-1])
    path.write_text(OTHERS)
    before = sorted(Path().iterdir())
    done = end_with(2, *command)
    assert f"There is a file {path} already" in words(done)
    assert "--overwrite" in words(done)
    assert path.read_text() == OTHERS
    succeed(*command, "--overwrite")
    assert path.read_text() != OTHERS
    assert sorted(Path().iterdir()) == before
    path.unlink()
    succeed(*command)
    assert path.is_file()


@pytest.mark.parametrize("name", ["index.html", "report.md", "notes.txt", "results.parquet", "cells.jsonl", "figures"])
@pytest.mark.parametrize("command", [("compare", "baskets.csv", *FEW), ("audit", "all")])
def test_a_report_goes_only_into_a_folder_of_its_own(name: str, command: tuple[object, ...]) -> None:
    folder = Path("site")
    folder.mkdir()
    (folder / name).mkdir() if name == "figures" else (folder / name).write_text(OTHERS)
    done = end_with(2, *command, "-o", folder)
    assert "holds other files" in words(done)
    assert "--overwrite" in words(done)
    assert [path.name for path in folder.iterdir()] == [name]
    assert name == "figures" or (folder / name).read_text() == OTHERS


@pytest.mark.parametrize("command", [("compare", "baskets.csv", *FEW), ("audit", "all")])
@pytest.mark.parametrize("folder", ["notes", "notes/report"])
def test_a_file_in_the_place_of_the_folder_is_noticed_beforehand(folder: str, command: tuple[object, ...]) -> None:
    Path("notes").write_text(OTHERS)
    done = end_with(3, *command, "-o", folder)
    assert f"The folder {folder} cannot be made: a file is in its place." in words(done)
    assert Path("notes").read_text() == OTHERS


@pytest.mark.parametrize("command", [("compare", "baskets.csv", *FEW), ("audit", "all")])
def test_a_folder_is_not_called_as_a_page_is(command: tuple[object, ...]) -> None:
    assert "report.HTML looks like a file." in words(end_with(2, *command, "-o", "report.HTML"))
    assert not Path("report.HTML").exists()


def test_a_comparison_goes_into_its_folder_again_and_elsewhere_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fim_private.comparison.run.ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr("fim_private.report.comparison.report.write_report", lambda _material, _folder: None)
    site = Path("site")
    site.mkdir()
    (site / ".gitignore").touch()  # hides nothing that would be replaced
    for _ in range(2):
        succeed("compare", "baskets.csv", *FEW, "-o", site)
    other = Path("other")
    other.mkdir()
    (other / "index.html").write_text(OTHERS)
    succeed("compare", "baskets.csv", *FEW, "-o", other, "--overwrite")


@pytest.mark.parametrize("name", ["results.parquet", "index.html"])
def test_no_comparison_replaces_a_release(name: str) -> None:
    site = Path("site")
    site.mkdir()
    write_release(released({("milk",): 90}), site / "a.parquet")
    (site / "a.parquet").rename(site / name)
    before = (site / name).read_bytes()
    for more in ((), ("--overwrite",)):
        done = end_with(2, "compare", "baskets.csv", *FEW, "-o", site, *more)
        assert (site / name).read_bytes() == before
    assert "is a release, which nothing could replace" in words(done)


@pytest.mark.parametrize("source", ["data", "data/", "link", "data/*.csv", "d*/a.*", "d?ta", "data/[ab].csv"])
def test_no_output_replaces_a_file_of_a_folder_or_glob_of_data(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/a.csv").write_text("tea,mug\n", "utf-8")
    Path("link").symlink_to("data")
    for output in ("data/a.csv", tmp_path / "data" / "a.csv", "link/a.csv"):
        with pytest.raises(UsageError, match="among the data"):
            check_output(Path(output), source, overwrite=True)
    for output in ("a.csv", "other.csv"):
        check_output(Path(output), source, overwrite=True)


@pytest.mark.parametrize("source", ["data", "data/*.csv"])
def test_no_output_becomes_data(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    with pytest.raises(UsageError, match="among the data"):
        check_output(Path("data/new.csv"), source, overwrite=False)


def test_the_marks_of_a_glob_may_be_in_a_file_s_name(tmp_path: Path) -> None:
    baskets = tmp_path / "[ab]*.csv"
    baskets.write_text("tea,mug\n", "utf-8")
    check_output(tmp_path / "a.csv", baskets, overwrite=False)
