"""The catalogue, the data set that ships, and downloading from a local server that behaves well and badly."""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib.util
import io
import os
import random
import socket
import struct
import sys
import tarfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

from fim_private.catalogue import entries, fetching
from fim_private.catalogue.entries import cache_folder, catalogue_path, find, load_catalogue, path_of
from fim_private.catalogue.fetching import fetch
from fim_private.errors import InputError, UsageError

ROOT = Path(__file__).resolve().parents[2]
CONTENT = b"1 2 3\n2 3\n" * 20_000
COMPRESSED = gzip.compress(CONTENT, mtime=0)


BODIES = {
    "plain": CONTENT,
    "gzip": COMPRESSED,
    "members": gzip.compress(CONTENT[:1000]) + gzip.compress(CONTENT[1000:]),
    "wrong": CONTENT + b"4\n",
    "empty": b"",
    "gzipdamaged": COMPRESSED[:-20],
}
TRUNCATED = {"truncated": (CONTENT[:-1000], CONTENT), "gziptruncated": (COMPRESSED[:-20], COMPRESSED)}
REDIRECTS = {"moved": "/plain.dat", "local": "file:///etc/hostname", "ftp": "ftp://127.0.0.1:1/plain.dat"}


class Answers(BaseHTTPRequestHandler):
    """One path a way to behave; the server counts requests."""

    requests: Counter[str]

    def do_GET(self) -> None:
        self.requests[self.path] += 1
        name = self.path.strip("/").split(".")[0]
        if name in BODIES:
            self.send(BODIES[name])
        elif name in TRUNCATED:
            body, whole = TRUNCATED[name]
            self.send(body, promised=len(whole))
        elif name in REDIRECTS:
            self.redirect(REDIRECTS[name])
        else:
            getattr(self, f"answer_{name}", self.answer_missing)()

    def send(self, body: bytes, *, promised: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        self.end_headers()
        self.wfile.write(body)

    def answer_unbounded(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(CONTENT)

    def answer_chunkless(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n" % len(CONTENT) + CONTENT[:500])

    def redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer_missing(self) -> None:
        self.send_error(404)

    def answer_reset(self) -> None:
        self.reset()

    def answer_halfway(self) -> None:
        self.send(CONTENT[:1000], promised=len(CONTENT))
        self.wfile.flush()
        self.reset()

    def reset(self) -> None:
        # Closing with a linger time of zero sends a reset in place of an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.rfile.close()
        self.wfile = io.BytesIO()  # the base class flushes it once more
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    handler = type("Counted", (Answers,), {"requests": Counter()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        running.daemon_threads = False
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache" / "deep"
    monkeypatch.setenv("FIM_PRIVATE_CACHE", str(folder))
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    return folder


Offer = Callable[..., str]


@pytest.fixture
def offer(server: ThreadingHTTPServer, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Make a catalogue with one data set at this path of the server; its name."""

    def write(path: str, *, port: int = server.server_address[1], content: bytes = CONTENT) -> str:
        url = f"http://127.0.0.1:{port}/{path}"
        written = tmp_path / "catalogue.toml"
        written.write_text(entry(f"url = '{url}'", sha256=hashlib.sha256(content).hexdigest()))
        monkeypatch.setenv("FIM_PRIVATE_CATALOGUE", str(written))
        return "tiny"

    return write


def entry(where: str, *, sha256: str = "0" * 64, name: str = "tiny") -> str:
    texts = "".join(f"{key} = 'x'\n" for key in ("title", "description", "format", "licence", "citation"))
    return f"[{name}]\n{texts}transactions = 2\nitems = 3\nmean_length = 2.5\nsha256 = '{sha256}'\n{where}\n"


def ignore(count: int, total: int | None) -> None:
    return


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.mark.parametrize("path", ["plain.dat", "gzip.dat.gz", "members.gz", "unbounded", "moved.dat"])
def test_a_good_download_is_kept_uncompressed_and_reported(offer: Offer, cache: Path, path: str) -> None:
    seen: list[tuple[int, int | None]] = []
    kept = fetch(offer(path), progress=lambda *news: seen.append(news))
    assert kept.read_bytes() == CONTENT
    assert left_in(cache) == [kept.name]
    assert path_of("tiny") == kept
    counts, totals = zip(*seen, strict=True)
    assert list(counts) == sorted(counts)
    assert set(totals) == ({None} if path == "unbounded" else {counts[-1]})


def test_the_suffix_of_the_address_is_kept_for_format_detection(offer: Offer) -> None:
    assert fetch(offer("gzip.dat.gz"), progress=ignore).suffix == ".dat"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("truncated.dat", "ended early"),
        ("gziptruncated.gz", "ended early"),
        ("gzipdamaged.gz", "damaged gzip"),
        ("chunkless.dat", "IncompleteRead"),
        ("wrong.dat", "wrong checksum"),
        ("empty.dat", "wrong checksum"),
        ("absent.dat", "404"),
        ("reset.dat", "failed"),
        ("halfway.dat", "failed"),
        ("ftp.dat", "unknown url type"),
        ("local.dat", "302"),
    ],
)
def test_a_bad_download_is_refused_and_leaves_nothing(offer: Offer, cache: Path, path: str, said: str) -> None:
    name = offer(path)
    with pytest.raises(InputError, match=said) as caught:
        fetch(name, progress=ignore)
    assert caught.value.next_step
    assert left_in(cache) == []
    with pytest.raises(InputError, match="fim-private datasets fetch tiny"):
        path_of(name)


def test_a_server_that_is_not_there_is_an_input_error(offer: Offer, cache: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with pytest.raises(InputError, match="network connection"):
            fetch(offer("plain.dat", port=taken.getsockname()[1]), progress=ignore)
    assert left_in(cache) == []


def test_a_server_that_never_answers_is_given_up(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(InputError, match="timed out"):
        fetch(offer("plain.dat", port=silent.getsockname()[1]), progress=ignore)


@pytest.mark.parametrize("path", ["plain.dat", "unbounded.dat", "gzip.dat.gz"])
def test_a_download_that_is_too_large_is_refused(
    offer: Offer, cache: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(fetching, "SIZE_LIMIT", len(CONTENT) - 1)
    with pytest.raises(InputError, match="larger than"):
        fetch(offer(path), progress=ignore)
    assert left_in(cache) == []


def test_what_is_here_is_verified_and_not_downloaded_again(offer: Offer, server: ThreadingHTTPServer) -> None:
    requests = server.RequestHandlerClass.requests
    name = offer("plain.dat")
    kept = fetch(name, progress=ignore)
    assert fetch(name, progress=lambda *_: pytest.fail("downloaded again")) == kept
    assert requests["/plain.dat"] == 1
    kept.write_bytes(CONTENT[:-1])
    assert fetch(name, progress=ignore).read_bytes() == CONTENT
    assert requests["/plain.dat"] == 2


def test_a_damaged_cached_file_survives_a_failing_download_but_is_never_returned(offer: Offer) -> None:
    kept = fetch(offer("plain.dat"), progress=ignore)
    kept.write_bytes(b"\x1f\x8bbroken")
    with pytest.raises(InputError, match="404"):
        fetch(offer("absent.dat"), progress=ignore)


def test_two_at_once_do_each_other_no_harm(offer: Offer, cache: Path) -> None:
    name = offer("gzip.dat.gz")
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: fetch(name, progress=ignore), range(8)))
    assert len(set(paths)) == 1
    assert paths[0].read_bytes() == CONTENT
    assert left_in(cache) == [paths[0].name]


def test_an_interrupted_download_leaves_nothing(offer: Offer, cache: Path) -> None:
    def interrupt(count: int, total: int | None) -> None:
        raise KeyboardInterrupt

    name = offer("plain.dat")
    with pytest.raises(KeyboardInterrupt):
        fetch(name, progress=interrupt)
    assert left_in(cache) == []


def test_what_a_killed_download_left_is_removed_once_it_is_old(offer: Offer, cache: Path) -> None:
    name = offer("plain.dat")
    place = find(name).cached()
    cache.mkdir(parents=True)
    old, young = cache / f".{place.name}.old.part", cache / f".{place.name}.young.part"
    for part in (old, young):
        part.write_bytes(b"1 2")
    long_ago = time.time() - fetching.ABANDONED_AFTER - 60
    os.utime(old, (long_ago, long_ago))
    fetch(name, progress=ignore)
    assert left_in(cache) == sorted([young.name, place.name])


def test_a_cache_that_cannot_be_written_is_an_input_error(offer: Offer, cache: Path) -> None:
    name = offer("plain.dat")
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    with pytest.raises(InputError, match="FIM_PRIVATE_CACHE"):
        fetch(name, progress=ignore)


def test_a_cache_folder_that_cannot_exist_is_an_input_error(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    name = offer("plain.dat")
    monkeypatch.setenv("FIM_PRIVATE_CACHE", "/" + "x" * 300)
    with pytest.raises(InputError, match="not on this machine yet"):
        path_of(name)
    with pytest.raises(InputError, match="cannot be kept"):
        fetch(name, progress=ignore)


def test_each_platform_has_its_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("FIM_PRIVATE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "fim_private"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "fim_private"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert cache_folder() == tmp_path / "Local" / "fim_private"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "fim_private"
    monkeypatch.setenv("FIM_PRIVATE_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_a_missing_home_folder_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError

    for variable in ("FIM_PRIVATE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    with pytest.raises(InputError, match="Set FIM_PRIVATE_CACHE"):
        cache_folder()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("retial", "retail"),
        ("t10i4d100k", "T10I4D100K"),
        ("online_retail_customers", "online-retail-customers"),
    ],
)
def test_a_near_miss_is_suggested_for_an_unknown_name(typed: str, meant: str) -> None:
    with pytest.raises(UsageError, match=rf"Did you mean .*\b{meant}\b"):
        find(typed)


def test_an_unknown_name_like_no_other_lists_them_all() -> None:
    with pytest.raises(UsageError, match="fim-private datasets list"):
        fetch("zzzz", progress=ignore)


def test_data_to_be_fetched_by_hand_say_how() -> None:
    for get in (path_of, lambda name: fetch(name, progress=ignore)):
        with pytest.raises(InputError, match=r"archive\.ics\.uci\.edu.*unit_column=.CustomerID."):
            get("online-retail")


GOOD = entry("url = 'https://x.test/y'")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tiny", "not TOML"),
        ("tiny = 3", "not a table"),
        (entry("url = 'https://x.test/y'", name="'../tiny'"), "not a name"),
        (GOOD.replace("title = 'x'\n", ""), "no title"),
        (GOOD.replace("licence = 'x'", "licence = ''"), "no licence"),
        (GOOD.replace("items = 3", "items = true"), "no items"),
        (GOOD.replace("transactions = 2", "transactions = 2.0"), "no transactions"),
        (GOOD + "licnce = 'x'\n", "unknown key 'licnce'"),
        (GOOD + "file = 'x'\n", "exactly one"),
        (GOOD + "by_hand = 'x'\n", "by_hand with page"),
        (entry("page = 'https://x.test/'"), "by_hand with page"),
        (entry("file = 'x'", sha256="ABC"), "64 hexadecimal"),
        (entry("url = 'ftp://x.test/y'"), "http://"),
        (entry("url = 'file:///etc/hostname'"), "http://"),
        (entry(""), "exactly one"),
    ],
)
def test_a_broken_catalogue_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "catalogue.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        load_catalogue(path)


def test_an_installed_package_has_the_catalogue_inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside = tmp_path / "fim_private" / "datasets" / "catalogue.toml"
    inside.parent.mkdir(parents=True)
    inside.write_text(GOOD)
    monkeypatch.setattr(entries, "__file__", str(tmp_path / "fim_private" / "catalogue" / "entries.py"))
    assert catalogue_path() == inside
    assert list(load_catalogue()) == ["tiny"]


def test_a_missing_catalogue_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIM_PRIVATE_CATALOGUE", str(tmp_path / "none.toml"))
    with pytest.raises(InputError, match="FIM_PRIVATE_CATALOGUE"):
        find("retail")


def test_a_file_beside_a_catalogue_is_verified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "catalogue.toml"
    path.write_text(entry("file = 'tiny.dat.gz'", sha256=hashlib.sha256(CONTENT).hexdigest()))
    monkeypatch.setenv("FIM_PRIVATE_CATALOGUE", str(path))
    with pytest.raises(InputError, match="missing"):
        fetch("tiny", progress=ignore)
    file = tmp_path / "tiny.dat.gz"
    file.write_bytes(COMPRESSED)
    assert fetch("tiny", progress=ignore) == path_of("tiny") == file
    for damaged in (COMPRESSED[:-20], gzip.compress(CONTENT[1:]), b""):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="damaged"):
            fetch("tiny", progress=ignore)


def test_the_catalogue_that_ships_is_the_repositorys_and_complete() -> None:
    assert catalogue_path() == ROOT / "datasets" / "catalogue.toml"
    datasets = load_catalogue()
    assert {"online-retail-customers", "online-retail", "retail", "groceries", "T10I4D100K"} <= set(datasets)
    for dataset in datasets.values():
        assert dataset.items >= dataset.mean_length >= 1
        assert dataset.licence
        # A commit in the address: a branch would let the data change under the checksum.
        if dataset.url:
            assert len(dataset.url.split("/")[5]) == 40
    assert [dataset.name for dataset in datasets.values() if dataset.file] == ["online-retail-customers"]


@pytest.mark.parametrize("name", ["retail", "groceries", "T10I4D100K", "mushroom", "foodmart"])
def test_public_data_have_their_checksums_and_figures(shared_data: Callable[[str], Path], name: str) -> None:
    dataset = find(name)
    file = shared_data(f"{name}.csv.gz" if name == "groceries" else f"{name}.dat.gz")
    content = gzip.decompress(file.read_bytes())
    # The copy of mushroom at the catalogue's address lacks the last line feed.
    checksums = {hashlib.sha256(held).hexdigest() for held in (content, content.removesuffix(b"\n"))}
    assert dataset.sha256 in checksums
    separator = "," if name == "groceries" else None
    baskets = [set(line.split(separator)) for line in content.decode().splitlines()]
    assert_figures(name, baskets)


def assert_figures(name: str, baskets: list[set[str]]) -> None:
    dataset = find(name)
    assert dataset.transactions == len(baskets)
    assert dataset.items == len(set().union(*baskets))
    assert dataset.mean_length == pytest.approx(sum(map(len, baskets)) / len(baskets), abs=0.005)


def shipped_content() -> bytes:
    return gzip.decompress(path_of("online-retail-customers").read_bytes())


def test_the_data_set_that_ships_has_its_checksum_and_figures() -> None:
    file = fetch("online-retail-customers", progress=ignore)
    assert file.stat().st_size < 2_000_000
    baskets = list(csv.reader(io.StringIO(shipped_content().decode(), newline="")))
    assert all(basket == sorted({item.strip() for item in basket} - {""}) for basket in baskets)
    assert sum(map(len, baskets)) == 269_032
    assert_figures("online-retail-customers", [set(basket) for basket in baskets])


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    place = ROOT / "datasets" / "make_online_retail_customers.py"
    spec = importlib.util.spec_from_file_location("make_online_retail_customers", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fake_wheel(path: Path, text: str, member: str) -> str:
    """Write a wheel that holds this text as the real one does; the sha256 of the archive in it."""
    archive, data = io.BytesIO(), text.encode()
    with tarfile.open(fileobj=archive, mode="w:xz", preset=0) as members:
        information = tarfile.TarInfo("Online_Retail_Grouped.csv")
        information.size = len(data)
        members.addfile(information, io.BytesIO(data))
    with zipfile.ZipFile(path, "w") as files:
        files.writestr(member, archive.getvalue())
    return hashlib.sha256(archive.getvalue()).hexdigest()


def test_the_script_makes_the_shipped_content_from_an_untidy_source(script: ModuleType, tmp_path: Path) -> None:
    wanted = b"".join(shipped_content().splitlines(keepends=True)[:300])
    generator = random.Random(20)
    untidy = []
    for basket in csv.reader(io.StringIO(wanted.decode(), newline="")):
        items = [*basket, basket[0], "", "  "]
        generator.shuffle(items)
        untidy.append([generator.choice(["", " "]) + item + generator.choice(["", " "]) for item in items])
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(untidy)
    wheel = tmp_path / "fake.whl"
    checksum = fake_wheel(wheel, text.getvalue(), script.MEMBER)
    baskets = script.baskets_in(script.source_in(wheel, sha256=checksum))
    assert script.basket_csv(baskets) == wanted
    assert gzip.decompress(script.compressed(wanted)) == wanted
    assert script.compressed(wanted)[3:8] == bytes(5), "neither a file name nor a time"


def test_the_script_keeps_commas_and_quotes_inside_items(script: ModuleType) -> None:
    line = 'PLAIN,"TEA,COFFEE,SUGAR","FRAME 4 ""x6"""\r\n'
    (basket,) = script.baskets_in(line)
    assert basket == ['FRAME 4 "x6"', "PLAIN", "TEA,COFFEE,SUGAR"]
    assert script.basket_csv([basket]) == b'"FRAME 4 ""x6""",PLAIN,"TEA,COFFEE,SUGAR"\n'


def test_the_script_refuses_another_source(script: ModuleType, tmp_path: Path) -> None:
    wheel = tmp_path / "fake.whl"
    fake_wheel(wheel, "A,B\n", script.MEMBER)
    with pytest.raises(SystemExit, match="sha256"):
        script.source_in(wheel)
