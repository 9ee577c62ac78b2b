"""What an installed copy and a source archive carry, and what the project says of itself there."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from fim_private.version import __version__
from tests.conftest import ROOT
from tests.lowest import lowest

NOTICES = ("LICENSE", "NOTICE")
SOURCES = (*NOTICES, "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md", "README.md", "CHANGELOG.md")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_wheel_carries_its_licence_and_the_notice_of_its_data(tmp_path: Path) -> None:
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is in the extra `test`")
    (built,) = wheel.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        folder = f"fim_private-{__version__}.dist-info"
        for name in NOTICES:
            assert archive.read(f"{folder}/licenses/{name}") == (ROOT / name).read_bytes()
        metadata = archive.read(f"{folder}/METADATA").decode()
        assert "fim_private/datasets/online-retail-customers.csv.gz" in archive.namelist()
        for template in (ROOT / "fim_private" / "report" / "document" / "templates").iterdir():
            assert template.relative_to(ROOT).as_posix() in archive.namelist()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert set(re.findall(r"^License-File: (.*)$", metadata, flags=re.MULTILINE)) == set(NOTICES)


def test_the_source_archive_carries_what_a_reader_needs(tmp_path: Path) -> None:
    sdist = pytest.importorskip("hatchling.builders.sdist", reason="hatchling is in the extra `test`")
    (built,) = sdist.SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(built) as archive:
        assert {f"fim_private-{__version__}/{name}" for name in SOURCES} <= set(archive.getnames())


def test_the_notice_names_the_data_that_ships_and_its_licence() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    shipped = [path.name for path in (ROOT / "datasets").glob("*.gz")]
    assert shipped
    for words in (*shipped, "Chen, D.", "10.24432/C5BW33", "CC BY 4.0", "It was changed"):
        assert words in notice


def test_the_citation_is_of_this_version_and_licence() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    for line in ("cff-version: 1.2.0", f"version: {__version__}", f"license: {PROJECT['license']}"):
        assert line in lines


def test_every_dependency_of_the_program_states_its_lowest_version() -> None:
    wanted = lowest((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {line.partition("==")[0] for line in wanted} >= {
        re.split(r"\W", name)[0] for name in PROJECT["dependencies"]
    }


def test_the_lowest_versions_are_those_of_the_project_file() -> None:
    text = """
    [project]
    dependencies = ["polars>=1.30", "rich >= 13.8"]
    optional-dependencies.test = ["pyspark[sql]>=4", "dp-accounting>=0.4.4"]
    """
    assert lowest(text) == ["polars==1.30", "rich==13.8", "pyspark==4", "dp-accounting==0.4.4"]


@pytest.mark.parametrize("stated", ["polars", "polars~=1.30", "polars>=1.30,<2", "polars==1.30"])
def test_a_dependency_without_a_lowest_version_alone_is_refused(stated: str) -> None:
    with pytest.raises(ValueError, match="polars"):
        lowest(f'[project]\ndependencies = ["{stated}"]\noptional-dependencies.test = []')
