"""Download a data set of the catalogue. It is checked while it streams, and put in place whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import time
import uuid
import zlib
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib import request
from urllib.error import HTTPError

from fim_private.catalogue.entries import Dataset, find, manual_download_error, path_of
from fim_private.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Progress = Callable[[int, int | None], None]
"""Called with the bytes received so far and, if the server states it, the total."""

SIZE_LIMIT = 2_000_000_000
"""Bytes, received or uncompressed. A download stops here: no data set of this kind is larger."""

TIMEOUT = 30.0
"""Seconds to wait for an answer from the server."""

ABANDONED_AFTER = 24 * 3600.0
"""After this many seconds, the temporary file of a download is taken for a killed download's."""

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 16


def fetch(name: str, *, progress: Progress) -> Path:
    """The file of a data set, with the right checksum. It is downloaded first if it is not on this machine.

    `progress` is called as a download goes on; not if nothing is downloaded.

    Returns:
        the file that came with the package, or the downloaded file, uncompressed, in the cache folder.

    Raises:
        UsageError: there is no such data set.
        InputError: the data cannot be downloaded, is not what the catalogue says (nothing is left behind), or has to be
            downloaded by hand.
    """
    dataset = find(name)
    if dataset.page:
        raise manual_download_error(dataset)
    if dataset.file:
        shipped = path_of(name)
        if _checksum(shipped) != dataset.sha256:
            raise InputError(f"The file of data set {name} is damaged.", "Reinstall fim_private.")
        return shipped
    try:
        earlier = dataset.local()
        if earlier and _checksum(earlier) == dataset.sha256:
            return earlier
        return _download(dataset, progress)
    except OSError as error:
        raise InputError(
            f"Data set {name} cannot be kept in {dataset.cached().parent} ({error.strerror}).",
            "Make room or give write permission there, or set FIM_PRIVATE_CACHE to another folder.",
        ) from error


def _download(dataset: Dataset, progress: Progress) -> Path:
    """Stream into a temporary file, check it, then rename it: others see the whole file or none."""
    place = dataset.cached()
    place.parent.mkdir(parents=True, exist_ok=True)
    for left in place.parent.glob(f".{place.name}.*.part"):
        _remove_if_abandoned(left)
    partial = place.parent / f".{place.name}.{uuid.uuid4().hex}.part"
    try:
        with partial.open("xb") as file:
            found = _receive(dataset, file, progress)
        if found != dataset.sha256:
            raise InputError(
                f"What the server sent for data set {dataset.name} has the wrong checksum.",
                "Its url leads to something else now: look for the data elsewhere and correct the catalogue.",
            )
        partial.replace(place)
    finally:
        partial.unlink(missing_ok=True)
    return place


def _receive(dataset: Dataset, file: BinaryIO, progress: Progress) -> str:
    """Write the uncompressed content to the file, and return its sha256."""
    with _open(dataset) as response:
        received = _Received(response, dataset.name, progress)
        body = io.BufferedReader(received, _CHUNK)
        compressed = body.peek(2)[:2] == _GZIP_MAGIC
        content = cast(BinaryIO, gzip.GzipFile(fileobj=body) if compressed else body)
        digest, size = hashlib.sha256(), 0
        try:
            while block := content.read(_CHUNK):
                size += len(block)
                _check_size(size, dataset.name)
                digest.update(block)
                file.write(block)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            # If a gzip stream ends early, most often the download did.
            received.check_complete()
            raise InputError(
                f"What the server sent for data set {dataset.name} is damaged gzip.", "Try again later."
            ) from error
        received.check_complete()
        return digest.hexdigest()


def _open(dataset: Dataset) -> HTTPResponse:
    """The server's answer after redirections. Only http and https are allowed."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPRedirectHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    opener.addheaders = [("User-Agent", "fim_private")]
    try:
        return cast(HTTPResponse, opener.open(dataset.url or "", timeout=TIMEOUT))
    except HTTPError as error:
        error.close()
        raise InputError(
            f"The server answered {error.code} for data set {dataset.name} ({dataset.url}).",
            "Try again later. If that does not help, the data has moved: correct the catalogue's url.",
        ) from error
    except (OSError, HTTPException, ValueError) as error:
        raise _broken(dataset.name, error) from error


class _Received(io.RawIOBase):
    """The body of an answer. It counts what is read, enforces the size limit and reports progress."""

    def __init__(self, response: HTTPResponse, name: str, progress: Progress) -> None:
        super().__init__()
        self._response, self._name, self._progress = response, name, progress
        self._total = response.length
        self._count = 0
        _check_size(self._total or 0, name)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            count = self._response.readinto(buffer)
        except (OSError, HTTPException) as error:
            raise _broken(self._name, error) from error
        self._count += count
        _check_size(self._count, self._name)
        if count:
            self._progress(self._count, self._total)
        return count

    def check_complete(self) -> None:
        """Raise if the server promised more than it sent."""
        if self._total is not None and self._count < self._total:
            raise _broken(self._name, EOFError("it ended early"))


def _broken(name: str, error: Exception) -> InputError:
    cause = str(getattr(error, "reason", error)) or type(error).__name__
    return InputError(
        f"The download of data set {name} failed ({cause}).",
        "Check the network connection and the proxy settings, then try again.",
    )


def _check_size(size: int, name: str) -> None:
    if size > SIZE_LIMIT:
        raise InputError(
            f"What the server sends for data set {name} is larger than {SIZE_LIMIT:,} bytes.",
            "This cannot be the data set: correct the catalogue's url.",
        )


def _checksum(path: Path) -> str:
    """The sha256 of the uncompressed content of a file; empty if its gzip is damaged."""
    with path.open("rb") as start:
        compressed = start.read(2) == _GZIP_MAGIC
    with gzip.open(path) if compressed else path.open("rb") as file:
        digest = hashlib.sha256()
        try:
            while block := file.read(_CHUNK):
                digest.update(block)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            return ""
        return digest.hexdigest()


def _remove_if_abandoned(partial: Path) -> None:
    try:
        if time.time() - partial.stat().st_mtime > ABANDONED_AFTER:
            partial.unlink()
    except FileNotFoundError:
        # Another process was quicker.
        return
