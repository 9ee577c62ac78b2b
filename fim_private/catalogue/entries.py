"""The catalogue of public data sets: which there are, where they come from, and where they are on this machine.

The catalogue is `datasets/catalogue.toml`. Its header says what an entry holds. `catalogue/fetching.py` downloads the
data.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from urllib.parse import urlsplit

from fim_private.errors import InputError, UsageError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One entry of the catalogue. Exactly one of `file`, `url` and `page` is given.

    Args:
        name: the key, fit to be part of a file name.
        title: a short name for people.
        description: what the data is, and what one transaction stands for.
        format: how the file is laid out, in words.
        licence: the licence or terms, as known.
        citation: what to cite.
        transactions: number of transactions that are not empty.
        items: number of distinct items.
        mean_length: mean number of distinct items of a transaction.
        sha256: checksum of the uncompressed content, 64 hexadecimal digits; None only if `page` is given.
        file: the file that comes with the package, beside the catalogue.
        url: where to download the data.
        page: a web page from which people download the data by hand.
        by_hand: how to do that, in words; given together with `page`.
    """

    name: str
    title: str
    description: str
    format: str
    licence: str
    citation: str
    transactions: int
    items: int
    mean_length: float
    sha256: str | None = None
    file: Path | None = None
    url: str | None = None
    page: str | None = None
    by_hand: str | None = None

    def cached(self) -> Path:
        """Where the downloaded data is, or would be, uncompressed.

        The name holds the start of the checksum, so that two catalogues that mean different data by one name
        do not get in each other's way.
        """
        suffix = re.search(r"\.[A-Za-z0-9]+$", urlsplit(self.url or "").path.removesuffix(".gz"))
        return cache_folder() / f"{self.name}-{(self.sha256 or '')[:12]}{suffix[0] if suffix else ''}"

    def local(self) -> Path | None:
        """The file on this machine, not verified; None if it has to be fetched first."""
        path = self.file or (self.cached() if self.url else None)
        try:
            return path if path and path.is_file() else None
        except OSError:
            # A cache folder that this user may not read holds nothing for them.
            return None


def find(name: str) -> Dataset:
    """The data set of this name.

    Raises:
        UsageError: there is none. The error suggests similar names.
        InputError: the catalogue cannot be read.
    """
    catalogue = load_catalogue()
    if name in catalogue:
        return catalogue[name]
    raise UsageError(
        f"There is no data set {name!r} in the catalogue.",
        f"{did_you_mean(name, catalogue)}See the names with: fim-private datasets list",
    )


def path_of(name: str) -> Path:
    """The file of a data set on this machine: it came with the package, or was downloaded earlier.

    Raises:
        UsageError: there is no such data set.
        InputError: the file is not on this machine yet. The error says how to get it.
    """
    dataset = find(name)
    path = dataset.local()
    if path:
        return path
    if dataset.file:
        raise InputError(f"The file of data set {name} is missing.", "Reinstall fim_private.")
    if dataset.url:
        raise InputError(f"Data set {name} is not on this machine yet.", f"Run: fim-private datasets fetch {name}")
    raise manual_download_error(dataset)


def recognised(content: bytes) -> Dataset | None:
    """The public data set that has exactly this uncompressed content, if it is in the catalogue."""
    checksum = hashlib.sha256(content).hexdigest()
    return next((dataset for dataset in load_catalogue().values() if dataset.sha256 == checksum), None)


def manual_download_error(dataset: Dataset) -> InputError:
    """The error for a data set that no program can download. It says how to get the data."""
    what = f"Data set {dataset.name} has to be fetched by hand ({dataset.page})."
    return InputError(what, dataset.by_hand or "")


def cache_folder() -> Path:
    """Where downloads are kept: $FIM_PRIVATE_CACHE, or `fim_private` in the platform's cache folder."""
    own = os.environ.get("FIM_PRIVATE_CACHE")
    if own:
        return Path(own).expanduser()
    try:
        return _platform_cache() / "fim_private"
    except RuntimeError as error:
        raise InputError("No home folder is known to keep data in.", "Set FIM_PRIVATE_CACHE.") from error


def _platform_cache() -> Path:
    chosen = os.environ.get("XDG_CACHE_HOME")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path.home() / ".cache"


def catalogue_path() -> Path:
    """The catalogue in use: $FIM_PRIVATE_CATALOGUE, else the package's own, else the repository's."""
    given = os.environ.get("FIM_PRIVATE_CATALOGUE")
    if given:
        return Path(given).expanduser()
    package = Path(__file__).resolve().parents[1]
    installed = package / "datasets" / "catalogue.toml"
    return installed if installed.exists() else package.parent / "datasets" / "catalogue.toml"


def load_catalogue(path: Path | None = None) -> dict[str, Dataset]:
    """All data sets by name, in the order of the catalogue file, which is at `catalogue_path()` if not given.

    Raises:
        InputError: the file is missing, is not TOML, or an entry is not complete.
    """
    path = path or catalogue_path()
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"The catalogue {path} cannot be read.", "Check FIM_PRIVATE_CATALOGUE, or reinstall fim_private."
        ) from error
    except ValueError as error:
        raise InputError(f"The catalogue {path} is not TOML in UTF-8.", "Mend it, or use another.") from error
    catalogue = {}
    for name, table in tables.items():
        for fault in _faults(name, table):
            raise InputError(
                f"In the catalogue {path}, {name!r} {fault}.",
                "Mend it; the header of the package's catalogue.toml says what an entry holds.",
            )
        if "file" in table:
            table["file"] = path.parent / table["file"]
        catalogue[name] = Dataset(name=name, **table)
    return catalogue


def _faults(name: str, table: object) -> Iterator[str]:
    """What is wrong with an entry; empty if it is right."""
    if not isinstance(table, dict):
        yield "is not a table"
        return
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        yield "is not a name of letters, digits, dots, hyphens and underscores"
    numbers = {"transactions": (int,), "items": (int,), "mean_length": (int, float)}
    needed = {field.name: field.default is MISSING for field in fields(Dataset) if field.name != "name"}
    for key in sorted(table.keys() - needed.keys()):
        yield f"has the unknown key {key!r}"
    for key, always in needed.items():
        unfit = type(table.get(key)) not in numbers.get(key, (str,)) or not table[key]
        if unfit and (always or key in table):
            yield f"has no {key}, or one that is empty or of the wrong type"
    if len(table.keys() & {"file", "url", "page"}) != 1:
        yield "needs exactly one of file, url and page"
    if ("page" in table) != ("by_hand" in table):
        yield "needs by_hand with page, and only there"
    if "page" not in table and not re.fullmatch(r"[0-9a-f]{64}", str(table.get("sha256"))):
        yield "needs a sha256 of 64 hexadecimal digits in lower case"
    if "url" in table and not re.match(r"https?://[^/]", str(table["url"])):
        yield "needs a url that starts with http:// or https://"
