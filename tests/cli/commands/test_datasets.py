"""`fim-private datasets`: what goes to stdout, what to stderr, and what is left to the main command."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fim_private.catalogue.entries import load_catalogue, path_of
from fim_private.cli.commands.datasets import app
from fim_private.errors import InputError, UsageError
from tests import processes

SHIPPED = "online-retail-customers"
run = partial(CliRunner().invoke, app)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIM_PRIVATE_CACHE", str(tmp_path / "cache"))
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A catalogue of one data set, `tiny`, on a local server; the data set's checksum."""
    content = b"1 2 3\n2 3\n"
    checksum = hashlib.sha256(content).hexdigest()
    served = tmp_path / "served"
    served.mkdir()
    (served / "tiny.dat").write_bytes(content)
    handler = partial(Quiet, directory=str(served))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = False
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        texts = "".join(f"{key} = 'x'\n" for key in ("title", "description", "format", "licence", "citation"))
        figures = "transactions = 2\nitems = 3\nmean_length = 2.5\n"
        where = f"url = 'http://127.0.0.1:{server.server_address[1]}/tiny.dat'\nsha256 = '{checksum}'\n"
        catalogue = tmp_path / "catalogue.toml"
        catalogue.write_text(f"[tiny]\n{texts}{figures}{where}")
        monkeypatch.setenv("FIM_PRIVATE_CATALOGUE", str(catalogue))
        yield checksum
        server.shutdown()
        thread.join()


def test_list_has_a_line_a_data_set() -> None:
    result = run(["list"])
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header.split() == ["name", "transactions", "items", "where", "licence"]
    assert [line.split()[0] for line in lines] == list(load_catalogue())
    assert lines[0].split() == [SHIPPED, "4,372", "3,885", "ships", "with", "it", "CC", "BY", "4.0"]
    assert "to fetch" in result.stdout
    assert "by hand" in result.stdout


def test_list_as_json_says_everything() -> None:
    result = run(["list", "--json"])
    records = {record["name"]: record for record in json.loads(result.stdout)}
    assert list(records) == list(load_catalogue())
    assert records[SHIPPED]["path"] == str(path_of(SHIPPED))
    assert records[SHIPPED]["transactions"] == 4372
    assert records["retail"]["path"] is None
    assert records["retail"]["where"] == "to fetch"
    assert "by_hand" in records["online-retail"]


def test_path_prints_the_path_and_nothing_else() -> None:
    result = run(["path", SHIPPED])
    assert result.stdout == f"{path_of(SHIPPED)}\n"
    assert result.stderr == ""


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_fetch_prints_the_path_and_keeps_progress_off_stdout(mirror: str, cache: Path, options: list[str]) -> None:
    result = run(["fetch", "tiny", *options])
    assert result.exit_code == 0, result.exception
    path = Path(result.stdout.removesuffix("\n"))
    assert path.parent == cache
    assert hashlib.sha256(path.read_bytes()).hexdigest() == mirror
    assert ("tiny" in result.stderr) == (not options)
    assert "downloaded" in run(["list"]).stdout
    again = run(["fetch", "tiny"])
    assert again.stdout == result.stdout
    assert again.stderr == ""


def test_errors_go_on_to_the_main_command() -> None:
    assert isinstance(run(["path", "retail"]).exception, InputError)
    assert isinstance(run(["fetch", "online-retail", "--quiet"]).exception, InputError)
    assert isinstance(run(["path", "retial"]).exception, UsageError)


def test_help_does_not_load_what_only_a_download_needs() -> None:
    code = "import sys, fim_private.cli.commands.datasets; print({'urllib.request', 'polars'} & set(sys.modules))"
    answer = processes.run([sys.executable, "-c", code], text=True, check=True)
    assert answer.stdout.strip() == "set()"
