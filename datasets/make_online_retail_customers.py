"""Make online-retail-customers.csv.gz: UCI Online Retail grouped by customer, one basket a line.

    python datasets/make_online_retail_customers.py [--wheel WHEEL] [--output FILE]

Without `--wheel` the wheel that holds the source is obtained from the Python package index by pip. The
uncompressed content is the same everywhere, the bytes of the file wherever zlib is the same.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

REQUIREMENT = "PyARMViz==0.1.4"
MEMBER = "PyARMViz/datasets/Online_Retail_Grouped.tar.xz"
MEMBER_SHA256 = "d96781411f97c626a958e419aa7cef0197470fa27fbaa40b256dcdaff58d8319"
OUTPUT = Path(__file__).resolve().parent / "online-retail-customers.csv.gz"


def main() -> None:
    """Read the wheel, write the data set, print its figures."""
    parser = argparse.ArgumentParser(description="Make the data set that ships with fim_private.")
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {REQUIREMENT}, if it is already here")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        baskets = baskets_in(source_in(given.wheel or download_wheel(Path(folder))))
    content = basket_csv(baskets)
    given.output.write_bytes(compressed(content))
    print(f"customers          {len(baskets):>9,}")
    print(f"item occurrences   {sum(map(len, baskets)):>9,}")
    print(f"distinct items     {len(set().union(*baskets)):>9,}")
    print(f"sha256 of the uncompressed content: {hashlib.sha256(content).hexdigest()}")
    print(f"written: {given.output} ({given.output.stat().st_size:,} bytes)")


def download_wheel(folder: Path) -> Path:
    """The path of the wheel, after pip has put it in this folder."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, REQUIREMENT, "-d", str(folder)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def source_in(wheel: Path, *, sha256: str = MEMBER_SHA256) -> str:
    """The text of the CSV file in the archive in the wheel; ends the run if that is not the known one."""
    with zipfile.ZipFile(wheel) as files:
        archive = files.read(MEMBER)
    found = hashlib.sha256(archive).hexdigest()
    if found != sha256:
        sys.exit(f"{MEMBER} has sha256 {found}, not {sha256}. Use the wheel of {REQUIREMENT}.")
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:xz") as members:
        (file,) = (file for member in members if (file := members.extractfile(member)))
        return file.read().decode("utf-8")


def baskets_in(text: str) -> list[list[str]]:
    """One list of item names a line: stripped, none blank, each once, in the order of their names.

    The source has a customer's items in an accidental order; sorting keeps it from meaning anything.
    """
    lines = csv.reader(io.StringIO(text, newline=""))
    return [sorted({item.strip() for item in line} - {""}) for line in lines]


def basket_csv(baskets: list[list[str]]) -> bytes:
    """The baskets as CSV without a header, quoted only where needed, in UTF-8 with line feeds."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(baskets)
    return text.getvalue().encode("utf-8")


def compressed(content: bytes) -> bytes:
    """The content as gzip, without the time and file name that would make two runs differ."""
    held = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=held, compresslevel=9, mtime=0) as file:
        file.write(content)
    return held.getvalue()


if __name__ == "__main__":
    main()
